"""Whole numbers that keep any list of linear facts.

First a linear program: each entry goes to its floor or ceiling, all facts are kept, the total distance is the least.
Where the facts form a tree, or two, the program is totally unimodular and its vertex is whole (Hoffman and Kruskal
1956). For other facts a whole solution is hard to find, so it is searched for by branch and bound (HiGHS) until a
deadline; first between floors and ceilings, then anywhere above zero. If nothing is found in time, or if no whole
vector keeps the facts, each entry is rounded on its own and the result says which facts it does not keep.
"""

import math
import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import optimize, sparse

from discreet.errors import InvalidParameter
from discreet.synthetic.consistency.constraints import Constraints
from discreet.synthetic.rounding.largest_remainder import NEARLY

__all__ = ["Rounded", "round_controlled"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

LARGEST = float(1 << 53)

Method = Literal["vertex", "search", "each alone"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rounded:
    """Whole numbers, how they were found, and the names of the facts they do not keep."""

    values: Integers
    method: Method
    violated: tuple[str, ...]


def round_controlled(values: npt.ArrayLike, constraints: Constraints, *, seconds: float = 10.0) -> Rounded:
    """Return whole numbers near ``values`` that keep the constraints, searched for at most so many seconds.

    >>> facts = Constraints(4).equal("everybody", [0, 1, 2, 3], 4).equal("women", [0, 1], 1)
    >>> rounded = round_controlled([0.7, 0.3, 1.4, 1.6], facts)
    >>> rounded.values.tolist(), rounded.method, rounded.violated
    ([1, 0, 1, 2], 'vertex', ())
    """
    v = np.asarray(values, dtype=np.float64)
    if v.shape != (constraints.size,) or not np.all(np.isfinite(v)):
        raise InvalidParameter(f"values must be {constraints.size} finite numbers, one for each cell.")
    if np.any(np.abs(v) >= LARGEST):
        raise InvalidParameter("values must lie below 2**53, up to where floats tell whole numbers apart.")
    if not seconds > 0:
        raise InvalidParameter("seconds must be above 0: how long may be searched?")
    end = time.monotonic() + seconds
    v = np.where(constraints.allowed, np.maximum(v, 0.0), 0.0)
    floors = np.floor(v + NEARLY)
    near = np.where(v - floors > NEARLY, floors + 1, floors)
    attempts: tuple[tuple[Method, Floats, Floats, bool], ...] = (
        ("vertex", floors, near, False),
        ("search", floors, near, True),
        ("search", np.zeros_like(v), np.where(constraints.allowed, np.inf, 0.0), True),
    )
    for method, least, most, whole in attempts:
        found = _closest(v, constraints, least, most, whole, end)
        if found is not None and not constraints.violated(found):
            return Rounded(values=found, method=method, violated=())
    alone = np.rint(v).astype(np.int64)
    return Rounded(values=alone, method="each alone", violated=constraints.violated(alone))


def _closest(
    v: Floats, constraints: Constraints, least: Floats, most: Floats, whole: bool, end: float
) -> Integers | None:
    """Minimise ``sum |x - v|`` over the box and the constraints, with ``x = floor + inside + up - down``."""
    left = end - time.monotonic()
    if left <= 0 and whole:
        return None
    floors = np.floor(v + NEARLY)
    remainder = np.maximum(v - floors, 0.0)
    size, matrix = constraints.size, constraints.matrix
    inside = np.where((remainder > NEARLY) & (most > floors), 1.0, 0.0)
    up, down = np.where(np.isinf(most), np.inf, 0.0), floors - least
    cost = np.concatenate([1 - 2 * remainder, np.full(2 * size, 1 + NEARLY)])
    sums = matrix @ floors if constraints.rows else np.zeros(0)
    bounds = optimize.Bounds(np.zeros(3 * size), np.concatenate([inside, up, down]))
    rows: list[Any] = []
    if constraints.rows:
        three = sparse.csr_array(sparse.hstack([matrix, matrix, -matrix]))
        rows = [optimize.LinearConstraint(three, constraints.low - sums, constraints.high - sums)]
    solve: Any = optimize.milp
    found = solve(
        cost,
        integrality=np.full(3 * size, int(whole)),
        bounds=bounds,
        constraints=rows,
        options={"time_limit": max(0.05, left), "mip_rel_gap": 1e-6} if whole else {"time_limit": max(0.05, left)},
    )
    if found.x is None:
        return None
    x = floors + found.x[:size] + found.x[size : 2 * size] - found.x[2 * size :]
    nearest = np.rint(x)
    if not math.isclose(float(np.abs(x - nearest).max(initial=0.0)), 0.0, abs_tol=1e-6):
        return None
    return np.asarray(nearest, dtype=np.int64)
