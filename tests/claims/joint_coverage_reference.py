"""Counts that are answered together, released again and again, and how often each interval leaves the truth outside."""

from collections import Counter

import numpy as np
import pyarrow as pa

import discreet as dp
from discreet.session.synthesis.methods import METHODS

CITIES = {"Oslo": "N", "Bergen": "N", "Ulm": "D"}
SEXES = ("f", "m", "x")
AGES = np.concatenate([np.full(40, 40), np.full(20, 0), np.full(15, 100), np.arange(10, 45)])
"""Many share a value, and many lie at the bounds."""

NOISES = ("laplace", "gaussian")


def people():
    """Return rows of which most are in one city and none is of the third sex."""
    n = AGES.size
    cities = ["Oslo"] * (n - 4) + ["Bergen"] * 3 + ["Ulm"]
    return {
        "city": cities,
        "state": [CITIES[city] for city in cities],
        "sex": ["f" if i % 3 else "m" for i in range(n)],
        "age": AGES.tolist(),
    }


def session():
    schema = {
        "city": dp.Values(list(CITIES)),
        "state": dp.Values(["N", "D"]),
        "sex": dp.Values(list(SEXES)),
        "age": dp.Bounds(0, 100),
    }
    return dp.Session(pa.table(people()), name="t", schema=schema, unit=dp.Row(), budget=dp.Budget(1e12, 0.4))


def queries(query):
    """Return a query for each way in which groups are answered together."""
    count = {"n": dp.count()}
    bins = query.histogram("age", [0, 20, 40, 60, 80, 100])
    return {
        "margins": query.group_by("sex", "city").agg(**count).margins(("sex", "city"), ("sex",), ("city",), ()),
        "ranges": bins.ranges("ranges"),
        "prefixes": bins.ranges("prefixes"),
        "levels": query.group_by("state", "city", "sex")
        .agg(**count)
        .hierarchy(["state", "city"], tables=[(), ("sex",)]),
        "bins": query.group_by("age").agg(**count).adaptive(),
        "cdf": query.group_by("age").agg(**count).cumulative(),
    }


def truth(name, column, keys):
    """Return the true count of one row of an answer: an empty key is a missing value in a copy, and all values else."""
    rows = people()
    ages = np.array(rows["age"])
    if name == "bins":
        low, high = keys["age_from"], keys["age_to"]
        return int(((ages >= low) & ((ages < high) | (high > 100))).sum())
    if name == "cdf":
        return int((ages < keys["age_below"]).sum()) if keys["age_below"] <= 100 else ages.size
    if name in ("ranges", "prefixes"):
        edges = [0, 20, 40, 60, 80, 100]
        place = BINS.index(keys["age"])
        low = edges[0] if column.endswith("up_to") else edges[place]
        last = place == len(edges) - 2
        return int(((ages >= low) & ((ages < edges[place + 1]) | last)).sum())
    asked = {key: value for key, value in keys.items() if value is not None or name in METHODS}
    return sum(all(rows[key][i] == value for key, value in asked.items()) for i in range(ages.size))


BINS = ["[0, 20)", "[20, 40)", "[40, 60)", "[60, 80)", "[80, 100]"]


def tally(name, answers):
    """Return how often each count was released, and how often its interval left the truth outside."""
    made, missed = Counter(), Counter()
    for answer in answers:
        for column, estimates in answer.columns.items():
            for place, (low, high) in enumerate(zip(estimates.low, estimates.high, strict=True)):
                if low is None:
                    continue
                keys = {key: values[place] for key, values in answer.keys.items()}
                cell = ("any bin",) if name == "bins" else (column, *keys.values())
                made[cell] += 1
                missed[cell] += not low - 1e-9 <= truth(name, column, keys) <= high + 1e-9
    return made, missed
