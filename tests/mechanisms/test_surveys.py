import math
import warnings

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter, RandomizedResponse, Warner, YesBiased


@pytest.mark.parametrize("design", [RandomizedResponse(epsilon=1), Warner(truth=0.7), YesBiased()])
def test_the_estimate_is_unbiased(design):
    """Exactly: the expected share of yes, fed to the estimator, gives the true share back."""
    for share in (0.0, 0.3, 1.0):
        yes = sum(p * math.exp(design.log_probability(answer, 1)) for answer, p in ((1, share), (0, 1 - share)))
        n = 10**6
        assert design.estimate(np.arange(n) < round(yes * n)).value == pytest.approx(share, abs=1e-5)


@pytest.mark.parametrize("design", [RandomizedResponse(epsilon=1), Warner(truth=0.7), YesBiased()])
@pytest.mark.parametrize("answers", [2, -1, 1.5, "yes", None, [0, 3], [0.5], [[1], [1, 0]], [0, np.ma.masked]])
def test_other_answers_are_refused(design, answers):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InvalidInput):
            design.release(answers)
        with pytest.raises(InvalidInput):
            design.estimate(answers)


def test_shapes_and_scalars_are_kept():
    design = RandomizedResponse(epsilon=1, categories=4)
    assert design.release(np.zeros((2, 3), dtype=int)).shape == (2, 3)
    assert type(design.release(3)) is int
    assert design.release(np.array([True, False])).dtype == np.int64


def test_an_interval_is_wider_at_higher_confidence():
    design, answers = Warner(truth=0.75), np.arange(1000) < 400
    narrow, wide = (design.estimate(answers, confidence=c) for c in (0.9, 0.99))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


def test_the_estimate_may_leave_the_unit_interval_and_can_be_clipped():
    estimate = Warner(truth=0.75).estimate(np.zeros(100, dtype=int))
    assert estimate.value == pytest.approx(-0.5)
    assert estimate.clipped() == 0


def test_designs_without_information_are_refused():
    with pytest.raises(InvalidParameter, match="no information"):
        Warner(truth=0.5)
    with pytest.raises(InvalidParameter):
        RandomizedResponse(epsilon=1, categories=1)
    with pytest.raises(InvalidInput, match="at least one"):
        Warner(truth=0.75).estimate([])


def test_the_yes_biased_survey_never_lies_about_a_true_yes():
    assert YesBiased().release(np.ones(1000, dtype=int)).all()
    assert YesBiased().loss_at(0, 0, 1) == math.inf
