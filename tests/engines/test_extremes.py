"""On every engine: extreme values of its own types, patterns on the longest texts, and stopped queries."""

import pytest
from functions_reference import KINDS

from discreet.tables.expressions import Call, col
from discreet.tables.kinds import LONGEST
from discreet.tables.schema import Column
from discreet.tables.typed import Origin, Scope

EXTREMES = {
    "duckdb": {
        "TIMESTAMP": ["infinity", "-infinity", "290000-01-01", "0001-01-01 (BC)"],
        "TIMESTAMPTZ": ["infinity", "-infinity", "290000-01-01", "0001-01-01 (BC)"],
        "DATE": ["infinity", "-infinity", "5881580-07-10", "5877642-06-25 (BC)"],
    },
    "postgres": {
        "TIMESTAMP": ["infinity", "-infinity", "294276-12-31 23:59:59.999999", "4714-11-24 BC"],
        "TIMESTAMPTZ": ["infinity", "-infinity", "294276-12-31 23:59:59.999999+00", "4714-11-24 00:00:00+00 BC"],
        "DATE": ["infinity", "-infinity", "5874897-12-31", "4714-11-24 BC"],
        "TEXT": ["", "x" * 200_000, "é" * 200_000],
    },
    "spark": {
        "TIMESTAMP": ["+294247-01-10T04:00:54.775807Z", "-290308-12-21T19:59:06Z", "0000-01-01T00:00:00Z"],
        "TIMESTAMP_NTZ": ["+294247-01-10T04:00:54.775807", "-290308-12-21T19:59:06", "0000-01-01T00:00:00"],
        "DATE": ["+5881580-07-11", "-5877641-06-23"],
        "STRING": ["", "x" * 200_000, "é" * 200_000],
    },
}

DATED = ("year", "month", "day", "weekday")
FUNCTIONS = {
    "date": [Call(one, (col("x"),)) for one in (*DATED, "month_start")] + [col("x").cast("str")],
    "timestamp": [Call(one, (col("x"),)) for one in (*DATED, "hour")] + [col("x").cast("date")],
    "str": [
        col("x").cast(kind) for kind in ("float", "int", "bool", "date")
    ] + [Call("like", (col("x"),), ("%x_x%x%é",)), col("x").concat(col("x")).length(), col("x").replace("x", "xx")],
}  # fmt: skip
MOMENTS = {"timestamp": ("date", "timestamp"), "date": ("date",), "str": ("str",)}


def counted(dialect, relation, stored, kind, expressions):
    quoted = dialect.identifier("x")
    scope = Scope(dialect, {(None, "x"): Origin(quoted, quoted, stored, Column(kind))})
    values = [scope.resolve(one) for one in expressions]
    query = f"SELECT * FROM {relation.sql}"
    for level in range(1, max(value.level for value in values) + 1):
        named = "".join(f", {sql} AS {dialect.identifier(name)}" for name, sql in scope.stages.get(level, {}).items())
        query = f"SELECT q.*{named} FROM ({query}) q{dialect.barrier}"
    counts = ", ".join(f"COUNT(DISTINCT {value.sql}) AS v{place}" for place, value in enumerate(values))
    return f"SELECT {counts}, COUNT(*) AS n FROM ({query}) q"


def test_no_value_of_an_engines_own_types_stops_a_query(engine):
    assert set(KINDS.values()) >= set(FUNCTIONS)
    for declared, values in EXTREMES[engine.name].items():
        made, relation = engine.load("extreme", {"x": values}, {"x": declared})
        stored = relation.columns["x"]
        for kind in MOMENTS[stored]:
            sql = counted(made.dialect, relation, stored, kind, [col("x"), *FUNCTIONS[kind]])
            assert made.run(sql).column("n").to_pylist() == [len(values)], (declared, kind)


HARD = ["%a%a%a%b", "%aa_aa%a%ab", "a%a_a%aaaaaaaaab%", "%_a%_a%_b_"]


def test_patterns_on_the_longest_text_are_answered(engine):
    """An engine that goes back for every percent sign would need years for these; the time is a hundredfold."""
    made, relation = engine.load("long", {"x": ["a" * LONGEST, "a" * LONGEST + "b", "ab"]}, {"x": "str"})
    expressions = [Call("like", (col("x"),), (pattern,)) for pattern in HARD]
    sql = counted(made.dialect, relation, "str", "str", expressions)
    assert made.run(sql, seconds=300).column("n").to_pylist() == [3]


SLOW = {
    "duckdb": "SELECT COUNT(*) AS n FROM range(10000000) a, range(10000000) b WHERE (a.range * b.range) % 7 = 1",
    "postgres": "SELECT COUNT(*) AS n FROM generate_series(1, 10000000) a, generate_series(1, 10000000) b",
    "spark": "SELECT COUNT(*) AS n FROM range(10000000) a CROSS JOIN range(10000000) b WHERE (a.id * b.id) % 7 = 1",
}
"""Hours of work."""


def test_a_query_is_stopped_and_the_next_one_runs(engine):
    made, relation = engine.load("few", {"x": ["a"]}, {"x": "str"})
    with pytest.raises(Exception, match=r"(?i)stopped|timeout"):
        made.run(SLOW[engine.name], seconds=1)
    assert made.run(f"SELECT COUNT(*) AS n FROM {relation.sql}", seconds=60).column("n").to_pylist() == [1]
    assert made.run(f"SELECT COUNT(*) AS n FROM {relation.sql}").column("n").to_pylist() == [1]
