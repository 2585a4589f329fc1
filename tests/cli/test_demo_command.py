"""The demo as a user meets it: a table, a report, JSON, and clear refusals."""

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

SIZE = "2000"


def run(*arguments, **environment):
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "100", "FORCE_COLOR": "", **environment})


def command(*arguments, **environment):
    code = "from discreet.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    return run("demo", "--output", str(folder), "--size", SIZE), folder


def test_prints_answers_errors_and_costs(told):
    result, folder = told
    assert result.exit_code == 0, result.output
    for words in ("Smokers", "People per district", "Harbour", "Mean income", "Median age", "within ±24", "0.125"):
        assert words in result.output
    assert "Total epsilon 1" in result.output
    assert "a real release never shows" in " ".join(result.output.split())
    assert str(folder / "report.html") in result.output


def test_writes_a_report_that_fetches_nothing(told):
    html = (told[1] / "report.html").read_text(encoding="utf-8")
    assert html.count("<svg") >= 2
    assert "<script" not in html
    assert "http://" not in html
    assert "https://" not in html
    assert not re.search(r"<(img|link|iframe|object)\b", html)
    assert "NOT PRIVATE" not in html
    assert "at most 73.2% likely" in html
    assert "which a real release never shows" in html


def test_the_report_names_no_path_of_this_machine(told):
    assert str(told[1]) not in (told[1] / "report.html").read_text(encoding="utf-8")


def test_json_is_for_machines(tmp_path):
    result = run("demo", "--output", str(tmp_path), "--size", SIZE, "--json")
    told = json.loads(result.stdout)
    assert told["private"] is True
    assert told["total"] == {"epsilon": 1.0, "delta": 0.0}
    assert [release["title"] for release in told["releases"]] == list(told["exact_for_this_demo_only"])
    assert len(told["releases"][2]["value"]) == 8
    assert sum(release["epsilon"] for release in told["releases"]) == 1.0
    assert told["report"] == str(tmp_path / "report.html")


def test_answers_are_near_the_truth_and_fresh(tmp_path):
    runs = [json.loads(run("demo", "-o", str(tmp_path), "--json").stdout) for _ in range(3)]
    for told in runs:
        exact = told["exact_for_this_demo_only"]
        values = {release["title"]: release["value"] for release in told["releases"]}
        assert abs(values["Smokers"] - exact["Smokers"]) < 400
        assert abs(values["Mean income"] - exact["Mean income"]) < 2000
        assert abs(values["Median age"] - exact["Median age"]) < 20
    assert len({json.dumps(told["releases"]) for told in runs}) == 3


def test_no_colour_when_not_asked_for_or_not_a_terminal(tmp_path):
    assert "\x1b[" not in run("demo", "-o", str(tmp_path), "--size", SIZE).output
    quiet = command("demo", "-o", str(tmp_path), "--size", SIZE, NO_COLOR="1", FORCE_COLOR="1", TERM="xterm-256color")
    assert quiet.returncode == 0, quiet.stderr
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", quiet.stdout)


def test_a_folder_that_cannot_be_written(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    result = run("demo", "--output", str(file / "inside"), "--size", SIZE)
    assert result.exit_code == 2
    assert "needs a folder that can be written" in " ".join(result.output.split())
    assert "Traceback" not in result.output


@pytest.mark.parametrize("arguments", [["demo", "--size", "3"], ["demo", "--size", "many"], ["demo", "--what"], ["no"]])
def test_wrong_usage_is_exit_code_two(arguments):
    assert run(*arguments).exit_code == 2


def test_version_and_help():
    assert run("--version").output == f"discreet {__version__}\n"
    help_text = re.sub(r"\x1b\[[0-9;]*m", "", run("demo", "--help").output)
    assert "discreet demo --output demo-report" in help_text
    assert "demo" in run("--help").output


def test_a_seeded_demo_says_so(tmp_path):
    testing = pytest.importorskip("discreet.testing")
    with pytest.warns(NotPrivateWarning), testing.seeded(7):
        result = run("demo", "-o", str(tmp_path), "--size", SIZE)
    assert "NOT PRIVATE: made with a seeded source" in result.output
    assert "NOT PRIVATE: made with a seeded source" in (tmp_path / "report.html").read_text(encoding="utf-8")
