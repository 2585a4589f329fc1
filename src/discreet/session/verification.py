"""Reading everything once, for the curator: nothing in a table may be what the engine cannot read.

Every column is read by the expression that queries read it by, and queries that are known beforehand are run to their
last statement. What they find is thrown away.
"""

from collections.abc import Iterator, Sequence

from discreet.errors import InvalidInput, InvalidParameter
from discreet.session.columns import Ranked
from discreet.session.plan import Plan
from discreet.session.release import LOG
from discreet.session.sources import Attached, Tables
from discreet.tables.engines import Engine
from discreet.tables.expressions import Name
from discreet.tables.measures import Distinct
from discreet.tables.typed import Origin, Scope

__all__ = ["check_readable"]


def check_readable(tables: Tables, plans: Sequence[Plan] = ()) -> None:
    """Refuse private tables of which something cannot be read; only the log says what."""
    for table in tables.private:
        if not _runs(tables.engine, _columns(tables.engine, table), table.name):
            raise InvalidInput(f"{table.name} holds values that cannot be read. The curator's log says which.")
    for plan in plans:
        for sql in _statements(plan):
            if not _runs(tables.engine, sql, plan.query.table):
                raise InvalidInput("a query meets values that cannot be read. The curator's log says which.")


def _columns(engine: Engine, table: Attached) -> str:
    """Return a query that reads every column as queries do; those of types that none can read are left out."""
    origins: dict[tuple[str | None, str], Origin | None] = {
        (None, name): Origin(f"t.{engine.dialect.identifier(name)}", "", stored, table.schema[name], name == table.key)
        for name, stored in table.relation.columns.items()
    }
    scope, counts = Scope(engine.dialect, origins), ["COUNT(*) AS n"]
    for place, name in enumerate(table.relation.columns):
        try:
            counts.append(f"COUNT(DISTINCT {scope.resolve(Name(name)).sql}) AS c_{place}")
        except InvalidParameter:
            continue
    return f"SELECT {', '.join(counts)} FROM {table.relation.sql} t"  # noqa: S608


def _statements(plan: Plan) -> Iterator[str]:
    """Yield all that a plan may ask of the engine."""
    together = [one for one in plan.measures.values() if not isinstance(one, Distinct)]
    yield plan.rows.totals(together)
    if plan.rows.bounding.key is None:
        yield plan.rows.totals(together, wide=True)
    for measure in plan.measures.values():
        if isinstance(measure, Distinct):
            yield plan.rows.distinct(measure)
    for column in plan.columns:
        if isinstance(column, Ranked):
            yield plan.rows.cells(column.cells)


def _runs(engine: Engine, sql: str, name: str) -> bool:
    try:
        engine.run(sql)
    except Exception:
        LOG.exception("%s cannot be read", name)
        return False
    return True
