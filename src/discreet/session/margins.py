"""Margins in one release: GROUPING SETS, ROLLUP and CUBE.

With Gaussian noise the residuals of all tables are measured (Xiao and others, NeurIPS 2023), with the noise for which
the least accurate number is as accurate as it can be: then nearly all numbers of the answer have the same error. No
table need be listed as a whole: only the groups that have rows leave the engine. With Laplace noise the tables are
measured with the weights that err least in total, on all combinations of keys.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.session.joint import Budgeted, Counted, Joint, Made, around, coded
from discreet.synthetic.matrix_mechanism import MatrixMechanism
from discreet.synthetic.operators import Marginals
from discreet.synthetic.strategies import ResidualPlanner, weighted_marginals
from discreet.synthetic.strategies.variances import table_variances
from discreet.tables.kinds import Value
from discreet.units import Relation

__all__ = ["JointMargins"]

MOST_CELLS = 1 << 22
"""Combinations of keys that Laplace noise can be measured on."""

MOST_ENTRIES = 4_000_000
"""Rows that an answer may have."""

ROUNDS = 20
LEAST = 1e-4
"""How often the weights of tables are balanced, and what the lightest weighs beside the heaviest."""

READ = (
    "An empty key stands for all of its values. Counts are real numbers, so that all groupings agree: round them last."
)


@dataclass(frozen=True)
class JointMargins(Joint):
    """Tables by some of the keys each, all consistent with one another."""

    names_of_keys: tuple[str, ...]
    declared: tuple[tuple[Value, ...], ...]
    sets: tuple[tuple[str, ...], ...]
    cost: Budgeted

    def __post_init__(self) -> None:
        self.check_named()
        entries = sum(prod(len(self.declared[i]) for i in one) for one in self._of)
        if entries > MOST_ENTRIES:
            raise InvalidParameter(
                f"these groupings have {entries:,} groups together, at most {MOST_ENTRIES:,} may be."
            )
        _ = self._deviations  # which must exist

    @property
    def _of(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(self.names_of_keys.index(name) for name in one) for one in self.sets)

    @property
    def workload(self) -> Marginals:
        """The tables, by the places of their keys."""
        return Marginals(sizes=tuple(map(len, self.declared)), of=self._of)

    @property
    def mechanism(self) -> ResidualPlanner | MatrixMechanism:
        """What measures them."""
        return _mechanism(self.workload, self.cost)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the mechanism."""
        return self.mechanism.loss

    @property
    def told(self) -> str:
        """How the counts are made, in words."""
        if self.kind == "gaussian":
            return "residual planner, Gaussian noise"
        return "matrix mechanism by weighted margins, Laplace noise"

    @property
    def notes(self) -> tuple[str, ...]:
        """How to read it."""
        return (READ,)

    @property
    def parameters(self) -> dict[str, object]:
        """The groupings, and how many values the keys have."""
        return {
            "together": "margins",
            "sets": [list(one) for one in self.sets],
            "sizes": self.sizes,
        }

    def names(self, count: str) -> tuple[str, ...]:
        """One column of counts."""
        return (count,)

    @property
    def _deviations(self) -> Floats:
        return _deviations(self.workload, self.cost)

    def parts(self) -> list[tuple[str, float]]:
        """The groupings, in each of which all entries have the same deviation."""
        told = [", ".join(one) or "total" for one in self.sets]
        return list(zip(told, self._deviations.tolist(), strict=True))

    def release(self, counted: Counted, count: str, beta: float) -> Made:
        """Return all groupings, one after the other."""
        cells, counts = coded(counted, self.declared)
        tables = self._tables(cells, counts)
        keys: dict[str, list[Value]] = {name: [] for name in self.names_of_keys}
        for one in self._of:
            shape = tuple(len(self.declared[i]) for i in one)
            rows = prod(shape)
            places = np.indices(shape).reshape(len(one), rows)
            for i, name in enumerate(self.names_of_keys):
                values = self.declared[i]
                keys[name] += [values[p] for p in places[one.index(i)].tolist()] if i in one else [None] * rows
        errors = [
            np.full(table.size, self.half_width(deviation, beta))
            for table, deviation in zip(tables, self._deviations.tolist(), strict=True)
        ]
        estimates = around(np.concatenate([table.reshape(-1) for table in tables]), np.concatenate(errors), self.told)
        return {name: tuple(values) for name, values in keys.items()}, {count: estimates}

    def _tables(self, cells: np.ndarray, counts: np.ndarray) -> list[Floats]:
        mechanism = self.mechanism
        if isinstance(mechanism, ResidualPlanner):
            noisy = mechanism.release_cells(cells, counts)
            return [noisy.table(one) for one in self._of]
        sizes = self.workload.sizes
        histogram = np.zeros(prod(sizes), dtype=np.int64)
        np.add.at(histogram, np.ravel_multi_index(tuple(cells.T), sizes), counts)
        answers = mechanism.release(histogram).values
        ends = np.cumsum([self.workload.cells(one) for one in self._of])
        return np.split(answers, ends[:-1])


@lru_cache(maxsize=64)
def _mechanism(workload: Marginals, cost: Budgeted) -> ResidualPlanner | MatrixMechanism:
    if cost.rho is not None:
        return _planner(_balanced(workload, cost.relation), cost.relation, cost.rho, cost.records)
    cells = prod(workload.sizes)
    if cells > MOST_CELLS:
        raise InvalidParameter(
            f"with Laplace noise margins are measured on all {cells:,} combinations of keys, at most {MOST_CELLS:,}. "
            "Open the session with a delta, or group by fewer keys."
        )
    return MatrixMechanism(
        workload=workload,
        strategy=_strategy(workload),
        relation=cost.relation,
        epsilon=cost.epsilon,
        discrete=False,
        records=cost.records,
        partial=cost.relation == "replace_one",
    )


def _planner(workload: Marginals, relation: Relation, rho: Fraction, records: int = 1) -> ResidualPlanner:
    return ResidualPlanner(
        workload=workload, relation=relation, rho=rho, partial=relation == "replace_one", records=records
    )


@lru_cache(maxsize=64)
def _balanced(workload: Marginals, relation: Relation) -> Marginals:
    """Return the tables with weights for which the largest error is least; they do not depend on the size of noise.

    A table that errs more than the others gets more weight, until none can be helped but at the cost of a worse one.
    """
    weights = np.array([workload.cells(one) ** -0.5 for one in workload.of])
    found = workload
    for _ in range(ROUNDS):
        found = Marginals(sizes=workload.sizes, of=workload.of, weights=tuple(weights.tolist()))
        errors = _planner(found, relation, Fraction(1, 2)).error().deviations / weights
        weights = weights * errors / errors.max()
        weights = np.maximum(weights / weights.max(), LEAST)
    return found


@lru_cache(maxsize=64)
def _strategy(workload: Marginals) -> Marginals:
    """Return the weights of tables that err least under Laplace noise; they do not depend on its size."""
    return weighted_marginals(workload, p=1)


@lru_cache(maxsize=256)
def _deviations(workload: Marginals, cost: Budgeted) -> Floats:
    mechanism = _mechanism(workload, cost)
    if isinstance(mechanism, ResidualPlanner):
        weights = np.array([float(weight) for weight in mechanism.workload.weights])
        return np.asarray(mechanism.error().deviations / weights)
    return np.sqrt(np.array(_unit_variances(workload)) * mechanism.unit_variance)


@lru_cache(maxsize=64)
def _unit_variances(workload: Marginals) -> tuple[float, ...]:
    return tuple(table_variances(workload, _strategy(workload)))
