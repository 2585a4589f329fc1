"""What is impossible in a copy, as masks over the codes of a few columns each.

A rule is a condition that holds for every possible row, in the sense of CHECK: a row for which it is unknown, because
a value is missing, is possible. A bin is impossible only if no number in it fulfils the rule: between the constants
that the rule compares with, its truth does not change, so a few numbers of each bin are tried.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter, InvalidQuery
from discreet.session.post import COMPARE, holds
from discreet.tables.expressions import Call, Constant, Expression, Name, names_in
from discreet.tables.kinds import Value, kind_of
from discreet.tables.synthetic import Coding, Determined, Synthetic

__all__ = ["Masks", "Rule", "candidates", "condition", "constants_of", "masks_of", "rules_of"]

Masks = dict[tuple[int, ...], npt.NDArray[np.bool_]]
Rule = tuple[str, Expression]

MOST_TRIED = 1 << 20
NUMBERS = ("int", "float")


def condition(text: str, names: Sequence[str]) -> Expression:
    """Return a condition over columns that was written as SQL.

    >>> condition("age >= 15 OR NOT married", ["age", "married"])
    ((col('age') >= 15) | (~col('married')))
    """
    from discreet.tables.sql import parse

    made = parse(f"SELECT COUNT(*) AS n FROM cells WHERE {text}", {"cells": list(names)})  # noqa: S608
    others = (made.keys, made.joins, made.order, *(one is not None for one in (made.kept, made.most, made.epsilon)))
    if len(made.filters) != 1 or any(others):
        raise InvalidQuery("a rule is one condition over columns. Write 'age >= 15 OR NOT married'.")
    return made.filters[0]


def rules_of(asked: Synthetic, codings: Sequence[Coding]) -> list[Rule]:
    """Return the rules as expressions, or say what is wrong with one."""
    names = [one.name for one in codings]
    found = []
    for rule in asked.rules:
        made = condition(rule, names)
        _check(rule, made, {one.name: one for one in codings})
        found.append((rule, made))
    return found


def masks_of(asked: Synthetic, codings: Sequence[Coding]) -> Masks:
    """Return which combinations of codes are impossible, by the places of columns.

    >>> sex = Coding("sex", "str", values=("f", "m"), nulls=False)
    >>> age = Coding("age", "int", values=(1, 2), nulls=False)
    >>> {at: mask.tolist() for at, mask in masks_of(Synthetic(rules=("sex = 'f' OR age > 1",)), [sex, age]).items()}
    {(0, 1): [[False, False], [True, False]]}
    """
    places = {one.name: place for place, one in enumerate(codings)}
    found: Masks = {}
    for text, rule in rules_of(asked, codings):
        attributes = tuple(sorted({places[name] for name in names_in(rule)}))
        mask = _mask(text, rule, [codings[place] for place in attributes])
        found[attributes] = found.get(attributes, np.zeros(mask.shape, dtype=np.bool_)) | mask
    for one in asked.determined:
        attributes, mask = _dependency(one, codings, places)
        found[attributes] = found.get(attributes, np.zeros(mask.shape, dtype=np.bool_)) | mask
    for attributes, mask in found.items():
        if mask.all():
            told = ", ".join(codings[place].name for place in attributes)
            raise InvalidParameter(f"the rules leave nothing possible of {told}.")
    return found


def _mask(text: str, rule: Expression, codings: Sequence[Coding]) -> npt.NDArray[np.bool_]:
    constants = sorted(set(constants_of(rule)))
    choices = [[candidates(one, code, constants) for code in range(one.size)] for one in codings]
    if math.prod(sum(map(len, each)) for each in choices) > MOST_TRIED:
        raise InvalidParameter(f"the rule {text!r} looks at too many combinations. Cut its columns more coarsely.")
    mask = np.zeros(tuple(one.size for one in codings), dtype=np.bool_)
    names = [one.name for one in codings]
    for cell in product(*(range(one.size) for one in codings)):
        tried = product(*(choices[axis][code] for axis, code in enumerate(cell)))
        mask[cell] = all(holds(rule, dict(zip(names, row, strict=True))) is False for row in tried)
    return mask


def candidates(coding: Coding, code: int, constants: Sequence[Fraction]) -> list[Value]:
    """Return values of a code among which the truth of a rule is told: ends, constants, and what lies between."""
    if coding.nulls and code == coding.size - 1:
        return [None]
    if not coding.edges:
        return [coding.values[code]]
    low, high = coding.within(code)
    last = code == len(coding.edges) - 2
    if coding.kind == "int":
        top = math.floor(high) if last else math.ceil(high) - 1
        near = {
            math.ceil(low),
            top,
            *(math.floor(c) + step for c in constants if low <= c <= high for step in (-1, 0, 1)),
        }
        return [point for point in sorted(near) if low <= point <= top]
    points = sorted({low, high, *(c for c in constants if low < c < high)})
    between = [(a + b) / 2 for a, b in pairwise(points)]
    return [float(point) for point in sorted({*points, *between}) if point < high or last]


def constants_of(rule: Expression) -> Iterable[Fraction]:
    """Yield the numbers that a rule compares with."""
    if isinstance(rule, Constant) and isinstance(rule.value, int | float) and not isinstance(rule.value, bool):
        yield Fraction(rule.value)
    if isinstance(rule, Call):
        yield from (Fraction(one) for one in rule.options if isinstance(one, int | float) and type(one) is not bool)
        for part in rule.arguments:
            yield from constants_of(part)


def _check(text: str, rule: Expression, codings: Mapping[str, Coding]) -> None:
    """Refuse what cannot be decided from the values of one row, and comparisons of different types."""
    if unknown := [name for name in names_in(rule) if name not in codings]:
        raise InvalidParameter(f"the rule {text!r} looks at {unknown[0]!r}, which is no column of the copy.")
    if isinstance(rule, Name) and codings[rule.name].kind == "bool":
        return
    if not isinstance(rule, Call):
        raise InvalidParameter(f"the rule {text!r} is no condition: compare columns with values.")
    if rule.function in ("and", "or", "not"):
        for part in rule.arguments:
            _check(text, part, codings)
        return
    plain = all(isinstance(one, Name | Constant) for one in rule.arguments)
    if rule.function not in (*COMPARE, "is_in", "is_null") or not plain:
        raise InvalidParameter(
            f"the rule {text!r} compares columns with values by =, <>, <, <=, >, >=, IN and IS NULL, joined by AND, OR "
            "and NOT."
        )
    kinds = {_kind(codings[one].kind) for one in names_in(rule)}
    told = [one.value for one in rule.arguments if isinstance(one, Constant)] + list(rule.options)
    kinds |= {_kind(kind_of(value)) for value in told if value is not None}
    if len(kinds) > 1 or (None in told and rule.function != "is_null"):
        raise InvalidParameter(f"the rule {text!r} compares a column with a value of another type.")


def _kind(kind: str) -> str:
    return "number" if kind in NUMBERS else kind


def _dependency(
    one: Determined, codings: Sequence[Coding], places: Mapping[str, int]
) -> tuple[tuple[int, ...], npt.NDArray[np.bool_]]:
    """Return a mask of all pairs that are not on the list of what follows from what."""
    for name in (one.column, one.by):
        if name not in places:
            raise InvalidParameter(f"{name!r} is no column of the copy, and nothing can follow from it or to it.")
    follows, by = codings[places[one.column]], codings[places[one.by]]
    if one.column == one.by or follows.edges or by.edges:
        raise InvalidParameter(f"{one.column} follows from {one.by} by a list of values: neither is cut into bins.")
    known = {(type(key), key): value for key, value in one.values}
    mask = np.zeros((by.size, follows.size), dtype=np.bool_)
    for code, value in enumerate(by.labels):
        if (type(value), value) in known:
            wanted = known[type(value), value]
            mask[code] = [(type(label), label) != (type(wanted), wanted) for label in follows.labels]
            if mask[code].all():
                raise InvalidParameter(f"what follows from a value of {one.by} is no value of {one.column}.")
    if places[one.by] < places[one.column]:
        return (places[one.by], places[one.column]), mask
    return (places[one.column], places[one.by]), mask.T
