"""Queries and the columns they are counted in, against a count by hand."""

import itertools
import sys

import numpy as np
import pytest

from discreet.errors import InvalidParameter
from discreet.synthetic.coded import Tallied
from discreet.synthetic.dual_query import Packed, Queries, all_marginals, packed, random_queries

SIZES = (2, 3, 1, 5, 2)


def by_hand(queries, record):
    """Whether each query holds for a record, literal by literal."""
    answers = []
    for attributes, values, negated in zip(*queries.parts, strict=True):
        true = [(record[a] == v) != no for a, v, no in zip(attributes, values, negated, strict=True)]
        answers.append(all(true) if queries.kind == "marginal" else sum(true) % 2 == 1)
    return answers


@pytest.mark.parametrize("kind", ["marginal", "parity"])
@pytest.mark.parametrize("ways", [1, 2, 3, 5])
def test_every_way_to_answer_agrees_with_the_definition(kind, ways):
    queries = random_queries(SIZES, 60, ways=ways, kind=kind)
    records = np.array(list(itertools.product(*map(range, SIZES))))
    expected = np.array([by_hand(queries, record) for record in records])
    assert np.array_equal(queries.holds(records), expected)
    assert all(np.array_equal(queries.of_record(r), e) for r, e in zip(records, expected, strict=True))
    counts = np.arange(len(records)) * 7 % 300  # some of them 0, up to nine bits
    table = packed(Tallied(records, counts), queries)
    assert np.array_equal(table.answers(queries), counts @ expected)
    assert table.records == counts.sum()


def test_blocks_and_threads_change_nothing(monkeypatch):
    queries = random_queries((2,) * 30, 3000)
    records = np.random.default_rng(1).integers(0, 2, (500, 30))
    tally = Tallied(records, np.ones(500, dtype=np.int64))
    table = packed(tally, queries)
    whole = table.answers(queries)
    monkeypatch.setattr(sys.modules[Packed.__module__], "BLOCK_WORDS", 50)
    assert np.array_equal(table.answers(queries), whole)
    assert np.array_equal(queries.holds(records).sum(axis=0), whole)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65])
def test_words_that_are_partly_empty(count):
    queries = Queries(sizes=(2, 2), attributes=[[0, 1]] * 2, values=[[1, 1], [1, 0]], negated=[[True, True]] * 2)
    table = packed(Tallied(np.zeros((count, 2), dtype=np.int64), np.ones(count, dtype=np.int64)), queries)
    assert table.answers(queries).tolist() == [count, 0]
    odd = Queries(sizes=(2, 2), attributes=[[0, 1]], values=[[0, 1]], kind="parity")
    table = packed(Tallied(np.zeros((count, 2), dtype=np.int64), np.ones(count, dtype=np.int64)), odd)
    assert table.answers(odd).tolist() == [count]


def test_huge_counts_do_not_wrap():
    queries = Queries(sizes=(2,), attributes=[[0]], values=[[1]])
    table = packed(Tallied(np.array([[1], [1], [0]]), np.array([1 << 32, (1 << 32) - 1, 5])), queries)
    assert table.answers(queries).tolist() == [(1 << 33) - 1]


def test_columns_made_one_by_one():
    queries = random_queries((2,) * 40, 200)
    bits = np.random.default_rng(2).integers(0, 2, (77, 40))

    def column(attribute, value):
        return np.packbits(bits[:, attribute] == value, bitorder="little")

    made = Packed.from_columns(queries, 77, column)
    assert made.records == 77
    assert np.array_equal(made.answers(queries), queries.holds(bits).sum(axis=0))


def test_complements_and_opposite_literals_share_columns():
    queries = Queries(sizes=(2,) * 3, attributes=[[0], [0], [1]], values=[[0], [1], [0]])
    assert queries.columns.tolist() == [[0, 1], [1, 1]]


def test_all_marginals_are_all_cells():
    queries = all_marginals((2, 3, 2), 2)
    answers = queries.holds([[1, 2, 0]])[0]
    assert len(queries) == 6 + 4 + 6
    assert answers.sum() == 3  # one cell of each table


def test_random_queries_have_different_attributes_and_every_value():
    queries = random_queries((2, 3, 4), 3000, ways=3)
    attributes, values, negated = queries.parts
    assert (np.sort(attributes, axis=1) == [0, 1, 2]).all()
    for attribute, size in enumerate((2, 3, 4)):
        shares = np.bincount(values[attributes == attribute], minlength=size) / 3000
        assert np.abs(shares - 1 / size).max() < 0.06
    assert abs(negated.mean() - 0.5) < 0.04
    assert not random_queries((2, 2), 50, ways=2, negations=False).parts[2].any()


@pytest.mark.parametrize(
    "settings",
    [
        {"sizes": ()},
        {"attributes": [[0, 0]], "values": [[0, 1]]},
        {"attributes": [[0, 9]]},
        {"attributes": [[0, -1]]},
        {"values": [[0, 3]]},
        {"values": [[0]]},
        {"values": [[0.5, 1.0]]},
        {"attributes": []},
        {"negated": [[0, 1]]},
        {"kind": "range"},
    ],
    ids=repr,
)
def test_queries_that_cannot_be(settings):
    with pytest.raises(InvalidParameter):
        Queries(**{"sizes": (2, 3), "attributes": [[0, 1]], "values": [[1, 2]], **settings})


def test_too_many_ways():
    with pytest.raises(InvalidParameter, match="1 to 2 different"):
        random_queries((2, 2), 5, ways=3)
