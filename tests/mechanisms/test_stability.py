import asyncio
import doctest
import math
import threading
import warnings
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from itertools import product

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


def test_equal_numbers_have_one_look():
    """Else one record in front, or one that turns all numbers into floats, could change how the value looks."""
    mode = Mode(epsilon=1, delta=1e-6, relation="add_remove")
    for first, many in ((True, 1), (1.0, 1), (-0.0, 0), ((True,), (1,))):
        for data in ([first] + [many] * 200, [many] + [first] * 200):
            assert repr(mode.release(data).value) == repr(many)
    whole, floats = np.array([7] * 200 + [8]), np.array([7] * 200 + [np.nan])
    assert repr(mode.release(whole)) == repr(mode.release(floats)) == "Outcome(value=7, passed=True)"
    assert math.isnan(mode.release([math.nan] * 100 + [np.nan] * 100).value)


LOOKS = [
    (Decimal("1.50"), Decimal("1.5")),
    (Decimal("-0"), Decimal("0")),
    (datetime(2020, 1, 1, 13, tzinfo=timezone(timedelta(hours=1))), datetime(2020, 1, 1, 12, tzinfo=UTC)),
    (datetime(2020, 1, 1, fold=1), datetime(2020, 1, 1)),  # noqa: DTZ001
    (complex(0.0, -0.0), complex(0.0, 0.0)),
    (np.longdouble("-0.0"), np.longdouble(0)),
    (range(0), range(5, 5)),
    ((Decimal("1.50"),), (Decimal("1.5"),)),
    ({"a": Decimal("1.50")}, {"a": Decimal("1.5")}),
    ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
    ({8, 0}, {0, 8}),
    (frozenset([8, 0, 16]), frozenset([16, 8, 0])),
    ([1], (1,)),
]


@pytest.mark.parametrize(("first", "many"), LOOKS)
def test_one_record_in_front_does_not_change_how_the_mode_looks(first, many):
    mode = Mode(epsilon=1, delta=1e-6, relation="replace_one")
    one, other = mode.release([first] + [many] * 200), mode.release([many] * 201)
    assert one.passed
    assert repr(one) == repr(other)
    assert mode.log_probability([many] * 200, one) > -1e-9


def test_masked_records_are_missing():
    mode = Mode(epsilon=1, delta=1e-6, relation="replace_one")
    for masked in (0, 1, 40, 59, 60, 100):
        data = np.ma.masked_array([1] * 60 + [2] * 40, mask=[1] * masked + [0] * (100 - masked))
        assert mode.look(data) == mode.look(data.tolist())
    strict = np.ma.masked_array([1] * 90 + [2] * 10, mask=[1] * 90 + [0] * 10)
    assert mode.look(strict) == (39, None)


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


def shown_in_the_docstring():
    names = {"StableValue": StableValue}
    for example in doctest.DocTestParser().get_examples(StableValue.__doc__):
        exec(example.source, names)
    return names["older"]


def test_the_example_keeps_its_own_condition_with_odd_records_too():
    older = shown_in_the_docstring()
    records = (60, 40, None, "old", math.nan, 10**400, [60])
    for n in range(5):
        looked = {at: older.look([records[i] for i in at]) for at in product(range(len(records)), repeat=n)}
        for at, (margin, value) in looked.items():
            assert value is not None
            for i, new in product(range(n), range(len(records))):
                other, second = looked[(*at[:i], new, *at[i + 1 :])]
                assert abs(margin - other) <= 1
                assert value == second or margin == other == 0


@pytest.mark.parametrize("kind", [RuntimeError, SystemExit, GeneratorExit, asyncio.CancelledError, BaseException])
def test_nothing_that_is_raised_escapes(kind):
    def raises(_):
        raise kind("a value")

    settings = {"epsilon": 1, "delta": 1e-9, "relation": "replace_one"}
    for distance in (lambda _: 50, lambda _: None, raises):
        assert StableValue(value=raises, distance=distance, **settings).look([]) == (0, None)
    assert StableValue(value=len, distance=raises, **settings).look([]) == (0, 0)


def test_a_person_may_stop_a_function():
    def stopped(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        StableValue(value=stopped, distance=len, epsilon=1, delta=0.1, relation="replace_one").release([])


def test_no_warning_is_heard():
    def warns(_):
        warnings.warn("a value", stacklevel=1)
        return float(np.float64(1) / 0)

    made = StableValue(value=warns, distance=warns, epsilon=1, delta=1e-6, relation="add_remove")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made.look([]) == (0, math.inf)
        assert warnings.filters[0][0] == "error"


def test_no_warning_is_heard_while_another_thread_is_done():
    first_runs, second_runs, first_done = threading.Event(), threading.Event(), threading.Event()

    def first(_):
        first_runs.set()
        return second_runs.wait(10)

    def second(_):
        second_runs.set()
        first_done.wait(10)
        warnings.warn("a value", stacklevel=1)
        return True

    def ask(value):
        StableValue(value=value, distance=len, epsilon=1, delta=0.1, relation="add_remove").look([])

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        one, two = threading.Thread(target=ask, args=(first,)), threading.Thread(target=ask, args=(second,))
        one.start()
        first_runs.wait(10)
        two.start()
        one.join()
        first_done.set()
        two.join()
        assert warnings.filters == before
    assert not heard


@pytest.mark.parametrize(
    "value", [np.array([1, 2]), np.array([1.0, math.nan]), math.nan, np.zeros(10**5), [math.nan], {"a": np.ones(2)}]
)
def test_values_of_any_kind_have_a_probability(value):
    made = StableValue(value=lambda _: value, distance=lambda _: 100, epsilon=1, delta=1e-6, relation="add_remove")
    assert made.log_probability([], made.release([])) > -1e-9
    assert made.log_probability([], Outcome(3, True)) == -math.inf
    assert made.log_probability([], Outcome(np.array([1, 3]), True)) == -math.inf


@pytest.mark.parametrize("given", [{"epsilon": 0}, {"delta": 0.5}, {"delta": 0}, {"epsilon": 1e-40}])
def test_what_cannot_be(given):
    with pytest.raises(InvalidParameter):
        Mode(**({"epsilon": 1, "delta": 1e-6, "relation": "add_remove"} | given))


def test_the_relation_must_be_said():
    with pytest.raises(TypeError):
        Mode(epsilon=1, delta=1e-6)
    with pytest.raises(DiscreetError):
        Mode(epsilon=1, delta=1e-6, relation="edge")
