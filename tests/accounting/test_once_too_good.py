"""Claims that were once too good, each held here against a law written out by hand."""

import json
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import PrivacyLoss, calibration
from discreet.accounting.parallel import parallel
from discreet.accounting.terms import FinitePair
from discreet.errors import InvalidParameter, NoTheorem, RelationMismatch, UnknownKind

F = Fraction
HALF = F(1, 2)
BIASED, FAIR = [F(1, 4), F(3, 4)], [HALF, HALF]


def divergence(p, q, epsilon):
    """The larger of both directions, of laws that are lists of floats."""
    x = math.exp(epsilon)
    return max(sum(max(a - x * b, 0) for a, b in zip(*way, strict=True)) for way in ((p, q), (q, p)))


def composed(*pairs):
    p, q = zip(*pairs, strict=True)
    return tuple([math.prod(map(float, each)) for each in product(*laws)] for laws in (p, q))


# Groups and samples ------------------------------------------------------------------------------------------------

GROUPED = {
    "one way": PrivacyLoss.gaussian(mu=10).sampled(HALF).group(2, one_way=True),
    "any way": PrivacyLoss.laplace(20).under("add_remove").group(2),
    "neutral": PrivacyLoss.laplace(20).group(2),
    "twice": PrivacyLoss.laplace(1).group(2).group(1),
    "times": PrivacyLoss.laplace(1).group(2) * 1,
    "sum": PrivacyLoss.laplace(1).group(2) + PrivacyLoss(),
    "total": PrivacyLoss.total([PrivacyLoss(), PrivacyLoss.laplace(1).group(2)]),
    "under": PrivacyLoss.laplace(1).group(2).under("add_remove"),
    "choice": PrivacyLoss.one_of([1], [PrivacyLoss.laplace(1).group(2)]),
    "parts": parallel([PrivacyLoss.laplace(1).group(2)], relation="add_remove"),
    "json": PrivacyLoss.from_json(PrivacyLoss.laplace(1).group(2).to_json()),
}


@pytest.mark.parametrize("loss", GROUPED.values(), ids=GROUPED)
@pytest.mark.parametrize(
    "how",
    [{}, {"relation": "replace_one"}, {"scheme": "symmetric"}, {"scheme": "without_replacement"}, {"most": 10}],
    ids=str,
)
def test_what_was_grouped_is_not_sampled(loss, how):
    with pytest.raises(NoTheorem, match="Sample first, then group"):
        loss.sampled(HALF, **how, **({"records": 10} if "most" in how else {}))


def test_a_sample_is_grouped_by_the_coins_of_its_members():
    """Either of two records is seen three times in four, and then it shows."""
    sampled = PrivacyLoss.laplace(20).under("add_remove").sampled(HALF).group(2)
    assert sampled.delta(0) >= 0.75 * (1 - 2 * math.exp(-10))
    mixture = PrivacyLoss.gaussian(mu=10).sampled(F(1, 4)).group(2, one_way=True)
    assert mixture.delta(0) >= 0.4375 * (1 - 1e-5)


def test_the_mark_of_a_group_is_no_part_of_what_it_costs():
    grouped, plain = PrivacyLoss.laplace(HALF).group(2), PrivacyLoss.laplace(1)
    assert grouped == plain
    assert hash(grouped) == hash(plain)
    assert "grouped" not in json.loads(plain.to_json())
    assert json.loads(grouped.to_json())["grouped"] is True
    assert not PrivacyLoss.laplace(1).group(1).grouped
    for wrong in (1, None, "yes"):
        with pytest.raises(UnknownKind):
            PrivacyLoss.from_json(json.dumps({**json.loads(grouped.to_json()), "grouped": wrong}))


# Strategies --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-301, 1e-170, 1.7e-161, 5e-160, 1.0, 1e160, 1e299])
def test_the_size_of_a_strategy_is_a_matter_of_units(size):
    assert PrivacyLoss.matrix([[size]], size).rho >= 0.5
    assert PrivacyLoss.matrix([[size]], size).rho == pytest.approx(0.5)
    apart = PrivacyLoss.matrix([[size, -size]], size, epoch=1)
    assert apart.rho >= 2
    assert apart.rho == pytest.approx(2)
    assert PrivacyLoss.matrix([[size, size * 1e-9], [0, 1e-9 * size]], size).rho == pytest.approx(0.5)


def test_strategies_beyond_all_units_are_refused():
    for size in (5e-324, 1e-308, 1e308):
        with pytest.raises(InvalidParameter):
            PrivacyLoss.matrix([[size]], 1)
    assert PrivacyLoss.matrix([[0.0]], 1) == PrivacyLoss()


def test_a_tree_that_is_filled_up_has_one_more_level():
    rows = [[int(start <= leaf < start + w) for leaf in range(5)] for w in (1, 2, 4, 8) for start in range(0, 5, w)]
    filled = PrivacyLoss.matrix(rows, 3)
    assert PrivacyLoss.tree(8, 3).rho == pytest.approx(filled.rho)
    assert PrivacyLoss.tree(5, 3).rho < filled.rho


# Pairs beside samples ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.9, 1.4])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_pair_does_not_say_who_has_the_record(epsilon, swapped):
    response = [1 / (1 + math.exp(-2)), 1 / (1 + math.exp(2))]
    without = response[::-1]
    seen = [0.9 * b + 0.1 * a for a, b in zip(response, without, strict=True)]
    sample, pair = (seen, without), (BIASED, FAIR)
    truth = max(divergence(*composed(*[sample] * 5, law), epsilon) for law in (pair, pair[::-1]))
    loss = PrivacyLoss.from_pair(*(pair[::-1] if swapped else pair)) + 5 * PrivacyLoss.pure(2).sampled(0.1)
    assert truth * (1 - 1e-9) <= loss.delta(epsilon) <= truth * (1 + 1e-3)
    low, high = loss.bounds(truth)
    assert low <= epsilon * (1 + 1e-9) + 1e-9
    assert high >= epsilon * (1 - 1e-9) - 1e-9


def test_a_pair_beside_a_mixture_and_the_tail_beside_a_sample():
    ways = [PrivacyLoss.from_pair(*laws) for laws in ((BIASED, FAIR), (FAIR, BIASED))]
    mixture = 3 * PrivacyLoss.gaussian_mixture([0, 2], [F(9, 10), F(1, 10)])
    assert len({(way + mixture).delta(1) for way in ways}) == 1
    sample = 3 * PrivacyLoss.laplace(1).sampled(0.1)
    assert len({(way + sample).tail(0.3) for way in ways}) == 1


# From below --------------------------------------------------------------------------------------------------------

CURVE = PrivacyLoss.renyi_curve([(2, 0.1), (8, 0.4), (32, 1.7)])


@pytest.mark.parametrize("inner", [PrivacyLoss.bounded_range(0.5), CURVE, PrivacyLoss.zcdp(0.1)])
@pytest.mark.parametrize("count", [1, 40])
def test_a_choice_of_one_is_that_one(inner, count):
    chosen, plain = count * PrivacyLoss.one_of([1], [inner]), count * inner
    low, high = chosen.bounds(1e-6)
    least, most = plain.bounds(1e-6)
    assert low <= most
    assert low == pytest.approx(least, rel=1e-3)
    assert high >= least


def test_a_sample_of_a_choice_is_a_sample_of_what_is_chosen():
    chosen = 40 * PrivacyLoss.one_of([1], [PrivacyLoss.bounded_range(0.5)]).sampled(0.1)
    assert chosen.bounds(1e-6)[0] <= (40 * PrivacyLoss.bounded_range(0.5).sampled(0.1)).bounds(1e-6)[1]
    curve = PrivacyLoss.one_of([HALF, HALF], [PrivacyLoss.laplace(1), CURVE])
    assert curve.sampled(0.1).bounds(1e-6)[0] == 0
    noise = PrivacyLoss.gaussian(mu_squared=F(1, 5)).sampled(0.1)
    assert PrivacyLoss.one_of([1], [PrivacyLoss.zcdp(F(1, 10))]).sampled(0.1).bounds(1e-6)[0] <= noise.epsilon(1e-6)
    clones = PrivacyLoss.one_of([1], [PrivacyLoss.shuffled(1, 1000)])
    assert clones.bounds(1e-6)[0] == 0


def test_opposite_directions_do_not_add_up():
    loss = PrivacyLoss.from_pair(FAIR, BIASED) + PrivacyLoss.from_pair(BIASED, FAIR)
    low, high = loss.bounds(0)
    assert low <= math.log(3) <= high
    assert high == loss.epsilon() == pytest.approx(math.log(3), rel=1e-14)
    assert low == pytest.approx(math.log(3), rel=1e-14)


weights = st.integers(0, 12)
laws = st.lists(st.tuples(weights, weights), min_size=2, max_size=5).filter(
    lambda rows: sum(a for a, _ in rows) and sum(b for _, b in rows)
)


def exact(rows):
    return tuple([F(w, sum(column)) for w in column] for column in zip(*rows, strict=True))


def true_epsilon(p, q, delta):
    """The least epsilon of two exact laws, in balls of 400 bits: the largest root of all the lines of the profile."""
    ratios = sorted({a / b for u, v in ((p, q), (q, p)) for a, b in zip(u, v, strict=True) if b} | {F(1)})
    worst = F(1)
    for u, v in ((p, q), (q, p)):
        for x in ratios:  # beyond each ratio, which outcomes count is fixed
            apart = [(a, b) for a, b in zip(u, v, strict=True) if a > x * b]
            rise, slope = sum((a for a, _ in apart), F(0)), sum((b for _, b in apart), F(0))
            if rise - x * slope > delta:
                if not slope:
                    return arb("inf")
                worst = max(worst, (rise - delta) / slope)
    before, ctx.prec = ctx.prec, 400
    try:
        return (arb(worst.numerator) / arb(worst.denominator)).log()
    finally:
        ctx.prec = before


@settings(max_examples=60, deadline=None)
@given(laws, st.fractions(0, F(9, 10), max_denominator=40))
def test_two_laws_have_the_epsilon_that_they_have(rows, delta):
    p, q = exact(rows)
    low, high = PrivacyLoss.from_pair(p, q).bounds(delta)
    truth = true_epsilon(p, q, delta)
    if not truth.is_finite():
        assert low == high == math.inf
    else:
        assert not arb(low) > truth
        assert not arb(high) < truth
        assert high - low <= 1e-13 * high


def test_flat_profiles_are_bounded_from_below():
    flat = PrivacyLoss.from_pair([F(1, 10), F(6, 10), F(3, 10)], [0, F(4, 10), F(6, 10)])
    low, high = flat.bounds(F(1, 10))
    assert low <= math.log(5 / 3) * (1 + 1e-15)
    assert high == pytest.approx(math.log(5 / 3), rel=1e-14)
    tiny = F(1, 10**40)
    steep = PrivacyLoss.from_pair([F(1, 10), F(6, 10), F(3, 10)], [tiny, F(4, 10) - tiny, F(6, 10)])
    low, high = steep.bounds(F(1, 10) * (1 - F(1, 10**20)))
    truth = math.log(10**40 * 10**-21)
    assert low <= truth * (1 + 1e-15)
    assert high == pytest.approx(truth)


@pytest.mark.parametrize("sigma_squared", [F(1, 3), F(4), F(90)])
@pytest.mark.parametrize("delta", [0.3, 1e-5, 1e-12])
def test_a_discrete_gaussian_is_bounded_from_below(sigma_squared, delta):
    loss = PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=sigma_squared)
    low, high = loss.bounds(delta)

    def law(epsilon):
        """Delta as a sum over the lattice, in balls of 300 bits."""
        s, x = arb(sigma_squared.numerator) / arb(sigma_squared.denominator), arb(epsilon).exp()
        reach = 40 * math.isqrt(math.ceil(sigma_squared)) + 40
        mass = {z: (-(arb(z) ** 2) / (2 * s)).exp() for z in range(-reach, reach + 1)}
        gains = (mass[z] - x * mass[z - 1] for z in range(1 - reach, reach + 1))
        return sum((gain for gain in gains if gain > 0), arb(0)) / sum(mass.values(), arb(0))

    before, ctx.prec = ctx.prec, 300
    try:
        assert low == 0 or law(low) >= arb(delta)
        assert law(high) <= arb(delta)
    finally:
        ctx.prec = before
    assert high - low <= 1e-9 * high


@pytest.mark.parametrize(
    "loss",
    [
        PrivacyLoss.laplace(2).sampled(1e-9),
        PrivacyLoss.gaussian(mu=1e-9).sampled(0.5),
        PrivacyLoss.gaussian(mu=1e-12).sampled(1e-3),
        PrivacyLoss.gaussian_mixture([0, 1], [0.5, 0.5], mu_squared=1e-20),
        PrivacyLoss.laplace(1).sampled(0.3, scheme="symmetric"),
        PrivacyLoss.one_of([HALF, HALF], [PrivacyLoss.pure(1), PrivacyLoss.laplace(2)]),
        5 * PrivacyLoss.pure(0.3),
    ],
    ids=repr,
)
def test_closed_forms_hold_from_both_sides(loss):
    for share in (0.9, 0.3, 1e-3, 1e-9):
        delta = F(loss.delta(0)) * F(share)
        low, high = loss.bounds(delta)
        assert 0 <= low <= high
        assert high - low <= 1e-9 * high
        assert loss.delta(low) >= delta


# Records and smaller things ----------------------------------------------------------------------------------------


def one_ratio(first, second):
    return PrivacyLoss.from_pair([first, 1 - first, 0], [0, 1 - second, second])


@pytest.mark.parametrize("count", [2, 7, 300])
@pytest.mark.parametrize(("first", "second"), [(F(1, 3), F(0)), (F(1, 100), F(1, 50)), (F(1, 10), F(1, 10))])
def test_pairs_with_one_ratio_compose(first, second, count):
    loss = count * one_ratio(first, second)
    c, d = (1 - first) ** count, (1 - second) ** count
    for epsilon in (0, 0.01, 1, 3):
        truth = divergence([float(1 - c), float(c), 0], [0, float(d), float(1 - d)], epsilon)
        assert loss.delta(epsilon) == pytest.approx(truth, rel=1e-12)
    most = max(1 - c, 1 - d)
    assert loss.epsilon(most) < math.inf
    assert loss.bounds(most * F(99, 100)) == (math.inf, math.inf)


def test_many_pairs_with_one_ratio_are_rounded_up():
    rare = 10**6 * one_ratio(F(1, 10**7), F(0))
    truth = -math.expm1(10**6 * math.log1p(-1e-7))
    assert truth * (1 - 1e-12) <= rare.delta(1) <= truth * (1 + 1e-12)
    both = (one_ratio(F(1, 3), F(0)) + 2 * one_ratio(F(0), F(1, 4))).delta(0)
    assert both == pytest.approx(divergence([1 / 3, 2 / 3, 0], [0, 9 / 16, 7 / 16], 0))
    beside = one_ratio(F(1, 3), F(0)) + PrivacyLoss.laplace(0.5)
    assert beside.delta(0.3) == pytest.approx(1 / 3, rel=1e-9)


LAPLACE = {"kind": "laplace", "epsilon": "1"}
REPORTS = {"kind": "shuffled", "epsilon": "1", "users": 100}


def sampled(base, kind="sampled"):
    return {"kind": kind, "base": base, "rate": "1/2"}


def read(term, relation):
    record = {"record": "privacy-loss", "version": 1, "relation": relation, "terms": [{**term, "count": 1}]}
    return PrivacyLoss.from_json(json.dumps(record))


@pytest.mark.parametrize(
    ("term", "relation"),
    [
        (sampled(LAPLACE), "replace_one"),
        (REPORTS, "add_remove"),
        ({"kind": "one_of", "weights": ["1"], "terms": [REPORTS]}, "add_remove"),
        (sampled(REPORTS), None),
        (sampled(REPORTS), "replace_one"),
        (sampled({"kind": "one_of", "weights": ["1"], "terms": [REPORTS]}), None),
        (sampled({"kind": "overflow", "probability": "1/9"}), "add_remove"),
        (sampled({"kind": "zcdp", "parameter": "1"}), "add_remove"),
        (sampled({"kind": "approximate", "epsilon": "1", "failure": "1/9"}), "add_remove"),
        (sampled({"kind": "gaussian_mixture", "mu_squared": "1", "shifts": ["1"], "weights": ["1"]}), "add_remove"),
        (sampled({"kind": "zcdp", "parameter": "1"}, "sampled_symmetric"), "replace_one"),
        (sampled(REPORTS, "sampled_symmetric"), "add_remove"),
    ],
)
def test_records_without_a_theorem_are_not_read(term, relation):
    with pytest.raises(UnknownKind):
        read(term, relation)


def test_the_relation_of_a_theorem_is_that_of_the_loss():
    assert read(sampled(LAPLACE), None).relation == read(sampled(LAPLACE), "add_remove").relation == "add_remove"
    assert read(REPORTS, None).relation == read(sampled(REPORTS, "sampled_symmetric"), None).relation == "replace_one"
    step = PrivacyLoss.laplace(1).sampled(HALF)
    with pytest.raises(RelationMismatch):
        PrivacyLoss(step.terms, "replace_one")
    assert parallel([step, step], relation="replace_one").relation == "replace_one"
    assert PrivacyLoss.approximate(1, 0).sampled(HALF).epsilon() == PrivacyLoss.pure(1).sampled(HALF).epsilon()


def test_the_noise_multiplier_is_inverted_exactly(monkeypatch):
    made = []

    def calibrate(make, epsilon, delta):
        made.append(make(3.0).terms[0][0].base.mu_squared)
        return 3.0

    monkeypatch.setattr(calibration, "calibrate", calibrate)
    calibration.noise_multiplier(rate=HALF, steps=10, epsilon=1, delta=1e-5)
    assert made == [F(1, 9)]


def test_the_exact_ratio_is_where_the_profile_meets_delta():
    generator = np.random.default_rng(5)
    for _ in range(50):
        p, q = exact([(int(a), int(b)) for a, b in generator.integers(1, 20, (4, 2))])
        pair, delta = FinitePair(tuple(p), tuple(q)), F(int(generator.integers(1, 40)), 100)
        ratio = pair.ratio(delta)
        here = max(sum(max(a - ratio * b, 0) for a, b in zip(*way, strict=True)) for way in ((p, q), (q, p)))
        assert here == delta or (ratio == 1 and here <= delta)
