"""Which estimator to take, decided by public information alone.

Three facts decide. Among the unbiased estimators the expected error of any workload is known before any data, by the
energies of the workload on the levels of a tree (``shares``), so the best of them is found by comparison; a weighted
tree contains a noisy histogram and most other trees as special cases. ``ShrunkTree`` measures such a tree with nine
tenths of epsilon: where counts are far above their noise its error is that of least squares at ``0.9 epsilon``, about
a tenth more, and in empty and in even parts of a histogram it is less, often by a factor. Between both no theorem
helps: where counts are near their noise and differ smoothly, as in towns on a plane, the prior may mislead, by a fifth
in what we saw. Last, blocks whose noise is larger than all records together tell nothing: with ``n epsilon`` below
about 30, where n is public, the total alone is left, spread evenly.

So the data decide within the estimator, by what was released, and nothing is spent on choosing one.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import InvalidParameter
from discreet.exact import Real, finite
from discreet.synthetic.estimators.block_tree import Blocks
from discreet.synthetic.estimators.energies import all_ranges, energies, fitted_workload, level_energies
from discreet.synthetic.estimators.estimator import Estimator
from discreet.synthetic.estimators.greedy_h import GreedyH
from discreet.synthetic.estimators.hb import Hb
from discreet.synthetic.estimators.identity import Identity
from discreet.synthetic.estimators.shares import error_of_shares
from discreet.synthetic.estimators.shrunk_tree import ShrunkTree
from discreet.synthetic.estimators.uniform import Uniform
from discreet.synthetic.operators.operator import Operator
from discreet.units import Relation

__all__ = ["Choice", "choose", "expected_error"]

SCARCE = 30
"""Records times epsilon below which only their number can be told."""

FLAT = 1e-12

MANY = 1 << 24
"""Workloads of more queries are not looked at one by one."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An estimator, and why it was chosen."""

    estimator: Estimator
    reason: str


def choose(
    shape: tuple[int, ...],
    *,
    epsilon: Real,
    relation: Relation,
    workload: Operator | None = None,
    persons: int | None = None,
    unbiased: bool = False,
) -> Choice:
    """Return an estimator for a histogram and say why, from what is public: nothing here sees data.

    ``workload`` holds the queries that matter, by default all ranges. ``persons`` is the number of records or a bound
    on it, if that is public. With ``unbiased`` only estimators are considered whose expectation is the histogram.

    >>> choose((4096,), epsilon=0.1, relation="add_remove").estimator
    ShrunkTree(shape=(4096,), epsilon=0.1, relation='add_remove')
    >>> choose((4096,), epsilon=0.1, relation="add_remove", persons=100).estimator
    Uniform(shape=(4096,), epsilon=0.1, relation='add_remove')
    """
    if persons is not None and (finite(persons, "persons") < 0 or Fraction(persons).denominator != 1):
        raise InvalidParameter("persons must be a whole number of at least 0, the number of records if it is public.")
    total = Uniform(shape=shape, epsilon=epsilon, relation=relation)
    total._check_workload(workload)  # noqa: SLF001 - as every estimator does
    if unbiased:
        return _least(total.shape, epsilon, relation, workload)
    if _flat(total.shape, workload):
        return Choice(total, "The workload asks for nothing but multiples of the total, which is measured alone.")
    if persons is not None and persons * Fraction(epsilon) < SCARCE * total.touched:
        return Choice(
            total,
            f"With at most {persons} records the noise of any block is larger than all records together: the total is "
            "spread evenly.",
        )
    tree = ShrunkTree(shape=shape, epsilon=epsilon, relation=relation, workload=workload)
    return Choice(
        tree,
        "A weighted tree fitted to the workload has about a tenth more error than the best unbiased estimator where "
        "counts are far above their noise, and less where blocks are empty or even, which the noisy tree tells.",
    )


def expected_error(estimator: Identity | Hb | GreedyH, workload: Operator | None = None) -> float:
    """Return the expected total squared error of a workload, by default all ranges, for noise as in real numbers.

    It is exact where sides are powers of the branching, and an estimate otherwise.

    >>> round(expected_error(Identity(shape=(4,), epsilon=1, relation="add_remove")), 6)
    40.0
    """
    work = all_ranges(estimator.shape) if workload is None else workload
    if isinstance(estimator, Identity):
        tree = Blocks(shape=estimator.shape, in_turn=True)
        shares = np.eye(tree.levels)[-1]
    else:
        tree = estimator.tree
        parts = [0 if noise is None else Fraction(noise.epsilon) for noise in estimator.noises]
        shares = np.array([float(part / Fraction(estimator.epsilon)) for part in parts])
    sizes = np.array([float(np.prod(side)) for side in tree.sides])
    found = level_energies(energies(work, tree))
    if estimator.relation == "replace_one" and not isinstance(estimator, Identity) and tree.levels > 1:
        found[0] = 0.0
    return 2 * (estimator.touched / float(estimator.epsilon)) ** 2 * error_of_shares(shares, found, sizes)


def _least(shape: tuple[int, ...], epsilon: Real, relation: Relation, workload: Operator | None) -> Choice:
    """Return the unbiased estimator of least expected error."""
    candidates: list[Identity | Hb | GreedyH] = [
        Identity(shape=shape, epsilon=epsilon, relation=relation),
        GreedyH(shape=shape, epsilon=epsilon, relation=relation, workload=workload),
        Hb(shape=shape, epsilon=epsilon, relation=relation, workload=workload),
    ]
    work = fitted_workload(workload, candidates[0].shape)
    errors = [expected_error(candidate, work) for candidate in candidates]
    least = int(np.argmin(errors))
    others = ", ".join(
        f"{type(candidate).__name__} {error / max(errors[least], FLAT):.2f} times as much"
        for candidate, error in zip(candidates, errors, strict=True)
        if candidate is not candidates[least]
    )
    return Choice(candidates[least], f"It has the least expected squared error of the unbiased estimators: {others}.")


def _flat(shape: tuple[int, ...], workload: Operator | None) -> bool:
    """Whether a workload has the same entry for all cells in each of its rows."""
    if workload is None:
        return shape == (1,) * len(shape)
    if workload.shape[0] > MANY:
        return False
    ones = np.ones(workload.shape[1])
    sums = np.asarray(workload.matvec(ones), dtype=np.float64)
    squares = float(np.sum(np.asarray(workload.column_norms(2), dtype=np.float64))) / workload.denominator**2
    return bool(abs(squares - float(np.sum(sums**2)) / workload.shape[1]) <= FLAT * max(squares, 1.0))
