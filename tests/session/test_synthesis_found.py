"""Synthetic copies of columns that nobody listed: values and bins are found privately first, and charged."""

from itertools import pairwise

import pyarrow as pa
import pytest
from synthesis_people import CITIES, SCHEMA, people, session

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.session.synthesis.methods import METHODS

WANTED = {"city": {"categories": 10}, "age": {"quantiles": 4}, "sex": None}
UNLISTED = {name: one for name, one in SCHEMA.items() if name != "city"}


@pytest.fixture(scope="module")
def made():
    rare = people(600).set_column(2, "city", [[*["rare"] * 2, *[CITIES[i % 3] for i in range(598)]]])
    with session(rare, schema=UNLISTED, epsilon=20) as opened:
        planned, original = [], opened._steps
        opened._steps = lambda *wanted: planned.append(original(*wanted)) or planned[-1]
        copy = opened.synthesize(epsilon=10, columns=WANTED, method="table")
        yield copy, planned[0], opened.spent, opened.account


def test_values_that_enough_people_have_are_found(made):
    copy = made[0]
    city, age, sex = copy.codings
    assert set(city.values) == set(CITIES)
    assert (city.source, age.source, sex.source) == ("released", "released", "declared")
    assert "rare" not in copy.rows()["city"]
    assert "rare" not in copy.to_json()
    assert any("too few people" in note for note in copy.notes)


def test_bins_have_about_equal_mass(made):
    age = made[0].codings[1]
    ages = people(600)["age"].to_pylist()
    assert age.edges[0] == 0
    assert age.edges[-1] == 99
    shares = [sum(low <= one < high for one in ages) / 600 for low, high in pairwise(age.edges)]
    assert all(0.1 < share < 0.45 for share in shares)


def test_all_steps_are_told_and_charged_together(made):
    copy, steps, spent, account = made
    told = [what for what, _, _ in copy.steps]
    assert told[0] == "city: its values, privately"
    assert told[1] == "age: edges of 4 bins of equal mass"
    assert told[2].startswith("measuring: synthetic rows by one table of everything")
    assert copy.loss.terms == steps.loss.terms == dp.PrivacyLoss.total([plan.loss for plan in steps.plans]).terms
    assert spent == account.cost(steps.charged).amount
    assert copy.loss.epsilon(copy.parameters["delta"]) <= 10


def test_the_preview_tells_the_steps(made):
    told = made[1].forecast("something left")
    assert [one.name for one in told.columns][:2] == ["city (preparation)", "age (preparation)"]
    assert sum(one.share for one in told.columns) == pytest.approx(1)


def test_values_cannot_be_found_without_a_delta():
    with session(schema=UNLISTED, delta=0) as opened, pytest.raises(InvalidParameter, match="delta above 0"):
        opened.synthesize(epsilon=1, columns=["city", "sex"])


def test_rules_about_values_that_nobody_knows_are_refused():
    with session(schema=UNLISTED) as opened, pytest.raises(InvalidParameter, match="found privately"):
        opened.synthesize(epsilon=1, columns=["city"], constraints=["city <> 'Oslo'"])


def test_a_column_of_which_nothing_may_be_shown_is_missing_everywhere():
    table = pa.table({"name": [f"canary-{i}" for i in range(200)], "ok": [True] * 200})
    with session(table, unit=dp.Row(), schema={}) as opened:
        copy = opened.synthesize(epsilon=1, columns=["name", "ok"], method="table")
    assert copy.codings[0].values == ()
    assert set(copy.rows()["name"]) == {None}
    assert any("No value of name could be shown" in note for note in copy.notes)
    assert "canary" not in copy.to_json()


@pytest.mark.parametrize("method", [name for name, one in METHODS.items() if one.pure is False or name == "table"])
def test_every_method_keeps_its_price_when_values_are_found(method):
    """What is found decides sizes; a loss that depended on them would be refused after it was paid."""
    with session(people(600), schema=UNLISTED, epsilon=20) as opened:
        copy = opened.synthesize(epsilon=5, columns=WANTED | {"income": {"bins": 6}}, method=method)
        assert len(copy.codings) == 4
        assert copy.loss.epsilon(copy.parameters["delta"]) <= 5
