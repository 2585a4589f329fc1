"""Which strategy is best for a workload: decided by expected errors, which no data enters."""

from collections.abc import Iterable
from dataclasses import dataclass

from discreet.errors import InvalidParameter
from discreet.exact import Real
from discreet.synthetic.matrix_mechanism import MatrixMechanism
from discreet.synthetic.operators import Identity, Kronecker, Marginals, Operator, Prefix
from discreet.synthetic.operators.operator import DENSE
from discreet.synthetic.strategies import (
    Haar,
    ResidualPlanner,
    SquareRoot,
    best_hierarchy,
    kronecker_identities,
    p_identity,
    weighted_marginals,
)
from discreet.units import check_relation

__all__ = ["Compared", "Comparison", "best_strategy", "candidates", "compare"]

SEARCHED = 256
"""Cells of one attribute up to which a strategy is searched when many are compared."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One strategy: its name, the mechanism that measures it and the expected total squared error."""

    name: str
    mechanism: MatrixMechanism | ResidualPlanner
    error: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Strategies for one workload at one budget, the best first."""

    rows: tuple[Compared, ...]

    @property
    def best(self) -> Compared:
        """The one of least expected error."""
        return self.rows[0]

    def __getitem__(self, name: str) -> Compared:
        for row in self.rows:
            if row.name == name:
                return row
        raise InvalidParameter(f"{name!r} was not compared; there are {', '.join(row.name for row in self.rows)}.")

    def __repr__(self) -> str:
        width = max(len(row.name) for row in self.rows)
        return "\n".join(f"{row.name:<{width}}  {row.error:.6g}" for row in self.rows)


def compare(
    workload: Operator,
    *,
    relation: str,
    epsilon: Real | None = None,
    delta: Real | None = None,
    rho: Real | None = None,
    discrete: bool | None = None,
) -> Comparison:
    """Return the expected total squared error of every strategy that fits the workload.

    >>> from discreet.synthetic.operators import Prefix
    >>> table = compare(Prefix(size=4), epsilon=1, relation="add_remove", discrete=False)
    >>> round(table["identity"].error, 6), round(table["workload itself"].error, 6)
    (20.0, 128.0)
    >>> table.best.error < 20.000001
    True
    """
    kind = check_relation(relation)
    p = 1 if rho is None and delta is None else 2
    rows = []
    for name, strategy in candidates(workload, p=p):
        if strategy.change(p, relation=kind).power:
            mechanism = MatrixMechanism(
                workload=workload,
                strategy=strategy,
                relation=kind,
                epsilon=epsilon,
                delta=delta,
                rho=rho,
                discrete=discrete,
            )
            rows.append(Compared(name, mechanism, mechanism.total_error()))
    if p == 2 and isinstance(workload, Marginals) and any(workload.cells(attributes) > 1 for attributes in workload.of):
        planner = ResidualPlanner(workload=workload, relation=kind, epsilon=epsilon, delta=delta, rho=rho)
        rows.append(Compared("residual planner", planner, planner.error().total))
    if not rows:
        raise InvalidParameter(
            f"no answer of this workload changes between {kind} neighbours: there is no noise to choose."
        )
    return Comparison(tuple(sorted(rows, key=lambda row: row.error)))


def best_strategy(
    workload: Operator,
    *,
    relation: str,
    epsilon: Real | None = None,
    delta: Real | None = None,
    rho: Real | None = None,
) -> Operator:
    """Return the strategy of least expected error for the matrix mechanism.

    >>> from discreet.synthetic.operators import Identity
    >>> best_strategy(Identity(size=8), epsilon=1, relation="add_remove")
    Identity(size=8)
    """
    table = compare(workload, relation=relation, epsilon=epsilon, delta=delta, rho=rho)
    return next(row.mechanism.strategy for row in table.rows if isinstance(row.mechanism, MatrixMechanism))


def candidates(workload: Operator, *, p: int) -> Iterable[tuple[str, Operator]]:
    """Return names and strategies that fit a workload, under noise calibrated to the p-norm."""
    parts = [part.factors for _, part in workload.parts]
    columns = [factor.shape[1] for factor in parts[0]]
    alike = all([factor.shape[1] for factor in factors] == columns for factors in parts)
    cells = workload.shape[1]
    if len(columns) == 1 or not alike:
        yield "identity", Identity(size=cells)
        if cells > DENSE:
            return
        yield "workload itself", workload
        yield "hierarchical", best_hierarchy(workload, p=p)
        yield "haar", Haar(size=cells)
        if isinstance(workload, Prefix):
            yield "square root", SquareRoot(size=cells)
        if cells <= SEARCHED:
            yield "p-identity", p_identity(workload, p=p)
        return
    yield "identity", Kronecker(of=tuple(Identity(size=size) for size in columns))
    if len(parts) == 1:
        yield "workload itself", Kronecker(of=parts[0])
        yield "hierarchical", Kronecker(of=tuple(best_hierarchy(factor, p=p) for factor in parts[0]))
        yield "haar", Kronecker(of=tuple(Haar(size=size) for size in columns))
    elif isinstance(workload, Marginals) or cells <= DENSE // 4:
        yield "workload itself", workload
    if max(columns) <= SEARCHED:
        yield "p-identity", kronecker_identities(workload, p=p)
    if isinstance(workload, Marginals):
        yield "weighted marginals", weighted_marginals(workload, p=p)
