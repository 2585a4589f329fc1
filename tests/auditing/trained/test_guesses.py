"""The bound on right guesses: the paper's numbers, exact laws it must stay above, and one that it meets."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from discreet.auditing.trained import chance_of_guesses, epsilon_from_guesses
from discreet.errors import InvalidParameter

SIZES = [(20, 20), (40, 12), (60, 60)]


def right(epsilon):
    return 1 / (1 + math.exp(-epsilon))


@pytest.mark.parametrize("epsilon", [0, 0.3, 2, 8])
@pytest.mark.parametrize(("canaries", "guesses"), SIZES)
def test_without_delta_it_is_the_binomial_tail(canaries, guesses, epsilon):
    for correct in range(guesses + 1):
        tail = sum(
            math.comb(guesses, k) * right(epsilon) ** k * (1 - right(epsilon)) ** (guesses - k)
            for k in range(correct, guesses + 1)
        )
        assert chance_of_guesses(correct, guesses, canaries, epsilon) == pytest.approx(tail, rel=1e-9, abs=1e-300)


def test_the_numbers_of_the_paper():
    """Appendix D: 75 of 100 guesses among 1000 at delta 1e-4, with confidence 95%."""
    assert epsilon_from_guesses(75, 100, 1000, alpha=0.05, delta=1e-4) == pytest.approx(0.673, abs=5e-4)


@pytest.mark.parametrize("delta", [1e-4, 1e-2, 0.2])
@pytest.mark.parametrize("epsilon", [0, 0.5, 2])
@pytest.mark.parametrize("canaries", [5, 30])
def test_known_mechanisms_stay_below_it(canaries, epsilon, delta):
    """Responses that give a bit away with probability delta, each by itself; and one coin that gives all away."""
    every = np.arange(canaries + 1)
    each = binom.sf(every - 1, canaries, delta + (1 - delta) * right(epsilon))
    together = delta + (1 - delta) * binom.sf(every - 1, canaries, right(epsilon))
    bounds = [chance_of_guesses(int(v), canaries, canaries, epsilon, delta) for v in every]
    for law in (each, together):
        assert (law <= np.array(bounds) + 1e-12).all()


def certain_first(canaries, guesses, epsilon, delta):
    """The law of right guesses if bits that were given away are guessed first, and blurred ones after them."""
    law = np.zeros(guesses + 1)
    for given in range(canaries + 1):
        sure = min(given, guesses)
        rest = binom.pmf(np.arange(guesses - sure + 1), guesses - sure, right(epsilon))
        law[sure:] += binom.pmf(given, canaries, delta) * rest
    return law


@pytest.mark.parametrize(("canaries", "guesses"), [(30, 5), (60, 20)])
def test_whoever_abstains_gains_no_more_than_it_allows(canaries, guesses):
    law = certain_first(canaries, guesses, 0.5, 0.02)
    for correct in range(guesses + 1):
        assert law[correct:].sum() <= chance_of_guesses(correct, guesses, canaries, 0.5, 0.02) + 1e-12


def test_a_bound_that_forgot_delta_would_be_caught():
    """The check above can fail: without the term for delta the same mechanism exceeds the tail."""
    law = certain_first(60, 20, 0.5, 0.02)
    assert any(law[v:].sum() > chance_of_guesses(v, 20, 60, 0.5) + 0.01 for v in range(21))


@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
@pytest.mark.parametrize("alpha", [0.05, 1e-6])
def test_lower_bounds_exceed_the_truth_as_rarely_as_promised(epsilon, alpha):
    """Exactly, over all numbers of right guesses that randomised response can lead to."""
    law = binom.pmf(np.arange(401), 400, right(epsilon))
    found = np.array([epsilon_from_guesses(v, 400, 400, alpha=alpha) for v in range(401)])
    assert law[found > epsilon].sum() <= alpha
    assert law[found > epsilon].sum() > alpha / 20  # and hardly any is given away
    assert (np.diff(found) >= 0).all()


def test_what_cannot_be_is_refused():
    for correct, guesses, canaries in ((3, 2, 5), (1, 6, 5), (-1, 2, 5), (0, 0, 5)):
        with pytest.raises(InvalidParameter):
            chance_of_guesses(correct, guesses, canaries, 1)
    with pytest.raises(InvalidParameter):
        chance_of_guesses(1, 2, 5, -1)
    with pytest.raises(InvalidParameter):
        epsilon_from_guesses(1, 2, 5, alpha=0)
