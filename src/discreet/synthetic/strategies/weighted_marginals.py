"""Which marginals to measure, and how accurately, for a workload of marginals.

McKenna, Miklau, Hay and Machanavajjhala, VLDB 2018 (the marginals parameterisation of HDMM): the expected error is a
closed function of one weight for each table, by the eigenvalues of ``discreet.synthetic.operators.marginals``.
"""

import math

import numpy as np

from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.synthetic.operators.marginals import Attributes, Marginals, closed_below
from discreet.synthetic.strategies.descent import descend

__all__ = ["weighted_marginals"]

ALL_TABLES = 8
"""Up to so many attributes every table may be measured; with more, those within a table of the workload."""

MOST = 4096
BITS = 10
STEPS = 500
LOWEST = -15.0
SMALLEST = 2.0**-7
"""Tables of less than this share of the largest weight are not measured, if the others determine the answers."""


def weighted_marginals(workload: Marginals, *, p: int = 1) -> Marginals:
    """Return weighted marginals of small expected error, under noise calibrated to the p-norm.

    >>> work = Marginals.of_order((4, 4, 4), 1)
    >>> found = weighted_marginals(work)
    >>> set(work.of) <= set(found.of) | {(0, 1, 2)}
    True
    """
    if p not in (1, 2):
        raise InvalidParameter(f"noise is calibrated to the norm 1 or 2, got {p!r}.")
    used = tuple(sorted({i for attributes in workload.of for i in attributes}))
    tables = closed_below((used,)) if len(used) <= ALL_TABLES else closed_below(workload.of)
    if len(tables) > MOST:
        raise InvalidParameter(f"weights are searched for up to {MOST} tables, and this workload has {len(tables)}.")
    spaces = [inner for inner in closed_below(workload.of) if all(workload.sizes[i] > 1 for i in inner)]
    needs = _needs(workload, spaces)
    cells = workload.shape[1]
    gives = np.array([[cells / workload.cells(o) if set(inner) <= set(o) else 0.0 for o in tables] for inner in spaces])
    gives /= gives.max()
    _, logs = min(
        (
            descend(lambda logs: _objective(logs, needs, gives, p), start, steps=STEPS)
            for start in _starts(workload, tables)
        ),
        key=lambda found: found[0],
    )
    weights = np.exp(logs - logs.max())
    kept = weights >= SMALLEST
    if not (gives[:, kept].sum(axis=1) > 0).all():
        kept = np.ones_like(kept)
    whole = np.maximum(1, np.rint(np.ldexp(weights, BITS))).astype(int)
    common = math.gcd(*(int(w) for w, k in zip(whole, kept, strict=True) if k))
    chosen = [(outer, int(w) // common) for outer, w, k in zip(tables, whole, kept, strict=True) if k]
    return Marginals(
        sizes=workload.sizes, of=tuple(outer for outer, _ in chosen), weights=tuple(weight for _, weight in chosen)
    )


def _starts(workload: Marginals, tables: tuple[Attributes, ...]) -> list[Floats]:
    """Return where the search begins: all tables alike, those asked for, and the largest of all."""
    asked, largest = set(workload.of), max(tables, key=len)
    return [
        np.zeros(len(tables)),
        np.array([0.0 if outer in asked else -1.0 for outer in tables]),
        np.array([0.0 if outer == largest else -4.0 for outer in tables]),
    ]


def _needs(workload: Marginals, spaces: list[Attributes]) -> Floats:
    """Return the trace of ``W.T W`` on the functions of exactly each attribute set."""
    values = workload.eigenvalues()
    return np.array([values[inner] * math.prod(workload.sizes[i] - 1 for i in inner) for inner in spaces])


def _objective(logs: Floats, needs: Floats, gives: Floats, p: int) -> tuple[float, Floats]:
    """Return the log of squared sensitivity times error, and its gradient in the logs of the weights."""
    weights = np.exp(np.maximum(logs - logs.max(), LOWEST))  # a common factor changes nothing
    values = gives @ weights**2
    error = float(np.sum(needs / values))
    slope_error = -2 * weights**2 * (gives.T @ (needs / values**2)) / error
    size = float(np.sum(weights**p))
    return (2 / p) * math.log(size) + math.log(error), (2 / p) * p * weights**p / size + slope_error
