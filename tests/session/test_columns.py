"""The columns of an answer: whatever tables and columns are called, and whatever is computed."""

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.tables.expressions import Name

NAMES = [
    "p", "o", "n", "units", "k_0", "c_0_", "x_1_0", "m_0", "v", "w", "ov", "p_", "o_", "s", "r", "t0", "nothing", "one",
    "place", "select", "from", 'we"ird', "q'uote", '"c_2_"', 'x"c_2_"y', "ünï", "日本", "a b", "a.b", "`tick`", "a;--",
    "%s", "{0}", "\\",
]  # fmt: skip

DATA = pa.table({"user": [1, 2, 3]} | {name: [place + 1] * 3 for place, name in enumerate(NAMES)})
SCHEMA = {name: dp.Bounds(0, 100) for name in NAMES}


def opened(unit, **settings):
    return dp.Session(DATA, name="t", schema=SCHEMA, unit=unit, budget=dp.Budget(1e12), threads=1, **settings)


@pytest.mark.parametrize("unit", [dp.Row(), dp.Person("user", groups=1, rows=1)])
def test_columns_may_have_any_name(unit):
    session = opened(unit)
    query = session.query.group_by(k=dp.col("user") > 0)
    query = query.agg(**{f"a{i}": dp.sum(Name(name)) for i, name in enumerate(NAMES)})
    answer = session.release(query, epsilon=1e9).row(k=True)
    assert [answer[f"a{i}"] for i in range(len(NAMES))] == [3 * (i + 1) for i in range(len(NAMES))]


@pytest.mark.parametrize("unit", [dp.Row(), dp.Person("user", groups=1, rows=1)])
def test_keys_and_filters_may_have_any_name(unit):
    session = opened(unit)
    for place, name in enumerate(NAMES):
        query = session.query.where(Name(name) > 0).group_by(k=Name(name)).agg(n=dp.count(), d=dp.median(Name(name)))
        assert session.release(query, epsilon=1e7).row(k=place + 1)["n"] == 3


def test_joins_on_any_name():
    public = {
        "other": pa.table({name: [place + 1] for place, name in enumerate(NAMES) if "." not in name} | {"z": ["q"]})
    }
    session = opened(dp.Row(), public=public)
    names = [name for name in NAMES if "." not in name]
    query = session.query.join("other", on=names).group_by("z").agg(n=dp.count())
    assert session.release(query, epsilon=1e7).row(z="q")["n"] == 3


@pytest.mark.parametrize("name", ["p", "select", 'we"ird', "日本", "a b", "t; DROP TABLE t"])
def test_tables_may_have_any_name(name):
    session = dp.Session(DATA, name=name, unit=dp.Row(), budget=dp.Budget(1e9))
    assert session.release(session.query.agg(n=dp.count()), epsilon=1e6)["n"].tolist() == [3]


def test_unicode_keys_come_out_as_they_were_declared():
    keys = ["é", "日本", "\U0001f600", "", " a ", "'", '"', "\\", "İ", "\u200b"]
    data = pa.table({"city": [key for place, key in enumerate(keys) for _ in range(place)]})
    session = dp.Session(data, name="t", schema={"city": dp.Values(keys)}, unit=dp.Row(), budget=dp.Budget(1e9))
    answer = session.release(session.query.group_by("city").agg(n=dp.count()), epsilon=1e6)
    assert answer.keys["city"] == tuple(keys)
    assert answer["n"].tolist() == list(range(len(keys)))


@pytest.mark.parametrize(
    "build",
    [
        lambda q: q.agg(n=dp.count(), n_low=dp.count()),
        lambda q: q.group_by(n_high=dp.col("p")).agg(n=dp.count()),
        lambda q: q.agg(q=dp.quantiles("p", [0.25, 0.75]), q_25=dp.count()),
    ],
)
def test_columns_that_would_be_called_the_same_are_refused(build):
    session = opened(dp.Row())
    with pytest.raises(InvalidParameter):
        session.release(build(session.query), epsilon=1)
    assert session.spent == 0


RNG = np.random.default_rng(2)
X = RNG.normal(50, 15, 4000).clip(0, 100)
Y = (X / 2 + RNG.normal(20, 5, 4000)).clip(0, 100)


def test_every_aggregate_is_near_the_truth():
    """At a large epsilon each aggregate is what numpy finds."""
    data = pa.table({"x": X, "y": Y, "n": np.round(X).astype(np.int64), "ok": X > 60, "c": np.where(X > 50, "a", "b")})
    schema = {"x": dp.Bounds(0, 100), "y": dp.Bounds(0, 100), "n": dp.Bounds(0, 100), "c": dp.Values(["a", "b", "z"])}
    session = dp.Session(data, name="t", schema=schema, unit=dp.Row(), budget=dp.Budget(1e9))
    wanted = {
        "count": (dp.count(), 4000),
        "sum": (dp.sum("x"), X.sum()),
        "mean": (dp.mean("y"), Y.mean()),
        "variance": (dp.variance("x"), X.var()),
        "stddev": (dp.stddev("x"), X.std()),
        "covariance": (dp.covariance("x", "y"), np.cov(X, Y, bias=True)[0, 1]),
        "correlation": (dp.correlation("x", "y"), np.corrcoef(X, Y)[0, 1]),
        "median": (dp.median("x"), np.median(X)),
        "tree": (dp.quantile("x", 0.9, method="tree"), np.quantile(X, 0.9)),
        "least": (dp.min("x"), X.min()),
        "greatest": (dp.max("x"), X.max()),
        "different": (dp.count_distinct("n"), len(np.unique(np.round(X)))),
        "share": (dp.mean(dp.col("ok").cast("int")), (X > 60).mean()),
    }
    answer = session.release(session.query.agg(**{name: one for name, (one, _) in wanted.items()}), epsilon=1e5).row()
    for name, (_, truth) in wanted.items():
        assert answer[name] == pytest.approx(truth, rel=0.02, abs=0.5), name
    top = session.release(session.query.agg(t=dp.top_k("c", 2)), epsilon=1e3).row()
    assert (top["t_1"], top["t_2"]) == (("a", "b") if (X > 50).sum() > 2000 else ("b", "a"))
