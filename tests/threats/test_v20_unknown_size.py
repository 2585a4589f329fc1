"""Neither the noise nor its range may follow the true number of records, unless that number is public.

Noise of scale ``(upper - lower) / n``, with n counted, tells n by its size. A sum that is cut off at ``n * upper``
tells it by where it ends. Both are right only if n is public, under replace_one, and libraries that meant this
relation did not say so. What a guarantee is about must be part of it.

Defence: scales and ranges come from declared parameters alone; a loss carries its relation, means and variances refuse
add_remove, and an account refuses to mix the two.
Source: Kifer and Machanavajjhala, No Free Lunch in Data Privacy, SIGMOD 2011, for the two relations.
"""

import math
import warnings

import numpy as np
import pytest

from discreet.accounting import Budget
from discreet.errors import NotPrivateWarning, RelationMismatch
from discreet.mechanisms import STAT, Gaussian, Geometric, Laplace, Quantile, parallel
from discreet.sensitivity import Count, Counts, Histogram, Mean, Sum, Variance
from discreet.testing import seeded

SIZES = (0, 1, 10, 1000)
REAL, WHOLE = Laplace(sensitivity=1, epsilon=1), Geometric(sensitivity=1, epsilon=1)
LIFTED = {
    "sum": REAL.of(Sum(bounds=(0, 1)), relation="add_remove"),
    "sum, centred": REAL.of(Sum(bounds=(0, 2), center=True), relation="add_remove"),
    "sum, replaced": REAL.of(Sum(bounds=(0, 1)), relation="replace_one"),
    "sum, gaussian": Gaussian(sensitivity=1, sigma=3).of(Sum(bounds=(0, 1)), relation="add_remove"),
    "mean": REAL.of(Mean(bounds=(0, 1), size=10), relation="replace_one"),
    "variance": REAL.of(Variance(bounds=(0, 1), size=10), relation="replace_one"),
    "count": WHOLE.of(Count(), relation="add_remove"),
    "histogram": WHOLE.of(Histogram(bins=(1, 2)), relation="add_remove"),
}


def noises(release, exact):
    """Return the noise in releases about data sets of several sizes, all from the same words of randomness."""
    found = []
    for size in SIZES:
        data = [1] * size
        with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("V20"):
            released = [release(data) for _ in range(50)]
        found.append(np.array(released, dtype=float) - np.array(exact(data), dtype=float))
    return found


def follows_size(release, exact):
    first, *others = noises(release, exact)
    return any(np.abs(first - other).max() > 1e-5 for other in others)


@pytest.mark.parametrize("name", LIFTED)
def test_the_noise_is_the_same_for_all_sizes(name):
    mechanism = LIFTED[name]
    assert not follows_size(mechanism.release, mechanism.query)


def test_the_range_is_that_of_the_noise():
    """One value in [0, 1], and sums far outside: nothing is cut off at what so many records could add up to."""
    for noise in noises(LIFTED["sum"].release, Sum(bounds=(0, 1))):
        assert noise.min() < -1
        assert noise.max() > 1


def test_quantiles_are_drawn_from_the_same_points_for_all_sizes():
    quantile = Quantile(bounds=(0, 1), epsilon=1, relation="add_remove", grid=0.125)
    for size in SIZES:
        assert all(quantile.log_probability([1] * size, k / 8) > -math.inf for k in range(9))
        assert quantile.rate == 1


NEIGHBOURS = {
    "add_remove": [([0.5] * n, [0.5] * n + [x]) for n in range(3) for x in (0, 0.5, 1)],
    "replace_one": [([0.5] * n + [y], [0.5] * n + [x]) for n in range(3) for x in (0, 0.5) for y in (0.75, 1)],
}


def keeps(mechanism, loss, relation):
    """Tell whether the exact laws on neighbours stay within a loss."""
    outputs = np.arange(17) / 16
    for pair in NEIGHBOURS[relation]:
        p, q = (np.exp([mechanism.log_probability(data, y) for y in outputs]) for data in pair)
        if any(
            np.maximum(a - math.exp(e) * b, 0).sum() > loss.delta(e) + 1e-9
            for e in (0.5, 1)
            for a, b in ((p, q), (q, p))
        ):
            return False
    return True


@pytest.mark.parametrize("relation", NEIGHBOURS)
@pytest.mark.parametrize("other", NEIGHBOURS)
def test_quantiles_keep_the_promise_under_their_relation(relation, other):
    """The same release costs up to twice as much under replace_one; the loss says which one it is about."""
    quantile = Quantile(bounds=(0, 1), epsilon=1, relation=relation, grid=1 / 16)
    assert quantile.loss.relation == relation
    assert keeps(quantile, quantile.loss if other == relation else quantile.loss.group(2), other)


def test_the_check_catches_one_relation_taken_for_the_other():
    quantile = Quantile(bounds=(0, 1), epsilon=1, relation="add_remove", grid=1 / 16)
    assert not keeps(quantile, quantile.loss, "replace_one")


@pytest.mark.parametrize(
    "query", [Mean(bounds=(0, 1), size=9), Variance(bounds=(0, 1), size=9), Counts(wheres=(bool,), size=9)]
)
def test_averages_refuse_a_relation_without_a_public_size(query):
    with pytest.raises(RelationMismatch, match="private under add_remove"):
        REAL.of(query, relation="add_remove")
    assert REAL.of(query, relation="replace_one").loss.relation == "replace_one"


def test_every_loss_about_records_names_its_relation():
    heads = WHOLE.of(Count(), relation="add_remove")
    for mechanism in (
        *LIFTED.values(),
        STAT(query=float, size=3, epsilon=1),
        parallel({1: heads}, by=int, relation="replace_one"),
    ):
        assert mechanism.loss.relation == mechanism.domain.relation


def test_an_account_does_not_mix_relations():
    account = Budget(10).open()
    account.spend(LIFTED["sum"].loss)
    with pytest.raises(RelationMismatch):
        account.spend(LIFTED["mean"].loss)


def counted_scale(data):
    return Laplace(sensitivity=1 / max(len(data), 1), epsilon=1).release(sum(data) / max(len(data), 1))


def cut_off(data):
    return min(max(REAL.release(float(sum(data))), 0), len(data))


def test_the_check_catches_a_counted_size():
    assert follows_size(counted_scale, lambda data: sum(data) / max(len(data), 1))
    assert follows_size(cut_off, sum)
