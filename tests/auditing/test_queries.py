"""Whole queries under audit: true claims stand, and queries with too little noise or too wide bounds do not."""

from dataclasses import replace
from fractions import Fraction

import pytest

import discreet as dp
import discreet.session.release as release
from discreet import audit, count
from discreet.auditing.queries import CopiedPlan, CopiedQuery, our_queries, table_neighbours
from discreet.auditing.registry import TIERS, examine, registered
from discreet.session.noise import Noise
from discreet.tables.bounding import Rows
from discreet.units import Person, Row

PERSON = Person("user", groups=1, rows=2)


def test_every_query_is_registered():
    names = {entry.name for entry in registered()}
    assert len(our_queries()) >= 10
    assert {entry.name for entry in our_queries()} <= names


@pytest.mark.parametrize("entry", our_queries(), ids=lambda entry: entry.name)
def test_no_claim_of_a_query_is_refuted(entry):
    assert not examine(entry, replace(TIERS["fast"], draws=3_000, seconds=1.0)).refuted


def examined(query, claims=None):
    return audit(
        lambda data: query.draw(data, 1)[0],
        claims=claims or query.claims,
        neighbours=list(table_neighbours(query.unit)),
        batch=query.draw,
        draws=20_000,
        seconds=600,
        alpha=1e-9,
    )


def test_a_plan_that_is_charged_for_one_query_alone_is_refuted():
    """What every query of a plan costs must be in its claim: two counts and a sum for the price of one count."""
    parts = ({"n": count()}, {"total": dp.sum("spent")}, {"again": count()})
    plan = CopiedPlan(tuple(CopiedQuery(part, PERSON) for part in parts), epsilon=3)
    with plan.queries[0].session([], 1) as session:
        one = session.planned(plan.queries[0].query(1), epsilon=1).loss
    assert not examined(plan).refuted
    assert examined(plan, one).refuted


@pytest.mark.parametrize("unit", [Row(), PERSON])
def test_half_the_noise_is_refuted(unit, monkeypatch):
    query = CopiedQuery({"total": dp.sum("spent")}, unit, epsilon=2)
    claims = query.claims
    whole = Noise.laplace.__func__
    monkeypatch.setattr(Noise, "laplace", classmethod(lambda cls, reach, e: whole(cls, reach, 2 * e)))
    found = audit(
        lambda data: query.draw(data, 1)[0],
        claims=claims,
        neighbours=list(table_neighbours(unit)),
        batch=query.draw,
        draws=40_000,
        seconds=600,
        alpha=1e-9,
    )
    assert found.refuted


def test_rows_above_the_bound_are_refuted(monkeypatch):
    query = CopiedQuery({"n": count()}, PERSON, epsilon=2)
    claims = query.claims
    bounded = Rows._bounded
    monkeypatch.setattr(Rows, "_bounded", lambda self, m: bounded(self, m).replace("> 2 THEN", "> 2000 THEN"))
    found = audit(
        lambda data: query.draw(data, 1)[0],
        claims=claims,
        neighbours=list(table_neighbours(PERSON)),
        batch=query.draw,
        draws=20_000,
        seconds=600,
        alpha=1e-9,
    )
    assert found.refuted


def test_showing_every_group_is_refuted(monkeypatch):
    query = CopiedQuery(
        {"n": count()}, Person("user", groups=2, rows=2), epsilon=2, delta=Fraction(1, 100), private_cities=True
    )
    claims = query.claims
    monkeypatch.setattr(release._Run, "_selected", lambda self, totals: sorted(totals))
    found = audit(
        lambda data: query.draw(data, 1)[0],
        claims=claims,
        neighbours=list(table_neighbours(query.unit)),
        batch=query.draw,
        draws=5_000,
        seconds=600,
        alpha=1e-9,
    )
    assert found.refuted
