"""Batches that are cut: the binomial tail, the arithmetic around it, and a small training run by enumeration."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from discreet.accounting import PrivacyLoss
from discreet.accounting.terms.overflow import binomial_tail
from discreet.errors import InvalidParameter, NoTheorem


@pytest.mark.parametrize(
    ("n", "rate", "most"), [(10, Fraction(1, 3), 6), (50, Fraction(1, 50), 4), (7, Fraction(1, 2), 6)]
)
def test_tails_are_exact_sums_rounded_up(n, rate, most):
    exactly = sum(math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(most + 1, n + 1))
    assert exactly <= binomial_tail(n, rate, most) <= exactly * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize(("n", "rate", "most"), [(60_000, 0.01, 700), (10**6, 0.001, 1200), (1000, 0.5, 600)])
def test_large_tails(n, rate, most):
    assert float(binomial_tail(n, Fraction(rate), most)) == pytest.approx(binom(n, rate).sf(most), rel=1e-8)


def test_ends_of_the_tail():
    assert binomial_tail(10, Fraction(1, 2), 10) == 0
    assert binomial_tail(10, Fraction(1, 2), 3) == 1
    assert binomial_tail(10, Fraction(1), 9) == 1


def test_what_it_costs():
    loss, rare = 100 * PrivacyLoss.gaussian(0.5).sampled(0.1), Fraction(1, 10**10)
    cut = loss + 100 * PrivacyLoss.overflow(rare)
    for epsilon in (0, 1, 3):
        assert cut.delta(epsilon) == pytest.approx(loss.delta(epsilon) + (1 + math.exp(epsilon)) * 1e-8, rel=1e-9)
    low, high = cut.bounds(1e-5)
    plain = loss.bounds(1e-5)
    assert low <= plain[0] <= plain[1] <= high < plain[1] * 1.01
    assert cut.delta(high) <= 1e-5 * (1 + 1e-9)
    assert cut.epsilon(1e-8) == math.inf
    assert cut.epsilon() == math.inf
    assert cut.renyi(2) == math.inf
    assert PrivacyLoss.overflow(0) == PrivacyLoss()


def test_beside_failures():
    loss = PrivacyLoss.approximate(1, 1e-6) + PrivacyLoss.overflow(1e-7)
    assert loss.delta(1) == pytest.approx(1e-6 + (1 + math.e) * 1e-7)
    assert loss.epsilon(Fraction(loss.delta(1)) * (1 + Fraction(1, 10**9))) <= 1 + 1e-6


def geometric(total, reach=40):
    z = np.arange(-reach, reach + 1)
    return (1 - math.exp(-1)) / (1 + math.exp(-1)) * math.exp(-1) ** np.abs(z - total)


def cut_sample(data, rate, most):
    """A count of a Poisson sample, of which the first few records are kept."""
    law = 0
    for kept in product((0, 1), repeat=len(data)):
        chance = math.prod(rate if bit else 1 - rate for bit in kept)
        sample = [x for x, bit in zip(data, kept, strict=True) if bit][:most]
        law = law + chance * geometric(sum(sample))
    return law


def test_a_small_run_is_covered_and_would_not_be_without():
    """Records in order: one more at the front pushes another out of the batch, which plain sampling never does."""
    rate, most, n = 0.5, 3, 4
    base = PrivacyLoss.discrete_laplace(sensitivity=1, scale=1)
    claim = base.sampled(rate, most=most, records=n)
    worst = 0.0
    for data in product((-1, 0, 1), repeat=n):
        p, q = cut_sample((-1, *data), rate, most), cut_sample(data, rate, most)
        for epsilon in (0, 0.2, 0.5, 0.62):
            true = max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ((p, q), (q, p)))
            assert true <= claim.delta(epsilon)
            worst = max(worst, true - base.sampled(rate).delta(epsilon))
    assert worst > 0


def test_the_words_that_go_together():
    loss = PrivacyLoss.gaussian(1)
    cut = loss.sampled(0.01, most=700, records=60_000)
    assert cut.terms == (loss.sampled(0.01) + PrivacyLoss.overflow(binomial_tail(60_001, Fraction(0.01), 700))).terms
    assert cut.relation == "add_remove"
    assert PrivacyLoss.from_json(cut.to_json()) == cut
    assert eval(repr(cut), {"PrivacyLoss": PrivacyLoss, "Fraction": Fraction}) == cut
    with pytest.raises(InvalidParameter):
        loss.sampled(0.01, most=700)
    with pytest.raises(InvalidParameter):
        loss.sampled(0.01, records=700)
    with pytest.raises(NoTheorem):
        loss.sampled(0.01, most=700, records=60_000, relation="replace_one")
    with pytest.raises(NoTheorem):
        cut.group(2)
    with pytest.raises(NoTheorem):
        PrivacyLoss.overflow(0.1).sampled(0.1)


def test_many_failures_are_multiplied_in_balls():
    """A thousand and more (epsilon, delta) releases survive with the power, not only with the union bound."""
    failure, count = Fraction(1, 1000), 5000
    found = (count * PrivacyLoss.approximate(0, failure)).delta(0)
    assert 1 - (1 - failure) ** count <= found <= (1 - (1 - failure) ** count) * (1 + Fraction(1, 2**40))
    assert found < 0.995
    low, high = (count * PrivacyLoss.approximate(Fraction(1, 100), Fraction(1, 10**9))).bounds(1e-5)
    assert 0.999 * high < low <= high
    assert (2000 * PrivacyLoss.approximate(0, 1)).delta(5) == 1
