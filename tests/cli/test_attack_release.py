"""The attack commands print a verdict, JSON and a page; what cannot be is said in a sentence."""

import json
import re

import pytest
from typer.testing import CliRunner

from discreet.cli.app import app

QUICK = {
    "difference": [],
    "reconstruct": ["--people", "16", "--repetitions", "1"],
    "tables": [],
    "average": ["--most", "20"],
    "trace": ["--people", "20", "--attributes", "50"],
    "shadow": ["--records", "200", "--shadows", "4"],
    "membership": ["--records", "120", "--shadows", "3"],
    "bits": ["--trials", "50"],
    "timing": ["--draws", "200"],
}


def run(*words):
    return CliRunner().invoke(app, ["attack", *words])


@pytest.mark.parametrize("name", QUICK)
def test_each_attack_answers_with_a_record_and_a_page(tmp_path, name):
    page = tmp_path / "page.html"
    result = run(name, *QUICK[name], "--json", "--plot", str(page))
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert {"verdict", "protection", "page"} <= set(record)
    html = page.read_text(encoding="utf-8")
    assert html.count("<svg") == 1
    assert "<script" not in html
    assert f"discreet attack {name}" in html


@pytest.mark.parametrize("name", ["difference", "tables"])
def test_each_attack_answers_in_words(name):
    result = run(name)
    assert result.exit_code == 0
    assert "The same release, protected" in result.output


def test_the_worked_example_reaches_the_terminal():
    assert "100,500.00" in re.sub(r"\s+", " ", run("difference").output)


@pytest.mark.parametrize("words", [("shadow", "--model", "magic"), ("difference", "--plot", "file/page.html")])
def test_what_cannot_be_is_said_in_a_sentence(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    result = run(*words)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
