"""Synthetic rows as a released table, each once with how many there are; and back to rows.

The table is what a publication has of a synthesis: it can be hashed, stored and compared. Rows that are made of it have
the middle of their bin as a number, so that everybody makes the same ones.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.session.answer import Answer
from discreet.session.estimates import Estimates
from discreet.session.joint import Made
from discreet.session.synthesis.frames import Rows
from discreet.session.synthesis.rows import table_of
from discreet.session.synthesis.rules import condition
from discreet.tables.kinds import Value
from discreet.tables.synthetic import Coding

__all__ = ["RECORDS", "counted", "is_synthetic", "rows_of", "singles_told"]

RECORDS = "_records"
"""What is added to the name of a synthesis to name its files of rows."""


def is_synthetic(answer: Answer) -> bool:
    """Whether a released table is one of synthetic rows."""
    return answer.parameters.get("together") == "synthesis"


def counted(codes: npt.NDArray[np.int64], labels: Mapping[str, Sequence[Value]], count: str, method: str) -> Made:
    """Return coded rows as keys and counts, in the order of their codes."""
    found = Counter(map(tuple, codes.tolist()))
    listed = sorted(found)
    keys = {name: tuple(values[row[place]] for row in listed) for place, (name, values) in enumerate(labels.items())}
    value = tuple(found[row] for row in listed)
    nothing = (None,) * len(value)
    return keys, {count: Estimates(value=value, low=nothing, high=nothing, method=method)}


def singles_told(names: Sequence[str], measured: Sequence[Any]) -> dict[str, object]:
    """Return what the measurements tell of each column by itself: noisy counts, and their standard deviation."""
    found: dict[str, tuple[list[float], float]] = {}
    for one in measured:
        for axis, place in enumerate(one.attributes):
            others = tuple(i for i in range(len(one.attributes)) if i != axis)
            deviation = float(one.sigma) * (one.counts.size / one.counts.shape[axis]) ** 0.5
            if names[place] not in found or deviation < found[names[place]][1]:
                found[names[place]] = (one.counts.sum(axis=others).astype(float).tolist(), deviation)
    return {name: {"counts": counts, "deviation": deviation} for name, (counts, deviation) in found.items()}


def rows_of(answer: Answer) -> Rows:
    """Return the rows of a table of synthetic rows, one for each that is counted.

    >>> from discreet.accounting import PrivacyLoss
    >>> n = Estimates(value=(2, 1), low=(None, None), high=(None, None))
    >>> made = {"together": "synthesis", "types": {"age": "int"}, "edges": {"age": [0, 18, 120]}, "rules": []}
    >>> keys = {"age": ("[0, 18)", None)}
    >>> rows_of(Answer(keys=keys, columns={"n": n}, level=0.95, loss=PrivacyLoss.pure(1), parameters=made))["age"]
    [8, 8, None]
    """
    if not is_synthetic(answer):
        raise InvalidParameter("only a table of synthetic rows stands for rows.")
    made: dict[str, Any] = answer.parameters
    (column,) = answer.columns.values()
    times = np.array([_times(value) for value in column.value], dtype=np.int64)
    codings, codes = [], []
    for name, values in answer.keys.items():
        edges = tuple(Fraction(edge) for edge in made["edges"].get(name, ()))
        known = () if edges else tuple(dict.fromkeys(value for value in values if value is not None))
        coding = Coding(name, made["types"][name], values=known, edges=edges)
        places = {(type(label), label): place for place, label in enumerate(coding.labels)}
        codings.append(coding)
        codes.append(np.array([places[type(value), value] for value in values], dtype=np.int64))
    rules = [(rule, condition(rule, list(answer.keys))) for rule in made["rules"]]
    repeated = np.repeat(np.stack(codes, axis=1), times, axis=0)
    return Rows(
        table_of(repeated, codings, rules, "middle"),
        {one.name: one.kind for one in codings},
        {"discreet.loss": answer.loss.to_json()},
    )


def _times(value: object) -> int:
    if type(value) is not int or value < 0:
        raise InvalidParameter("synthetic rows are counted by whole numbers, none below 0.")
    return value
