"""What an answer says about groups that were answered together, against the mechanism that follows from its words.

The keys, the groupings, the unit's bounds and the planned epsilon give one mechanism, which is made again here: its
loss and the width of every interval must be those that are stated, row by row. The values of keys are those of the
answer; of an answer of which HAVING or LIMIT left a part, some values may be missing, and less can be compared.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any

from discreet.accounting.filters import Zcdp
from discreet.accounting.terms import DiscreteGaussian, DiscreteLaplace, Gaussian
from discreet.accounting.terms.base import Term
from discreet.publishing.certificate import Certified
from discreet.publishing.told_synthetic import problem_synthetic
from discreet.session import Answer
from discreet.session.joint import Budgeted, Joint
from discreet.session.levels import EVERYBODY, JointLevels
from discreet.session.margins import MOST_ENTRIES, JointMargins
from discreet.session.sums import JointSums
from discreet.tables.query import Query
from discreet.tables.together import Levels
from discreet.units import Person, Row

__all__ = ["cost_of", "described", "problem_together", "told_otherwise", "widths_of"]

NEAR = 1e-6
TINY = 2.0**-40
Made = dict[str, Any]


def problem_together(one: Certified, unit: Row | Person) -> str:
    """Return the first thing that does not agree, or nothing."""
    made: Made = one.answer.parameters
    sizes: dict[str, int] = made["sizes"]
    if list(sizes) != list(one.answer.keys) or not all(
        type(s) is int and 0 < s <= MOST_ENTRIES for s in sizes.values()
    ):
        return "the sizes are not those of its keys"
    groups, declared = unit.groups if isinstance(unit, Person) else 1, prod(sizes.values())
    if groups is None or made["groups"] != min(groups, declared):
        return "the answer counts persons in another number of groups"
    if made["keys"] != f"public: {declared:,} declared":
        return "there are more groups than declared"
    if any(len(values) > sizes[name] for name, values in _values(one.answer).items()):
        return "a key has more values than are declared"
    methods = {column.method for column in one.answer.columns.values()}
    if methods != set(made["noise"].values()):
        return "the noise of the counts is not listed"
    check = {"margins": _margins, "hierarchy": _hierarchy, "synthesis": problem_synthetic}.get(made["together"], _sums)
    return check(one, unit)


def _values(answer: Answer) -> dict[str, list[Any]]:
    """Return the values that each key has in the answer, in the order in which they come."""
    return {
        name: list(dict.fromkeys(value for value in column if value is not None))
        for name, column in answer.keys.items()
    }


def cost_of(one: Certified, unit: Row | Person) -> Budgeted:
    """Return what a joint release may cost by its words."""
    made: Made = one.answer.parameters
    epsilon, delta = Fraction(made["epsilon"]), Fraction(made["delta"])
    records = made["groups"] * made["rows"]
    if not delta:
        return Budgeted(unit.relation, records, epsilon=epsilon)
    return Budgeted(unit.relation, records, rho=Zcdp.reaching(epsilon, delta).limit)


def _ranges(made: Made) -> tuple[Any, ...]:
    """Return stand-ins for the values of keys, which the mechanism only counts; they take no room."""
    return tuple(range(size) for size in made["sizes"].values())


def _margins(one: Certified, unit: Row | Person) -> str:
    made: Made = one.answer.parameters
    names = tuple(made["sizes"])
    sets = tuple(tuple(name for name in names if name in listed) for listed in made["sets"])
    joint = JointMargins(names, _ranges(made), sets, cost_of(one, unit))
    deviations = dict(zip(sets, (deviation for _, deviation in joint.parts()), strict=True))
    keys = list(zip(*one.answer.keys.values(), strict=True))
    wanted = []
    for row in keys:
        grouping = tuple(name for name, value in zip(names, row, strict=True) if value is not None)
        if grouping not in deviations:
            return "a row is of no grouping that is listed"
        wanted.append(deviations[grouping])
    if len(set(keys)) < len(keys):
        return "a row is there twice"
    (column,) = one.answer.columns
    return told_otherwise(one, joint) or widths_of(one, joint, {column: wanted})


def _sums(one: Certified, unit: Row | Person) -> str:
    made: Made = one.answer.parameters
    joint = JointSums(tuple(made["sizes"]), _ranges(made), made["together"], cost_of(one, unit))
    if len(one.answer.columns) != 2:
        return "the answer has a column of bins and one of sums"
    whole = len(one.answer) == prod(made["sizes"].values())
    wanted: dict[str, Sequence[float] | None] = {}
    for name, each in zip(one.answer.columns, joint.each, strict=True):
        wanted[name] = [float(each[row % joint.bins]) for row in range(len(one.answer))] if whole else None
    return told_otherwise(one, joint) or widths_of(one, joint, wanted)


def told_otherwise(one: Certified, joint: Joint) -> str:
    """Return whether the words or the loss are not those of the mechanism."""
    if {joint.told} != {column.method for column in one.answer.columns.values()}:
        return "the noise is told in other words than its mechanism has"
    return "" if _near(joint.loss.terms, one.loss.terms) else "the loss is not that of the mechanism"


def widths_of(one: Certified, joint: Joint, wanted: Mapping[str, Sequence[float] | None]) -> str:
    """Compare every interval with the one that the mechanism gives its row; values lie in the middle."""
    beta = 1 - one.answer.level
    for name, column in one.answer.columns.items():
        for row, (value, low, high) in enumerate(zip(column.value, column.low, column.high, strict=True)):
            if low is None or high is None or value is None or isinstance(value, str):
                return "a number or its interval is missing"
            room = TINY * max(abs(low), abs(high))
            if abs((low + high) / 2 - value) > room + NEAR:
                return "a number does not lie in the middle of its interval"
            deviations = wanted[name]
            if deviations is not None:
                width = joint.half_width(deviations[row], beta)
                if abs((high - low) / 2 - width) > NEAR * width + room:
                    return "an interval is not as wide as the mechanism makes it"
    return ""


def _near(made: Sequence[tuple[Term, int]], told: Sequence[tuple[Term, int]]) -> bool:
    """Whether two losses have the same terms, of nearly the same sizes."""
    ours, theirs = sorted(map(_size, made)), sorted(map(_size, told))
    return len(ours) == len(theirs) and all(
        one[:3] == other[:3] and abs(one[3] - other[3]) <= NEAR * one[3]
        for one, other in zip(ours, theirs, strict=True)
    )


def _size(entry: tuple[Term, int]) -> tuple[str, int, int, float]:
    """Return the kind of a term, how often it comes, its whole sensitivity, and how large it is."""
    term, count = entry
    if isinstance(term, DiscreteGaussian):
        return "discrete", count, int(term.squared_sensitivity), float(term.sigma_squared)
    if isinstance(term, DiscreteLaplace):
        return "discrete laplace", count, int(term.sensitivity), float(term.scale)
    if isinstance(term, Gaussian):
        return "gaussian", count, 0, float(term.mu_squared)
    return type(term).__name__, count, 0, float(getattr(term, "epsilon", 0))


def _hierarchy(one: Certified, unit: Row | Person) -> str:
    """Make the hierarchy again from the query and the areas and values that the answer shows."""
    made: Made = one.answer.parameters
    asked = _asked(one.query)
    if asked is None:
        return "the query describes no hierarchy"
    said = {level or EVERYBODY: list(table) for level, table in asked.exact}
    if (list(asked.levels), [list(t) for t in asked.tables], said, [name for name, _ in asked.rules]) != (
        made["levels"],
        made["sets"],
        made["exact"],
        made["rules"],
    ):
        return "the answer says something else than its query"
    rho = sum(count * Fraction(term.rho) for term, count in one.loss.terms if isinstance(term, DiscreteGaussian))
    if not rho or abs(rho / Zcdp.reaching(Fraction(made["epsilon"]), Fraction(made["delta"])).limit - 1) > 1e-3:
        return "the terms of the loss give another epsilon"
    names, keys = tuple(made["sizes"]), list(zip(*one.answer.keys.values(), strict=True))
    spots = [names.index(level) for level in asked.levels]
    areas = tuple(dict.fromkeys(tuple(row[i] for i in spots) for row in keys if None not in [row[i] for i in spots]))
    values = _values(one.answer)
    if len(areas) != made["areas"] or not all(values.values()):
        return _weaker(one, made, unit)
    joint = JointLevels(names, tuple(tuple(values[name]) for name in names), asked, areas, cost_of(one, unit))
    if joint.hierarchy.cells.count != made["cells"]:
        return _weaker(one, made, unit)
    if not _near(joint.loss.terms, one.loss.terms):
        return "the loss is not that of the mechanism"
    return _levels_widths(one, joint, names, keys)


def _levels_widths(one: Certified, joint: JointLevels, names: tuple[str, ...], keys: list[tuple[Any, ...]]) -> str:
    beta, levels = 1 - one.answer.level, (EVERYBODY, *joint.asked.levels)
    (column,) = one.answer.columns.values()
    for row, low, high in zip(keys, column.low, column.high, strict=True):
        shown = [name for name, value in zip(names, row, strict=True) if value is not None]
        depth = sum(name in joint.asked.levels for name in shown)
        table = tuple(name for name in shown if name not in joint.asked.levels)
        if table not in joint.asked.tables or low is None or high is None:
            return "a row is of no table that is listed"
        place = joint.asked.tables.index(table)
        width = joint.half_width(joint.spread[levels[depth]][f"table {place}"], beta)
        if abs((high - low) / 2 - width) > NEAR * width + TINY * max(abs(low), abs(high)):
            return "an interval is not as wide as the mechanism makes it"
    return ""


def _weaker(one: Certified, made: Made, unit: Row | Person) -> str:
    """Compare what can be where rows are left out: the sensitivities of all terms but one, and how many they are."""
    records = made["groups"] * made["rows"]
    usual = records**2 * (2 if unit.relation == "replace_one" else 1)
    terms = one.loss.terms
    if not all(isinstance(term, DiscreteGaussian) for term, _ in terms):
        return "the loss has terms that are no measurements of a hierarchy"
    less = sum(count for term, count in terms if getattr(term, "squared_sensitivity", 0) != usual)
    if less > (1 if unit.relation == "replace_one" else 0):
        return "the sensitivities of the loss are not those of its unit"
    tables = (len(made["levels"]) + 1) * len(made["sets"])
    return "" if sum(count for _, count in terms) <= tables else "the loss has more terms than there are tables"


def _asked(text: str) -> Levels | None:
    """Return the hierarchy that a query describes."""
    asked = described(text).together
    return asked if isinstance(asked, Levels) else None


def described(text: str) -> Query:
    """Return what a query describes; its table is taken to have the columns that the query names."""
    from sqlglot import exp

    from discreet.tables.sql import parse
    from discreet.tables.sql.dialect import tree
    from discreet.tables.sql.options import options
    from discreet.tables.sql.words import words

    select = tree(options(words(text))[1], text)
    tables = list(dict.fromkeys(one.name for one in select.find_all(exp.Table)))
    made = {item.alias for item in select.expressions if isinstance(item, exp.Alias) and item.this.name != item.alias}
    columns = list(dict.fromkeys(one.name for one in select.find_all(exp.Column) if one.name not in made))
    return parse(text, {tables[0]: columns})
