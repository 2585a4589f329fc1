"""What may be declared about a table, and what is refused."""

import math
from datetime import date

import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.tables.schema import Bounds, Column, Schema, keys_of


def test_the_same_schema_in_python_and_in_yaml(tmp_path):
    path = tmp_path / "schema.yaml"
    path.write_text(
        "columns:\n  age: {type: int, min: 0, max: 120, nulls: 0}\n  city: {values: [Oslo, Bergen]}\n  note: str\n",
        encoding="utf-8",
    )
    written = Schema.read(path)
    assert written == Schema.read(str(path))
    assert written == Schema.read(
        {"age": dp.Column("int", bounds=(0, 120), nulls=0), "city": dp.Values(["Oslo", "Bergen"]), "note": "str"}
    )
    assert Schema.read(written) is written
    assert Schema.read(None).columns == {}


@pytest.mark.parametrize(
    "entry",
    [
        {"min": 0},
        {"max": 0},
        {"minimum": 0, "max": 1},
        {"min": 0, "max": math.inf},
        {"min": math.nan, "max": 1},
        {"min": 2, "max": 1},
        {"min": 0, "max": 2**54},
        {"type": "number"},
        {"type": "str", "min": 0, "max": 1},
        {"type": "int", "min": 0.5, "max": 1},
        {"values": []},
        {"values": "abc"},
        {"values": 5},
        {"values": ["a", 1]},
        {"values": [1.5]},
        {"values": ["a", "a"]},
        {"values": [True, 1]},
        {"type": "int", "values": ["a"]},
        {"type": "int", "nulls": "none"},
        {"type": "bool", "nulls": 0},
        7,
        ["int"],
        None,
    ],
)
def test_what_bounds_nothing_is_refused(entry):
    with pytest.raises(InvalidParameter):
        Schema.read({"x": entry})


@pytest.mark.parametrize("declared", [3, ["x"], {1, 2}])
def test_a_schema_maps_columns(declared):
    with pytest.raises(InvalidParameter, match="maps columns"):
        Schema.read(declared)


@pytest.mark.parametrize("text", ["- a\n- b\n", "x: [unclosed", "\ufffe", "just a text"])
def test_a_file_that_is_no_schema_is_refused(tmp_path, text):
    path = tmp_path / "schema.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidParameter, match="should map columns"):
        Schema.read(path)
    with pytest.raises(InvalidParameter, match="should map columns"):
        Schema.read(tmp_path / "nothing.yaml")


def test_a_yaml_file_cannot_run_anything(tmp_path):
    path = tmp_path / "schema.yaml"
    path.write_text("x: !!python/object/apply:os.system ['echo']\n", encoding="utf-8")
    with pytest.raises(InvalidParameter, match="cannot be read"):
        Schema.read(path)


def test_columns_that_are_not_there_are_refused():
    with pytest.raises(InvalidParameter, match="declares agee"):
        Schema.read({"agee": "int"}).completed({"age": "int"})
    with pytest.raises(InvalidParameter, match="bounds are for numbers"):
        Schema.read({"age": dp.Bounds(0, 1)}).completed({"age": "str"})


def test_metadata_completes_types():
    done = Schema.read({"a": dp.Bounds(0, 1), "b": "float"}).completed({"a": "int", "b": "int", "c": "date"})
    assert [done[name].type for name in "abc"] == ["int", "float", "date"]


@pytest.mark.parametrize("pair", [("caf\u00e9", "cafe\u0301"), ("\u212b", "\u00c5"), ("\uac00", "\u1100\u1161")])
def test_keys_that_look_alike_are_refused(pair):
    with pytest.raises(InvalidParameter, match="look alike"):
        keys_of(pair)


@pytest.mark.parametrize(
    "pair", [("a", "A"), ("a", "a "), ("ß", "ss"), ("1", "\uff11"), (date(2024, 1, 1), None), (0, None)]
)
def test_keys_that_differ_are_kept_apart(pair):
    assert keys_of(pair) == pair


def test_reprs_are_python():
    for column in (dp.Bounds(0, 0.5, type="float", nulls=0.25), dp.Values(["a", None]), dp.Column("date")):
        assert eval(repr(column), {"Column": dp.Column}) == column


def test_declarations_cannot_be_changed_afterwards():
    with pytest.raises(AttributeError):
        dp.Bounds(0, 1).bounds = (0, 2)


def test_a_step_is_declared_with_bounds_that_it_divides():
    assert Bounds(0, 1, step=0.1).steps == 10
    assert Schema.read({"x": {"min": 0, "max": 100, "step": 5}})["x"] == Bounds(0, 100, step=5)
    assert repr(Bounds(0, 100, step=5)) == "Column(bounds=(0, 100), step=5)"
    wrong = [
        lambda: Bounds(0, 100, step=7),
        lambda: Bounds(0, 100, step=0),
        lambda: Bounds(0, 100, step=-5),
        lambda: Bounds(0, 0, step=1),
        lambda: Bounds(0, 10, step=0.5, type="int"),
        lambda: Column("float", step=1),
        lambda: Schema.read({"x": {"step": 5}}),
    ]
    for declare in wrong:
        with pytest.raises(InvalidParameter, match="step"):
            declare()
