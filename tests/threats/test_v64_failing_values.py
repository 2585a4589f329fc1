"""No stored value may make a query fail, whatever the type it is stored in.

A cast from ``TIMESTAMPTZ`` to ``TIMESTAMP`` fails in DuckDB on -2^63 and 2^63 - 2 microseconds, and a Parquet file with
timestamps in milliseconds fails while it is scanned, so that one person's row stopped every query on the column, at any
epsilon; ``session.verify()`` read the bare column and passed. Moments are now limited before they are cast.
Timestamps in milliseconds of a Parquet file are refused where they are used, and files that store a column in different
types when they are opened: by their types, never by a value. ``verify`` reads by the very expressions of queries, and
``discreet release`` runs it before the charge.

Defence: every operand is guarded before its cast; what DuckDB cannot read in full is refused by its declared type.
Source: Found by using this library: one moment of -2^63 made every query on its column fail.
"""

import logging
from datetime import date, datetime

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

import discreet as dp
from discreet.errors import InvalidInput, InvalidParameter
from discreet.tables.engines import DuckDBEngine
from discreet.tables.engines.duckdb import TYPES
from discreet.tables.schema import Column

MOMENTS = [-(2**63), -(2**63) + 1, -(2**63) + 2, 2**63 - 1, 2**63 - 2, 2**63 - 3, 0, 10**18, -(10**18)]
MOMENTS += [-62_135_596_800 * 10**6 - 1, 253_402_300_800 * 10**6, -9_223_372_022_400_000_001]
DAYS = [-(2**31), -(2**31) + 1, 2**31 - 1, 2**31 - 2, 0, 5 * 10**6, -5 * 10**6]

EXTREMES = {
    "BOOLEAN": ["true", "false"],
    "DOUBLE": ["nan", "inf", "-inf", "1e308", "-1e308", "5e-324", "-0.0"],
    "FLOAT": ["nan", "inf", "-inf", "3e38", "1e-45"],
    "VARCHAR": ["", "x" * 100_000, "é" * 70_000, "\U0010ffff", "9" * 400, "1e999", "2024-02-30", "infinity", "%_\\"],
    "UUID": ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    "UBIGINT": ["0", str(2**64 - 1)],
    "HUGEINT": [str(-(2**127)), str(2**127 - 1)],
    "UHUGEINT": ["0", str(2**128 - 1)],
    "TINYINT": ["-128", "127"],
    "SMALLINT": ["-32768", "32767"],
    "INTEGER": [str(-(2**31)), str(2**31 - 1)],
    "BIGINT": [str(-(2**63)), str(2**63 - 1)],
    "UTINYINT": ["0", "255"],
    "USMALLINT": ["0", "65535"],
    "UINTEGER": ["0", str(2**32 - 1)],
    "DECIMAL(38, 0)": ["9" * 38, "-" + "9" * 38],
    "DECIMAL(38, 38)": ["0." + "9" * 38, "-0." + "9" * 38],
    "ENUM('a', 'b')": ["a", "b"],
}
NUMBERS = [*MOMENTS, None]
WITH_UNITS = {
    "TIMESTAMP": "us",
    "TIMESTAMP_S": "s",
    "TIMESTAMP_MS": "ms",
    "TIMESTAMP_NS": "ns",
    "TIMESTAMP WITH TIME ZONE": "us",
}
KINDS = ("bool", "date", "float", "int", "str", "timestamp")

NUMERIC = ("-x", "ABS(x)", "x + x", "x * x", "x / x", "FLOOR(x)", "CEIL(x)", "ROUND(x)", "SQRT(x)", "CLIP(x, 0, 1)")
DATED = ("YEAR(x)", "MONTH(x)", "DAY(x)", "EXTRACT(ISODOW FROM x)")
TEXT = (
    *("LOWER(x)", "UPPER(x)", "TRIM(x)", "SUBSTRING(x, 2, 3)", "REPLACE(x, 'x', 'yy')", "CONCAT(x, x)", "LENGTH(x)"),
    *("x LIKE '%x_x%9'", "CONTAINS(x, 'x')", "STARTS_WITH(x, 'x')", "ENDS_WITH(x, 'x')", "CAST(x AS INTEGER)"),
    *("CAST(x AS DOUBLE)", "CAST(x AS DATE)", "CAST(x AS BOOLEAN)"),
)
FUNCTIONS = {
    "bool": ("NOT x", "CAST(x AS INTEGER)"),
    "float": (*NUMERIC, "BIN(x, -1, 0, 1)", "CAST(x AS INTEGER)"),
    "int": (*NUMERIC, "BIN(x, -1, 0, 1)", "CAST(x AS DOUBLE)", "CAST(x AS VARCHAR)"),
    "str": TEXT,
    "date": (*DATED, "DATE_TRUNC('month', x)", "x - DATE '2024-01-01'", "x < '2024-01-01'", "CAST(x AS VARCHAR)"),
    "timestamp": (*DATED, "EXTRACT(HOUR FROM x)", "CAST(x AS DATE)", "x < '2024-01-01'"),
}
"""Functions of every kind, as SQL of a column x."""


def columns():
    """Yield every stored type with a table of its extreme values."""
    for kind, values in EXTREMES.items():
        yield kind, values
    for kind, unit in WITH_UNITS.items():
        zone = "UTC" if kind.endswith("ZONE") else None
        yield kind, pa.array(NUMBERS, pa.int64()).cast(pa.timestamp(unit, zone))
    yield "DATE", pa.array([*DAYS, None], pa.int32()).cast(pa.date32())


SWEPT = dict(columns())


def opened(source, kind=None, **options):
    schema = {} if kind is None else {"x": Column(kind)}
    return dp.Session(
        source, name=options.pop("name", "t"), schema=schema, unit=dp.Row(), budget=dp.Budget(1e9), **options
    )


@pytest.fixture
def connection():
    with duckdb.connect() as made:
        yield made


def stored(connection, kind, values):
    """Store values as a table of DuckDB's own, in a type."""
    connection.execute(f"CREATE TABLE t (x {kind})")
    if isinstance(values, list):
        connection.execute(f"INSERT INTO t SELECT CAST(v AS {kind}) FROM unnest($1) r(v)", [values])
    else:
        connection.register("arriving", pa.table({"x": values}))
        connection.execute("INSERT INTO t SELECT x FROM arriving")


def test_every_type_that_is_read_is_swept():
    assert {kind.partition("(")[0] for kind in SWEPT} >= {kind.partition("(")[0] for kind in TYPES}


def ask_everything(source, **options):
    """Ask every function of every kind that a column is read as, and return how many there were."""
    asked = 0
    for kind in KINDS:
        with opened(source, kind, **options) as session:
            for one in ("x IS NULL", *FUNCTIONS[kind]):
                asking = f"SELECT COUNT(DISTINCT CASE WHEN ({one}) IS NULL THEN 1 ELSE 0 END) AS n FROM t"
                try:
                    session.preview(asking, epsilon=1)
                except InvalidParameter as refused:
                    assert "cannot be read" in str(refused)  # noqa: PT017  of no such kind, whatever it holds
                    break
                session.release(asking, epsilon=1)
                asked += 1
            else:
                session.verify()
    return asked


@pytest.mark.parametrize("kind", SWEPT)
def test_no_value_of_a_table_stops_a_query(connection, kind):
    stored(connection, kind, SWEPT[kind])
    assert ask_everything("t", engine=connection) >= len(FUNCTIONS["bool"])


@pytest.mark.parametrize("kind", [*WITH_UNITS, "DATE"])
def test_no_moment_of_a_frame_or_file_stops_a_query(tmp_path, kind):
    table = pa.table({"x": SWEPT[kind]})
    assert ask_everything(table) > len(DATED)
    if kind not in ("TIMESTAMP_MS", "TIMESTAMP_S"):  # a file has no seconds: they are written as milliseconds
        parquet.write_table(table, tmp_path / "t.parquet")
        assert ask_everything(tmp_path / "t.parquet") > len(DATED)


def moments(tmp_path, **options):
    days = [datetime(2024, 1, 1), datetime(1990, 2, 2)]  # noqa: DTZ001  as it is stored
    path = tmp_path / "m.parquet"
    parquet.write_table(pa.table({"x": pa.array(days, pa.timestamp("ms", **options)), "y": [1, 2]}), path)
    return path


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_milliseconds_of_a_file_are_refused_by_their_type(tmp_path, zone):
    with opened(moments(tmp_path, tz=zone)) as session:
        with pytest.raises(InvalidParameter, match="microseconds"):
            session.preview("SELECT COUNT(*) AS n FROM t WHERE x < '2000-01-01'", epsilon=1)
        assert session.release("SELECT COUNT(*) AS n FROM t WHERE y = 1", epsilon=100)["n"].tolist() == [1]
        session.verify()


def test_files_that_store_a_column_differently_are_refused(tmp_path):
    for name, kind in (("a", pa.int32()), ("b", pa.int64())):
        parquet.write_table(pa.table({"x": pa.array([1], kind), "l": [[1.0]]}), tmp_path / f"{name}.parquet")
    with pytest.raises(InvalidParameter, match=r"different types|is stored as"):
        opened(tmp_path / "*.parquet")
    with opened(tmp_path / "a*.parquet") as session:
        assert session.release("SELECT COUNT(*) AS n FROM t", epsilon=100)["n"].tolist() == [1]


# What finds values that no expression can read.


def damaged(tmp_path):
    """Write a file in which one text is not UTF-8."""
    path = tmp_path / "bad.parquet"
    parquet.write_table(pa.table({"x": ["abcdefgh"] * 3, "user": [1, 2, 3]}), path, compression="none")
    path.write_bytes(path.read_bytes().replace(b"abcdefgh", b"abc\xff\xfe\xfdgh"))
    return path


def test_a_damaged_text_is_found_before_anything_is_charged(tmp_path, caplog):
    with opened(damaged(tmp_path)) as session:
        with caplog.at_level(logging.ERROR, "discreet.curator"), pytest.raises(InvalidInput, match="cannot be read"):
            session.verify()
        with pytest.raises(InvalidInput, match="cannot be read"):
            session.verify(["SELECT COUNT(*) AS n FROM t WHERE LENGTH(x) > 2"])
        assert session.spent == 0
    assert caplog.records


class Trusting(DuckDBEngine):
    """Hands moments over as they are stored, as it once did."""

    def _timed(self, sql):
        return sql


def stopped(engine, connection):
    """Whether reading a moment as queries do fails, and whether ``verify`` finds it."""
    with opened("t", engine=engine) as session:
        try:
            session.verify()
        except InvalidInput:
            return True
    return False


def test_a_cast_without_a_guard_is_caught(connection):
    stored(connection, "TIMESTAMP_S", SWEPT["TIMESTAMP_S"])
    assert stopped(Trusting(connection), connection)
    assert not stopped(DuckDBEngine(connection), connection)


def test_what_can_be_read_is_read_as_it_is(connection):
    for kind in WITH_UNITS:
        connection.execute(f"CREATE OR REPLACE TABLE t AS SELECT CAST('2024-02-29 23:30:00' AS {kind}) AS x")
        engine = DuckDBEngine(connection)
        relation = engine.attach("t", "t")
        read = [engine.dialect.read("x", "timestamp", one) for one in ("date", "timestamp")]
        found = engine.run(f"SELECT {read[0]} AS d, {read[1]} AS m FROM {relation.sql}").to_pylist()
        assert found == [{"d": date(2024, 2, 29), "m": datetime(2024, 2, 29, 23, 30)}]  # noqa: DTZ001
