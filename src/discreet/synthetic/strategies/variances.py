"""What a strategy leaves of the noise in each answer of a workload, before any data.

With noise of variance 1 on each answer of a strategy A, the least squares estimate gives the answers of a workload W
the covariance ``W (A.T A)^+ W.T`` (Li, Miklau, Hay, McGregor and Rastogi, "The Matrix Mechanism", VLDB Journal 2015).
It is evaluated attribute by attribute where both are products, and by eigenvalues where both are marginals.
"""

import math
from collections.abc import Sequence

import numpy as np

from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.synthetic.operators.marginals import Marginals, closed_below
from discreet.synthetic.operators.operator import Operator

__all__ = ["answer_variances", "table_variances", "total_variance"]

ROUNDING = 1e-7


def answer_variances(workload: Operator, strategy: Operator) -> Floats:
    """Return the variance of each answer if every measurement has variance 1.

    >>> from discreet.synthetic.operators import Identity, Prefix
    >>> answer_variances(Prefix(size=4), Identity(size=4))
    array([1., 2., 3., 4.])
    """
    tables = _tables(workload, strategy)
    if tables is not None:
        assert isinstance(workload, Marginals)  # noqa: S101 - only they have tables
        counts = [workload.cells(attributes) for attributes in workload.of]
        return np.repeat(np.array(tables), counts)
    return np.concatenate([weight * _kron(each) for weight, each in _pieces(workload, strategy)])


def total_variance(workload: Operator, strategy: Operator) -> float:
    """Return the sum of the variances, without writing out each: ``trace(W.T W (A.T A)^+)``.

    >>> from discreet.synthetic.operators import Prefix
    >>> round(total_variance(Prefix(size=4), Prefix(size=4)), 9)
    4.0
    """
    tables = _tables(workload, strategy)
    if tables is not None:
        assert isinstance(workload, Marginals)  # noqa: S101 - only they have tables
        counts = [workload.cells(attributes) for attributes in workload.of]
        return float(np.dot(tables, counts))
    return sum(
        weight * math.prod(float(variances.sum()) for variances in each) for weight, each in _pieces(workload, strategy)
    )


def table_variances(workload: Marginals, strategy: Marginals) -> list[float]:
    """Return the variance of a cell of each table of a workload of marginals, under a strategy of marginals.

    All cells of a table have the same. With eigenvalues e(A) of the strategy it is the sum, over the attribute sets A
    within the table B, of ``prod of (n_i - 1), i in A`` times ``prod of n_i, i not in B``, over e(A) and the cells of
    B.

    >>> both = Marginals(sizes=(2, 3), of=((0,), (1,)))
    >>> [round(v, 9) for v in table_variances(both, both)]
    [0.8, 0.8]
    """
    values, cells = strategy.eigenvalues(), workload.shape[1]
    found = []
    for weight, attributes in zip(workload.weights, workload.of, strict=True):
        total = 0.0
        for inner in closed_below((attributes,)):
            ways = math.prod(workload.sizes[i] - 1 for i in inner)
            if ways and values.get(inner, 0.0) <= 0:
                raise _not_covered()
            total += ways / values[inner] if ways else 0.0
        found.append(float(weight) ** 2 * total * cells / workload.cells(attributes) ** 2)
    return found


def _kron(vectors: list[Floats]) -> Floats:
    product = np.ones(1)
    for vector in vectors:
        product = np.asarray(np.kron(product, vector), dtype=np.float64)
    return product


def _tables(workload: Operator, strategy: Operator) -> list[float] | None:
    if isinstance(workload, Marginals) and isinstance(strategy, Marginals) and workload.sizes == strategy.sizes:
        return table_variances(workload, strategy)
    return None


def _pieces(workload: Operator, strategy: Operator) -> list[tuple[float, list[Floats]]]:
    """Return, for each part of the workload, its squared weight and the variances of each of its factors."""
    if workload.shape[1] != strategy.shape[1]:
        raise InvalidParameter(
            f"the workload is on {workload.shape[1]} cells and the strategy on {strategy.shape[1]}; they must agree."
        )
    blocks = strategy.factors
    covariances: dict[bool, list[Floats]] = {}
    pieces = []
    for weight, part in workload.parts:
        split = _columns(part.factors) == _columns(blocks)
        own, others = (part.factors, blocks) if split else ((part,), (strategy,))
        if split not in covariances:
            covariances[split] = [block.covariance() for block in others]
        found = []
        for factor, block, covariance in zip(own, others, covariances[split], strict=True):
            _check_covered(factor, block, covariance)
            found.append(np.maximum(factor.variances(covariance), 0.0))
        pieces.append((float(weight) ** 2, found))
    return pieces


def _columns(factors: Sequence[Operator]) -> list[int]:
    return [factor.shape[1] for factor in factors]


def _check_covered(workload: Operator, strategy: Operator, covariance: Floats) -> None:
    """Refuse a strategy that does not determine the workload: ``W (I - A^+ A)`` must vanish."""
    if strategy.determines_cells:
        return
    gram = strategy.gram()
    rest = np.eye(strategy.shape[1]) - covariance @ gram
    lost, whole = workload.variances(rest @ rest.T), workload.variances(np.eye(strategy.shape[1]))
    if float(lost.sum()) > ROUNDING * float(whole.sum()):
        raise _not_covered()


def _not_covered() -> InvalidParameter:
    return InvalidParameter(
        "the strategy does not determine all answers of the workload; measure more, for instance Identity(size=...)."
    )
