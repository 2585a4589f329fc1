"""``discreet synthesize``: previews, copies, reports, ledgers, and a comparison that shouts."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from discreet.cli.app import app
from discreet.ledger import Ledger

SCHEMA = "sex: {values: [f, m]}\nage: {min: 0, max: 99}\n"
COMMON = ["--schema", "schema.yaml", "--unit", "id,groups=1,rows=1", "--epsilon", "1", "--delta", "1e-6"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rows = 300
    table = pa.table(
        {
            "id": list(range(rows)),
            "sex": ["fm"[i % 2] for i in range(rows)],
            "age": [i * 7 % 100 for i in range(rows)],
            "name": [f"canary-{i}" for i in range(rows)],
        }
    )
    pq.write_table(table, tmp_path / "people.parquet")
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, ["synthesize", "people.parquet", *COMMON, *words])


def test_a_preview_spends_and_writes_nothing(folder):
    done = run("--preview", "--column", "sex", "--column", "age:bins=5")
    assert done.exit_code == 0, done.output
    assert "no data was read and nothing was spent" in done.output
    assert "only 10 combinations" in done.output
    assert sorted(one.name for one in folder.iterdir()) == ["people.parquet", "schema.yaml"]


def test_a_copy_and_a_report_are_written(folder):
    done = run(
        "--out", "copy.parquet", "--report", "report.html", "--rows", "50", "--rule", "sex = 'f' OR age >= 18", "--yes"
    )
    assert done.exit_code == 0, done.output
    table = pq.read_table(folder / "copy.parquet")
    assert table.num_rows == 50
    assert table.schema.names == ["sex", "age"]
    assert not [row for row in table.to_pylist() if row["sex"] == "m" and row["age"] is not None and row["age"] < 18]
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "A synthetic copy of people" in report
    assert "canary" not in report
    assert "written down nowhere" in done.output.replace("\n", " ")
    assert "nothing is declared about them: name" in done.output.replace("\n", " ")


def test_a_ledger_keeps_the_cost_and_refuses_what_is_too_much(folder):
    words = ["--out", "copy.csv", "--ledger", "ledger.sqlite", "--budget", "1.5", "--yes", "--json"]
    done = run(*words, "--column", "sex")
    assert done.exit_code == 0, done.output
    told = json.loads(done.output)
    assert told["ok"]
    assert told["method"] == "table"
    assert told["files"] == ["copy.csv"]
    with Ledger(folder / "ledger.sqlite") as ledger:
        spent = ledger.account("people").spent.amount
        assert spent > 0
    for _ in range(3):
        done = run(*words, "--column", "age:bins=5")
    assert done.exit_code == 1
    assert not json.loads(done.output)["ok"]


def test_data_of_a_ledger_are_not_paid_from_elsewhere(folder):
    record = {"kind": "account-marker", "version": 1, "ledger": "x", "dataset": "people", "note": ""}
    (folder / "people.parquet.account").write_text(json.dumps(record))
    assert "kept in a ledger" in run("--preview").output
    done = run("--preview", "--ledger", "ledger.sqlite")
    assert done.exit_code == 1
    assert "two ledgers" in done.output.replace("\n", " ")


def test_a_comparison_shouts_that_it_is_not_private(folder):
    done = run(
        "--out", "copy.parquet", "--column", "sex", "--column", "age:bins=4", "--audit", "--target", "sex", "--yes"
    )
    assert done.exit_code == 0, done.output
    assert "NOT PRIVATE" in done.output
    assert "majority" in done.output
    names = [line.split("  ")[0] for line in done.output.splitlines()]
    assert names.count("table") == names.count("independent (yardstick)") == names.count("bayes (yardstick)") == 1
    assert "NOT" not in run("--out", "copy.parquet", "--column", "sex", "--yes").output


def test_without_a_delta_the_yardstick_is_a_network(folder):
    common = [word if word != "1e-6" else "0" for word in COMMON]
    words = ["--out", "copy.csv", "--column", "sex", "--column", "age:bins=4", "--audit", "--yes"]
    done = CliRunner().invoke(app, ["synthesize", "people.parquet", *common, *words])
    assert done.exit_code == 0, done.output
    assert "bayes (yardstick)" in done.output
    assert "independent" not in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "say where the copy shall be written"),
        (("--out", "copy.xls"), "ends in .parquet or .csv"),
        (("--out", "copy.csv"), "add --yes"),
        (("--out", "copy.csv", "--column", "age:bins=x"), "is no column"),
        (("--preview", "--column", "nobody"), "no column 'nobody'"),
        (("--preview", "--rule", "age >"), ""),
        (("--preview", "--unit", "id,groups=x"), "the unit is row"),
        (("--out", "copy.csv", "--audit", "--target", "nobody", "--yes"), "no column nobody"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_is_written(folder, words, said):
    done = run(*words)
    assert done.exit_code == 2, done.output
    assert said in done.output.replace("\n", " ")
    assert "canary" not in done.output
    assert not (folder / "copy.csv").exists()
