"""The types that one engine alone has, with the values that make naive SQL raise."""

import math
import struct
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from engines_reference import LIMIT, clean, whole

MOMENT = datetime(2024, 6, 1, 12, 30)  # noqa: DTZ001
DAY = MOMENT.date()


def single(x):
    """Return the nearest number of 32 bits."""
    return struct.unpack("f", struct.pack("f", x))[0]


CASES = {
    "duckdb": [
        ("UBIGINT", "decimal", "float", ["0", str(2**64 - 1)], [0.0, float(LIMIT)]),
        ("HUGEINT", "decimal", "float", [str(-(2**127) + 1), "7", None], [-float(LIMIT), 7.0, None]),
        ("UHUGEINT", "decimal", "int", [str(2**128 - 1), "7"], [LIMIT, 7]),
        ("FLOAT", "float", "float", ["nan", "inf", "1e-40", "0.5"], [None, float(LIMIT), single(1e-40), 0.5]),
        ("DECIMAL(18, 18)", "decimal", "float", ["0.123456789012345678"], [0.123456789012345678]),
        ("UUID", "str", "str", [str(UUID(int=7))], [str(UUID(int=7))]),
        ("ENUM('a', 'b')", "str", "str", ["a", None], ["a", None]),
        ("BLOB", "other", "str", ["a"], None),
        ("DATE", "date", "date", ["infinity", "-infinity", "0001-01-01 (BC)", "2024-06-01"], [None] * 3 + [DAY]),
        ("TIMESTAMP", "timestamp", "timestamp", ["infinity", "-infinity", "2024-06-01 12:30:00"], [None, None, MOMENT]),
        ("TIMESTAMP", "timestamp", "date", ["infinity", "290000-01-01", "2024-06-01"], [None, None, DAY]),
        ("TIMESTAMP_S", "timestamp", "timestamp", ["2024-06-01 12:30:00", "290000-01-01"], [MOMENT, None]),
        ("TIMESTAMP_MS", "timestamp", "timestamp", ["2024-06-01 12:30:00", "290000-01-01"], [MOMENT, None]),
        ("TIMESTAMP_NS", "timestamp", "timestamp", ["2024-06-01 12:30:00", "infinity"], [MOMENT, None]),
        ("TIMESTAMP_NS", "timestamp", "date", ["2024-06-01 12:30:00", "infinity"], [DAY, None]),
        ("TIMESTAMPTZ", "timestamp", "timestamp", ["2024-06-01 14:30:00+02:00", "infinity"], [MOMENT, None]),
        ("TIMESTAMPTZ", "timestamp", "date", ["2024-06-01 23:30:00-02:00", "-infinity"], [date(2024, 6, 2), None]),
    ],
    "postgres": [
        (
            "NUMERIC",
            "decimal",
            "float",
            ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "-1e-400", "1e-99", "0.1", None],
            [None, float(LIMIT), -float(LIMIT), float(LIMIT), -float(LIMIT), 0.0, 0.0, 1e-99, 0.1, None],
        ),
        ("NUMERIC", "decimal", "int", ["NaN", "-Infinity", "1e400", "1e-400", "-2.9"], [None, -LIMIT, LIMIT, 0, -2]),
        ("NUMERIC(30, 4)", "decimal", "float", ["12345678901234567890123456.7891", "NaN"], [float(LIMIT), None]),
        ("REAL", "float", "float", ["NaN", "Infinity", "1e-40", "0.5"], [None, float(LIMIT), single(1e-40), 0.5]),
        ("SMALLINT", "int", "int", ["-32768"], [-32768]),
        ("INTEGER", "int", "float", ["-2147483648"], [-(2.0**31)]),
        ("CHAR(5)", "str", "str", ["ab", "ab ", ""], ["ab", "ab", ""]),
        ("CHAR(5)", "str", "int", ["12", "x"], [12, None]),
        ("VARCHAR(5)", "str", "str", ["ab  "], ["ab  "]),
        ("UUID", "str", "str", [str(UUID(int=7))], [str(UUID(int=7))]),
        ("NAME", "str", "str", ["a"], ["a"]),
        ("BYTEA", "other", "str", ["a"], None),
        ("MONEY", "other", "float", ["1"], None),
        ("DATE", "date", "date", ["infinity", "-infinity", "1-1-1 BC", "10000-1-1", "2024-6-1"], [None] * 4 + [DAY]),
        ("TIMESTAMP", "timestamp", "timestamp", ["infinity", "4713-1-1 BC", "2024-6-1 12:30"], [None, None, MOMENT]),
        ("TIMESTAMP", "timestamp", "date", ["infinity", "294276-12-31", "2024-06-01 12:30"], [None, None, DAY]),
        ("TIMESTAMPTZ", "timestamp", "timestamp", ["infinity", "2024-06-01 14:30+02"], [None, MOMENT]),
        ("TIMESTAMPTZ", "timestamp", "date", ["-infinity", "2024-06-01 23:30-02"], [None, date(2024, 6, 2)]),
    ],
    "spark": [
        ("FLOAT", "float", "float", ["NaN", "Infinity", "0.5"], [None, float(LIMIT), 0.5]),
        ("TINYINT", "int", "int", ["-128"], [-128]),
        ("DECIMAL(18, 18)", "decimal", "float", ["0.123456789012345678"], [0.123456789012345678]),
        ("DECIMAL(38, 0)", "decimal", "int", ["9" * 38, "-" + "9" * 38, "7"], [LIMIT, -LIMIT, 7]),
        ("BINARY", "other", "str", ["a"], None),
        ("STRING COLLATE UTF8_LCASE", "str", "str", ["a", "A"], ["a", "A"]),
        ("TIMESTAMP", "timestamp", "timestamp", ["2024-06-01 14:30:00+02:00", "+290000-01-01"], [MOMENT, None]),
        ("TIMESTAMP", "timestamp", "date", ["2024-06-01 23:30:00-02:00"], [date(2024, 6, 2)]),
        ("DATE", "date", "date", ["+290000-01-01", "-0001-01-01", "2024-06-01"], [None, None, DAY]),
    ],
}  # fmt: skip


def test_types_of_one_engine(engine):
    for place, (declared, stored, kind, values, expected) in enumerate(CASES[engine.name]):
        made, relation = engine.load(
            "typed", {"place": list(range(len(values))), "x": values}, {"place": "int", "x": declared}
        )
        assert relation.columns["x"] == stored, declared
        sql = made.dialect.read("x", stored, kind)
        assert (sql is None) == (expected is None), (place, declared)
        if sql is not None:
            found = made.run(f"SELECT {sql} AS r FROM {relation.sql} ORDER BY place").column("r").to_pylist()
            assert found == expected, declared


COLLATED = {
    "duckdb": "VARCHAR COLLATE NOCASE",
    "postgres": 'TEXT COLLATE "pg_c_utf8"',
    "spark": "STRING COLLATE UTF8_LCASE",
}


def test_a_collation_of_the_column_joins_no_keys(engine):
    texts = ["a", "A", "b", "B", "é", "E"]
    made, relation = engine.load("collated", {"x": texts}, {"x": COLLATED[engine.name]})
    d = made.dialect
    read = d.read("x", "str", "str")
    inner = f"SELECT {read} AS k FROM {relation.sql}"
    assert made.run(f"SELECT k, COUNT(*) AS n FROM ({inner}) q GROUP BY k").num_rows == len(texts)
    asked = f"SELECT COUNT(*) AS n FROM ({inner}) q WHERE k = 'A' OR {d.contains('k', 'B')} OR {d.ends_with('k', 'E')}"
    assert made.run(asked).column("n").to_pylist() == [3]
    lower = f"SELECT COUNT(*) AS n FROM ({inner}) q WHERE {d.ordered('k')} < 'a'"
    assert made.run(lower).column("n").to_pylist() == [3]


def test_decimals_are_rounded_once_on_every_engine(engine):
    texts = [f"{n}.{n % 7}{n % 3}" for n in range(10**15, 10**15 + 4 * 10**13, 10**11 + 7)]
    made, relation = engine.load(
        "money", {"place": list(range(len(texts))), "x": texts}, {"place": "int", "x": "DECIMAL(38, 2)"}
    )
    sql = made.dialect.read("x", "decimal", "float")
    found = made.run(f"SELECT {sql} AS r FROM {relation.sql} ORDER BY place").column("r").to_pylist()
    assert found == [clean(float(Decimal(text))) for text in texts]
    assert all(math.isfinite(x) and whole(x) is not None for x in found)
