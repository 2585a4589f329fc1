"""A synthetic copy on Spark: the same coded rows leave it as leave DuckDB."""

from datetime import date

import numpy as np
import pytest

from discreet.accounting import Budget
from discreet.session import Session
from discreet.session.synthesis.running import tally_of
from discreet.tables import Bounds, Values
from discreet.units import Person

pytestmark = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]

ROWS = 120
DAYS = [date(2026, 1, day) for day in (1, 2, 3)]
DATA = {
    "user": [i % 40 for i in range(ROWS)],
    "city": [None if i % 10 == 0 else ("Oslo", "Zürich ≥ 東京", "elsewhere")[i % 3] for i in range(ROWS)],
    "age": [i * 7 % 100 for i in range(ROWS)],
    "ok": [i % 2 == 0 for i in range(ROWS)],
    "day": [DAYS[i % 3].isoformat() for i in range(ROWS)],
}
SCHEMA = {"city": Values(["Oslo", "Zürich ≥ 東京"]), "age": Bounds(0, 99), "day": Values(DAYS)}
COLUMNS = {"city": None, "age": 5, "ok": None, "day": None}


def frame(spark_session):
    text = "user BIGINT, city STRING, age BIGINT, ok BOOLEAN, day STRING"
    made = spark_session.createDataFrame(list(zip(*DATA.values(), strict=True)), text)
    return made.selectExpr("user", "city", "age", "ok", "CAST(day AS DATE) AS day").localCheckpoint()


def arrow():
    import pyarrow as pa

    return pa.table({**DATA, "day": pa.array([date.fromisoformat(day) for day in DATA["day"]])})


def opened(data):
    unit = Person("user", groups=5, rows=5)
    return Session(data, name="people", schema=SCHEMA, unit=unit, budget=Budget(1000, 1e-6))


def tally(session):
    plan = session._steps(1, None, {"columns": COLUMNS, "method": "independent"}).plans[-1]
    table = session._tables.engine.run(plan.rows.totals(list(plan.measures.values())))
    found = tally_of(table, plan.joint.declared, next(iter(plan.measures)))
    order = np.lexsort(found.codes.T)
    return found.codes[order].tolist(), found.counts[order].tolist()


def test_spark_gives_the_same_coded_rows_and_a_copy(spark_session):
    with opened(arrow()) as here, opened(frame(spark_session)) as there:
        assert tally(there) == tally(here)
        copy = there.synthesize(epsilon=500, columns=COLUMNS, method="independent", rows=200)
        assert len(copy.rows()) == 200
        assert set(copy.rows()["city"]) <= {"Oslo", "Zürich ≥ 東京", None}
        assert set(copy.rows()["day"]) <= {*DAYS, None}
        assert there.spent > 0
