"""A small table of people, sessions on it, and queries whose groups are answered together."""

import warnings

import numpy as np
import pyarrow as pa

import discreet as dp
from discreet.tables import Bounds, Values

CUBE = "SELECT sex, city, COUNT(*) AS n FROM people GROUP BY CUBE (sex, city)"
SUMS = (
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(sums = '{}') BIN(age, 0, 20, 40, 60, 80, 100) AS bin, COUNT(*) AS n "
    "FROM people GROUP BY 1"
)
TREE = (
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(method = 'hierarchy'{}) state, city, sex, COUNT(*) AS n FROM people "
    "GROUP BY ROLLUP (state, city), GROUPING SETS ((), (sex))"
)
OPTIONS = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({}) sex, COUNT(*) AS n FROM people GROUP BY {}"
CITIES = {"Oslo": "N", "Bergen": "N", "Ulm": "D"}
SCHEMA = {
    "sex": Values(["f", "m"]),
    "city": Values(list(CITIES)),
    "state": Values(["N", "D"]),
    "age": Bounds(0, 100),
}
UNITS = [
    dp.Row(),
    dp.Row(relation="replace_one"),
    dp.Person("user", groups=2, rows=3),
    dp.Person("user", groups=2, rows=3, relation="replace_one"),
]


def people(rows=400, users=150):
    rng = np.random.default_rng(5)
    cities = rng.choice(list(CITIES), rows).tolist()
    return pa.table(
        {
            "user": rng.integers(0, users, rows),
            "sex": rng.choice(["f", "m"], rows).tolist(),
            "city": cities,
            "state": [CITIES[city] for city in cities],
            "age": rng.integers(0, 101, rows),
        }
    )


def session(data=None, unit=UNITS[0], epsilon=1000, delta=1e-6, **changes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dp.Session(
            people() if data is None else data,
            name="people",
            schema=SCHEMA,
            unit=unit,
            budget=dp.Budget(epsilon=epsilon, delta=delta),
            **changes,
        )


def exact(plan, data, unit):
    """The counts that a plan would add noise to, of another table."""
    with session(data, unit) as other:
        table = other._tables.engine.run(plan.rows.totals(list(plan.measures.values())))
        keys = zip(*(table.column(f"k_{i}").to_pylist() for i in range(len(plan.key_names))), strict=True)
        (measure,) = plan.measures
        return dict(zip(keys, table.column(measure).to_pylist(), strict=True))
