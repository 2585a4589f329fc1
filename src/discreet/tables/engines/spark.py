"""Spark as an engine, beside the user's own session.

Queries run in a session of their own that shares the context, so what gives SQL its meaning here (time zone, case of
names, backslashes in texts) is set without touching the user's settings. Data frames are handed over as global
temporary views under names that nobody guesses.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING
from uuid import uuid4

from discreet.errors import InvalidParameter, MissingExtra
from discreet.tables.dialects import Spark, Stored
from discreet.tables.engines.engine import Engine, Relation
from discreet.tables.engines.equality import folding
from discreet.tables.engines.stopping import stopped_after

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

__all__ = ["SparkEngine"]

SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.variable.substitute": "false",
}
"""What gives SQL its meaning. Without the last, a text with a dollar and a brace would show settings of the machine."""

REBASED = (
    "spark.sql.avro.datetimeRebaseModeInRead",
    "spark.sql.parquet.datetimeRebaseModeInRead",
    "spark.sql.parquet.int96RebaseModeInRead",
)
"""How dates before 1582 are read."""

STORED: dict[str, Stored] = {
    "boolean": "bool",
    "byte": "int",
    "char": "str",
    "date": "date",
    "decimal": "decimal",
    "double": "float",
    "float": "float",
    "integer": "int",
    "long": "int",
    "short": "int",
    "string": "str",
    "timestamp": "timestamp",
    "timestamp_ntz": "timestamp",
    "varchar": "str",
}


PATIENCE, STEP = 10.0, 0.2
"""Seconds that a query has to end once it is cancelled, and between two tries: it may still be planned at the first."""


class SparkEngine(Engine):
    """Data frames and tables of a Spark session.

    A source is a DataFrame, or the name of a table or view that the session knows.
    """

    def __init__(self, session: "SparkSession") -> None:
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise MissingExtra("pyspark", "spark") from None
        if not isinstance(session, SparkSession):
            raise InvalidParameter(f"Spark needs a SparkSession that runs here, got {type(session).__name__}.")
        self.dialect = Spark()
        self._user = session
        self._session = session.newSession()
        for key, value in session.conf.getAll.items():
            if not key.startswith("spark.sql.legacy.") and (
                not key.startswith("spark.") or session.conf.isModifiable(key)
            ):
                self._session.conf.set(key, value)
        for key, value in SETTINGS.items():
            self._session.conf.set(key, value)
        for key in REBASED:  # else an old date in a Parquet or Avro file may stop a query
            if self._session.conf.get(key, "CORRECTED") == "EXCEPTION":
                self._session.conf.set(key, "CORRECTED")
        self._views: list[str] = []
        self._groups: list[str] = []
        self._lock = threading.RLock()

    def attach(self, name: str, source: object, declared: Sequence[str] = ()) -> Relation:
        """Hand a data frame over under a new name; nothing is computed."""
        from pyspark.errors import AnalysisException
        from pyspark.sql import DataFrame

        if isinstance(source, str):
            try:
                source = self._user.table(source)
            except AnalysisException:
                raise InvalidParameter(f"the Spark session has no table {source}.") from None
        if not isinstance(source, DataFrame):
            raise InvalidParameter(f"a Spark source is a DataFrame or a table's name, got {type(source).__name__}.")
        columns = {field.name: STORED.get(field.dataType.typeName(), "other") for field in source.schema.fields}
        if len(columns) < len(source.schema.fields):
            raise InvalidParameter(f"{name} has two columns of the same name. Rename one of them.")
        view = f"discreet_{uuid4().hex}"
        source.createGlobalTempView(view)
        self._views.append(view)
        database = self._user.conf.get("spark.sql.globalTempDatabase", "global_temp") or "global_temp"
        fix = "Select it in one way, for example F.lower('key').cast(StringType())."
        alike = {
            field.name: folding(told, fix) for field in source.schema.fields if (told := _collation(field.dataType))
        }
        return Relation(f"{self.dialect.identifier(database)}.{self.dialect.identifier(view)}", columns, alike)

    def run(self, sql: str, *, seconds: float | None = None) -> "pa.Table":
        """Return the result of a query; several threads may ask at once.

        The bridge to Java answers a thread that is interrupted with an error of its own, and with nothing after it. So
        a thread of its own waits for the answer, and Ctrl-C stops who waits for that thread, and cancels the query.
        """
        from pyspark import InheritableThread

        group = f"discreet_{uuid4().hex}"
        found: Future[pa.Table] = Future()

        def work() -> None:
            try:
                self._session.sparkContext.setJobGroup(group, "a query of discreet")
                found.set_result(self._session.sql(sql).toArrow())
            except BaseException as error:
                found.set_exception(error)

        thread = InheritableThread(target=work, daemon=True)
        self._groups.append(group)
        try:
            thread.start()
            with stopped_after(seconds, lambda: self._session.sparkContext.cancelJobGroup(group)):
                return found.result()
        except KeyboardInterrupt:
            self._cancel(group, found)
            raise
        finally:
            self._groups.remove(group)

    def turn(self) -> AbstractContextManager[object]:
        """Wait for queries whose time is limited: Spark would start them all, and let the later ones wait."""
        return self._lock

    def progress(self) -> float | None:
        """Return which part of the tasks of the running stages is done."""
        tracker, done, total = self._session.sparkContext.statusTracker(), 0, 0
        for group in tuple(self._groups):
            for job in tracker.getJobIdsForGroup(group):
                info = tracker.getJobInfo(job)
                for stage in () if info is None else info.stageIds:
                    told = tracker.getStageInfo(stage)
                    if told is not None:
                        done, total = done + told.numCompletedTasks, total + told.numTasks
        return done / total if total else None

    def _cancel(self, group: str, found: "Future[pa.Table]") -> None:
        for _ in range(int(PATIENCE / STEP)):
            self._session.sparkContext.cancelJobGroup(group)
            if wait([found], timeout=STEP).done:
                return

    def close(self) -> None:
        """Take the views back; the user's session goes on."""
        self.closed = True
        while self._views:
            self._user.catalog.dropGlobalTempView(self._views.pop())


def _collation(kind: object) -> str | None:
    """Return the collation of a type, unless texts are the same under it only if their bytes are."""
    collation = getattr(kind, "collation", "UTF8_BINARY")
    return None if collation == "UTF8_BINARY" else str(collation)
