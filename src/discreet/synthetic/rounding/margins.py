"""Whole numbers in a table whose rows and columns have given sums.

Rounding a table so that rows and columns keep their sums is a flow through a network, whose matrix is totally
unimodular: a vertex of the linear program is whole without being asked to (Hoffman and Kruskal 1956; Cox, "A
Constructive Procedure for Unbiased Controlled Rounding", JASA 1987). That stays so if the columns are cut into groups,
these into smaller groups and so on, and each row keeps the sum of each group: two nested families of sums.

If the real table has the sums that must be kept, every entry and every other sum goes to its floor or its ceiling, and
the total distance is the least. If it has them only nearly, entries move further where they must. When time is up, what
is missing is filled in from the corner, which keeps the sums too but is not the closest.
"""

import time
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import optimize, sparse

from discreet.errors import InvalidParameter
from discreet.synthetic.rounding.largest_remainder import NEARLY, largest_remainder

__all__ = ["round_margins"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Number = TypeVar("Number", np.int64, np.float64)

HEAVIEST = float(1 << 62)
"""Sums from here on could pass what 64 bits hold."""


def round_margins(
    values: npt.ArrayLike,
    *,
    columns: npt.ArrayLike,
    rows: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    nested: Sequence[npt.ArrayLike] = (),
    deadline: float | None = None,
) -> Integers:
    """Return a table of whole numbers of at least 0 near ``values`` whose columns, and rows, have the given sums.

    ``groups`` says for each column to which group it belongs; ``rows`` then has one column for each group. Sums of
    rows and of columns must agree, group by group. Without ``rows`` those of the values are kept up to rounding, as are
    those of every list of groups in ``nested``; lists of groups must refine one another. ``deadline`` is a time of
    ``time.monotonic()``.

    >>> round_margins([[0.5, 0.5], [0.5, 0.5]], rows=[1, 1], columns=[1, 1]).sum(axis=0).tolist()
    [1, 1]
    >>> round_margins([[0.7, 0.4, 0.9], [0.3, 0.6, 0.1]], columns=[1, 1, 1]).tolist()
    [[1, 0, 1], [0, 1, 0]]
    """
    table, down = np.asarray(values, dtype=np.float64), np.asarray(columns)
    _check(table, down)
    down = down.astype(np.int64)
    group = np.zeros(table.shape[1], dtype=np.int64) if groups is None else np.asarray(groups, dtype=np.int64)
    across = None if rows is None else np.asarray(rows)
    across = across[:, None] if across is not None and across.ndim == 1 else across
    if across is not None:
        across = _checked_rows(across, table, down, group)
    parts = [(np.asarray(labels, dtype=np.int64)) for labels in nested]
    if across is None:
        parts.append(group)
    floors = np.floor(table + NEARLY).astype(np.int64)
    if not (down - floors.sum(axis=0)).any() and (across is None or np.array_equal(_sums(floors, group), across)):
        return floors
    for wide in (False, True):
        if deadline is not None and time.monotonic() >= deadline:
            break
        moved = _flow(table, floors, across, down, group, [] if wide else parts, wide, deadline)
        if moved is not None:
            return moved
    if across is None:
        across = np.asarray(largest_remainder(table.sum(axis=1), down.sum()))[:, None]
        group = np.zeros_like(group)
    result = np.zeros_like(floors)
    for index in range(across.shape[1]):
        part = group == index
        result[:, part] = _filled(floors[:, part], across[:, index], down[part])
    return result


def _check(table: Floats, columns: Integers) -> None:
    if table.ndim != 2 or 0 in table.shape or columns.shape != (table.shape[1],):
        raise InvalidParameter("a table has rows and columns, and one sum for each of its columns.")
    if not np.all(np.isfinite(table)) or np.any(table < 0):
        raise InvalidParameter("values must be finite numbers of at least 0. Project them first.")
    if columns.dtype.kind not in "iu" or np.any(columns < 0):
        raise InvalidParameter("the sums of columns must be whole numbers of at least 0.")
    if max(float(table.sum()), float(columns.sum(dtype=np.float64))) >= HEAVIEST:
        raise InvalidParameter("the values, and the sums of columns, must each add up to less than 2**62.")


def _checked_rows(rows: Integers, table: Floats, columns: Integers, group: Integers) -> Integers:
    if rows.shape[0] != table.shape[0] or rows.dtype.kind not in "iu" or np.any(rows < 0):
        raise InvalidParameter("the sums of rows must be whole numbers of at least 0, one line for each row.")
    if group.shape != columns.shape or np.any(group < 0) or np.any(group >= rows.shape[1]):
        raise InvalidParameter("groups must say for each column to which column of rows= its group belongs.")
    if float(rows.sum(dtype=np.float64)) < HEAVIEST:
        whole = rows.astype(np.int64)
        if np.array_equal(whole.sum(axis=0), _sums(columns[None, :], group, rows.shape[1])[0]):
            return whole
    raise InvalidParameter("the sums of rows and those of columns must have the same total in every group.")


def _sums(table: npt.NDArray[Number], labels: Integers, count: int | None = None) -> npt.NDArray[Number]:
    """Return for each row the sum of each group of columns."""
    number = int(labels.max()) + 1 if count is None else count
    sums = np.zeros((table.shape[0], number), dtype=table.dtype)
    np.add.at(sums.T, labels, table.T)
    return sums


def _flow(
    table: Floats,
    floors: Integers,
    rows: Integers | None,
    columns: Integers,
    group: Integers,
    parts: list[Integers],
    wide: bool,
    deadline: float | None,
) -> Integers | None:
    """Return the closest table by linear programming, or None if there is none within reach.

    A variable for each entry with a remainder says whether it goes up. In a wide program every entry may also go up
    or down by more, at a cost of one for each unit.
    """
    remainder = np.maximum(table - floors, 0.0)
    r, c = np.nonzero(remainder > NEARLY)
    cost, most, sign = 1 - 2 * remainder[r, c], np.ones(r.size), np.ones(r.size)
    if wide:
        every_r, every_c = (places.reshape(-1) for places in np.indices(table.shape))
        held_r, held_c = np.nonzero(floors > 0)
        cost = np.concatenate([cost, np.full(every_r.size + held_r.size, 1.0 + NEARLY)])
        most = np.concatenate([most, np.full(every_r.size, np.inf), floors[held_r, held_c]])
        sign = np.concatenate([sign, np.ones(every_r.size), -np.ones(held_r.size)])
        r, c = np.concatenate([r, every_r, held_r]), np.concatenate([c, every_c, held_c])
    if r.size == 0:
        return None
    exact, ends = [_incidence(c, sign, table.shape[1])], [columns - floors.sum(axis=0)]
    if rows is not None:
        exact.append(_incidence(r * rows.shape[1] + group[c], sign, rows.size))
        ends.append((rows - _sums(floors, group, rows.shape[1])).reshape(-1))
    bounded, limits = [], []
    for labels in parts:
        count = int(labels.max()) + 1
        above = _incidence(r * count + labels[c], sign, table.shape[0] * count)
        sums, held = _sums(table, labels).reshape(-1), _sums(floors, labels).reshape(-1)
        bounded += [above, -above]
        limits += [np.ceil(sums - NEARLY * 100) - held, held - np.floor(sums + NEARLY * 100)]
    solve: Any = optimize.linprog  # its stubs know no sparse matrices
    found = solve(
        cost,
        A_eq=sparse.csr_array(sparse.vstack(exact)),
        b_eq=np.concatenate(ends),
        A_ub=sparse.csr_array(sparse.vstack(bounded)) if bounded else None,
        b_ub=np.concatenate(limits) if bounded else None,
        bounds=np.column_stack([np.zeros(r.size), most]),
        method="highs-ds",
        options={} if deadline is None else {"time_limit": max(0.01, deadline - time.monotonic())},
    )
    if found.status != 0:
        return None
    moved = floors.copy()
    np.add.at(moved, (r, c), (sign * np.rint(found.x)).astype(np.int64))
    kept = np.array_equal(moved.sum(axis=0), columns) and not np.any(moved < 0)
    kept = kept and (rows is None or np.array_equal(_sums(moved, group, rows.shape[1]), rows))
    return moved if kept else None


def _incidence(row: Integers, sign: Floats, count: int) -> sparse.csr_array:
    """Return the matrix in which variable k takes part in sum ``row[k]``."""
    return sparse.csr_array((sign, (row, np.arange(row.size))), shape=(count, row.size))


def _filled(floors: Integers, rows: Integers, columns: Integers) -> Integers:
    """Return a table with the right sums: floors lowered where they are too many, and the rest filled from the corner.

    Row and column intervals of what is missing are laid side by side; where they overlap, that many units go.
    """
    kept = floors
    for axis, most in ((1, rows), (0, columns)):
        sums = kept.sum(axis=axis)
        share = np.minimum(1.0, most / np.maximum(sums, 1))
        kept = np.floor(kept * np.expand_dims(share, axis) * (1 - 1e-12) + 1e-9).astype(np.int64)
        over = kept.sum(axis=axis) > most
        if np.any(over):
            kept[over if axis == 1 else (slice(None), over)] = 0
    edges_r = np.concatenate([[0], np.cumsum(rows - kept.sum(axis=1))])
    edges_c = np.concatenate([[0], np.cumsum(columns - kept.sum(axis=0))])
    edges = np.unique(np.concatenate([edges_r, edges_c]))
    starts, lengths = edges[:-1], np.diff(edges)
    row = np.searchsorted(edges_r, starts, side="right") - 1
    column = np.searchsorted(edges_c, starts, side="right") - 1
    filled = kept.copy()
    np.add.at(filled, (row, column), lengths)
    return filled
