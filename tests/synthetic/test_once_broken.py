"""Ways in which synthesizers once told more than they claim, or promised what did not hold."""

import time
from fractions import Fraction

import numpy as np
import pytest

from discreet.synthetic.aim import AdaptiveTables
from discreet.synthetic.aim_rounds import GRID, Tables
from discreet.synthetic.coded import MOST_ALIKE, Tallied, tallied
from discreet.synthetic.dual_query.mechanism import DualQuery
from discreet.synthetic.dual_query.queries import Queries
from discreet.synthetic.model_answers import ModelAnswers
from discreet.synthetic.multiplicative.mwem import MWEM
from discreet.synthetic.spanning_tree import SpanningTree


@pytest.mark.parametrize("kind", [AdaptiveTables, SpanningTree])
def test_a_single_rare_value_leaves_all_others_in_their_places(kind):
    rows = np.stack([np.repeat([0, 2, 3], 600), np.tile([0, 1], 900)], axis=1)  # nobody has the value 1
    model = kind(sizes=(4, 2), rho=1, relation="add_remove").release(rows)
    answer = ModelAnswers(model).marginal((0,), 1e-6)
    truth = np.bincount(rows[:, 0], minlength=4)
    assert answer.kind == "measured"
    assert (answer.low <= truth).all()
    assert (truth <= answer.high).all()
    assert np.abs(model.measurements[0].counts - truth).max() < 60


LATE = [0.0]


class Slow(Fraction):
    """A number that takes an hour to be read, on a clock of its own."""

    @property
    def numerator(self):
        LATE[0] += 3600.0
        return 0


@pytest.mark.parametrize("record", [[0, 0, 1], [Slow(0), 0, 1]], ids=["quick", "slow"])
def test_how_long_records_take_to_read_does_not_change_what_is_learned_from_replies(record, monkeypatch):
    now = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: now() + LATE[0])
    rows = [[0, 0, 1]] * 500 + [[1, 1, 2]] * 300
    plan = MWEM(sizes=(2, 2, 3), epsilon=100, relation="add_remove", rounds=4)
    model = plan.release([*rows, record], seconds=1000)
    assert np.abs(model.marginal((0, 1)) - [[501, 0], [0, 300]]).sum() < 60


def very_many(first):
    """Return more records than float64 can count, ``first`` of them in the first row."""
    counts = np.full((1 << 21) + 2, MOST_ALIKE)
    counts[0] = first
    return tallied(Tallied(np.zeros((len(counts), 1), dtype=np.int64), counts), (2,))


def test_a_record_among_very_many_is_one_record():
    tables = [Tables(very_many(first), (2,)) for first in range(5)]
    counts = [int(one.table((0,))[0]) for one in tables]
    assert np.diff(counts).tolist() == [1] * 4
    distances = [one.distance((0,), np.zeros(2, dtype=np.int64)) for one in tables]
    assert distances == [count * GRID for count in counts]


@pytest.mark.parametrize("kind", [AdaptiveTables, SpanningTree])
def test_no_table_is_left_out_because_of_what_it_told(kind):
    rows = np.stack([np.repeat([0, 1], 900), np.tile([0, 1], 900)], axis=1)  # nobody has the values 2 to 5
    for _ in range(2):
        model = kind(sizes=(6, 2), rho=1, relation="add_remove").release(rows)
        assert [one.attributes for one in model.measurements[:2]] == [(0,), (1,)]
        assert np.abs(model.measurements[0].counts - [900, 900, 0, 0, 0, 0]).max() < 60
        assert ModelAnswers(model).marginal((0,)).kind == "measured"


@pytest.mark.parametrize("odd", [[1], [1, 2, 0, 7], 3, None, "ab", {"a": 1}, [[1], [2], [3]]], ids=repr)
def test_a_record_of_another_length_is_read_as_in_a_list(odd):
    rows = [[0, 1, 2], [1, 2, 0], odd]
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    assert tallied(array, (2, 3, 3)).codes.tolist() == tallied(rows, (2, 3, 3)).codes.tolist()


def test_counts_of_any_size_are_clamped_and_never_wrap_around():
    asked = Queries(sizes=(2,), attributes=[[0]], values=[[1]])
    plan = DualQuery(queries=asked, size=1000, rounds=60, samples=100, eta=0.5, relation="add_remove")
    for count in (2**63 - 1, 2**63, 2**64 - 1):
        made = plan.reveal(np.array([count], dtype=np.uint64))
        assert made.answer(asked)[0] > 0.9
