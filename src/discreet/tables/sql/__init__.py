"""SQL: a text becomes the same query that Python builds.

The text is parsed, and every part of the tree is either one that this package knows or refused; what comes out is made
of columns, constants and the functions of ``discreet.tables.functions`` alone. No part of the text is ever ignored, and
none of it reaches an engine: engines see SQL that is written anew from the query.

>>> parse("SELECT city, COUNT(*) AS n FROM visits WHERE day >= '2026-01-01' GROUP BY city", {"visits": ["city", "day"]})
Query('visits').where((col('day') >= '2026-01-01')).group_by(city=col('city')).agg(n=count())
"""

from collections.abc import Mapping, Sequence

from discreet.errors import MissingExtra
from discreet.tables.query import Query

__all__ = ["parse"]


def parse(text: str, tables: Mapping[str, Sequence[str]]) -> Query:
    """Return the query that one SELECT describes; ``tables`` maps the tables there are to their columns.

    >>> parse("SELECT DISTINCT city FROM visits", {"visits": ["city"]})
    Traceback (most recent call last):
    discreet.errors.InvalidQuery: SELECT DISTINCT shows names without protection. Write SELECT city, COUNT(*) AS n ...
    GROUP BY city.
    """
    try:
        import sqlglot  # noqa: F401
    except ImportError:
        raise MissingExtra("sqlglot", "tables") from None
    from discreet.tables.sql.statement import query

    return query(text, tables)
