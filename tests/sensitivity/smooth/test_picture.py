"""Pictures show the numbers that the functions give."""

import numpy as np
import pytest

from discreet import plots
from discreet.errors import InvalidParameter
from discreet.sensitivity.smooth.order import Median
from discreet.sensitivity.smooth.picture import sensitivity_against_beta, sensitivity_against_distance

DATA = [1, 2, 3, 5, 6]
MEDIAN = Median(bounds=(0, 6))


def rows(chart):
    return [row for layer in chart.to_dict()["layer"] for row in layer.get("data", {}).get("values", [])]


def test_bounds_are_drawn_between_their_limits():
    chart = sensitivity_against_beta(MEDIAN, DATA, beta=0.1)
    assert "4.022 at beta 0.1" in plots.svg(chart)
    heights = [row["y"] for row in rows(chart) if "x2" not in row and "y" in row]
    assert 2 <= min(heights) <= max(heights) <= 6 * (1 + 1e-8)
    seen = MEDIAN.at(DATA)
    drawn = {row["x"]: row["y"] for row in rows(sensitivity_against_beta(MEDIAN, DATA, betas=[0.01, 0.3, 2]))}
    assert drawn[0.3] == seen.smooth(0.3)


def test_levels_are_drawn_at_every_distance():
    drawn = rows(sensitivity_against_distance(MEDIAN, DATA, farthest=6))
    assert {(row["x"], row["y"]) for row in drawn} >= {(0, 2), (1, 3), (2, 4), (3, 5), (4, 6), (5, 6), (6, 6)}
    text = plots.svg(sensitivity_against_distance(MEDIAN, DATA, farthest=6, beta=0.1))
    assert "smooth bound 4.022" in text
    assert "<script" not in text


def test_local_sensitivities_of_zero_and_many_records_can_be_drawn():
    assert plots.svg(sensitivity_against_beta(MEDIAN, [3] * 5))
    many = np.random.default_rng(1).random(10_000)
    chart = sensitivity_against_distance(Median(bounds=(0, 1)), many, farthest=9000, beta=0.001)
    assert len(rows(chart)) < 1500


def test_wrong_questions_are_refused():
    with pytest.raises(InvalidParameter, match="beta"):
        sensitivity_against_beta(MEDIAN, DATA, betas=[])
    with pytest.raises(InvalidParameter, match="beta"):
        sensitivity_against_beta(MEDIAN, DATA, betas=[0])
    with pytest.raises(InvalidParameter, match="farthest"):
        sensitivity_against_distance(MEDIAN, DATA, farthest=0)
