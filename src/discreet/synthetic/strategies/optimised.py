"""Strategies found by optimisation: p-identities, and their products.

McKenna, Miklau, Hay and Machanavajjhala, "Optimizing Error of High-Dimensional Statistical Queries Under Differential
Privacy", VLDB 2018 (HDMM). A p-identity is the identity above p more rows, all columns divided by their norm: the
expected error is then a smooth function of the p rows, with a closed gradient. What is found is rounded to whole
numbers over a power of two, and its exact sensitivity is that of what was rounded; so privacy does not depend on how
well the search went, and the search sees the workload alone.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.synthetic.operators import Explicit, Kronecker, Operator
from discreet.synthetic.strategies.descent import descend

__all__ = ["kronecker_identities", "p_identity"]

LARGEST = 1024
"""Cells of one attribute for which a strategy is searched."""

BITS = 16
STEPS = 150
STARTS = 2
PASSES = 3


def p_identity(workload: Operator, *, p: int = 1, rows: int | None = None) -> Explicit:
    """Return a p-identity of small expected error for a workload, under noise calibrated to the p-norm.

    ``rows`` are added to the identity, a sixteenth of the cells if not said.

    >>> from discreet.synthetic.operators import Identity, Prefix
    >>> from discreet.synthetic.strategies import total_variance
    >>> found, work = p_identity(Prefix(size=32)), Prefix(size=32)
    >>> squared = float(found.sensitivity(1, relation="add_remove")) ** 2
    >>> squared * total_variance(work, found) < total_variance(work, Identity(size=32))
    True
    """
    gram = workload.gram()
    return _rounded(_searched(gram, p, rows), gram, p, BITS)


def kronecker_identities(workload: Operator, *, p: int = 1) -> Kronecker:
    """Return a product of p-identities, one for each attribute of a workload that is a union of products.

    One attribute at a time is optimised for the others as they are; a single product needs one pass.

    >>> from discreet.synthetic.operators import Marginals
    >>> kronecker_identities(Marginals(sizes=(4, 8), of=((0,), (1,)))).shape[1]
    32
    """
    parts = workload.parts
    columns = [factor.shape[1] for factor in parts[0][1].factors]
    if any([factor.shape[1] for factor in part.factors] != columns for _, part in parts):
        raise InvalidParameter(
            "a product strategy is for products of the same attributes, in each part of the workload."
        )
    grams = [[factor.gram() for factor in part.factors] for _, part in parts]
    weights = [float(weight) ** 2 for weight, _ in parts]
    served = list(grams[0])
    found: list[Floats] = [np.eye(size) for size in columns]
    inverses: list[Floats] = [np.eye(size) for size in columns]
    for _ in range(PASSES if len(parts) > 1 else 1):
        for i in range(len(columns)):
            served[i] = _seen_by(i, grams, weights, inverses)
            found[i] = _searched(served[i], p, None)
            inverses[i] = np.asarray(np.linalg.inv(found[i].T @ found[i]), dtype=np.float64)
    bits = min(BITS, 36 // len(columns))
    return Kronecker(of=tuple(_rounded(m, gram, p, bits) for m, gram in zip(found, served, strict=True)))


def _seen_by(i: int, grams: list[list[Floats]], weights: list[float], inverses: list[Floats]) -> Floats:
    """Return the Gram matrix that one attribute must serve, each part weighted by the error the others leave it."""
    total = np.zeros_like(grams[0][i])
    for weight, gram in zip(weights, grams, strict=True):
        others = (float(np.sum(gram[j] * inverses[j])) for j in range(len(gram)) if j != i)
        total += weight * math.prod(others) * gram[i]
    return total


def _searched(gram: Floats, p: int, rows: int | None) -> Floats:
    """Return the p-identity found, with columns of norm 1."""
    size = len(gram)
    if size > LARGEST:
        raise InvalidParameter(f"a strategy is searched for up to {LARGEST} cells of one attribute, got {size}.")
    if p not in (1, 2):
        raise InvalidParameter(f"noise is calibrated to the norm 1 or 2, got {p!r}.")
    count = max(1, size // 16) if rows is None else rows
    if type(count) is not int or count < 1:
        raise InvalidParameter(f"rows must be a whole number of at least 1, got {rows!r}.")
    scaled = gram / max(float(np.trace(gram)), 1e-300)
    best_value, best = float(np.trace(scaled)), np.zeros((count, size))
    for start in _starts(count, size):
        value, place = descend(lambda roots: _by_roots(roots, scaled, p), start, steps=STEPS)
        if value < best_value:
            best_value, best = value, place * place
    whole = np.concatenate([np.eye(size), best])
    return np.asarray(whole / _norms(best, p), dtype=np.float64)


def _starts(count: int, size: int) -> Sequence[Floats]:
    """Return where the search begins: always the same places, which are no secret."""
    generator = np.random.default_rng(0)
    return [generator.random((count, size)) for _ in range(STARTS)]


def _by_roots(roots: Floats, gram: Floats, p: int) -> tuple[float, Floats]:
    """Return the objective as a function of the square roots of the entries, which may have any sign."""
    value, gradient = _objective(roots * roots, gram, p)
    return value, 2 * roots * gradient


def _norms(extra: Floats, p: int) -> Floats:
    return np.asarray(1 + extra.sum(axis=0) if p == 1 else np.sqrt(1 + (extra * extra).sum(axis=0)))


def _objective(extra: Floats, gram: Floats, p: int) -> tuple[float, Floats]:
    """Return ``trace(V (A.T A)^-1)`` and its gradient for ``A = [I; T] / s``.

    With ``M = (I + T.T T)^-1 = I - T.T K T``, ``K = (I + T T.T)^-1``, it is the sum of ``M * V * s s.T``. The
    derivative through M is ``-2 T M (V * s s.T) M``, that through s is ``2 (M * V) s`` times ``ds / dT``.
    """
    s = _norms(extra, p)
    inner = np.linalg.inv(np.eye(len(extra)) + extra @ extra.T)
    low = inner @ extra
    inverse = np.eye(extra.shape[1]) - extra.T @ low
    scaled = gram * np.outer(s, s)
    value = float(np.sum(inverse * scaled))
    pulled = low @ scaled  # T M is K T
    through_inverse = -2 * (pulled - (pulled @ extra.T) @ low)
    through_norm = 2 * ((inverse * gram) @ s)
    slope = np.ones_like(extra) if p == 1 else extra / s
    gradient = through_inverse + through_norm * slope
    return value, np.asarray(gradient, dtype=np.float64)


def _rounded(matrix: Floats, gram: Floats, p: int, bits: int) -> Explicit:
    """Return the matrix in multiples of a power of two, or the identity if that is as good.

    The diagonal stays above 0, so every cell stays determined.
    """
    size = matrix.shape[1]
    whole = np.rint(np.ldexp(matrix, bits)).astype(np.int64)
    place = np.arange(size)
    whole[place, place] = np.maximum(whole[place, place], 1)
    kept = np.ldexp(whole[whole.any(axis=1)], -bits)
    power = float((np.abs(kept) ** p).sum(axis=0).max()) ** (2 / p)
    error = power * float(np.trace(np.linalg.solve(kept.T @ kept, gram)))
    better = error < (1 - 1e-6) * float(np.trace(gram))
    return Explicit(matrix=csr_array(kept if better else np.eye(size, dtype=np.int64)))
