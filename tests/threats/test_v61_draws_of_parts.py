"""A record that moves from one part of the data to another meets the random choices of both parts.

Parallel composition under replace_one was charged as a group of two within one part. For a mechanism that is chosen at
random by public odds this counts one draw where a move meets two: with odds of 9 to 1 between a pure loss of 1/10 and
one of 10, delta at epsilon 2 was claimed to be 0.1 and is 0.19. Groups spread over several parts, and groups of groups
in a Poisson sample, made the same mistake.

Defence: every kind of loss is compared with the exact joint law of two parts, for every change of one record under both
relations and for groups of two; a kind that is not listed as covered is refused.
Source: Found by using this library: a parallel composition of random choices claimed half of its delta; McSherry,
Privacy Integrated Queries, SIGMOD 2009; Zhu, Dong and Wang, Optimal Accounting of Differential Privacy via
Characteristic Function, AISTATS 2022.
"""

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from scipy.special import ndtr

from discreet.accounting import PrivacyLoss, parallel
from discreet.accounting.terms import KINDS, OneOf
from discreet.errors import NoTheorem, RelationMismatch

TENTH = Fraction(1, 10)
CHOICE = PrivacyLoss.one_of([1 - TENTH, TENTH], [PrivacyLoss.pure(TENTH), PrivacyLoss.pure(10)])
VALUES = (-1, 1)
EPSILONS = (0, 0.1, 0.3, 0.7, 1, 1.5, 2, 3, 5, 8, 11, 15)
EDGES = np.concatenate([[-np.inf], np.arange(-12, 12.01, 0.25), [np.inf]])


# The exact laws of one part, by the records in it: values -1 and 1, which change a sum by one. ----------------------


def gaussian(mu):
    return lambda records: np.diff(ndtr((EDGES - sum(records)) * mu))


def laplace(epsilon):
    def cumulative(x):
        return np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)

    return lambda records: np.diff(cumulative((EDGES - sum(records)) * epsilon))


def geometric(scale):
    def law(records):
        z = np.arange(-110, 111) - sum(records)
        return math.tanh(1 / (2 * scale)) * np.exp(-np.abs(z) / scale)

    return law


def discrete_gaussian(sigma):
    def law(records):
        weights = np.exp(-((np.arange(-60, 61) - sum(records)) ** 2) / (2 * sigma**2))
        return weights / weights.sum()

    return law


def response(epsilon, categories=2):
    """The truth is the sum modulo the number of answers; one record changes it."""
    rest = 1 / (math.exp(epsilon) + categories - 1)

    def law(records):
        found = np.full(categories, rest)
        found[sum(records) % categories] = 1 - (categories - 1) * rest
        return found

    return law


def failing(epsilon, delta):
    """Randomised response that gives everything away with probability delta."""

    def law(records):
        away = np.zeros(9)
        away[sum(records) + 4] = delta
        return np.concatenate([(1 - delta) * response(epsilon)(records), away])

    return law


def selecting(epsilon):
    """The exponential mechanism with two candidates whose scores differ by the sum."""
    return lambda records: np.array([1, math.exp(epsilon * sum(records))]) / (1 + math.exp(epsilon * sum(records)))


def two(p, q):
    return lambda records: np.array([p, q][sum(records) % 2])


def chosen(weights, laws):
    return lambda records: np.concatenate([w * law(records) for w, law in zip(weights, laws, strict=True)])


def sampled(law, rate):
    def on_sample(records):
        return sum(
            math.prod(rate if seen else 1 - rate for seen in coins)
            * law(tuple(r for r, seen in zip(records, coins, strict=True) if seen))
            for coins in product((0, 1), repeat=len(records))
        )

    return on_sample


def both(*laws):
    def law(records):
        found = np.ones(1)
        for each in laws:
            found = np.outer(found, each(records)).ravel()
        return found

    return law


L = PrivacyLoss
ODDS = [0.9, 0.1]
RARE = [Fraction(9, 10), TENTH]
CASES = {
    "pure": (L.pure(1), response(1)),
    "approximate": (L.approximate(1, 0.05), failing(1, 0.05)),
    "bounded_range": (L.bounded_range(1.5), selecting(1.5)),
    "discrete_gaussian": (L.discrete_gaussian(squared_sensitivity=1, sigma_squared=4), discrete_gaussian(2)),
    "discrete_laplace": (L.discrete_laplace(sensitivity=1, scale=2), geometric(2)),
    "gaussian": (L.gaussian(1), gaussian(1)),
    "laplace": (L.laplace(1), laplace(1)),
    "pair": (L.from_pair([0.7, 0.2, 0.1], [0.3, 0.2, 0.5]), two([0.7, 0.2, 0.1], [0.3, 0.2, 0.5])),
    "randomized_response": (L.randomized_response(2, 3), response(2, 3)),
    "zcdp": (L.zcdp(0.5), gaussian(1)),
    "sampled": (L.gaussian(2).sampled(0.3), sampled(gaussian(2), 0.3)),
    "sampled_symmetric": (L.laplace(3).sampled(0.3, scheme="symmetric"), sampled(laplace(3), 0.3)),
    "one_of": (CHOICE, chosen(ODDS, [response(0.1), response(10)])),
    "one_of_each": (parallel([CHOICE], relation="add_remove"), chosen(ODDS, [response(0.1), response(10)])),
    "one_of, laplace": (L.one_of(RARE, [L.laplace(TENTH), L.laplace(5)]), chosen(ODDS, [laplace(0.1), laplace(5)])),
    "one_of, gaussian": (
        L.one_of(RARE, [L.gaussian(TENTH), L.gaussian(4)]),
        chosen(ODDS, [gaussian(0.1), gaussian(4)]),
    ),
    "one_of, geometric": (
        L.one_of(
            [0.75, 0.25],
            [L.discrete_laplace(sensitivity=1, scale=5), L.discrete_laplace(sensitivity=3, scale=5)],
        ),
        chosen([0.75, 0.25], [geometric(5), lambda records: geometric(5)(tuple(3 * r for r in records))]),
    ),
    "one_of, two families": (L.one_of(RARE, [L.pure(TENTH), L.laplace(8)]), chosen(ODDS, [response(0.1), laplace(8)])),
    "one_of, no pure family": (
        L.one_of(RARE, [L.zcdp(Fraction(1, 200)), L.gaussian(4)]),
        chosen(ODDS, [gaussian(0.1), gaussian(4)]),
    ),
    "a choice on a sample": (CHOICE.sampled(0.5), sampled(chosen(ODDS, [response(0.1), response(10)]), 0.5)),
    "a sum": (L.pure(0.5) + CHOICE, both(response(0.5), chosen(ODDS, [response(0.1), response(10)]))),
}
REFUSED = {
    "gaussian_mixture": L.gaussian_mixture([0, 1], [0.5, 0.5]),
    "overflow": L.pure(1) + L.overflow(1e-6),
    "renyi_curve": L.renyi_curve([(2, 0.1), (8, 0.5)]),
    "shuffled": L.shuffled(1, 50),
}


def neighbours(relation, changes=1):
    """Yield pairs of data sets of two parts, with one more record beside those that change."""
    places = list(product((0, 1), VALUES))
    for rest in [(), *((place,) for place in places)]:
        for new in combinations_with_replacement(places, changes):
            if relation == "add_remove":
                yield rest, rest + new
            else:
                yield from ((rest + old, rest + new) for old in combinations_with_replacement(places, changes))


def worst(law, relation, changes=1):
    """Return the largest delta of all neighbours at each epsilon."""
    found, seen = np.zeros(len(EPSILONS)), {}

    def joint(data):
        parts = [tuple(sorted(value for place, value in data if place == part)) for part in (0, 1)]
        if (key := tuple(parts)) not in seen:
            seen[key] = np.outer(law(parts[0]), law(parts[1])).ravel()
        return seen[key]

    listed = {tuple(tuple(sorted(data)) for data in pair) for pair in neighbours(relation, changes)}
    for here, there in listed:
        p, q = joint(here), joint(there)
        for i, epsilon in enumerate(EPSILONS):
            found[i] = max(found[i], float(np.maximum(p - math.exp(epsilon) * q, 0).sum()))
    return found


def covers(loss, truth):
    return all(at <= loss.delta(epsilon) * (1 + 1e-9) + 1e-9 for epsilon, at in zip(EPSILONS, truth, strict=True))


def test_every_kind_of_loss_is_tried():
    assert {term.kind for loss, _ in CASES.values() for term, _ in loss.terms} | set(REFUSED) == set(KINDS)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_two_parts_keep_the_promise(name, relation):
    loss, law = CASES[name]
    if name == "pair" and relation == "add_remove":  # which way round it is in each part is not said
        with pytest.raises(NoTheorem):
            parallel([loss, loss], relation=relation)
        return
    assert covers(parallel([loss, loss], relation=relation), worst(law, relation))


@pytest.mark.parametrize("name", sorted(set(CASES) - {"a choice on a sample", "pair"}))
def test_groups_over_parts_keep_the_promise(name):
    loss, law = CASES[name]
    assert covers(parallel([loss, loss], relation="add_remove").group(2), worst(law, "add_remove", changes=2))


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_different_parts_keep_the_promise(relation):
    loss = parallel([CHOICE, L.pure(2)], relation=relation)
    assert covers(loss, worst(chosen(ODDS, [response(0.1), response(10)]), relation))


def test_the_charge_is_close_to_what_a_move_or_a_change_within_a_part_may_cost():
    """Above 10.1 a change within a part decides, below it a move does."""
    moved = parallel([CHOICE, CHOICE], relation="replace_one")
    assert 0.1899 < moved.delta(2) < 0.19 + 1e-12
    assert moved.delta(12) == CHOICE.group(2).delta(12)
    assert moved.epsilon() == 20


def test_a_charge_stays_valid_where_the_parts_are_chosen_by_earlier_answers():
    """Whoever has seen the first release decides whether the second one's record moves or changes within its part."""
    once = parallel([CHOICE, CHOICE], relation="replace_one")
    law = chosen(ODDS, [laplace(0.1), laplace(10)])
    empty, plus, minus = law(()), law((1,)), law((-1,))
    move = (np.outer(plus, empty).ravel(), np.outer(empty, plus).ravel())
    inside = (np.outer(plus, empty).ravel(), np.outer(minus, empty).ravel())
    p, q = chosen(ODDS, [response(0.1), response(10)])((1,)), chosen(ODDS, [response(0.1), response(10)])(())
    first = np.outer(p, q).ravel(), np.outer(q, p).ravel()
    for epsilon in (0, 1, 4, 10, 14, 20, 25):
        left = 0.0
        for a, b in zip(*first, strict=True):
            ratio = math.exp(epsilon) * b
            left += max(float(np.maximum(a * u - ratio * v, 0).sum()) for u, v in (move, inside))
        assert left <= (2 * once).delta(epsilon) * (1 + 1e-9) + 1e-9


def test_groups_of_groups_in_a_sample_count_every_member():
    """Four records, each seen with probability 0.9, of which three or four tell them apart almost surely."""
    seen = sum(math.comb(4, j) * 0.9**j * 0.1 ** (4 - j) for j in (3, 4))
    assert L.gaussian(10).sampled(0.9).group(2).group(2).delta(300) >= seen - 1e-12
    assert L.gaussian(10).sampled(0.9).group(4).delta(300) >= seen - 1e-6


@pytest.mark.parametrize("rate", [0.1, 0.4, 0.7, 0.95])
@pytest.mark.parametrize("mu", [0.5, 3])
def test_groups_of_groups_in_a_sample_cover_groups(rate, mu):
    step = L.gaussian(mu).sampled(rate)
    for epsilon in (0, 1, 4, 12, 30):
        assert step.group(2).group(2).delta(epsilon) >= step.group(4, one_way=True).delta(epsilon) * (1 - 1e-9)


@pytest.mark.parametrize("kind", REFUSED)
def test_what_has_no_group_bound_is_refused(kind):
    with pytest.raises((NoTheorem, RelationMismatch)):
        parallel([REFUSED[kind]] * 2, relation="replace_one")


def test_a_choice_that_was_stated_for_groups_is_refused():
    with pytest.raises(NoTheorem, match="group the whole"):
        parallel([CHOICE.group(2)] * 2, relation="add_remove")


def test_a_kind_that_is_not_listed_is_refused():
    class Other:
        kind, attained, pure, rho = "other", False, Fraction(1), Fraction(1)

        def group(self, size):
            return self

    loss = L(((Other(), 1),))
    for relation in ("add_remove", "replace_one"):
        with pytest.raises(NoTheorem, match="not proven"):
            parallel([loss, loss], relation=relation)


def test_the_check_catches_a_group_of_two_in_one_part():
    assert not covers(CHOICE.group(2), worst(CASES["one_of"][1], "replace_one"))


def test_the_check_catches_one_direction_taken_twice():
    """Two records that leave a Poisson sample of this law are not one that leaves and one that comes."""
    loss, law = L.gaussian(2).sampled(0.3), CASES["sampled"][1]
    assert covers(loss.group(2), worst(law, "replace_one"))
    assert not covers(loss, worst(law, "replace_one"))


@pytest.mark.parametrize("name", ["one_of", "one_of, laplace", "one_of, gaussian"])
def test_the_check_catches_one_draw_for_a_group_over_parts(name):
    loss, law = CASES[name]
    ((term, _),) = loss.terms
    assert isinstance(term, OneOf)
    assert not covers(L(((term.group(2), 1),)), worst(law, "add_remove", changes=2))
