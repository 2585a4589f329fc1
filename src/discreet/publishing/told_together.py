"""What an answer says about groups that were answered together, against the mechanism that follows from its words.

The sizes of keys, the groupings, the unit's bounds and the planned epsilon give one mechanism: its loss and the width
of every interval are computed again. Of a hierarchy, whose areas are not in the answer, the terms of the loss and their
sum are compared.
"""

from fractions import Fraction
from math import prod
from typing import Any

from discreet.accounting.filters import Zcdp
from discreet.accounting.terms import DiscreteGaussian, Gaussian
from discreet.accounting.terms.base import Term
from discreet.publishing.certificate import Certified
from discreet.session.joint import Budgeted, Joint, half_width
from discreet.session.margins import JointMargins
from discreet.session.sums import JointSums
from discreet.tables.together import rollup
from discreet.units import Person, Row

__all__ = ["problem_together"]

NEAR = 1e-6


def problem_together(one: Certified, unit: Row | Person) -> str:
    """Return the first thing that does not agree, or nothing."""
    made = one.answer.parameters
    groups = unit.groups if isinstance(unit, Person) else 1
    declared = _declared(made)
    if groups is None or made["groups"] != min(groups, declared):
        return "the answer counts persons in another number of groups"
    if made["keys"] != f"public: {declared:,} declared":
        return "there are more groups than declared"
    methods = {column.method for column in one.answer.columns.values()}
    if methods != set(made["noise"].values()):  # type: ignore[attr-defined]
        return "the noise of the counts is not listed"
    return _hierarchy(one) if made["together"] == "hierarchy" else _recomputed(one, unit)


def _declared(made: dict[str, Any]) -> int:
    return prod(made["sizes"].values())


def _cost(one: Certified, unit: Row | Person) -> Budgeted:
    made: dict[str, Any] = one.answer.parameters
    epsilon, delta = Fraction(made["epsilon"]), Fraction(made["delta"])
    records = made["groups"] * made["rows"]
    if not delta:
        return Budgeted(unit.relation, records, epsilon=epsilon)
    return Budgeted(unit.relation, records, rho=Zcdp.reaching(epsilon, delta).limit)


def _recomputed(one: Certified, unit: Row | Person) -> str:
    """Make the mechanism again and compare its loss and its errors."""
    made: dict[str, Any] = one.answer.parameters
    names = tuple(made["sizes"])
    values = tuple(tuple(range(size)) for size in made["sizes"].values())
    cost = _cost(one, unit)
    joint: Joint
    if made["together"] == "margins":
        joint = JointMargins(names, values, tuple(map(tuple, made["sets"])), cost)
    else:
        joint = JointSums(names, values, made["together"], cost)
    if {joint.told} != set(made["noise"].values()):
        return "the noise is told in other words than its mechanism has"
    if not _near(dict(joint.loss.terms), dict(one.loss.terms)):
        return "the loss is not that of the mechanism"
    wanted = _widths(joint, 1 - one.answer.level)
    for column in one.answer.columns.values():
        for low, high in zip(column.low, column.high, strict=True):
            if (
                low is None
                or high is None
                or not any(abs((high - low) / 2 - w) <= NEAR * (w + abs(high)) for w in wanted)
            ):
                return "an interval is not as wide as the mechanism makes it"
    return ""


def _widths(joint: Joint, beta: float) -> list[float]:
    width = half_width(joint.kind, beta)
    return sorted({width * deviation for deviation in joint.all_deviations()})


def _close(one: float, other: float, size: float) -> bool:
    return abs(one - other) <= NEAR * (other + abs(size))


def _near(made: dict[Term, int], told: dict[Term, int]) -> bool:
    """Whether two losses are one term of the same kind with nearly the same size."""
    if len(made) != 1 or len(told) != 1:
        return False
    ((one, often),), ((other, times),) = made.items(), told.items()
    size, told_size = _size(one), _size(other)
    return type(one) is type(other) and often == times and abs(size - told_size) <= NEAR * size


def _size(term: Term) -> float:
    return float(term.mu_squared if isinstance(term, Gaussian) else getattr(term, "epsilon", 0))


def _hierarchy(one: Certified) -> str:
    made: dict[str, Any] = one.answer.parameters
    terms = list(one.loss.terms)
    records = made["groups"] * made["rows"]
    allowed = {records**2, 2 * records**2}
    if not all(isinstance(term, DiscreteGaussian) and term.squared_sensitivity in allowed for term, _ in terms):
        return "the loss has terms that are no measurements of a hierarchy"
    if sum(count for _, count in terms) > (len(rollup([(level,) for level in made["levels"]]))) * len(made["sets"]):
        return "the loss has more terms than there are tables"
    rho = sum(count * Fraction(term.rho) for term, count in terms if isinstance(term, DiscreteGaussian))
    limit = Zcdp.reaching(Fraction(made["epsilon"]), Fraction(made["delta"])).limit
    return "" if abs(rho / limit - 1) <= 1e-3 else "the terms of the loss give another epsilon"
