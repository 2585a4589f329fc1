"""Every mistake is one sentence with its line and what to write; none shows a traceback or a value of the data."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from discreet.cli.publishing import add_to

CANARY = "canary-7919"

FILE = """\
title: Visits to clinics, 2026
dataset:
  name: visits
  source: visits.parquet
  size: 2000
unit: {person: user_id, groups: 3, rows: 5}
columns:
  amount: {min: 0, max: 500}
  age: {min: 0, max: 120}
  kind: {values: [meal, shop, trip]}
budget: {epsilon: 1, delta: 1e-7}
spend: {epsilon: 0.5}
level: 0.95
releases:
  - table: by_kind
    sql: |
      SELECT kind, COUNT(*) AS n, AVG(amount) AS spend
      FROM visits
      GROUP BY kind
    spend: 40%
  - table: by_kind_fields
    where: day >= DATE '2026-07-01'
    group_by: [kind]
    columns: {n: COUNT(*), spend: AVG(amount)}
  - histogram: ages
    column: age
    width: 40
  - quantiles: amounts
    column: amount
    at: [0.25, 0.5, 0.75]
    by: [kind]
"""

UNIT = "{person: user_id, groups: 3, rows: 5}"
OPTIONS = "DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.1)"

MISTAKES = [
    # YAML: what stands there, what instead, the line, a phrase of the sentence.
    ("title: Visits", "title: [Visits", 1, "a bracket is not closed"),
    ("title: Visits", 'title: "Visits', 1, "a quotation mark is not closed"),
    ("  name: visits", "\tname: visits", 3, "Write spaces instead."),
    ("title: Visits", "title: a: Visits", 1, "Write the text in quotes"),
    ("  size: 2000", "  size: 2000\n  size: 3000", 6, "the first is on line 5. Remove one of them."),
    ("  size: 2000", "  size: &people 2000", 5, "Write the value out."),
    ("  size: 2000", "  size: !!int 2000", 5, "Write the value alone."),
    ("values: [meal,", "values: [007,", 10, 'Write "007" in quotes'),
    ("level: 0.95", "---", 13, "a second one starts here"),
    ("level: 0.95", "level: [[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]", 13, "Write it in fewer levels."),
    # The shape of the file.
    ("title: Visits", "titel: Visits", 1, "Did you mean title?"),
    ("budget: {epsilon: 1, delta: 1e-7}\n", "", 1, "Write budget: {epsilon: 1, delta: 1e-7}."),
    ("budget: {epsilon: 1,", "budget: {epsilom: 1,", 11, "Did you mean epsilon?"),
    ("budget: {epsilon: 1,", "budget: {epsilon: -1,", 11, "must be above 0"),
    ("budget: {epsilon: 1,", "budget: {epsilon: one,", 11, "Write it in digits"),
    ("budget: {epsilon: 1,", "budget: {epsilon: .inf,", 11, "Write it in digits"),
    ("budget: {epsilon: 1,", "budget: {epsilon: 1e9999,", 11, "too large or too small"),
    ("budget: {epsilon: 1, delta: 1e-7}", "budget: 1", 11, "Write budget: {epsilon: 1, delta: 1e-7}."),
    ("delta: 1e-7}", "delta: 1.5}", 11, "Write one such as 1e-7"),
    ("delta: 1e-7}", "filter: zcdp}", 11, "Write delta: 1e-7 beside it"),
    ("delta: 1e-7}", "delta: 1e-7, filter: zdcp}", 11, "Did you mean filter: zcdp?"),
    ("delta: 1e-7}", "delta: 1e-7, filter: gdp}", 11, "Write filter: zcdp or filter: renyi."),
    ("spend: {epsilon: 0.5}", "spend: {epsilon: 5}", 12, "Write spend: {epsilon: 1} or less."),
    ("spend: {epsilon: 0.5}", "spend: 0.5", 12, "Write spend: {epsilon: 0.5}."),
    ("spend: {epsilon: 0.5}", "spend: {epsilon: 0.5, delta: 0.1}", 12, "Write 1e-7 or less"),
    ("level: 0.95", "level: 95", 13, "Write one such as 0.95."),
    ("level: 0.95", "anchor: heads.txt", 13, "Write a path on another disk or host"),
    ("level: 0.95", "ledger: postgresql://me:secret@host/base", 13, "~/.pgpass"),
    ("name: visits", "name: my visits", 3, "Write a name such as visits."),
    ("size: 2000", "size: about 2000", 5, "Write it in digits"),
    ("size: 2000", "size: 0.5", 5, "a whole number of at least 1"),
    # Who is protected, and what is declared.
    (UNIT, "rows", 6, "or unit: row if each has one."),
    (UNIT, "", 6, "or unit: row if each has one."),
    (UNIT, "{person: user_id, groups: 3}", 6, "Write rows: 5."),
    (UNIT, "{persons: user_id, groups: 3, rows: 5}", 6, "Did you mean person?"),
    (UNIT, "{person: userid, groups: 3, rows: 5}", 6, "Did you mean user_id?"),
    (UNIT, "{row: replace, size: 2000}", 6, "Did you mean row: replace_one?"),
    (UNIT, "{row: add_remove, size: 2000}", 6, "Write unit: {row: replace_one, size: 20000}"),
    ("amount: {min: 0, max: 500}", "amount: {min: 0}", 8, "Write amount: {min: 0, max: 500} with your own numbers."),
    ("amount: {min: 0, max: 500}", "amount: {min: 500, max: 0}", 8, "Write amount: {min: 0, max: 500}."),
    ("amount: {min: 0, max: 500}", "amount: {mni: 0, max: 500}", 8, "Did you mean min?"),
    ("amount: {min: 0, max: 500}", "amount: [0, 500]", 8, "Write amount: {min: 0, max: 500}"),
    ("amount: {min: 0, max: 500}", "amont: {min: 0, max: 500}", 8, "Did you mean amount?"),
    ("amount: {min: 0, max: 500}", "amount: flaot", 8, "Did you mean amount: float?"),
    ("age: {min: 0, max: 120}", "city: {min: 0, max: 120}", 27, "Write age: {min: 0, max: 120} under columns"),
    ("kind: {values: [meal, shop, trip]}", "kind: {min: 0, max: 1}", 10, "Remove min and max"),
    ("[meal, shop, trip]", "[meal, meal]", 10, "declared twice"),
    ("[meal, shop, trip]", "meal", 10, "Write values: [Oslo]."),
    ("[meal, shop, trip]", "[meal, 1]", 10, "texts in quotes"),
    ("[meal, shop, trip]", "[1.5]", 10, "Write decimals in quotes"),
    # Releases.
    ("- table: by_kind\n", "- tabel: by_kind\n", 15, "Did you mean table?"),
    ("- table: by_kind\n", "- map: by_kind\n", 15, "quantiles, workload, hierarchy and synthesize."),
    ("- table: by_kind\n", "- table: ../by_kind\n", 15, "Write a name such as by_city."),
    ("- table: by_kind_fields", "- table: BY_KIND", 21, "Give one another name."),
    ("- histogram: ages", "- histogram: ages\n    table: ages", 25, "Write a release for each."),
    ("    spend: 40%", "    spend: 0.4", 20, "Write 40% or {epsilon: 0.4}."),
    ("    spend: 40%", "    spend: 140%", 20, "at most 100%"),
    ("    spend: 40%", "    spend: {epsilon: 2}", 20, "together at most 100%"),
    ("    spend: 40%", "    spend: 100%", 21, "Write smaller parts for the others."),
    ("    spend: 40%", "    spend: 40%\n    error: {n: 60}", 21, "Remove one of the two."),
    ("    spend: 40%", "    noise: gausian", 20, "Did you mean noise: gaussian?"),
    ("    spend: 40%", "    count_groups: yes", 20, "Write count_groups: true."),
    ("    spend: 40%", "    count_groups: true", 20, "Remove count_groups."),
    ("    spend: 40%", "    error: {m: 60}", 20, "It can for n, spend."),
    ("    spend: 40%", "    error: {spent: 60}", 20, "Did you mean spend?"),
    ("    spend: 40%", "    error: {spend: 0.000001}", 20, "Write a larger error"),
    ("    spend: 40%", "    error: {n: 5}", 12, "Write larger errors"),
    ("    spend: 40%", "    split: {spent: 2}", 20, "Did you mean spend?"),
    ("    spend: 40%", "    group_by: [kind]", 20, "Put group_by into the SQL."),
    ("    columns: {n: COUNT(*), spend: AVG(amount)}\n", "", 21, "or columns: {n: COUNT(*)}."),
    ("    column: age", "    colum: age", 26, "Did you mean column?"),
    ("    width: 40", "    bins: [0]", 27, "Write [0, 18, 65, 120]."),
    ("    width: 40", "    width: 40\n    bins: [0, 1]", 25, "or width: 10."),
    ("    at: [0.25, 0.5, 0.75]", "    at: [25, 50]", 30, "Write one such as 0.95."),
    ("    at: [0.25, 0.5, 0.75]", "    at: [0.5, 0.5]", 30, "Remove the one that stands there twice."),
    # Queries.
    ("AVG(amount) AS spend\n", "AVG(amont) AS spend\n", 17, "Did you mean amount?"),
    ("AVG(amount) AS spend\n", "AVGE(amount) AS spend\n", 17, "Did you mean AVG?"),
    ("AVG(amount) AS spend\n", "AVG(rating) AS spend\n", 17, "Write rating: {min: 0, max: 500} under columns"),
    ("AVG(amount) AS spend\n", "AVG(city) AS spend\n", 17, "choose another column"),
    ("AVG(amount) AS spend\n", "SUM(rating * 2) AS spend\n", 16, "Write CLIP(x, 0, 500) around it"),
    ("FROM visits\n", "FROM visit\n", 18, "Did you mean visits?"),
    ("SELECT kind, COUNT", "SELECT kidn, COUNT", 17, "Did you mean kind?"),
    ("SELECT kind, COUNT", "SELEC kind, COUNT", 16, "Write SELECT key, COUNT(*) AS n FROM table"),
    ("SELECT kind, COUNT", "SELECT DISTINCT kind, COUNT", 16, "GROUP BY city."),
    ("where: day >=", "where: dya >=", 22, "Did you mean day?"),
    ("where: day >=", "where: age >=", 22, "Declare the type of the column"),
    ("group_by: [kind]", "group_by: [knid]", 23, "Did you mean kind?"),
    ("group_by: [kind]", "group_by: [amount]", 23, "Write BIN(amount, 0, 10, 20)"),
    ("source: visits.parquet", "source: visit.parquet", 4, "Write its path, relative to this file."),
    ("source: visits.parquet", "source: release.yaml", 4, "Write the path of a Parquet, CSV or JSON file"),
    ("source: visits.parquet", "source: broken.parquet", 4, "cannot be read as a table"),
    # What would fail after the charge, or be published by mistake.
    ("title: Visits", 'title: "\\uD800 Visits"', 1, "U+D800, which cannot be seen or published"),
    ("title: Visits", 'description: "a\\0b"\ntitle: Visits', 1, "U+0000, which cannot be seen or published"),
    ("  size: 2000", '  version: "\\e[2J"', 5, "U+001B, which cannot be seen or published"),
    ("  size: 2000", f"  version: {'v' * 501}", 5, "a version has at most 500 characters"),
    ("  size: 2000", f"  size: 1{'0' * 50}", 5, "a number has at most 50 digits"),
    ("  size: 2000", "  size: ２０００", 5, "Write it in digits"),  # noqa: RUF001
    ("  size: 2000", "  size: 1e30", 5, "larger than any table"),
    (UNIT, "{person: user_id, groups: 3, rows: 1e30}", 6, "this number is larger than any table. Write one such as 5."),
    ("amount: {min: 0, max: 500}", "amount: {min: 0, max: 1e300}", 8, "no answer would say anything"),
    ("amount: {min: 0, max: 500}", "amount: {type: int, min: 0, max: 0.5}", 8, "amount: {min: 0, max: 500} with your"),
    ("amount: {min: 0, max: 500}", "amount: {min: 0.5, max: 0.25}", 8, "Write amount: {min: 0.25, max: 0.5}."),
    ("level: 0.95", "level: 1e-300", 13, "a level lies between 0.5 and 0.9999"),
    ("level: 0.95", f"level: 0.{'9' * 40}", 13, "a level lies between 0.5 and 0.9999"),
    ("    spend: 40%", "    level: 0.99999", 20, "a level lies between 0.5 and 0.9999"),
    ("level: 0.95", "# postgresql://me:secret@host/base", 13, "~/.pgpass"),
    ("level: 0.95", "# host=h password=secret", 13, "~/.pgpass"),
    ("level: 0.95", "ledger: postgresql://me:pa/ss@host/base", 13, "~/.pgpass"),
    ("level: 0.95", 'ledger: "postgresql://me\\x3asecret@host/base"', 13, "~/.pgpass"),
    ("level: 0.95", "ledger: sqlite:///x.db", 13, "Write ledger: x.db."),
    ("- table: by_kind\n", "- table: NUL\n", 15, "some systems take this name for a device"),
    ("- table: by_kind\n", "- table: com1\n", 15, "Write a name such as by_city."),
    ("SELECT kind, COUNT", f"SELECT WITH {OPTIONS} kind, COUNT", 20, "and spend says it too. Remove one of them."),
    ("title: Visits", "public: {r: visits.parquet}\ntitle: Visits", 1, "a table that everybody may see"),
]


@pytest.fixture(scope="module")
def app():
    made = typer.Typer()
    add_to(made)
    return made


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A table whose values must never be shown, and a file that is none."""
    place = tmp_path_factory.mktemp("mistakes")
    days = pa.array([20454 + i for i in range(300)], pa.int32()).cast(pa.date32())
    columns = {
        "user_id": list(range(300)),
        "city": [f"{CANARY}-{i % 7}" for i in range(300)],
        "kind": [("meal", "shop", "trip")[i % 3] for i in range(300)],
        "day": days,
        "amount": [7919.0 + i for i in range(300)],
        "age": [20 + i % 60 for i in range(300)],
        "rating": [float(i % 5) for i in range(300)],
    }
    pq.write_table(pa.table(columns), place / "visits.parquet")
    (place / "broken.parquet").write_bytes(b"PAR1 " + CANARY.encode() + b" PAR1")
    return place


def test_the_file_itself_is_in_order(app, data, monkeypatch):
    monkeypatch.chdir(data)
    (data / "release.yaml").write_text(FILE, encoding="utf-8")
    result = CliRunner().invoke(app, ["check"])
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize(("there", "instead", "line", "phrase"), MISTAKES)
def test_a_mistake_is_one_sentence(app, data, monkeypatch, there, instead, line, phrase):
    monkeypatch.chdir(data)
    assert FILE.count(there) >= 1
    (data / "release.yaml").write_text(FILE.replace(there, instead, 1), encoding="utf-8")
    result = CliRunner().invoke(app, ["check", "release.yaml"])
    said = result.stderr.strip().splitlines()
    assert result.exit_code == 2, result.output
    assert [one for one in said if one.startswith(f"release.yaml, line {line}: ") and phrase in one], said
    assert result.stdout == ""
    assert "Traceback" not in result.output
    assert CANARY not in result.output
    assert "7919" not in result.output
    assert isinstance(result.exception, SystemExit)


def test_an_error_beside_options_is_refused_too(app, data, monkeypatch):
    monkeypatch.chdir(data)
    wrong = FILE.replace("    spend: 40%", "    error: {n: 60}").replace("SELECT kind", f"SELECT WITH {OPTIONS} kind")
    (data / "release.yaml").write_text(wrong, encoding="utf-8")
    assert "line 20: the SQL says what it costs in OPTIONS(...), and error" in CliRunner().invoke(app, ["check"]).stderr


def test_levels_that_are_allowed_can_be_planned(app, data, monkeypatch):
    monkeypatch.chdir(data)
    for level in ("0.5", "0.9999"):
        (data / "release.yaml").write_text(FILE.replace("level: 0.95", f"level: {level}"), encoding="utf-8")
        result = CliRunner().invoke(app, ["preview"])
        assert result.exit_code == 0, result.output


def test_a_file_without_end_is_refused(app):
    result = CliRunner().invoke(app, ["check", "/dev/zero"])
    assert result.exit_code == 2
    assert "at most a million characters" in result.stderr


def test_there_are_enough_of_them():
    assert len(MISTAKES) >= 45


def test_all_mistakes_of_a_file_are_told_at_once(app, data, monkeypatch):
    monkeypatch.chdir(data)
    wrong = FILE.replace("level: 0.95", "level: 95").replace("size: 2000", "size: many").replace("max: 120", "max: old")
    (data / "release.yaml").write_text(wrong, encoding="utf-8")
    said = CliRunner().invoke(app, ["check"]).stderr.splitlines()
    assert [one.partition(":")[0] for one in said] == [f"release.yaml, line {line}" for line in (5, 9, 13)]


def test_a_misspelt_name_is_one_mistake(app, data, monkeypatch):
    monkeypatch.chdir(data)
    (data / "release.yaml").write_text(FILE.replace("budget:", "budgte:"), encoding="utf-8")
    said = CliRunner().invoke(app, ["check"]).stderr.splitlines()
    assert said == ["release.yaml, line 11: budgte means nothing here. Did you mean budget?"]


@pytest.mark.parametrize("command", ["check", "preview", "release"])
def test_every_command_says_the_same(app, data, monkeypatch, command):
    monkeypatch.chdir(data)
    (data / "release.yaml").write_text(FILE.replace("AVG(amount)", "AVG(amont)"), encoding="utf-8")
    result = CliRunner().invoke(app, [command, "release.yaml"])
    assert result.exit_code == 2
    assert "there is no column amont. Did you mean amount?" in result.stderr
    assert not (data / "ledger.sqlite").exists()


@pytest.mark.parametrize(
    ("content", "phrase"),
    [
        (None, "there is no such file"),
        (b"", "the file says nothing"),
        (b"just words", "not settings by name"),
        (b"- title: x", "not settings by name"),
        (b"\xff\xfe\x00", "Save it as plain UTF-8 text"),
        (b"a: \x00", "Save it as plain UTF-8 text"),
        (b"# " + b"x" * 1_100_000, "at most a million characters"),
        (b"a: " + b"x" * 5_000_000, "at most a million characters"),
    ],
)
def test_what_is_no_file_is_said_without_a_line(app, data, monkeypatch, content, phrase):
    monkeypatch.chdir(data)
    if content is not None:
        (data / "odd.yaml").write_bytes(content)
    result = CliRunner().invoke(app, ["check", "odd.yaml" if content is not None else "missing.yaml"])
    assert result.exit_code == 2
    assert phrase in result.stderr
    assert len(result.stderr.splitlines()) == 1
