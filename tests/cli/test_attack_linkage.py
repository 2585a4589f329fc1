"""``discreet attack linkage`` and its sisters: words for people, JSON for machines, a page, and no cell of the data."""

import csv
import json

import pytest
from typer.testing import CliRunner

from discreet.cli.app import app
from discreet.datasets import census

FAST = {
    "ratings": ["--people", "1500", "--titles", "500"],
    "traces": ["--people", "800"],
    "graph": ["--people", "400"],
    "stories": ["--records", "20000", "--stories", "40"],
    "anonymity": ["--people", "600"],
}


def run(*arguments):
    return CliRunner().invoke(app, ["attack", *map(str, arguments)])


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "people.csv"
    town = census(800)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(town), *zip(*[column.tolist() for column in town.values()], strict=True)])
    return path


def test_your_own_file(people):
    result = run("linkage", people, "--sensitive", "condition")
    assert result.exit_code == 0
    text = " ".join(result.output.split())
    assert "of your 800 rows are unique on three columns" in text
    assert "What to do" in text
    assert "The same release, protected" in text


def test_no_cell_is_ever_shown(tmp_path):
    path, page = tmp_path / "secret.csv", tmp_path / "page.html"
    rows = [f"hush{i % 7},mum{i % 11},psst{i},shh{i % 3}" for i in range(60)]
    path.write_text("\n".join(["a,b,c,d", *rows]), encoding="utf-8")
    said = run("linkage", path, "--sensitive", "d", "--plot", page).output + run("linkage", path, "--json").output
    said += run("linkage", path, "--sensitive", "hush1").output + run("linkage", path, "--no-header").output
    said += page.read_text(encoding="utf-8")
    assert "k = 1" in said
    assert [word for word in ("hush", "mum", "psst", "shh") if word in said.replace("'hush1'", "")] == []


def test_json_and_page(people, tmp_path):
    page = tmp_path / "new" / "page.html"
    result = run("linkage", people, "--columns", "sex, postcode", "--json", "--plot", page)
    record = json.loads(result.output)
    assert record["rows"] == 800
    assert record["columns"] == ["sex", "postcode"]
    assert record["page"] == str(page)
    html = page.read_text(encoding="utf-8")
    assert "<svg" in html
    assert "<script" not in html


@pytest.mark.parametrize("command", FAST)
def test_the_generated_attacks(command, tmp_path):
    page = tmp_path / "page.html"
    record = json.loads(run(command, *FAST[command], "--json", "--plot", page).output)
    assert record["protection"]["advantage"] <= record["protection"]["bound"] + 0.05
    assert record["verdict"] in page.read_text(encoding="utf-8").replace("&#39;", "'")


def test_without_a_file_a_census_is_invented():
    result = run("linkage")
    assert result.exit_code == 0
    assert "birth_date" in result.output


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "there is no file"), (b"", "is empty"), (b"a,b\n", "no row"), (b"PK\x03\x04", "Excel")],
)
def test_what_cannot_be_read_is_a_sentence_and_exit_code_2(tmp_path, content, words):
    path = tmp_path / "mine.csv"
    if content is not None:
        path.write_bytes(content)
    result = run("linkage", path)
    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output


def test_a_page_that_cannot_be_written_is_refused_before_the_work(people, tmp_path):
    (tmp_path / "file").touch()
    result = run("linkage", people, "--plot", tmp_path / "file" / "page.html")
    assert result.exit_code == 2
    assert "--plot page.html" in result.output


def test_column_names_cannot_style_the_terminal(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("[bold red]a[/],\x1b[31mb\nx,y\nz,y\n", encoding="utf-8")
    result = run("linkage", path)
    assert result.exit_code == 0
    assert "\x1b" not in result.output
    assert "[bold red]a[/]" in result.output
