"""Rows of a model: codes that are possible, and values in place of codes.

A value in a bin is drawn evenly between its public edges, or is its middle: the data said nothing about where in a bin
values lie. A missing value is missing again, and values that were not listed or too rare to be shown are too.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import islice, product
from math import ceil, floor
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.noise import source, uniform_below
from discreet.session.post import holds
from discreet.session.synthesis.rules import Masks, Rule, candidates, constants_of
from discreet.tables.expressions import names_in
from discreet.tables.kinds import Value
from discreet.tables.synthetic import Coding, Numbers

__all__ = ["possible_codes", "table_of"]

Int64 = npt.NDArray[np.int64]

TRIES = 30
"""How often a number in a bin is drawn again that breaks a rule."""

MOST_TRIED = 10_000


def possible_codes(model: Any, zeros: Masks, rows: int | None) -> Int64:  # noqa: ANN401  a model
    """Return coded rows of a model, none of which is impossible.

    A model that knows what is impossible never makes it. Of others, impossible rows are left out and made again, and
    if even that does not end, possible ones are repeated.
    """
    from discreet.synthetic.microdata import records_of

    codes: Int64 = records_of(model, rows)
    count = len(codes)
    kept: Int64 = codes[~_impossible(codes, zeros)]
    for _ in range(TRIES):
        if len(kept) == count:
            return kept
        more = records_of(model, max(2 * (count - len(kept)), 64))
        kept = np.concatenate([kept, more[~_impossible(more, zeros)]])[:count]
    if not len(kept):
        return kept
    again = np.asarray(uniform_below(len(kept), count - len(kept))).astype(np.int64)
    repeated: Int64 = kept[np.concatenate([np.arange(len(kept)), again])]
    return repeated


def _impossible(codes: Int64, zeros: Masks) -> npt.NDArray[np.bool_]:
    wrong = np.zeros(len(codes), dtype=np.bool_)
    for attributes, mask in zeros.items():
        wrong |= mask[tuple(codes[:, place] for place in attributes)]
    return wrong


def table_of(
    codes: Int64, codings: Sequence[Coding], rules: Sequence[Rule] = (), numbers: Numbers = "uniform"
) -> dict[str, list[Value]]:
    """Return columns of values in place of codes; numbers in bins are drawn again where they break a rule.

    >>> age = Coding("age", "int", edges=(Fraction(0), Fraction(18), Fraction(120)))
    >>> table_of(np.array([[0], [1], [2]]), [age], numbers="middle")
    {'age': [8, 69, None]}
    """
    found = {one.name: _values(codes[:, place], one, numbers) for place, one in enumerate(codings)}
    binned = [place for place, one in enumerate(codings) if one.edges]
    touched = list(rules) if binned else []
    wrong = _broken(found, touched)
    for _ in range(TRIES if numbers == "uniform" else 0):
        if not len(wrong):
            return found
        for place in binned:
            one = codings[place]
            for row, value in zip(wrong, _values(codes[wrong, place], one, "uniform"), strict=True):
                found[one.name][row] = value
        wrong = wrong[np.isin(wrong, wrong[_broken(_some(found, wrong), touched)])]
    return _repaired(found, codes, codings, touched, wrong)


def _values(codes: Int64, coding: Coding, numbers: Numbers) -> list[Value]:
    labels = np.empty(coding.size, dtype=object)
    if not coding.edges:
        labels[:] = coding.labels
        return list(labels[codes])
    drawn = [_in_bin(coding, place, int((codes == place).sum()), numbers) for place in range(len(coding.edges) - 1)]
    out = np.empty(len(codes), dtype=object)
    for place, values in enumerate(drawn):
        out[codes == place] = values
    return list(out)


def _in_bin(coding: Coding, place: int, count: int, numbers: Numbers) -> npt.NDArray[np.object_]:
    """Return numbers between the edges of a bin, whole ones of whole numbers; the last bin has its upper edge."""
    low, high = coding.within(place)
    last = place == len(coding.edges) - 2
    out = np.empty(count, dtype=object)
    if coding.kind == "int":
        first, final = ceil(low), floor(high) if last else ceil(high) - 1
        if numbers == "middle" or final <= first:
            out[:] = (first + final) // 2
        else:
            out[:] = [first + int(step) for step in np.asarray(uniform_below(final - first + 1, count))]
        return out
    if numbers == "middle":
        out[:] = float((low + high) / 2)
        return out
    parts = (source().words(count) >> np.uint64(11)) * 2.0**-53
    out[:] = np.minimum(float(low) + parts * float(high - low), _below(high)).tolist()
    return out


def _below(high: Fraction) -> float:
    return float(np.nextafter(float(high), -np.inf))


def _broken(columns: Mapping[str, Sequence[Value]], rules: Sequence[Rule]) -> Int64:
    """Return the rows for which a rule does not hold."""
    if not rules or not columns:
        return np.zeros(0, dtype=np.int64)
    names = list(columns)
    wrong = [
        place
        for place, row in enumerate(zip(*columns.values(), strict=True))
        if any(holds(rule, dict(zip(names, row, strict=True))) is False for _, rule in rules)
    ]
    return np.array(wrong, dtype=np.int64)


def _some(columns: Mapping[str, Sequence[Value]], rows: Int64) -> dict[str, list[Value]]:
    return {name: [values[row] for row in rows.tolist()] for name, values in columns.items()}


def _repaired(
    columns: dict[str, list[Value]], codes: Int64, codings: Sequence[Coding], rules: Sequence[Rule], wrong: Int64
) -> dict[str, list[Value]]:
    """Return the columns with numbers, in rows that break a rule, that are the nearest to the middle that do not.

    Where no numbers in the bins fulfil all rules together, the row is a copy of one that does.
    """
    if not len(wrong):
        return columns
    looked = {name for _, rule in rules for name in names_in(rule)}
    places = [place for place, one in enumerate(codings) if one.edges and one.name in looked]
    constants = sorted({constant for _, rule in rules for constant in constants_of(rule)})
    known: dict[tuple[object, ...], dict[str, Value] | None] = {}
    lost = []
    for row in wrong.tolist():
        told = {name: values[row] for name, values in columns.items()}
        key = tuple(codes[row, place] if one.edges else told[one.name] for place, one in enumerate(codings))
        if key not in known:
            bins = [(codings[place], int(codes[row, place])) for place in places]
            known[key] = _nearest(told, bins, constants, rules)
        found = known[key]
        if found is None:
            lost.append(row)
        for name, value in (found or {}).items():
            columns[name][row] = value
    right = sorted(set(range(len(codes))) - set(lost))
    if not right:
        return {name: [] for name in columns}
    for row in lost:
        for values in columns.values():
            values[row] = values[right[row % len(right)]]
    return columns


def _nearest(
    row: Mapping[str, Value], bins: Sequence[tuple[Coding, int]], constants: Sequence[Fraction], rules: Sequence[Rule]
) -> dict[str, Value] | None:
    choices = [
        sorted(candidates(one, code, constants), key=lambda value, one=one, code=code: _from_middle(value, one, code))  # type: ignore[misc]
        for one, code in bins
    ]
    for tried in islice(product(*choices), MOST_TRIED):
        moved = {one.name: value for (one, _), value in zip(bins, tried, strict=True)}
        if not any(holds(rule, {**row, **moved}) is False for _, rule in rules):
            return moved
    return None


def _from_middle(value: Value, coding: Coding, code: int) -> float:
    if not isinstance(value, int | float):
        return 0.0
    low, high = coding.within(code)
    return abs(float(value) - float(low + high) / 2)
