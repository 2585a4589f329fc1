"""A quantile's interval holds on data in which many share a value, and with few rows or none below the rank.

A choice that knew only the weight below a point found all points beside a heavy one better than the heavy one itself:
of whole numbers 15, 20, ..., 75 with the median 45 it released 46 to 50, and the interval held 0 times in 25, at any
epsilon. With few rows the ends were aimed beyond all of them, where every point was equally good, and one end of two
fell on the wrong side.

Defence: the loss of a point is the distance of the wanted rank from all the ranks that it has; the ends of an interval
hold whatever the data, since the lowest and the highest point have all ranks beyond them; a declared step makes a
lattice of which quantiles are members.
Source: Found by using this library: medians of whole numbers with ties.
"""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import discreet as dp
from discreet.mechanisms import GridQuantile, gaps
from discreet.session.ranks import Choice
from discreet.tables.aggregates import METHODS

COPIES = 120
ALARM = 1e-9
TIES = np.repeat(np.arange(15, 80, 5), [1] * 6 + [40] + [6] * 6)


def opened(values, column, relation="add_remove"):
    """Return a session on many groups that hold the same values."""
    table = pa.table({"g": np.repeat(np.arange(COPIES), len(values)), "x": np.tile(np.asarray(values), COPIES)})
    schema = {"g": dp.Values(list(range(COPIES))), "x": column}
    return dp.Session(table, name="t", schema=schema, unit=dp.Row(relation=relation), budget=dp.Budget(1e9, 0.1))


def misses(session, sql, truth, epsilon):
    """Return how many intervals leave the truth outside, and all values."""
    answer = session.release(f"SELECT g, {sql} AS q FROM t GROUP BY g", epsilon=epsilon)
    (q,) = answer.columns.values()
    held = [low <= truth <= high for low, high in zip(q.low, q.high, strict=True) if low is not None]
    return len(held) - sum(held), np.array([value for value in q.value if value is not None])


def alarm():
    """Return how many misses of intervals of 95 percent no sound method has, but one time in a thousand million."""
    return int(stats.binom.isf(ALARM, COPIES, 0.05))


SQL = ["MEDIAN(x)", "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)", "QUANTILE_CONT(x, 0.5)"]
COLUMNS = [
    (dp.Bounds(0, 100), np.int64),
    (dp.Bounds(0, 100), np.float64),
    (dp.Bounds(0, 100, step=5), np.float64),
]


@pytest.mark.parametrize(("column", "kind"), COLUMNS)
@pytest.mark.parametrize("sql", SQL)
@pytest.mark.parametrize("epsilon", [2, 2000])
def test_the_median_of_whole_numbers_with_ties_lies_in_its_interval(sql, column, kind, epsilon):
    lost, values = misses(opened(TIES.astype(kind), column), sql, 45, epsilon)
    assert lost <= alarm()
    if epsilon > 1000:
        assert (np.abs(values - 45) < 0.01).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("column", "kind"), COLUMNS)
def test_every_method_holds_on_ties(method, column, kind):
    sql = f"QUANTILE_CONT(x, 0.5, '{method}')"
    for epsilon in (2, 200):
        assert misses(opened(TIES.astype(kind), column), sql, 45, epsilon)[0] <= alarm()


@pytest.mark.parametrize("values", [[61], [0], [100], [20, 20], [0, 0, 0, 100]])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_it_holds_with_hardly_any_rows(values, relation):
    session = opened(values, dp.Bounds(0, 100), relation)
    for epsilon in (1, 100):
        truth = float(np.median(values))
        assert misses(session, "MEDIAN(x)", truth, epsilon)[0] <= alarm()


def test_values_are_members_of_the_lattice_of_a_declared_step():
    session = opened(TIES.astype(float), dp.Bounds(0, 100, step=5))
    for method in METHODS:
        _, values = misses(session, f"QUANTILE_CONT(x, 0.5, '{method}')", 45, 1)
        assert set(np.mod(values, 5)) <= {0.0}


def test_lattice_or_not_is_decided_by_the_declaration_and_said_in_the_preview():
    """The same rows: the preview of a column of real numbers says that a neighbouring gap may be chosen."""
    said = {}
    for place, (column, kind) in enumerate(COLUMNS):
        session = opened(TIES.astype(kind), column)
        said[place] = session.preview("SELECT MEDIAN(x) AS q FROM t", epsilon=1)["q"].error_note
    assert "gap beside it" in said[1]
    assert all("gap" not in said[place] and "rows of the rank" in said[place] for place in (0, 2))


def of_ranks_below(self, i):
    """The score before: the weight below a point alone, which no tie is part of."""
    return -abs(self.weight(i // 2) - self.aim)


def scores_below(self):
    rate, aim = float(self.rate), float(self.aim)
    below = self._high * 2.0**31 + self._low
    scores = np.repeat(-np.abs(below - aim) * rate, 2)[: self.lengths.size]
    with np.errstate(divide="ignore"):
        return scores + np.log(self.lengths), np.where(self.lengths > 0, 1e-9, 0.0)


def test_a_score_of_the_weight_below_alone_would_be_caught(monkeypatch):
    monkeypatch.setattr(gaps.Gaps, "score", of_ranks_below)
    monkeypatch.setattr(gaps.Gaps, "log_weights", scores_below)
    for column, kind in COLUMNS[:2]:
        assert misses(opened(TIES.astype(kind), column), "MEDIAN(x)", 45, 200)[0] > alarm()


def test_ends_that_are_aimed_at_the_rank_itself_would_be_caught(monkeypatch):
    monkeypatch.setattr(Choice, "miss", lambda self, probability, ends: 0)
    assert misses(opened(np.arange(40, 61), dp.Bounds(0, 100)), "MEDIAN(x)", 50, 1)[0] > alarm()


def histograms(cells, most):
    """Return all histograms of up to so many rows, as how many lie in each cell."""
    if cells == 1:
        return [(count,) for count in range(most + 1)]
    return [(first, *rest) for first in range(most + 1) for rest in histograms(cells - 1, most - first)]


def pairs(relation, unit):
    """Yield small histograms that differ in one person with up to ``unit`` rows, wherever these lie."""
    owned = histograms(4, unit)
    for rest in histograms(4, 2):
        with_one = [tuple(map(sum, zip(rest, own, strict=True))) for own in owned]
        yield from ((rest, one) for one in with_one)
        if relation == "replace_one":
            yield from ((one, other) for one in with_one for other in with_one)


def largest_loss(mechanism, relation, unit):
    """Return the largest log-ratio of probabilities over all small neighbours, from the exact law of the mechanism."""
    laws = {}

    def law(weights):
        if weights not in laws:
            laws[weights] = np.array([mechanism.log_probability((range(4), weights), y) for y in range(4)])
        return laws[weights]

    return max(float(np.abs(law(a) - law(b)).max()) for a, b in set(pairs(relation, unit)))


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("unit", [1, 2])
@pytest.mark.parametrize(("probability", "shift"), [(Fraction(1, 2), 0), (Fraction(9, 10), 0), (Fraction(1, 2), -3)])
def test_the_exact_law_keeps_epsilon_on_all_small_neighbours(relation, unit, probability, shift):
    """Persons with several rows; ranks inside the data and below all of it."""
    mechanism = GridQuantile(
        bounds=(0, 3), epsilon=1, relation=relation, unit=unit, probability=probability, shift=shift
    )
    assert largest_loss(mechanism, relation, unit) <= 1 + 1e-9


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("unit", [1, 2])
def test_half_of_the_noise_would_be_caught(relation, unit):
    """The same law at twice the rate, on the same neighbours."""
    doubled = GridQuantile(bounds=(0, 3), epsilon=2, relation=relation, unit=unit)
    assert largest_loss(doubled, relation, unit) > 1.05
