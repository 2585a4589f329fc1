"""Which columns of a table make people findable: uniqueness on combinations, anonymity measured, what to do.

Sweeney, "Simple Demographics Often Identify People Uniquely", 2000: date of birth, sex and postcode are unique for most
people of the United States. A row that is unique on columns known from elsewhere belongs to whoever fits them.

Works on your own file, locally; nothing that is shown or returned holds a value of a cell.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from discreet import plots
from discreet.auditing.attacks.advice import FEW, advise, columns_of, listed
from discreet.auditing.attacks.anonymity import Anonymity, anonymity_of
from discreet.auditing.attacks.combinations import Combination, combinations_of, how_many
from discreet.auditing.attacks.percent import percent
from discreet.auditing.attacks.protection import Protection, tell_apart
from discreet.auditing.attacks.tables import Column, Progress, Table, quiet, table_of
from discreet.errors import InvalidParameter
from discreet.mechanisms import Geometric

__all__ = ["QuasiIdentifiers", "quasi_identifiers"]

IDENTIFIER = 0.95
"""A column that alone singles out this share of rows is a name by another name."""

MOST = 12
"""How many columns are combined, those with the most different values; the file may have more."""

SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class QuasiIdentifiers:
    """What makes rows findable.

    ``identifiers`` single out nearly every row alone and are set aside; ``combinations`` holds the others, up to a
    size; ``weights`` is how much uniqueness each column adds on average to combinations that lack it.
    """

    rows: int
    columns: tuple[str, ...]
    identifiers: tuple[str, ...]
    left_out: tuple[str, ...]
    combinations: tuple[Combination, ...]
    weights: dict[str, float]
    anonymity: Anonymity
    advice: tuple[str, ...]
    notes: tuple[str, ...]
    protection: Protection

    def best(self, size: int, *, without: str | None = None) -> Combination | None:
        """Return the combination of a size on which most rows are unique, the first of equals."""
        some = [c for c in self.combinations if len(c.columns) == size and without not in c.columns]
        return max(some, key=lambda c: c.unique, default=None)

    @property
    def worst(self) -> Combination | None:
        """The combination that singles out most rows, of the largest size that was looked at."""
        sizes = {len(c.columns) for c in self.combinations}
        return self.best(max(sizes)) if sizes else None

    @property
    def verdict(self) -> str:
        """How findable the rows are, in a few sentences."""
        lines = []
        if self.identifiers:
            verb = "singles" if len(self.identifiers) == 1 else "each single"
            lines.append(f"{listed(self.identifiers)} alone {verb} out nearly every row.")
        worst = self.worst
        if worst is not None:
            lines.append(
                f"{percent(worst.share)} of your {self.rows:,} {'row is' if self.rows == 1 else 'rows are'} unique on "
                f"{columns_of(len(worst.columns))}: {', '.join(worst.columns)}."
            )
        found = self.anonymity
        if found.columns:
            lines.append(
                f"On the {columns_of(len(found.columns))} together k = {found.k}"
                f"{', which is no anonymity at all' if found.k == 1 else ''}: {percent(found.unique / self.rows)} of "
                f"rows are unique, and {percent(found.below_five / self.rows)} have fewer than four others like them."
            )
        if found.sensitive is not None:
            lines.append(
                f"{found.sensitive}: distinct l = {found.distinct_l}, entropy l = {found.entropy_l:.2f}, "
                f"t = {found.t:.2f}; whoever knows the other columns of somebody knows it for certain in "
                f"{found.known_for_certain:,} rows."
            )
        return " ".join(lines)

    def __str__(self) -> str:
        return f"{self.verdict} {self.protection}"

    def on(self, *columns: str) -> Combination:
        """Return what was counted for some columns."""
        for found in self.combinations:
            if set(found.columns) == set(columns):
                return found
        raise InvalidParameter(f"nothing was counted for {', '.join(columns) or 'no columns'}. Ask with columns=[...].")

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw the share of unique rows for the combinations that single out most, of each size."""
        shown = self.leading()
        if not shown:
            raise InvalidParameter("there is no column to draw: all were set aside as identifiers.")
        values = [100 * found.share for found in shown]
        return plots.bars_with_error(
            [" + ".join(found.columns) for found in shown],
            [round(value, 1) for value in values],
            values,
            values,
            "Rows that are unique, by the columns somebody knows",
            "percent of rows",
            subtitle=f"{self.rows:,} rows; the combinations that single out most",
        )

    def leading(self) -> list[Combination]:
        """Return the combinations worth showing: the most unique ones of every size, small sizes first."""
        some = [c for c in self.combinations if c.unique] or list(self.combinations[:1])
        sizes = sorted({len(c.columns) for c in some})
        each = SHOWN // max(len(sizes), 1) + 1
        ranked = sorted(some, key=lambda c: -c.unique)
        return [found for size in sizes for found in [c for c in ranked if len(c.columns) == size][:each]]


def quasi_identifiers(
    source: object,
    columns: Sequence[str] | None = None,
    sensitive: str | None = None,
    *,
    largest: int = 3,
    epsilon: float = 1.0,
    header: bool | None = None,
    progress: Progress = quiet,
) -> QuasiIdentifiers:
    """Measure how findable the rows of a table are: a CSV file, a mapping of columns, or rows as mappings.

    ``columns`` are those that somebody may know from elsewhere, by default all but the sensitive one; ``sensitive`` is
    what nobody should learn. Combinations of up to ``largest`` columns, at most 4, are counted, exactly.

    >>> from discreet.datasets import census
    >>> found = quasi_identifiers(census(2_000), sensitive="condition")
    >>> found.anonymity.k, round(found.worst.share, 1)
    (1, 1.0)
    """
    if type(largest) is not int or not 1 <= largest <= 4:
        raise InvalidParameter(f"combinations have 1 to 4 columns, got {largest!r}.")
    table = source if isinstance(source, Table) else table_of(source, header=header, progress=progress)
    hidden = None if sensitive is None else table.column(sensitive)
    asked = [c for c in table.columns if c is not hidden] if columns is None else [table.column(n) for n in columns]
    if hidden in asked:
        raise InvalidParameter(f"{sensitive} cannot be both known and sensitive. Take it out of the columns.")
    if len({c.name for c in asked}) < len(asked) or (columns is not None and not asked):
        raise InvalidParameter("columns must name at least one column, and each once.")
    identifiers = [c for c in asked if columns is None and _identifies(c, table.rows)]
    known = [c for c in asked if c not in identifiers and c.values > 1] or [c for c in asked if c not in identifiers]
    ranked = sorted(known, key=lambda c: -c.values)
    combined = [c for c in known if c in ranked[:MOST]]
    total = how_many(len(combined), largest)
    done = iter(range(1, total + 1))
    found = combinations_of(
        combined, table.rows, largest, step=lambda: progress("combining columns", next(done) / max(total, 1))
    )
    weights = _weights(found, combined)
    bare = QuasiIdentifiers(
        rows=table.rows,
        columns=tuple(c.name for c in combined),
        identifiers=tuple(c.name for c in identifiers),
        left_out=tuple(c.name for c in ranked[MOST:]),
        combinations=tuple(found),
        weights=weights,
        anonymity=anonymity_of(known, table.rows, hidden),
        advice=(),
        notes=table.notes,
        protection=tell_apart(
            Geometric(sensitivity=1, epsilon=epsilon),
            [1],
            release="how many rows fall into each group of a public list",
        ),
    )
    return replace(bare, advice=advise(bare, {c.name: c for c in asked}))


def _identifies(column: Column, rows: int) -> bool:
    """Say whether a column alone singles out nearly every row of a table of some size."""
    if rows < FEW or column.values < IDENTIFIER * rows:
        return False
    alone = combinations_of([column], rows, 1)[0]
    return alone.share >= IDENTIFIER


def _weights(found: Sequence[Combination], columns: Sequence[Column]) -> dict[str, float]:
    """Return the mean rise of the unique share when a column joins a combination, the most telling column first."""
    share = {frozenset(c.columns): c.share for c in found} | {frozenset(): 0.0}
    rises: dict[str, list[float]] = {column.name: [] for column in columns}
    for members, part in share.items():
        for name in members:
            rises[name].append(part - share[members - {name}])
    means = {name: sum(values) / len(values) for name, values in rises.items() if values}
    return dict(sorted(means.items(), key=lambda item: -item[1]))
