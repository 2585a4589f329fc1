"""From a description of a synthesis to a query: one group for each combination of the codes of all columns."""

from dataclasses import replace

from discreet.errors import InvalidParameter
from discreet.session.sources import Tables
from discreet.session.synthesis.rules import condition
from discreet.session.synthesis.settled import settled
from discreet.tables.aggregates import count
from discreet.tables.expressions import Expression
from discreet.tables.query import Query
from discreet.tables.synthetic import Coding, Synthetic

__all__ = ["COUNT", "filters_of", "keyed"]

COUNT = ("n", "rows_alike", "number_of_rows")
"""What the column of counts is called: the first that is no name of a column."""


def keyed(query: Query, tables: Tables) -> Query:
    """Return a synthesis with its columns settled by the schema; any other query as it is."""
    asked = query.together
    if not isinstance(asked, Synthetic) or query.keys:
        return query
    codings = settled(asked, tables[query.table])
    names = [one.name for one in codings]
    for one in asked.workload or ():
        if unknown := [name for name in one if name not in names]:
            raise InvalidParameter(f"{unknown[0]!r} in the workload is no column of the copy.")
    return replace(
        query,
        filters=filters_of(asked, tables, query.table),
        keys=tuple((one.name, one.expression) for one in codings),
        public={one.name: one.labels for one in codings},
        aggregates=((_count(codings), count()),),
        together=replace(asked, codings=codings),
    )


def filters_of(asked: Synthetic, tables: Tables, table: str) -> tuple[Expression, ...]:
    """Return which rows count."""
    if asked.where is None:
        return ()
    return (condition(asked.where, list(tables[table].relation.columns)),)


def _count(codings: tuple[Coding, ...]) -> str:
    taken = {one.name for one in codings}
    free = [name for name in COUNT if not {name, f"{name}_low", f"{name}_high"} & taken]
    if not free:
        raise InvalidParameter(f"no name is left for the count of rows: {', '.join(COUNT)} are columns.")
    return free[0]
