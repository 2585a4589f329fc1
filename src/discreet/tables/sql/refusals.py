"""What is refused, why, and what works instead.

Every part of a tree is either understood or refused. ``understood`` is called with the settings of a part that its
reader knows: any other that is set is refused, so nothing that was written is left out in silence.
"""

from typing import NoReturn

from sqlglot import exp

from discreet.errors import InvalidQuery

__all__ = ["REASONS", "named", "refuse", "understood"]

REASONS = {
    "Union": "UNION puts several queries into one. Ask each by itself.",
    "Except": "EXCEPT compares rows of two queries. Filter with WHERE instead.",
    "Intersect": "INTERSECT compares rows of two queries. Filter with WHERE, or JOIN the tables.",
    "Values": "VALUES is no table of this session. Select from a table.",
    "Subquery": "a query inside an expression sees other rows than its own. Put it into FROM, or JOIN the table.",
    "Select": "a query inside an expression sees other rows than its own. Put it into FROM, or JOIN the table.",
    "Exists": "EXISTS sees other rows than its own. JOIN the table instead.",
    "Any": "ANY sees other rows than its own. Write IN with a list of values.",
    "All": "ALL sees other rows than its own. Write AND between the conditions.",
    "Window": "a window function gives an answer for every row. Aggregate with GROUP BY instead.",
    "Lateral": "LATERAL runs a query for every row. JOIN a table instead.",
    "Unnest": "UNNEST makes several rows of one. Store one row for each value instead.",
    "Star": "* stands for all columns, and rows cannot be shown. Name the keys and aggregates, such as COUNT(*).",
    "Placeholder": "the value of a parameter is not part of the text. Write the value itself.",
    "Parameter": "the value of a parameter is not part of the text. Write the value itself.",
    "Interval": "INTERVAL is not supported. Subtract two dates to get days.",
    "Escape": "LIKE has no ESCAPE here. Use STARTS_WITH, ENDS_WITH or CONTAINS for a text with % or _.",
    "ILike": "ILIKE is not supported. Write LOWER(x) LIKE 'pattern'.",
    "RegexpLike": "regular expressions may take for ever on one row. Use LIKE, STARTS_WITH, ENDS_WITH or CONTAINS.",
    "SimilarTo": "regular expressions may take for ever on one row. Use LIKE, STARTS_WITH, ENDS_WITH or CONTAINS.",
    "Glob": "GLOB is not supported. Use LIKE, with % for any text and _ for one character.",
    "Mod": "the remainder % is not supported. Write x - FLOOR(x / 10) * 10.",
    "IntDiv": "DIV is not supported. Write FLOOR(x / y).",
    "NullSafeEQ": "null-safe comparison is not supported. Write a = b OR (a IS NULL AND b IS NULL).",
    "NullSafeNEQ": "IS DISTINCT FROM is not supported. Write a <> b OR a IS NULL.",
    "Tuple": "several values in brackets are no value. Compare columns one by one, with AND.",
    "Array": "a list is no value here. Write IN (1, 2, 3), or several columns.",
    "Distinct": "DISTINCT is for COUNT(DISTINCT x) alone. Leave it out.",
    "Order": "ORDER BY inside an aggregate changes nothing that may be asked. Leave it out.",
    "IgnoreNulls": "nulls are left out of every aggregate already. Leave IGNORE NULLS out.",
    "RespectNulls": "nulls are left out of every aggregate. Replace them first: COALESCE(x, 0).",
    "Kwarg": "named arguments are not supported. For bounds write SUM(CLIP(x, low, high)).",
    "PropertyEQ": "named arguments are not supported. For bounds write SUM(CLIP(x, low, high)).",
    "Alias": "a name is for a whole column of the answer. Put AS name behind the whole column.",
    "Aliases": "a column of the answer has one name. Write AS name.",
    "Collate": "COLLATE is not supported: texts are compared code point by code point. Use LOWER(x) for one case.",
    "AtTimeZone": "AT TIME ZONE is not supported: timestamps are in UTC. Leave it out.",
    "Dot": "functions of a schema are not on the list. Use the functions by their plain names.",
    "Bracket": "parts of a list or structure are not supported. Store them in columns of their own.",
    "Lambda": "functions cannot be defined in a query. Use those that there are.",
    "Concat": "two texts next to each other are no value. Write || between them.",
    "Is": "IS is for NULL alone. Write x IS NULL, or x = TRUE.",
    "Filter": "FILTER belongs to an aggregate. Write SUM(x) FILTER (WHERE condition).",
    "WithinGroup": "WITHIN GROUP is for percentiles alone. Write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x).",
    "Rollup": "GROUPING SETS, ROLLUP and CUBE stand in GROUP BY, not inside a value. Write GROUP BY CUBE (a, b).",
    "Cube": "GROUPING SETS, ROLLUP and CUBE stand in GROUP BY, not inside a value. Write GROUP BY CUBE (a, b).",
    "GroupingSets": "GROUPING SETS, ROLLUP and CUBE stand in GROUP BY, not inside a value. Write GROUP BY CUBE (a, b).",
    "Limit": "LIMIT inside an aggregate picks rows by their place. Filter with FILTER (WHERE condition).",
    "Struct": "structures are not supported. Name the columns one by one.",
    "StrToDate": "CAST has no FORMAT here. Texts are read as dates when they are written 2026-01-31.",
    "StrToTime": "CAST has no FORMAT here. Texts are read as dates when they are written 2026-01-31.",
}
"""For each part that can be written and is never allowed, by the name of its class: the reason, and what works."""

SETTINGS = {
    "distinct": "SELECT DISTINCT shows names without protection. Write SELECT city, COUNT(*) AS n ... GROUP BY city.",
    "into": "SELECT INTO writes a table, and queries only read. Leave INTO out.",
    "hint": "hints to an engine are not supported. Leave them out.",
    "hints": "hints to an engine are not supported. Leave them out.",
    "locks": "locks such as FOR UPDATE are not supported. Leave them out.",
    "sample": "samples such as TABLESAMPLE are drawn by the session, not by the text. Leave them out.",
    "offset": "OFFSET is not supported: an answer is shown from its first row. Use LIMIT alone.",
    "qualify": "QUALIFY is for window functions, which give an answer for every row. Use HAVING.",
    "windows": "a window function gives an answer for every row. Aggregate with GROUP BY instead.",
    "laterals": "LATERAL runs a query for every row. JOIN a table instead.",
    "pivots": "PIVOT makes columns of values. GROUP BY the column instead.",
    "joins": "joins in brackets are not supported. Write them one after the other: FROM a JOIN b ON ... JOIN c ON ...",
    "recursive": "WITH RECURSIVE is not supported. Name queries without it.",
    "columns": "a list of columns behind an alias is not supported. Rename them with AS in the SELECT.",
    "db": "tables and columns are named without a schema. Only the tables of this session can be asked.",
    "catalog": "tables and columns are named without a schema. Only the tables of this session can be asked.",
    "method": "NATURAL, ASOF and similar joins hide what is compared. Write JOIN table ON a = b.",
    "group": "a subquery that aggregates is not supported. Aggregate once, in the outermost SELECT.",
    "having": "a subquery that aggregates is not supported. Aggregate once, in the outermost SELECT.",
    "order": "ORDER BY in a subquery orders nothing that is shown. Order the outermost SELECT.",
    "limit": "LIMIT in a subquery picks rows by their place. Filter with WHERE instead.",
    "grouping_sets": "GROUPING SETS stand behind GROUP BY. Write GROUP BY GROUPING SETS ((a, b), (a)).",
    "rollup": "WITH ROLLUP is not standard SQL. Write GROUP BY ROLLUP (a, b).",
    "cube": "WITH CUBE is not standard SQL. Write GROUP BY CUBE (a, b).",
    "desc": "quantiles are counted from the lowest value. Leave DESC out, and write 1 minus the share.",
    "kind": "an answer is a table. Leave AS STRUCT or AS VALUE out.",
    "totals": "totals are a query of their own. Ask for them without GROUP BY.",
    "all": "GROUP BY ALL is not supported. Name the columns to group by.",
    "nulls_first": "nulls are shown last. Leave NULLS FIRST out.",
    "query": "IN with a query sees other rows than its own. JOIN the table, or write the values: IN (1, 2, 3).",
    "unnest": "UNNEST makes several rows of one. Write the values: IN (1, 2, 3).",
    "field": "IN takes values in brackets. Write IN (1, 2, 3).",
    "symmetric": "BETWEEN SYMMETRIC is not supported. Write the smaller end first.",
    "except_": "* with exceptions is not supported. Name the columns.",
    "replace": "* with replacements is not supported. Name the columns.",
    "rename": "* with other names is not supported. Name the columns.",
    "expressions": "a list in brackets is not supported here. Leave it out.",
    "collation": "COLLATE is not supported: texts are compared code point by code point. Leave it out.",
    "position": "TRIM takes spaces from both ends. Write TRIM(x).",
    "format": "FORMAT is not supported. Leave it out.",
    "materialized": "MATERIALIZED is a hint to an engine. Leave it out.",
}
"""For each setting that can be written and is not understood, by its name: the reason, and what works."""


def named(text: object) -> str:
    """Return a name from the text in quotes, cut to a readable length.

    >>> named("city"), named("x" * 60)
    ("'city'", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'")
    """
    told = str(text)
    return repr(told if len(told) <= 40 else f"{told[:40]}...")


def refuse(part: object) -> NoReturn:
    """Refuse a part of a tree that no query may have."""
    name = type(part).__name__
    if reason := REASONS.get(name):
        raise InvalidQuery(reason)
    raise InvalidQuery(
        f"{named(name)} is not among the parts that a query may have: only those that look at one row at a time are. "
        "Use + - * /, comparisons, AND, OR, NOT, BETWEEN, IN, LIKE, CASE and the functions that there are."
    )


def understood(part: exp.Expr, *settings: str) -> None:
    """Refuse a part with a setting that its reader does not know."""
    for setting, value in part.args.items():
        if setting in settings or value is None or value is False or value == []:
            continue
        if reason := SETTINGS.get(setting):
            raise InvalidQuery(reason)
        raise InvalidQuery(
            f"the setting {named(setting)} of {named(type(part).__name__)} is not supported. Leave it out."
        )
