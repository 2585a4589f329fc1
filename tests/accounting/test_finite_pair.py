"""Any two finite laws as a loss: exact, both ways, alone and composed."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from accounting_reference import divergence
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, NoTheorem, UnknownKind

few = settings(max_examples=40, deadline=None)
weights = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=2, max_size=6)


def laws(counts):
    totals = [sum(both[i] for both in counts) for i in (0, 1)]
    assume(all(totals))
    return [[Fraction(both[i], totals[i]) for both in counts] for i in (0, 1)]


def floats(law):
    return np.array([float(w) for w in law])


@few
@given(weights, st.just(0.0) | st.floats(1e-9, 5))
def test_delta_is_the_divergence_both_ways(counts, epsilon):
    p, q = laws(counts)
    loss = PrivacyLoss.from_pair(p, q)
    assert loss.delta(epsilon) == pytest.approx(divergence(floats(p), floats(q), epsilon), abs=1e-14)
    assert loss.delta(epsilon) == PrivacyLoss.from_pair(q, p).delta(epsilon)


@few
@given(weights, st.fractions(Fraction(11, 10), 20))
def test_epsilon_rho_and_renyi(counts, alpha):
    p, q = laws(counts)
    loss = PrivacyLoss.from_pair(p, q)
    if any((a == 0) != (b == 0) for a, b in zip(p, q, strict=True)):
        assert (loss.epsilon(), loss.rho, loss.renyi(alpha), loss.is_pure) == (math.inf, math.inf, math.inf, False)
        return
    ratios = [a / b for a, b in zip(p, q, strict=True) if b]
    assert loss.epsilon() == pytest.approx(max(abs(math.log(ratio)) for ratio in ratios), rel=1e-12)
    a = float(alpha)
    moments = [
        sum(float(u) ** a * float(v) ** (1 - a) for u, v in zip(x, y, strict=True) if v) for x, y in ((p, q), (q, p))
    ]
    assert loss.renyi(alpha) == pytest.approx(math.log(max(moments)) / (a - 1), rel=1e-6, abs=1e-12)
    assert loss.renyi(alpha) <= a * loss.rho * (1 + 1e-9)


def test_it_agrees_with_randomised_response():
    pair, response = PrivacyLoss.from_pair([0.75, 0.25], [0.25, 0.75]), PrivacyLoss.randomized_response(math.log(3))
    for epsilon in (0, 0.5, 1):
        assert pair.delta(epsilon) == pytest.approx(response.delta(epsilon), rel=1e-12)
        assert (10 * pair).delta(epsilon) == pytest.approx((10 * response).delta(epsilon), rel=1e-4)
    assert (10 * pair + PrivacyLoss.gaussian(mu=1)).epsilon(1e-5) == pytest.approx(
        (10 * response + PrivacyLoss.gaussian(mu=1)).epsilon(1e-5), rel=1e-6
    )


def composed(p, q, count):
    return [np.array([math.prod(part) for part in itertools.product(floats(law), repeat=count)]) for law in (p, q)]


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ([0.5, 0.3, 0.2], [0.2, 0.2, 0.6]),
        ([0.499, 0.499, 0.002], [0.75, 0.249, 0.001]),
        ([0.5, 0.499, 0.001, 0], [0.3, 0.699, 0, 0.001]),  # both may be revealed
        ([0.5, 0.5, 0], [0.3, 0.699, 0.001]),  # one of them
    ],
)
@pytest.mark.parametrize("count", [2, 5])
def test_compositions_by_enumeration(p, q, count):
    loss = count * PrivacyLoss.from_pair(p, q)
    both = composed(p, q, count)
    for epsilon in (0, 0.3, 1, 2):
        true = divergence(*both, epsilon)
        assert true - 1e-12 <= loss.delta(epsilon) <= true * 1.01 + 1e-5
    with_record, without = composed([0.3 * a + 0.7 * b for a, b in zip(p, q, strict=True)], q, count)
    sampled = count * PrivacyLoss.from_pair(p, q).sampled(0.3)
    for epsilon in (0, 0.3, 1):
        true = divergence(with_record, without, epsilon)
        assert true - 1e-12 <= sampled.delta(epsilon) <= (1 if 0 in p else loss.delta(epsilon) * (1 + 1e-6))


def test_lower_bounds_of_a_sampled_pair_hold_though_its_formula_takes_the_worse_way_twice():
    p, q = [0.99, 0.01], [0.9, 0.1]
    sampled = PrivacyLoss.from_pair(p, q).sampled(0.3)
    true = divergence(np.array([0.3 * a + 0.7 * b for a, b in zip(p, q, strict=True)]), np.array(q), 0.05)
    assert sampled.delta(0.05) > 1.001 * true
    low, high = sampled.bounds(true)
    assert low <= 0.05 * (1 + 1e-9)
    assert high >= 0.05


def test_equal_laws_cost_nothing_and_disjoint_ones_everything():
    assert PrivacyLoss.from_pair([0.5, 0.5], [0.5, 0.5]) == PrivacyLoss()
    apart = PrivacyLoss.from_pair({"a": 1}, {"b": 1})
    assert (apart.delta(100), (3 * apart).delta(5), apart.epsilon(0.5)) == (1, 1, math.inf)


def test_outcomes_of_equal_ratio_are_one_and_order_does_not_matter():
    third = Fraction(1, 3)
    loss = PrivacyLoss.from_pair({"x": third, "y": third, "z": third}, {"z": third, "x": Fraction(2, 3)})
    assert loss == PrivacyLoss.from_pair([third, third, third, 0], [Fraction(2, 3), 0, third, 0])
    assert PrivacyLoss.from_pair([0.25, 0.25, 0.5], [0.375, 0.375, 0.25]) == PrivacyLoss.from_pair(
        [0.5, 0.5], [0.75, 0.25]
    )


@few
@given(weights)
def test_it_is_written_and_read(counts):
    loss = PrivacyLoss.from_pair(*laws(counts))
    assert PrivacyLoss.from_json(loss.to_json()) == loss
    assert eval(repr(loss), {"PrivacyLoss": PrivacyLoss, "Fraction": Fraction}) == loss


@pytest.mark.parametrize(
    "change",
    [
        {"p": ["1/2", "1/4"]},
        {"p": ["1/2"]},
        {"p": ["3/2", "-1/2"]},
        {"p": [0.5, 0.5]},
        {"p": "1/2"},
        {"p": ["1e3", "0"]},
    ],
)
def test_records_that_are_no_laws_are_refused(change):
    record = json.loads(PrivacyLoss.from_pair([0.25, 0.75], [0.75, 0.25]).to_json())
    assert PrivacyLoss.from_json(json.dumps(record)).is_pure
    record["terms"][0] |= change
    with pytest.raises(UnknownKind):
        PrivacyLoss.from_json(json.dumps(record))


def test_floats_are_normalised_and_exact_numbers_are_held_to_their_word():
    assert PrivacyLoss.from_pair([0.1] * 10, [Fraction(1, 10)] * 10) == PrivacyLoss()
    for p in ([0.5, 0.4], [Fraction(1, 2), Fraction(49, 100)], [0.5, 0.5 + 1e-8]):
        with pytest.raises(InvalidParameter, match="add up to 1"):
            PrivacyLoss.from_pair(p, [0.5, 0.5])
    for p, q in (
        ([0.5, 0.5], [1]),
        ([1.5, -0.5], [0.5, 0.5]),
        ([0.5, 0.5], {"a": 1}),
        ("ab", [0.5, 0.5]),
        (3, [1]),
        ([math.nan, 1], [0.5, 0.5]),
    ):
        with pytest.raises(InvalidParameter):
            PrivacyLoss.from_pair(p, q)


def test_groups():
    loss = PrivacyLoss.from_pair([0.75, 0.25], [0.25, 0.75])
    assert loss.group(1) == loss
    assert loss.group(2).epsilon() == pytest.approx(2 * math.log(3))
    with pytest.raises(NoTheorem, match="group"):
        PrivacyLoss.from_pair([1, 0], [0.5, 0.5]).group(2)
