"""Pictures: every function draws, says what it needs, and survives black and white."""

import sys

import numpy as np
import pytest

from discreet import plots
from discreet.errors import InvalidParameter, MissingExtra
from discreet.plots.curves import apart


def bars(labels=("north", "south"), title="People"):
    return plots.bars_with_error(list(labels), np.array([10, 20]), [7, 17], [13, 23], title, "people")


def lines(chosen=None):
    return plots.error_against_epsilon([0.1, 1, 10], {"one": [30, 3, 1], "many": [50, 5, 2]}, chosen)


def noise():
    values = np.arange(-5, 6)
    return plots.noise_distribution(values, 0.5 ** np.abs(values) / 3, (-3, 3))


def named(**options):
    steps = [1, 10, 100]
    lines = [
        plots.Curve(name="theorem", xs=steps, ys=[2, 20, 200]),
        plots.Curve(name="limit", xs=steps, ys=[1, 5, 190], dashed=True),
        plots.Curve(name="ours", xs=steps, ys=[1, 6, 60], strong=True),
    ]
    axes = plots.Axis(title="steps", log=True), plots.Axis(title="epsilon", log=True)
    return plots.curves(lines, *axes, title="Growth", **options)


def sliced(count=1):
    shown = plots.Slices(name="once", edges=[-1, 0, 1], probabilities=[0.25, 0.75], line=1.5, words="epsilon 1.5")
    return plots.slices([shown] * count, title="The loss", axis="privacy loss")


@pytest.mark.parametrize(
    "chart",
    [bars, lines, lambda: lines(1), lambda: lines({"one": 0.1}), noise, named, sliced, lambda: sliced(4)],
)
def test_draws_without_script_or_request(chart):
    text = plots.svg(chart())
    assert text.startswith('<svg role="img"')
    assert "<script" not in text
    assert "href" not in text
    assert 'font-family="sans-serif"' in text


def test_bars_show_labels_and_numbers_in_the_order_given():
    text = plots.svg(bars())
    assert text.index(">north<") < text.index(">south<")
    assert ">10<" in text
    assert ">20<" in text


def test_bars_take_negative_and_empty_input():
    assert "<svg" in plots.svg(plots.bars_with_error(["a"], [-3], [-9], [3], "Noisy", "people"))
    assert "<svg" in plots.svg(plots.bars_with_error([], [], [], [], "Empty", "people"))


def test_hostile_labels_stay_text():
    text = plots.svg(bars(labels=("<script>alert(1)</script>", "Ünïçødé 東京"), title='"><img src=x>'))
    assert "<script" not in text
    assert "<img" not in text
    assert "東京" in text


def test_lines_differ_by_dash_and_mark_the_choice_with_shapes():
    spec = lines(1).to_dict()
    assert spec["layer"][0]["encoding"]["strokeDash"]["scale"]["range"] == [[1, 0], [7, 4]]
    shapes = {layer["mark"]["shape"] for layer in spec["layer"] if layer["mark"]["type"] == "point"}
    assert shapes == {"circle", "square"}
    assert "±3" in plots.svg(lines(1))


def test_the_noise_outside_the_interval_is_paler():
    rows = next(iter(noise().to_dict()["layer"]))["data"]["values"]
    assert sum(row["inside"] for row in rows) == 7


def test_curves_are_named_where_they_end_and_differ_without_colour():
    chart = named(marks=[plots.Mark(x=10, y=6, text="here", place="foot")])
    text = plots.svg(chart)
    for name in ("theorem", "limit", "ours", "here"):
        assert f">{name}<" in text
    marks = [layer["mark"] for layer in chart.to_dict()["layer"]]
    drawn = [mark for mark in marks if mark["type"] == "line"]
    assert [mark["strokeDash"] for mark in drawn] == [[1, 0], [6, 4], [1, 0]]
    assert drawn[-1]["strokeWidth"] > 2 * drawn[0]["strokeWidth"]
    assert {mark["shape"] for mark in marks if mark["type"] == "point" and "shape" in mark} == {"circle", "square"}


def test_names_keep_apart_and_inside():
    assert apart([10, 11, 50], 15, 100) == [3.0, 18.0, 50.0]
    places = apart([99, 98, 100, 5], 17, 100)
    assert sorted(places) == [5.0, 66.0, 83.0, 100.0]
    assert [places[i] for i in (1, 0, 2)] == sorted(places[:3])
    assert apart([], 17, 100) == []


def test_a_logarithm_shows_what_it_can():
    line = plots.Curve(name="a", xs=[0, 1, 2], ys=[1, float("inf"), 3])
    rows = plots.curves([line], plots.Axis(title="x", log=True), plots.Axis(title="y", log=True), title="")
    assert rows.to_dict()["layer"][0]["data"]["values"] == [{"x": 2.0, "y": 3.0}]


def test_slices_stand_side_by_side_under_one_title():
    text = plots.svg(sliced(4))
    assert text.count(">once<") == 4
    assert text.count(">The loss<") == 1
    assert text.count(">epsilon 1.5<") == 4


def test_two_pictures_in_one_page_share_no_identifier():
    def identifiers(text):
        return {part.split('"')[0] for part in text.split(' id="')[1:]}

    assert not identifiers(plots.svg(lines())) & identifiers(plots.svg(lines(1)))


def test_one_chart_leaves_other_charts_alone():
    alt = pytest.importorskip("altair")
    before = alt.theme.active
    bars()
    assert alt.theme.active == before


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: plots.bars_with_error(["a"], [1, 2], [0], [3], "", ""), "same length"),
        (lambda: plots.error_against_epsilon([0, 1], {"a": [1, 2]}), "above 0"),
        (lambda: plots.error_against_epsilon([1], {"a": [1]}, {"b": 1}), "chosen must name lines"),
        (lambda: plots.error_against_epsilon([1], {str(k): [1] for k in range(7)}), "at most 6 lines"),
        (lambda: plots.noise_distribution([0], [1, 1], (-1, 1)), "same length"),
        (lambda: plots.curves([], plots.Axis(title="x"), plots.Axis(title="y"), title=""), "different names"),
        (lambda: plots.slices([], title="", axis=""), "at least one"),
        (
            lambda: plots.slices([plots.Slices(name="", edges=[1, 0], probabilities=[1])], title="", axis=""),
            "edges must rise",
        ),
        (lambda: plots.noise_distribution([0], [1], (1, -1)), "from low to high"),
    ],
)
def test_says_what_must_hold(draw, words):
    with pytest.raises(InvalidParameter, match=words):
        draw()


def test_says_what_to_install(monkeypatch):
    chart = bars()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtra, match=r"pip install 'discreet\[plots\]'"):
        plots.svg(chart)
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtra, match=r"altair is not installed. Run: pip install 'discreet\[plots\]'"):
        bars()
