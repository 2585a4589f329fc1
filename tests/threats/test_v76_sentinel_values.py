"""Declared bounds must not change which rows a query is about.

Bounds were applied when a column was read, so everything in a query saw clamped values. With hours declared from 0 to
80 and 99 written where nobody knew, ``WHERE hours <> 99`` left nothing out: each 99 had become 80 before it was
compared, and counted as a very long week. A key or a bin at the bound collected all that lay beyond it.

Defence: conditions, keys and bins see the value that is stored, on every engine; what lies outside declared bounds is
in no declared key or bin; sums, means and quantiles add up clamped values, and sensitivities are those of these alone.
Source: Found by using this library: sentinel values in survey data were counted as answers at the bound.
"""

from collections import Counter
from dataclasses import replace
from datetime import date
from fractions import Fraction

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.tables.measures import Sum
from discreet.tables.typed import Scope

HOURS = [0, 12, 40, 40, 79, 80, 81, 99, 99, 99, 999, -1, -1, None, 2**62, -(2**63)]
RATES = [0.5, 99.0, 99.0, -1.0, 80.0, 80.5, float("nan"), float("inf"), None, 12.0, 0.0, 3.5, 40.0, 999.0, 7.0, -1e300]
LOW, HIGH = 0, 80


def opened(hours, rates, unit=None):
    data = pa.table(
        {
            "who": pa.array(range(len(hours)), pa.int64()),
            "hours": pa.array(hours, pa.int64()),
            "rate": pa.array(rates, pa.float64()),
        }
    )
    schema = {"hours": dp.Bounds(LOW, HIGH), "rate": dp.Bounds(LOW, HIGH)}
    unit = unit or dp.Row()
    return dp.Session(data, name="t", schema=schema, unit=unit, budget=dp.Budget(1e12, 1e-6), threads=1)


def clamped(value):
    return min(max(value, LOW), HIGH)


def known(values):
    return [value for value in values if value is not None and value == value]


H, R = known(HOURS), known(RATES)

TRUTHS = {
    "SELECT COUNT(*) AS n FROM t WHERE hours <> 99": sum(h != 99 for h in H),
    "SELECT COUNT(*) AS n FROM t WHERE hours = 80": sum(h == 80 for h in H),
    "SELECT COUNT(*) AS n FROM t WHERE hours < 0": sum(h < 0 for h in H),
    "SELECT COUNT(*) AS n FROM t WHERE hours IN (99, -1, 999)": sum(h in (99, -1, 999) for h in H),
    "SELECT COUNT(*) AS n FROM t WHERE hours NOT IN (99, -1, 999)": sum(h not in (99, -1, 999) for h in H),
    "SELECT COUNT(*) AS n FROM t WHERE hours BETWEEN 0 AND 80": sum(0 <= h <= 80 for h in H),
    "SELECT COUNT(*) AS n FROM t WHERE ABS(hours) > 90": sum(abs(h) > 90 for h in H),
    "SELECT COUNT(*) AS n FROM t WHERE hours + 1 = 100": sum(h == 99 for h in H),
    "SELECT COUNT(*) AS n FROM t WHERE NOT hours > 80": sum(not h > 80 for h in H),
    "SELECT COUNT(*) AS n FROM t WHERE hours IS NULL": HOURS.count(None),
    "SELECT COUNT(*) FILTER (WHERE hours <> 99) AS n FROM t": sum(h != 99 for h in H),
    "SELECT COUNT(*) AS n FROM t WHERE CASE WHEN hours = 99 THEN FALSE ELSE TRUE END": len(HOURS) - 3,
    "SELECT COUNT(*) AS n FROM t WHERE rate <> 99": sum(r != 99 for r in R),
    "SELECT COUNT(*) AS n FROM t WHERE rate > 80": sum(r > 80 for r in R),
    "SELECT COUNT(*) AS n FROM t WHERE rate > hours": sum(
        h is not None and r is not None and r == r and r > h for h, r in zip(HOURS, RATES, strict=True)
    ),
    "SELECT COUNT(DISTINCT hours) AS n FROM t": len(set(H)),
    "SELECT SUM(hours) AS n FROM t": sum(map(clamped, H)),
    "SELECT SUM(NULLIF(hours, 99)) AS n FROM t": sum(clamped(h) for h in H if h != 99),
    "SELECT SUM(hours) AS n FROM t WHERE hours BETWEEN 0 AND 80": sum(h for h in H if 0 <= h <= 80),
    "SELECT SUM(CASE WHEN hours > 80 THEN 1 ELSE 0 END) AS n FROM t": sum(h > 80 for h in H),
    "SELECT SUM(CASE WHEN hours > 80 THEN hours ELSE 0 END) AS n FROM t": sum(clamped(h) for h in H if h > 80),
}


def answered(sql):
    return opened(HOURS, RATES).release(sql, epsilon=1e9)["n"].tolist()


def sees_what_is_stored(sql):
    """Tell whether an answer is about the rows that the query names."""
    return answered(sql) == [TRUTHS[sql]]


@pytest.mark.parametrize("sql", TRUTHS)
def test_a_condition_sees_what_is_stored(sql):
    assert sees_what_is_stored(sql)


def groups(query):
    answer = opened(HOURS, RATES).release(query, epsilon=1e6)
    (name,) = answer.keys
    return dict(zip(answer.keys[name], answer["n"].tolist(), strict=True))


def test_declared_keys_are_of_stored_values():
    found = groups("SELECT hours, COUNT(*) AS n FROM t GROUP BY hours")
    assert found == {hour: Counter(H)[hour] for hour in range(LOW, HIGH + 1)}


def test_keys_named_in_the_query_may_lie_outside_the_bounds():
    keys = [0, 80, 99, -1]
    query = opened(HOURS, RATES).query.group_by("hours", keys={"hours": keys}).agg(n=dp.count())
    assert groups(query) == {key: Counter(H)[key] for key in keys}


@pytest.mark.parametrize(("column", "values"), [("hours", H), ("rate", R)])
def test_bins_are_of_stored_values(column, values):
    inside = groups(f"SELECT BIN({column}, 0, 40, 80) AS b, COUNT(*) AS n FROM t GROUP BY b")
    assert inside == {"[0, 40)": sum(0 <= v < 40 for v in values), "[40, 80]": sum(40 <= v <= 80 for v in values)}
    outside = groups(f"SELECT BIN({column}, 0, 81, 1000) AS b, COUNT(*) AS n FROM t GROUP BY b")
    assert outside["[81, 1000]"] == sum(81 <= v <= 1000 for v in values)


def test_bins_of_a_tree_hold_what_lies_within_the_bounds():
    session = opened(HOURS, RATES)
    answer = session.release(session.query.group_by("hours").agg(n=dp.count()).adaptive(), epsilon=1e9)
    assert sum(answer["n"].tolist()) == sum(LOW <= h <= HIGH for h in H)


def test_counts_below_edges_clamp_as_quantiles_do():
    session = opened(HOURS, RATES)
    answer = session.release(session.query.group_by("hours").agg(n=dp.count()).cumulative(), epsilon=1e9)
    assert answer["n"].tolist()[0] == sum(h <= 0 for h in H)
    assert answer["n"].tolist()[-1] == len(H)


def test_a_quantile_clamps():
    session = opened([99] * 90 + [-1] * 9, [0.5] * 99)
    answer = session.release(session.query.agg(n=dp.median("hours", method="smooth")), epsilon=1e6)
    assert answer["n"].tolist()[0] == pytest.approx(HIGH, abs=1)


def test_a_top_list_holds_no_value_beyond_the_bounds():
    session = opened([99] * 50 + [80] * 9 + [3] * 5, [0.5] * 64)
    answer = session.release(session.query.agg(top=dp.top_k("hours", 2)), epsilon=1e6)
    assert [answer[name].tolist() for name in ("top_1", "top_2")] == [["80"], ["3"]]


def test_a_copy_has_bins_of_stored_values():
    session = opened([99] * 900 + [70] * 100, [10.0] * 1000)
    copy = session.synthesize(epsilon=1e4, columns={"hours": [0, 40, 80]})
    found = Counter("inside" if value is not None else "missing" for value in copy.rows()["hours"])
    assert set(found) == {"inside"}  # rows without a declared value are left out


def test_joins_match_what_is_stored():
    public = {"codes": pa.table({"hours": pa.array([80, 99], pa.int64()), "told": ["at the bound", "unknown"]})}
    data = pa.table({"hours": pa.array([80, 99, 99, 999], pa.int64())})
    schema = {"hours": dp.Bounds(LOW, HIGH)}
    session = dp.Session(data, name="t", schema=schema, unit=dp.Row(), budget=dp.Budget(1e12), public=public)
    query = session.query.join("codes", on="hours").group_by("told").agg(n=dp.count())
    assert session.release(query, epsilon=1e6)["n"].tolist() == [1, 2]


# What one row can change stays what is promised.


def reach(sql, hours, rates, unit):
    """Return what each group adds up, in whole numbers of the grid, and what each may change by."""
    session = opened(hours, rates, unit)
    plan = session.planned(sql, epsilon=1)
    rows = session._tables.engine.run(plan.rows.totals(list(plan.measures.values()))).to_pylist()
    keys = len(plan.rows.keys)
    found = {tuple(row.values())[:keys]: row for row in rows}
    limits = {name: max(map(abs, measure.range(plan.rows.bounding.rows))) for name, measure in plan.measures.items()}
    session.close()
    return {k: {name: int(row[name]) for name in limits} for k, row in found.items()}, limits


def within(sql, unit):
    """Tell whether adding any one hostile row changes one group alone, and each measure by no more than promised."""
    base, limits = reach(sql, HOURS[:4], RATES[:4], unit)
    for hour, rate in zip(HOURS, RATES, strict=True):
        more, _ = reach(sql, [*HOURS[:4], hour], [*RATES[:4], rate], unit)
        changed = {key for key in base.keys() | more.keys() if base.get(key) != more.get(key)}
        if len(changed) > 1:
            return False
        for key in changed:
            before, after = base.get(key, {}), more.get(key, {})
            if any(abs(after.get(name, 0) - before.get(name, 0)) > limit for name, limit in limits.items()):
                return False
    return True


SUMS = [
    "SELECT SUM(hours) AS s, AVG(rate) AS m, COUNT(*) AS n FROM t WHERE hours <> 99",
    "SELECT SUM(NULLIF(hours, 99)) AS s, VAR_POP(rate) AS v FROM t",
    "SELECT SUM(CASE WHEN ABS(hours) > 90 THEN hours ELSE rate END) AS s FROM t",
    "SELECT BIN(hours, -10, 0, 80, 1000) AS b, SUM(rate * hours) AS s FROM t GROUP BY b",
    "SELECT SUM(COALESCE(CASE WHEN rate > 80 THEN hours * 2 END, 5)) AS s FROM t",
]


@pytest.mark.parametrize("sql", SUMS)
@pytest.mark.parametrize("unit", [dp.Row(), dp.Person("who", groups=2, rows=3)], ids=["rows", "persons"])
def test_one_row_changes_no_more_than_promised(sql, unit):
    assert within(sql, unit)


def test_bounds_follow_from_clamped_values_alone():
    session = opened(HOURS, RATES)
    plan = session.planned("SELECT SUM(hours) AS s FROM t WHERE hours > 80", epsilon=1)
    (measure,) = [one for one in plan.measures.values() if isinstance(one, Sum)]
    assert max(map(abs, measure.range(1))) * measure.step == Fraction(HIGH)
    for value in (dp.col("hours"), dp.col("hours") * 2):
        assert plan.rows.scope.resolve(value).declared
        assert not plan.rows.scope.resolve(value, stored=True).declared


# The checks see both mistakes.


DAYS = [date(2026, 1, 31)] * 5 + [date(2026, 2, 1)] * 3
MARKS = ["2026-01-31", "2026-02-01", "junk", None] * 2


def of_days(sql):
    data = pa.table({"day": DAYS, "mark": pa.array(MARKS, pa.string()), "hours": pa.array(HOURS[:8], pa.int64())})
    schema = {"hours": dp.Bounds(LOW, HIGH), "mark": dp.Values(["2026-01-31"])}
    session = dp.Session(data, name="t", schema=schema, unit=dp.Row(), budget=dp.Budget(1e12), threads=1)
    return session.release(sql, epsilon=1e9)["n"].tolist()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM t WHERE day = CASE WHEN hours > 80 THEN '2026-01-31' END",
        "SELECT COUNT(*) AS n FROM t WHERE day = mark",
        "SELECT COUNT(*) AS n FROM t WHERE mark <> day",
        "SELECT COUNT(*) AS n FROM t WHERE day = COALESCE(mark, '2026-01-31')",
        "SELECT COUNT(*) AS n FROM t WHERE day >= NULLIF(mark, 'x')",
    ],
)
def test_a_text_that_is_not_written_in_the_query_is_no_day(sql):
    """What is declared of a column says nothing of what is stored in it."""
    with pytest.raises(InvalidParameter, match="cast"):
        of_days(sql)


@pytest.mark.parametrize(
    ("sql", "truth"),
    [
        ("SELECT COUNT(*) AS n FROM t WHERE day = '2026-01-31'", 5),
        ("SELECT COUNT(*) AS n FROM t WHERE '2026-02-01' = day", 3),
        ("SELECT COUNT(*) AS n FROM t WHERE day IN ('2026-01-31', '2025-01-01')", 5),
        ("SELECT COUNT(*) AS n FROM t WHERE day BETWEEN '2026-02-01' AND '2026-02-02'", 3),
        ("SELECT COUNT(*) AS n FROM t WHERE CAST(day AS VARCHAR) = mark", 3),
    ],
)
def test_days_are_compared_with_what_is_written_or_cast(sql, truth):
    assert of_days(sql) == [truth]


class Clamping(Scope):
    """Clamps a column wherever it is read: what must not exist."""

    def resolve(self, expression, *, stored=False):
        return super().resolve(expression, stored=False)

    def column(self, name, *, stored=False):
        return super().column(name, stored=False)


class Trusting(Scope):
    """Clamps nowhere, but trusts the declared bounds: what must not exist."""

    def column(self, name, *, stored=False):
        bounds = super().column(name, stored=False)
        return replace(super().column(name, stored=True), interval=bounds.interval, declared=bounds.declared)


def test_the_check_catches_bounds_that_clamp_before_a_filter_looks(monkeypatch):
    sql = "SELECT COUNT(*) AS n FROM t WHERE hours <> 99"
    assert sees_what_is_stored(sql)
    monkeypatch.setattr("discreet.session.reading.Scope", Clamping)
    assert not sees_what_is_stored(sql)
    assert not sees_what_is_stored("SELECT COUNT(*) AS n FROM t WHERE ABS(hours) > 90")
    assert groups("SELECT hours, COUNT(*) AS n FROM t GROUP BY hours")[HIGH] > Counter(H)[HIGH]


def test_the_check_catches_values_that_are_not_clamped_at_all(monkeypatch):
    """Sums clamp once more, on their grid: without that clamp either, a row moves a sum by all that it holds."""
    monkeypatch.setattr("discreet.session.reading.Scope", Trusting)
    monkeypatch.setattr("discreet.tables.grid.Grid.sql", lambda self, scope, value: raw(self, scope, value))
    assert not within(SUMS[0], dp.Row())


def raw(grid, scope, value):
    """Return steps of a value that nobody clamped."""
    named = scope.let(scope.as_double(value))
    return replace(named, sql=f"FLOOR({named.sql} * {scope.dialect.number(2.0**grid.exponent)})")
