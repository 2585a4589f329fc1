"""A table of people for tests of synthetic copies, and a session on it."""

import warnings
from datetime import date, timedelta

import numpy as np
import pyarrow as pa

import discreet as dp

CITIES = ("Oslo", "Bergen", "Zürich ≥ 東京")
SCHEMA = {
    "sex": dp.Values(["f", "m"]),
    "city": dp.Values(CITIES),
    "age": dp.Bounds(0, 99),
    "income": dp.Bounds(0, 100),
    "born": dp.Values([date(2020, 1, day) for day in (1, 2, 3)]),
}
ALL = ("sex", "city", "age", "income", "born", "smokes")


def people(rows=600, users=None, seed=3):
    if not rows:
        return people(3).slice(0, 0)
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, rows)
    return pa.table(
        {
            "user": rng.integers(0, users, rows) if users else np.arange(rows),
            "sex": ["m" if i % 2 and age[i] >= 37 else "f" for i in range(rows)],
            "city": [None if i % 20 == 0 else CITIES[i % 3] for i in range(rows)],
            "age": pa.array(age, type=pa.int64()),
            "income": pa.array(np.clip(age + rng.normal(0, 9, rows), 0, 100)),
            "born": pa.array([date(2020, 1, 1) + timedelta(days=i % 3) for i in range(rows)]),
            "smokes": pa.array([bool(i % 3) for i in range(rows)]),
            "name": [f"canary-{i}" for i in range(rows)],
        }
    )


def session(data=None, *, unit=None, epsilon=100, delta=1e-6, schema=None, account=None, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dp.Session(
            people() if data is None else data,
            name="people",
            schema=SCHEMA if schema is None else schema,
            unit=unit or dp.Person("user", groups=1, rows=1),
            budget=account or dp.Budget(epsilon, delta),
            **more,
        )
