"""Compositions of few outcomes against the sum over all of them, in balls: Murtagh and Vadhan, TCC 2016."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx

from discreet.accounting import PrivacyLoss
from discreet.accounting.composition import compositions
from discreet.accounting.numerical.few import Outcomes
from discreet.accounting.numerical.pairs import Atoms, GaussianPair
from discreet.accounting.terms.finite_pair import _log_ratio
from discreet.accounting.terms.pure import response_pair

EIGHT = [Fraction(k, 10) for k in range(1, 9)]
SIXTEEN = [Fraction(1, k) for k in range(3, 11)] * 2


def response(epsilon, categories=2):
    """Rows of a probability under one data set and under its neighbour."""
    x = arb(epsilon.numerator) / epsilon.denominator
    whole = x.exp() + categories - 1
    return [(x.exp() / whole, 1 / whole), (1 / whole, x.exp() / whole), *[(1 / whole, 1 / whole)] * (categories - 2)]


def geometric(sensitivity, scale):
    """The noisy values from 0 to the sensitivity, with what lies beyond either end."""
    a = (arb(-1) / scale).exp()

    def law(centre):
        inner = [(1 - a) / (1 + a) * a ** abs(z - centre) for z in range(1, sensitivity)]
        return [a**centre / (1 + a), *inner, a ** (sensitivity - centre) / (1 + a)]

    return list(zip(law(0), law(sensitivity), strict=True))


def exact(parts, epsilon):
    """The larger of both directions."""
    x, found = arb(epsilon).exp(), []
    for first, second in ((0, 1), (1, 0)):
        total = arb(0)
        for rows in product(*parts):
            p, q = arb(1), arb(1)
            for row in rows:
                p, q = p * row[first], q * row[second]
            gain = p - x * q
            total += gain if gain > 0 else 0
        found.append(total)
    return max(found, key=lambda total: float(total.mid()))


@pytest.fixture(autouse=True)
def precise():
    before, ctx.prec = ctx.prec, 200
    yield
    ctx.prec = before


L = PrivacyLoss
LAW = ([Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)], [Fraction(3, 10), Fraction(2, 10), Fraction(5, 10)])
ROWS = [tuple(arb(x.numerator) / x.denominator for x in row) for row in zip(*LAW, strict=True)]
CASES = {
    "eight pure losses": (L.total(map(L.pure, EIGHT)), [response(e) for e in EIGHT]),
    "three equal ones and two others": (
        3 * L.pure(Fraction(1, 2)) + L.pure(Fraction(1, 3)) + L.pure(2),
        [response(e) for e in [Fraction(1, 2)] * 3 + [Fraction(1, 3), Fraction(2)]],
    ),
    "answers": (
        2 * L.randomized_response(1, 3) + L.randomized_response(2, 5),
        [response(Fraction(1), 3)] * 2 + [response(Fraction(2), 5)],
    ),
    "counts": (
        2 * L.discrete_laplace(sensitivity=2, scale=3) + L.discrete_laplace(sensitivity=1, scale=2) + L.pure(1),
        [geometric(2, 3)] * 2 + [geometric(1, 2), response(Fraction(1))],
    ),
    "laws that differ in both directions": (3 * L.from_pair(*LAW) + L.pure(1), [ROWS] * 3 + [response(Fraction(1))]),
}


@pytest.mark.parametrize("name", CASES)
def test_delta_is_exact(name):
    loss, parts = CASES[name]
    top = loss.epsilon()
    for share in (0, 0.01, 0.1, 0.22, 0.35, 0.5, 0.7, 0.83, 0.9, 0.97, 0.999):
        truth, claim = exact(parts, share * top), loss.delta(share * top)
        assert not claim < truth
        assert claim <= float(truth) * (1 + 1e-7) + 1e-300


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("delta", [1e-2, 1e-4, 1e-6])
def test_epsilon_is_exact(name, delta):
    loss, parts = CASES[name]
    low, high = loss.bounds(delta)
    assert not exact(parts, high) > delta
    assert not exact(parts, max(0.0, low - 1e-15)) < delta or low == 0
    assert high - low <= 1e-8 * high


def test_sixteen_pure_losses_are_a_sum_too():
    """Two of each of eight: 3^8 sums of losses, which are counted by hand here."""
    loss = L.total(map(L.pure, SIXTEEN))
    steps = {0: arb(1)}
    unit = math.lcm(*(e.denominator for e in SIXTEEN))
    for e in SIXTEEN:
        (p, _), (q, _) = response(e)
        found = {}
        for at, mass in steps.items():
            for sign, weight in ((1, p), (-1, q)):
                place = at + sign * int(e * unit)
                found[place] = found.get(place, arb(0)) + mass * weight
        steps = found
    for epsilon in (0, 0.25, 1, 2.5, 4):
        truth = sum((m * (1 - (epsilon - arb(s) / unit).exp()) for s, m in steps.items() if s > epsilon * unit), arb(0))
        assert not loss.delta(epsilon) < truth
        assert loss.delta(epsilon) == pytest.approx(float(truth), rel=1e-7)


def test_others_are_left_to_the_lattice():
    few = tuple((term.pair(), count) for term, count in CASES["answers"][0].terms)
    assert Outcomes.of(few) is not None
    assert Outcomes.of((*few, (GaussianPair(1.0), 1))) is None
    assert Outcomes.of(((few[0][0], 65),)) is None
    assert Outcomes.of(tuple((L.pure(k).terms[0][0].pair(), 1) for k in range(1, 16))) is None


def test_the_check_catches_an_outcome_that_is_left_out():
    loss, parts = CASES["eight pure losses"]
    (whole,) = compositions(loss.terms, lambda term: term.pair())
    outcomes = Outcomes.of(whole.pairs)
    kept = outcomes.losses < outcomes.losses.max()
    less = Outcomes(outcomes.losses[kept], outcomes.mass[kept], outcomes.moved, outcomes.relative)
    assert less.delta(0.8, "upper") < exact(parts, 0.8) < outcomes.delta(0.8, "upper")


def test_the_check_catches_masses_a_millionth_too_small():
    loss, parts = CASES["eight pure losses"]
    (whole,) = compositions(loss.terms, lambda term: term.pair())
    pairs = tuple((Atoms(pair.losses, pair.p * (1 - 1e-6), pair.q), count) for pair, count in whole.pairs)
    assert Outcomes.of(pairs).delta(0.8, "upper") < exact(parts, 0.8)


MANY = [10**6, 10**9, 2_121_967_218, 10**12]


def of_many(categories, copies, epsilon):
    """Delta of so many randomised responses with epsilon 1, by how often the truth and the other truth are told."""
    x, whole = arb(1).exp(), arb(1).exp() + categories - 1
    total = arb(0)
    for told in range(copies + 1):
        for other in range(min(told, copies + 1 - told)):
            rest = copies - told - other
            ways = math.factorial(copies) // (math.factorial(told) * math.factorial(other) * math.factorial(rest))
            gain = x**told * (1 - (arb(epsilon) - (told - other)).exp())
            total += ways * arb(categories - 2) ** rest * gain / whole**copies
    return total


@pytest.mark.parametrize("categories", MANY)
@pytest.mark.parametrize("copies", [2, 3, 70])
def test_of_many_categories_no_digit_cancels(categories, copies):
    loss, true = copies * L.randomized_response(1, categories), of_many(categories, copies, 0.5)
    found = loss.delta(0.5)
    assert true <= arb(found)
    assert found <= float(true.mid()) * (1 + 1e-6)
    low, high = loss.bounds(float(true.mid()))
    assert low <= 0.5 * (1 + 1e-9)
    assert high >= 0.5 * (1 - 1e-9)


@pytest.mark.parametrize("categories", MANY)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(1), Fraction(30), Fraction(690), Fraction(5000)])
def test_the_masses_of_a_response_are_right_to_the_last_digits(categories, epsilon):
    atoms = response_pair(epsilon, categories)
    x = (arb(-epsilon.numerator) / epsilon.denominator).exp()
    whole = 1 + (categories - 1) * x
    for mass, true in zip(atoms.p, (x / whole, (categories - 2) * x / whole, 1 / whole), strict=True):
        assert abs(arb(float(mass)) - true) <= 2.0**-50 * true + 1e-303


def test_the_check_catches_what_is_left_of_1():
    categories = 2_121_967_218
    small = 1 / (math.e + categories - 1)
    true = float((arb(1).exp() / (arb(1).exp() + categories - 1)).mid())
    assert abs((1 - (categories - 1) * small) / true - 1) > 1e-9


@pytest.mark.parametrize("delta", [1e-299, 1e-296, 1e-290, 1e-200])
def test_no_tail_that_counts_is_left_out(delta):
    """The sum over all values to 45 standard deviations, in balls."""
    noise, other = L.discrete_gaussian(squared_sensitivity=1, sigma_squared=100), Fraction(1, 1000)
    epsilon = (noise + L.pure(other)).epsilon(delta)
    weights = [(arb(-(s * s)) / 200).exp() for s in range(-450, 451)]
    whole = sum(weights, arb(0))
    law = [((arb(1) - 2 * s) / 200, weight / whole) for s, weight in zip(range(-450, 451), weights, strict=True)]
    total = arb(0)
    for loss, mass in law:
        for answer, chance in zip((1, -1), response(other)[0], strict=True):
            gain = 1 - (arb(epsilon) - loss - answer * arb(other.numerator) / other.denominator).exp()
            total += mass * chance * gain if gain > 0 else 0
    assert total <= delta
    assert (noise + L.pure(other)).delta(epsilon) <= delta


@pytest.mark.parametrize("delta", [1e-301, 9.9e-301])
def test_a_delta_below_all_that_is_told_has_no_epsilon_but_a_pure_one(delta):
    noise = L.discrete_gaussian(squared_sensitivity=1, sigma_squared=100)
    assert (2 * noise).epsilon(delta) > 5
    assert Outcomes.of(((noise.terms[0][0].pair(), 1),)).epsilon(delta, "upper") == math.inf
    assert (L.pure(1) + L.randomized_response(1, 3)).epsilon(delta) == pytest.approx(2)


def test_losses_of_very_long_rationals_keep_their_digits():
    generator, bits = np.random.default_rng(3), 200_000
    for _ in range(20):
        one, other = (int.from_bytes(generator.bytes(bits // 8), "big") | 1 for _ in range(2))
        a, b = Fraction(3 * one + 1, 8 * one + 5), Fraction(other, 10 * other + 3)
        true = (arb(a.numerator) / a.denominator / (arb(b.numerator) / b.denominator)).log()
        assert abs(arb(_log_ratio(a, b)) - true) <= 2.0**-50
