"""Every kind of loss, by an example: written, read, shown, repeated, grouped, and refused where it is malformed."""

import json
import math
from fractions import Fraction

import pytest

from discreet.accounting import PrivacyLoss
from discreet.accounting.terms import KINDS, attained, witness
from discreet.errors import NoTheorem, UnknownKind

EXAMPLES = {
    "approximate": PrivacyLoss.approximate(0.5, 1e-9),
    "bounded_range": PrivacyLoss.bounded_range(Fraction(1, 3)),
    "discrete_gaussian": PrivacyLoss.discrete_gaussian(squared_sensitivity=4, sigma_squared=9, scalar=True),
    "discrete_laplace": PrivacyLoss.discrete_laplace(sensitivity=2, scale=3),
    "gaussian": PrivacyLoss.gaussian(0.3),
    "gaussian_mixture": PrivacyLoss.gaussian_mixture([0, 0.5], [0.75, 0.25], mu_squared=2),
    "laplace": PrivacyLoss.laplace(0.1),
    "one_of": PrivacyLoss.one_of([0.5, 0.5], [PrivacyLoss.laplace(0.1), PrivacyLoss.gaussian(1)]),
    "one_of_each": PrivacyLoss.one_of_each([0.5, 0.5], [PrivacyLoss.gaussian(0.1), PrivacyLoss.gaussian(1)]),
    "overflow": PrivacyLoss.overflow(1e-9),
    "pair": PrivacyLoss.from_pair([0.75, 0.25], [0.25, 0.75]),
    "pure": PrivacyLoss.pure(0.4),
    "randomized_response": PrivacyLoss.randomized_response(1, 3),
    "renyi_curve": PrivacyLoss.renyi_curve([(2, 0.1), (8, 0.5)]),
    "sampled": PrivacyLoss.gaussian(0.5).sampled(0.1),
    "sampled_symmetric": PrivacyLoss.gaussian(0.5).sampled(0.1, scheme="without_replacement"),
    "shuffled": PrivacyLoss.shuffled(1, 50),
    "zcdp": PrivacyLoss.zcdp(0.01),
}


def test_there_is_an_example_of_every_kind():
    assert set(EXAMPLES) == set(KINDS)
    assert all(loss.terms[0][0].kind == kind for kind, loss in EXAMPLES.items())


@pytest.mark.parametrize("kind", EXAMPLES)
def test_it_is_written_and_read(kind):
    loss = 3 * EXAMPLES[kind]
    assert PrivacyLoss.from_json(loss.to_json()) == loss
    assert PrivacyLoss.from_json(loss.to_json()).to_json() == loss.to_json()
    names = {"PrivacyLoss": PrivacyLoss, "Fraction": Fraction}
    assert eval(repr(loss), names) == loss
    assert hash(loss) == hash(PrivacyLoss.from_json(loss.to_json()))


@pytest.mark.parametrize("kind", EXAMPLES)
def test_more_of_it_costs_more(kind):
    loss = EXAMPLES[kind]
    assert loss.epsilon(1e-6) <= (2 * loss).epsilon(1e-6) <= (9 * loss).epsilon(1e-6)
    for epsilon in (0, 0.1, 1):
        assert 0 <= loss.delta(epsilon) <= (5 * loss).delta(epsilon) <= 1
    assert loss.delta(0.5) <= loss.delta(0.2) or kind == "overflow"
    assert loss.renyi(2) <= (3 * loss).renyi(2)
    assert loss.renyi(2) <= loss.renyi(4)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_bounds_are_in_order_and_groups_cost_more(kind):
    loss = EXAMPLES[kind]
    low, high = (4 * loss).bounds(1e-6)
    assert 0 <= low <= high
    assert loss.group(1) == loss
    try:
        grouped = loss.group(3)
    except NoTheorem:
        return
    assert grouped.epsilon(1e-6) >= loss.epsilon(1e-6)
    assert grouped.delta(0.1) >= loss.delta(0.1)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_pair_is_never_below_its_witness(kind):
    """The dominating pair, the closed form and the witness, at one release."""
    ((term, _),) = EXAMPLES[kind].terms
    seen = witness(term)
    assert (seen is not None) <= attained(term)
    for x in (0.05, 0.3):
        if term.pair() is not None and math.isfinite(term.pair().support[1]) and kind != "pair":
            import numpy as np

            with np.errstate(all="ignore"):
                low, high = x, term.pair().support[1] + 1
                p, q = term.pair().cells(np.array([low, high]))
            assert float(p[0] - math.exp(x) * q[0]) <= term.delta(Fraction(x)) * (1 + 1e-6) + 1e-15


@pytest.mark.parametrize("kind", EXAMPLES)
@pytest.mark.parametrize("count", [1, 2, 3, 10, 100])
def test_delta_confirms_epsilon(kind, count):
    """However small delta is, an epsilon that is proven for it has a delta that is no larger."""
    loss = count * EXAMPLES[kind]
    for delta in (1e-3, 1e-6, 1e-10, 1e-20, 1e-30):
        epsilon = loss.epsilon(delta)
        assert math.isinf(epsilon) or loss.delta(epsilon) <= delta


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-10, 1e-20, 1e-30])
def test_delta_confirms_epsilon_of_sums(delta):
    grained = PrivacyLoss.discrete_gaussian(squared_sensitivity=3, sigma_squared=9)
    for loss in (
        3 * PrivacyLoss.laplace(1) + PrivacyLoss.gaussian(0.5),
        3 * PrivacyLoss.laplace(1) + PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=4),
        10 * grained + PrivacyLoss.approximate(0.1, delta / 2),
        100 * PrivacyLoss.gaussian(1).sampled(0.01),
        PrivacyLoss.laplace(1) + PrivacyLoss.overflow(delta / 1000),
    ):
        assert loss.delta(loss.epsilon(delta)) <= delta


def test_a_tail_beyond_a_bounded_loss_in_the_other_direction_is_no_reason_to_give_up():
    """Without a record the loss of a hundred samples is at most 1.005; just below, the other direction decides."""
    loss = 100 * PrivacyLoss.gaussian(1).sampled(0.01)
    assert loss.delta(0.9542187) < 1.01e-6


def record(**term):
    return json.dumps({"record": "privacy-loss", "version": 1, "relation": None, "terms": [{"count": 1, **term}]})


PURE = {"kind": "pure", "epsilon": "1"}


def nested(depth):
    term = PURE
    for _ in range(depth):
        term = {"kind": "one_of", "weights": ["1"], "terms": [term]}
    return record(**term)


REFUSED = {
    "a range below 0": record(kind="bounded_range", epsilon="-1"),
    "a range in words": record(kind="bounded_range", epsilon="one"),
    "no points": record(kind="renyi_curve", points=[]),
    "points of one number": record(kind="renyi_curve", points=[["2"]]),
    "points of three numbers": record(kind="renyi_curve", points=[["2", "1", "1"]]),
    "points that are floats": record(kind="renyi_curve", points=[[2.0, 1.0]]),
    "orders that fall": record(kind="renyi_curve", points=[["4", "1"], ["2", "1"]]),
    "an order of 1": record(kind="renyi_curve", points=[["1", "1"]]),
    "weights that do not add up": record(
        kind="gaussian_mixture", mu_squared="1", shifts=["0", "1"], weights=["1", "1"]
    ),
    "fewer weights": record(kind="gaussian_mixture", mu_squared="1", shifts=["0", "1"], weights=["1"]),
    "a text of weights": record(kind="gaussian_mixture", mu_squared="1", shifts=["1"], weights="1"),
    "an overflow above 1": record(kind="overflow", probability="2"),
    "no users": record(kind="shuffled", epsilon="1", users=0),
    "half a user": record(kind="shuffled", epsilon="1", users=0.5),
    "a rate above 1": record(kind="sampled_symmetric", base=PURE, rate="2"),
    "a sample of a sample": record(
        kind="sampled_symmetric", base={"kind": "sampled", "base": PURE, "rate": "1/2"}, rate="1/2"
    ),
    "a sample of an overflow": record(
        kind="sampled_symmetric", base={"kind": "overflow", "probability": "1"}, rate="1/2"
    ),
    "a choice of nothing": record(kind="one_of", weights=[], terms=[]),
    "a choice of a choice": nested(2),
    "a deep nest of choices": nested(300),
    "terms that are none": record(kind="one_of", weights=["1"], terms=["pure"]),
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_malformed_records_are_refused(text):
    with pytest.raises(UnknownKind):
        PrivacyLoss.from_json(text)
    assert PrivacyLoss.from_json(nested(1)).terms


@pytest.mark.parametrize("size", [1e-9, 1e-3, 50, 900])
def test_extreme_sizes_do_not_break(size):
    for loss in (
        PrivacyLoss.bounded_range(size),
        PrivacyLoss.shuffled(size, 100),
        PrivacyLoss.gaussian_mixture([0, 1], [0.5, 0.5], mu_squared=size),
        PrivacyLoss.laplace(size).sampled(0.5, scheme="symmetric"),
        PrivacyLoss.bounded_range(size).sampled(0.5),
    ):
        for several in (loss, 3 * loss):
            low, high = several.bounds(1e-6)
            assert 0 <= low <= high
            assert 0 <= several.delta(0.1) <= 1
            assert several.renyi(2) >= 0
