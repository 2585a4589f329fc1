"""Private tables beside plain SQL and beside rivals: all sides measured in this one run, on two cores.

    python bench/tables.py [--rows 10000000] [--no-rivals] [--huge] [--spark] [--json FILE]

The table is count, sum and mean of ``amount`` by ``city`` at epsilon 1. Row-level: one row is protected and the cities
are public; it is set beside the plain group-by in DuckDB. User-level: the cities are private and a user counts with at
most 3 cities and 5 rows in each; whatever does so must at least group by user and city, and that alone is the floor.
Baselines and releases take turns and the best time of each counts, so that a busy machine counts as little as it can.

Rivals run once each, OpenDP on all rows and the others on at most a million, in their own environments. Files lie in
``bench/.cache``, which git does not see.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb

import discreet as dp
from environment import ROOT, in_rivals
from visits_file import enlarge, write

CACHE = ROOT / "bench" / ".cache"
CITIES = 1_000
FEW = 1_000_000
"""Rows for the rivals that cannot take more."""

HUGE = 100_000_000
MEMORY = 2
"""Gigabytes for DuckDB, and for the whole process to stay within."""

DISK = 20e9
"""Bytes that must be free for the file and what DuckDB puts aside."""

CORES = 2
LIMIT = 600
"""Seconds for each rival."""

RIVALS: dict[str, tuple[str, str, list[str]]] = {
    "OpenDP": ("tables_opendp.py", "", ["opendp[polars]==0.16.0"]),
    "SmartNoise": ("tables_smartnoise.py", "smartnoise", ["smartnoise-sql==1.0.10", "pyarrow"]),
    "PipelineDP": ("tables_pipelinedp.py", "pipelinedp", ["pipeline-dp==0.3.1", "pyarrow"]),
    "Tumult": ("tables_tumult.py", "tumult", ["tmlt.analytics==0.21.0", "pandas==1.5.3"]),
}
"""The script, the environment and the packages of each."""

SQL = "SELECT city, COUNT(*) AS n, SUM(amount) AS total, AVG(amount) AS spend FROM visits GROUP BY city"
PLAIN = "SELECT city, count(*), sum(amount), avg(amount) FROM '{}' GROUP BY city"
FLOOR = "SELECT count(*) FROM (SELECT user_id, city FROM '{}' GROUP BY user_id, city)"
BY_HAND = """
WITH pairs AS (
  SELECT user_id, city, COUNT(*) AS rows,
         SUM(CAST(FLOOR(LEAST(GREATEST(amount, 0), 500) * 131072 + 0.5) AS BIGINT)) AS total
  FROM visits WHERE user_id IS NOT NULL GROUP BY user_id, city),
ranked AS (
  SELECT city, LEAST(rows, 5) AS n, IF(rows > 5, total * 5 DIV rows, total) AS total,
         ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY xxhash64('key', user_id, city)) AS place
  FROM pairs)
SELECT city, COUNT(*) AS users, SUM(n) AS n, SUM(total) AS total FROM ranked WHERE place <= 3 GROUP BY city
"""
"""The user-level aggregates without noise as one would write them for Spark, with its fastest hash.

A user with more than 5 rows in a city counts there as 5 rows of the mean amount, and has the 3 cities of least hash.
"""


@dataclass(frozen=True)
class Line:
    """One measurement, and beside it a goal for the number that is measured, or for a ratio to another."""

    what: str
    measured: str
    seconds: float | None = None
    ratio: float | None = None
    beside: str = ""
    goal: str = ""
    met: bool | None = None

    def __str__(self) -> str:
        ratio = "" if self.ratio is None else f"{self.ratio:,.2f} {self.beside}"
        verdict = {None: "", True: "met", False: "MISSED"}[self.met]
        return f"{self.what:<44}{self.measured:>14}  {ratio:<26}{self.goal:<10}{verdict}"


def compared(what: str, seconds: float, base: float, beside: str, *, most: float | None = None) -> Line:
    """Return a time as a multiple of a baseline's, which may have to be small."""
    ratio = seconds / base
    goal, met = ("", None) if most is None else (f"<= {most:g}", ratio <= most)
    return Line(what, shown(seconds), seconds, ratio, beside, goal, met)


def shown(seconds: float) -> str:
    """Return a time for people."""
    return f"{1e3 * seconds:,.0f} ms" if seconds < 1 else f"{seconds:,.2f} s"


def timed(function: Callable[[], object]) -> float:
    """Return the seconds of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def turns(functions: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Call all in turn, several times, and return the least seconds of each."""
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, function in functions.items():
            best[name] = min(best[name], timed(function))
    return best


def log(rows: int) -> Path:
    """Return the file with so many visits, made when it is not there."""
    path = CACHE / str(rows) / "visits.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    (CACHE / ".gitignore").write_text("*\n")
    if not path.exists():
        print(f"making {path} ...", file=sys.stderr)
        if rows == HUGE:
            enlarge(log(HUGE // 10), path, times=10)
        else:
            write(path, rows, users=max(1, rows // 20), cities=CITIES)
    return path


def session(source: Any, kind: str, cities: list[str], memory: str | None = None) -> dp.Session:
    """Return a session on the visits, with one row or one user protected; a release at epsilon 1 has delta 1e-7."""
    known = {"city": dp.Values(cities)} if kind == "row" else {}
    return dp.Session(
        source,
        schema={"amount": dp.Bounds(0, 500), **known},
        unit=dp.Row() if kind == "row" else dp.Person("user_id", groups=3, rows=5),
        budget=dp.Budget(epsilon=100, delta=1e-5),
        name="visits",
        memory=memory,
        threads=CORES,
    )


def opened(path: Path, kind: str) -> dp.Session:
    """Return a session on a file, with its cities as keys where they are public."""
    return session(path, kind, json.loads(path.with_suffix(".keys.json").read_text()))


def measured(path: Path, rounds: int) -> dict[str, float]:
    """Measure the baselines and our releases by turns."""
    connection = duckdb.connect()
    connection.execute(f"SET threads = {CORES}")
    row, user = opened(path, "row"), opened(path, "user")
    return turns(
        {
            "plain": lambda: connection.execute(PLAIN.format(path)).fetchall(),
            "row": lambda: row.release(SQL, epsilon=1),
            "floor": lambda: connection.execute(FLOOR.format(path)).fetchall(),
            "user": lambda: user.release(SQL, epsilon=1),
        },
        rounds,
    )


def planning(path: Path) -> Iterator[Line]:
    """Measure previews."""
    for kind in ("row", "user"):
        one = opened(path, kind)
        plan = statistics.median(timed(lambda s=one: s.preview(SQL)) for _ in range(20))
        yield Line(
            f"planning, {kind}-level, median of 20", f"{1e3 * plan:.1f} ms", plan, goal="< 50 ms", met=plan < 0.05
        )


def rival(name: str, kind: str, path: Path, rows: int, ours: float, least: float | None) -> Line:
    """Run a rival once and return how many times as long as ours it takes."""
    script, environment, pins = RIVALS[name]
    arguments = (str(path), kind, str(rows))
    what, goal = f"{name}, {kind}-level", f">= {least:g}" if least else ""
    try:
        found = in_rivals(script, *arguments, pins=pins, environment=environment, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        ratio = LIMIT / ours
        met = True if least and ratio >= least else None
        return Line(what, f"> {LIMIT} s", None, ratio, "times ours or more", goal, met)
    except subprocess.CalledProcessError as error:
        print(f"{script} failed:\n{error.stderr[-2000:]}", file=sys.stderr)
        return Line(what, "failed", goal=goal)
    if found is None:
        return Line(what, "not installed", goal=goal)
    what = f"{name} {found['version']}, {kind}-level, {found['groups']} groups"
    ratio = found["seconds"] / ours
    met = ratio >= least if least else None
    return Line(what, shown(found["seconds"]), found["seconds"], ratio, "times ours", goal, met)


def rivals(rows: int, ours: dict[str, float]) -> Iterator[Line]:
    """Measure OpenDP on all rows, and everybody on a million."""
    for kind, least in (("user", 5), ("row", None)):
        yield rival("OpenDP", kind, log(rows), rows, ours[kind], least)
    few = min(rows, FEW)
    if few < rows:
        sessions = {kind: opened(log(few), kind) for kind in ours}
        ours = turns({kind: lambda s=s: s.release(SQL, epsilon=1) for kind, s in sessions.items()}, 5)
        for kind, seconds in ours.items():
            yield Line(f"discreet, {kind}-level, {few:,} rows", shown(seconds), seconds)
    for name in RIVALS:
        if name == "OpenDP" and few == rows:
            continue
        for kind in ("user", "row"):
            least = 20 if kind == "user" and name in ("PipelineDP", "Tumult") else None
            yield rival(name, kind, log(few), few, ours[kind], least)


def huge() -> Line:
    """Release from a hundred million rows in a process of its own, and measure its memory."""
    what, goal = f"discreet, user-level, {HUGE:,} rows, memory", f"<= {MEMORY} GB"
    CACHE.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(CACHE).free < DISK:
        return Line(what, f"needs {DISK / 1e9:.0f} GB disk", goal=goal)
    child = [sys.executable, Path(__file__).resolve(), "--within", str(log(HUGE))]
    done = subprocess.run(child, check=False, stdout=subprocess.PIPE, text=True, cwd=CACHE)
    if done.returncode:
        return Line(what, "failed", goal=goal, met=False)
    found = json.loads(done.stdout)
    peak, seconds = found["peak_bytes"] / 1e9, found["seconds"]
    return Line(what, f"{peak:.2f} GB", seconds, seconds, f"s, {found['groups']} groups", goal, peak <= MEMORY)


def within(path: Path) -> None:
    """Release once with little memory for DuckDB, and print the seconds and the peak memory of this process.

    DuckDB may hold seven tenths of it: the rest is Python, Arrow and what DuckDB does not count.
    """
    user = session(path, "user", [], memory=f"{700 * MEMORY}MB")
    start = time.perf_counter()
    groups = len(user.release(SQL, epsilon=1))
    seconds = time.perf_counter() - start
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "peak_bytes": peak, "groups": groups}))


def spark(path: Path) -> Iterator[Line]:
    """Release on Spark in local mode, beside the same plan written by hand."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{CORES}]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "6g").config("spark.sql.shuffle.partitions", str(2 * CORES))
    with tempfile.TemporaryDirectory() as warehouse:
        engine = builder.config("spark.sql.warehouse.dir", warehouse).getOrCreate()
        engine.sparkContext.setLogLevel("ERROR")
        frame = engine.read.parquet(str(path))
        frame.createOrReplaceTempView("visits")
        user = session(frame, "user", [])
        best = turns(
            {"hand": lambda: engine.sql(BY_HAND).collect(), "ours": lambda: user.release(SQL, epsilon=1)}, rounds=3
        )
        engine.stop()
    yield Line("Spark, the plan by hand", shown(best["hand"]), best["hand"])
    yield compared("discreet on Spark, user-level", best["ours"], best["hand"], "times by hand", most=1.3)


def lines(options: argparse.Namespace) -> Iterator[Line]:
    """Measure what is asked for."""
    path = log(options.rows)
    best = measured(path, options.rounds)
    yield Line("DuckDB, group by city", shown(best["plain"]), best["plain"])
    yield compared("DuckDB, group by user and city (the floor)", best["floor"], best["plain"], "times plain")
    yield compared("discreet, row-level", best["row"], best["plain"], "times plain", most=1.5)
    yield compared("discreet, user-level", best["user"], best["floor"], "times the floor", most=1.5)
    yield from planning(path)
    if options.spark:
        yield from spark(path)
    if options.huge:
        yield huge()
    if options.rivals:
        yield from rivals(options.rows, {kind: best[kind] for kind in ("user", "row")})


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each baseline and release")
    parser.add_argument("--rivals", action=argparse.BooleanOptionalAction, default=True, help="run the rivals too")
    parser.add_argument("--huge", action="store_true", help=f"release from {HUGE:,} rows and measure the memory")
    parser.add_argument("--spark", action="store_true", help="release on Spark in local mode")
    parser.add_argument("--json", type=Path, help="write the lines to this file")
    parser.add_argument("--within", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.within:
        within(options.within)
        return
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    print(f"{options.rows:,} rows, {max(1, options.rows // 20):,} users, {CITIES:,} cities, {CORES} cores\n")
    found: list[dict[str, Any]] = []
    for line in lines(options):
        print(line, flush=True)
        found.append(asdict(line))
    if options.json:
        options.json.write_text(json.dumps({"rows": options.rows, "cores": CORES, "lines": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
