"""A plan: everything about a release that is known before any data is read.

Making a plan resolves the query, collects the measures its columns need, splits epsilon among them, and says what it
costs and how far off each column may be. It is the same for every data set.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Literal, cast

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, finite, positive
from discreet.mechanisms import GaussianThreshold, LaplaceThreshold, OptimalSelection
from discreet.session.columns import Column, Ranked, Workshop
from discreet.session.cost import promise
from discreet.session.digits import above
from discreet.session.fineness import fine_grids
from discreet.session.noise import Noise, Reach
from discreet.session.ranks import RankMechanism, rank_mechanism
from discreet.session.reading import scope_of
from discreet.session.sources import Tables
from discreet.session.sparse import Sparse, chosen
from discreet.session.split import Split
from discreet.tables.bounding import Bounding, Rows
from discreet.tables.expressions import Expression, Name
from discreet.tables.fine import Fine
from discreet.tables.kinds import Value, kind_of
from discreet.tables.measures import Additive, Count, Persons
from discreet.tables.order import Salt
from discreet.tables.query import Query
from discreet.tables.schema import keys_of
from discreet.tables.synthetic import Synthetic
from discreet.tables.together import Levels, Spread
from discreet.tables.typed import Scope, Typed
from discreet.units import Person, Relation, Row

if TYPE_CHECKING:
    from discreet.session.joint import Joint

__all__ = ["KeySelection", "Plan", "Settings", "make_plan"]

KeySelection = Literal["auto", "gaussian", "laplace", "optimal"]

Selection = OptimalSelection | LaplaceThreshold | GaussianThreshold | Sparse

MOST_KEYS = 1_000_000

BY_COUNTS = "by the noise of the counts"
"""How private groups are chosen where one noise serves for both."""

COUNTED = Fraction(1, 20)
"""The part of epsilon for telling about how many private groups were left out."""

LARGE = 20
"""From this epsilon on there is a warning: one answer may then give odds of half a billion to one about a person."""

UPWARD = (
    "A group near the threshold is shown only where its noise was high: its count is too large, and its interval too "
    "high. Intervals hold as often as they say over all groups, shown or not."
)

MOST_BOUND = 2**20
"""More rows or groups of one person than this bound nothing, and would overflow."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What may be chosen for one release, all of it public."""

    epsilon: Fraction
    delta: Fraction
    key_delta: Fraction
    level: float
    group_size: float
    split: Mapping[str, float]
    noise: Literal["auto", "gaussian", "laplace"]
    keys: KeySelection
    adds_rho: bool
    count_groups: bool
    deadline: float | None = None
    composed: bool = False
    """Whether the loss will be composed with others as a distribution, and not be charged by its epsilon and delta."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A query that is ready to be charged and released."""

    query: Query
    rows: Rows
    key_names: tuple[str, ...]
    public_keys: tuple[tuple[Value, ...], ...] | None
    columns: tuple[Column | Ranked, ...]
    measures: dict[str, Additive]
    known: dict[str, int]
    noise: dict[str, Noise]
    ranks: dict[str, RankMechanism]
    selection: Selection | None
    group_count: Noise | None
    shares: dict[str, float]
    settings: Settings
    loss: PrivacyLoss
    joint: "Joint | None" = None
    reason: str = ""

    @property
    def delta(self) -> Fraction:
        """The delta that belongs to the epsilon of this query."""
        kinds = [noise.kind for noise in self.noise.values()] + ([] if self.joint is None else [self.joint.kind])
        gaussian = "gaussian" in kinds
        keys = self.settings.key_delta if self.selection is not None or _tested(self.columns) else Fraction(0)
        return keys + (self.settings.delta if gaussian else 0)

    @property
    def whole(self) -> PrivacyLoss:
        """The release as one (epsilon, delta) loss, for budgets that add these up.

        Laplace noise, choices and selections of groups cost their epsilons, Gaussian noise its share of epsilon at the
        delta of the settings by the conversion of zCDP, and these add (Dwork et al., EUROCRYPT 2006).
        """
        return PrivacyLoss.approximate(self.settings.epsilon, self.delta).under(str(self.loss.relation))

    @property
    def keys_told(self) -> str:
        """Which groups are shown, in words."""
        if self.joint is not None:
            return self.joint.keys_told
        if self.selection is not None:
            return f"private: a group is shown when about {self.selection.threshold:,} {self.units} or more are in it"
        if not self.key_names:
            return ""
        return f"public: {self.declared:,} declared"

    @property
    def declared(self) -> int:
        """How many groups there are by declaration."""
        if self.joint is not None:
            return prod(len(values or ()) for values in self.rows.public)
        return len(self.public_keys or ())

    @property
    def units(self) -> str:
        """What is protected, in the plural."""
        return "rows" if self.rows.bounding.key is None else "persons"

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the answer should know."""
        told = ["The interval covers the noise, not what bounds on rows, groups and values left out."]
        if self.selection is not None:
            told.append("Groups with few members are left out; a missing group is not an empty one.")
        if isinstance(self.selection, Sparse):
            told.append(UPWARD)
        if self.reason:
            told.append(self.reason)
        if self.joint is not None:
            told += [*self.joint.notes, f"Errors by part: {self.joint.errors(1 - self.settings.level)}."]
        return (*told, *(f"Warning: {words}" for words in self.warnings))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is hardly private: noise that most numbers do not show, an epsilon that promises next to nothing."""
        return tuple(self._hardly_private())

    def _hardly_private(self) -> Iterator[str]:
        beta = 1 - self.settings.level
        additive = [name for name, noise in self.noise.items() if name not in self.known and noise.kind != "none"]
        if self.joint is None and any(not self.error(name, beta) for name in additive):
            yield (
                f"the noise is so small that counts are shown as they are in the data {promise(1 - beta)}. They "
                "are not public, and hardly protected. Spend less epsilon."
            )
        if self.settings.epsilon >= LARGE:
            yield (
                f"epsilon {above(float(self.settings.epsilon))} promises next to nothing: whether somebody is "
                "in the data can often be told from the answer. Epsilon is usually 10 or less."
            )

    @property
    def parameters(self) -> dict[str, object]:
        """Everything public that the release was made with."""
        bounding, settings = self.rows.bounding, self.settings
        return {
            "query": self.query.text or repr(self.query),
            "epsilon": float(settings.epsilon),
            "delta": float(self.delta),
            "relation": self.loss.relation,
            "unit": self.units,
            "groups": bounding.groups,
            "rows": bounding.rows,
            "keys": self.keys_told,
            "threshold": None if self.selection is None else self.selection.threshold,
            "split": dict(self.shares),
            "noise": {name: self.told(name) for name in (self.noise if self.joint is None else self.measures)},
            **({"selection": BY_COUNTS} if isinstance(self.selection, Sparse) else {}),
            **({} if self.joint is None else self.joint.parameters),
        }

    def told(self, measure: str) -> str:
        """Say what noise a measure has, in what it stands for."""
        if self.joint is not None:
            return self.joint.told
        return self.noise[measure].told(float(self.measures[measure].step))

    def error(self, measure: str, beta: float) -> float:
        """Return how far a measure may be off, in what it stands for."""
        if measure in self.known:
            return 0.0
        if self.joint is not None:
            return self.joint.error(beta)
        return float(self.noise[measure].error(beta) * self.measures[measure].step)

    def expected(self, column: Column | Ranked) -> float | None:
        """Return the error of a column that is promised at the level, for a group of the assumed size."""
        if isinstance(column, Column):
            return column.expected(self.error, 1 - self.settings.level, self.settings.group_size)
        return None


def make_plan(query: Query, tables: Tables, unit: Row | Person, salt: Salt, settings: Settings) -> Plan:
    """Plan a release, or say what is wrong with the query."""
    if not query.aggregates:
        raise InvalidParameter("a query needs aggregates: add .agg(n=dp.count()), or COUNT(*) AS n in SQL.")
    if settings.deadline is not None and not isinstance(query.together, Levels | Synthetic):
        raise InvalidParameter("a deadline is for hierarchies, whose fit may take long. Leave it out here.")
    scope, source, key = scope_of(query, tables, unit)
    filters = [scope.resolve(condition, stored=True) for condition in query.filters]
    for condition in filters:
        if condition.kind != "bool":
            raise InvalidParameter(f"where takes conditions, got a {condition.kind}.")
    if isinstance(query.together, Spread):
        grids = fine_grids(query, scope)
        tree = query.together.asked == "tree"
        numbers = [scope.resolve(value, stored=tree) for _, value in query.keys]
        cells = [grid.sql(scope, number) for grid, number in zip(grids, numbers, strict=True)]
        filters += [Typed("bool", f"{cell.sql} IS NOT NULL", cell.level) for cell in cells]
        if tree:  # its bins are keys: numbers outside the declared bounds are in none
            filters += [
                scope.resolve(value.between(*grid.ends)) for grid, (_, value) in zip(grids, query.keys, strict=True)
            ]
        read = _Resolved(scope, source, key, filters, cells, [None] * len(cells), grids)
        return _joint_plan(query, tables, unit, salt, settings, read)
    keys = [_key(name, scope.resolve(value, stored=True)) for name, value in query.keys]
    declared = [
        _declared(name, value, typed, query, tables) for (name, value), typed in zip(query.keys, keys, strict=True)
    ]
    if query.together is not None:
        return _joint_plan(query, tables, unit, salt, settings, _Resolved(scope, source, key, filters, keys, declared))
    public = None if any(values is None for values in declared) else _product(declared)
    groups, rows = _bounds(unit, None if public is None else len(public), grouped=bool(keys))
    bounding = Bounding(key, groups, rows, salt)
    staged = Rows(scope, source, filters, keys, declared, bounding)
    workshop = Workshop(scope, key, query.aggregates)
    known = _known(workshop.measures, unit, query)
    relation: Relation = unit.relation
    single = not keys
    split = Split(workshop.columns, known, keys_private=public is None, chosen=settings.split)
    reaches = {
        name: Reach(groups, *measure.range(rows), relation, single)
        for name, measure in workshop.measures.items()
        if name not in known
    }
    selection_epsilon = settings.epsilon * split.keys
    tested = _tested(workshop.columns)
    if tested and not settings.key_delta:
        raise InvalidParameter(
            "method 'ptr' tests before it releases, which takes a delta above 0. Open the session with "
            "dp.Budget(epsilon, delta), or take method 'smooth'."
        )
    key_delta = settings.key_delta / 2 if tested and public is None else settings.key_delta
    key_settings = replace(settings, key_delta=key_delta)
    selection: Selection | None = (
        None if public is not None else _selection(key_settings, selection_epsilon, groups, relation)
    )
    epsilon_left = settings.epsilon
    group_count = None
    if settings.count_groups:
        if public is not None:
            raise InvalidParameter("all groups of this query are public: there are no dropped ones to count.")
        share = settings.epsilon * COUNTED
        group_count = Noise.laplace(Reach(groups, 0, 1, relation), share)
        epsilon_left -= share
    scale = epsilon_left / settings.epsilon
    if selection is not None:
        selection = _selection(key_settings, selection_epsilon * scale, groups, relation)
    noise = split.additive(reaches, epsilon_left, settings)
    ranks = {
        column.name: rank_mechanism(
            column,
            epsilon_left * split.ranks[column.name],
            groups,
            rows,
            relation,
            settings.level,
            delta=key_delta / max(tested, 1),
            single=single,
        )
        for column in workshop.columns
        if isinstance(column, Ranked)
    }
    shares, reason = split.shown, ""
    if selection is not None and _serves_both(workshop, rows, settings):
        ((name, apart),) = noise.items()
        told, beta = (apart.error(1 - settings.level), selection.threshold), 1 - settings.level
        if sparse := chosen(epsilon_left, settings, apart, selection.threshold):
            selection, noise, shares = sparse, {name: sparse.noise}, {workshop.columns[0].name: 1.0}
            reason = sparse.reason(*told, beta)
    losses = [] if isinstance(selection, Sparse) else [one.loss for one in noise.values()]
    losses += [one.loss for one in ranks.values()]
    losses += [] if selection is None else [selection.loss]
    losses += [] if group_count is None else [group_count.loss]
    loss = PrivacyLoss.total(losses) if losses else PrivacyLoss.pure(0)
    return Plan(
        query,
        staged,
        tuple(name for name, _ in query.keys),
        public,
        tuple(workshop.columns),
        workshop.measures,
        known,
        noise,
        ranks,
        selection,
        group_count,
        shares,
        settings,
        loss.under(relation),
        reason=reason,
    )


@dataclass(frozen=True, slots=True)
class _Resolved:
    """The parts of a query, read."""

    scope: Scope
    source: str
    person: Typed | None
    filters: list[Typed]
    keys: list[Typed]
    declared: list[tuple[Value, ...] | None]
    grids: tuple[Fine, ...] = ()


def _joint_plan(
    query: Query, tables: Tables, unit: Row | Person, salt: Salt, settings: Settings, read: _Resolved
) -> Plan:
    """Plan a release whose groups are answered together."""
    names = tuple(name for name, _ in query.keys)
    missing = [name for name, values in zip(names, read.declared, strict=True) if values is None]
    if missing and not read.grids:
        raise InvalidParameter(
            f"groups that are answered together are declared, and the values of {missing[0]} are not. Declare them in "
            f"the schema ({missing[0]}: {{values: [...]}}), or use bins."
        )
    declared = tuple(values for values in read.declared if values is not None)
    workshop = Workshop(read.scope, read.person, query.aggregates)
    columns = workshop.columns
    if not names or len(columns) != 1 or not isinstance(columns[0], Column) or not _counts(workshop.measures):
        raise InvalidParameter("groups that are answered together are counted: select their keys and COUNT(*) AS n.")
    if settings.count_groups:
        raise InvalidParameter("all groups of this query are public: there are no dropped ones to count.")
    cells = prod(grid.count for grid in read.grids) * prod(map(len, declared))
    groups, rows = _bounds(unit, cells, grouped=True)
    from discreet.session.joining import joint_of, spread_of

    if read.grids:
        joint = spread_of(query, read.grids, settings, unit.relation, groups * rows)
    else:
        joint = joint_of(query, tables, declared, settings, unit.relation, groups * rows)
    column = columns[0]
    return Plan(
        query,
        Rows(
            read.scope, read.source, read.filters, read.keys, read.declared, Bounding(read.person, groups, rows, salt)
        ),
        names,
        (),
        (column,),
        workshop.measures,
        {},
        {},
        {},
        None,
        None,
        {column.name: 1.0},
        settings,
        joint.loss.under(unit.relation),
        joint,
    )


def _counts(measures: Mapping[str, Additive]) -> bool:
    return len(measures) == 1 and all(isinstance(one, Count) and one.value is None for one in measures.values())


def _serves_both(workshop: Workshop, rows: int, settings: Settings) -> bool:
    """Whether one noise may count groups and choose them: one column counts units, and nobody says how to do it."""
    one = len(workshop.columns) == len(workshop.measures) == 1  # a quantile has no measure, and a cost of its own
    if not one or settings.keys != "auto" or settings.noise == "laplace" or settings.split:
        return False
    (measure,) = workshop.measures.values()
    units = isinstance(measure, Persons) or (isinstance(measure, Count) and measure.value is None and rows == 1)
    return units and bool(settings.delta and settings.key_delta)


def _tested(columns: Sequence[Column | Ranked]) -> int:
    """Return how many columns are tested before they are released, at the cost of a delta."""
    return sum(isinstance(column, Ranked) and column.method == "ptr" for column in columns)


def _key(name: str, typed: Typed) -> Typed:
    if typed.kind in ("float", "timestamp", None):
        raise InvalidParameter(
            f"{name} is a {typed.kind}, and groups have names that are equal or not: "
            "use .bin([0, 10, 20]), .round(), or .cast('date')."
        )
    return typed


def _declared(name: str, value: Expression, typed: Typed, query: Query, tables: Tables) -> tuple[Value, ...] | None:
    """Return the keys that a group has by declaration: written in the query, or following from its expression."""
    values = query.public.get(name)
    if isinstance(values, Name):
        values = tables.values(values)
    elif values is not None:
        values = keys_of(values)
    if values is None:
        return typed.domain or tables.values_of(value, [query.table, *(join.table for join in query.joins)])
    if wrong := {kind_of(one) for one in values if one is not None} - {typed.kind}:
        raise InvalidParameter(f"the keys of {name} are of type {typed.kind}, got {', '.join(sorted(wrong))}.")
    return values


def _product(declared: Sequence[tuple[Value, ...] | None]) -> tuple[tuple[Value, ...], ...]:
    lists = [values for values in declared if values is not None]
    if prod(map(len, lists)) > MOST_KEYS:
        raise InvalidParameter(f"the declared values make more than {MOST_KEYS} groups. Group by fewer columns.")
    return tuple(product(*lists))


def _bounds(unit: Row | Person, declared: int | None, *, grouped: bool) -> tuple[int, int]:
    if isinstance(unit, Row):
        return 1, 1
    if unit.rows is None or (unit.groups is None and grouped):
        missing = "rows" if unit.rows is None else "groups"
        raise InvalidParameter(
            f"the unit does not say how many {missing} of a person may count. "
            f"Write dp.Person({unit.key!r}, groups=3, rows=5) with your own numbers."
        )
    groups = 1 if not grouped else cast("int", unit.groups)
    if unit.rows > MOST_BOUND or groups > MOST_BOUND:
        raise InvalidParameter(f"at most {MOST_BOUND:,} rows and groups of a person can count.")
    return groups if declared is None else min(groups, declared), unit.rows


def _known(measures: Mapping[str, Additive], unit: Row | Person, query: Query) -> dict[str, int]:
    """Return the measures that are public: the number of rows of a whole table of public size."""
    if not isinstance(unit, Row) or unit.size is None or query.filters or query.keys or query.joins:
        return {}
    return {
        name: unit.size for name, measure in measures.items() if isinstance(measure, Count) and measure.value is None
    }


def _selection(
    settings: Settings, epsilon: Fraction, groups: int, relation: Relation
) -> OptimalSelection | LaplaceThreshold | GaussianThreshold:
    if not settings.key_delta:
        raise InvalidParameter(
            "the groups of this query are private, and showing some of them takes a delta above 0. Declare the values "
            "of the columns (schema: values), or open the session with dp.Budget(epsilon, delta)."
        )
    if settings.keys == "gaussian":
        return GaussianThreshold(epsilon=epsilon, delta=settings.key_delta, groups=groups, relation=relation)
    if settings.keys == "laplace":
        return LaplaceThreshold(epsilon=epsilon, delta=settings.key_delta, groups=groups, relation=relation)
    return OptimalSelection(epsilon=epsilon, delta=settings.key_delta, groups=groups, relation=relation)


def requested(epsilon: Real | None) -> Fraction | None:
    """Return an epsilon that somebody wrote."""
    return None if epsilon is None else positive(epsilon, "epsilon")


def small(delta: Real | None) -> Fraction | None:
    """Return a delta that somebody wrote."""
    if delta is None:
        return None
    exact = finite(delta, "delta")
    if not 0 <= exact < 1:
        raise InvalidParameter("delta is a probability: 0 at least, and below 1.")
    return exact
