"""Synthetic records from noisy histograms: their law, their cost and what they say of themselves beforehand."""

import math
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest

from discreet.errors import InvalidInput, InvalidParameter, NotPrivateWarning
from discreet.synthetic.from_histogram import FromHistogram, Microdata
from discreet.testing import seeded
from discreet.units import multiset

RELATIONS = ["add_remove", "replace_one"]
TWO = {"left": ("no", "yes"), "hair": ("black", "blond", "red")}


@pytest.fixture(autouse=True)
def same_noise(request):
    """Draw the noise of a test from a source seeded by the test's name, so that it passes always or never."""
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(request.node.name):
        yield


# --- the law -------------------------------------------------------------------------------------------------------


def cell_law(made, count, reach):
    """Return the law of one noisy count from its definition."""
    if made.method == "exponential":
        a = np.arange(made.size + 1)
        weights = np.exp(-np.abs(a - min(count, made.size)) / float(made.scale))
        return weights / weights.sum()
    z = np.arange(-reach, reach + 1)
    weights = np.exp(-np.abs(z) / float(made.scale))
    weights /= weights.sum()
    law = np.zeros(2 * reach)
    np.add.at(law, np.maximum(z + count, 0), weights)
    return law


def divergence(p, q, epsilon):
    return max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ((p, q), (q, p)))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("method", ["geometric", "exponential"])
@pytest.mark.parametrize("cells", [1, 2])
def test_every_pair_of_small_neighbours_keeps_the_claim(cells, method, relation):
    made = FromHistogram(attributes={"x": range(cells)}, epsilon=1.5, relation=relation, method=method, size=3)
    laws = [cell_law(made, n, 60) for n in range(4)]

    def law(counts):
        joint = np.ones(1)
        for n in counts:
            joint = np.multiply.outer(joint, laws[n]).ravel()
        return joint

    steps = list(np.eye(cells, dtype=int))
    if relation == "replace_one":
        steps += [a - b for a, b in product(steps, repeat=2)]
    for counts, step in product(product(range(4), repeat=cells), steps):
        other = np.array(counts) + step
        if other.min() < 0 or other.max() > 3:
            continue
        for e in (0.0, 0.4, 1.0, 1.5):
            assert divergence(law(counts), law(other), e) <= made.loss.delta(e) * (1 + 1e-9) + 1e-12
    assert made.loss.epsilon() == pytest.approx(1.5)


def test_the_check_catches_the_rate_of_the_other_relation():
    add = FromHistogram(attributes={"x": (0, 1)}, epsilon=1, relation="add_remove", size=3)
    laws = [cell_law(add, n, 60) for n in range(4)]
    p, q = np.outer(laws[2], laws[1]).ravel(), np.outer(laws[1], laws[2]).ravel()
    assert divergence(p, q, 1.0) > 0.05


@pytest.mark.parametrize("method", ["geometric", "exponential"])
@pytest.mark.parametrize(("epsilon", "size"), [(1, 5), (0.05, 5), (3, 2)])
def test_draws_follow_the_law(method, epsilon, size):
    """Little and much noise, which the exponential mechanism draws in two ways; false alarm below 1e-9."""
    made = FromHistogram(
        attributes={"x": range(40_000)}, epsilon=epsilon, relation="add_remove", method=method, size=size
    )
    for count in (0, 2):
        drawn = made.reveal(np.full(40_000, count)).counts
        law = cell_law(made, count, 4000)
        seen = np.bincount(drawn, minlength=law.size)[: law.size] / 40_000
        assert np.abs(seen - law).max() < 7 * 0.5 / math.sqrt(40_000)


@pytest.mark.parametrize("method", ["geometric", "exponential"])
def test_the_law_that_is_told(method):
    made = FromHistogram(attributes=TWO, epsilon=2, relation="replace_one", method=method, size=4)
    data = {"left": ["no", "yes", "no"], "hair": ["red", "red", "red"]}
    exact = made.histogram(data)
    for told in (np.zeros((2, 3), int), np.array([[0, 1, 2], [3, 0, 1]])):
        parts = [cell_law(made, int(n), 80)[t] for n, t in zip(exact.flat, told.flat, strict=True)]
        output = Microdata(made.attributes, told, 0.0, None)
        assert made.log_probability(data, output) == pytest.approx(math.log(math.prod(parts)))
    assert made.log_probability(data, Microdata(made.attributes, exact - 1, 0.0, None)) == -math.inf


# --- what is said beforehand ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("epsilon", "size"), [(1, 50), (0.1, 20), (4, 3)])
def test_phantoms_are_those_of_empty_cells(epsilon, size, relation):
    for method in ("geometric", "exponential"):
        made = FromHistogram(attributes={"x": range(7)}, epsilon=epsilon, relation=relation, method=method, size=size)
        law = cell_law(made, 0, 3000)
        assert made.phantoms == pytest.approx(7 * float(law @ np.arange(law.size)), rel=1e-6)
        for count in range(size + 1):  # and of no others more
            law = cell_law(made, count, 3000)
            assert 7 * (float(law @ np.arange(law.size)) - count) <= made.phantoms * (1 + 1e-9)
            assert law[np.abs(np.arange(law.size) - count) > made.error(0.05)].sum() <= 0.05 * (1 + 1e-9)
            predicted = next(one for one in made.compare() if one.method == method)
            assert float(law @ np.abs(np.arange(law.size) - count)) <= predicted.deviation * (1 + 1e-9)


def test_the_geometric_method_is_always_better():
    for epsilon, size in ((1, 1000), (0.1, 1000), (5, 10)):
        made = FromHistogram(attributes=TWO, epsilon=epsilon, relation="add_remove", size=size)
        assert [one.method for one in made.compare()] == ["geometric", "exponential"]
    assert [one.method for one in FromHistogram(attributes=TWO, epsilon=1, relation="add_remove").compare()] == [
        "geometric"
    ]


def test_advice_names_what_to_use():
    many = FromHistogram(attributes={"a": range(100), "b": range(100)}, epsilon=1, relation="add_remove", size=1000)
    assert 4000 < many.phantoms < 4500
    for name in ("StabilityHistogram", "ResidualPlanner", "Hierarchy", "nobody"):
        assert name in many.advice
    made = many.reveal(np.zeros((100, 100), dtype=int))
    assert (made.advice, made.phantoms) == (many.advice, many.phantoms)
    assert abs(len(made) - many.phantoms) < 7 * math.sqrt(10_000)
    few = FromHistogram(attributes=TWO, epsilon=1, relation="add_remove", size=1000)
    assert few.advice is None
    assert FromHistogram(attributes=TWO, epsilon=1, relation="add_remove").advice is None  # nothing to compare with


# --- records in, records out ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["geometric", "exponential"])
def test_records_come_back_where_there_is_no_noise(method):
    made = FromHistogram(attributes=TWO, epsilon=400, relation="add_remove", method=method, size=100)
    left, hair = ["yes", "no", "yes", "no", "?"], ["red", "black", "red", "blond", "red"]
    for columns in ({"left": left, "hair": hair}, {"left": np.array(left), "hair": np.array(hair)}):
        found = made.release(columns)
        assert found.counts.tolist() == [[1, 1, 0], [0, 0, 2]]
        assert {name: column.tolist() for name, column in found.columns.items()} == {
            "left": ["no", "no", "yes", "yes"],
            "hair": ["black", "blond", "red", "red"],
        }
        assert len(found) == 4


def test_the_order_of_the_data_leaves_no_trace():
    made = FromHistogram(attributes=TWO, epsilon=400, relation="add_remove")
    data = [("yes", "red"), ("no", "black"), ("yes", "blond")] * 5
    for shuffled in (data, data[::-1], sorted(data)):
        found = made.release({"left": [a for a, _ in shuffled], "hair": [b for _, b in shuffled]})
        assert found.columns["hair"].tolist() == ["black"] * 5 + ["blond"] * 5 + ["red"] * 5


def test_values_of_any_kind():
    made = FromHistogram(attributes={"x": (None, 1, "a", (2, 3))}, epsilon=400, relation="replace_one")
    found = made.release({"x": [None, (2, 3), [4], "a", object()]})
    assert found.counts.tolist() == [1, 0, 1, 1]
    assert found.columns["x"].tolist() == [None, "a", (2, 3)]
    assert made.release({"x": []}).columns["x"].size == 0
    numbers = FromHistogram(attributes={"x": (1, 2)}, epsilon=400, relation="replace_one")
    assert numbers.release({"x": [1, 2, 2]}).columns["x"].dtype.kind == "i"


@pytest.mark.parametrize(
    ("categories", "one", "other"),
    [
        (((1, 2), (3, 4)), (1, 2), [1, 2]),
        (((1, 2), (3, 4)), (1, 2), np.array([1, 2])),
        ((1, 2), 1, np.array(1)),
        ((1, 2), 1, np.float32(1)),
    ],
    ids=range(4),
)
def test_records_that_are_the_same_are_in_the_same_cell(categories, one, other):
    assert multiset([one]) == multiset([other])
    made = FromHistogram(attributes={"x": categories}, epsilon=1, relation="add_remove")
    assert made.histogram({"x": [one] * 3}).tolist() == made.histogram({"x": [other] * 3}).tolist() == [3, 0]


@pytest.mark.parametrize(
    "categories",
    [(-1, 2**63, 2**63 + 1), ("a", "a\0"), (2**64, 1), (1, 2), ("a", "b"), (0.5, 1.5), (True, False), (1, 0.5)],
    ids=range(8),
)
def test_columns_hold_the_categories_themselves(categories):
    made = FromHistogram(attributes={"x": categories}, epsilon=400, relation="add_remove")
    found = made.release({"x": list(categories) * 2}).columns["x"]
    wanted = [one for one in categories for _ in range(2)]
    assert list(zip(found.tolist(), map(type, found.tolist()), strict=True)) == [(one, type(one)) for one in wanted]
    assert made.histogram({"x": found}).tolist() == [2] * len(categories)


def test_huge_counts_are_clamped():
    made = FromHistogram(attributes={"x": (0, 1)}, epsilon=1, relation="replace_one", size=10, method="exponential")
    assert made.reveal([2**70, -5]).counts.max() <= 10


def test_a_million_cells():
    made = FromHistogram(attributes={"a": range(1000), "b": range(1000)}, epsilon=1, relation="add_remove")
    found = made.reveal(np.zeros((1000, 1000), dtype=np.int64))
    assert found.columns["a"].size == len(found) > 400_000


def test_it_says_what_it_is():
    made = FromHistogram(attributes=TWO, epsilon=1, relation="replace_one", method="exponential", size=9)
    assert eval(repr(made)) == made
    assert hash(made) == hash(eval(repr(made)))
    assert "epsilon 1" in made._repr_html_()
    assert made.domain.relation == made.loss.relation == "replace_one"
    first, last = made.worst_case()
    assert made.histogram(first).sum() == made.histogram(last).sum() == 1


@pytest.mark.parametrize(
    "given",
    [
        {"epsilon": 0},
        {"method": "laplace"},
        {"method": "exponential"},
        {"size": 0},
        {"size": 1.5},
        {"attributes": {}},
        {"attributes": {"x": ()}},
        {"attributes": {"x": "ab"}},
        {"attributes": {"x": (1, 1)}},
        {"attributes": {1: (1, 2)}},
        {"attributes": {"x": ([],)}},
        {"attributes": {"x": (1.0, math.nan)}},
        {"attributes": dict.fromkeys("abcdefghijkl", range(9))},
        {"epsilon": 1e-9, "attributes": {"x": range(100)}},
    ],
    ids=range(14),
)
def test_what_cannot_be(given):
    with pytest.raises(InvalidParameter):
        FromHistogram(**({"epsilon": 1, "attributes": TWO, "relation": "add_remove"} | given))


def test_what_cannot_be_read():
    made = FromHistogram(attributes=TWO, epsilon=1, relation="add_remove")
    wrong = [[1, 2], {"left": ["no"]}, {"left": ["no"], "hair": []}]
    odd = ("no", {"no"}, {"no": 1}, {"no": 1}.keys(), frozenset({"no"}), 3, pd.DataFrame({"no": [1]}))
    wrong += [{"left": one, "hair": ["red"]} for one in odd]
    for columns in wrong:
        with pytest.raises(InvalidInput):
            made.release(columns)
    for histogram in ([1, 2, 3], [[1.5, 0, 0], [0, 0, 0]]):
        with pytest.raises(InvalidInput, match="2 x 3"):
            made.reveal(histogram)
