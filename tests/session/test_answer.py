"""A released table: exact in writing, honest to look at, deaf to hostile keys."""

import json
import math
import re
import sys
from dataclasses import FrozenInstanceError
from datetime import UTC, date, datetime
from fractions import Fraction
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from discreet import plots
from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, MissingExtra, UnknownKind
from discreet.session.answer import Answer
from discreet.session.digits import above, shown
from discreet.session.estimates import Estimates, column_names
from discreet.session.order import sorted_rows
from discreet.session.text_table import columns_of, shortened, visible

HOSTILE = "<script>alert('x')</script>\"><img src=http://evil.example/x onerror=alert(1)>\x1b[2J\u202e東京"
LOSS = PrivacyLoss.laplace(0.1) + PrivacyLoss.approximate(0.1, 1e-7)


def answer(**changes):
    parts = {
        "keys": {"city": ("Oslo", "東京", None), "year": (2024, 2023, 2024)},
        "columns": {
            "n": Estimates(value=(1234, 98, 7), low=(1228, 92, 0), high=(1240, 104, 13), method="geometric noise"),
            "spend": Estimates(value=(41.25, None, 3.5), low=(40.0, None, 0.0), high=(42.5, None, 90.0)),
        },
        "level": 0.95,
        "loss": LOSS,
        "parameters": {"query": "SELECT city", "delta": 1e-7, "bounds": (0, 500)},
        "notes": ("the interval covers the noise",),
    }
    return Answer(**(parts | changes))


def numbered(rows, **changes):
    values = tuple(range(rows))
    n = Estimates(value=values, low=tuple(x - 3 for x in values), high=tuple(x + 3 for x in values))
    return answer(keys={"k": values}, columns={"n": n}, **changes)


def typed(value):
    """Compare with types: True is no 1, and 0.0 no -0.0."""
    match value:
        case dict():
            return {name: typed(inner) for name, inner in value.items()}
        case list() | tuple():
            return [typed(inner) for inner in value]
        case float():
            return value.hex()
    return type(value), value


KEYS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(10**300), 10**300),
    st.text(),
    st.characters(categories=["Cs"]),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.just(UTC)),
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
PARAMETERS = st.recursive(
    KEYS | FLOATS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text() | st.sampled_from(["date", "integer", "object"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@st.composite
def answers(draw):
    rows = draw(st.integers(0, 6))

    def column(of):
        return st.lists(of, min_size=rows, max_size=rows)

    numbers = draw(st.sampled_from([st.integers(-(10**40), 10**40), FLOATS]))
    value = draw(column(st.none() | numbers) | column(st.none() | st.text()))
    return Answer(
        keys={"key": draw(column(KEYS)), draw(st.sampled_from(["Ünïcode 東", "kind"])): draw(column(KEYS))},
        columns={
            "n": Estimates(
                value=value,
                low=draw(column(st.none() | numbers)),
                high=draw(column(st.none() | numbers)),
                method=draw(st.text()),
                unit_note=draw(st.text()),
                error=draw(st.none() | numbers),
            )
        },
        level=draw(st.floats(0.001, 0.999)),
        loss=draw(st.sampled_from([LOSS, PrivacyLoss.laplace(Fraction(1, 3)), 3 * PrivacyLoss.gaussian(mu=0.1)])),
        parameters=draw(st.dictionaries(st.text(), PARAMETERS, max_size=3)),
        notes=tuple(draw(st.lists(st.text(), max_size=2))),
        private=draw(st.booleans()),
    )


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
        {"keys": [{"name": "a", "values": [1, 2, 0.5]}]},
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
        {"keys": {"city": (0.5, 1.5, 2.5)}},
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


# In text ---------------------------------------------------------------------------------------------------------


@given(answers())
def test_every_line_of_the_table_is_equally_wide(made):
    text = repr(made)
    table = text.split("\n\n")[1 if not made.private else 0].split("\n")
    assert len({columns_of(line) for line in table}) == 1
    assert not [
        c for line in text.split("\n") for c in line if ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u202e\u2028"
    ]


SCRIPTS = ((0, 0x24F), (0x370, 0x52F), (0x2010, 0x206F), (0x3041, 0x30FF), (0x4E00, 0x9FA5), (0xAC00, 0xD7A3))
WIDE_AND_NARROW = ((0xFF01, 0xFF9F), (0x1F600, 0x1F64F), (0x20000, 0x2A6D6))
LETTERS = st.one_of(
    *(
        st.characters(min_codepoint=first, max_codepoint=last, exclude_categories=["Mn", "Me"])
        for first, last in SCRIPTS + WIDE_AND_NARROW
    )
)
"""Characters of which all versions of Unicode say the same width."""


@given(st.text(LETTERS, max_size=12))
def test_widths_agree_with_another_judge(text):
    seen = visible(text)
    assert columns_of(seen) == cell_len(seen)
    assert columns_of(shortened(seen, 6)) <= 6
    assert seen == visible(seen)


def test_known_widths():
    assert [columns_of(x) for x in ("Oslo", "東京", "é", "e\u0301", "한국", "🙂", "ﾊﾝ", "नमस्ते")] == [
        4, 4, 1, 1, 4, 2, 2, 4,
    ]  # fmt: skip


def test_text_of_a_table():
    text = repr(answer())
    assert "1,234 ± 6" in text
    assert "(0 to 90)" in text
    assert "Costs epsilon 0.2 at delta 1e-7." in text
    assert "Each 95% interval covers the noise in 19 of 20 releases." in text
    assert "n: geometric noise" in text
    assert "the interval covers the noise" in text
    assert "NOT PRIVATE" not in text
    assert repr(answer(private=False)).startswith("NOT PRIVATE")


def test_long_tables_show_both_ends():
    lines = repr(numbered(1000)).splitlines()
    assert lines[2].split()[0] == "0"
    assert [line.split()[0] for line in lines if line][-6:-2] == ["996", "997", "998", "999"]
    assert sum(line.split()[:1] == ["..."] for line in lines) == 1
    assert any(line.startswith("1,000 rows.") for line in lines)
    assert len(lines) < 30
    assert "..." not in repr(numbered(20))


NUMBERS = st.integers(-(10**18), 10**18) | st.floats(-1e18, 1e18)


@given(NUMBERS, st.floats(1e-6, 1e12) | st.integers(1, 10**9), st.booleans())
def test_a_shown_interval_contains_the_released_one(value, half, symmetric):
    low, high = value - half, value + (half if symmetric else 3 * half)
    one = shown(value, low, high)
    if not low < high:
        return
    down, up = (Fraction(end.replace(",", "")) for end in one.span.split(" to "))
    assert down <= low
    assert up >= high
    assert up - down <= 2 * Fraction(high - low) or abs(value) > 1e15
    if one.plus_minus:
        centre, size = Fraction(one.value.replace(",", "")), Fraction(one.plus_minus.replace(",", ""))
        slack = size / 10**9
        assert centre - size <= low + slack
        assert centre + size >= high - slack


@given(st.floats(1e-12, 1e9))
def test_costs_are_rounded_up(cost):
    written, exact = Fraction(above(cost).replace(",", "")), Fraction(cost)
    assert exact * (1 - Fraction(1, 10**11)) <= written <= exact * Fraction(1002, 1000)


# In a notebook ---------------------------------------------------------------------------------------------------


class Tags(HTMLParser):
    """Counts elements and keeps what is inside cells."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]


ALLOWED = {"div", "style", "table", "caption", "strong", "code", "br", "thead", "tbody", "tr", "th", "td", "ul", "li"}


@given(answers())
def test_html_holds_no_element_from_data(made):
    page = Tags(made._repr_html_())
    assert set(page.tags) <= ALLOWED | {"small"}
    assert {name for _, name, _ in page.attributes} <= {"class", "scope", "colspan", "role"}


def test_hostile_text_stays_text():
    made = answer(
        keys={HOSTILE: (HOSTILE, "a", "b")},
        columns={
            HOSTILE + "!": Estimates(value=(HOSTILE, None, "b"), low=(None,) * 3, high=(None,) * 3, method=HOSTILE)
        },
        notes=(HOSTILE,),
        parameters={"query": HOSTILE},
    )
    html = made._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html
    assert "\x1b" not in html + repr(made)
    assert "\u202e" not in html + repr(made)
    assert not re.search(r"\b(src|href)\s*=", re.sub(r"&[a-z]+;[^<]*", "", html))
    assert "<script" not in plots.svg(answer(keys={"k": (HOSTILE, "a", "b")}).plot())


def test_html_is_accessible_and_says_its_cost():
    page = answer()._repr_html_()
    assert page.count('scope="row"') == 6
    assert page.count('scope="col') == 6
    assert "epsilon 0.2 at delta 1e-7" in page[page.index("<caption>") : page.index("</caption>")]
    assert "± " in page
    assert "1,228 to 1,240" in page
    assert "NOT PRIVATE" not in page
    assert 'role="alert">NOT PRIVATE' in answer(private=False)._repr_html_()
    assert "more rows" not in page
    assert "… 60 more rows …" in numbered(100)._repr_html_()


# In a picture ----------------------------------------------------------------------------------------------------


def test_plots_show_at_most_forty_rows_and_say_so():
    text = plots.svg(numbered(57).plot())
    assert "the first 40 of 57 rows" in text
    assert ">39<" in text
    assert ">41<" not in text
    assert "of 57" not in plots.svg(numbered(40).plot("n"))
    assert "NOT PRIVATE" in plots.svg(numbered(3, private=False).plot())
    assert "rows without a number are not drawn" in plots.svg(answer().plot("spend"))


def test_rows_that_look_alike_are_drawn_apart():
    chart = answer(keys={"k": ("x" * 80 + "1", "x" * 80 + "2", "")}).plot()
    labels = [row["label"] for row in chart.to_dict()["data"]["values"]]
    assert len(set(labels)) == 3
    assert labels[2] == "(empty)"


def test_words_are_not_drawn():
    words = Estimates(value=("a", "b", "c"), low=(None,) * 3, high=(None,) * 3)
    with pytest.raises(InvalidParameter, match="has none"):
        answer(columns={"best": words}).plot()
    with pytest.raises(InvalidParameter, match="has n, spend"):
        answer().plot("city")


def test_datetimes_of_two_kinds_sort():
    days = (datetime(2024, 1, 2), datetime(2024, 1, 1, tzinfo=UTC), date(2024, 1, 1))  # noqa: DTZ001
    assert answer(keys={"t": days}).sort("t")["n"].tolist() == [7, 1234, 98]
