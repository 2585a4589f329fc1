"""A released table: exact in writing, and what one may do with it."""

import json
import math
import sys
from dataclasses import FrozenInstanceError
from datetime import date
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from session_answers import KEYS, LOSS, answer, answers, typed

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, MissingExtra, UnknownKind
from discreet.session.answer import Answer
from discreet.session.estimates import Estimates, column_names
from discreet.session.order import sorted_rows

# In writing ------------------------------------------------------------------------------------------------------


@given(answers())
def test_json_keeps_everything_and_its_types(made):
    again = Answer.from_json(made.to_json())
    assert again == made
    assert list(again.keys) == list(made.keys)
    assert typed(again.rows) == typed(made.rows)
    assert typed(again.parameters) == typed(made.parameters)
    assert again.to_json() == made.to_json()


def test_json_is_strict_and_says_its_kind():
    record = json.loads(answer().to_json())
    assert (record["kind"], record["version"]) == ("answer", 1)
    assert record["loss"] == json.loads(LOSS.to_json())
    dated = answer(keys={"day": (date(2024, 5, 17), date(2024, 5, 18), None)})
    assert {"date": "2024-05-17"} in json.loads(dated.to_json())["keys"][0]["values"]


def test_whole_numbers_that_other_readers_would_round_are_texts():
    record = json.loads(answer(keys={"id": (2**53, 2**53 + 1, -(2**60))}).to_json())
    big = [{"integer": str(2**53 + 1)}, {"integer": str(-(2**60))}]
    assert record["keys"][0]["values"] == [2**53, *big]


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "forecast"},
        {"kind": None},
        {"version": 2},
        {"version": True},
        {"extra": 1},
        {"keys": {}},
        {"keys": [{"name": "a", "values": [[1, 2]]}]},
        {"keys": [{"name": "a", "values": [1, 2, {"date": "yesterday"}]}]},
        {"keys": [{"name": "a", "values": [1, 2, {"date": 5}]}]},
        {"keys": [{"name": "a", "values": [1, 2, {"integer": "x"}]}]},
        {"keys": [{"name": "a", "values": [1, 2, {"pickle": "x"}]}]},
        {"keys": [{"name": "a", "values": [1, 2, {}]}]},
        {"keys": [{"name": "a", "values": [1, 2, 3]}, {"name": "a", "values": [1, 2, 3]}]},
        {"keys": [{"name": "n_low", "values": [1, 2, 3]}]},
        {"columns": [{"name": "n"}]},
        {"level": 1},
        {"level": "0.95"},
        {"notes": "one"},
        {"notes": [1]},
        {"private": 1},
        {"loss": {}},
        {"parameters": []},
    ],
)
def test_foreign_json_is_refused(change):
    record = json.loads(answer().to_json())
    with pytest.raises(UnknownKind):
        Answer.from_json(json.dumps(record | change))


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", "[" * 100_000, answer().to_json().replace("1234", "NaN")])
def test_what_is_no_json_object_is_refused(text):
    with pytest.raises(UnknownKind):
        Answer.from_json(text)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, np.float64("nan"), True, "5", 1j, 1 << 5000])
def test_estimates_refuse_what_is_no_finite_number(bad):
    for part in ("low", "high"):
        with pytest.raises(InvalidParameter):
            Estimates(**({"value": (1,), "low": (0,), "high": (2,)} | {part: (bad,)}))
    with pytest.raises(InvalidParameter):
        Estimates(value=(1, bad), low=(0, 0), high=(2, 2))
    with pytest.raises(InvalidParameter):
        answer(parameters={"x": float("nan")})


def test_numbers_become_plain_python_of_one_type():
    n = Estimates(value=np.array([3, 4]), low=(0, 2.5), high=np.array([5.0, 6.0]))
    assert typed(n.value) == typed((3, 4))
    assert typed(n.low) == typed((0.0, 2.5))
    assert typed(n.high) == typed((5.0, 6.0))
    made = answer(keys={"k": np.array([1, 2, 3])}, parameters={"a": np.float64(0.5), "b": (np.int64(2),)})
    assert typed(made.keys["k"]) == typed((1, 2, 3))
    assert typed(made.parameters) == typed({"a": 0.5, "b": [2]})


def test_csv_is_complete_or_not_there(tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    rows = answer(keys={"city": ('a"b', "", None), "flag": (True, False, None)})
    rows.to_csv(path)
    written = path.read_text(encoding="utf-8")
    assert written.splitlines()[0] == '"city","flag","n","n_low","n_high","spend","spend_low","spend_high"'
    assert written.splitlines()[1] == '"a""b",true,1234,1228,1240,41.25,40.0,42.5'
    assert written.splitlines()[3] == ",,7,0,13,3.5,0.0,90.0"
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]

    def fails(self, target):
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(OSError, match="no space"):
        answer().to_csv(path)
    assert path.read_text(encoding="utf-8") == written
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]


# For other tools -------------------------------------------------------------------------------------------------


def test_arrow_keeps_types_and_carries_the_loss():
    pa = pytest.importorskip("pyarrow")
    table = answer(keys={"day": (date(2024, 1, 1), None, date(2025, 1, 1)), "big": (2**70, 1, None)}).to_arrow()
    assert table.column_names == ["day", "big", "n", "n_low", "n_high", "spend", "spend_low", "spend_high"]
    assert table.schema.field("day").type == pa.date32()
    assert table.schema.field("n").type == pa.int64()
    assert table.schema.field("spend").type == pa.float64()
    assert int(table["big"][0].as_py()) == 2**70
    assert PrivacyLoss.from_json(table.schema.metadata[b"discreet.loss"].decode()) == LOSS
    assert json.loads(table.schema.metadata[b"discreet.parameters"])["bounds"] == [0, 500]
    assert json.loads(table.schema.metadata[b"discreet.private"]) is True


@given(answers())
def test_every_answer_becomes_a_frame(made):
    table = made.to_arrow()
    assert table.num_rows == len(made)
    assert made.to_polars().shape == (len(made), len(made.names))
    frame = made.to_pandas()
    assert frame.shape == (len(made), len(made.names))
    assert PrivacyLoss.from_json(frame.attrs["discreet.loss"]) == made.loss


def test_pandas_keeps_whole_numbers_whole():
    n = Estimates(value=(5, None, 7), low=(1, None, 3), high=(9, None, 11))
    frame = answer(columns={"n": n}).to_pandas()
    assert str(frame["n"].dtype) == "Int64"
    assert frame["year"].dtype == np.int64
    assert frame["n"][2] == 7
    assert json.loads(frame.attrs["discreet.parameters"])["query"] == "SELECT city"


@pytest.mark.parametrize("package", ["pyarrow", "pandas", "polars"])
def test_missing_packages_are_named(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"{package}.*discreet\[tables\]"):
        getattr(answer(), f"to_{package.removeprefix('py')}")()


# As rows ---------------------------------------------------------------------------------------------------------


def test_rows_and_columns():
    made = answer()
    assert len(made) == 3
    assert list(made) == made.rows
    assert list(made.rows[0]) == ["city", "year", "n", "n_low", "n_high", "spend", "spend_low", "spend_high"]
    assert made["n"].dtype == np.int64
    assert made["spend"].dtype == np.float64
    assert math.isnan(made["spend"][1])
    assert made["n_low"].tolist() == [1228, 92, 0]
    assert made["city"].tolist() == ["Oslo", "東京", None]
    with pytest.raises(InvalidParameter, match="there is no column 'x'"):
        made["x"]
    with pytest.raises(FrozenInstanceError):
        made.level = 0.5


def test_one_row_without_keys():
    made = answer(keys={}, columns={"n": Estimates(value=(5,), low=(1,), high=(9,))})
    assert made.row() == {"n": 5, "n_low": 1, "n_high": 9}
    assert repr(made).splitlines()[2] == "5 ± 4"
    with pytest.raises(InvalidParameter):
        answer(keys={})


def test_a_row_is_found_by_keys_and_types():
    assert answer().row(city="Oslo")["n"] == 1234
    assert answer().row(city=None)["n"] == 7
    with pytest.raises(InvalidParameter, match="name 2"):
        answer().row(year=2024)
    with pytest.raises(InvalidParameter, match="name 0") as refused:
        answer().row(city="Bergen")
    assert "Oslo" not in str(refused.value)
    with pytest.raises(InvalidParameter, match="no group column"):
        answer().row(n=7)
    flags = answer(keys={"flag": (True, 1, 0)})
    assert (flags.row(flag=True)["n"], flags.row(flag=1)["n"], flags.row(flag=0)["n"]) == (1234, 98, 7)


def test_a_caller_cannot_change_it_from_outside():
    keys, parameters = {"city": ["a", "b", "c"]}, {"split": [0.5]}
    made = answer(keys=keys, parameters=parameters)
    keys["city"][0], parameters["split"][0] = "z", 9
    assert made.keys["city"] == ("a", "b", "c")
    assert made.parameters == {"split": [0.5]}


def test_names_that_meet_are_refused_before_anything_is_spent():
    with pytest.raises(InvalidParameter, match="n_low"):
        column_names(["n_low"], ["n"])
    with pytest.raises(InvalidParameter):
        answer(keys={"n": (1, 2, 3)})
    with pytest.raises(InvalidParameter):
        column_names([], ["n", "n_low"])


@pytest.mark.parametrize(
    "changes",
    [
        {"level": 95},
        {"level": math.nan},
        {"level": True},
        {"loss": 0.5},
        {"private": None},
        {"notes": "text"},
        {"keys": {"city": ("a",)}},
        {"keys": {"city": (0.5, 1.5, float("nan"))}},
        {"columns": {"n": (1, 2, 3)}},
        {"parameters": {"f": Fraction(1, 3)}},
        {"parameters": {1: 2}},
    ],
)
def test_what_is_no_answer_is_refused(changes):
    with pytest.raises(InvalidParameter):
        answer(**changes)


# Post-processing -------------------------------------------------------------------------------------------------


def test_post_processing_costs_nothing_more():
    made = answer(private=False)
    for other in (made.where(lambda row: row["n"] > 50), made.sort("n"), made.head(1)):
        assert (other.loss, other.parameters, other.private, other.notes) == (
            made.loss,
            made.parameters,
            False,
            made.notes,
        )
    assert made.where(lambda row: row["n"] > 50)["n"].tolist() == [1234, 98]
    assert made.where(lambda row: False).rows == []
    assert made.sort("n").head(2)["n"].tolist() == [7, 98]
    assert len(made.head(99)) == 3
    with pytest.raises(InvalidParameter):
        made.head(-1)
    with pytest.raises(InvalidParameter):
        made.sort([])


def test_nulls_come_last_both_ways():
    assert answer().sort("city")["city"].tolist() == ["Oslo", "東京", None]
    assert answer().sort("city", descending=True)["city"].tolist() == ["東京", "Oslo", None]
    assert answer().sort("spend", descending=True)["n"].tolist() == [1234, 7, 98]
    assert answer().sort(["year", "n"])["n"].tolist() == [98, 7, 1234]


@given(st.lists(st.tuples(KEYS, st.sampled_from([None, 1, 2])), max_size=12), st.booleans())
def test_the_order_is_total_and_stable(pairs, descending):
    first, second = [b for _, b in pairs], [a for a, _ in pairs]
    order = sorted_rows([first], descending=descending)
    assert sorted(order) == list(range(len(pairs)))
    for a, b in pairwise(order):
        if first[a] == first[b]:
            assert a < b
        else:
            assert first[b] is None or (first[a] is not None and (first[a] > first[b]) == descending)
    mixed = sorted_rows([second], descending=descending)
    again = sorted_rows([[second[i] for i in mixed]], descending=descending)
    assert again == list(range(len(pairs)))
    assert all(second[i] is None for i in mixed[len(pairs) - second.count(None) :])
