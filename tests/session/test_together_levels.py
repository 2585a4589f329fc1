"""Hierarchies of areas through the session: what is whole, exact, impossible, and how accurate."""

import itertools
import time
import warnings

import pyarrow as pa
import pytest
from joint_people import CITIES, CUBE, SCHEMA, TREE, UNITS, people, session
from scipy.stats import binom

import discreet as dp
from discreet.errors import DiscreetError, InvalidParameter, NoTheorem
from discreet.synthetic.hierarchy import Hierarchy
from discreet.tables import Values


def test_a_hierarchy_costs_what_was_asked_for():
    for unit in UNITS:
        with session(unit=unit) as own:
            plan = own.planned(TREE.format(""), epsilon=0.5)
            assert plan.loss.epsilon(float(plan.delta)) <= 0.5 * (1 + 1e-9)
            assert {m.squared_sensitivity for m in plan.joint.hierarchy.measurements} <= {
                factor * plan.joint.cost.records**2 for factor in (1, 2)
            }


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


def test_a_hierarchy_without_a_delta_is_refused():
    with session(delta=0) as own, pytest.raises(InvalidParameter, match="delta"):
        own.preview(TREE.format(""), epsilon=1)


@pytest.mark.parametrize("deadline", [0, 3600])
def test_a_deadline_cuts_only_the_fit_short(deadline):
    with session() as own:
        with_one, without = (own.planned(TREE.format(""), epsilon=1, deadline=when) for when in (deadline, None))
        assert with_one.joint.seconds == deadline
        assert with_one.loss.to_json() == without.loss.to_json()
        assert with_one.joint == without.joint
        answer = own.release(TREE.format(""), epsilon=0.05, deadline=deadline)
        rows = {(row["state"], row["city"], row["sex"]): row["n"] for row in answer}
        assert rows["N", None, None] + rows["D", None, None] == rows[None, None, None]
        assert any("cut the fit short" in note for note in answer.notes) == (deadline == 0)


def test_time_counts_from_when_everything_was_measured(monkeypatch):
    """However long the data take, the fit has its seconds: hours spent on measuring cut nothing short."""
    with session() as own:
        joint = own.planned(TREE.format(""), epsilon=1, deadline=60).joint
        measure, now, late = Hierarchy.measure, time.monotonic, [0.0]

        def slow(self, data):
            measured = measure(self, data)
            late[0] += 10_000.0
            return measured

        monkeypatch.setattr(Hierarchy, "measure", slow)
        monkeypatch.setattr(time, "monotonic", lambda: now() + late[0])
        told = []
        _, notes = joint.publish({("N", "Oslo", "f"): 50}, "n", 0.05, lambda *one: told.append(one))
        assert notes == ()
        assert [phase for phase, _, _ in told][:2] == ["measure", "estimate"]
        assert told[-1] == ("round", 3, 3)


@pytest.mark.parametrize("deadline", [-1, float("nan"), float("inf"), "soon"])
def test_a_deadline_is_a_number_of_seconds(deadline):
    with session() as own, pytest.raises(InvalidParameter, match="deadline"):
        own.preview(TREE.format(""), epsilon=1, deadline=deadline)


def test_only_a_hierarchy_has_a_deadline():
    with session() as own, pytest.raises(InvalidParameter, match="for hierarchies"):
        own.preview(CUBE, epsilon=1, deadline=3)


def test_a_bar_of_somebody_else_is_shown_how_far_it_is():
    shown = []
    with session(progress=lambda words, share: shown.append((words, share))) as own:
        own.release(TREE.format(""), epsilon=1)
    assert ("round", 1.0) in shown
    assert all(share is None or 0 <= share <= 1 for _, share in shown)  # None where nothing can tell
