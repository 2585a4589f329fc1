"""Tables in which many groups hold the same rows, so that one release is thousands of independent ones; their truths.

Every aggregate that the library has is here because it is in its list, and a new one without a truth fails a test.
"""

import inspect
from dataclasses import dataclass
from typing import get_args

import numpy as np
import pyarrow as pa
from scipy import stats

import discreet as dp
from discreet.tables import aggregates

BOUNDS = (0, 100)
PROBABILITIES = (0.05, 0.5, 0.9)
ALARM = 1e-9
"""False alarms of one check, by the binomial law."""

SHAPES = {
    "continuous": np.linspace(3.3, 97.1, 41) ** 1.3 / 4,
    "whole": np.arange(20, 61, dtype=float),
    "heavy ties": np.repeat(np.arange(15.0, 80.0, 5.0), [1, 2, 3, 4, 5, 6, 7, 6, 5, 4, 3, 2, 1]),
    "two values": np.repeat([10.0, 90.0], [20, 20]),
    "constant": np.full(30, 37.0),
    "at the bounds": np.repeat([0.0, 100.0], [25, 12]),
    "beyond the bounds": np.concatenate([np.full(9, -50.0), np.full(14, 250.0), [40.0]]),
    "two rows": np.array([20.0, 80.0]),
    "one row": np.array([61.0]),
    "empty": np.array([]),
}

UNITS = {
    "rows": dp.Row(),
    "replaced rows": dp.Row(relation="replace_one"),
    "persons": dp.Person("person", groups=1, rows=3),
}


@dataclass(frozen=True)
class Case:
    """An aggregate by one method, of columns of one type."""

    name: str
    aggregate: aggregates.Aggregate
    columns: tuple[str, ...]

    def truths(self, rows):
        """Return every number that the aggregate may be called: quantiles are taken in two ways between rows."""
        made = [np.clip(rows[column], *BOUNDS) for column in self.columns]
        return TRUTHS[self.aggregate.function](made, self.aggregate)


def _defined(function, least=1):
    return lambda made, _: [float(function(*made))] if made and made[0].size >= least else []


def _quantile(made, aggregate):
    (x,), (p,) = made, aggregate.options
    return [float(np.quantile(x, p, method=way)) for way in ("linear", "inverted_cdf")] if x.size else []


def _correlation(made, _):
    x, y = made
    return [float(np.corrcoef(x, y)[0, 1])] if x.size > 1 and np.ptp(x) and np.ptp(y) else []


TRUTHS = {
    "count": lambda made, aggregate: [float(made[0].size)],
    "count_distinct": lambda made, aggregate: [float(np.unique(made[0]).size)],
    "sum": lambda made, aggregate: [float(made[0].sum())],
    "mean": _defined(np.mean),
    "variance": _defined(np.var),
    "stddev": _defined(np.std),
    "covariance": _defined(lambda x, y: np.cov(x, y, bias=True)[0, 1] if x.size > 1 else 0.0),
    "correlation": _correlation,
    "min": _defined(np.min),
    "max": _defined(np.max),
    "quantiles": _quantile,
    "top_k": lambda made, aggregate: [],  # names have no interval
}

NUMBERS = ("real", "whole", "stepped")


def cases():
    """Yield every aggregate of the library's list with every method, on columns of every type."""
    for function in get_args(aggregates.AggregateName):
        make = getattr(aggregates, "quantile" if function == "quantiles" else function)
        required = [one for one in inspect.signature(make).parameters.values() if one.name in ("column", "a", "b")]
        for column in ("whole",) if function == "count_distinct" else NUMBERS:
            columns = (column, "other")[: len(required)]
            if function == "quantiles":
                for method in aggregates.METHODS:
                    for p in PROBABILITIES:
                        yield Case(f"{method} {p} of {column}", make(column, p, method=method), columns)
            elif function == "top_k":
                yield Case(f"top list beside {column}", make("named", 2), columns)
            else:
                yield Case(f"{function} of {column}", make(*columns), columns)


def rows_of(values):
    """Return the columns of a group: the numbers, and others that go along with them."""
    stepped = np.round(values / 5) * 5
    other = (np.arange(values.size) * 37 % 101).astype(float)
    return {"real": values, "whole": np.round(values), "stepped": stepped, "other": other}


def session(copies, unit="rows"):
    """Return a session on a table with so many groups of every shape."""
    parts = {name: [] for name in ("shape", "copy", "person", "real", "whole", "stepped", "other")}
    for shape, values in SHAPES.items():
        made = rows_of(values)
        n = values.size
        copy = np.repeat(np.arange(copies), n)
        parts["shape"].append(np.full(n * copies, shape, dtype=object))
        parts["copy"].append(copy)
        place = np.tile(np.arange(n), copies)
        parts["person"].append(
            np.array([f"{shape} {c} {p // 3}" for c, p in zip(copy, place, strict=True)], dtype=object)
        )
        for name, column in made.items():
            parts[name].append(np.tile(column, copies))
    columns = {name: np.concatenate(column) for name, column in parts.items()}
    columns["whole"] = columns["whole"].astype(np.int64)
    columns["named"] = np.where(columns["whole"] > 40, "high", "low").astype(object)
    schema = {
        "shape": dp.Values(list(SHAPES)),
        "copy": dp.Values(list(range(copies))),
        "real": dp.Bounds(*BOUNDS),
        "whole": dp.Bounds(*BOUNDS),
        "stepped": dp.Bounds(*BOUNDS, step=5),
        "other": dp.Bounds(*BOUNDS),
        "named": dp.Values(["low", "high"]),
    }
    if not isinstance(UNITS[unit], dp.Person):
        del columns["person"]
    return dp.Session(pa.table(columns), name="t", schema=schema, unit=UNITS[unit], budget=dp.Budget(1e12, 0.4))


def missed(opened, case, copies, epsilon, noise="auto", level=0.95):
    """Return, by shape, how many releases had an interval, and how many of these left a truth outside."""
    query = opened.query.group_by("shape", "copy").agg(a=case.aggregate)
    delta = 1e-6 if noise == "gaussian" or case.aggregate.method == "ptr" else 0
    answer = opened.release(query, epsilon=epsilon, delta=delta, level=level, noise=noise)
    estimates = next(iter(answer.columns.values()))
    found = {}
    for place, shape in enumerate(answer.keys["shape"]):
        found.setdefault(shape, []).append((estimates.low[place], estimates.value[place], estimates.high[place]))
    made = {}
    for shape, intervals in found.items():
        assert len(intervals) == copies
        truths = case.truths(rows_of(SHAPES[shape]))
        defined = [one for one in intervals if one[1] is not None] if truths else []
        made[shape] = len(defined), sum(not _holds(one, truths) for one in defined)
    return made


def _holds(interval, truths):
    low, _, high = interval
    slack = 1e-9
    return (low is None or low <= min(truths) + slack) and (high is None or high >= max(truths) - slack)


def allowed(count, level=0.95):
    """Return how many misses of so many releases are no alarm."""
    return int(stats.binom.isf(ALARM, count, 1 - level)) if count else 0
