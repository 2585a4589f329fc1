"""Quantiles by each of the four methods, through the one door: what they cost, what they say, how often they hold."""

import re
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.accounting.terms import Approximate, Laplace, Pure
from discreet.errors import InvalidParameter, InvalidQuery
from discreet.session.columns import Ranked
from discreet.session.ranks import rank_mechanism
from discreet.session.smooth_ranks import Proposed, Smooth
from discreet.tables.aggregates import METHODS
from discreet.tables.grid import Grid
from discreet.tables.kinds import Interval
from discreet.tables.measures import UNIT, Cells

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.NotDurableWarning")

SCHEMA = {"x": dp.Bounds(0, 500), "city": dp.Values(["a", "b"])}
UNITS = {
    "rows": dp.Row(),
    "replaced rows": dp.Row(relation="replace_one"),
    "persons": dp.Person("user", groups=2, rows=3),
    "replaced persons": dp.Person("user", groups=2, rows=3, relation="replace_one"),
}


def data(rows=20_000):
    rng = np.random.default_rng(5)
    return pa.table(
        {
            "user": rng.integers(0, 8000, rows),
            "city": np.array(["a", "b"])[rng.integers(0, 2, rows)],
            "x": np.exp(rng.normal(3, 0.6, rows)).clip(0, 500),
        }
    )


def opened(unit="rows", budget=None):
    return dp.Session(data(), schema=SCHEMA, unit=UNITS[unit], budget=budget or dp.Budget(100, 1e-6), name="t")


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_in_sql_and_in_python(method, unit):
    session = opened(unit)
    sql = session.release(f"SELECT city, MEDIAN(x, '{method}') AS q FROM t GROUP BY city", epsilon=20)
    query = session.query.group_by("city").agg(q=dp.median("x", method=method))
    built = session.release(query, epsilon=20)
    for answer in (sql, built):
        assert answer.columns["q"].method == sql.columns["q"].method
        for low, value, high in zip(*(getattr(answer.columns["q"], n) for n in ("low", "value", "high")), strict=True):
            assert 0 <= low <= value <= high <= 500
            assert abs(value - 20) < (15 if method == "ptr" else 2)
        assert answer.loss.relation == UNITS[unit].relation
        assert answer.loss.epsilon(answer.parameters["delta"]) <= 20 * (1 + 1e-9)


@pytest.mark.parametrize(
    "text",
    [
        "QUANTILE_CONT(x, 0.5, 'smooth')",
        "APPROX_QUANTILE(x, 0.5, 'smooth')",
        "MEDIAN(x, 'smooth')",
        "PERCENTILE_CONT(0.5, 'smooth') WITHIN GROUP (ORDER BY x)",
    ],
)
def test_the_method_is_the_last_argument_of_every_quantile(text):
    assert opened().release(f"SELECT {text} AS q FROM t", epsilon=1).columns["q"].method == "smooth sensitivity"


@pytest.mark.parametrize("text", ["MEDIAN(x, 'fast')", "QUANTILE_CONT(x, 0.5, 7)", "QUANTILE_CONT(x, 0.5, 'tree', 1)"])
def test_other_methods_are_refused(text):
    with pytest.raises(InvalidQuery, match=r"method|arguments"):
        opened().release(f"SELECT {text} AS q FROM t", epsilon=1)
    with pytest.raises(InvalidParameter, match="'smooth'"):
        dp.median("x", method="fast")


def test_several_quantiles_share_epsilon():
    answer = opened().release("SELECT QUANTILE_CONT(x, [0.25, 0.5, 0.75], 'smooth') AS q FROM t", epsilon=6)
    assert list(answer.columns) == ["q_25", "q_50", "q_75"]
    assert {(type(term), term.epsilon, n) for term, n in answer.loss.terms} == {
        (Pure, Fraction(4, 3), 3),
        (Laplace, Fraction(2, 3), 3),
    }
    values = [answer.columns[name].value[0] for name in answer.columns]
    assert values == sorted(values)


def test_a_test_takes_a_delta():
    with pytest.raises(InvalidParameter, match="delta"):
        opened(budget=dp.Budget(10)).release("SELECT MEDIAN(x, 'ptr') AS q FROM t", epsilon=1)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("keys", [True, False])
@pytest.mark.parametrize("rule", ["basic", "zcdp"])
def test_the_deltas_of_tests_stay_within_that_of_the_query(unit, keys, rule):
    """Beside private groups and Gaussian noise as well."""
    session = dp.Session(
        data(), schema={"x": SCHEMA["x"]}, unit=UNITS[unit], budget=dp.Budget(50, 1e-6, filter=rule), name="t"
    )
    select = "city, MEDIAN(x, 'ptr') AS q, MAX(x) AS top, COUNT(*) AS n, QUANTILE_CONT(x, [0.2, 0.9], 'ptr') AS r"
    text = f"SELECT {select} FROM t GROUP BY city" if keys else f"SELECT {select.removeprefix('city, ')} FROM t"
    answer = session.release(text, epsilon=5)
    groups = answer.parameters["groups"]
    assert {groups, 2 * groups} <= {n for term, n in answer.loss.terms if isinstance(term, Approximate)}
    failure = sum(n * term.failure for term, n in answer.loss.terms if isinstance(term, Approximate))
    assert 0 < failure <= Fraction(answer.parameters["delta"]) * (1 + Fraction(1, 2**40))


def column(method, shares=(Fraction(1, 2),), low=0, high=500):
    grid = Grid.over(Interval(Fraction(low), Fraction(high)), whole=False, centred=True, fineness=15)
    return Ranked("q", "median of x", "quantiles", Cells("c_q", None, grid), shares, method), grid


def even(grid, rows):
    cells = np.linspace(grid.lowest, grid.highest, rows).round().astype(np.int64)
    return cells, np.full(rows, UNIT)


def test_a_replaced_row_of_one_group_costs_less_noise_than_two():
    one, grid = column("smooth")
    direct = rank_mechanism(one, Fraction(1), 1, 1, "replace_one", 0.95, single=True)
    among = rank_mechanism(one, Fraction(1), 1, 1, "replace_one", 0.95)
    assert isinstance(direct, Smooth)
    assert direct.loss.epsilon() == pytest.approx(among.loss.epsilon()) == pytest.approx(1)
    widths = []
    for made in (direct, among):
        quantile = made.mechanism(Fraction(1, 2)).quantile
        widths.append(quantile.noise.reach() * quantile.function.at(even(grid, 5000)).smooth(quantile.beta))
    assert 1.5 * widths[0] < widths[1]


@pytest.mark.parametrize("method", ["smooth", "ptr"])
@pytest.mark.parametrize("shares", [(Fraction(1, 2),), (Fraction(1, 10), Fraction(19, 20))])
def test_intervals_hold_as_often_as_said(method, shares):
    """Of 600 intervals at level 0.9, 490 at least: fewer come about with probability below 1e-9."""
    one, grid = column(method, shares)
    made = rank_mechanism(one, Fraction(4), 1, 1, "add_remove", 0.9, delta=Fraction(1, 10**6))
    cells, weights = even(grid, 60 if method == "smooth" else 6000)
    found = made.release([(cells, weights)] * 600)
    for name, share in zip(one.names, shares, strict=True):
        estimates = found[name]
        true = grid.value(int(cells[np.searchsorted(np.cumsum(weights), float(share * weights.sum()))]))
        pairs = [(a, b) for a, b in zip(estimates.low, estimates.high, strict=True) if a is not None]
        assert sum(a <= true <= b for a, b in pairs) >= 490 - (600 - len(pairs))
        if method == "ptr":
            assert len(pairs) > 300


def test_a_group_that_does_not_bear_the_bound_has_no_value():
    one, grid = column("ptr")
    made = rank_mechanism(one, Fraction(1), 1, 1, "add_remove", 0.95, delta=Fraction(1, 10**6))
    assert isinstance(made, Proposed)
    estimates = made.release([(np.array([grid.lowest, grid.highest]), np.array([UNIT, UNIT])), even(grid, 40_000)])["q"]
    assert (estimates.value[0], estimates.low[0], estimates.high[0]) == (None, None, None)
    assert estimates.value[1] is not None
    assert made.release([])["q"].value == ()


def test_a_forecast_says_what_cannot_be_promised():
    forecast = opened().preview("SELECT MEDIAN(x, 'smooth') AS a, MEDIAN(x, 'ptr') AS b FROM t", epsilon=2)
    assert forecast["a"].error is None
    assert forecast["a"].error_note.startswith("depends on")
    assert re.fullmatch(r"within [0-9.,]+, or no value", forecast["b"].error_note)
    assert forecast["b"].mechanism == "propose-test-release"
