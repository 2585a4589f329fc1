"""``discreet ledger``: what it shows, what it refuses, and with which exit code."""

import csv
import json
import sqlite3

import pytest
from typer.testing import CliRunner

import discreet as dp
from discreet.cli.app import app
from discreet.ledger import Ledger, Purpose


def run(*arguments, **environment):
    settings = {"COLUMNS": "160", "FORCE_COLOR": "", "DISCREET_LEDGER": "", "DISCREET_ANCHOR": "", **environment}
    return CliRunner().invoke(app, ["ledger", *arguments], env={k: v or None for k, v in settings.items()})


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        account = ledger.account("visits", budget=dp.Budget(1), who="ada")
        account.charge(dp.PrivacyLoss.laplace(0.25), Purpose(query="SELECT 1", why="spring report"))
        with pytest.raises(dp.BudgetExceeded):
            account.charge(dp.PrivacyLoss.laplace(2), Purpose(why="too much"))
        ledger.account("stays", budget=dp.Budget(2, 1e-6))
    return str(path)


def test_list(place):
    result = run("list", "--ledger", place)
    assert result.exit_code == 0
    assert "25%" in result.output
    assert "epsilon 2, delta 1e-06 (zcdp)" in result.output
    record = json.loads(run("list", "--ledger", place, "--json").output)
    assert [one["dataset"] for one in record["accounts"]] == ["visits", "stays"]
    assert record["accounts"][0]["spent"] == 0.25


def test_the_ledger_may_be_named_by_the_environment(place):
    assert "visits" in run("list", DISCREET_LEDGER=place).output


def test_show(place):
    result = run("show", "visits", "--ledger", place)
    assert result.exit_code == 0
    for words in ("open", "charge", "refuse", "ada", "0.25", "spring report"):
        assert words in result.output
    entry = json.loads(run("show", "visits", "--ledger", place, "--entry", "2").output)
    assert entry["amount"] == "1/4"
    assert entry["body"]["loss"]["terms"][0]["kind"] == "laplace"
    assert len(json.loads(run("show", "visits", "--ledger", place, "--json").output)["entries"]) == 3


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("show",), 1, "say which dataset: visits, stays"),
        (("show", "nobody"), 1, "no account of nobody"),
        (("show", "visits", "--entry", "9"), 1, "has no entry 9"),
        (("export", "visits", "--output", "x.docx"), 1, "neither .json nor .csv"),
        (("export", "visits", "--output", "/nowhere/x.csv"), 1, "cannot be written"),
    ],
)
def test_what_is_not_there(place, arguments, code, words):
    result = run(*arguments, "--ledger", place)
    assert result.exit_code == code
    assert words in result.stderr
    assert "Traceback" not in result.output


def test_no_ledger(tmp_path):
    result = run("list", "--ledger", str(tmp_path / "none.sqlite"))
    assert result.exit_code == 2
    assert "there is no ledger" in result.stderr
    assert not (tmp_path / "none.sqlite").exists()


def test_verify(place):
    result = run("verify", "--ledger", place)
    assert result.exit_code == 0
    assert "an older copy would look the same" in result.output
    assert json.loads(run("verify", "--ledger", place, "--json").output)["ok"]


@pytest.mark.parametrize("command", ["list", "show", "verify", "export"])
def test_a_ledger_that_was_changed_is_refused(place, command):
    with sqlite3.connect(place) as connection:
        connection.execute("DROP TRIGGER discreet_entry_no_update")
        connection.execute("UPDATE discreet_entry SET amount = 1 WHERE number = 2 AND account = 1")
    result = run(command, *(["visits"] if command in ("show", "export") else []), "--ledger", place)
    assert result.exit_code == 1
    assert "changed" in result.stderr


def test_export(place, tmp_path):
    whole = json.loads(run("export", "visits", "--ledger", place).output)
    assert [entry["number"] for entry in whole["entries"]] == [1, 2, 3]
    assert run("export", "visits", "--ledger", place, "--output", str(tmp_path / "out.json")).exit_code == 0
    assert json.loads((tmp_path / "out.json").read_text()) == whole
    assert run("export", "visits", "--ledger", place, "--output", str(tmp_path / "out.csv")).exit_code == 0
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["kind"] for row in rows] == ["open", "charge", "refuse"]
    assert json.loads(rows[1]["body"])["why"] == "spring report"


@pytest.mark.parametrize("words", ["[/b]", "[bold]loud[/bold]", "[link=x]y[/link]", "a\x1b[2Jb"])
def test_words_of_others_are_shown_and_not_obeyed(tmp_path, words):
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        account = ledger.account("visits", budget=dp.Budget(1), who=words)
        account.charge(dp.PrivacyLoss.laplace(0.25), Purpose(why=words))
    result = run("show", "--ledger", str(path))
    assert result.exit_code == 0, result.output
    assert result.output.count(words.replace("\x1b", "\\x1b")) == 3
    assert "\x1b" not in result.output
    assert run("list", "--ledger", str(path)).exit_code == 0
