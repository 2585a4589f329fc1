"""What once went wrong with trees, counts below edges, and groups shown by their own noise: cost, cells, words."""

import math
import warnings
from fractions import Fraction

import duckdb
import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.session.sparse import Sparse
from discreet.tables import Bounds
from discreet.tables.dialects import DuckDB
from discreet.tables.fine import Fine
from discreet.tables.kinds import Interval
from discreet.tables.typed import Scope, Typed

CDF = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(sums = 'cdf') x, COUNT(*) AS n FROM t GROUP BY x"
TREE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(method = 'tree') x, COUNT(*) AS n FROM t GROUP BY x"
BOTH = "SELECT word, COUNT(*) AS n, {} FROM t GROUP BY word"


def session(data, unit=None, schema=None, rule="basic"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dp.Session(
            data,
            name="t",
            schema=schema or {"x": Bounds(0, 100)},
            unit=unit or dp.Row(),
            budget=dp.Budget(epsilon=1000, delta=1e-4, filter=rule),
        )


def words():
    return pa.table(
        {"user": list(range(600)), "word": [f"w{i % 5}" for i in range(600)], "x": [i % 100 for i in range(600)]}
    )


# Groups that are shown by the noise of their counts ------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["basic", "zcdp"])
@pytest.mark.parametrize("groups", [1, 2, 40])
@pytest.mark.parametrize("other", ["MEDIAN(x) AS m", "MEDIAN(x) AS m, MIN(x) AS a, MAX(x) AS b", "COUNT(*) AS m"])
def test_a_noise_that_chooses_groups_leaves_nothing_for_other_columns(other, groups, rule):
    unit = dp.Person("user", groups=groups, rows=1)
    with session(words(), unit, {"word": "str", "x": Bounds(0, 100)}, rule) as own:
        sql = BOTH.format(other)
        plan = own.planned(sql, epsilon=1, delta=1e-6)
        assert not isinstance(plan.selection, Sparse)
        assert plan.loss.delta(1.0) <= float(plan.delta) * (1 + 1e-9)
        assert [one.name for one in own.preview(sql, epsilon=1, delta=1e-6).columns] == [
            column.name for column in plan.columns
        ]


def test_who_reads_counts_that_chose_their_groups_is_told_which_way_they_err():
    unit = dp.Person("user", groups=2, rows=1)
    with session(words(), unit, {"word": "str", "x": Bounds(0, 100)}) as own:
        sql = "SELECT word, COUNT(*) AS n FROM t GROUP BY word"
        plan = own.planned(sql, epsilon=1, delta=1e-6)
        assert isinstance(plan.selection, Sparse)
        assert any("near the threshold" in note for note in plan.notes)
        apart = own.planned(sql, epsilon=1, delta=1e-6, keys="optimal")
        assert not any("near the threshold" in note for note in apart.notes)


# Cells ---------------------------------------------------------------------------------------------------------------

GRIDS = [
    (0, 10.24, False, 1024),
    (0, 655.36, False, 65536),
    (0.1, 0.7, False, 1024),
    (-3.3, 12345.678, False, 4096),
    (1e9 + 0.1, 1e9 + 7.7, False, 1024),
    (0, 3**30, True, 65536),
    (-(2**53), 2**53, True, 65536),
    (7, 10**15 + 1, True, 1024),
]


@pytest.mark.parametrize(("low", "high", "whole", "count"), GRIDS)
def test_a_number_at_an_edge_or_just_below_it_lies_in_its_cell(low, high, whole, count):
    grid = Fine.over(Interval.of(low, high), whole=whole, count=count)
    edges = [grid.edge(place) for place in range(count + 1)]
    for place in range(1, count, 1 + count // 4096):
        edge = edges[place]
        near = (edge - 1 if type(edge) is int else math.nextafter(edge, -math.inf), edge)
        assert [grid.place(value) for value in near] == [place - 1, place]


@pytest.mark.parametrize(("low", "high", "whole", "count"), GRIDS)
def test_an_engine_says_the_same_of_edges(low, high, whole, count):
    grid = Fine.over(Interval.of(low, high), whole=whole, count=count)
    edges = [float(grid.edge(place)) for place in range(0, count + 1, 1 + count // 512)]
    values = [x for edge in edges for x in (edge, math.nextafter(edge, -math.inf), math.nextafter(edge, math.inf))]
    if whole:
        values = [float(math.floor(x)) for x in values]
    scope = Scope(DuckDB(), {})
    cell = grid.sql(scope, Typed("float", "x"))
    query = "SELECT x FROM t"
    for level in range(1, cell.level + 1):
        lets = "".join(f', {sql} AS "{name}"' for name, sql in scope.stages.get(level, {}).items())
        query = f"SELECT s.*{lets} FROM ({query}) s"
    with duckdb.connect() as base:
        base.execute("CREATE TABLE t (x DOUBLE)")
        base.executemany("INSERT INTO t VALUES (?)", [[value] for value in values])
        found = base.execute(f"SELECT x, {cell.sql} FROM ({query}) s").fetchall()
    assert [place for _, place in found] == [grid.place(value) for value, _ in found]


def test_prices_at_an_edge_are_not_below_it():
    with session(pa.table({"x": [0.29] * 10_000}), schema={"x": Bounds(0, 10.24)}) as own:
        answer = own.release(CDF, epsilon=100)
    below = dict(zip(answer["x_below"], answer["n"], strict=True))
    assert below[0.29] < 5_000 < below[0.3]


def test_whole_numbers_lie_in_the_bin_that_is_told():
    value = 12384381755327
    with session(pa.table({"x": [value] * 10_000}), schema={"x": Bounds(0, 3**30)}) as own:
        answer = own.release(TREE, epsilon=100)
    (full,) = (row for row in answer if row["n"] > 5_000)
    assert full["x_from"] <= value < full["x_to"]


def test_the_ends_of_a_grid_say_all_of_it():
    """Bounds are written with digits and told as doubles: a reader of those finds the same edges."""
    grid = Fine.over(Interval.of(Fraction("0.1"), Fraction("70000.7")), whole=False, count=1024)
    again = Fine.over(Interval.of(grid.edge(0), grid.edge(1024)), whole=False, count=1024)
    assert grid == again


def test_cells_that_doubles_cannot_tell_apart_are_refused():
    for low, high in ((1, 1.000000000000001), (0, 5e-324)):
        with pytest.raises(InvalidParameter, match="bounds that differ"):
            Fine.over(Interval(Fraction(low), Fraction(high)), whole=False, count=1024)
