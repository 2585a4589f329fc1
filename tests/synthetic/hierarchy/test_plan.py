"""What is charged covers what one person changes, by trying every person in every place."""

import dataclasses
import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidParameter
from discreet.synthetic.hierarchy import Cells, Hierarchy, Spine
from discreet.synthetic.hierarchy.plan import inherited

ONE_TOP = Spine(levels=("top", "leaf"), leaves=(("t", 1), ("t", 2), ("t", 3)))
TWO_TOPS = Spine(levels=("top", "leaf"), leaves=(("t", 1), ("t", 2), ("u", 1)))
DEEP = Spine(levels=("a", "b", "c"), leaves=((0, 0, 0), (0, 0, 1), (0, 1, 0)))
WHOLE = Cells(attributes={"x": (0, 1), "y": (0, 1, 2)})
HOLES = Cells(attributes={"x": (0, 1), "y": (0, 1, 2)}, rules={"r": lambda c: c["x"] == 0 or c["y"] == 0})
QUERIES = {"total": (), "x": ("x",), "all": ("x", "y")}
SHARES = {"top": {"total": 3, "all": 1}, "leaf": {"x": 2, "total": 1}}


def entries(hierarchy, measurement, person):
    """Return the entry of a measurement in which a person is counted, by her labels and nothing of the library's."""
    if person is None:
        return Counter()
    leaf, cell = person
    shown = tuple(cell[name] for name in hierarchy.cells.names if name in measurement.attributes)
    return Counter([(leaf[: hierarchy.spine.depth(measurement.level) + 1], shown)])


def persons(hierarchy):
    """Return every person that is counted somewhere, and one who is not."""
    cells = hierarchy.cells
    columns = [cells.values(name) for name in cells.names]
    possible = [dict(zip(cells.names, values, strict=True)) for values in zip(*columns, strict=True)]
    return [None, *itertools.product(hierarchy.spine.leaves, possible)]


def changes(hierarchy):
    """Return, for every pair of neighbours, the squared change of each measurement."""
    everybody = persons(hierarchy)
    pairs = itertools.product(everybody, repeat=2)
    if hierarchy.relation == "add_remove":
        pairs = [(None, person) for person in everybody]
    found = []
    for before, after in pairs:
        row = []
        for m in hierarchy.measurements:
            moved = entries(hierarchy, m, after)
            moved.subtract(entries(hierarchy, m, before))
            row.append(sum(v * v for v in moved.values()))
        found.append(row)
    return np.array(found)


def undercharged(hierarchy):
    """Return which measurements claim less than some neighbours change."""
    worst = changes(hierarchy).max(axis=0)
    return [
        m for m, square in zip(hierarchy.measurements, worst.tolist(), strict=True) if m.squared_sensitivity < square
    ]


def make(spine, cells, relation, shares=None, rho=1):
    return Hierarchy(spine=spine, cells=cells, queries=QUERIES, rho=rho, relation=relation, shares=shares)


CASES = [
    (spine, cells, relation, shares)
    for spine in (ONE_TOP, TWO_TOPS, DEEP)
    for cells in (WHOLE, HOLES)
    for relation in ("add_remove", "replace_one")
    for shares in (None, SHARES)
    if shares is None or spine is not DEEP
]


@pytest.mark.parametrize(("spine", "cells", "relation", "shares"), CASES, ids=lambda v: "")
def test_sensitivities_are_those_of_the_worst_neighbours(spine, cells, relation, shares):
    hierarchy = make(spine, cells, relation, shares)
    found = changes(hierarchy)
    claimed = [m.squared_sensitivity for m in hierarchy.measurements]
    assert found.max(axis=0).tolist() == claimed
    assert not undercharged(hierarchy)
    for m in hierarchy.measurements:
        assert m.mechanism.loss.rho == pytest.approx(m.squared_sensitivity / (2 * m.sigma**2), rel=1e-12)
    weights = np.array([1 / (2 * m.sigma**2) for m in hierarchy.measurements])
    joint = (found * weights).sum(axis=1).max()
    assert joint <= hierarchy.loss.rho * (1 + 1e-12)
    single = any(m.squared_sensitivity == 1 for m in hierarchy.measurements)
    if relation == "add_remove" or (cells is WHOLE and not single):
        assert joint == pytest.approx(hierarchy.loss.rho, rel=1e-9)


def test_replacing_a_person_costs_twice_and_not_four_times():
    """With the noise of add_remove, replace_one has twice the rho; going by groups of two would say four times."""
    once = make(TWO_TOPS, WHOLE, "add_remove")
    moved = [Fraction(2) / (2 * Fraction(m.sigma) ** 2) for m in once.measurements]
    assert float(sum(moved)) == pytest.approx(2 * once.loss.rho, rel=1e-9)
    assert once.loss.group(2).rho == pytest.approx(4 * once.loss.rho, rel=1e-9)


def test_a_claim_of_too_little_is_found():
    hierarchy = make(ONE_TOP, WHOLE, "replace_one")
    wrong = tuple(dataclasses.replace(m, squared_sensitivity=1) for m in hierarchy.measurements)
    object.__setattr__(hierarchy, "measurements", wrong)
    assert undercharged(hierarchy)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("rho", [0.1, Fraction(1, 3), 5])
def test_the_budget_is_spent_and_not_exceeded(relation, rho):
    hierarchy = make(ONE_TOP, WHOLE, relation, SHARES, rho=rho)
    assert sum(m.rho for m in hierarchy.measurements) == Fraction(rho)
    assert float(rho) * (1 - 1e-12) <= hierarchy.loss.rho <= float(rho) * (1 + 1e-15)
    assert hierarchy.loss.relation == relation
    by_name = {(m.level, m.query): m.rho for m in hierarchy.measurements}
    assert by_name["top", "total"] == 3 * by_name["top", "all"]
    assert len(by_name) == 4


def test_invariants_are_inherited_upward():
    assert inherited(DEEP, {"c": ()}) == ((), (), ())
    assert inherited(DEEP, {"a": ("x",), "b": ()}) == (("x",), (), None)
    assert inherited(DEEP, {"a": (), "b": ("x",)}) == (("x",), ("x",), None)
    assert inherited(DEEP, {}) == (None, None, None)
    with pytest.raises(InvalidParameter, match="refine"):
        inherited(DEEP, {"a": ("x",), "b": ("y",)})
    with pytest.raises(InvalidParameter, match="no level"):
        inherited(DEEP, {"z": ()})


@pytest.mark.parametrize(
    "shares",
    [{"top": {"none": 1}}, {"moon": {"x": 1}}, {"top": {"x": -1}}, {"top": {"x": 0}}, {"top": {"x": float("nan")}}, {}],
)
def test_shares_of_nothing_are_refused(shares):
    with pytest.raises(InvalidParameter):
        make(ONE_TOP, WHOLE, "add_remove", shares)
