"""What the scripts ``tables_*.py`` share; they run in a rival's environment and print JSON.

    python tables_RIVAL.py FILE.parquet user|row ROWS

Count, sum and mean of ``amount`` by ``city``. ``user``: keys are private and a user counts with at most 3 cities and 5
rows in each. ``row``: one row is protected and keys are public. Each rival states the query as its documentation says;
a mean that is the quotient of the released sum and count is taken so, which costs the rival nothing. Loading the
library, and starting Spark where there is one, are not counted; reading the file is.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

CITIES, ROWS, LOW, HIGH = 3, 5, 0.0, 500.0
EPSILON, DELTA = 1.0, 1e-7

Query = Callable[[str, int], int]
"""Releases the table of a file with so many rows and returns how many groups it has."""


def names(path: str) -> list[str]:
    """Return the public keys, which lie beside the file."""
    return json.loads(Path(path).with_suffix(".keys.json").read_text())


def main(name: str, package: str, queries: dict[str, Query], warm: Query | None = None) -> None:
    """Run one query and print its time; ``warm`` runs before the clock starts."""
    path, kind, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
    shown = {"name": name, "version": version(package), "query": kind, "rows": rows}
    if kind not in queries:
        print(json.dumps(shown | {"seconds": None, "why": "cannot be stated in it"}))
        return
    if warm is not None:
        warm(path, rows)
    start = time.perf_counter()
    groups = queries[kind](path, rows)
    print(json.dumps(shown | {"seconds": time.perf_counter() - start, "groups": groups}))
