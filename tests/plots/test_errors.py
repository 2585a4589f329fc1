"""Pictures of errors: every line and every field is named, and none tells by colour alone."""

import math

import pytest

from discreet import plots
from discreet.errors import InvalidParameter

NAMES = [f"algorithm {i}" for i in range(13)]


def lines():
    return [
        plots.ErrorLine(name=name, scales=[1e3, 1e5, 1e7], errors=[i + 1, i + 2, 20.0 - i])
        for i, name in enumerate(NAMES)
    ]


def test_every_line_is_named_and_none_shares_marker_and_dash():
    chart = plots.error_against_scale(lines(), title="Errors")
    text = plots.svg(chart)
    assert all(f">{name}<" in text for name in NAMES)
    assert "<script" not in text
    layers = chart.to_dict()["layer"]
    dashes = [layer["mark"]["strokeDash"] for layer in layers if layer["mark"]["type"] == "line"]
    markers = [layer["mark"]["shape"] for layer in layers if layer["mark"]["type"] == "point"]
    strong = [layer["mark"]["strokeWidth"] for layer in layers if layer["mark"]["type"] == "line"].index(3.0)
    assert NAMES[strong] == "algorithm 12"  # the least at the end
    looks = {(tuple(dash), marker) for i, (dash, marker) in enumerate(zip(dashes, markers, strict=True)) if i != strong}
    assert len(looks) == len(NAMES) - 1


def test_errors_of_zero_and_single_scales():
    zero = plots.ErrorLine(name="exact", scales=[10, 100], errors=[0.0, 0.0])
    some = plots.ErrorLine(name="some", scales=[10, 100], errors=[1.0, 0.0])
    text = plots.svg(plots.error_against_scale([zero, some], title="Errors"))
    assert ">some<" in text
    assert ">exact<" not in text
    plots.svg(plots.error_against_scale([plots.ErrorLine(name="one", scales=[10], errors=[1.0])], title="Errors"))


def test_a_map_writes_every_ratio():
    text = plots.svg(plots.ratio_map(["a", "b"], ["x", "y"], [[1.0, 2.345], [math.nan, 1e9]], title="Ratios"))
    for words in (">a<", ">b<", ">x<", ">y<", ">best<", ">2.35<", "&gt; 1e5"):
        assert words in text
    assert "NaN" not in text


def test_a_line_that_leaves_the_frame_says_how_far():
    good = plots.ErrorLine(name="good", scales=[10, 100], errors=[1.0, 2.0])
    bad = plots.ErrorLine(name="bad", scales=[10, 100], errors=[3.0, 12345.6])
    text = plots.svg(plots.error_against_scale([good, bad], title="Errors"))
    assert ">bad, 12,346<" in text
    assert ">good<" in text


def test_refusals():
    with pytest.raises(InvalidParameter):
        plots.error_against_scale([], title="Errors")
    with pytest.raises(InvalidParameter):
        plots.error_against_scale([plots.ErrorLine(name="a", scales=[1], errors=[1])] * 2, title="Errors")
    with pytest.raises(InvalidParameter):
        plots.error_against_scale([plots.ErrorLine(name="a", scales=[1, 2], errors=[1])], title="Errors")
    with pytest.raises(InvalidParameter):
        plots.ratio_map(["a"], ["x", "y"], [[1.0]], title="Ratios")
    with pytest.raises(InvalidParameter):
        plots.ratio_map([], [], [], title="Ratios")
