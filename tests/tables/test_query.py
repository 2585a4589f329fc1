"""Queries: descriptions that nothing but a session acts on."""

import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.tables.query import Query

Q = Query("visits")


def test_each_method_returns_another_query():
    steps = [Q.where(dp.col("a") > 1), Q.group_by("a"), Q.agg(n=dp.count()), Q.limit(3), Q.order_by("n")]
    assert all(isinstance(step, Query) and step is not Q for step in steps)
    assert Query("visits").filters == Q.filters == ()
    with pytest.raises(AttributeError):
        Q.table = "other"


def test_derived_columns_are_written_into_what_uses_them():
    query = Q.with_columns(b=dp.col("a") * 2).with_columns(b=dp.col("b") + 1, c=dp.col("b"))
    assert repr(query.agg(s=dp.sum("b")).aggregates[0][1]) == "sum(((col('a') * 2) + 1))"
    assert repr(query.where(dp.col("c") > 1).filters[0]) == "((col('a') * 2) > 1)"
    assert repr(query.group_by("b").keys) == "(('b', ((col('a') * 2) + 1)),)"


def test_columns_of_one_call_do_not_see_each_other():
    query = Q.with_columns(a=dp.col("b"), b=dp.col("a"))
    assert repr(query.agg(s=dp.sum("a"), t=dp.sum("b")).aggregates) == "(('s', sum(col('b'))), ('t', sum(col('a'))))"


def test_a_join_pairs_columns():
    assert Q.join("cities", on="city").joins[0].on == (("city", "city"),)
    assert Q.join("cities", on=["city", "day"]).joins[0].on == (("city", "city"), ("day", "day"))
    assert Q.join("cities", on={"city": "name"}, how="left").joins[0].outer
    for wrong in ({"on": []}, {"on": {}}, {"on": "city", "how": "cross"}):
        with pytest.raises(InvalidParameter):
            Q.join("cities", **wrong)


@pytest.mark.parametrize("method", ["where", "with_columns", "join", "group_by"])
def test_rows_come_before_aggregates(method):
    arguments = {
        "where": ((dp.col("a") > 1,), {}),
        "with_columns": ((), {"b": dp.col("a")}),
        "join": (("cities",), {"on": "city"}),
        "group_by": (("city",), {}),
    }
    positional, named = arguments[method]
    with pytest.raises(InvalidParameter, match="comes before agg"):
        getattr(Q.agg(n=dp.count()), method)(*positional, **named)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Q.where("a > 1"),
        lambda: Q.agg(n="count"),
        lambda: Q.agg(n=dp.col("a")),
        lambda: Q.agg(n=dp.count()).agg(n=dp.sum("a")),
        lambda: Q.group_by("n").agg(n=dp.count()),
        lambda: Q.group_by("a", keys={"b": [1]}),
        lambda: Q.group_by("a", keys={"a": []}),
        lambda: Q.group_by("a", keys={"a": "xyz"}),
        lambda: Q.group_by("a", keys={"a": [1.5]}),
        lambda: Q.group_by("a", keys={"a": dp.col("b")}),
        lambda: Q.limit(-1),
        lambda: Q.limit(True),
        lambda: Q.limit(2.0),
        lambda: dp.quantiles("a", []),
        lambda: dp.quantiles("a", [0, 0.5]),
        lambda: dp.quantiles("a", [0.5, 0.5]),
        lambda: dp.quantiles("a", [0.5], method="magic"),
        lambda: dp.quantile("a", float("nan")),
        lambda: dp.top_k("a", 0),
        lambda: dp.top_k("a", True),
        lambda: dp.top_k("a", 1000),
        lambda: dp.count(object()),
    ],
)
def test_what_is_no_query_is_refused(build):
    with pytest.raises(InvalidParameter):
        build()


def test_the_repr_shows_every_part():
    query = (
        Q.join("cities", on={"city": "name"}, how="left")
        .where(dp.col("a") > 1)
        .group_by("city", keys={"city": ["Oslo"]})
        .agg(n=dp.count(), m=dp.quantiles("a", [0.25, 0.5]))
        .having(dp.col("n") > 3)
        .order_by("n", descending=True)
        .limit(2)
    )
    assert repr(query) == (
        "Query('visits').join('cities', on={'city': 'name'}, how='left').where((col('a') > 1))"
        ".group_by(city=col('city'), keys={'city': ('Oslo',)}).agg(n=count(), m=quantiles(col('a'), [0.25, 0.5], "
        "method='exponential')).having((col('n') > 3)).order_by('n', descending=True).limit(2)"
    )


def test_two_conditions_on_groups_both_hold():
    assert repr(Q.having(dp.col("n") > 1).having(dp.col("n") < 9).kept) == "((col('n') > 1) & (col('n') < 9))"
