"""What an answer of synthetic rows says about itself, against the synthesizer that follows from its words.

The method, the sizes of the columns, the bounds of the unit and the planned epsilon give one synthesizer, which is made
again here: its loss must be the one that is stated. Counts of rows have no interval, and none may be claimed. The rows
must fulfil the rules that are stated, and be as many as was asked for.
"""

from fractions import Fraction
from typing import Any

from discreet.accounting.filters import Zcdp
from discreet.publishing.certificate import Certified
from discreet.session.joint import Budgeted
from discreet.session.post import holds
from discreet.session.synthesis.counted import rows_of
from discreet.session.synthesis.joint import GAUSSIAN, GEOMETRIC
from discreet.session.synthesis.methods import METHODS, made
from discreet.session.synthesis.rules import condition
from discreet.units import Person, Row

__all__ = ["problem_synthetic"]

NEAR = 1e-9


def problem_synthetic(one: Certified, unit: Row | Person) -> str:
    """Return the first thing that does not agree, or nothing."""
    told: dict[str, Any] = one.answer.parameters
    epsilon, delta = Fraction(told["epsilon"]), Fraction(told["delta"])
    records = told["groups"] * told["rows"]
    cost = Budgeted(unit.relation, records, epsilon=epsilon)
    if delta:
        cost = Budgeted(unit.relation, records, rho=Zcdp.reaching(epsilon, delta).limit)
    method = METHODS[told["method"]]
    words = f"synthetic rows by {method.told}, {GAUSSIAN if delta else GEOMETRIC}"
    if {words} != {column.method for column in one.answer.columns.values()}:
        return "the noise is told in other words than its synthesizer has"
    loss = made(told["method"], tuple(told["sizes"].values()), cost).loss
    ours, theirs = sorted(map(_size, loss.terms)), sorted(map(_size, one.loss.terms))
    if [term[:3] for term in ours] != [term[:3] for term in theirs]:
        return "the loss has other terms than the synthesizer"
    if any(abs(a[3] - b[3]) > NEAR * abs(a[3]) for a, b in zip(ours, theirs, strict=True)):
        return "the loss is not that of the synthesizer"
    return _rows(one)


def _rows(one: Certified) -> str:
    (column,) = one.answer.columns.values()
    if any(end is not None for end in (*column.low, *column.high)):
        return "an interval is claimed for a row, and none is known"
    keys: list[tuple[object, ...]] = list(zip(*one.answer.keys.values(), strict=True))
    if len(set(keys)) < len(keys):
        return "a row is there twice"
    told: dict[str, Any] = one.answer.parameters
    wanted, rows = told["wanted"], rows_of(one.answer)
    if wanted is not None and len(rows) not in (0, wanted):
        return "there are more or fewer rows than were asked for"
    rules = [condition(rule, list(one.answer.keys)) for rule in told["rules"]]
    broken = any(holds(rule, row) is False for rule in rules for row in rows)
    return "a row breaks a rule" if broken else ""


def _size(entry: tuple[Any, int]) -> tuple[str, int, int, float]:
    """Return the kind of a term, how often it comes, its whole sensitivity, and how large it is."""
    term, count = entry
    amount = next((float(getattr(term, name)) for name in SIZES if hasattr(term, name)), 0.0)
    sensitivity = getattr(term, "squared_sensitivity", getattr(term, "sensitivity", 0))
    return type(term).__name__, count, int(sensitivity), amount


SIZES = ("sigma_squared", "scale", "epsilon", "rho")
"""What tells how large a term is, by its kind."""
