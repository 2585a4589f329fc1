"""Contour lines lie where the height is, close where they should, and paths are drawn over them."""

import math
from itertools import pairwise

import numpy as np
import pytest

from discreet import plots
from discreet.errors import InvalidParameter
from discreet.plots.contours import contours


def bowl(points=31):
    line = np.linspace(-2, 2, points)
    return line.tolist(), (line[:, None] ** 2 + line[None, :] ** 2).tolist()


def test_a_circle_is_one_closed_line_of_the_right_radius():
    line, heights = bowl()
    (found,) = contours(line, line, heights, 1.0)
    assert found[0] == found[-1]
    assert all(math.hypot(x, y) == pytest.approx(1, abs=0.01) for x, y in found)
    angles = sorted(math.atan2(y, x) for x, y in found)
    assert max(b - a for a, b in pairwise(angles)) < 0.4


def test_a_level_beyond_the_corners_gives_open_lines_or_none():
    line, heights = bowl()
    corners = contours(line, line, heights, 6.0)
    assert len(corners) == 4
    assert all(part[0] != part[-1] for part in corners)
    assert contours(line, line, heights, 9.0) == []
    assert contours(line, line, heights, -1.0) == []


def test_a_saddle_has_two_lines_that_do_not_cross():
    line = np.linspace(-1, 1, 12).tolist()
    heights = [[x * y for x in line] for y in line]
    for level, sign in ((0.2, 1), (-0.2, -1)):
        found = contours(line, line, heights, level)
        assert len(found) == 2
        assert all(x * y * sign == pytest.approx(0.2, abs=0.02) for part in found for x, y in part)
    assert len(contours([0, 1], [0, 1], [[0, 1], [1, 0]], 0.4)) == 2


def test_every_point_of_every_line_has_the_height_of_its_level():
    rng = np.random.default_rng(0)
    line, heights = list(range(12)), rng.normal(size=(12, 12))
    for part in contours(line, line, heights.tolist(), 0.1):
        for x, y in part:
            a, b = math.floor(x), math.floor(y)
            beside = (min(a + 1, 11), b) if x > a else (a, min(b + 1, 11))
            share = x - a + y - b
            height = (1 - share) * heights[b, a] + share * heights[beside[1], beside[0]]
            assert height == pytest.approx(0.1, abs=1e-9)


def test_heights_of_another_shape_are_refused():
    with pytest.raises(InvalidParameter, match="a row for each y"):
        contours([0, 1], [0, 1], [[0, 1]], 0.5)


def test_paths_are_drawn_side_by_side():
    line, heights = bowl(9)
    below = plots.Landscape(xs=line, ys=line, heights=heights, levels=[0.5, 1, 2], lowest=(0, 0))
    one = plots.Paths(name="plain", paths=[[(-1, 1), (0, 0)]])
    many = plots.Paths(
        name="noisy <b>", paths=[[(-1, 1), (0.1, 0)], [(-1, 1), (0, 0.2)]], ring=[(1, 0), (0, 1), (-1, 0)]
    )
    chart = plots.trajectories(below, [one, many], title="Ways", axes=("first", "second"))
    text = plots.svg(chart)
    assert len(chart.to_dict()["hconcat"]) == 2
    assert "<script" not in text
    assert "<b>" not in text
    with pytest.raises(InvalidParameter):
        plots.trajectories(below, [plots.Paths(name="none", paths=[])], title="Ways", axes=("first", "second"))


def test_small_curves_share_their_axis():
    shown = [plots.Small(name="a", xs=[1, 5], ys=[0, 2]), plots.Small(name="b", xs=[2], ys=[3])]
    spec = plots.small_curves(shown, axis="step", title="Both").to_dict()
    domains = [panel["layer"][0]["encoding"]["x"]["scale"]["domain"] for panel in spec["concat"]]
    assert domains == [[1, 5], [1, 5]]
    with pytest.raises(InvalidParameter):
        plots.small_curves([], axis="step", title="None")
