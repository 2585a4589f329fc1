"""Pictures: every function draws, says what it needs, and survives black and white."""

import sys

import numpy as np
import pytest

from discreet import plots
from discreet.errors import InvalidParameter, MissingExtra


def bars(labels=("north", "south"), title="People"):
    return plots.bars_with_error(list(labels), np.array([10, 20]), [7, 17], [13, 23], title, "people")


def lines(chosen=None):
    return plots.error_against_epsilon([0.1, 1, 10], {"one": [30, 3, 1], "many": [50, 5, 2]}, chosen)


def noise():
    values = np.arange(-5, 6)
    return plots.noise_distribution(values, 0.5 ** np.abs(values) / 3, (-3, 3))


@pytest.mark.parametrize("chart", [bars, lines, lambda: lines(1), lambda: lines({"one": 0.1}), noise])
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
