"""``discreet bench dualquery``: tables, JSON, a page with pictures, clear refusals."""

import json

from typer.testing import CliRunner

from discreet.cli.app import app

FAST = ["--experiment", "attributes", "--attributes", "5,9", "--records", "300", "--queries", "40", "--repeats", "2"]


def run(*arguments):
    return CliRunner().invoke(app, ["bench", "dualquery", *map(str, arguments)])


def test_a_table_for_people():
    result = run(*FAST)
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.split())
    assert "random biased bits: 40 three-way marginals, 300 records, epsilon 1, delta 0.001" in text
    assert "below noise on each answer in" in text


def test_a_folder_with_a_page_pictures_and_json(tmp_path):
    result = run(*FAST, "--output", tmp_path / "new", "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert {row["method"] for row in record["experiments"][0]["rows"]} == {
        "DualQuery",
        "noise on each answer",
        "independent attributes",
    }
    assert sorted(file.name for file in (tmp_path / "new").iterdir()) == [
        "benchmark.html",
        "errors_attributes.svg",
        "experiment_attributes.json",
        "seconds_attributes.svg",
    ]
    page = (tmp_path / "new" / "benchmark.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    assert "<script" not in page


def test_refusals():
    for arguments in (["--experiment", "rows"], ["--data", "netflix"], ["--epsilon", "x"], ["--attributes", ""]):
        result = run(*arguments)
        assert result.exit_code == 2, result.output
        assert "Traceback" not in result.output
