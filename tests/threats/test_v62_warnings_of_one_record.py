"""No warning, error or line of output may depend on one record.

A product of a large slope and a row left the range of 64-bit integers, and numpy wrote a warning to the terminal: one
record with a huge target was told of by a line that no noise covers. What is printed, warned of, logged or raised is an
answer like any other. So every computation that is registered for audits, and every estimator, is run on small data
sets and again with one hostile record more, and whatever can be noticed must be the same.

Defence: declared ranges are bounded and slopes have a unit of their own, so that exact sums fit; rows are read one by
one, and what cannot be read does not count; only what a table declares of its shape and types is refused.
Source: Found by using this library: a Huber loss of width 1e9 and one target of 9e8.
"""

import logging
import math
import os
import tempfile
import warnings
from contextlib import contextmanager
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet import learn
from discreet.auditing.registry import registered
from discreet.errors import InvalidParameter
from discreet.learn import estimators
from discreet.learn.estimators.private import Private
from discreet.mechanisms import Shift
from discreet.tables.aggregates import AggregateName

NUMBERS = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 9e8, 2.0**63, -(2.0**63), 2.0**64]
OTHERS = [None, 10**400, "x", b"x", {}, (), [1, 2, 3, 4, 5], object()]


@contextmanager
def listening(found):
    """Add to a list whatever is written to the two streams, by anybody, or logged, while it is open."""
    with tempfile.TemporaryFile() as file:
        kept = [os.dup(stream) for stream in (1, 2)]
        handler = logging.Handler()
        handler.emit = lambda record: found.append(record.getMessage())
        logging.getLogger().addHandler(handler)
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
        try:
            yield
        finally:
            logging.getLogger().removeHandler(handler)
            for stream, before in zip((1, 2), kept, strict=True):
                os.dup2(before, stream)
                os.close(before)
            file.seek(0)
            if written := file.read():
                found.append(written.decode(errors="replace"))


def noticed(run, data):
    """Return whatever can be noticed of a run beside its result: an error, warnings, output, logs."""
    found = []
    with listening(found), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            run(data)
        except Exception as error:
            found.append((type(error).__name__, str(error)))
    return [*found, *sorted({str(warning.message) for warning in told})]


def told_apart(run, data, neighbours):
    """Return the neighbours on which something else is noticed than on the data."""
    usual = noticed(run, data)
    return [(label, seen) for label, other in neighbours if (seen := noticed(run, other)) != usual]


# Everything that is registered ------------------------------------------------------------------------------------

COUNTS = ("optimal selection", "threshold", "look the same", "areas", "QuadTree", "Grid,", "estimator ")
COUNTS += ("prefix sums", "running totals", "quantile tree", "small data sets", "grid quantile", "smooth quantile")
COUNTS += ("smooth interval", "tested quantile", "tree of a distribution", "leaves of trees", "sums by group")
"""Entries that take sums or codes of records: what stands in them was computed from records by others."""

SIZED = ("replace", "replaced", "mean of records", "statistical query", "random record", "sample without replacement")
ANSWERS = ("randomised", "warner", "yes-biased", "shuffled", "sample", "group of two", "two answers", "two bins each, ")
ANSWERS += ("sparse vector", "training", "splits of a box", "synthetic records", "plan: ", "query: ")
"""Answers of one person that were checked before, settings of their own, and what is swept further below."""

ONLY_NUMBERS = ("quantile", "quantile, replaced", "sum of records", "mean of records")
"""Their domain is numbers and missing values: see the row on exceptions."""


def swept():
    """Return entries that take records, with their data."""
    for entry in registered():
        release = getattr(entry.release, "release", entry.release)
        if isinstance(getattr(entry.release, "domain", None), Shift):
            continue
        if not any(word in entry.name for word in (*COUNTS, *ANSWERS)):
            yield entry.name, release, entry.neighbours[0][0]


def with_one_more(name, data):
    """Yield data with one hostile record more, or in the place of the last where their number is public."""
    kept = -1 if any(word in name for word in SIZED) else None
    for value in [*NUMBERS, *([] if name in ONLY_NUMBERS else OTHERS)]:
        number = isinstance(value, float)
        if isinstance(data, list):
            yield repr(value)[:20], [*data[:kept], value]
        elif isinstance(data, tuple) and number:
            row = np.full((1, data[0].shape[1]), value)
            for target in (1.0, value):
                yield (value, target), (np.vstack([data[0], row]), np.append(data[1], target))
            yield ("target", value), (np.vstack([data[0], 0 * data[0][:1]]), np.append(data[1], value))
        elif isinstance(data, np.ndarray) and data.ndim == 2 and number:
            yield value, np.vstack([data[:kept], np.full((1, data.shape[1]), value)])


SWEPT = {name: (release, data) for name, release, data in swept()}


def test_the_sweep_is_wide():
    """New entries are swept unless they are named above; these many are."""
    assert len(SWEPT) >= 90
    assert sum(len(list(with_one_more(name, data))) > 0 for name, (_, data) in SWEPT.items()) >= 85


@pytest.mark.parametrize("name", SWEPT)
def test_nothing_registered_tells_of_a_record(name):
    release, data = SWEPT[name]
    assert told_apart(release, data, with_one_more(name, data)) == []


# Estimators and losses of any width --------------------------------------------------------------------------------

BOX = {"bounds": (-1, 1)}
TWO = {"classes": [0, 1]}
MADE = {
    "DecisionTreeClassifier": partial(learn.DecisionTreeClassifier, max_depth=2, **BOX, **TWO),
    "GaussianNB": partial(learn.GaussianNB, **BOX, **TWO),
    "KMeans": partial(learn.KMeans, 2, **BOX),
    "LinearRegression": partial(learn.LinearRegression, norm=1, bounds=(0, 1e9)),
    "LinearSVC": partial(learn.LinearSVC, norm=1, **TWO),
    "LogisticRegression": partial(learn.LogisticRegression, norm=1, **TWO),
    "PCA": partial(learn.PCA, norm=1),
    "RandomForestClassifier": partial(learn.RandomForestClassifier, 3, max_depth=2, **BOX, **TWO),
    "Ridge": partial(learn.Ridge, norm=1, bounds=(0, 1e9)),
    "StandardScaler": partial(learn.StandardScaler, **BOX),
}
RNG = np.random.default_rng(7)
TABLES = {
    "some rows": (RNG.uniform(-1, 1, (30, 2)), np.arange(30) % 2),
    "a constant column": (np.column_stack([np.ones(9), RNG.uniform(-1, 1, 9)]), np.arange(9) % 2),
    "one row": (np.array([[0.5, -0.5]]), np.array([1])),
    "no row": (np.empty((0, 2)), np.empty(0, dtype=int)),
}


def fits(make, relation, delta, data):
    return make(epsilon=1, delta=delta, relation=relation).fit(*data)


def around(table, labels):
    """Yield tables with one hostile row or target more; of lists also with what is no number, or no row."""
    for value in NUMBERS:
        for row, label in (([value, 0.1], 1.0), ([value, -value], 1.0), ([0.1, 0.2], value)):
            yield (row, label), (np.vstack([table, [row]]), np.append(labels, label))
    if len(table) > 3:
        listed, told = table.tolist(), labels.tolist()
        for value in OTHERS:
            for row, label in ((value, 1), ([value, 0.1], 1), ([0.1, 0.2], value), ([0.1, 0.2], [1])):
                yield repr((row, label))[:40], ([*listed, row], [*told, label])


def test_every_estimator_is_swept():
    shipped = {name for name in estimators.__all__ if isinstance(getattr(estimators, name), type)}
    shipped = {name for name in shipped if issubclass(getattr(estimators, name), Private)} - {"Private"}
    assert shipped == set(MADE)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize(
    "table", ["one row", *(pytest.param(t, marks=pytest.mark.slow) for t in TABLES if t != "one row")]
)
def test_no_estimator_tells_of_a_record(name, table):
    for relation, delta in (("add_remove", 0), ("replace_one", 1e-3))[: 2 if table == "some rows" else 1]:
        run = partial(fits, MADE[name], relation, delta)
        assert told_apart(run, TABLES[table], around(*TABLES[table])) == []


def huber(width, method, relation, data):
    loss = learn.Huber(bounds=(-width, width), width=width)
    ball = method == "frank_wolfe"
    return learn.ERM(
        rows=learn.Rows(features=2, norm=1, shape="box" if ball else "ball"),
        loss_function=loss,
        relation=relation,
        epsilon=1,
        delta=1e-5,
        method=method,
        steps=3,
        regularizer=learn.L1Ball(1) if ball else learn.L2(1),
    ).release(data)


@pytest.mark.slow
@pytest.mark.parametrize("width", [2.0**-100, 1e-9, 1, 1e9, 2.0**100])
@pytest.mark.parametrize("method", ["output", "objective", "gradient", "frank_wolfe"])
def test_no_loss_of_any_width_tells_of_a_record(method, width):
    table, labels = TABLES["some rows"][0][:6], np.arange(6) * 0.1
    run = partial(huber, width, method, "add_remove")
    assert told_apart(run, (table, labels), around(table, labels)) == []


@pytest.mark.parametrize("method", ["gradient", "frank_wolfe"])
def test_a_huge_target_is_no_different_from_any_other(method):
    table, labels = TABLES["some rows"][0][:6], np.arange(6) * 0.1
    one_more = [(value, (np.vstack([table, [[1, 1]]]), np.append(labels, value))) for value in (9e8, 1e308, math.nan)]
    assert told_apart(partial(huber, 1e9, method, "add_remove"), (table, labels), one_more) == []


def test_ranges_that_no_float_could_hold_are_refused_before_any_data():
    for made in (
        partial(learn.Huber, bounds=(0, 1), width=2.0**101),
        partial(learn.Huber, bounds=(0, 1e300), width=1),
        partial(learn.HuberHinge, 2.0**-101),
        partial(learn.Rows, features=1, norm=1e-200),
    ):
        with pytest.raises(InvalidParameter, match=r"2\^-100 and 2\^100"):
            made()


# Aggregates of a session in memory ---------------------------------------------------------------------------------

AGGREGATES = {
    "correlation": lambda: dp.correlation("x", "y"),
    "count": lambda: dp.count("x"),
    "count_distinct": lambda: dp.count_distinct("x"),
    "covariance": lambda: dp.covariance("x", "y"),
    "max": lambda: dp.max("x"),
    "mean": lambda: dp.mean("x"),
    "min": lambda: dp.min("x"),
    "quantiles": lambda: dp.quantiles("x", [0.25, 0.5]),
    "stddev": lambda: dp.stddev("x"),
    "sum": lambda: dp.sum("x"),
    "top_k": lambda: dp.top_k("place", 2),
    "variance": lambda: dp.variance("x"),
}


def asked(name, rows):
    columns = {"x": [x for x, _ in rows], "y": [y for _, y in rows], "place": ["a" for _ in rows]}
    types = {"x": pa.float64(), "y": pa.float64(), "place": pa.string()}
    table = pa.table({key: pa.array(values, type=types[key]) for key, values in columns.items()})
    schema = {"x": dp.Bounds(0, 10), "y": dp.Bounds(0, 10), "place": dp.Values(["a", "b"])}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dp.NotDurableWarning)
        opened = dp.Session(table, name="t", schema=schema, unit=dp.Row(), budget=dp.Budget(10, 1e-6))
    with opened:
        return opened.release(dp.Query("t").agg(n=AGGREGATES[name]()), epsilon=1)


def test_every_aggregate_is_swept():
    assert set(AGGREGATES) == set(AggregateName.__args__)


@pytest.mark.parametrize("name", AGGREGATES)
@pytest.mark.parametrize("rows", [[(1.0, 2.0), (3.0, 4.0)], []], ids=["two rows", "no row"])
def test_no_aggregate_tells_of_a_record(name, rows):
    neighbours = [(value, [*rows, (value, 1.0)]) for value in [*NUMBERS, None]]
    assert told_apart(partial(asked, name), rows, neighbours) == []


# That it can fail ----------------------------------------------------------------------------------------------


def casting(data):
    return (data * 2.0**20).astype(np.int64).sum()


def dividing(data):
    return (1 / data).sum()


def printing(data):
    if np.abs(data).max(initial=0) > 1e6:
        os.write(2, b"large\n")


def logging_one(data):
    if not np.isfinite(data).all():
        logging.getLogger("sweep").warning("a value is missing")


def stacking(data):
    if np.isnan(data).any():
        raise ValueError("one is missing")


@pytest.mark.parametrize("flawed", [casting, dividing, printing, logging_one, stacking])
def test_the_check_catches_what_tells_of_a_record(flawed):
    data = np.array([[1.0], [2.0]])
    neighbours = [(value, np.vstack([data, [[value]]])) for value in [*NUMBERS, 0.0]]
    assert told_apart(flawed, data, neighbours)


def test_the_check_catches_the_cast_that_was_here():
    """Slopes on an absolute grid, as whole numbers of 64 bits: what the exact sums did before."""

    def products(data):
        slopes = np.trunc(np.clip(0.0 - data[1], -1e9, 1e9) * 2.0**20) * 2.0**-20
        return ((data[0].T * 2.0**20) @ (slopes[:, None] * 2.0**20)).astype(np.int64)

    table, targets = np.array([[0.5], [1.0]]), np.array([0.1, 0.2])
    found = told_apart(products, (table, targets), [(9e8, (np.ones((3, 1)), np.append(targets, 9e8)))])
    assert "invalid value encountered in cast" in str(found)
