"""Histograms of known and of unknown bins, by enumeration of one, two and three bins and all small data sets."""

import math
from itertools import combinations, combinations_with_replacement
from itertools import product as every

import numpy as np
import pytest
from claims_reference import (
    DUST,
    SLACK,
    attained,
    discrete_gaussian,
    geometric,
    hockey_stick,
    kept,
    product,
    steps,
    worse,
)

from discreet.mechanisms.histogram import KnownBins
from discreet.mechanisms.stability_histogram import Bins, StabilityHistogram

RELATIONS = ["add_remove", "replace_one"]
REACH = 12
"""Noisy counts so far above a threshold are told as one, which is post-processing."""


# --- all neighbours ------------------------------------------------------------------------------------------------


def people(width, bins):
    """Return all that a person can be: the sets of at most so many bins."""
    return [chosen for size in range(bins + 1) for chosen in combinations(range(width), size)]


def tally(data, width):
    counts = [0] * width
    for person in data:
        for place in person:
            counts[place] += 1
    return tuple(counts)


def neighbours(width, bins, size, relation):
    """Return the counts of all data sets of up to so many people, each with those of all its neighbours."""
    kinds, pairs = people(width, bins), set()
    for n in range(size):
        for rest in combinations_with_replacement(kinds, n):
            for one in kinds:
                others = kinds if relation == "replace_one" else [()]
                pairs |= {(tally([*rest, one], width), tally([*rest, other], width)) for other in others}
    return sorted((a, b) for a, b in pairs if a != b)


def raised(pairs, by):
    """Return pairs with many more people in every bin that is not empty on both sides."""
    return [
        tuple(tuple(n + by if a[i] and b[i] else n for i, n in enumerate(side)) for side in (a, b)) for a, b in pairs
    ]


# --- the law from its definition -----------------------------------------------------------------------------------


def law_of(noise, threshold, told_apart=REACH, far=2000):
    """Return the law of a bin: hidden, or shown with a noisy count above the threshold."""
    known = {}

    def law(count):
        if count not in known:
            reach = threshold + far
            hidden, told = np.split(noise(count, reach), [reach + threshold + 1])
            told = np.append(told[: told_apart - 1], np.logaddexp.reduce(told[told_apart - 1 :]))
            some = np.append(np.logaddexp.reduce(hidden), told)
            known[count] = some if count else np.append(0.0, np.full(told_apart, -math.inf))
        return known[count]

    return lambda counts: product(*map(law, counts))


def noise_of(made):
    if made.noise == "geometric":
        return lambda shift, reach: geometric(float(made.unit.scale), shift, reach)
    return lambda shift, reach: discrete_gaussian(float(made.unit.sigma), shift, reach)


def worst(law, pairs, epsilon):
    tables = {counts: law(counts) for pair in pairs for counts in pair}
    return max(worse(tables[a], tables[b], epsilon) for a, b in pairs)


def pairs_of(made, width, size):
    pairs = neighbours(width, made.bins, size, made.relation)
    return sorted({pair for by in (0, made.threshold - 1, made.threshold + 1) for pair in raised(pairs, max(by, 0))})


# --- unknown bins --------------------------------------------------------------------------------------------------

PARAMETERS = [(1, 0.05), (3, 0.002), (0.1, 0.45), (0.3, 0.6)]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("noise", ["geometric", "gaussian"])
@pytest.mark.parametrize(("width", "bins", "size"), [(1, 1, 4), (2, 1, 4), (3, 1, 2), (2, 2, 3), (3, 2, 2)])
@pytest.mark.parametrize(("epsilon", "delta"), PARAMETERS)
def test_every_small_data_set_keeps_the_claim(epsilon, delta, width, bins, size, noise, relation):
    made = StabilityHistogram(epsilon=epsilon, delta=delta, relation=relation, bins=bins, noise=noise)
    law, claim, pairs = law_of(noise_of(made), made.threshold), made.loss, pairs_of(made, width, size)
    assert claim.delta(epsilon) <= delta
    for e in steps(epsilon) if width < 3 else [epsilon / 2, epsilon]:
        assert worst(law, pairs, e) <= claim.delta(e) * (1 + SLACK) + DUST


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("width", "bins", "size"), [(1, 1, 3), (2, 1, 4), (3, 1, 2), (2, 2, 3), (3, 2, 1)])
@pytest.mark.parametrize(("epsilon", "delta"), PARAMETERS)
def test_the_delta_is_attained_and_is_that_of_the_bins_of_one_person(epsilon, delta, width, bins, size, relation):
    """Under replace_one too: twice as many bins change, but none of those that appear adds to what vanishes."""
    made = StabilityHistogram(epsilon=epsilon, delta=delta, relation=relation, bins=bins)
    a = math.exp(-epsilon / made.touched)
    p = a**made.threshold / (1 + a) if made.threshold else 1 / (1 + a)
    exact = worst(law_of(noise_of(made), made.threshold), pairs_of(made, width, size), epsilon)
    assert math.isclose(exact, 1 - (1 - p) ** bins, rel_tol=1e-9)
    assert math.isclose(made.failure, exact, rel_tol=1e-9)
    assert math.isclose(made.loss.delta(epsilon), exact, rel_tol=1e-9)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("bins", [1, 2])
@pytest.mark.parametrize(("epsilon", "delta"), PARAMETERS[:2])
def test_one_less_is_too_little(epsilon, delta, bins, relation):
    """A threshold one lower, and noisy counts that equal the threshold shown as well, which is the same."""
    made = StabilityHistogram(epsilon=epsilon, delta=delta, relation=relation, bins=bins)
    pairs = pairs_of(made, 2, 2)
    lower = worst(law_of(noise_of(made), made.threshold - 1), pairs, epsilon)
    assert lower > delta >= worst(law_of(noise_of(made), made.threshold), pairs, epsilon)

    def at_least(counts):
        """Keep all noisy counts n >= T, by the law of integers and not by that of a threshold."""
        reach, laws = made.threshold + 400, []
        for count in counts:
            z = noise_of(made)(count, reach)
            y = np.arange(-reach, reach + 1)
            shown = z[y >= made.threshold] if count else np.full((y >= made.threshold).sum(), -math.inf)
            laws.append(np.append(np.logaddexp.reduce(z[y < made.threshold]) if count else 0.0, shown))
        return product(*laws)

    here = tuple([1] * bins)
    assert hockey_stick(at_least(here), at_least((0,) * bins), epsilon) > delta


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 0.05), (3, 0.002), (0.5, 1e-4)])
@pytest.mark.parametrize("noise", ["geometric", "gaussian"])
def test_noise_for_those_who_leave_is_too_little_for_those_who_move(epsilon, delta, noise):
    add, replace = (StabilityHistogram(epsilon=epsilon, delta=delta, relation=r, noise=noise) for r in RELATIONS)

    def of_moving(made):
        law, t = law_of(noise_of(made), made.threshold, told_apart=100), made.threshold + 50
        return worst(law, [((t, t), (t - 1, t + 1)), ((2, 1), (1, 2)), ((1, 0), (0, 1))], epsilon)

    assert of_moving(add) > delta >= of_moving(replace)


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_person_in_two_bins_needs_noise_for_two(relation):
    one = StabilityHistogram(epsilon=1, delta=0.01, relation=relation)
    alone = worst(law_of(noise_of(one), one.threshold), [((1, 1), (0, 0))], 1)
    assert math.isclose(alone, 1 - (1 - one.probability(1)) ** 2, rel_tol=1e-9)
    assert alone > 1.9 * one.failure
    t = one.threshold + 2
    moved = ((t, t, t, t), (t - 1, t - 1, t + 1, t + 1)) if relation == "replace_one" else ((t, t), (t - 1, t - 1))
    assert worst(law_of(noise_of(one), one.threshold), [moved], 1) > 0.01


@pytest.mark.parametrize("noise", ["geometric", "gaussian"])
def test_the_law_that_is_told_is_that_of_the_definition(noise):
    made = StabilityHistogram(epsilon=2, delta=0.05, relation="replace_one", noise=noise)
    t, reach = made.threshold, made.threshold + 60
    for a, b in [(1, 0), (1, 2), (t, t + 1), (3, t + 4)]:
        data = ["a"] * a + ["b"] * b
        laws = [noise_of(made)(n, reach) for n in (a, b)]
        for i, j in every((None, t + 1, t + 5), repeat=2):
            parts = [
                np.logaddexp.reduce(law[: reach + t + 1]) if shown is None else law[reach + shown]
                for law, shown in zip(laws, (i, j), strict=True)
            ]
            if b == 0:
                parts[1] = 0.0 if j is None else -math.inf
            told = [(key, shown) for key, shown in (("a", i), ("b", j)) if shown is not None]
            output = Bins(tuple(key for key, _ in told), tuple(n for _, n in told))
            assert made.log_probability(data, output) == pytest.approx(sum(parts), rel=1e-9, abs=1e-12)


# --- known bins ----------------------------------------------------------------------------------------------------


def whole_law(made, counts, reach=60):
    return product(*(noise_of(made)(count, reach) for count in counts))


KNOWN = [
    {"epsilon": 1},
    {"epsilon": 1, "bins": 2},
    {"epsilon": 2, "noise": "gaussian", "delta": 0.01},
    {"epsilon": 3, "noise": "gaussian", "delta": 0.01, "bins": 2},
]


@pytest.mark.parametrize("given", KNOWN)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("width", [1, 2])
def test_known_bins_keep_their_claim_and_attain_it(given, relation, width):
    made = KnownBins(labels=tuple(range(width)), relation=relation, **given)
    epsilon, claim = float(made.epsilon), made.loss
    pairs = neighbours(width, made.bins, 2, relation)
    assert all(kept(claim, whole_law(made, a), whole_law(made, b), steps(epsilon)) for a, b in pairs)
    here, there = (whole_law(made, made.counts(data)) for data in made.worst_case())
    assert attained(claim, here, there, [0.25 * epsilon, 0.5 * epsilon, 0.9 * epsilon])


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    "given",
    [
        {"epsilon": 2},
        {"epsilon": 4, "bins": 2},
        {"epsilon": 2, "noise": "gaussian", "delta": 0.01},
        {"epsilon": 3, "noise": "gaussian", "delta": 0.01, "bins": 2},
    ],
)
def test_three_known_bins(given, relation):
    made = KnownBins(labels=(0, 1, 2), relation=relation, **given)
    laws = {}
    for a, b in neighbours(3, made.bins, 2, relation):
        laws |= {counts: whole_law(made, counts, 18) for counts in (a, b) if counts not in laws}
        assert kept(made.loss, laws[a], laws[b], [float(made.epsilon) * share for share in (0.25, 0.5, 1)])


@pytest.mark.parametrize("given", KNOWN[::2])
def test_known_bins_with_the_noise_of_the_other_relation(given):
    add, replace = (KnownBins(labels=(0, 1), relation=r, **given) for r in RELATIONS)
    p, q = whole_law(add, (1, 0)), whole_law(add, (0, 1))
    assert not kept(replace.loss, p, q, [float(add.epsilon)])
    assert not kept(add.loss, p, q, [float(add.epsilon) / 2])
    assert worse(p, q, float(add.epsilon)) > float(add.delta or 0.1)
