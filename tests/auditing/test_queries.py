"""Whole queries under audit: true claims stand, and queries with too little noise or too wide bounds do not."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
import discreet.session.release as release
from discreet import audit, count
from discreet.auditing.queries import MISSING, CopiedPlan, CopiedQuery, our_queries, table_neighbours
from discreet.auditing.registry import TIERS, examine, registered
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.smooth_interval import SmoothInterval
from discreet.mechanisms.tested_quantile import TestedQuantile
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
    assert not examine(entry, replace(TIERS["fast"], draws=600, seconds=None)).refuted


def examined(query, claims=None):
    return audit(
        lambda data: query.draw(data, 1)[0],
        claims=claims or query.claims,
        neighbours=list(table_neighbours(query.unit)),
        batch=query.draw,
        draws=5_000,
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
        alpha=1e-9,
    )
    assert found.refuted


def test_showing_every_group_is_refuted(monkeypatch):
    query = CopiedQuery(
        {"n": count()}, Person("user", groups=2, rows=2), epsilon=2, delta=Fraction(1, 100), private_cities=True
    )
    claims = query.claims
    monkeypatch.setattr(release._Run, "_chosen", lambda self, units: pa.array([True] * len(units), type=pa.bool_()))
    found = audit(
        lambda data: query.draw(data, 1)[0],
        claims=claims,
        neighbours=list(table_neighbours(query.unit)),
        batch=query.draw,
        draws=5_000,
        alpha=1e-9,
    )
    assert found.refuted


BY_NAME = {entry.name: entry for entry in our_queries()}
TIER = replace(TIERS["fast"], draws=3_000, seconds=None)


def test_all_that_is_told_is_looked_at():
    """A value and both ends for each column; and no value is not the value 0."""
    entry = BY_NAME["query: median, tested"]
    outputs = entry.batch(entry.neighbours[0][0], 200)
    assert outputs.shape == (200, 3)
    assert np.mean(outputs[:, 0] == MISSING) > 0.5
    shown = BY_NAME["query: median, smooth"].batch([], 50)
    assert np.all((shown[:, 0] - shown[:, 1] >= 0) & (shown[:, 0] + shown[:, 2] <= 10))


def test_the_test_before_a_release_is_in_doubt_on_some_neighbours():
    for name in ("query: median, tested", "query: median, tested, replaced"):
        refused = [np.mean(BY_NAME[name].batch(data, 300)[:, 0] == MISSING) for data in BY_NAME[name].neighbours[-1]]
        assert all(0.02 < part < 0.6 for part in refused)


@pytest.mark.parametrize("name", ["query: median, smooth", "query: median, smooth, replaced"])
def test_ends_that_tell_the_noise_are_refuted(name, monkeypatch):
    """The value is as private as ever, but the interval says how large its noise was."""
    entry, scale = BY_NAME[name], SmoothInterval.scale.fget
    monkeypatch.setattr(SmoothInterval, "scale", property(lambda self: scale(self) / 10**9))
    assert examine(entry, TIER).refuted


@pytest.mark.parametrize("name", ["query: median, tested", "query: median, tested, replaced"])
def test_a_thousandth_of_the_noise_after_a_test_is_refuted(name, monkeypatch):
    entry, noise = BY_NAME[name], TestedQuantile.noise.fget
    less = property(lambda self: Geometric(sensitivity=self.bound, scale=noise(self).scale / 1000))
    monkeypatch.setattr(TestedQuantile, "noise", less)
    assert examine(entry, TIER).refuted


def test_a_release_without_its_test_is_refuted(monkeypatch):
    monkeypatch.setattr(TestedQuantile, "threshold", property(lambda self: -(10**6)))
    assert examine(BY_NAME["query: median, tested"], TIER).refuted
