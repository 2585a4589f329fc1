"""What a release would be: readable, exact in writing, computed without data."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, UnknownKind
from discreet.session.forecast import Expected, Forecast
from discreet.session.text_table import columns_of

HOSTILE = "<script>alert('x')</script>\"><img src=x>\x1b[2J\u202e"


def expected(**changes):
    parts = {
        "name": "spend",
        "measures": "mean of amount",
        "error": 8.437,
        "error_note": "in a group of 1,000 rows",
        "mechanism": "Laplace noise, scale 2,500",
        "share": 0.4,
    }
    return Expected(**(parts | changes))


def forecast(**changes):
    parts = {
        "query": "SELECT city, COUNT(*) AS n\nFROM visits",
        "columns": (Expected(name="n", measures="count", error=12, mechanism="geometric noise", share=0.6), expected()),
        "keys": "private: a group is shown when about 38 people or more are in it",
        "threshold": 38,
        "loss": PrivacyLoss.laplace(0.2),
        "epsilon": 0.2,
        "delta": 1e-7,
        "level": 0.95,
        "remaining": "epsilon 0.8",
        "notes": ("clamping is not covered",),
    }
    return Forecast(**(parts | changes))


@st.composite
def forecasts(draw):
    names = draw(st.lists(st.text(), max_size=3, unique=True))
    positive = st.floats(0, 1e300)
    columns = tuple(
        Expected(
            name=name,
            measures=draw(st.text()),
            error=draw(st.none() | positive),
            error_note=draw(st.text()),
            mechanism=draw(st.text()),
            share=draw(st.floats(0, 1)),
        )
        for name in names
    )
    return forecast(
        query=draw(st.text()),
        columns=columns,
        keys=draw(st.text()),
        threshold=draw(st.none() | st.integers(0, 10**30)),
        loss=draw(st.sampled_from([PrivacyLoss.laplace(0.1), 2 * PrivacyLoss.gaussian(mu=1).under("add_remove")])),
        epsilon=draw(positive),
        delta=draw(st.floats(0, 1)),
        level=draw(st.floats(0.001, 0.999)),
        remaining=draw(st.text()),
        notes=tuple(draw(st.lists(st.text(), max_size=2))),
    )


def test_columns_are_found_by_name():
    assert forecast()["spend"].error == 8.437
    with pytest.raises(InvalidParameter, match="n, spend"):
        forecast()["x"]


@given(forecasts())
def test_json_keeps_everything(made):
    again = Forecast.from_json(made.to_json())
    assert again == made
    assert again.to_json() == made.to_json()


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "answer"},
        {"version": 2},
        {"version": 1.0},
        {"extra": 1},
        {"columns": None},
        {"columns": [1]},
        {"columns": [{"name": "n"}]},
        {"columns": [{"name": "n", "measures": "count", "surprise": 1}]},
        {"notes": "x"},
        {"loss": {"record": "other"}},
        {"epsilon": "1"},
        {"threshold": 1.5},
        {"level": 2},
    ],
)
def test_foreign_json_is_refused(change):
    with pytest.raises(UnknownKind):
        Forecast.from_json(json.dumps(json.loads(forecast().to_json()) | change))


def test_nan_in_json_is_refused():
    with pytest.raises(UnknownKind):
        Forecast.from_json(forecast().to_json().replace("8.437", "NaN"))


@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon": math.nan},
        {"epsilon": -1},
        {"epsilon": math.inf},
        {"delta": True},
        {"level": 0},
        {"threshold": -1},
        {"threshold": True},
        {"loss": None},
        {"columns": ("n",)},
        {"columns": (expected(), expected())},
        {"query": None},
        {"notes": "x"},
    ],
)
def test_what_is_no_forecast_is_refused(changes):
    with pytest.raises(InvalidParameter):
        forecast(**changes)


@pytest.mark.parametrize("changes", [{"error": math.nan}, {"error": -1}, {"share": 1.5}, {"name": 5}, {"share": "x"}])
def test_what_is_no_column_is_refused(changes):
    with pytest.raises(InvalidParameter):
        expected(**changes)


def test_text_says_accuracy_cost_and_what_is_left():
    text = repr(forecast(columns=(*forecast().columns, expected(name="best", error=None, error_note=""))))
    assert "no data was read and nothing was spent" in text
    assert "± 12 " in text
    assert "± 8.44 in a group of 1,000 rows" in text
    assert "not known without data" in text
    assert "Would cost epsilon 0.2 at delta 1e-7. Each error holds in 19 of 20 releases." in text
    assert "Keys are private: a group is shown when about 38 people or more are in it" in text
    assert "Afterwards: epsilon 0.8" in text
    assert "clamping is not covered" in text
    assert "60%" in text


@given(forecasts())
def test_every_line_of_the_table_is_equally_wide(made):
    lines = repr(made).split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("─")) - 1
    table = lines[start : start + 2 + len(made.columns)]
    assert len({columns_of(line) for line in table}) == 1
    assert not [c for line in lines for c in line if ord(c) < 32 or 127 <= ord(c) < 160]


def test_html_escapes_and_heads():
    page = forecast(query=HOSTILE, columns=(expected(name=HOSTILE, mechanism=HOSTILE),), keys=HOSTILE, notes=(HOSTILE,))
    html = page._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert "\x1b" not in html + repr(page)
    assert html.count("&lt;script&gt;") == 5
    assert html.count('scope="col"') == 5
    assert html.count('scope="row"') == 1
    assert "Would cost epsilon 0.2 at delta 1e-7" in html[html.index("<caption>") : html.index("</caption>")]
