"""Synthetic copies through the session: what is charged, what is read, and what comes out."""

import json
import signal
import subprocess
import sys
from datetime import date
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from synthesis_people import ALL, CITIES, SCHEMA, people, session

import discreet as dp
from discreet.errors import BudgetExceeded, InvalidParameter, ReleaseFailed, UnboundedSensitivity, UnknownKind
from discreet.ledger import Ledger
from discreet.session.synthesis.result import Synthesis

SMALL = {"sex": {"nulls": True}, "age": {"bins": 4, "nulls": True}}
RULE = "sex = 'f' OR age >= 37"


def reads(opened, monkeypatch, *, fail=False):
    """Return a list that grows with every query that the engine of a session runs."""
    engine = opened._tables.engine
    seen, original = [], engine.run

    def run(sql):
        seen.append((sql, opened.spent))
        if fail:
            raise RuntimeError("canary-7: a disk failed")
        return original(sql)

    monkeypatch.setattr(engine, "run", run)
    return seen


# What is charged -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("filter_name", ["basic", "zcdp", "renyi"])
def test_the_ledger_has_the_sum_of_all_parts(tmp_path, filter_name):
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        account = ledger.account("people", budget=dp.Budget(2, 1e-6, filter=filter_name))
        with session(account=account) as opened:
            planned, original = [], opened._steps
            opened._steps = lambda *wanted: planned.append(original(*wanted)) or planned[-1]
            made = opened.synthesize(epsilon=1, columns=SMALL, method="independent", why="a test")
            assert made.loss.terms == dp.PrivacyLoss.total([plan.loss for plan in planned[0].plans]).terms
            assert made.loss.epsilon(made.parameters["delta"]) <= 1
            charged = planned[0].charged
            assert account.spent.amount == pytest.approx(float(account.cost(charged).amount), rel=1e-9)
            assert filter_name != "basic" or account.spent.amount <= 1
            assert "SYNTHESIZE sex" in str(list(ledger.entries("people")))
            again = opened.synthesize(epsilon=Fraction(1, 2), columns=SMALL, method="table")
            assert account.spent.amount > account.cost(charged).amount
            assert again.loss.epsilon(again.parameters["delta"]) <= 0.5


def test_a_refused_budget_loses_nothing_and_reads_nothing(monkeypatch):
    with session(epsilon=Fraction(1, 2)) as opened:
        seen = reads(opened, monkeypatch)
        with pytest.raises(BudgetExceeded):
            opened.synthesize(epsilon=1, columns=SMALL)
        assert opened.spent == 0
        assert seen == []


def test_everything_is_charged_before_the_first_look_and_a_failure_stays_charged(monkeypatch):
    with session() as opened:
        seen = reads(opened, monkeypatch, fail=True)
        with pytest.raises(ReleaseFailed) as failure:
            opened.synthesize(epsilon=1, columns=SMALL)
        assert "canary" not in str(failure.value)
        assert failure.value.__cause__ is None
        assert len(seen) == 1
        assert seen[0][1] == opened.spent > 0


KILLED = """
import os, signal, sys
import pyarrow as pa
import discreet as dp
from discreet.tables.engines.duckdb import DuckDBEngine
table = pa.table({"sex": ["f", "m"] * 50})
account = dp.Ledger(sys.argv[1]).account("people", budget=dp.Budget(2, 1e-6))
session = dp.Session(table, name="people", schema={"sex": dp.Values(["f", "m"])}, unit=dp.Row(), budget=account)
DuckDBEngine.run = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
session.synthesize(epsilon=1)
"""


def test_a_killed_process_keeps_the_charge(tmp_path):
    place = tmp_path / "ledger.sqlite"
    done = subprocess.run([sys.executable, "-c", KILLED, str(place)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with Ledger(place) as ledger:
        assert ledger.account("people").spent.amount > 0


def test_the_same_copy_of_the_same_version_is_free(tmp_path):
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        account = ledger.account("people", budget=dp.Budget(2, 1e-6))
        with session(account=account, version="1") as opened:
            first = opened.synthesize(epsilon=1, columns=SMALL, constraints=[RULE])
            spent = account.spent.amount
            second = opened.synthesize(epsilon=1, columns=SMALL, constraints=[RULE])
            assert second.stored
            assert not first.stored
            assert account.spent.amount == spent
            assert np.array_equal(first.model.marginal((0, 1)), second.model.marginal((0, 1)))
            assert second.marginal("sex").rows == first.marginal("sex").rows
            opened.synthesize(epsilon=Fraction(1, 4), columns=SMALL)
            assert account.spent.amount > spent


def test_a_key_is_charged_once():
    with session() as opened:
        first = opened.synthesize(epsilon=1, columns=SMALL, key="k")
        spent = opened.spent
        assert opened.synthesize(epsilon=1, columns=SMALL, key="k").total == first.total
        assert opened.spent == spent
        with pytest.raises(ValueError, match="another"):
            opened.synthesize(epsilon=1, columns=["sex"], key="k")


def test_a_preview_reads_nothing_and_tells_the_cost(monkeypatch):
    with session() as opened:
        seen = reads(opened, monkeypatch)
        told = opened.preview_synthesis(epsilon=1, columns=SMALL, constraints=[RULE])
        assert seen == []
        assert opened.spent == 0
        assert told.epsilon <= 1
        assert {one.name for one in told.columns} == set(SMALL)
        assert all(one.error > 0 for one in told.columns)
        assert any("only 15 combinations" in note for note in told.notes)
        assert "SYNTHESIZE" in repr(told)


# Nothing about the method depends on data ----------------------------------------------------------------------


def test_very_different_tables_have_the_same_method_and_the_same_sql(monkeypatch):
    tables = [people(), people(0), people(5).set_column(1, "sex", [["x"] * 5])]
    found = []
    for table in tables:
        with session(table, unit=dp.Row()) as opened:
            seen = reads(opened, monkeypatch)
            made = opened.synthesize(epsilon=1, columns=["sex", "smokes", "born"])
            (sql,) = [sql.replace(opened._tables["people"].relation.sql, "people") for sql, _ in seen]
            found.append((made.method, made.reason, made.loss, sql))  # and one grouped query in each
    assert found[0] == found[1] == found[2]


def test_only_coded_groups_leave_the_engine():
    with session(unit=dp.Row()) as opened:
        plan = opened._steps(1, None, {"columns": SMALL}).plans[-1]
        table = opened._tables.engine.run(plan.rows.totals(list(plan.measures.values())))
        assert table.num_rows <= 2 * 4
        assert "canary" not in str(table.to_pylist())


# How much one person can do --------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_a_person_moves_the_tally_by_her_records_at_most(relation):
    from discreet.session.synthesis.running import tally_of

    unit = dp.Person("user", groups=2, rows=3, relation=relation)
    many = people(200, users=12)
    steps = None

    def tally(table):
        nonlocal steps
        with session(table, unit=unit) as opened:
            steps = steps or opened._steps(1, None, {"columns": SMALL})
            plan = steps.plans[-1]
            found = opened._tables.engine.run(plan.rows.totals(list(plan.measures.values())))
            return tally_of(found, plan.joint.declared, next(iter(plan.measures))).table((0, 1), (3, 5))

    whole = tally(many)
    mechanism = steps.joint.mechanism
    assert mechanism.records == 6
    moved = [np.abs(whole - tally(many.filter(pa.compute.not_equal(many["user"], who)))) for who in range(12)]
    assert max(int(one.sum()) for one in moved) <= 6
    ((term, _),) = steps.loss.terms
    assert term.squared_sensitivity == 36 * (2 if relation == "replace_one" else 1)


# What comes out --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def accurate():
    """A copy of many columns at so large an epsilon that it is nearly exact."""
    with session(people(900), epsilon=10_000) as opened:
        columns = {name: {"nulls": True} if name == "city" else None for name in ALL}
        yield opened.synthesize(epsilon=5_000, columns=columns, method="tree", constraints=[RULE])


@pytest.mark.parametrize("method", ["table", "independent", "tree", "adaptive", "bayes"])
def test_a_column_that_is_declared_without_missing_values_has_none(method):
    schema = {"sex": dp.Values(["f", "m"]), "age": dp.Bounds(0, 99), "income": dp.Bounds(0, 100)}
    with session(schema=schema, unit=dp.Row()) as opened:
        told = opened.preview_synthesis(epsilon=0.5, columns=list(schema), method=method)
        made = opened.synthesize(epsilon=0.5, columns=list(schema), method=method)
        kept = opened.synthesize(epsilon=0.5, columns={"sex": {"nulls": True}, "age": 4}, method="table")
    assert sum(table.null_count for table in made.to_arrow().columns) == 0
    assert any("rows without a declared value of sex, age, income" in note for note in told.notes)
    assert kept.to_arrow()["age"].null_count == 0


def test_types_labels_and_nulls_are_restored(accurate):
    table = accurate.to_arrow()
    assert table.schema.types == [pa.string(), pa.string(), pa.int64(), pa.float64(), pa.date32(), pa.bool_()]
    assert set(table["city"].to_pylist()) == {*CITIES, None}
    assert set(table["born"].to_pylist()) <= {date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 3), None}
    ages = [age for age in table["age"].to_pylist() if age is not None]
    assert min(ages) >= 0
    assert max(ages) <= 99
    assert len(set(ages)) > 50  # drawn evenly in bins
    assert abs(table["city"].null_count - 900 / 20) < 20
    assert table.num_rows == round(accurate.total)
    assert "discreet.loss" in {name.decode() for name in table.schema.metadata}


def test_frames_have_the_same_rows(accurate, tmp_path):
    frame = accurate.to_pandas()
    assert frame["age"].tolist() == accurate.to_arrow()["age"].to_pylist() == accurate.to_polars()["age"].to_list()
    accurate.write(tmp_path / "copy.parquet")
    assert pq.read_table(tmp_path / "copy.parquet").equals(accurate.to_arrow())
    accurate.write(tmp_path / "copy.csv")
    assert (tmp_path / "copy.csv").read_text().count("\n") == len(frame) + 1
    assert sorted(one.name for one in tmp_path.iterdir()) == ["copy.csv", "copy.parquet"]
    assert len(accurate.rows(17)) == 17
    with pytest.raises(InvalidParameter, match=r"\.parquet"):
        accurate.write(tmp_path / "copy.xls")


def test_margins_are_near_the_truth(accurate):
    truth = people(900)
    told = accurate.marginal("sex", "smokes")
    assert list(told.keys) == ["sex", "smokes"]
    pairs = list(zip(truth["sex"].to_pylist(), truth["smokes"].to_pylist(), strict=True))
    for row in told:
        assert abs(row["n"] - pairs.count((row["sex"], row["smokes"]))) < 60
    assert "at no cost" in told.notes[0]
    with pytest.raises(InvalidParameter, match="no column 'name'"):
        accurate.marginal("name")


def test_intervals_of_measured_tables_hold_the_truth():
    held, sexes = 0, people()["sex"].to_pylist()
    for _ in range(8):
        with session(unit=dp.Row()) as opened:
            columns = {"sex": {"nulls": True}, "born": None}
            made = opened.synthesize(epsilon=1, columns=columns, method="independent", level=0.9)
        held += sum(row["n_low"] <= sexes.count(row["sex"]) <= row["n_high"] for row in made.marginal("sex"))
    assert held >= 17  # of 24; fewer have a probability below 1e-3


@pytest.mark.parametrize("numbers", ["uniform", "middle"])
@pytest.mark.parametrize("method", ["table", "independent", "tree", "adaptive", "bayes"])
def test_the_impossible_never_appears(method, numbers):
    with session(people(300), epsilon=20) as opened:
        made = opened.synthesize(
            epsilon=1, columns={"sex": None, "age": 6}, method=method, constraints=[RULE], numbers=numbers
        )
    rows = list(made.rows(2000))
    assert len(rows) == 2000
    assert any(row["age"] is not None and row["age"] < 37 for row in rows)
    assert not [row for row in rows if row["sex"] == "m" and row["age"] is not None and row["age"] < 37]
    if method in ("table", "tree"):
        told = {(row["sex"], row["age"]): row["n"] for row in made.marginal("sex", "age")}
        assert told["m", "[0, 17)"] == 0


def test_what_follows_from_another_column_follows():
    lands = {"Oslo": "N", "Bergen": "N", CITIES[2]: "Z"}
    table = people(300).drop_columns(["city"])
    table = table.append_column("city", [[CITIES[i % 3] for i in range(300)]])
    table = table.append_column("land", [[lands[CITIES[i % 3]] for i in range(300)]])
    follows = {"column": "land", "by": "city", "values": lands}
    with session(table, schema=SCHEMA | {"land": dp.Values(["N", "Z"])}) as opened:
        made = opened.synthesize(epsilon=Fraction(1, 10), columns=["city", "land"], constraints=[follows], rows=500)
    rows = list(made.rows())
    assert len(rows) == 500
    assert all(row["land"] == lands[row["city"]] for row in rows if row["city"] is not None)


def test_it_is_written_and_read_exactly(accurate):
    again = Synthesis.from_json(accurate.to_json())
    assert again.marginal("sex", "age").rows == accurate.marginal("sex", "age").rows
    assert again.codings == accurate.codings
    assert again.loss == accurate.loss
    assert again.steps == accurate.steps
    assert repr(again) == repr(accurate)
    record = json.loads(accurate.to_json())
    record["model"]["kind"] = "pickle"
    with pytest.raises(UnknownKind):
        Synthesis.from_json(json.dumps(record))


def test_it_shows_itself(accurate):
    text = repr(accurate)
    assert "Synthesis of people: 6 columns" in text
    assert "charged for" in text
    assert "<script" not in accurate._repr_html_()
    assert "Method tree" in accurate._repr_html_()


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("method", ["table", "independent", "tree", "adaptive", "bayes"])
def test_an_empty_table_and_one_row_work(rows, method):
    with session(people(rows)) as opened:
        made = opened.synthesize(epsilon=1, columns=["sex", "smokes"], method=method)
    assert len(made.rows(10)) == 10
    assert set(made.to_arrow().column_names) == {"sex", "smokes"}


def test_a_constant_column_works():
    table = people(300).set_column(1, "sex", [["f"] * 300])
    with session(table, epsilon=1000) as opened:
        made = opened.synthesize(epsilon=500, columns=["sex", "born", "smokes"], method="tree")
    assert made.rows(100)["sex"].count("f") >= 98


def test_ten_thousand_values_are_handled_and_twice_as_many_refused_before_data(monkeypatch):
    values = [f"value {i}" for i in range(10_000)]
    table = pa.table({"a": [values[i % 7] for i in range(500)], "b": values[:500], "c": [True] * 500})
    schema = {"a": dp.Values(values), "b": dp.Values(values)}
    with session(table, unit=dp.Row(), schema=schema) as opened:
        made = opened.synthesize(epsilon=1, columns=["a", "c"], method="tree")
        assert len(made.rows(50)) == 50
        assert any("few for the values of a" in note for note in made.notes)
        seen, spent = reads(opened, monkeypatch), opened.spent
        with pytest.raises(InvalidParameter, match="coarsen"):
            opened.synthesize(epsilon=1, columns=["a", "b"], method="tree")
        assert seen == []
        assert opened.spent == spent


def test_rows_that_do_not_count_are_left_out():
    with session(epsilon=10_000, unit=dp.Row()) as opened:
        made = opened.synthesize(epsilon=5000, columns={"city": {"nulls": False}}, where="smokes")
        assert made.total == pytest.approx(sum(i % 3 > 0 and i % 20 > 0 for i in range(600)), abs=1)
        assert None not in made.rows()["city"]


def test_without_a_delta_there_is_geometric_noise():
    with session(delta=0, epsilon=5) as opened:
        made = opened.synthesize(epsilon=1, columns=SMALL)
        assert made.loss.is_pure
        assert made.loss.epsilon() <= 1
        assert opened.spent == 1
        row = made.marginal("sex").row(sex="f")
        assert row["n_low"] < row["n"] < row["n_high"]
        with pytest.raises(InvalidParameter, match="needs a delta"):
            opened.synthesize(epsilon=1, columns=SMALL, method="tree")


def test_the_sugar_spends_the_whole_budget():
    made = dp.synthesize(
        people(200), unit=dp.Row(), schema=SCHEMA, budget=dp.Budget(1, 1e-6), name="people", columns=SMALL, rows=50
    )
    assert len(made.rows()) == 50
    assert 0.95 < made.loss.epsilon(1e-6) <= 1
    with pytest.raises(InvalidParameter, match="how much of the account"):
        dp.synthesize(people(2), unit=dp.Row(), schema=SCHEMA, budget=dp.Budget(1).open())


def test_columns_that_nobody_declared_are_left_out_and_named():
    with session() as opened:
        told = opened.preview_synthesis(epsilon=1, method="independent")
        assert [one.name for one in told.columns] == list(ALL)
        assert any("nothing is declared about them: name" in note for note in told.notes)


@pytest.mark.parametrize(
    ("wanted", "error", "words"),
    [
        ({"columns": ["nobody"]}, InvalidParameter, "no column 'nobody'"),
        ({"columns": ["user"]}, InvalidParameter, "tells persons apart"),
        ({"columns": ["sex", "sex"]}, InvalidParameter, "named twice"),
        ({"columns": "sex"}, InvalidParameter, "list of names"),
        ({"columns": {"sex": {"bin": 3}}}, InvalidParameter, "bin means nothing"),
        ({"columns": {"sex": 3}}, InvalidParameter, "bins are for numbers"),
        ({"columns": {"age": [5]}}, InvalidParameter, "two numbers or more"),
        ({"columns": {"age": {"bins": 3, "quantiles": 2}}}, InvalidParameter, "cut in one way"),
        ({"columns": SMALL, "method": "magic"}, InvalidParameter, "method is auto or one of"),
        ({"columns": SMALL, "rows": -1}, InvalidParameter, "whole number"),
        ({"columns": SMALL, "constraints": RULE}, InvalidParameter, "are a list"),
        ({"columns": SMALL, "constraints": ["age"]}, InvalidParameter, "no condition|conditions"),
        ({"columns": SMALL, "constraints": ["city = 'Oslo'"]}, ValueError, "city"),
        ({"columns": SMALL, "constraints": ["age = 'x'"]}, InvalidParameter, "another type"),
        ({"columns": SMALL, "constraints": [{"column": "sex"}]}, InvalidParameter, "what follows from what"),
        ({"columns": {"sex": {"nulls": False}}, "constraints": ["sex = 'x'"]}, InvalidParameter, "nothing possible"),
        ({"columns": SMALL, "workload": [("city",)]}, InvalidParameter, "no column of the copy"),
        ({"columns": SMALL, "where": "age > 3 ORDER BY age"}, ValueError, "ORDER BY|in the answer"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_spent(monkeypatch, wanted, error, words):
    with session() as opened:
        seen = reads(opened, monkeypatch)
        with pytest.raises(error, match=words):
            opened.synthesize(epsilon=1, **wanted)
        assert seen == []
        assert opened.spent == 0


def test_numbers_without_bounds_are_refused_with_advice():
    with session(schema={}) as opened:
        with pytest.raises(UnboundedSensitivity, match="Declare them in the schema"):
            opened.synthesize(epsilon=1, columns=["income"])
        with pytest.raises(InvalidParameter, match="no column of people is declared"):
            dp.Session(people().select(["user", "age"]), name="people", unit=dp.Row(), budget=dp.Budget(1)).synthesize()


def test_the_source_of_noise_for_tests_is_marked():
    from discreet.testing import seeded

    with session() as opened, pytest.warns(dp.NotPrivateWarning), seeded(3):
        made = opened.synthesize(epsilon=1, columns=SMALL)
    assert not made.private
    assert "NOT PRIVATE" in repr(made)
