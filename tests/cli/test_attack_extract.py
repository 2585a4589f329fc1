"""``discreet attack extract`` answers in words, as JSON and with a page."""

import json

from typer.testing import CliRunner

from discreet.cli.app import app

QUICK = ["--records", "120", "--codes", "2", "--digits", "2", "--epochs", "2"]


def test_the_command_answers_with_a_record_and_a_page(tmp_path):
    page = tmp_path / "page.html"
    result = CliRunner().invoke(app, ["attack", "extract", *QUICK, "--json", "--plot", str(page)])
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert {"verdict", "protection", "page", "plain", "protected", "bound"} <= set(record)
    assert len(record["plain"]["exposures"]) == 2
    html = page.read_text(encoding="utf-8")
    assert html.count("<svg") == 1
    assert "<script" not in html
    assert "discreet attack extract" in html


def test_the_command_answers_in_words():
    result = CliRunner().invoke(app, ["attack", "extract", *QUICK])
    assert result.exit_code == 0, result.output
    assert "The same release, protected" in result.output
    assert "mean exposure in bits" in result.output
