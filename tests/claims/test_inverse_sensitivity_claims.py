"""The inverse sensitivity of order statistics, from its definition: all data sets on a small grid."""

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement
from types import SimpleNamespace

import numpy as np
import pytest
from claims_reference import kept, largest_loss

from discreet.accounting import PrivacyLoss
from discreet.mechanisms import Quantile
from discreet.mechanisms.inverse_sensitivity import InverseSensitivity

POINTS = range(5)
SIZES = (1, 2, 3, 4)
CASES = [(Fraction(1, 2), 0), (Fraction(1, 2), 1), (0.25, 0), (0.9, 1), (Fraction(1, 2), 10)]


def data_sets(n):
    return list(combinations_with_replacement(POINTS, n))


def statistic(data, probability):
    return sorted(data)[max(math.ceil(Fraction(probability) * len(data)), 1) - 1]


def replaced(one, other):
    return (Counter(one) - Counter(other)).total()


def changes(data, point, probability, smoothing):
    """The least number of replaced records after which the statistic is within the smoothing of a point."""
    return min(
        replaced(data, other)
        for other in data_sets(len(data))
        if abs(statistic(other, probability) - point) <= smoothing
    )


def law(scores, rate):
    weights = -rate * np.array(scores, dtype=float)
    return weights - np.log(np.exp(weights).sum())


@pytest.mark.parametrize(("probability", "smoothing"), CASES)
def test_it_counts_changes_as_defined_and_keeps_the_claim(probability, smoothing):
    made = InverseSensitivity(bounds=(0, 4), epsilon=2, probability=probability, smoothing=smoothing, grid=1)
    assert made.loss == PrivacyLoss.bounded_range(2).under("replace_one")
    claim = SimpleNamespace(delta=cache(made.loss.delta))
    for n in SIZES:
        found = {x: [changes(x, t, probability, smoothing) for t in POINTS] for x in data_sets(n)}
        for x, scores in found.items():
            assert [made.changes(x, t) for t in POINTS] == scores
            told = [made.log_probability(x, float(t)) for t in POINTS]
            assert np.allclose(told, law(scores, 1.0), rtol=1e-12)
        for x, y in combinations(found, 2):
            if replaced(x, y) == 1:
                assert max(abs(a - b) for a, b in zip(found[x], found[y], strict=True)) <= 1
                assert kept(claim, law(found[x], 1.0), law(found[y], 1.0), (0, 1, 2))


def test_the_check_catches_the_missing_two():
    x, y = (0, 0, 0, 4, 4), (0, 0, 4, 4, 4)
    laws = [law([changes(data, t, 0.5, 0) for t in POINTS], 2.0) for data in (x, y)]
    assert not kept(PrivacyLoss.bounded_range(2), *laws, (0, 1, 2))


def test_the_claim_is_attained_in_the_limit():
    """The score of a sliver below the median falls as that of all the rest rises."""
    made, sliver = InverseSensitivity(bounds=(0, 1), epsilon=2, grid=2.0**-40), 2.0**-20
    x, y = [0.0, sliver, sliver], [sliver, sliver, 1.0]
    loss = largest_loss(*([made.log_probability(data, sliver / 2)] for data in (x, y)))
    assert 2 - 1e-5 < loss <= 2 + 1e-12


@pytest.mark.parametrize("n", [5, 9])
def test_without_smoothing_it_is_the_exponential_mechanism_on_ranks(n):
    """Between records both laws agree but for the weight of the one point that is the median."""
    data = [k * 0.1 + 0.03 for k in range(n)]
    made = InverseSensitivity(bounds=(0, 1), epsilon=1, grid=2.0**-20)
    other = Quantile(bounds=(0, 1), epsilon=1, relation="replace_one", grid=2.0**-20)
    points = [round(k * 0.1 * 2**20 + 7) / 2**20 for k in range(10)]
    for t in points:
        assert made.log_probability(data, t) == pytest.approx(other.log_probability(data, t), abs=1e-4)


def within(made, data, reach):
    """The probability of a release that close to the median."""
    steps = 2**10
    return math.fsum(math.exp(made.log_probability(data, 0.5 + k / steps)) for k in range(-reach, reach + 1))


def test_smoothing_helps_where_records_are_further_apart_and_blurs_where_not():
    plain, smooth = (InverseSensitivity(bounds=(0, 1), epsilon=2, grid=2.0**-10, smoothing=s) for s in (0, 2.0**-7))
    apart = [k / 16 for k in range(17)]
    assert 2 < within(smooth, apart, 8) / within(plain, apart, 8) < math.e
    close = [0.5 + k / 1024 for k in range(-100, 101)]
    assert within(smooth, close, 8) < within(plain, close, 8)
