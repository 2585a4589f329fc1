"""Questions: what they mean, what is refused, and how far one record moves them."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from discreet import InvalidInput
from discreet.synthetic.coded import Tallied
from discreet.synthetic.multiplicative.questions import STEPS, Asked, Counts, Linear, Table, read_question

SIZES = (2, 3)
CELLS = list(itertools.product(range(2), range(3)))


@pytest.mark.parametrize(
    "question",
    [
        [0.0, 1.0, float("nan"), 0.0, 0.0, 0.0],
        [0.0, 1.0, float("inf"), 0.0, 0.0, 0.0],
        [0, 1, -0.001, 0, 0, 0],
        [0, 1, 1.001, 0, 0, 0],
        [0, 1],
        np.zeros((3, 2)),
        np.zeros(6, dtype=complex),
        ["a"] * 6,
        [[1, 2], [3]],
        "hours",
        None,
        lambda x: 1,
        {2: 0},
        {0: 2},
        {0: -1},
        {0: True},
        {0: "x"},
        {0.0: 1},
        {"a": 1},
        Linear((1, 0), np.zeros((3, 2))),
        Linear((0, 0), np.zeros((2, 2))),
        Linear("01", np.zeros((2, 3))),
        Linear(0, np.zeros(2)),
        Linear((0,), [0.5, 2]),
        Table((0, 7)),
        Table("01"),
        [Fraction(1, 2)] * 6,
    ],
    ids=range(27),
)
def test_odd_questions_are_refused(question):
    with pytest.raises(InvalidInput):
        read_question(question, SIZES, 100)


def test_questions_about_too_many_combinations_are_refused():
    with pytest.raises(InvalidInput, match="fewer"):
        read_question(Table((0, 1)), SIZES, 5)
    with pytest.raises(InvalidInput, match="fewer"):
        read_question({0: 0, 1: 0}, SIZES, 5)


def test_answers_are_those_of_the_rounded_weights():
    rng = np.random.default_rng(2)
    records = [CELLS[i] for i in rng.integers(0, 6, 50)]
    counts = Counts(records, SIZES)
    values = rng.random((2, 3))
    asked = read_question(values, SIZES, 100)
    assert np.abs(asked.weights / STEPS - values).max() <= 0.5 / STEPS
    assert counts.answer(asked) == sum(int(asked.weights[cell]) for cell in records)
    assert counts.answer(read_question({0: 1, 1: (0, 2)}, SIZES, 100)) == STEPS * sum(
        a == 1 and b != 1 for a, b in records
    )
    assert counts.answer(read_question({}, SIZES, 100)) == STEPS * 50
    assert counts.answer(read_question({0: ()}, SIZES, 100)) == 0
    assert counts.answer(read_question(Linear((1,), [0, 0.5, 1]), SIZES, 100)) == sum(
        b * STEPS // 2 for _, b in records
    )
    assert counts.table((1,)).tolist() == [sum(b == v for _, b in records) for v in range(3)]


def test_huge_counts_are_exact():
    many = Tallied(np.array([[0, 0], [1, 2]] * 40_000), np.array([2**32, 2**32 - 1] * 40_000))
    counts = Counts(many, SIZES)
    one = Asked((0,), np.array([STEPS, STEPS - 1]))
    assert counts.answer(one) == 2**40 * STEPS + 2**40 * (STEPS - 1)  # cells are clamped
    few = Counts(Tallied(np.array([[0, 0], [1, 2]]), np.array([2**32, 2**32 - 5])), SIZES)
    assert few.answer(one) == 2**32 * STEPS + (2**32 - 5) * (STEPS - 1)
    assert few.table((1,)).tolist() == [2**32, 0, 2**32 - 5]


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_one_record_moves_everything_by_what_is_charged(relation):
    """All neighbours of small data: an answer, the largest gap of a table, and a table itself."""
    rng = np.random.default_rng(1)
    questions = [Asked((0, 1), rng.integers(0, STEPS + 1, (2, 3))) for _ in range(20)]
    questions.append(Asked((0, 1), STEPS * np.eye(2, 3, dtype=np.int64)))
    expected = rng.integers(0, 3 * STEPS, (2, 3))
    single, gap, table = 0, 0, 0
    for others in ([], [(0, 0)], [(0, 0), (1, 2), (1, 2)]):
        for cell in CELLS:
            near = [others] if relation == "add_remove" else [[*others, other] for other in CELLS]
            one = Counts([*others, cell], SIZES)
            for two in (Counts(rows, SIZES) for rows in near):
                single = max(single, *(abs(one.answer(q) - two.answer(q)) for q in questions))
                far = [int(np.abs(c.table((0, 1)) * STEPS - expected).max()) for c in (one, two)]
                gap = max(gap, abs(far[0] - far[1]))
                table = max(table, int(np.abs(one.table((0, 1)) - two.table((0, 1))).sum()))
    assert single == STEPS
    assert 0 < gap <= STEPS
    assert table == (1 if relation == "add_remove" else 2)
