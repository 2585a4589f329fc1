"""How the epsilon of a query is shared."""

from fractions import Fraction

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidParameter

DATA = pa.table({"user": [1], "city": ["a"], "x": [1.0], "y": [2.0]})


def plan(*, private=False, split=None, epsilon=1, delta=None, budget=None, unit=None, noise="auto", **aggregates):
    schema = {"x": dp.Bounds(0, 10), "y": dp.Bounds(0, 10)} | ({} if private else {"city": dp.Values(["a", "b"])})
    session = dp.Session(DATA, name="t", schema=schema, unit=unit or dp.Row(), budget=budget or dp.Budget(100, 1e-6))
    query = session.query.group_by("city").agg(**aggregates)
    return session.planned(query, epsilon=epsilon, delta=delta, split=split, noise=noise)


def spent(one):
    """Return the epsilons of a plan of Laplace noise and choices, by column and for the keys."""
    parts = {name: noise.reach.first / noise.spread for name, noise in one.noise.items()}
    parts |= {name: dp.Budget(100).open().cost(mechanism.loss).amount for name, mechanism in one.ranks.items()}
    if one.selection is not None:
        parts["keys"] = Fraction(one.selection.epsilon)
    return parts


CASES = [
    {"n": dp.count()},
    {"n": dp.count(), "m": dp.mean("x")},
    {"n": dp.count(), "m": dp.mean("x"), "v": dp.variance("x"), "c": dp.correlation("x", "y")},
    {"q": dp.median("x"), "t": dp.quantiles("x", [0.1, 0.5, 0.9]), "k": dp.min("x")},
    {"n": dp.count(), "q": dp.median("x"), "s": dp.sum("y")},
]


@pytest.mark.parametrize("aggregates", CASES)
@pytest.mark.parametrize("private", [False, True])
def test_all_shares_sum_to_the_epsilon(aggregates, private):
    one = plan(private=private, epsilon=Fraction(7, 3), noise="laplace", **aggregates)
    parts = spent(one)
    assert sum(parts.values()) == Fraction(7, 3)
    assert ("keys" in parts) == private
    assert all(part > 0 for part in parts.values())


def test_columns_have_equal_shares_unless_one_says_otherwise():
    one = plan(n=dp.count(), s=dp.sum("x"), noise="laplace")
    assert one.shares == {"n": 0.5, "s": 0.5}
    other = plan(n=dp.count(), s=dp.sum("x"), split={"s": 3}, noise="laplace")
    assert other.shares == {"n": 0.25, "s": 0.75}
    assert sorted(spent(other).values()) == [Fraction(1, 4), Fraction(3, 4)]
    private = plan(private=True, n=dp.count(), split={"keys": Fraction(1, 3)}, noise="laplace")
    assert spent(private)["keys"] == Fraction(1, 4)


def test_a_measure_that_two_columns_need_has_a_part_of_both():
    one = plan(n=dp.count(), m=dp.mean(dp.col("x").fill(0)), noise="laplace")
    rows, total = one.columns[0].inputs[0], one.columns[1].inputs[0]
    assert one.columns[1].inputs == (total, rows)
    assert spent(one)[rows] == Fraction(3, 4)
    assert spent(one)[total] == Fraction(1, 4)


def test_public_sizes_take_no_share():
    session = dp.Session(
        DATA,
        name="t",
        schema={"x": dp.Bounds(0, 10, nulls=0)},
        unit=dp.Row(relation="replace_one", size=1),
        budget=dp.Budget(1),
    )
    query = session.query.agg(m=dp.mean("x"))
    one = session.planned(query, epsilon=1)
    assert list(spent(one).values()) == [1]


@pytest.mark.parametrize("aggregates", CASES)
@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("noise", ["laplace", "gaussian", "auto"])
def test_the_loss_is_that_of_all_parts(aggregates, private, noise):
    """Whatever the noise is, the whole query is within the epsilon and delta that it says."""
    one = plan(private=private, epsilon=2, noise=noise, **aggregates)
    assert one.loss.delta(2.0 * (1 + 1e-9)) <= float(one.delta) * (1 + 1e-6) + 1e-18
    assert one.loss.relation == "add_remove"


def test_gaussian_noise_is_chosen_where_it_errs_less():
    """A budget of epsilons has either; a budget of rhos has Gaussian noise, which at the same rho errs less."""
    many = {f"s{i}": dp.sum(dp.col("x") + i) for i in range(12)}
    unit, basic = dp.Person("user", groups=20, rows=5), dp.Budget(100, 1e-6, filter="basic")
    few = plan(n=dp.count(), budget=basic, delta=Fraction(1, 10**7))
    assert {noise.kind for noise in few.noise.values()} == {"laplace"}
    wide, narrow = (
        plan(unit=unit, private=True, noise=noise, budget=basic, delta=Fraction(1, 10**7), **many)
        for noise in ("auto", "laplace")
    )
    assert {noise.kind for noise in wide.noise.values()} == {"gaussian"}
    assert all(wide.noise[name].error(0.05) < narrow.noise[name].error(0.05) for name in wide.noise)
    assert {noise.kind for noise in plan(n=dp.count()).noise.values()} == {"gaussian"}
    rho = [float(plan(n=dp.count(), noise=noise).loss.rho) for noise in ("gaussian", "laplace")]
    assert rho[0] < rho[1]


def test_names_that_are_no_columns_are_refused():
    with pytest.raises(InvalidParameter, match="split names m; this query has n"):
        plan(n=dp.count(), split={"m": 1})
    with pytest.raises(InvalidParameter, match="split names keys"):
        plan(n=dp.count(), split={"keys": 1})
