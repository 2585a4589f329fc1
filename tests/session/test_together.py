"""Groups that are answered together: margins, sums of bins and hierarchies, through the session."""

import itertools
import math
import warnings
from contextlib import nullcontext, suppress

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

import discreet as dp
from discreet.errors import DiscreetError, InvalidParameter, InvalidQuery, NoTheorem
from discreet.session.joint import _equal, _tail, amounts, half_width
from discreet.session.margins import JointMargins
from discreet.session.sums import JointSums
from discreet.tables import Bounds, Column, Values
from discreet.tables.query import Query

CUBE = "SELECT sex, city, COUNT(*) AS n FROM people GROUP BY CUBE (sex, city)"
SUMS = (
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(sums = '{}') BIN(age, 0, 20, 40, 60, 80, 100) AS bin, COUNT(*) AS n "
    "FROM people GROUP BY 1"
)
TREE = (
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(method = 'hierarchy'{}) state, city, sex, COUNT(*) AS n FROM people "
    "GROUP BY ROLLUP (state, city), GROUPING SETS ((), (sex))"
)
CITIES = {"Oslo": "N", "Bergen": "N", "Ulm": "D"}
SCHEMA = {
    "sex": Values(["f", "m"]),
    "city": Values(list(CITIES)),
    "state": Values(["N", "D"]),
    "age": Bounds(0, 100),
}
UNITS = [
    dp.Row(),
    dp.Row(relation="replace_one"),
    dp.Person("user", groups=2, rows=3),
    dp.Person("user", groups=2, rows=3, relation="replace_one"),
]


def people(rows=400, users=150):
    rng = np.random.default_rng(5)
    cities = rng.choice(list(CITIES), rows).tolist()
    return pa.table(
        {
            "user": rng.integers(0, users, rows),
            "sex": rng.choice(["f", "m"], rows).tolist(),
            "city": cities,
            "state": [CITIES[city] for city in cities],
            "age": rng.integers(0, 101, rows),
        }
    )


def session(data=None, unit=UNITS[0], epsilon=1000, delta=1e-6, **changes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dp.Session(
            people() if data is None else data,
            name="people",
            schema=SCHEMA,
            unit=unit,
            budget=dp.Budget(epsilon=epsilon, delta=delta),
            **changes,
        )


def exact(plan, data, unit):
    """The counts that a plan would add noise to, of another table."""
    with session(data, unit) as other:
        table = other._tables.engine.run(plan.rows.totals(list(plan.measures.values())))
        keys = zip(*(table.column(f"k_{i}").to_pylist() for i in range(len(plan.key_names))), strict=True)
        (measure,) = plan.measures
        return dict(zip(keys, table.column(measure).to_pylist(), strict=True))


# The guarantee -----------------------------------------------------------------------------------------------------


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


def test_a_hierarchy_costs_what_was_asked_for():
    for unit in UNITS:
        with session(unit=unit) as own:
            plan = own.planned(TREE.format(""), epsilon=0.5)
            assert plan.loss.epsilon(float(plan.delta)) <= 0.5 * (1 + 1e-9)
            assert {m.squared_sensitivity for m in plan.joint.hierarchy.measurements} <= {
                factor * plan.joint.cost.records**2 for factor in (1, 2)
            }


# What is answered --------------------------------------------------------------------------------------------------


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


def test_a_hierarchy_adds_up_on_every_level():
    with session() as own:
        answer = own.release(TREE.format(""), epsilon=0.2)
        rows = {(row["state"], row["city"], row["sex"]): row["n"] for row in answer}
    assert all(isinstance(count, int) and count >= 0 for count in rows.values())
    for state in ("N", "D"):
        cities = [key for key in rows if key[0] == state and key[1] is not None and key[2] is None]
        assert sum(rows[key] for key in cities) == rows[state, None, None]
        assert rows[state, None, "f"] + rows[state, None, "m"] == rows[state, None, None]
    assert rows["N", None, None] + rows["D", None, None] == rows[None, None, None]
    micro = answer.microdata()
    assert len(micro["sex"]) == rows[None, None, None]


def test_what_is_exact_is_exact_and_said_to_be_outside_the_guarantee():
    unit = dp.Row(relation="replace_one")
    data = people()
    sql = TREE.format(", exact = 'state'")
    with session(data, unit, exact=[sql]) as own:
        answer = own.release(sql, epsilon=0.01)
        truth = data["state"].to_pylist().count("N")
        row = answer.row(state="N", city=None, sex=None)
        assert row["n"] == row["n_low"] == row["n_high"] == truth
        assert any("outside the guarantee" in note for note in answer.notes)
    with session(data) as own, pytest.raises(NoTheorem, match="add_remove"):
        own.preview(TREE.format(", exact = 'state'"), epsilon=1)


EXACT = TREE.format(", exact = 'state'")


@pytest.mark.parametrize(
    "other",
    [
        EXACT.replace("FROM people", "FROM people WHERE sex = 'f'"),
        TREE.format(", exact = 'state; city'"),
        TREE.format(", exact = 'city: sex'"),
        TREE.format(", exact = '*'"),
        TREE.format(", exact = 'state', rules = 'sex <> ''m'' '"),
        EXACT.replace("city, sex,", "sex AS city, city AS sex,"),
    ],
)
def test_only_the_curator_decides_what_is_exact(other):
    """Whoever asks could otherwise read everything off, exactly and for nothing."""
    unit = dp.Row(relation="replace_one")
    with session(unit=unit) as own, pytest.raises(InvalidParameter, match="whoever asks cannot decide"):
        own.preview(EXACT, epsilon=1)
    with session(unit=unit, exact=[EXACT]) as own:
        own.preview(EXACT, epsilon=1)
        own.preview(EXACT + " HAVING n > 3 LIMIT 2", epsilon=2)
        built = (
            own.query.group_by("state", "city", "sex")
            .agg(n=dp.count())
            .hierarchy(["state", "city"], tables=[(), ("sex",)], exact={"state": ()})
        )
        own.preview(built, epsilon=1)
        for ask in (own.preview, own.release):
            with pytest.raises(DiscreetError, match=r"whoever asks cannot decide|column of the table"):
                ask(other, epsilon=1e-9)
        fewer = own.query.group_by("state", "city", "sex", keys={"sex": ["f"]}).agg(n=dp.count())
        with pytest.raises(InvalidParameter, match="whoever asks cannot decide"):
            own.preview(fewer.hierarchy(["state", "city"], tables=[(), ("sex",)], exact={"state": ()}), epsilon=1)
        assert own.spent == 0
    with pytest.raises(InvalidParameter, match="list of queries"):
        session(unit=unit, exact=EXACT)


def test_impossible_groups_are_never_published():
    rule = ", rules = 'sex = ''f'' OR sex <> ''m'''"
    with session() as own:
        answer = own.release(TREE.format(rule), epsilon=0.01)
        assert set(answer.keys["sex"]) == {"f", None}
        assert all(
            answer.row(state=s, city=c, sex="f")["n"] == answer.row(state=s, city=c, sex=None)["n"]
            for s, c in itertools.product(("N", "D"), CITIES)
        )


def test_a_key_called_total_is_not_the_total():
    data = people().append_column("total", pa.array(["x" if i % 3 else "y" for i in range(400)]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = dp.Session(
            data,
            name="people",
            schema={**SCHEMA, "total": Values(["x", "y"])},
            unit=dp.Row(),
            budget=dp.Budget(1000, 1e-6),
        )
    with own:
        query = own.query.group_by("state", "total").agg(n=dp.count())
        plan = own.planned(query.hierarchy(["state"], tables=[(), ("total",)]), epsilon=1)
        assert len(plan.joint.hierarchy.measurements) == 4
        shares = query.hierarchy(["state"], tables=[(), ("total",)], shares=[[1, 1], [1, 1]])
        assert len(own.planned(shares, epsilon=1).joint.parts()) == 4
        both = own.planned(query.margins((), ("total",), ("state",)), epsilon=1)
        assert len(both.joint.parts()) == 3


@pytest.mark.parametrize("epsilon", [1.67, 3.49, 5.25, 11.7])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_intervals_of_hierarchies_hold_though_noise_is_whole(epsilon, level):
    """With one measured level an estimate is one whole number; false alarm below 1e-9."""
    with session(delta=1e-5) as own:
        sql = TREE.format(", shares = '0 0; 0 0; 0 1'")
        joint = own.planned(sql, epsilon=epsilon, delta=1e-5, level=level).joint
        inside = runs = 0
        for _ in range(60):
            keys, columns = joint.release({("N", "Oslo", "f"): 5000}, "n", 1 - level)
            rows = list(zip(keys["city"], keys["sex"], columns["n"].low, columns["n"].high, strict=True))
            told = [(low, high) for city, sex, low, high in rows if city == "Oslo" and sex == "m"]
            inside += sum(low <= 0 <= high for low, high in told)
            runs += len(told)
        assert inside >= binom.ppf(1e-11, runs, level)


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


def test_areas_are_those_of_a_public_table():
    areas = pa.table({"state": list(CITIES.values()), "city": list(CITIES)})
    with session(public={"areas": areas}) as own:
        answer = own.release(TREE.format(", areas = 'areas'"), epsilon=1)
        shown = {(row["state"], row["city"]) for row in answer if row["city"] is not None}
        assert shown == {(state, city) for city, state in CITIES.items()}
        with pytest.raises(InvalidParameter, match="private"):
            own.preview(TREE.format(", areas = 'people'"), epsilon=1)
        with pytest.raises(InvalidParameter, match="no table"):
            own.preview(TREE.format(", areas = 'nowhere'"), epsilon=1)


def test_shares_move_accuracy_between_levels():
    with session() as own:
        even = own.planned(TREE.format(""), epsilon=1).joint.deviations()
        top = own.planned(TREE.format(", shares = '100 1; 1 1; 1 1'"), epsilon=1).joint.deviations()
        assert top["everybody, total"] < even["everybody, total"]
        assert top["city, sex"] > even["city, sex"]


def test_releases_after_the_fact_look_at_released_values():
    with session() as own:
        answer = own.release(CUBE + " HAVING n > 100 ORDER BY n DESC LIMIT 3", epsilon=10)
        assert len(answer) == 3
        assert list(answer["n"]) == sorted(answer["n"], reverse=True)


# How far off it is -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("kind", ["margins", "prefixes", "ranges"])
def test_intervals_hold_as_often_as_they_say(noise, kind):
    """False alarm below 1e-9: each interval by itself, over 400 releases, and deviations by their sampling error."""
    from fractions import Fraction

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


# What is refused ---------------------------------------------------------------------------------------------------


OPTIONS = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({}) sex, COUNT(*) AS n FROM people GROUP BY {}"


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT sex, user, COUNT(*) AS n FROM people GROUP BY CUBE (sex, user)", "values of user"),
        ("SELECT sex, city, AVG(age) AS n FROM people GROUP BY CUBE (sex, city)", "counted"),
        ("SELECT sex, city, COUNT(*) AS n, COUNT(*) AS m FROM people GROUP BY CUBE (sex, city)", "counted"),
        (
            "SELECT sex, city, COUNT(*) AS n FROM people GROUP BY GROUPING SETS ((sex), ())",
            "Add it to GROUP BY",
        ),
        (
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(sums = 'x') sex, COUNT(*) AS n FROM people GROUP BY sex",
            "prefixes",
        ),
        (
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(method = 'x') sex, COUNT(*) AS n FROM people GROUP BY sex",
            "method",
        ),
        (
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(exact = 'x') sex, COUNT(*) AS n FROM people GROUP BY sex",
            "hierarchy",
        ),
        (OPTIONS.format("method = 1", "sex"), "quotes"),
        (OPTIONS.format("method = 'hierarchy'", "CUBE (sex)"), "levels in front"),
        (TREE.format(", shares = '1 1; 1 1'"), "shares have a row"),
        (TREE.format(", exact = 'sex'"), "no level"),
        (TREE.format(", rules = 'age > 3'"), "age|column"),
        (TREE.format(", rules = 'sex'"), "no condition"),
        (TREE.format(", rules = 'sex = 1'"), "another type"),
        (TREE.format(", rules = 'sex IN (''f'', 3)'"), "type"),
        (TREE.format(", rules = 'LOWER(sex) = ''f'' '"), "compares keys"),
        (TREE.format(", rules = 'sex LIKE ''f%'' '"), "compares keys"),
        (TREE.format(", rules = 'sex = ''f'' GROUP BY sex'"), "rule|SELECT|column"),
        ("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex WITH ROLLUP", "ROLLUP"),
    ],
)
def test_what_cannot_be_answered_together_is_refused(sql, words):
    with session(unit=dp.Row(relation="replace_one"), exact=[sql]) as own, pytest.raises(DiscreetError, match=words):
        own.preview(sql, epsilon=1)


def test_a_missing_key_needs_a_name():
    with session() as own:
        query = Query("people").group_by("sex", "city", keys={"sex": ["f", None]}).agg(n=dp.count())
        with pytest.raises(InvalidParameter, match="nulls: unknown"):
            own.preview(query.margins(("sex",), ("city",)), epsilon=1)


def test_named_nulls_are_a_value():
    data = pa.table({"sex": ["f", None, "m", None], "city": ["Oslo"] * 4})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = dp.Session(
            data,
            name="people",
            schema={"sex": Column("str", values=("f", "m", "unknown"), nulls="unknown"), "city": Values(["Oslo"])},
            unit=dp.Row(),
            budget=dp.Budget(1000, 1e-6),
        )
    with own:
        answer = own.release("SELECT sex, city, COUNT(*) AS n FROM people GROUP BY CUBE (sex, city)", epsilon=500)
        assert round(answer.row(sex="unknown", city=None)["n"]) == 2


def test_builders_refuse_what_is_not_there():
    query = Query("people").group_by("sex", "city").agg(n=dp.count())
    for wrong in (
        lambda: query.margins("sex"),
        lambda: query.margins(("age",)),
        lambda: query.margins(("sex",)),
        lambda: query.margins(),
        lambda: query.margins(order=3),
        lambda: query.ranges("all"),
        lambda: query.hierarchy([], tables=[()]),
        lambda: query.hierarchy(["city"], tables=[("city",)]),
        lambda: query.hierarchy(["city"], tables=[()], exact={"sex": ()}),
        lambda: query.hierarchy(["city"], tables=[("sex",), ("sex",)]),
        lambda: query.hierarchy(["city"], tables=[()], rules={"r": True}),
        lambda: query.hierarchy(["city"], tables=[()], shares=[[1]]),
        lambda: query.hierarchy(["city"], tables=[()], shares=[[1], [-1]]),
    ):
        with pytest.raises(InvalidParameter):
            wrong()


def test_a_hierarchy_without_a_delta_is_refused():
    with session(delta=0) as own, pytest.raises(InvalidParameter, match="delta"):
        own.preview(TREE.format(""), epsilon=1)


def test_too_much_is_refused_before_anything_is_spent():
    with session(delta=0) as own:
        wide = own.query.group_by("sex", "city", "state", keys={"city": range(3000), "state": range(3000)})
        with pytest.raises(DiscreetError):
            own.preview(wide.agg(n=dp.count()).margins(("sex",), ("city",), ("state",)), epsilon=1)
        assert own.spent == 0


def test_the_text_of_a_query_may_not_smuggle_options():
    with session() as own, pytest.raises(InvalidQuery):
        own.preview("SELECT sex, COUNT(*) AS n FROM people GROUP BY ROLLUP (sex), GROUPING SETS ()", epsilon=1)


@pytest.mark.parametrize("epsilon", [1e-300, 1e-6, 1e6])
def test_extreme_epsilons_are_answered_or_refused_in_words(epsilon):
    for delta in (0, 1e-6):
        with session(delta=delta, epsilon=10**7) as own:
            for sql in (CUBE, SUMS.format("ranges")):
                with nullcontext() if epsilon > 1e-100 else suppress(DiscreetError):
                    assert own.preview(sql, epsilon=epsilon)["n"].error > 0
