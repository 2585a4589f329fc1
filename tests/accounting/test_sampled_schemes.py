"""Sampling without replacement and its like: domination by enumeration of small mechanisms, composition included."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import binom

from discreet.accounting import PrivacyLoss
from discreet.accounting.numerical.symmetric import SymmetricPair
from discreet.accounting.terms import SampledSymmetric
from discreet.errors import InvalidParameter, NoTheorem, RelationMismatch

RATIOS = np.exp(np.linspace(-1.5, 1.5, 61))


def hockey(p, q, x):
    return float(np.maximum(p - x * q, 0).sum())


def geometric(total, epsilon, reach=60):
    """The law of a sum of bits plus geometric noise."""
    z = np.arange(-reach, reach + 1)
    a = math.exp(-epsilon)
    return (1 - a) / (1 + a) * a ** np.abs(z - total)


def without_replacement(data, size, mechanism):
    drawn = list(combinations(range(len(data)), size))
    return sum(mechanism([data[i] for i in subset]) for subset in drawn) / len(drawn)


def responses(sample, epsilon):
    """Randomised response of one bit of the sample: does it hold a one?"""
    yes = 1 / (1 + math.exp(-epsilon))
    return np.array([yes, 1 - yes]) if any(sample) else np.array([1 - yes, yes])


def profile_of(pair, x):
    """The profile of a numerical pair at x by its masses on a fine grid, exact where x is a grid point."""
    at = math.log(x)
    low, high = pair.support
    edges = np.array([max(at, low - 1), high + 1.0])
    p, q = pair.cells(edges)
    return float(p[0] - x * q[0]) if at < high else 0.0


MECHANISMS = {
    "sum": (lambda sample: geometric(sum(sample), 1), PrivacyLoss.discrete_laplace(sensitivity=1, scale=1)),
    "any": (lambda sample: responses(sample, 1), PrivacyLoss.pure(1)),
    "all": (lambda sample: responses([1 - bit for bit in sample], 1), PrivacyLoss.randomized_response(1)),
}


def neighbouring(n):
    for data in product((0, 1), repeat=n):
        yield data, (1 - data[0], *data[1:])


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize(("n", "size"), [(3, 1), (4, 2), (5, 3)])
def test_one_release_is_dominated_at_every_ratio(name, n, size):
    mechanism, loss = MECHANISMS[name]
    rate = Fraction(size, n)
    term = SampledSymmetric(loss.terms[0][0], rate)
    pair = SymmetricPair(loss.terms[0][0].pair(), float(rate))
    for a, b in neighbouring(n):
        p, q = (without_replacement(data, size, mechanism) for data in (a, b))
        for x in RATIOS:
            claimed = profile_of(pair, x)
            assert hockey(p, q, x) <= claimed + 1e-12
            if x >= 1:
                assert claimed == pytest.approx(term.delta(Fraction(math.log(x))), rel=1e-9, abs=1e-12)
            else:
                assert claimed == pytest.approx(1 - x + x * profile_of(pair, 1 / x), rel=1e-9, abs=1e-12)


def composed(laws):
    p = np.ones(1)
    for law in laws:
        p = np.outer(p, law).ravel()
    return p


@pytest.mark.parametrize("count", [2, 3])
def test_releases_that_tell_in_both_directions_compose(count):
    """Mixed directions: one release says yes where the record is, another where it is not."""
    n, size = 4, 2
    loss = count * PrivacyLoss.pure(1).sampled(scheme="without_replacement", size=size, records=n)
    worst = 0.0
    claims = {at: loss.delta(at) for at in (0, 0.3, 0.6, 1)}
    for names in product(("any", "all"), repeat=count):
        for a, b in neighbouring(n):
            laws = [[without_replacement(data, size, MECHANISMS[name][0]) for name in names] for data in (a, b)]
            p, q = map(composed, laws)
            for at, claimed in claims.items():
                true = max(hockey(p, q, math.exp(at)), hockey(q, p, math.exp(at)))
                assert true <= claimed + 1e-12
                worst = max(worst, true / claimed) if claimed else worst
    assert worst > 0.7


def test_one_direction_alone_would_undercharge():
    """Why the pair must hold both directions: (mixture, Q) and (Q, mixture) together cost more than twice the first."""
    q, yes = 0.5, 1 / (1 + math.exp(-1))
    law = np.array([yes, 1 - yes])
    mixture, plain = q * law + (1 - q) * law[::-1], law[::-1]
    both = hockey(np.outer(mixture, plain).ravel(), np.outer(plain, mixture).ravel(), math.exp(0.8))
    twice = max(
        hockey(np.outer(mixture, mixture).ravel(), np.outer(plain, plain).ravel(), math.exp(0.8)),
        hockey(np.outer(plain, plain).ravel(), np.outer(mixture, mixture).ravel(), math.exp(0.8)),
    )
    claimed = (2 * PrivacyLoss.pure(1).sampled(q, scheme="without_replacement")).delta(0.8)
    assert both <= claimed
    assert twice <= claimed
    ratios = np.linspace(0.01, 1.2, 50)
    assert any(
        hockey(np.outer(mixture, plain).ravel(), np.outer(plain, mixture).ravel(), math.exp(at))
        > max(
            hockey(np.outer(mixture, mixture).ravel(), np.outer(plain, plain).ravel(), math.exp(at)),
            hockey(np.outer(plain, plain).ravel(), np.outer(mixture, mixture).ravel(), math.exp(at)),
        )
        for at in ratios
    )


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("base", [PrivacyLoss.gaussian(1), PrivacyLoss.laplace(1), PrivacyLoss.bounded_range(1)])
def test_the_pair_is_a_pair(base, rate):
    pair = SymmetricPair(base.terms[0][0].pair(), rate)
    edges = np.linspace(-8, 8, 1601)
    p, q = pair.cells(edges)
    p_at, q_at = pair.atoms(edges)
    assert p.sum() + p_at.sum() == pytest.approx(1, abs=1e-9)
    assert q.sum() + q_at.sum() == pytest.approx(1, abs=1e-9)
    shifted = pair.cells(edges[:-1] + 0.005)
    assert shifted[0].sum() == pytest.approx(1, abs=1e-9)
    seen = p > 1e-15
    ratio = np.log(p[seen] / q[seen])
    assert np.all((ratio > edges[:-1][seen] - 1e-9) & (ratio < edges[1:][seen] + 1e-9))
    assert pair.reversed() is pair


def test_without_replacement_lies_between_its_theorems():
    loss = 100 * PrivacyLoss.gaussian(1).sampled(scheme="without_replacement", size=1, records=50)
    low, high = loss.bounds(1e-6)
    assert low == pytest.approx((100 * PrivacyLoss.gaussian(1).sampled(0.02)).epsilon(1e-6), rel=1e-3)
    assert low < high < 1.5 * low
    assert high < (100 * PrivacyLoss.gaussian(1)).epsilon(1e-6) / 4
    single = PrivacyLoss.pure(1).sampled(0.1, scheme="without_replacement")
    assert single.epsilon() == pytest.approx(math.log1p(0.1 * math.expm1(1)))
    assert PrivacyLoss.approximate(1, 1e-5).sampled(0.1, scheme="without_replacement").delta(
        math.log1p(0.1 * math.expm1(1)) + 1e-9
    ) == pytest.approx(1e-6)


@pytest.mark.parametrize("alpha", [1.5, 2, 3, 8])
def test_renyi_divergences_hold_for_small_mechanisms(alpha):
    loss = PrivacyLoss.discrete_laplace(sensitivity=1, scale=1).sampled(0.5, scheme="without_replacement")
    noise = PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=1).sampled(
        0.5, scheme="without_replacement"
    )
    z = np.arange(-12, 17)

    def normal(sample):
        law = np.exp(-((z - sum(sample)) ** 2) / 2)
        return law / law.sum()

    for a, b in neighbouring(4):
        for claim, mechanism in ((loss, MECHANISMS["sum"][0]), (noise, normal)):
            p, q = (without_replacement(data, 2, mechanism) for data in (a, b))
            true = math.log(float(np.sum(q * (p / q) ** alpha))) / (alpha - 1)
            assert true <= claim.renyi(alpha) * (1 + 1e-9)


def poisson(data, rate, mechanism):
    law = 0
    for kept in product((0, 1), repeat=len(data)):
        chance = math.prod(rate if bit else 1 - rate for bit in kept)
        law = law + chance * mechanism([x for x, bit in zip(data, kept, strict=True) if bit])
    return law


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_poisson_samples_under_replace_one(rate):
    """Values -1, 0, 1: adding moves a sum by 1, replacing by 2; the noise must be for the larger of both."""
    neutral = PrivacyLoss.discrete_laplace(sensitivity=2, scale=2)
    claims = [
        neutral.sampled(rate, relation="replace_one"),
        PrivacyLoss.discrete_laplace(sensitivity=1, scale=2).under("add_remove").sampled(rate, relation="replace_one"),
    ]
    assert all(claim.relation == "replace_one" for claim in claims)
    assert claims[0] == claims[1]

    def mechanism(sample):
        return geometric(sum(sample), 0.5)

    tight = 0.0
    for rest in product((-1, 0, 1), repeat=2):
        for a, b in product((-1, 0, 1), repeat=2):
            p, q = (poisson((x, *rest), rate, mechanism) for x in (a, b))
            for at in (0, 0.05, 0.2, 0.5):
                for claim in claims:
                    assert hockey(p, q, math.exp(at)) <= claim.delta(at) + 1e-12
                    tight = max(tight, hockey(p, q, math.exp(at)) / claim.delta(at) if claim.delta(at) else 0)
    assert tight > 0.4
    wrong = PrivacyLoss.discrete_laplace(sensitivity=1, scale=2).sampled(rate, relation="replace_one")
    p, q = (poisson((x, 0, 0), rate, mechanism) for x in (1, -1))
    assert hockey(p, q, 1) > wrong.delta(0)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_groups_in_a_poisson_sample(size, rate):
    """Some of the group added, others removed, under add_remove; Gaussian noise on whole numbers."""
    base = PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=4, scalar=True)
    claim = base.sampled(rate).group(size)
    z = np.arange(-60, 61)

    def mechanism(sample):
        law = np.exp(-((z - sum(sample)) ** 2) / 8)
        return law / law.sum()

    tight = 0.0
    for added in range(size + 1):
        p = poisson([1] * added, rate, mechanism)
        q = poisson([-1] * (size - added), rate, mechanism)
        for at in (0, 0.1, 0.3, 1):
            true = max(hockey(p, q, math.exp(at)), hockey(q, p, math.exp(at)))
            assert true <= claim.delta(at) + 1e-12
            tight = max(tight, true / claim.delta(at))
    assert tight > 0.5
    assert base.sampled(rate).delta(0) < hockey(poisson([1] * size, rate, mechanism), mechanism([]), 1)


@pytest.mark.parametrize("rate", [0.2, 0.5])
def test_groups_in_two_samples_whichever_way_they_tell(rate):
    """One of the group added, the other removed, and in the second release the signs exchanged."""
    claim = 2 * PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=4, scalar=True).sampled(rate).group(
        2
    )
    z = np.arange(-40, 41)

    def mechanism(sample):
        law = np.exp(-((z - sum(sample)) ** 2) / 8)
        return law / law.sum()

    claims = {at: claim.delta(at) for at in (0, 0.2, 0.5, 1)}
    for first, second in product([((1,), (-1,)), ((1, 1), ()), ((), (-1, -1))], repeat=2):
        p, q = (np.outer(*(poisson(way[i], rate, mechanism) for way in (first, second))).ravel() for i in (0, 1))
        for at, claimed in claims.items():
            assert max(hockey(p, q, math.exp(at)), hockey(q, p, math.exp(at))) <= claimed + 1e-12


def test_with_replacement():
    base = PrivacyLoss.discrete_laplace(sensitivity=1, scale=1)
    loss = base.sampled(scheme="with_replacement", size=4, records=3)
    term = loss.terms[0][0]
    draws = list(product(range(3), repeat=4))
    data = [(1, 0, 1), (0, 0, 1)]
    p, q = (sum(geometric(sum(d[i] for i in draw), 1) for draw in draws) / len(draws) for d in data)
    true = max(hockey(p, q, math.exp(term.epsilon)), hockey(q, p, math.exp(term.epsilon)))
    assert 0.4 * float(term.failure) < true <= term.failure
    assert float(term.failure) == pytest.approx(0.2093, abs=1e-4)
    assert loss.relation == "replace_one"
    noise = PrivacyLoss.gaussian(0.5)
    with pytest.raises(NoTheorem, match="epsilon"):
        noise.sampled(scheme="with_replacement", size=10, records=100)
    found = noise.sampled(scheme="with_replacement", size=10, records=100, epsilon=1)
    chances = binom(10, 1 / 100)
    wanted = sum(chances.pmf(k) * noise.group(k).delta(1) for k in range(1, 11))
    assert found.terms[0][0].failure == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda loss: loss.sampled(0.1, scheme="bernoulli"), InvalidParameter),
        (lambda loss: loss.sampled(), InvalidParameter),
        (lambda loss: loss.sampled(0.1, scheme="with_replacement"), InvalidParameter),
        (lambda loss: loss.sampled(scheme="without_replacement", size=3, records=2), InvalidParameter),
        (lambda loss: loss.sampled(0.1, scheme="without_replacement", size=3, records=20), InvalidParameter),
        (lambda loss: loss.sampled(0.1, size=3), InvalidParameter),
        (lambda loss: loss.sampled(0.1, epsilon=3), InvalidParameter),
        (lambda loss: loss.sampled(0.1, scheme="without_replacement", most=3), InvalidParameter),
        (lambda loss: loss.sampled(0.1, scheme="without_replacement", relation="add_remove"), RelationMismatch),
        (lambda loss: loss.under("add_remove").sampled(0.1, scheme="without_replacement"), RelationMismatch),
        (lambda loss: loss.under("replace_one").sampled(0.1), RelationMismatch),
        (lambda loss: loss.under("replace_one").sampled(0.1, relation="replace_one"), RelationMismatch),
        (lambda loss: loss.sampled(0.1).sampled(0.1, scheme="without_replacement"), RelationMismatch),
        (lambda loss: loss.sampled(0.1, scheme="symmetric").sampled(0.1), NoTheorem),
        (lambda loss: loss.sampled(0.1, scheme="symmetric").sampled(0.1, scheme="symmetric"), NoTheorem),
        (lambda loss: loss.sampled(0.1) + loss.sampled(0.1, scheme="without_replacement"), RelationMismatch),
    ],
)
def test_what_no_theorem_covers_is_refused(call, error):
    with pytest.raises(error):
        call(PrivacyLoss.gaussian(1))


@pytest.mark.parametrize("scheme", ["poisson", "without_replacement", "symmetric"])
def test_records(scheme):
    loss = 3 * PrivacyLoss.laplace(0.5).sampled(Fraction(1, 7), scheme=scheme)
    assert PrivacyLoss.from_json(loss.to_json()) == loss
    assert eval(repr(loss), {"PrivacyLoss": PrivacyLoss, "Fraction": Fraction}) == loss
    assert PrivacyLoss.gaussian(1).sampled(1, scheme=scheme).terms == PrivacyLoss.gaussian(1).terms
    assert PrivacyLoss().sampled(0.1, scheme=scheme).terms == ()
    grouped = PrivacyLoss.gaussian(1).sampled(0.1, scheme=scheme).group(3)
    assert PrivacyLoss.from_json(grouped.to_json()) == grouped
