"""The curator's commands, from a table to a folder that a stranger verifies."""

import csv
import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from discreet.cli.publishing import add_to
from discreet.ledger import Ledger

CANARY = "canary-7919"
COMMANDS = ("describe", "check", "preview", "release", "verify")
RUN = "from discreet.cli.publishing import add_to; import typer; app = typer.Typer(); add_to(app); app()"

FILE = """\
title: Visits to clinics, 2026
dataset: {name: visits, source: visits.parquet, size: 2000}
unit: {person: user_id, groups: 3, rows: 5}
columns:
  amount: {min: 0, max: 500}
  kind: {values: [meal, shop, trip]}
budget: {epsilon: 1, delta: 1e-7}
spend: {epsilon: 0.5}
releases:
  - table: by_kind
    sql: SELECT kind, COUNT(*) AS n, AVG(amount) AS spend FROM visits GROUP BY kind
  - quantiles: amounts
    column: amount
    at: [0.5]
"""

JOIN = (
    "SELECT sort, COUNT(*) AS n, AVG(amount) AS spend FROM visits JOIN kinds ON visits.kind = kinds.kind GROUP BY sort"
)

app = typer.Typer()
add_to(app)


def run(*arguments, **options):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)


def charges(folder, name="visits"):
    with Ledger(folder / "ledger.sqlite", read_only=True) as ledger:
        return [entry for entry in ledger.entries(name) if entry.kind == "charge"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rows = 900
    columns = {
        "user_id": [i % 300 for i in range(rows)],
        "city": [f"{CANARY}-{i % 7}" for i in range(rows)],
        "kind": [("meal", "shop", "trip")[i % 3] for i in range(rows)],
        "amount": [float(i % 400) for i in range(rows)],
    }
    pq.write_table(pa.table(columns), tmp_path / "visits.parquet")
    (tmp_path / "release.yaml").write_text(FILE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Example: discreet" in result.output
    assert "--json" in result.output


def test_the_whole_story(folder):
    assert "unit:" in run("describe", "visits.parquet").output
    assert run("check").exit_code == 0
    assert "in 19 of 20 releases" in run("preview").output
    released = run("release", "-o", "out", "--yes")
    assert released.exit_code == 0, released.output
    assert "for ever" in released.output
    names = sorted(one.name for one in (folder / "out").iterdir())
    tables = ["amounts.csv", "amounts.parquet", "by_kind.csv", "by_kind.parquet"]
    assert names == [*tables, "release.json", "release.yaml", "report.html"]
    assert (folder / "out" / "release.yaml").read_text(encoding="utf-8") == FILE
    with (folder / "out" / "by_kind.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["kind", "n", "n_low", "n_high", "spend", "spend_low", "spend_high"]
    parquet = pq.read_table(folder / "out" / "by_kind.parquet")
    assert parquet.column("n").to_pylist() == [int(row["n"]) for row in rows]
    verified = run("verify", "out/release.json")
    assert verified.exit_code == 0, verified.output
    assert "DOES NOT HOLD" not in verified.output
    assert "It cannot show that the noise was drawn" in " ".join(verified.output.split())
    for one in (folder / "out").iterdir():
        assert CANARY.encode() not in one.read_bytes()


def test_everything_is_one_entry_of_the_ledger(folder):
    run("release", "-o", "out", "--yes")
    (entry,) = charges(folder)
    certificate = json.loads((folder / "out" / "release.json").read_text(encoding="utf-8"))
    assert certificate["ledger"]["entry"] == entry.number
    assert certificate["ledger"]["hash"] == entry.hash
    assert len(certificate["releases"]) == 2


def test_the_second_run_costs_nothing_and_says_so(folder):
    run("release", "-o", "out", "--yes")
    before = {one.name: one.read_bytes() for one in (folder / "out").iterdir()}
    again = run("release", "-o", "out")  # nobody has to agree to nothing
    assert again.exit_code == 0, again.output
    assert "nothing was spent" in again.output
    assert len(charges(folder)) == 1
    assert {one.name: one.read_bytes() for one in (folder / "out").iterdir()} == before
    assert "running it again costs nothing" in " ".join(run("preview").output.split())


def test_another_version_of_the_data_is_charged(folder):
    run("release", "-o", "out", "--yes")
    (folder / "next.yaml").write_text(FILE.replace("size: 2000", 'size: 2000, version: "2"'), encoding="utf-8")
    result = run("release", "next.yaml", "-o", "out2", "--yes", "--json")
    assert json.loads(result.output)["stored"] is False
    assert len(charges(folder)) == 2


def test_json_is_for_machines(folder):
    assert json.loads(run("describe", "visits.parquet", "--json").output)["columns"]["amount"] == "float"
    assert json.loads(run("check", "--json").output) == {"file": "release.yaml", "ok": True, "mistakes": []}
    preview = json.loads(run("preview", "--json").output)
    assert preview["fits"]
    assert preview["epsilon"] <= 0.5
    assert preview["releases"][0]["columns"][0]["error"] > 0
    refused = run("release", "--json")
    assert refused.exit_code == 2
    assert "add --yes" in json.loads(refused.output)["error"]
    released = json.loads(run("release", "--yes", "--json").output)
    assert released["private"]
    assert not released["stored"]
    verified = json.loads(run("verify", "out/release.json", "--json").output)
    assert verified["holds"]
    assert all(check["holds"] for check in verified["checks"])
    (folder / "release.yaml").write_text(FILE.replace("epsilon: 1,", "epsilom: 1,"), encoding="utf-8")
    wrong = run("check", "--json")
    assert wrong.exit_code == 2
    assert json.loads(wrong.output)["mistakes"] == [
        {
            "file": "release.yaml",
            "line": 7,
            "wrong": "epsilom means nothing in budget.",
            "fix": "Did you mean epsilon?",
        }
    ]


def test_the_schema_is_printed():
    result = run("check", "--schema")
    assert result.exit_code == 0
    assert json.loads(result.output)["title"] == "release.yaml"


def test_nobody_there_to_ask_is_refused_before_anything_is_spent(folder):
    result = run("release", "-o", "out")
    assert result.exit_code == 2
    assert "This will spend epsilon 0.5 of 1 at delta 5e-8, after which 31.7% is used, for ever." in result.stderr
    assert "add --yes" in result.stderr
    assert not (folder / "ledger.sqlite").exists()


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_spent(folder):
    result = run("release", "-o", "visits.parquet/out", "--yes")
    assert result.exit_code == 2
    assert "Name another one: -o out/" in result.stderr
    assert not (folder / "ledger.sqlite").exists()


def test_the_release_of_another_file_is_not_written_over(folder):
    run("release", "-o", "out", "--yes")
    before = (folder / "out" / "release.json").read_bytes()
    (folder / "next.yaml").write_text(FILE.replace("AS n,", "AS m,"), encoding="utf-8")
    result = run("release", "next.yaml", "-o", "out", "--yes")
    assert result.exit_code == 2
    assert "nothing is written over" in result.stderr
    assert len(charges(folder)) == 1
    assert (folder / "out" / "release.json").read_bytes() == before


def test_the_data_itself_is_not_written_over(folder):
    before = (folder / "visits.parquet").read_bytes()
    (folder / "next.yaml").write_text(FILE.replace("table: by_kind", "table: visits"), encoding="utf-8")
    (folder / "release.yaml").unlink()
    result = run("release", "next.yaml", "-o", ".", "--yes")
    assert result.exit_code == 2
    assert "visits.parquet must stay" in result.stderr
    assert (folder / "visits.parquet").read_bytes() == before
    assert not (folder / "ledger.sqlite").exists()


def test_when_writing_fails_after_the_charge_the_answers_are_in_the_ledger(folder):
    """Files of more than 600,000 bytes cannot be written; the report, with a long description, is one, no other is."""
    (folder / "release.yaml").write_text(FILE + f"description: {'long ' * 160_000}\n", encoding="utf-8")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000)); "
    command = [sys.executable, "-c", limit + RUN, "release", "-o", "out", "--yes"]
    failed = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert failed.returncode == 1, failed.stderr
    assert "it costs nothing more" in failed.stderr
    assert len(charges(folder)) == 1
    assert not list((folder / "out").iterdir())
    again = run("release", "-o", "out")
    assert again.exit_code == 0, again.output
    assert len(charges(folder)) == 1
    assert run("verify", "out/release.json").exit_code == 0


def test_a_budget_that_is_not_enough_ends_with_1(folder):
    run("release", "-o", "out", "--yes")
    for place in range(6):
        text = FILE.replace("AS n,", f"AS n{place},")
        (folder / "next.yaml").write_text(text, encoding="utf-8")
        result = run("release", "next.yaml", "-o", f"out{place}", "--yes")
        if result.exit_code:
            break
    assert result.exit_code == 1
    assert "is not enough" in result.stderr
    assert not (folder / f"out{place}").exists()
    count = len(charges(folder))
    assert run("release", "next.yaml", "-o", "more", "--yes").exit_code == 1
    assert len(charges(folder)) == count


def test_a_release_that_fails_stays_charged_and_shows_no_data(folder):
    data = bytearray((folder / "visits.parquet").read_bytes())
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    data[4:start] = b"\xff" * (start - 4)
    (folder / "visits.parquet").write_bytes(bytes(data))
    result = run("release", "-o", "out", "--yes")
    assert result.exit_code == 1
    assert "what it was charged stays spent" in result.stderr
    assert len(charges(folder)) == 1
    assert not (folder / "out" / "release.json").exists()


def test_another_unit_than_the_account_has_ends_with_1(folder):
    run("release", "-o", "out", "--yes")
    (folder / "next.yaml").write_text(FILE.replace("{person: user_id, groups: 3, rows: 5}", "row"), encoding="utf-8")
    result = run("release", "next.yaml", "-o", "out2", "--yes")
    assert result.exit_code == 1
    assert "persons by user_id" in result.stderr
    assert len(charges(folder)) == 1


@pytest.mark.parametrize("change", ["epsilon", "file", "kind"])
def test_a_certificate_that_does_not_hold_ends_with_1_or_2(folder, change):
    run("release", "-o", "out", "--yes")
    place = folder / "out" / "release.json"
    record = json.loads(place.read_text(encoding="utf-8"))
    if change == "epsilon":
        record["epsilon"] /= 2
    elif change == "kind":
        record["kind"] = "something"
    else:
        (folder / "out" / "by_kind.csv").write_text("kind,n\n")
    place.write_text(json.dumps(record), encoding="utf-8")
    result = run("verify", "out/release.json")
    assert result.exit_code == (2 if change == "kind" else 1)
    assert change == "kind" or "DOES NOT HOLD" in result.output


def test_a_certificate_travels_alone(folder, tmp_path_factory):
    run("release", "-o", "out", "--yes")
    elsewhere = tmp_path_factory.mktemp("stranger") / "c.json"
    shutil.copy(folder / "out" / "release.json", elsewhere)
    result = run("verify", elsewhere)
    assert result.exit_code == 0
    assert "not beside the certificate" in result.output


def test_a_certificate_cannot_write_to_the_terminal(folder):
    run("release", "-o", "out", "--yes")
    place = folder / "out" / "release.json"
    record = json.loads(place.read_text(encoding="utf-8")) | {"title": "\x1b[2J\x1b]0;owned\x07", "date": "\u202e1"}
    place.write_text(json.dumps(record), encoding="utf-8")
    shown = run("verify", place).output
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_what_is_no_certificate_is_refused(folder):
    for place in ("missing.json", "visits.parquet", "release.yaml"):
        result = run("verify", place)
        assert result.exit_code == 2
        assert "Traceback" not in result.output


def test_paths_are_relative_to_the_file(folder, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert run("check", folder / "release.yaml").exit_code == 0
    assert run("release", folder / "release.yaml", "-o", "out", "--yes").exit_code == 0
    assert (folder / "ledger.sqlite").exists()
    assert Path("out/release.json").exists()
    assert "nothing was spent" in run("release", folder / "release.yaml", "-o", "out").output


def test_the_page_of_a_preview(folder):
    result = run("preview", "--html", "page.html")
    assert result.exit_code == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert CANARY not in page
    assert run("preview", "--html", "visits.parquet/page.html").exit_code == 2


def test_public_tables_may_be_joined(folder):
    (folder / "kinds.csv").write_text("kind,sort\nmeal,food\nshop,goods\ntrip,goods\n")
    text = FILE.replace("SELECT kind, COUNT(*) AS n, AVG(amount) AS spend FROM visits GROUP BY kind", JOIN)
    (folder / "release.yaml").write_text(text + "public: {kinds: kinds.csv}\n", encoding="utf-8")
    result = run("release", "--yes")
    assert result.exit_code == 0, result.output
    with (folder / "out" / "by_kind.csv").open(newline="") as file:
        assert [row["sort"] for row in csv.DictReader(file)] == ["food", "goods"]
    (folder / "release.yaml").write_text(text + "public: {kinds: kids.csv}\n", encoding="utf-8")
    wrong = run("check")
    assert wrong.exit_code == 2
    assert "release.yaml, line 15: there is no file" in wrong.stderr


def test_several_files_and_json_work_too(folder):
    rows = pq.read_table(folder / "visits.parquet")
    for place in range(3):
        pq.write_table(rows.slice(300 * place, 300), folder / f"part-{place}.parquet")
    (folder / "release.yaml").write_text(FILE.replace("visits.parquet", "'part-*.parquet'"), encoding="utf-8")
    assert run("release", "-o", "many", "--yes").exit_code == 0
    with (folder / "visits.jsonl").open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows.to_pylist())
    text = FILE.replace("visits.parquet", "visits.jsonl").replace("columns:\n", "columns:\n  user_id: str\n")
    text = text.replace("{min: 0, max: 500}", "{type: float, min: 0, max: 500}")
    (folder / "release.yaml").write_text(text + "ledger: json.sqlite\n", encoding="utf-8")
    result = run("release", "-o", "lines", "--yes")
    assert result.exit_code == 0, result.output


def test_csv_files_work_too(folder):
    rows = pq.read_table(folder / "visits.parquet").to_pylist()
    with (folder / "visits.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    text = FILE.replace("visits.parquet", "visits.csv").replace("{min: 0, max: 500}", "{type: float, min: 0, max: 500}")
    (folder / "release.yaml").write_text(text, encoding="utf-8")
    result = run("release", "--yes")
    assert result.exit_code == 0, result.output
    assert (folder / "visits.csv.account").exists()


# In a process of its own.


def process(folder, *arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **options,
    )


def test_a_process_prints_results_alone(folder):
    done = process(folder, "release", "-o", "out", "--yes", env={**os.environ, "PYTHONIOENCODING": "utf-8"})
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    verified = process(folder, "verify", "out/release.json", env={**os.environ, "PYTHONIOENCODING": "utf-8"})
    assert (verified.returncode, verified.stderr) == (0, "")


def in_terminal(folder, arguments, answer="", **variables):
    """Run a command at a terminal, type an answer, and return its exit code and what the terminal showed."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8", **variables}
    environment.pop("NO_COLOR", None) if "NO_COLOR" not in variables else None
    child = subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments], cwd=folder, env=environment, stdin=slave, stdout=slave, stderr=slave
    )
    os.close(slave)
    os.write(master, answer.encode())
    shown = b""
    try:
        while block := os.read(master, 1 << 16):
            shown += block
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(master)
    return child.wait(timeout=300), shown.decode("utf-8", "replace")


def test_on_a_terminal_the_cost_is_agreed_to(folder):
    code, shown = in_terminal(folder, ["release", "-o", "out"], "n\n")
    assert "This will spend epsilon 0.5 of 1 at delta 5e-8, after which 31.7% is used, for ever. Go on? [y/N]" in shown
    assert "Nothing was spent." in shown
    assert (code, (folder / "ledger.sqlite").exists()) == (1, False)
    code, shown = in_terminal(folder, ["release", "-o", "out"], "y\n")
    assert code == 0, shown
    assert len(charges(folder)) == 1


def test_a_terminal_has_colours_and_a_small_plot_unless_it_does_not_want_them(folder):
    code, shown = in_terminal(folder, ["preview"])
    assert code == 0
    assert "\x1b[33m" in shown
    assert "<- planned" in shown
    code, plain = in_terminal(folder, ["preview"], NO_COLOR="1")
    assert code == 0
    assert "\x1b[33m" not in plain


@pytest.mark.parametrize(("package", "extra"), [("sqlglot", "publish"), ("yaml", "tables"), ("sqlalchemy", "ledger")])
def test_says_what_to_install(folder, package, extra):
    code = f"import sys; sys.modules[{package!r}] = None; {RUN}"
    done = subprocess.run(
        [sys.executable, "-c", code, "preview"], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 2
    assert f"Run: pip install 'discreet[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr
