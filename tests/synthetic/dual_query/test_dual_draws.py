"""Draws follow their weights exactly: bounds hold in ball arithmetic, frequencies match, doubt changes nothing."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from scipy.stats import chisquare

from discreet.exact import ball
from discreet.synthetic.dual_query import draws
from discreet.synthetic.dual_query.draws import signed_draws, signed_log_probabilities

CASES = {
    "level": ([0, 0, 0], Fraction(1)),
    "uneven": ([3, -1, 0, 2], Fraction(1, 2)),
    "steep": ([30, 29, -29, 5], Fraction(1, 3)),
    "huge scores": ([10**17, 10**17 - 10**16], Fraction(1, 10**16)),
}


@pytest.mark.parametrize("name", CASES)
def test_frequencies_are_the_definition(name):
    scores, rate = np.array(CASES[name][0]), CASES[name][1]
    top = max(abs(s) for s in scores.tolist())
    weights = [np.exp(float(rate * (sign * s - top))) for sign in (1, -1) for s in scores.tolist()]
    expected = np.array(weights) / sum(weights)
    assert np.allclose(np.exp(signed_log_probabilities(scores, rate)).reshape(-1), expected, rtol=1e-9)
    places, complements = signed_draws(scores, rate, 40_000)
    seen = np.bincount(places + len(scores) * complements, minlength=len(expected))
    kept = expected > 1e-3
    rest = np.append(seen[kept], seen[~kept].sum()), np.append(expected[kept], expected[~kept].sum()) * 40_000
    counted = rest[1] > 0.5
    assert chisquare(rest[0][counted], rest[1][counted], sum_check=False).pvalue > 1e-9


@pytest.mark.parametrize("rate", [Fraction(1, 10**9), Fraction(1, 7), Fraction(5)])
def test_whole_units_bound_every_weight(rate):
    scores = np.array([0, 1, 2, 10, 333, 10**6, 10**15, -(10**15)])
    top = 10**15
    units = draws._units(scores, top, rate)
    ctx.prec, before = 256, ctx.prec
    try:
        for score, unit in zip(scores.tolist(), units.tolist(), strict=True):
            exact = (-ball(rate * (top - score))).exp() * arb(2) ** 40
            assert exact <= unit
            assert unit - 17 * (1 + unit / 2**40) <= exact  # and little is lost
    finally:
        ctx.prec = before


def test_a_machine_whose_exp_is_not_trusted_draws_the_same_law(monkeypatch):
    monkeypatch.setattr(draws, "SLACK", np.inf)
    scores = np.array([1, -2])
    assert draws._units(scores, 2, Fraction(1)).tolist() == [2**40] * 2
    places, complements = signed_draws(scores, Fraction(1), 3000)
    seen = np.bincount(places + 2 * complements, minlength=4)
    expected = np.exp(signed_log_probabilities(scores, Fraction(1))).reshape(-1) * 3000
    assert chisquare(seen, expected).pvalue > 1e-9


def test_coins_that_are_in_doubt_are_decided_in_balls(monkeypatch):
    monkeypatch.setattr(draws, "MARGIN", 1.0)
    behind, units = np.full(4000, 3), np.full(4000, 2**40)
    tosses = draws._coins(behind, units, Fraction(1, 3))
    assert abs(tosses.mean() - np.exp(-1)) < 0.05


def test_a_million_candidates_are_drawn_from():
    scores = np.zeros(1 << 20, dtype=np.int64)
    scores[77] = 40
    places, complements = signed_draws(scores, Fraction(1), 500)
    assert (places == 77).all()
    assert not complements.any()


def test_the_most_candidates_fit_into_a_word():
    most = draws.MOST_CANDIDATES
    assert 2 * most * (int(draws.SCALE * (1 + draws.MARGIN)) + 1) < 2**63
