"""The demo as a user meets it: the whole story in a terminal, a report, JSON, and clear refusals."""

import json
import os
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from discreet._version import __version__
from discreet.cli.app import app
from discreet.errors import NotPrivateWarning
from discreet.ledger import Ledger
from discreet.testing import seeded

SIZE = "3000"
pytestmark = pytest.mark.xdist_group("demo command")  # what they look at is made once


def run(*arguments, **environment):
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "100", "FORCE_COLOR": "", **environment})


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    return run("demo", "--output", str(folder), "--size", SIZE), folder


def test_tells_the_story_in_commands(told):
    result, folder = told
    assert result.exit_code == 0, result.output
    commands = re.findall(r"\$ discreet (\w+)", result.output)
    assert commands == ["describe", "check", "preview", "release", "ledger", "verify"]
    for words in ("is in order: 4 releases", "No data was read and nothing was spent", "SHA-256 agrees", "Castle Hill"):
        assert words in result.output
    assert "which a real release never shows" in result.output
    assert str(folder / "out" / "report.html") in result.output


def test_leaves_everything_that_is_handed_over(told):
    _, folder = told
    assert {one.name for one in (folder / "out").iterdir()} == {
        *(f"{name}.{kind}" for name in ("districts", "ages", "work", "incomes") for kind in ("csv", "parquet")),
        *("report.html", "release.json", "release.yaml"),
    }
    html = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert html.count("<svg") >= 3
    for word in ("<script", "http://", "https://", "NOT PRIVATE"):
        assert word not in html


def test_the_ledger_holds_one_charge_with_its_answer(told):
    _, folder = told
    with Ledger(folder / "ledger.sqlite", read_only=True) as ledger:
        assert [entry.kind for entry in ledger.entries("town")] == ["open", "protect", "charge", "settle"]
        ledger.verify()


def test_can_be_run_again_and_starts_anew(told):
    _, folder = told
    again = run("demo", "--output", str(folder), "--size", SIZE, "--json")
    assert again.exit_code == 0, again.output
    record = json.loads(again.stdout)
    assert record["ok"]
    assert record["intervals"] > 24
    assert record["intervals_with_the_exact_number"] >= 24  # 19 of 20 are promised: fewer than half comes never


def test_what_others_put_into_its_folder_stays(told):
    _, folder = told
    kept = [folder / "thesis.tex", folder / "out" / "notes.txt", folder / "deep" / "more.txt"]
    kept[2].parent.mkdir()
    for one in kept:
        one.write_text("ten years")
    again = run("demo", "--output", str(folder), "--size", SIZE, "--json")
    assert again.exit_code == 0, again.output
    for one in kept:
        assert one.read_text() == "ten years"
        one.unlink()
    kept[2].parent.rmdir()


def test_what_it_did_not_make_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("ten years")
    result = run("demo", "--output", str(tmp_path), "--size", SIZE)
    assert result.exit_code == 2
    assert "holds other files" in result.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    result = run("demo", "--output", str(tmp_path / "file" / "folder"), "--size", SIZE)
    assert result.exit_code == 2
    assert "can be written" in result.stderr
    assert "Traceback" not in result.output


def test_a_seeded_demo_says_so(tmp_path):
    with pytest.warns(NotPrivateWarning), seeded(1):
        result = run("demo", "--output", str(tmp_path / "demo"), "--size", SIZE)
    assert result.exit_code == 1  # the certificate does not verify: it is not private
    assert "NOT PRIVATE" in result.output
    assert "NOT PRIVATE" in (tmp_path / "demo" / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("size", ["10", "minus one", "100000000"])
def test_sizes_that_no_town_has(size):
    assert run("demo", "--size", size).exit_code == 2


def test_the_version_and_the_help():
    assert run("--version").output.strip() == f"discreet {__version__}"
    help_text = run("--help").output
    for command in (
        "demo",
        "describe",
        "check",
        "preview",
        "release",
        "verify",
        "ledger",
        "account",
        "audit",
        "attack",
    ):
        assert command in help_text
    assert "--install-completion" in help_text


def test_completion_is_there():
    code = "from discreet.cli import main; main()"
    asked = {**os.environ, "_DISCREET_COMPLETE": "source_bash"}  # what a shell asks that completes the command
    done = subprocess.run([sys.executable, "-c", code], env=asked, capture_output=True, text=True, check=False)
    assert "complete -o default" in done.stdout
