import math

import numpy as np
import pytest

from discreet.errors import DiscreetError, InvalidParameter
from discreet.mechanisms.margin import Outcome
from discreet.mechanisms.stability import Mode, StableValue
from discreet.testing import check_mechanism

REFUSED = Outcome(None, False)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_the_mode_of_anything(relation):
    mode = Mode(epsilon=1, delta=1e-6, relation=relation)
    for value in ("flu", 7, 2.5, None, (1, "a"), True, frozenset({1})):
        assert mode.release([value] * 200 + ["other"] * 3) == Outcome(value, True)
    assert mode.release(np.array([3] * 200 + [4] * 9)) == Outcome(3, True)
    assert mode.release(np.array(["x"] * 200 + ["y"] * 9)) == Outcome("x", True)
    assert mode.release([[1, 2]] * 200) == Outcome((1, 2), True)


@pytest.mark.parametrize("data", [[], ["a"], ["a", "b"] * 500, ["a"] * 51 + ["b"] * 50])
def test_ties_and_small_leads_are_refused(data):
    mode = Mode(epsilon=1, delta=1e-9, relation="replace_one")
    assert all(mode.release(data) == REFUSED for _ in range(100))


def test_margins():
    add, replace = (Mode(epsilon=1, delta=1e-6, relation=r) for r in ("add_remove", "replace_one"))
    data = ["a"] * 10 + ["b"] * 3
    assert add.look(data) == (6, "a")
    assert replace.look(data) == (3, "a")
    assert add.look([]) == (0, None)
    assert replace.look(np.array([1, 1, 2])) == (0, 1)


def test_what_looks_alike_is_told_apart():
    """Else one record in front could change how the released value looks."""
    mode = Mode(epsilon=1, delta=1e-6, relation="add_remove")
    for first, many in ((True, 1), (1.0, 1), (-0.0, 0.0), ((True,), (1,))):
        found = mode.release([first] + [many] * 200)
        assert repr(found.value) == repr(many)
    assert math.isnan(mode.release([math.nan] * 100 + [np.nan] * 100).value)


def test_records_that_nothing_can_be_made_of_do_not_raise():
    class Odd:
        __hash__ = None

    mode = Mode(epsilon=1, delta=1e-6, relation="add_remove")
    assert mode.release([Odd() for _ in range(5)] + ["a"] * 100) == Outcome("a", True)
    with pytest.raises(DiscreetError):
        mode.release({"a": 1})


def test_the_lead_that_is_needed():
    for relation in ("add_remove", "replace_one"):
        mode = Mode(epsilon=0.5, delta=1e-6, relation=relation)
        lead = mode.lead(0.1)

        def chance(g, mode=mode):
            return math.exp(mode.log_probability(["a"] * g, Outcome("a", True)))

        assert chance(lead) >= 0.9
        assert chance(lead - 2) < 0.9
    with pytest.raises(InvalidParameter, match="beta"):
        mode.lead(0.7)


@pytest.mark.parametrize(
    ("mode", "pair"),
    [
        (Mode(epsilon=1, delta=0.05, relation="replace_one"), None),
        (Mode(epsilon=1, delta=0.05, relation="add_remove"), None),
        (Mode(epsilon=1, delta=0.2, relation="add_remove"), ([0] * 4, [0] * 3)),
        (Mode(epsilon=2, delta=0.2, relation="replace_one"), ([0] * 5, [0] * 4 + [1])),
    ],
)
def test_keeps_the_contract(mode, pair):
    outputs = [REFUSED, *(Outcome(value, True) for value in (0, 1, None))]
    done = check_mechanism(mode, outputs=outputs, neighbours=pair)
    assert not done.skipped or {name for name, _ in done.skipped} <= {"shape", "error"}


def test_a_stable_value_of_ones_own():
    made = StableValue(
        value=lambda rows: max(rows) > 10,
        distance=lambda rows: sum(x > 10 for x in rows) if max(rows) > 10 else 1,
        epsilon=1,
        delta=1e-6,
        relation="replace_one",
    )
    assert made.release([20] * 50) == Outcome(True, True)
    done = check_mechanism(
        made, neighbours=([20] * 9, [20] * 8 + [1]), outputs=[REFUSED, Outcome(True, True), Outcome(False, True)]
    )
    assert {"interface", "frozen", "keyword-only", "loss", "claim", "law"} <= set(done.passed)
    assert made.release([20] + [1] * 50) == REFUSED
    assert "StableValue(value=" in repr(made)


@pytest.mark.parametrize("distance", [lambda _: 1 / 0, lambda _: "far", lambda _: -5, lambda _: math.nan])
def test_a_distance_that_fails_is_no_distance(distance):
    made = StableValue(value=len, distance=distance, epsilon=1, delta=1e-9, relation="replace_one")
    assert made.look([1, 2]) == (0, 2)


def test_a_value_that_fails_has_no_margin():
    for distance in (lambda _: 100, lambda _: None):
        made = StableValue(value=lambda _: 1 / 0, distance=distance, epsilon=1, delta=1e-9, relation="replace_one")
        assert made.look([1, 2]) == (0, None)
    always = StableValue(value=lambda _: 3, distance=lambda _: None, epsilon=1, delta=1e-9, relation="replace_one")
    assert all(always.release([]) == Outcome(3, True) for _ in range(50))


@pytest.mark.parametrize("given", [{"epsilon": 0}, {"delta": 0.5}, {"delta": 0}, {"epsilon": 1e-40}])
def test_what_cannot_be(given):
    with pytest.raises(InvalidParameter):
        Mode(**({"epsilon": 1, "delta": 1e-6, "relation": "add_remove"} | given))


def test_the_relation_must_be_said():
    with pytest.raises(TypeError):
        Mode(epsilon=1, delta=1e-6)
    with pytest.raises(DiscreetError):
        Mode(epsilon=1, delta=1e-6, relation="edge")
