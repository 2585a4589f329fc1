import asyncio
import math
import threading
import warnings

import numpy as np
import pytest

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, RelationMismatch, UnboundedSensitivity
from discreet.mechanisms import Laplace, Quantile
from discreet.mechanisms.admissible import PowerLaw
from discreet.mechanisms.inverse_sensitivity import InverseSensitivity
from discreet.mechanisms.sample_and_aggregate import SampleAndAggregate
from discreet.mechanisms.smooth_noise import SmoothNoise
from discreet.sensitivity import Mean
from discreet.sensitivity.smooth import Median
from discreet.testing import check_mechanism


def release(**given):
    defaults = {"function": np.mean, "blocks": 20, "bounds": (0, 100), "relation": "replace_one", "epsilon": 20}
    return SampleAndAggregate(**(defaults | given))


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("aggregate", ["mean", "median"])
@pytest.mark.parametrize("copies", [1, 3])
def test_it_finds_the_answer(relation, aggregate, copies):
    made = release(relation=relation, aggregate=aggregate, copies=copies)
    data = list(np.linspace(40, 60, 2000))
    assert all(45 < made.release(data) < 55 for _ in range(5))
    assert made.loss.relation == relation
    assert made.loss.epsilon() == pytest.approx(20)


def test_any_mechanism_for_numbers_may_combine_the_answers():
    middle = InverseSensitivity(bounds=(0, 100), epsilon=20, smoothing=1)
    made = release(aggregate=middle, epsilon=None)
    assert 45 < made.release([50.0] * 100) < 55
    assert made.loss == PrivacyLoss.bounded_range(20).under("replace_one")
    assert release(aggregate=middle, epsilon=None, relation="add_remove").loss.relation == "add_remove"


def test_noise_fitted_to_a_smooth_bound_may_combine_them():
    median = SmoothNoise(function=Median(bounds=(0, 100)), noise=PowerLaw(epsilon=2, beta=0.2))
    made = release(aggregate=median, epsilon=None, blocks=101, relation="add_remove")
    assert 30 < made.release(list(np.linspace(49, 51, 5000))) < 70
    assert made.loss == PrivacyLoss.pure(2).under("add_remove")


def test_all_records_are_in_one_block_each_and_sizes_are_even():
    made = release(blocks=7)
    parts = made._spread(list(range(100)))
    assert sorted(x for part in parts for x in part) == list(range(100))
    assert {len(part) for part in parts} == {14, 15}
    free = release(blocks=7, relation="add_remove")._spread(list(range(1000)))
    assert sorted(x for part in free for x in part) == list(range(1000))
    assert len(free) == 7


def fails(rows):
    raise RuntimeError(f"a value: {rows[0]}")


def warns(rows):
    warnings.warn("look at this", stacklevel=1)
    return np.float64(1) / 0


def leaves(rows):
    raise SystemExit(3)


def is_cancelled(rows):
    raise asyncio.CancelledError


def ends(rows):
    raise GeneratorExit


@pytest.mark.parametrize(
    "function",
    [
        fails,
        warns,
        leaves,
        is_cancelled,
        ends,
        lambda _: math.nan,
        lambda _: math.inf,
        lambda _: None,
        lambda _: "x",
        lambda _: [1, 2],
    ],
)
def test_a_function_that_fails_says_the_lower_bound_and_nothing_else(function):
    seen = []

    class Spy:
        domain, loss = Quantile(bounds=(0, 1), epsilon=1, relation="replace_one").domain, PrivacyLoss.pure(1)

        def release(self, answers):
            seen.append(answers)
            return 0.0

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release(function=function, blocks=3, aggregate=Spy(), epsilon=None, bounds=(-2, 5)).release([1, 2, 3, 4])
    assert seen == [[-2.0, -2.0, -2.0]]


def test_blocks_may_be_empty():
    for relation in ("replace_one", "add_remove"):
        assert 0 <= release(relation=relation).release([]) <= 100
        assert 0 <= release(relation=relation).release([5.0]) <= 100


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("copies", [1, 3])
def test_a_function_that_changes_its_rows_changes_no_other_block(relation, copies):
    """Rows are in as many blocks as there are copies, and one row may stand for several records."""
    seen, shared = [], {"spent": 0}

    def spend(rows):
        seen.extend(row["spent"] for row in rows)
        for row in {id(row): row for row in rows}.values():
            row["spent"] += 1
        rows.clear()
        return 1

    data = [shared] * 20 + [{"spent": 0} for _ in range(80)]
    release(function=spend, copies=copies, relation=relation).release(data)
    assert seen == [0] * 100 * copies
    assert data == [{"spent": 0}] * 100


def test_rows_that_cannot_be_copied_are_a_failure_of_their_block():
    answers = []

    class Spy:
        domain, loss = Quantile(bounds=(0, 1), epsilon=1, relation="replace_one").domain, PrivacyLoss.pure(1)

        def release(self, given):
            answers.extend(given)
            return 0.0

    data = [threading.Lock(), *range(8)]
    release(function=len, blocks=3, aggregate=Spy(), epsilon=None).release(data)
    assert sorted(answers) == [0, 3, 3]


def test_keeps_the_contract():
    done = check_mechanism(release())
    assert {"interface", "frozen", "keyword-only", "loss"} <= set(done.passed)


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"blocks": 0}, InvalidParameter, "blocks"),
        ({"blocks": True}, InvalidParameter, "blocks"),
        ({"copies": 0}, InvalidParameter, "copies"),
        ({"bounds": None}, UnboundedSensitivity, "bounds"),
        ({"bounds": (1, 1)}, InvalidParameter, "bounds"),
        ({"aggregate": "mode"}, InvalidParameter, "aggregate"),
        ({"epsilon": None}, InvalidParameter, "epsilon"),
        ({"epsilon": 0}, InvalidParameter, "epsilon"),
        ({"function": 3}, InvalidParameter, "function"),
        ({"aggregate": 3, "epsilon": None}, InvalidParameter, "mechanism"),
        ({"aggregate": Quantile(bounds=(0, 1), epsilon=1, relation="replace_one")}, InvalidParameter, "leave out"),
        (
            {"aggregate": Quantile(bounds=(0, 1), epsilon=1, relation="add_remove"), "epsilon": None},
            RelationMismatch,
            "replaced",
        ),
        ({"aggregate": Laplace(sensitivity=1, epsilon=1), "epsilon": None}, RelationMismatch, "replaced"),
    ],
)
def test_what_cannot_be(given, error, match):
    with pytest.raises(error, match=match):
        release(**given)


def test_the_aggregate_must_be_for_as_many_numbers():
    mean = Laplace(sensitivity=10, epsilon=1).of(Mean(bounds=(0, 100), size=10), relation="replace_one")
    assert release(aggregate=mean, epsilon=None, blocks=10).loss.epsilon() == 1
    with pytest.raises(InvalidParameter, match="10 numbers"):
        release(aggregate=mean, epsilon=None, blocks=20)
