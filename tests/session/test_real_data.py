"""Promised intervals against what happens on real people: 200 releases each of Fulton PUMS and Adult.

A 95% interval may miss in 5 of 100 releases; the number of misses among 200 exceeds the limit below with probability
under 1e-9 if the promise holds. Intervals of ratios use a union bound, so they miss less.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import discreet as dp

pa_csv = pytest.importorskip("pyarrow.csv")

RELEASES = 200
MOST_MISSES = int(binom.isf(1e-9, RELEASES, 0.05))


def real(*parts):
    folder = os.environ.get("DISCREET_DATA")
    if not folder or not Path(folder, *parts).exists():
        pytest.skip("needs the real data that DISCREET_DATA points to")
    return pa_csv.read_csv(Path(folder, *parts))


def misses(session, query, truth, **settings):
    """Return how often each column's interval misses the truth, and the released values, over all releases."""
    missed = dict.fromkeys(truth, 0)
    values = {name: [] for name in truth}
    for _ in range(RELEASES):
        row = session.release(query, **settings).rows[0]
        for name, true in truth.items():
            missed[name] += not row[f"{name}_low"] - 1e-6 <= true <= row[f"{name}_high"] + 1e-6
            values[name].append(row[name])
    return missed, values


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_fulton_is_within_its_promise(noise):
    table = real("fulton", "FultonPUMS5full.csv")
    age, income = (table.column(name).to_numpy().astype(float) for name in ("age", "income"))
    married = table.column("married").to_numpy() == 1
    clamped = np.clip(income, 0, 200_000)
    session = dp.Session(
        table,
        name="fulton",
        schema={"age": dp.Bounds(16, 100), "income": dp.Bounds(0, 200_000)},
        unit=dp.Row(),
        budget=dp.Budget(10_000, 1e-3),
    )
    query = session.query.where(dp.col("married") == 1).agg(
        n=dp.count(),
        age=dp.mean("age"),
        income=dp.mean("income"),
        spread=dp.stddev("income"),
        together=dp.correlation("age", "income"),
        middle=dp.median("income"),
    )
    a, b = np.clip(age[married], 16, 100), clamped[married]
    truth = {
        "n": int(married.sum()),
        "age": a.mean(),
        "income": b.mean(),
        "spread": b.std(),
        "together": np.corrcoef(a, b)[0, 1],
        "middle": float(np.quantile(b, 0.5, method="inverted_cdf")),
    }
    forecast = session.preview(query, epsilon=1, group_size=int(married.sum()), noise=noise)
    missed, values = misses(session, query, truth, epsilon=1, noise=noise)
    assert max(missed.values()) <= MOST_MISSES, missed
    assert forecast["spread"].error is None
    for name in ("n", "age", "income"):
        errors = np.abs(np.array(values[name]) - truth[name])
        assert np.quantile(errors, 0.9) <= forecast[name].error, name  # the promise is kept
        assert forecast[name].error < 40 * np.quantile(errors, 0.9) + 1e-9, name  # and is not empty


def test_adult_by_occupation_is_within_its_promise():
    table = real("adult", "adult.csv")
    occupation = np.array(table.column("occupation").to_pylist())
    hours = np.clip(table.column("hours_per_week").to_numpy().astype(float), 0, 80)
    session = dp.Session(
        table, name="adult", schema={"hours_per_week": dp.Bounds(0, 80)}, unit=dp.Row(), budget=dp.Budget(10_000, 1e-3)
    )
    sql = "SELECT occupation, COUNT(*) AS n, AVG(hours_per_week) AS hours FROM adult GROUP BY occupation"
    missed = {"n": 0, "hours": 0}
    shown = 0
    for _ in range(RELEASES):
        for row in session.release(sql, epsilon=1):
            here = occupation == row["occupation"]
            shown += 1
            missed["n"] += not row["n_low"] <= here.sum() <= row["n_high"]
            missed["hours"] += not row["hours_low"] - 1e-6 <= hours[here].mean() <= row["hours_high"] + 1e-6
    assert shown > 13 * RELEASES  # nearly all occupations have enough people
    assert max(missed.values()) <= binom.isf(1e-9, shown, 0.05)
