"""Which mechanism answers the groups of a query together, and what it may cost."""

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from discreet.errors import InvalidParameter
from discreet.session.adaptive import JointTree
from discreet.session.cumulative import JointCdf
from discreet.session.joint import Budgeted, Joint, NoiseChoice, amounts
from discreet.session.levels import JointLevels
from discreet.session.margins import JointMargins
from discreet.session.sources import Tables
from discreet.session.sums import JointSums
from discreet.session.synthesis.joint import JointSynthesis
from discreet.tables.expressions import Name
from discreet.tables.fine import Fine
from discreet.tables.kinds import Value
from discreet.tables.query import Query
from discreet.tables.synthetic import Synthetic
from discreet.tables.together import Levels, Margins, Ranges, Spread, Together
from discreet.units import Relation

if TYPE_CHECKING:
    from discreet.session.plan import Settings

__all__ = ["joint_of", "spread_of"]

MOST_AREAS = 1 << 20
MANY = 1 << 16

Declared = Sequence[tuple[Value, ...]]


def joint_of(
    query: Query, tables: Tables, declared: Declared, settings: "Settings", relation: Relation, records: int
) -> Joint:
    """Return what measures the groups of a query; ``records`` is how many rows of a unit count."""
    names, asked = tuple(name for name, _ in query.keys), query.together
    if isinstance(asked, Levels):
        if not settings.delta or settings.noise == "laplace":
            raise InvalidParameter(
                "a hierarchy has Gaussian noise, which needs a delta: open the session with dp.Budget(epsilon, delta)."
            )
        (cost,) = amounts(settings.epsilon, settings.delta, "gaussian", relation, records)
        areas = _areas(names, declared, asked, tables)
        return JointLevels(names, tuple(declared), asked, areas, cost, settings.deadline)
    if isinstance(asked, Synthetic):
        noise: NoiseChoice = "gaussian" if settings.delta and settings.noise != "laplace" else "laplace"
        (cost,) = amounts(settings.epsilon, settings.delta, noise, relation, records)
        return JointSynthesis(names, tuple(declared), asked, cost, settings.deadline)
    costs = amounts(settings.epsilon, settings.delta, settings.noise, relation, records)
    if settings.adds_rho:
        costs = costs[:1]  # at equal rho Gaussian noise errs less
    tried = [cost for cost in costs if _feasible(asked, declared, cost, costs)]
    try:
        made = [_made(names, tuple(declared), asked, cost) for cost in tried]
        return min(made, key=lambda joint: joint.error(1 - settings.level))
    except OverflowError:
        raise InvalidParameter("the noise for so small an epsilon has no number. Spend more on it.") from None


def spread_of(query: Query, grids: tuple[Fine, ...], settings: "Settings", relation: Relation, records: int) -> Joint:
    """Return what tells how numbers are spread over fine grids."""
    names = tuple(name for name, _ in query.keys)
    tree = isinstance(query.together, Spread) and query.together.asked == "tree"
    if tree and settings.noise == "gaussian":
        raise InvalidParameter("a tree has Laplace noise: leave noise='gaussian' out.")
    noise = "laplace" if tree else settings.noise
    costs = amounts(settings.epsilon, settings.delta, noise, relation, records)
    if settings.adds_rho:
        costs = costs[:1]
    try:
        made: list[Joint] = [
            JointTree(names, grids, cost) if tree else JointCdf(names, grids[0], cost) for cost in costs
        ]
        return min(made, key=lambda joint: joint.error(1 - settings.level))
    except OverflowError:
        raise InvalidParameter("the noise for so small an epsilon has no number. Spend more on it.") from None


def _made(
    names: tuple[str, ...], declared: tuple[tuple[Value, ...], ...], asked: Together | None, cost: Budgeted
) -> Joint:
    if isinstance(asked, Margins):
        return JointMargins(names, declared, asked.sets, cost)
    if isinstance(asked, Ranges):
        return JointSums(names, declared, asked.asked, cost)
    raise InvalidParameter("the groups of this query are answered one by one.")


def _feasible(asked: Together | None, declared: Declared, cost: Budgeted, costs: Sequence[Budgeted]) -> bool:
    """Whether noise is worth trying: Laplace noise on very many combinations of keys is not, if there is another."""
    many = isinstance(asked, Margins) and prod(map(len, declared)) > MANY
    return cost.kind == "gaussian" or len(costs) == 1 or not many


def _areas(names: tuple[str, ...], declared: Declared, asked: Levels, tables: Tables) -> tuple[tuple[Value, ...], ...]:
    """Return the smallest areas, by the keys of all levels: those of a public table, or all combinations."""
    values = [declared[names.index(level)] for level in asked.levels]
    if asked.areas is None:
        if prod(map(len, values)) > MOST_AREAS:
            raise InvalidParameter(
                f"the levels have more than {MOST_AREAS:,} combinations. Name a public table that lists the areas."
            )
        return tuple(product(*values))
    known = [set(one) for one in values]
    listed = tables.rows(asked.areas, [Name(level) for level in asked.levels])
    areas = tuple(row for row in listed if all(value in one for value, one in zip(row, known, strict=True)))
    if not areas:
        raise InvalidParameter(f"no row of the public table {asked.areas} has declared values of all levels.")
    return areas
