"""Groups that are answered together, as margins and as sums of bins, through the session."""

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from joint_people import CITIES, CUBE, OPTIONS, SUMS, TREE, UNITS, exact, people, session
from scipy.stats import binom

import discreet as dp
from discreet.session.joint import _equal, _tail, amounts, half_width
from discreet.session.margins import JointMargins
from discreet.session.sums import JointSums
from discreet.tables import Values


@pytest.mark.parametrize("unit", UNITS, ids=["rows", "rows-replaced", "persons", "persons-replaced"])
def test_one_unit_moves_the_counts_by_no_more_than_its_records(unit):
    """Whatever a unit holds, the difference of exact counts is a sum of as many records as the noise is for."""
    rng = np.random.default_rng(11)
    with session(people(40, 6), unit) as own:
        plan = own.planned(CUBE, epsilon=1)
        records = plan.joint.cost.records
        assert records == (1 if isinstance(unit, dp.Row) else 6)
        base = people(40, 6).to_pylist()
        before = exact(plan, pa.Table.from_pylist(base), unit)
        for _ in range(12):
            if isinstance(unit, dp.Row):
                rest = base[1:]
                new = [{**base[0], "city": str(rng.choice([*CITIES, "Nowhere"])), "sex": str(rng.choice(["f", "m"]))}]
            else:
                rest = [row for row in base if row["user"] != 3]
                new = [
                    {**base[0], "user": 3, "city": str(rng.choice(list(CITIES))), "sex": str(rng.choice(["f", "m"]))}
                    for _ in range(rng.integers(0, 30))
                ]
            after = exact(plan, pa.Table.from_pylist(rest + (new if unit.relation == "replace_one" else [])), unit)
            moves = [after.get(k, 0) - before.get(k, 0) for k in {*after, *before} if k[1] in CITIES]
            gained = sum(move for move in moves if move > 0)
            lost = -sum(move for move in moves if move < 0)
            assert lost <= records
            assert gained <= (records if unit.relation == "replace_one" else 0)


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("sql", [CUBE, SUMS.format("ranges"), SUMS.format("prefixes")])
@pytest.mark.parametrize("unit", UNITS, ids=["rows", "rows-replaced", "persons", "persons-replaced"])
def test_the_loss_is_what_was_asked_for(unit, sql, delta):
    with session(unit=unit, delta=delta) as own:
        plan = own.planned(sql, epsilon=0.5)
        assert plan.loss.relation == unit.relation
        assert plan.loss.epsilon(float(plan.delta)) <= 0.5 * (1 + 1e-9)
        assert plan.joint.mechanism.records == plan.joint.cost.records
        forecast = own.preview(sql, epsilon=0.5)
        before = own.spent
        answer = own.release(sql, epsilon=0.5)
        assert answer.loss.to_json() == forecast.loss.to_json()
        assert own.spent > before


def test_grouping_sets_are_the_margins_of_the_builder():
    with session() as own:
        built = own.query.group_by("sex", "city").agg(n=dp.count()).margins(("sex", "city"), ("sex",), ("city",), ())
        sql = own.planned(CUBE, epsilon=1)
        assert own.planned(built, epsilon=1).joint == sql.joint
        assert "margins" in repr(built)
        pairs = own.query.group_by("sex", "city", "state").agg(n=dp.count()).margins(order=2)
        assert len(pairs.together.sets) == 3


def test_margins_agree_with_each_other():
    with session() as own:
        answer = own.release(CUBE, epsilon=0.1)
        rows = {(row["sex"], row["city"]): row["n"] for row in answer}
        assert len(rows) == 2 * 3 + 2 + 3 + 1
        for sex in ("f", "m"):
            assert math.isclose(sum(rows[sex, city] for city in CITIES), rows[sex, None], abs_tol=1e-6)
        assert math.isclose(sum(rows[None, city] for city in CITIES), rows[None, None], abs_tol=1e-6)
        assert "(all)" in repr(answer)
        again = dp.Answer.from_json(answer.to_json())
        assert again.rows == answer.rows


def test_with_much_epsilon_every_answer_is_nearly_true():
    data = people()
    truth = {}
    for row in data.to_pylist():
        for sex, city in itertools.product((row["sex"], None), (row["city"], None)):
            truth[sex, city] = truth.get((sex, city), 0) + 1
    with session() as own:
        for noise in ("gaussian", "laplace"):
            found = {(row["sex"], row["city"]): row["n"] for row in own.release(CUBE, epsilon=200, noise=noise)}
            assert all(abs(found[key] - count) < 2 for key, count in truth.items())
        bins = own.release(SUMS.format("prefixes"), epsilon=200)
        ages = np.array(data["age"].to_pylist())
        edges = [20, 40, 60, 80, 101]
        assert np.allclose(bins["n_up_to"], [(ages < edge).sum() for edge in edges], atol=2)
        assert np.allclose(np.cumsum(bins["n"]), bins["n_up_to"], atol=1e-6)


def test_what_is_not_declared_counts_nowhere():
    data = pa.Table.from_pylist([{**row, "city": "Nowhere"} for row in people(50).to_pylist()])
    for unit in UNITS:
        with session(data, unit) as own:
            answer = own.release(CUBE, epsilon=200)
            assert max(abs(row["n"]) for row in answer) < 10


def test_an_empty_table_has_an_answer():
    empty = people().slice(0, 0)
    for sql in (CUBE, SUMS.format("ranges"), TREE.format("")):
        with session(empty) as own:
            assert len(own.release(sql, epsilon=1)) > 0


def test_one_group_that_may_be_empty_has_noise():
    """Under replace_one a row may be counted nowhere, so even the total of one group is secret."""
    data = pa.table({"sex": ["f", "m", "f"], "city": ["Oslo"] * 3})
    for delta in (0, 1e-6):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            own = dp.Session(
                data,
                name="people",
                schema={"sex": Values(["f"]), "city": Values(["Oslo"])},
                unit=dp.Row(relation="replace_one"),
                budget=dp.Budget(1000, delta),
            )
        with own:
            sql = "SELECT sex, city, COUNT(*) AS n FROM people GROUP BY CUBE (sex, city)"
            assert own.preview(sql, epsilon=1)["n"].error > 1
            assert own.planned(sql, epsilon=1).loss.epsilon(1e-9) > 0.5
            sums = OPTIONS.format("sums = 'ranges'", "sex")
            assert len(own.release(sums, epsilon=1)) == 1


def test_releases_after_the_fact_look_at_released_values():
    with session() as own:
        answer = own.release(CUBE + " HAVING n > 100 ORDER BY n DESC LIMIT 3", epsilon=10)
        assert len(answer) == 3
        assert list(answer["n"]) == sorted(answer["n"], reverse=True)


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("kind", ["margins", "prefixes", "ranges"])
def test_intervals_hold_as_often_as_they_say(noise, kind):
    """False alarm below 1e-9: each interval by itself, over 400 releases, and deviations by their sampling error."""
    (cost,) = amounts(Fraction(1), Fraction(1, 10**6), noise, "add_remove", 2)
    values = (("f", "m"), ("a", "b", "c"))
    if kind == "margins":
        joint = JointMargins(("sex", "city"), values, (("sex", "city"), ("sex",), ()), cost)
    else:
        joint = JointSums(("sex", "city"), values, kind, cost)
    runs, level = 400, 0.9
    drawn = [joint.release({("f", "a"): 50}, "n", 1 - level) for _ in range(runs)]
    first = drawn[0][1]
    for name, estimates in first.items():
        keys = drawn[0][0]
        values_drawn = np.array([one[1][name].value for one in drawn])
        widths = (np.array(estimates.high) - np.array(estimates.low)) / 2
        truth = np.array([_truth(kind, name, *key) for key in zip(keys["sex"], keys["city"], strict=True)])
        inside = (np.abs(values_drawn - truth) <= widths).sum(axis=0)
        least = binom.ppf(1e-11, runs, level)
        assert (inside >= least).all()
        deviation = np.sqrt(((values_drawn - truth) ** 2).mean(axis=0))
        told = widths / half_width(noise, 1 - level)
        slack = (8 if noise == "gaussian" else 14) / math.sqrt(2 * runs)
        assert (np.abs(deviation / told - 1) < slack).all()


def _truth(kind, name, sex, city):
    if kind == "margins":
        return 50.0 if sex in ("f", None) and city in ("a", None) else 0.0
    return 50.0 if sex == "f" and (city == "a" or name == "n_up_to") else 0.0


@pytest.mark.parametrize("beta", [0.5, 0.2, 0.05, 0.01, 1e-4])
def test_no_weights_exceed_the_width_of_laplace_answers(beta):
    """The quantile of a weighted sum of Laplace variables, by the exact law where all weights differ."""
    rng = np.random.default_rng(2)
    width = half_width("laplace", beta)
    for _ in range(300):
        count = int(rng.integers(2, 7))
        scales = np.sort(rng.dirichlet(np.full(count, rng.choice([0.2, 1.0, 5.0])))) ** 0.5
        scales = np.unique(np.maximum(scales, 1e-3).round(6)) / math.sqrt(2)
        scales /= math.sqrt(2 * float((scales**2).sum()))
        if len(scales) < 2 or np.diff(scales).min() < 1e-3:
            continue
        parts = [np.prod([a**2 / (a**2 - b**2) for j, b in enumerate(scales) if j != i]) for i, a in enumerate(scales)]
        tail = sum(part * math.exp(-width / a) for part, a in zip(parts, scales, strict=True))
        assert tail <= beta * (1 + 1e-6)


def test_tails_of_equal_weights_are_exact():
    assert _tail(2, 3.0) == pytest.approx(math.exp(-3) * (1 + 3 / 2))
    assert _equal(1, 0.05) == pytest.approx(math.log(20) / math.sqrt(2))


def test_an_error_that_is_asked_for_is_kept():
    with session() as own:
        forecast = own.preview(CUBE, error={"n": 10})
        assert forecast["n"].error <= 10
        assert forecast["n"].error > 9
