"""What an answer says about how numbers are spread, against the tree that follows from its words.

The bounds, the cells, the unit's bounds and the planned epsilon give one mechanism, which is made again here: its loss,
its words and the width of every interval must be those that are stated. Where bins lie is up to the mechanism; each
must be a box that halving makes of the bounds, and none may lie in another.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import floor, prod
from typing import Any

from discreet.publishing.certificate import Certified
from discreet.publishing.told_together import cost_of, described, told_otherwise, widths_of
from discreet.session.adaptive import JointTree
from discreet.session.cumulative import JointCdf
from discreet.session.fineness import DEEPEST, MOST_CELLS
from discreet.session.joint import Joint
from discreet.tables.fine import Fine
from discreet.tables.together import Spread
from discreet.units import Person, Row

__all__ = ["SPREAD", "problem_spread"]

SPREAD = ("tree", "cdf")


def problem_spread(one: Certified, unit: Row | Person) -> str:
    """Return the first thing that does not agree, or nothing."""
    made: dict[str, Any] = one.answer.parameters
    grids = _grids(made)
    if grids is None:
        return "the sizes and bounds are those of no grid"
    if not _asks(one):
        return "the answer says something else than its query"
    groups = unit.groups if isinstance(unit, Person) else 1
    if groups is None or made["groups"] != min(groups, prod(grid.count for grid in grids)):
        return "the answer counts persons in another number of groups"
    names, cost = tuple(made["sizes"]), cost_of(one, unit)
    if made["together"] == "tree" and cost.epsilon is None:
        return "a tree has no delta"
    joint: Joint = JointTree(names, grids, cost) if made["together"] == "tree" else JointCdf(names, grids[0], cost)
    if tuple(one.answer.keys) != joint.shown or made["keys"] != joint.keys_told:
        return "the columns are not those of its bins"
    if set(made["noise"].values()) != {joint.told}:
        return "the noise of the counts is not listed"
    deviations = dict.fromkeys(one.answer.columns, [0.0] * len(one.answer))
    return told_otherwise(one, joint) or _places(one, joint, grids) or widths_of(one, joint, deviations)


def _asks(one: Certified) -> bool:
    """Whether the query counts rows by the keys of the answer, and asks for its kind of tree."""
    made: dict[str, Any] = one.answer.parameters
    query = described(one.query)
    if query.together != Spread(made["together"]) or [name for name, _ in query.keys] != list(made["sizes"]):
        return False
    return [(name, aggregate.function) for name, aggregate in query.aggregates] == [
        (name, "count") for name in one.answer.columns
    ]


def _grids(made: dict[str, Any]) -> tuple[Fine, ...] | None:
    """Return the grids of the words, if there are such."""
    sizes, bounds = made["sizes"], made.get("bounds")
    most = MOST_CELLS if made["together"] == "cdf" else 2 ** DEEPEST.get(len(sizes), 0)
    if not isinstance(bounds, dict) or list(bounds) != list(sizes) or (made["together"] == "cdf" and len(sizes) != 1):
        return None
    found = []
    for size, ends in zip(sizes.values(), bounds.values(), strict=True):
        if type(size) is not int or not 0 < size <= most or not isinstance(ends, list) or len(ends) != 2:
            return None
        if not all(type(end) in (int, float) for end in ends) or not ends[0] < ends[1]:
            return None
        found.append(Fine(Fraction(ends[0]), Fraction(ends[1]), size, all(type(end) is int for end in ends)))
    if made["together"] == "tree" and len({(grid.count, grid.count & (grid.count - 1)) for grid in found}) != 1:
        return None
    return tuple(found) if found and (made["together"] == "cdf" or not found[0].count & (found[0].count - 1)) else None


def _places(one: Certified, joint: Joint, grids: tuple[Fine, ...]) -> str:
    rows = list(zip(*one.answer.keys.values(), strict=True))
    if len(set(rows)) < len(rows):
        return "a bin is there twice"
    if not all(type(value) in (int, float) for row in rows for value in row):
        return "an end of a bin is no number"
    if isinstance(joint, JointCdf):
        edges = {joint.grid.edge(place + 1) for place in range(joint.grid.count)}
        return "" if {row[0] for row in rows} <= edges else "an edge is none of the grid"
    boxes = [_box(row, grids) for row in rows]
    if None in boxes:
        return "a bin is none of the tree"
    found = {box for box in boxes if box is not None}
    inside = any(above in found for depth, places in found for above in _above(depth, places))
    return "a bin lies in another" if inside else ""


Box = tuple[int, tuple[int, ...]]


def _box(row: tuple[Any, ...], grids: tuple[Fine, ...]) -> Box | None:
    """Return how often bounds are halved at least until they are the ends of a bin, and which part it is."""
    pairs = list(zip(row[::2], row[1::2], grids, strict=True))
    for depth in range(grids[0].count.bit_length()):
        cells, places = grids[0].count >> depth, []
        for low, _, grid in pairs:
            part = (Fraction(low) - grid.low) * 2**depth / (grid.high - grid.low)
            places.append(max(0, min(2**depth - 1, floor(part) if grid.whole else round(part))))
        ends = [
            (grid.edge(place * cells), grid.edge((place + 1) * cells))
            for place, grid in zip(places, grids, strict=True)
        ]
        if ends == [(low, high) for low, high, _ in pairs]:
            return depth, tuple(places)
    return None


def _above(depth: int, places: tuple[int, ...]) -> Iterator[Box]:
    """Yield the boxes that a box is a part of."""
    for up in range(1, depth + 1):
        yield depth - up, tuple(place >> up for place in places)
