"""Which groups are shown: every small table, every neighbour, both directions and all sets of outputs."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from itertools import product as every

import numpy as np
import pytest
from claims_reference import DUST, SLACK, discrete_gaussian, geometric, hockey_stick, product, steps, worse
from scipy import stats

from discreet.accounting import PrivacyLoss
from discreet.auditing.audit import audit
from discreet.auditing.entries import our_mechanisms
from discreet.mechanisms import GaussianThreshold, LaplaceThreshold, OptimalSelection

ALARM = 1e-9
MANY = 200_000


# --- the laws, from their definitions ------------------------------------------------------------------------------


def recursion(epsilon, delta, most):
    """Return pi(0), ..., pi(most), step by step in 50 digits."""
    with localcontext() as context:
        context.prec = 50
        grow = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
        d = Decimal(delta.numerator) / Decimal(delta.denominator)
        pi = [Decimal(0)]
        for _ in range(most):
            pi.append(min(grow * pi[-1] + d, 1 - (1 - pi[-1] - d) / grow, Decimal(1)))
        return pi


def bits(chance):
    """Return the law of a coin, with impossible sides kept."""
    with np.errstate(divide="ignore"):
        return np.log([float(1 - chance), float(chance)])


def shown(noise_law, count, threshold, reach=80):
    """Return the law of a noisy count that is told if it is above a threshold, the highest ones as one."""
    if count == 0:
        return np.append(0.0, np.full(reach, -math.inf))
    reach_of_law = threshold + 400
    law = noise_law(count, reach_of_law)
    hidden, told = np.split(law, [reach_of_law + threshold + 1])
    told = np.append(told[: reach - 1], np.logaddexp.reduce(told[reach - 1 :]))
    return np.append(np.logaddexp.reduce(hidden), told)


def table(laws, counts):
    return product(*(laws(count) for count in counts))


def neighbours(largest, groups, relation):
    """Yield all tables of up to ``groups`` (or twice that) counts and what one unit makes of them."""
    width = groups * (2 if relation == "replace_one" else 1)
    moves = [m for m in every((-1, 0, 1), repeat=width) if sum(x > 0 for x in m) <= groups >= sum(x < 0 for x in m)]
    if relation == "add_remove":
        moves = [m for m in moves if min(m) >= 0]
    for counts in every(range(largest + 1), repeat=width):
        for move in moves:
            other = tuple(c + m for c, m in zip(counts, move, strict=True))
            if min(other) >= 0 and any(move):
                yield counts, other


def all_kept(loss, laws, pairs, epsilons):
    known = {}

    def of(counts):
        if counts not in known:
            known[counts] = table(laws, counts)
        return known[counts]

    allowed = {e: loss.delta(e) * (1 + SLACK) + DUST for e in epsilons}
    return all(worse(of(a), of(b), e) <= most for a, b in pairs for e, most in allowed.items())


def laplace_law(mechanism, threshold=None, scale=None):
    s, t = float(scale or mechanism.scale), mechanism.threshold if threshold is None else threshold
    return lambda count: shown(lambda shift, reach: geometric(s, shift, reach), count, t)


def gaussian_law(mechanism, threshold=None, sigma=None):
    s, t = float(sigma or mechanism.sigma), mechanism.threshold if threshold is None else threshold
    return lambda count: shown(lambda shift, reach: discrete_gaussian(s, shift, reach), count, t)


def optimal_law(mechanism):
    pi = recursion(*mechanism.share, mechanism.certain + 3)
    return lambda count: bits(pi[count])


# --- the optimal selection -----------------------------------------------------------------------------------------

SHARES = [
    (1, 1e-5),
    (0.1, 1e-3),
    (3, 0.01),
    (Fraction(1, 3), Fraction(1, 10)),
    (0.02, 0.3),
    (8, 1e-9),
    (1, 0.5),
    (1, 0.7),
]


@pytest.mark.parametrize(("epsilon", "delta"), SHARES)
@pytest.mark.parametrize("groups", [1, 3])
def test_the_closed_form_is_the_recursion(epsilon, delta, groups):
    mechanism = OptimalSelection(epsilon=epsilon, delta=delta, groups=groups)
    assert mechanism.share == (Fraction(epsilon) / groups, Fraction(delta) / groups)
    pi = recursion(*mechanism.share, mechanism.certain + 3)
    for n, expected in enumerate(pi):
        assert math.isclose(mechanism.probability(n), float(expected), rel_tol=1e-14)
    assert mechanism.certain == next(n for n, p in enumerate(pi) if p == 1)
    assert mechanism.threshold == next(n for n, p in enumerate(pi) if 2 * p >= 1)


@pytest.mark.parametrize(("epsilon", "delta"), SHARES[:6])
def test_no_count_could_be_kept_more_often(epsilon, delta):
    """With what is allowed below it, a billionth more at any count breaks the claim; coins, in 50 digits."""
    mechanism = OptimalSelection(epsilon=epsilon, delta=delta)
    pi = recursion(*mechanism.share, mechanism.certain)
    with localcontext() as context:
        context.prec = 50
        grow = (Decimal(Fraction(epsilon).numerator) / Decimal(Fraction(epsilon).denominator)).exp()

        def delta_of(p, q):
            return max(p - grow * q, q - grow * p, (1 - p) - grow * (1 - q), (1 - q) - grow * (1 - p))

        for fewer, more in pairwise(pi[:-1]):
            assert float(delta_of(fewer, more)) <= delta * (1 + 1e-15)
            raised = more + min(more, 1 - more) / 10**9
            assert float(delta_of(fewer, raised)) > delta


CASES = [(1, 0.05, 1), (2, 0.05, 2), (1, 1e-3, 2), (3, 0.1, 3)]


@pytest.mark.parametrize(
    ("epsilon", "delta", "groups", "relation"),
    [*((*case, "add_remove") for case in CASES), *((*case, "replace_one") for case in CASES[:3])],
)
def test_every_small_table_keeps_the_optimal_claim(epsilon, delta, groups, relation):
    mechanism = OptimalSelection(epsilon=epsilon, delta=delta, groups=groups, relation=relation)
    claim = mechanism.loss
    assert claim.relation == relation
    assert claim.delta(epsilon) <= delta * (1 + 1e-12)
    largest = {1: mechanism.certain + 1, 2: 5, 3: 4}[groups] if relation == "add_remove" or groups == 1 else 2
    assert all_kept(claim, optimal_law(mechanism), neighbours(largest, groups, relation), steps(epsilon))


@pytest.mark.parametrize("groups", [1, 2])
def test_the_optimal_claim_is_no_larger_than_it_must_be(groups):
    mechanism = OptimalSelection(epsilon=2, delta=0.05, groups=groups)
    law, ones, none = optimal_law(mechanism), (1,) * groups, (0,) * groups
    share = 0.05 / groups
    assert math.isclose(worse(table(law, ones), table(law, none), 2), 1 - (1 - share) ** groups, rel_tol=1e-9)
    near = [tuple(x) for x in mechanism.worst_case()]
    assert hockey_stick(*(table(law, x) for x in near), 1) > 0.05
    for wrong in (PrivacyLoss.approximate(1, 0.05), PrivacyLoss.approximate(2, 0.025)):
        assert not all_kept(wrong, law, [(ones, none), tuple(near)], [1, 2])


def test_a_unit_in_two_groups_needs_two_shares():
    one = OptimalSelection(epsilon=1, delta=0.01)
    assert not all_kept(one.loss, optimal_law(one), neighbours(5, 2, "add_remove"), [1])


# --- thresholds ----------------------------------------------------------------------------------------------------

THRESHOLDS = [
    (LaplaceThreshold(epsilon=1, delta=0.01), laplace_law),
    (LaplaceThreshold(epsilon=3, delta=1e-4), laplace_law),
    (LaplaceThreshold(epsilon=0.2, delta=0.3), laplace_law),
    (LaplaceThreshold(epsilon=2, delta=0.01, groups=2), laplace_law),
    (LaplaceThreshold(epsilon=2, delta=0.01, relation="replace_one"), laplace_law),
    (GaussianThreshold(sigma=1, delta=0.01), gaussian_law),
    (GaussianThreshold(epsilon=2, delta=1e-3), gaussian_law),
    (GaussianThreshold(sigma=0.4, delta=0.02), gaussian_law),
    (GaussianThreshold(epsilon=1.5, delta=0.02, groups=2), gaussian_law),
    (GaussianThreshold(sigma=1.3, delta=0.02, relation="replace_one"), gaussian_law),
]


def epsilon_of(mechanism):
    return float(mechanism.epsilon or mechanism.loss.epsilon(2 * Fraction(mechanism.delta)))


@pytest.mark.parametrize(("mechanism", "law"), THRESHOLDS)
def test_every_small_table_keeps_the_claim_of_a_threshold(mechanism, law):
    """The noisy counts that are shown are part of the output; two groups at once where a unit is in two."""
    epsilon, claim, law = epsilon_of(mechanism), mechanism.loss, law(mechanism)
    if mechanism.touched == 1:
        pairs = list(neighbours(mechanism.threshold + 4, 1, "add_remove"))
    else:
        ends = [0, 1, 2, mechanism.threshold, mechanism.threshold + 1]
        pairs = [
            (a, b) for a, b in neighbours(ends[-1] + 1, mechanism.groups, mechanism.relation) if set(a) <= set(ends)
        ]
    assert all_kept(claim, law, pairs, steps(epsilon))
    if mechanism.epsilon is not None:
        assert claim.delta(epsilon) <= mechanism.delta


@pytest.mark.parametrize(("mechanism", "law"), THRESHOLDS)
def test_what_the_threshold_adds_is_attained(mechanism, law):
    """A unit alone in its groups: the delta is the chance that one of them is shown, at every epsilon."""
    alone, nobody = (1,) * mechanism.groups, (0,) * mechanism.groups
    chance = 1 - (1 - mechanism.probability(1)) ** mechanism.groups
    law = law(mechanism)
    assert math.isclose(hockey_stick(table(law, alone), table(law, nobody), 50), chance, rel_tol=1e-9)
    assert chance * (1 - 1e-12) <= mechanism.failure <= (1 - (1 - chance) ** 2) * (1 + 1e-9)
    if mechanism.relation == "add_remove":
        assert math.isclose(mechanism.failure, chance, rel_tol=1e-9)


@pytest.mark.parametrize(("mechanism", "law"), THRESHOLDS)
def test_a_threshold_one_lower_adds_too_much(mechanism, law):
    law = law(mechanism, threshold=mechanism.threshold - 1)
    alone, nobody = (1,) * mechanism.touched, (0,) * mechanism.touched
    allowed = float(mechanism.delta)
    if mechanism.epsilon is not None:
        allowed = 1 - (1 - allowed) / (1 - mechanism.noise.delta(mechanism.epsilon))
    assert mechanism.threshold == 0 or hockey_stick(table(law, alone), table(law, nobody), 50) > allowed


@pytest.mark.parametrize(
    ("mechanism", "law"), [row for row in THRESHOLDS if row[0].relation == "add_remove" and row[0].delta < 0.1]
)
def test_half_of_anything_is_too_little(mechanism, law):
    """Half the noise, half of epsilon, half of delta, and either part of the claim alone."""
    t, g = mechanism.threshold, mechanism.groups
    pairs = [((1,) * g, (0,) * g), ((t,) * g, (t - 1,) * g), ((t + 2,) * g, (t + 1,) * g)]
    epsilon = epsilon_of(mechanism)
    less = {"scale": mechanism.scale / 2} if isinstance(mechanism, LaplaceThreshold) else {"sigma": mechanism.sigma / 2}
    assert not all_kept(mechanism.loss, law(mechanism, **less), pairs, steps(epsilon))
    right = law(mechanism)
    failure = PrivacyLoss.approximate(0, mechanism.failure)
    for wrong in (mechanism.noise, failure, mechanism.noise + PrivacyLoss.approximate(0, mechanism.failure / 2)):
        assert not all_kept(wrong, right, pairs, [0, epsilon / 2, epsilon, 50])


def test_groups_that_vanish_beside_groups_that_shrink():
    """Noise and threshold are paid together: on this pair neither part of the claim, nor the larger, would do."""
    mechanism = GaussianThreshold(sigma=1, delta=0.2, groups=2)
    t, law = mechanism.threshold, gaussian_law(mechanism)
    p, q = table(law, (1, t + 2)), table(law, (0, t + 1))
    for epsilon in (0.5, 1, 1.5, 2):
        one = GaussianThreshold(sigma=1, delta=0.2).noise.delta(epsilon)
        assert hockey_stick(p, q, epsilon) > max(one, mechanism.probability(1))
        assert worse(p, q, epsilon) <= mechanism.loss.delta(epsilon)


@pytest.mark.parametrize(
    ("mechanism", "law"),
    [
        (OptimalSelection(epsilon=1, delta=0.05), optimal_law),
        (OptimalSelection(epsilon=1, delta=0.05, groups=2), optimal_law),
        (LaplaceThreshold(epsilon=1, delta=0.05), laplace_law),
        (GaussianThreshold(sigma=1, delta=0.05), gaussian_law),
    ],
)
def test_a_group_of_two_covers_a_unit_that_moves(mechanism, law):
    """Leaving ``groups`` groups and entering others is a removal and an addition."""
    claim, law = mechanism.loss.group(2), law(mechanism)
    largest = 3 if mechanism.groups == 1 else 1
    pairs, t = list(neighbours(largest, mechanism.groups, "replace_one")), mechanism.threshold
    if mechanism.groups == 2:
        pairs += [((t, t, t - 1, t - 1), (t - 1, t - 1, t, t)), ((1, 1, 0, 0), (0, 0, 1, 1))]
    else:
        pairs += [((t, t), (t - 1, t + 1)), ((t + 1, 0), (t, 1)), ((1, t), (0, t + 1))]
    epsilons = [0, 0.5, 1, 1.5, 2, 3]
    assert all_kept(claim, law, pairs, epsilons)
    assert not all_kept(mechanism.loss, law, pairs, epsilons)


# --- what is drawn -------------------------------------------------------------------------------------------------


def off(hits, draws, chance):
    """Return the two-sided tail of a count of hits."""
    return float(stats.binomtest(hits, draws, min(max(chance, 0.0), 1.0)).pvalue)


@pytest.mark.parametrize(
    "mechanism",
    [
        OptimalSelection(epsilon=1, delta=0.01),
        OptimalSelection(epsilon=0.01, delta=1e-3, groups=2),
        LaplaceThreshold(epsilon=1, delta=0.01),
        GaussianThreshold(sigma=2, delta=0.01),
    ],
)
def test_counts_are_kept_as_often_as_is_said(mechanism, repeatable):
    for count in {1, 2, mechanism.threshold - 1, mechanism.threshold, mechanism.threshold + 1, 3 * mechanism.threshold}:
        hits = int(mechanism.keep(np.full(MANY, count)).sum())
        assert off(hits, MANY, mechanism.probability(count)) > ALARM


def test_the_check_of_draws_catches_a_hundredth(repeatable):
    right, wrong = OptimalSelection(epsilon=1, delta=0.01), OptimalSelection(epsilon=1.03, delta=0.01)
    hits = int(wrong.keep(np.full(MANY, right.threshold)).sum())
    assert off(hits, MANY, right.probability(right.threshold)) < ALARM


@pytest.mark.parametrize("name", [entry.name for entry in our_mechanisms() if hasattr(entry.release, "keep")])
def test_a_tenth_less_noise_is_refuted(name):
    """The same threshold with nine tenths of the noise, or an epsilon that is a tenth too large for its claim."""
    entry = next(entry for entry in our_mechanisms() if entry.name == name)
    mechanism = entry.release
    options = {"delta": mechanism.delta, "groups": mechanism.groups, "relation": mechanism.relation}
    if isinstance(mechanism, GaussianThreshold):
        weaker = GaussianThreshold(sigma=0.9 * mechanism.sigma, **options)
    else:
        weaker = type(mechanism)(epsilon=Fraction(mechanism.epsilon) / Fraction(9, 10), **options)

    def batch(counts, draws):
        if isinstance(mechanism, OptimalSelection):
            return weaker.keep(np.tile(counts, draws)).reshape(draws, -1)
        numbers = np.tile(counts, draws)
        noisy = numbers + weaker.draw(numbers.size)
        kept = (numbers > 0) & (noisy > mechanism.threshold)
        return np.where(kept, noisy, -1).reshape(draws, -1)

    near = mechanism.threshold + 4
    pairs = list(entry.neighbours)
    if not isinstance(mechanism, OptimalSelection):
        pairs = [([near] * mechanism.groups, [near - 1] * mechanism.groups)]
    found = audit(mechanism, claims=entry.claims, neighbours=pairs, batch=batch, draws=4_000_000)
    assert found.refuted, str(found)
