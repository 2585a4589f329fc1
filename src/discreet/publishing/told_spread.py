"""What an answer says about how numbers are spread, against the tree that follows from its words.

The bounds, the cells, the unit's bounds and the planned epsilon give one mechanism, which is made again here: its loss,
its words and the width of every interval must be those that are stated. Where bins lie is up to the mechanism; they
must lie within the bounds, and none twice.
"""

from fractions import Fraction
from math import prod
from typing import Any

from discreet.publishing.certificate import Certified
from discreet.publishing.told_together import cost_of, told_otherwise, widths_of
from discreet.session.adaptive import JointTree
from discreet.session.cumulative import JointCdf
from discreet.session.fineness import DEEPEST, MOST_CELLS
from discreet.session.joint import Joint
from discreet.tables.fine import Fine
from discreet.units import Person, Row

__all__ = ["SPREAD", "problem_spread"]

SPREAD = ("tree", "cdf")


def problem_spread(one: Certified, unit: Row | Person) -> str:
    """Return the first thing that does not agree, or nothing."""
    made: dict[str, Any] = one.answer.parameters
    grids = _grids(made)
    if grids is None:
        return "the sizes and bounds are those of no grid"
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
    ends = [(grid.edge(0), grid.edge(grid.count)) for grid in grids]
    for row in rows:
        if not all(type(value) in (int, float) for value in row):
            return "an end of a bin is no number"
        pairs = [(row[2 * i], row[2 * i + 1]) for i in range(len(grids))] if isinstance(joint, JointTree) else []
        if any(not low <= a < b <= high for (a, b), (low, high) in zip(pairs, ends, strict=False)):
            return "a bin lies outside the bounds"
    if isinstance(joint, JointCdf) and not {row[0] for row in rows} <= {
        joint.grid.edge(place + 1) for place in range(joint.grid.count)
    }:
        return "an edge is none of the grid"
    return ""
