"""How numbers are spread, through the session: bins that a tree chooses, and counts below the edges of a grid."""

import itertools
import math
import warnings

import numpy as np
import pyarrow as pa
import pytest
from joint_people import UNITS
from scipy.stats import binom

import discreet as dp
from discreet.errors import DiscreetError, InvalidParameter
from discreet.mechanisms.priv_tree import path_loss
from discreet.tables import Bounds, Values

TREE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(method = 'tree') {0}, COUNT(*) AS n FROM points GROUP BY {0}"
CDF = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(sums = 'cdf') {0}, COUNT(*) AS n FROM points GROUP BY {0}"
SCHEMA = {"x": Bounds(0, 1000), "y": Bounds(-8, 8), "age": Bounds(0, 100), "sex": Values(["f", "m"])}
IDS = ["rows", "rows-replaced", "persons", "persons-replaced"]


def points(rows=2000, users=800):
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "user": rng.integers(0, users, rows),
            "x": rng.lognormal(3, 1, rows),
            "y": rng.normal(0, 1, rows),
            "age": rng.integers(0, 101, rows),
            "sex": rng.choice(["f", "m"], rows).tolist(),
        }
    )


def session(data=None, unit=UNITS[0], epsilon=1000, delta=0.0, **changes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dp.Session(
            points() if data is None else data,
            name="points",
            schema=SCHEMA,
            unit=unit,
            budget=dp.Budget(epsilon=epsilon, delta=delta),
            **changes,
        )


# The guarantee -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("sql", [TREE.format("x"), TREE.format("x, y"), CDF.format("age")])
@pytest.mark.parametrize("unit", UNITS, ids=IDS)
def test_the_loss_is_what_was_asked_for(unit, sql, delta):
    with session(unit=unit, delta=delta) as own:
        forecast, answer = own.preview(sql, epsilon=0.5), own.release(sql, epsilon=0.5)
        plan = own.planned(sql, epsilon=0.5)
        assert plan.loss.relation == unit.relation
        assert plan.joint.cost.records == (1 if isinstance(unit, dp.Row) else 6)
        assert 0.4 < plan.loss.epsilon(float(plan.delta)) <= 0.5 * (1 + 1e-9)
        assert answer.loss.to_json() == forecast.loss.to_json()
        assert own.spent > 0


@pytest.mark.parametrize("unit", UNITS, ids=IDS)
@pytest.mark.parametrize("sql", [TREE.format("x, y"), CDF.format("age")])
def test_one_unit_moves_the_counts_of_cells_by_no_more_than_its_records(unit, sql):
    rng = np.random.default_rng(7)
    base = points(30, 5).to_pylist()

    def exact(plan, rows):
        table = pa.Table.from_pylist(rows, schema=points(1).schema)
        with session(table, unit) as other:
            found = other._tables.engine.run(plan.rows.totals(list(plan.measures.values())))
            keys = zip(*(found.column(f"k_{i}").to_pylist() for i in range(len(plan.key_names))), strict=True)
            (measure,) = plan.measures
            return dict(zip(keys, found.column(measure).to_pylist(), strict=True))

    with session(points(30, 5), unit) as own:
        plan = own.planned(sql, epsilon=1)
        records, before = plan.joint.cost.records, exact(plan, base)
        for _ in range(3):
            mine = [row for row in base if isinstance(unit, dp.Person) and row["user"] == 3] or base[:1]
            rest = [row for row in base if not any(row is own for own in mine)]
            many = 1 if isinstance(unit, dp.Row) else int(rng.integers(0, 20))
            places = [float("nan"), None, -1e300, 1e300, 5.0, 500.0]
            new = [
                {**mine[0], "x": places[rng.integers(6)], "y": float(rng.normal()), "age": int(rng.integers(-9, 200))}
                for _ in range(many)
            ]
            after = exact(plan, rest + (new if unit.relation == "replace_one" else []))
            moves = [after.get(cell, 0) - before.get(cell, 0) for cell in {*after, *before}]
            assert -sum(move for move in moves if move < 0) <= records
            gained = sum(move for move in moves if move > 0)
            assert gained <= (records if unit.relation == "replace_one" else 0)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("records", [1, 2, 3])
def test_no_tree_changes_its_probability_by_more_than_its_share_of_epsilon(relation, records):
    """All trees of depth 3 over eight cells, and all ways in which records come, go, and move, by brute force."""
    unit = dp.Row(relation=relation)
    schema = {"k": Bounds(0, 7)}
    with dp.Session(pa.table({"k": [1]}), name="points", schema=schema, unit=unit, budget=dp.Budget(1000)) as own:
        joint = own.planned(TREE.format("k"), epsilon=4).joint
    joint = type(joint)(joint.names_of_keys, joint.grids, _cost(relation, records, 4))
    tree, counts = joint.mechanism, [0, 0, 9, 0, 1, 0, 0, 30]
    assert tree.depth == 3
    limit = records * float(tree.share) * float(tree.epsilon) * (1 + 1e-9)
    base, worst = _trees(tree, counts), 0.0
    lost = [(), (7,), (2,), (7, 2), (7, 7), (4, 7, 7)]
    gained = [(), (7,), (2,), (7, 7), (2, 2), (0, 2, 7)]
    ways = (
        itertools.product(lost, gained)
        if relation == "replace_one"
        else [(a, ()) for a in lost] + [((), b) for b in gained]
    )
    for gone, come in ways:
        if max(len(gone), len(come)) > records:
            continue
        other = list(counts)
        for cell in gone:
            other[cell] -= 1
        for cell in come:
            other[cell] += 1
        moved = _trees(tree, other)
        assert moved.keys() == base.keys()
        worst = max(worst, *(abs(math.log(moved[one] / base[one])) for one in base))
    assert 0.3 * limit < worst <= limit


def _cost(relation, records, epsilon):
    from fractions import Fraction

    from discreet.session.joint import Budgeted

    return Budgeted(relation, records, epsilon=Fraction(epsilon))


def _trees(tree, counts, depth=0, place=0):
    """The probability of every tree below a box, by the boxes that are split."""
    width = len(counts) >> depth
    chance = tree.split_probability(sum(counts[place * width : (place + 1) * width]), depth)
    found = {frozenset(): 1 - chance}
    if depth < tree.depth:
        left, right = (_trees(tree, counts, depth + 1, 2 * place + side) for side in (0, 1))
        for (a, p), (b, q) in itertools.product(left.items(), right.items()):
            found[frozenset({(depth, place)}) | a | b] = chance * p * q
    return {one: p for one, p in found.items() if p > 0}


@pytest.mark.parametrize("nodes", range(1, 12))
@pytest.mark.parametrize("scale", [0.3, 1, 4.3, 40])
def test_a_record_that_comes_costs_no_more_than_one_that_moves(scale, nodes):
    """Under replace_one a row may come from what is not counted, or go there."""
    decay = max(1, math.ceil(scale * math.log(2)))
    assert path_loss(scale, decay, nodes) <= path_loss(scale, decay, nodes, moved=True) * (1 + 1e-12)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("records", [1, 3])
def test_nodes_of_counts_below_edges_move_by_what_the_loss_says(noise, relation, records):
    """Every way to place a unit's records among four cells or nowhere, on both sides."""
    from fractions import Fraction

    from discreet.mechanisms.quantile_tree import level_weights
    from discreet.session.cumulative import JointCdf
    from discreet.session.joint import amounts
    from discreet.tables.fine import Fine
    from discreet.tables.kinds import Interval

    (cost,) = amounts(Fraction(1), Fraction(1, 10**6), noise, relation, records)
    joint = JointCdf(("k",), Fine.over(Interval.of(0, 3), whole=True, count=4), cost)
    tree = joint.mechanism.tree
    ((term, _),) = joint.loss.terms
    law, size = tree.noise
    worst = 0

    def nodes(places):
        leaves = np.zeros(tree.leaves, dtype=np.int64)
        for place in places:
            leaves[place] += place < 4
        leaves[4:] = 0
        return np.concatenate(level_weights(leaves, tree.branching, tree.levels))

    sides = [nodes(p) for p in itertools.combinations_with_replacement(range(min(5, tree.leaves)), records)]
    others = sides if relation == "replace_one" else [np.zeros_like(sides[0])]
    for one, other in itertools.product(sides, others):
        gap = np.abs(one - other)
        worst = max(worst, int(gap.sum() if law == "laplace" else (gap**2).sum()))
    assert worst == (term.sensitivity if law == "laplace" else term.squared_sensitivity)
    assert Fraction(size) == (term.scale if law == "laplace" else size)
    if law == "gaussian":
        assert term.sigma_squared == Fraction(size) ** 2
        assert term.rho <= cost.rho


# What is answered --------------------------------------------------------------------------------------------------


def test_bins_fill_the_bounds_and_hold_their_rows():
    data = points()
    x, y = np.array(data["x"].to_pylist()), np.array(data["y"].to_pylist())
    with session(data) as own:
        line, plane = own.release(TREE.format("x"), epsilon=100), own.release(TREE.format("x, y"), epsilon=100)
    assert list(line.keys) == ["x_from", "x_to"]
    assert line["x_from"][0] == 0
    assert line["x_to"][-1] == 1000
    assert (line["x_from"][1:] == line["x_to"][:-1]).all()
    for row in line:
        assert abs(row["n"] - ((x >= row["x_from"]) & (x < row["x_to"])).sum()) <= 2
    area = sum((row["x_to"] - row["x_from"]) * (row["y_to"] - row["y_from"]) for row in plane)
    assert math.isclose(area, 16_000)
    for row in plane:
        inside = (x >= row["x_from"]) & (x < row["x_to"]) & (y >= row["y_from"]) & (y < row["y_to"])
        assert abs(row["n"] - inside.sum()) <= 2
    assert min(plane["x_to"] - plane["x_from"]) < 20 < 100 < max(plane["x_to"] - plane["x_from"])


def test_bins_of_whole_numbers_have_whole_ends():
    data = points()
    ages = np.array(data["age"].to_pylist())
    with session(data) as own:
        answer = own.release(TREE.format("age"), epsilon=100)
        again = dp.Answer.from_json(answer.to_json())
        assert again.rows == answer.rows
        assert list(answer.to_arrow().column("age_from").to_pylist()) == list(answer["age_from"])
    assert all(type(row["age_from"]) is type(row["age_to"]) is int for row in answer)
    assert (answer["age_from"][0], answer["age_to"][-1]) == (0, 101)
    for row in answer:
        assert abs(row["n"] - ((ages >= row["age_from"]) & (ages < row["age_to"])).sum()) <= 2


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_counts_below_edges_are_those_of_the_rows_below(delta):
    data = points()
    ages = np.array(data["age"].to_pylist())
    with session(data, delta=delta) as own:
        answer = own.release(CDF.format("age"), epsilon=100)
        assert list(answer["age_below"]) == list(range(1, 102))
        assert np.abs(answer["n"] - [(ages < edge).sum() for edge in answer["age_below"]]).max() < 6
        assert (np.diff(answer["n"]) >= 0).all()
        assert len(own.release(CDF.format("x"), epsilon=1)) == 1024


def test_what_is_no_number_counts_nowhere_and_takes_no_place():
    """A person's rows without a number must not use up the groups that she may count in."""
    rows = 60
    data = pa.table(
        {
            "user": [i // 3 for i in range(rows)],
            "x": [float("nan") if i % 3 == 0 else None if i % 3 == 1 else 5.0 for i in range(rows)],
            "y": [0.0] * rows,
            "age": [1] * rows,
            "sex": ["f"] * rows,
        }
    )
    with session(data, dp.Person("user", groups=1, rows=1)) as own:
        assert abs(sum(own.release(TREE.format("x"), epsilon=200)["n"]) - 20) < 3
        assert abs(own.release(CDF.format("x"), epsilon=200)["n"][-1] - 20) < 3


def test_the_builder_asks_the_same():
    with session() as own:
        query = own.query.group_by("x").agg(n=dp.count())
        assert own.planned(query.adaptive(), epsilon=1).joint == own.planned(TREE.format("x"), epsilon=1).joint
        assert own.planned(query.cumulative(), epsilon=1).joint == own.planned(CDF.format("x"), epsilon=1).joint
        assert repr(query.cumulative()).endswith(".cumulative()")
        clipped = own.query.group_by(z=(dp.col("x") * 2).clip(0, 10)).agg(n=dp.count()).adaptive()
        assert own.planned(clipped, epsilon=1).joint.shown == ("z_from", "z_to")


def test_an_empty_table_has_an_answer():
    with session(points().slice(0, 0)) as own:
        for sql in (TREE.format("x"), TREE.format("x, y"), CDF.format("x")):
            assert len(own.release(sql, epsilon=1)) >= 1


def test_released_bins_are_sorted_and_cut_by_their_own_columns():
    with session() as own:
        query = own.query.group_by("x").agg(n=dp.count()).adaptive().order_by("x_from", descending=True).limit(3)
        answer = own.release(query, epsilon=1)
        assert len(answer) == 3
        assert list(answer["x_from"]) == sorted(answer["x_from"], reverse=True)


# How far off it is -------------------------------------------------------------------------------------------------


def test_intervals_of_bins_hold_as_often_as_they_say():
    """Each count has its own noise: false alarm below 1e-9."""
    data = points(300)
    x = np.array(data["x"].to_pylist())
    with session(data) as own:
        joint = own.planned(TREE.format("x"), epsilon=1).joint
        counts = {}
        for value in x:
            key = (joint.grids[0].place(value),)
            counts[key] = counts.get(key, 0) + 1
        level, inside, runs = 0.8, 0, 0
        for _ in range(100):
            keys, columns = joint.release(counts, "n", 1 - level)
            for low, high, a, b in zip(*keys.values(), columns["n"].low, columns["n"].high, strict=True):
                inside += a <= ((x >= low) & (x < high)).sum() <= b
                runs += 1
        assert inside >= binom.ppf(1e-10, runs, level)
        assert joint.error(0.05) == own.preview(TREE.format("x"), epsilon=1)["n"].error


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_the_error_holds_at_all_edges_at_once(noise):
    """At a level of one half more than 9 of 10 of 100 releases stay within: Chernoff's bound is on the safe side."""
    with session(delta=1e-6) as own:
        joint = own.planned(CDF.format("age"), epsilon=1, noise=noise).joint
        truth = np.cumsum([10 if age == 50 else 0 for age in range(101)])
        off = joint.error(0.5)
        made = [joint.release({(50,): 10}, "n", 0.5)[1]["n"].value for _ in range(100)]
        assert sum(np.abs(np.array(one) - truth).max() <= off for one in made) >= 50
        assert max(np.abs(np.array(one) - truth).max() for one in made) > off / 20


def test_an_error_that_is_asked_for_is_kept():
    with session() as own:
        for sql in (TREE.format("x"), CDF.format("x")):
            assert 20 < own.preview(sql, error={"n": 25})["n"].error <= 25


# What is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (TREE.format("sex"), "type str"),
        (TREE.format("user"), "no bounds"),
        (TREE.format("x, y, age"), "one or two numbers"),
        (CDF.format("x, y"), "one number"),
        (TREE.format("x").replace("COUNT(*)", "AVG(y)"), "counted"),
        (TREE.format("x").replace("GROUP BY x", "GROUP BY CUBE (x)"), "one or two numbers"),
        (TREE.format("x").replace("'tree'", "'tree', sums = 'cdf'"), "one or two numbers"),
        (TREE.format("x").replace("'tree'", "'tree', exact = 'x'"), "option of a hierarchy"),
        (CDF.format("x").replace("'cdf'", "'sums'"), "'cdf'"),
        (CDF.format("x").replace("BY x", "BY x HAVING x > 3"), "x"),
    ],
)
def test_what_cannot_be_spread_is_refused(sql, words):
    with session() as own, pytest.raises(DiscreetError, match=words):
        own.preview(sql, epsilon=1)


def test_a_tree_has_laplace_noise():
    with session(delta=1e-6) as own:
        with pytest.raises(InvalidParameter, match="Laplace"):
            own.preview(TREE.format("x"), epsilon=1, noise="gaussian")
        query = own.query.group_by("age", keys={"age": [1, 2]}).agg(n=dp.count())
        with pytest.raises(InvalidParameter, match="list none"):
            own.preview(query.adaptive(), epsilon=1)
        assert own.spent == 0
