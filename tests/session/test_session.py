"""The one door: what it charges, when it looks, and what comes out."""

import logging
import threading
import warnings
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

import discreet as dp
from discreet.errors import BudgetExceeded, InvalidParameter, NotPrivateWarning, ReleaseFailed
from discreet.tables.engines import DuckDBEngine
from discreet.testing import seeded

SQL = "SELECT city, COUNT(*) AS n, AVG(x) AS mean FROM t GROUP BY city"
SCHEMA = {"x": dp.Bounds(0, 100), "city": dp.Values(["a", "b"])}


class Spy(DuckDBEngine):
    """An engine that counts what it runs, and fails when it is told to."""

    def __init__(self, failure=None):
        super().__init__(threads=1)
        self.runs, self.failure, self.watch = [], failure, lambda: None

    def run(self, sql):
        self.watch()
        self.runs.append(sql)
        if self.failure is not None:
            raise self.failure
        return super().run(sql)


def data(rows=100):
    rng = np.random.default_rng(5)
    return pa.table(
        {
            "user": rng.integers(0, 30, rows),
            "city": np.array(["a", "b", "c"])[rng.integers(0, 3, rows)],
            "x": rng.uniform(0, 100, rows),
        }
    )


def opened(table=None, *, unit=None, budget=None, **settings):
    settings = {"schema": SCHEMA, "name": "t"} | settings
    return dp.Session(
        data() if table is None else table,
        unit=unit or dp.Row(),
        budget=budget or dp.Budget(10, 1e-6),
        **settings,
    )


# Charge, then look.


def test_the_charge_is_made_before_the_engine_runs():
    spy = Spy()
    session = opened(engine=spy)
    seen = []
    spy.watch = lambda: seen.append(session.spent)
    answer = session.release(SQL, epsilon=1)
    assert seen
    assert set(seen) == {session.account.cost(answer.loss).amount}
    assert session.spent == seen[0] > 0


@pytest.mark.parametrize("problem", [RuntimeError("row 17 holds 4711"), ValueError("4711"), MemoryError(), OSError()])
def test_a_release_that_fails_stays_charged_and_says_nothing(problem, caplog):
    session = opened(engine=Spy(problem))
    with caplog.at_level(logging.CRITICAL, "discreet.curator"), pytest.raises(ReleaseFailed) as caught:
        session.release(SQL, epsilon=1)
    assert str(caught.value) == str(ReleaseFailed())
    assert "4711" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    assert session.spent > 0


def test_an_interrupted_release_stays_charged():
    session = opened(engine=Spy(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        session.release(SQL, epsilon=1)
    assert session.spent > 0


def test_what_does_not_fit_costs_nothing_and_runs_nothing():
    spy = Spy()
    session = opened(engine=spy, budget=dp.Budget(1))
    for epsilon in (1.0001, 5, 1e9):
        with pytest.raises(BudgetExceeded):
            session.release(SQL, epsilon=epsilon)
    assert session.spent == 0
    assert spy.runs == []
    session.release(SQL, epsilon=1)
    with pytest.raises(BudgetExceeded):
        session.release(SQL, epsilon=1e-9)
    assert session.spent == 1


def test_a_preview_reads_nothing_and_spends_nothing():
    spy = Spy()
    session = opened(engine=spy)
    before = repr(session)
    query = session.query.group_by("city").agg(n=dp.count(), m=dp.mean("x"), q=dp.median("x"), lo=dp.min("x"))
    for _ in range(3):
        session.preview(query, epsilon=1)
        session.preview(SQL, error={"n": 10})
        session.preview_plan([SQL, SQL], epsilon=1)
    assert spy.runs == []
    assert session.spent == 0
    assert repr(session) == before


def test_a_preview_is_the_same_for_every_table():
    told = {repr(opened(data(rows)).preview(SQL, epsilon=1)) for rows in (0, 1, 100)}
    assert len(told) == 1


def test_the_preview_says_what_the_release_charges():
    session = opened()
    forecast = session.preview(SQL, epsilon=1)
    answer = session.release(SQL, epsilon=1)
    assert answer.loss == forecast.loss
    assert set((answer["n_high"] - answer["n_low"]) / 2) == {forecast["n"].error}


def test_threads_never_overspend():
    session = opened(budget=dp.Budget(1))
    done, refused = [], []

    def spend():
        for _ in range(5):
            try:
                done.append(session.release(SQL, epsilon=Fraction(1, 10)))
            except BudgetExceeded:
                refused.append(1)

    threads = [threading.Thread(target=spend) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 10
    assert len(refused) == 20
    assert session.spent == 1


def test_two_sessions_may_share_an_account():
    account = dp.Budget(1).open()
    first, second = opened(budget=account), opened(budget=account)
    first.release(SQL, epsilon=Fraction(3, 4))
    with pytest.raises(BudgetExceeded):
        second.release(SQL, epsilon=Fraction(1, 2))
    second.release(SQL, epsilon=Fraction(1, 4))
    assert first.spent == second.spent == 1


# Settings.


def test_without_an_epsilon_a_tenth_is_spent():
    session = opened(budget=dp.Budget(3))
    session.release(SQL)
    assert session.spent == Fraction(3, 10)
    session.release("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5) COUNT(*) AS n FROM t")
    assert session.spent == Fraction(8, 10)
    session.release("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5) COUNT(*) AS n FROM t", epsilon=1)
    assert session.spent == Fraction(18, 10)


@pytest.mark.parametrize("limits", [{"n": 5}, {"n": 50}, {"mean": 2}, {"n": 100, "mean": 10}])
@pytest.mark.parametrize("budget", [dp.Budget(100), dp.Budget(100, 1e-6)])
def test_an_error_is_kept_for_the_least_epsilon(limits, budget):
    session = opened(budget=budget)
    forecast = session.preview(SQL, error=limits)
    assert all(forecast[name].error <= limit for name, limit in limits.items())
    cheaper = session.preview(SQL, epsilon=forecast.epsilon * 0.99)
    assert any(cheaper[name].error > limit for name, limit in limits.items())


def test_an_error_that_nothing_keeps_is_refused():
    session = opened()
    with pytest.raises(InvalidParameter, match="no epsilon"):
        session.preview(SQL, error={"mean": 1e-9})
    with pytest.raises(InvalidParameter, match="no error can be promised for m"):
        session.preview(session.query.agg(m=dp.median("x")), error={"m": 1})
    with pytest.raises(InvalidParameter, match="epsilon or error"):
        session.preview(SQL, error={"n": 1}, epsilon=1)


def test_larger_groups_are_told_smaller_errors():
    session = opened()
    errors = [session.preview(SQL, epsilon=1, group_size=size)["mean"].error for size in (100, 1000, 10_000)]
    assert errors[0] > errors[1] > errors[2]


def test_a_higher_level_is_told_a_larger_error():
    session = opened()
    errors = [session.preview(SQL, epsilon=1, level=level)["n"].error for level in (0.5, 0.9, 0.99)]
    assert errors[0] < errors[1] < errors[2]
    assert session.release(SQL, epsilon=0.1, level=0.9).level == 0.9


@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": float("nan")},
        {"epsilon": float("inf")},
        {"epsilon": "1"},
        {"level": 0},
        {"level": 1},
        {"level": 1.5},
        {"delta": 1},
        {"delta": -0.1},
        {"group_size": 0},
        {"noise": "uniform"},
        {"keys": "all"},
        {"split": {"m": 1}},
        {"split": {"n": 0}},
        {"split": {"n": -1}},
        {"error": {"n": 0}},
        {"error": {"nobody": 1}},
        {"count_groups": True},
    ],
)
def test_settings_that_mean_nothing_are_refused_before_anything_is_spent(settings):
    spy = Spy()
    session = opened(engine=spy)
    with pytest.raises((InvalidParameter, TypeError)):
        session.release(SQL, **settings)
    assert session.spent == 0
    assert spy.runs == []


def test_noise_is_chosen_and_can_be_said():
    session = opened(budget=dp.Budget(1000, 1e-6))
    query = session.query.group_by("city").agg(n=dp.count())
    for noise in ("laplace", "gaussian"):
        assert noise in session.release(query, epsilon=1, noise=noise).columns["n"].method.lower()
    with pytest.raises(InvalidParameter, match="delta"):
        opened(budget=dp.Budget(1)).release(query, epsilon=1, noise="gaussian")


def test_seeded_answers_say_that_they_are_not_private():
    session = opened()
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(1):
        first = session.release(SQL, epsilon=1)
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(1):
        again = session.release(SQL, epsilon=1)
    assert first.private is again.private is False
    assert first.rows == again.rows
    assert session.release(SQL, epsilon=1).private
    assert session.release(SQL, epsilon=1).rows != first.rows


def test_private_groups_are_shown_when_many_are_in_them():
    table = pa.table({"tag": ["many"] * 500 + ["few"] * 1, "x": [1.0] * 501})
    for keys in ("optimal", "laplace", "gaussian"):
        session = opened(table, schema={"x": dp.Bounds(0, 100)}, budget=dp.Budget(10, 1e-6))
        answer = session.release(session.query.group_by("tag").agg(n=dp.count()), epsilon=2, keys=keys)
        assert answer.keys["tag"] == ("many",)
        counted = session.release(
            session.query.group_by("tag").agg(n=dp.count()), epsilon=2, keys=keys, count_groups=True
        )
        assert isinstance(counted.parameters["groups_not_shown"], int)


def test_private_groups_need_a_delta():
    session = opened(budget=dp.Budget(1), schema={})
    with pytest.raises(InvalidParameter, match="delta above 0"):
        session.preview(session.query.group_by("city").agg(n=dp.count()))


# Intervals.

COPIES = 300
MISSES = int(binom.isf(1e-10, COPIES, 0.05))
"""More misses than this, of intervals that hold in 19 of 20 releases, happen with probability 1e-10."""

VALUES = np.round(np.random.default_rng(3).beta(2, 5, 120) * 100, 3)
OTHERS = np.round(100 - VALUES / 2 + np.random.default_rng(4).uniform(0, 20, 120), 3).clip(0, 100)

TRUTHS = {
    "count": (dp.count(), 120),
    "sum": (dp.sum("x"), VALUES.sum()),
    "mean": (dp.mean("x"), VALUES.mean()),
    "variance": (dp.variance("x"), VALUES.var()),
    "stddev": (dp.stddev("x"), VALUES.std()),
    "covariance": (dp.covariance("x", "y"), np.cov(VALUES, OTHERS, bias=True)[0, 1]),
    "correlation": (dp.correlation("x", "y"), np.corrcoef(VALUES, OTHERS)[0, 1]),
    "median": (dp.median("x"), np.sort(VALUES)[59:61]),
    "quartile": (dp.quantile("x", 0.25, method="tree"), np.sort(VALUES)[29:31]),
    "least": (dp.min("x"), VALUES.min()),
    "greatest": (dp.max("x"), VALUES.max()),
}


@pytest.mark.parametrize("budget", [dp.Budget(1e6), dp.Budget(1e6, 1e-6)])
@pytest.mark.parametrize("name", TRUTHS)
def test_intervals_hold_the_truth(name, budget):
    """300 groups of the same rows, so 300 draws of independent noise, at an epsilon where noise is seen."""
    aggregate, truth = TRUTHS[name]
    table = pa.table(
        {
            "g": np.repeat(np.arange(COPIES), len(VALUES)),
            "x": np.tile(VALUES, COPIES),
            "y": np.tile(OTHERS, COPIES),
        }
    )
    schema = {"x": dp.Bounds(0, 100), "y": dp.Bounds(0, 100), "g": dp.Bounds(0, COPIES - 1)}
    session = opened(table, schema=schema, budget=budget)
    answer = session.release(session.query.group_by("g").agg(a=aggregate), epsilon=3)
    low, high = (np.asarray(answer[f"a_{end}"], dtype=float) for end in ("low", "high"))
    assert len(answer) == COPIES
    slack = (
        1e-3 * max(1.0, float(np.max(np.abs(truth)))) if name in ("median", "quartile", "least", "greatest") else 1e-4
    )
    held = (low - slack <= np.max(truth)) & (high + slack >= np.min(truth))
    assert (~held).sum() <= MISSES
    assert (answer["a"] >= low - 1e-12).all()
    assert (answer["a"] <= high + 1e-12).all()
    if name in ("sum", "mean", "variance"):
        assert (high - low).max() > 0
        centre = (low + high) / 2
        narrow = (centre - (high - low) / 20 <= truth) & (truth <= centre + (high - low) / 20)
        assert (~narrow).sum() > MISSES  # a tenth of the interval does not: the check can fail


# Unusual tables.

EVERYTHING = {
    "n": dp.count(),
    "nx": dp.count("x"),
    "d": dp.count_distinct("x_whole"),
    "s": dp.sum("x"),
    "m": dp.mean("x"),
    "v": dp.variance("x"),
    "sd": dp.stddev("x"),
    "c": dp.covariance("x", "y"),
    "r": dp.correlation("x", "y"),
    "q": dp.median("x"),
    "t": dp.quantiles("x", [0.1, 0.5, 0.9]),
    "lo": dp.min("x"),
    "hi": dp.max("x"),
    "k": dp.top_k("city", 2),
}

TABLES = {
    "empty": ([], [], []),
    "one row": ([5.0], [1.0], ["a"]),
    "all missing": ([None] * 5, [None] * 5, [None] * 5),
    "all NaN": ([float("nan")] * 5, [float("inf")] * 5, ["a"] * 5),
    "all outside": ([1e308] * 5, [-1e308] * 5, ["elsewhere"] * 5),
}


@pytest.mark.parametrize("epsilon", [1e-2, 1e4])
@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_answered(name, epsilon):
    x, y, city = TABLES[name]
    table = pa.table(
        {
            "user": pa.array(range(len(x)), pa.int64()),
            "x": pa.array(x, pa.float64()),
            "x_whole": pa.array([1] * len(x), pa.int64()),
            "y": pa.array(y, pa.float64()),
            "city": pa.array(city, pa.string()),
        }
    )
    for unit in (dp.Row(), dp.Person("user", groups=1, rows=2), dp.Row(relation="replace_one", size=5)):
        session = opened(table, schema=SCHEMA | {"y": dp.Bounds(-1, 1)}, unit=unit, budget=dp.Budget(1e7))
        for query in (session.query, session.query.group_by("city")):
            answer = session.release(query.agg(**EVERYTHING), epsilon=epsilon)
            assert len(answer) == (2 if answer.keys else 1)
            for column in answer.names:
                assert all(v is None or isinstance(v, str) or np.isfinite(v) for v in answer.column(column))
    private = opened(table, schema={"x": dp.Bounds(0, 100)}, budget=dp.Budget(1e12, 1e-6))
    private.release(private.query.group_by("city").agg(n=dp.count(), m=dp.mean("x")), epsilon=epsilon)


@pytest.mark.parametrize("epsilon", [1e-9, 1e9])
def test_the_smallest_and_largest_epsilons_are_answered(epsilon):
    session = opened(budget=dp.Budget(1e10))
    answer = session.release(session.query.agg(n=dp.count(), s=dp.sum("x")), epsilon=epsilon)
    assert np.isfinite(answer["s"]).all()
    assert (epsilon < 1) or answer["n"].tolist() == [100]


def test_bounds_of_no_width_are_answered_exactly():
    table = pa.table({"x": [1.0, 9.0, None]})
    session = opened(table, schema={"x": dp.Bounds(5, 5)}, budget=dp.Budget(1e6))
    answer = session.release(
        session.query.agg(m=dp.mean("x"), v=dp.variance("x"), sd=dp.stddev("x"), s=dp.sum("x")), epsilon=1e4
    )
    assert answer.row()["m"] == 5
    assert answer.row()["v"] == answer.row()["sd"] == 0
    assert abs(answer.row()["s"] - 10) < 1
    with pytest.raises(InvalidParameter, match="constant"):
        session.preview(session.query.agg(m=dp.median("x")))


def test_a_declared_size_is_what_is_divided_by():
    table = pa.table({"x": [10.0] * 8})
    for size in (4, 8, 16):
        session = opened(
            table,
            schema={"x": dp.Bounds(0, 100)},
            unit=dp.Row(relation="replace_one", size=size),
            budget=dp.Budget(1e7),
        )
        answer = session.release(session.query.agg(n=dp.count(), m=dp.mean(dp.col("x").fill(0))), epsilon=1e6)
        assert answer.row()["n"] == size
        assert session.preview(session.query.agg(n=dp.count()), epsilon=1)["n"].error == 0


# How it looks.


def test_a_session_is_closed_with_its_block():
    with opened() as session:
        session.release(SQL, epsilon=1)
        spent = session.spent
    with pytest.raises(InvalidParameter, match="this session is closed"):
        session.release(SQL, epsilon=1)
    assert session.spent == spent


def test_the_session_shows_its_budget():
    session = opened(budget=dp.Budget(1))
    session.release(SQL, epsilon=Fraction(1, 4))
    assert repr(session) == "<Session on t: 75.0% of the budget's epsilon left>"
    assert "25.0%" in session._repr_html_()


def test_the_answer_says_how_it_was_made():
    session = opened(unit=dp.Person("user", groups=2, rows=3))
    answer = session.release(SQL, epsilon=1, split={"n": 3, "mean": 1})
    told = answer.parameters
    assert (told["groups"], told["rows"], told["unit"], told["query"]) == (2, 3, "persons", SQL)
    assert told["split"] == {"n": 0.75, "mean": 0.25}
    assert answer.loss.relation == told["relation"] == "add_remove"
