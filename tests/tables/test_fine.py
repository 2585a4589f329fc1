"""A fine grid over public bounds: the same cell in every engine, and edges that hold what they say."""

import math

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidParameter
from discreet.tables.dialects import DuckDB
from discreet.tables.fine import Fine
from discreet.tables.kinds import Interval
from discreet.tables.typed import Scope, Typed


@settings(max_examples=100)
@given(st.integers(-(10**9), 10**9), st.integers(1, 10**9), st.integers(1, 4096), st.integers(0, 10**9))
def test_whole_numbers_lie_between_the_edges_of_their_cell(low, span, count, step):
    grid = Fine.over(Interval.of(low, low + span - 1), whole=True, count=count)
    value = low + step % span
    place = grid.place(value)
    assert 0 <= place < count
    assert grid.edge(place) <= value < grid.edge(place + 1)
    assert (grid.edge(0), grid.edge(count)) == (low, low + span)


@settings(max_examples=100)
@given(st.integers(-(10**9), 10**9), st.floats(1e-3, 1e9), st.integers(1, 4096), st.floats(0, 1))
def test_numbers_lie_between_the_edges_of_their_cell_up_to_rounding(low, width, count, part):
    grid = Fine.over(Interval.of(low, low + width), whole=False, count=count)
    value = low + part * width
    place = grid.place(value)
    room = 1e-9 * max(abs(low), abs(low + width))
    assert 0 <= place < count
    assert grid.edge(place) - room <= value <= grid.edge(place + 1) + room


@pytest.mark.parametrize(
    ("grid", "kind"),
    [
        (Fine.over(Interval.of(0, 100), whole=True, count=128), "BIGINT"),
        (Fine.over(Interval.of(-7, 10**12), whole=True, count=1024), "BIGINT"),
        (Fine.over(Interval.of(-2.5, 1000), whole=False, count=1024), "DOUBLE"),
        (Fine.over(Interval.of(0, 1e-6), whole=False, count=4096), "DOUBLE"),
    ],
)
def test_an_engine_finds_the_cell_that_python_finds(grid, kind):
    """Also at the edges, just beside them, outside of the bounds, and for what is no number."""
    edges = [float(grid.edge(place)) for place in range(0, grid.count + 1, 7)]
    values = [x for edge in edges for x in (edge, math.nextafter(edge, -math.inf), math.nextafter(edge, math.inf))]
    values += [-1e15, 1e15] if kind == "BIGINT" else [-1e300, 1e300, -math.inf, math.inf, 5e-324, 0.0, -0.0]
    if kind == "BIGINT":
        values = [float(math.floor(x)) for x in values]
    scope = Scope(DuckDB(), {})
    cell = grid.sql(scope, Typed("float", "x"))
    staged = "SELECT x FROM t"
    for level in range(1, cell.level + 1):
        lets = [f", {sql} AS {scope.dialect.identifier(name)}" for name, sql in scope.stages.get(level, {}).items()]
        staged = f"SELECT s.*{''.join(lets)} FROM ({staged}) s"
    with duckdb.connect() as base:
        base.execute("CREATE TABLE t (x DOUBLE)")
        base.executemany("INSERT INTO t VALUES (?)", [[value] for value in [*values, math.nan, None]])
        found = base.execute(f"SELECT x, {cell.sql} FROM ({staged}) s").fetchall()
    for value, place in found:
        missing = value is None or math.isnan(value)
        assert place is None if missing else place == grid.place(value)


def test_bounds_that_are_equal_make_no_grid():
    with pytest.raises(InvalidParameter, match="bounds that differ"):
        Fine.over(Interval.of(3, 3), whole=False, count=8)
    assert Fine.over(Interval.of(3, 3), whole=True, count=2).values == 1
