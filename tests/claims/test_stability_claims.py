"""The mode, released as it is: all small data sets, margins by brute force, both relations."""

import math
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from claims_reference import attained, kept

from discreet.accounting import PrivacyLoss
from discreet.mechanisms.margin import Outcome
from discreet.mechanisms.stability import Mode, StableValue

LETTERS = "abc"
MOST = 5
ADD = [data for n in range(MOST + 1) for data in product(LETTERS, repeat=n) if list(data) == sorted(data)]
REPLACE = [data for data in ADD if len(data) == MOST]
DOMAINS = {"add_remove": ADD, "replace_one": REPLACE}


def distance(one, other, relation):
    more, less = Counter(one) - Counter(other), Counter(other) - Counter(one)
    a, b = more.total(), less.total()
    return a + b if relation == "add_remove" else max(a, b)


def strict(data, value):
    """Whether a value occurs more often than every other."""
    counts = Counter(data)
    return all(counts[value] > counts[other] for other in LETTERS if other != value) if value else False


def neighbours(relation):
    data = DOMAINS[relation]
    return [(x, y) for x in data for y in data if distance(x, y, relation) == 1]


OUTPUTS = [Outcome(None, False), *(Outcome(value, True) for value in (*LETTERS, None))]


def law(made, data, margin=None):
    """Refuse, or say a letter, or that there is none, from the definition of the test."""
    found, value = made.look(data)
    found = found if margin is None else margin(data)
    a, t = math.exp(-float(made.epsilon)), made.test.threshold - found + 1
    passing = a**t / (1 + a) if t >= 1 else 1 - a ** (1 - t) / (1 + a)
    with np.errstate(divide="ignore"):
        return np.log([1 - passing, *(passing * (value == said) for said in (*LETTERS, None))])


def all_kept(made, loss, margin=None):
    epsilons = (0, float(made.epsilon) / 2, float(made.epsilon))
    laws = {data: law(made, data, margin) for data in DOMAINS[made.relation]}
    return all(kept(loss, laws[x], laws[y], epsilons) for x, y in neighbours(made.relation))


CASES = [
    Mode(epsilon=epsilon, delta=delta, relation=relation)
    for relation in DOMAINS
    for epsilon, delta in ((1, 0.05), (0.3, 0.3), (3, 1e-5))
]


@pytest.mark.parametrize("made", CASES)
def test_every_small_neighbour_keeps_the_claim(made):
    assert all_kept(made, made.loss)
    assert made.loss.delta(made.epsilon) <= made.delta


@pytest.mark.parametrize("relation", DOMAINS)
def test_the_margin_is_the_distance_to_a_tie_less_one(relation):
    made = Mode(epsilon=1, delta=0.01, relation=relation)
    reachable = [d for d in ADD if relation == "add_remove" or len(d) == MOST]
    for data in DOMAINS[relation]:
        margin, value = made.look(data)
        if strict(data, value):
            least = min(distance(data, other, relation) for other in reachable if not strict(other, value))
            assert margin == least - 1
        else:
            assert margin == 0


@pytest.mark.parametrize("relation", DOMAINS)
def test_margins_are_what_the_proof_needs(relation):
    made = Mode(epsilon=1, delta=0.01, relation=relation)
    for x, y in neighbours(relation):
        (one, value), (other, second) = made.look(x), made.look(y)
        assert abs(one - other) <= 1
        assert value == second or one == other == 0


@pytest.mark.parametrize("made", CASES)
def test_delta_is_attained(made):
    x, y = made.worst_case()
    one, other = ([["a", "b"][k] for k in data] for data in (x, y))
    assert attained(PrivacyLoss.approximate(0, made.test.failure), law(made, one), law(made, other), (10,))


@pytest.mark.parametrize("made", CASES)
def test_it_tells_its_own_law(made):
    for data in DOMAINS[made.relation]:
        told = [made.log_probability(data, output) for output in OUTPUTS]
        assert np.allclose(np.exp(told), np.exp(law(made, data)), rtol=1e-9, atol=1e-15)


def lead(data):
    counts = [n for _, n in Counter(data).most_common(2)] + [0, 0]
    return counts[0] - counts[1]


def test_the_check_catches_a_lead_counted_in_full_where_records_are_replaced():
    made = Mode(epsilon=1, delta=0.05, relation="replace_one")
    assert not all_kept(made, made.loss, margin=lambda data: max(lead(data) - 1, 0))


@pytest.mark.parametrize("relation", DOMAINS)
def test_the_check_catches_a_margin_that_is_one_too_large(relation):
    made = Mode(epsilon=1, delta=0.05, relation=relation)
    assert not all_kept(made, made.loss, margin=lambda data: made.look(data)[0] + 1)


def majority(bits):
    return sum(bits) > len(bits) / 2


def test_a_stable_value_with_its_distance_by_brute_force():
    domain = [(1,) * k + (0,) * (7 - k) for k in range(8)]

    def nearest(bits):
        return min(abs(sum(bits) - sum(other)) for other in domain if majority(other) != majority(bits))

    made = StableValue(value=majority, distance=nearest, epsilon=1, delta=0.05, relation="replace_one")
    outputs = [Outcome(None, False), Outcome(True, True), Outcome(False, True)]
    laws = [[made.log_probability(data, output) for output in outputs] for data in domain]
    assert all(np.exp(one).sum() == pytest.approx(1) for one in laws)
    assert all(kept(made.loss, one, other, (0, 0.5, 1)) for one, other in pairwise(laws))
