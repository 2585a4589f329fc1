"""Intervals of counts that are answered together, and of the margins of synthetic copies, hold as often as they say.

The same release again and again; each count is checked by itself, with a false alarm of ``ALARM`` for each, and the
bins that a tree chooses all together, as each has noise of its own. In `make test` there are few releases of each.
"""

import warnings
from typing import get_args

import pytest
from coverage_reference import allowed
from joint_coverage_reference import NOISES, queries, session, tally

import discreet as dp
from discreet.session.joint import Joint
from discreet.session.synthesis.methods import METHODS, available
from discreet.tables.together import Asked, Spread, Synthetic, Together

FEW, MANY, SOME = 25, 2000, 200
EPSILONS = (0.5, 50)
WAYS = [
    (name, noise)
    for name in ("margins", "ranges", "prefixes", "levels", "bins", "cdf")
    for noise in NOISES
    if (name, noise) not in {("levels", "laplace"), ("bins", "gaussian")}
]
COPIES = [(name, delta) for name in available() for delta in (0, 1e-6) if delta or METHODS[name].pure]


@pytest.fixture(scope="module")
def opened():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dp.NotDurableWarning)
        return session()


def wrong(name, answers):
    made, missed = tally(name, answers)
    assert made
    return {cell: (made[cell], count) for cell, count in missed.items() if count > allowed(made[cell])}


def released(opened, name, noise, epsilon, times):
    query = queries(opened.query)[name]
    return [opened.release(query, epsilon=epsilon, delta=1e-6, noise=noise) for _ in range(times)]


def copies(opened, method, delta, epsilon, times):
    wanted = {"sex": None, "city": None}
    for _ in range(times):
        made = opened.synthesize(epsilon=epsilon, delta=delta, columns=wanted, method=method)
        yield from (made.marginal("sex"), made.marginal("city"), made.marginal("sex", "city"))


def test_every_way_of_answering_together_is_here(opened):
    asked = [one.together for one in queries(opened.query).values()]
    assert {type(one) for one in asked} | {Synthetic} == set(get_args(Together))
    assert {one.asked for one in asked if hasattr(one, "asked")} == {
        *get_args(Asked),
        *get_args(Spread.__annotations__["asked"]),
    }
    assert {name for name, _ in WAYS} == set(queries(opened.query))
    assert {name for name, _ in COPIES} == set(METHODS)


@pytest.mark.parametrize(("name", "noise"), WAYS)
def test_intervals_of_counts_together_hold(opened, name, noise):
    assert not wrong(name, released(opened, name, noise, 0.5, FEW))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "noise"), WAYS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_they_hold_in_thousands_of_releases(opened, name, noise, epsilon):
    assert not wrong(name, released(opened, name, noise, epsilon, MANY))


@pytest.mark.parametrize(("method", "delta"), [one for one in COPIES if one[0] in ("table", "bayes")])
def test_intervals_of_margins_of_copies_hold(opened, method, delta):
    assert not wrong(method, copies(opened, method, delta, 0.5, FEW // 2))


@pytest.mark.slow
@pytest.mark.parametrize(("method", "delta"), COPIES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_they_hold_for_every_synthesizer(opened, method, delta, epsilon):
    assert not wrong(method, copies(opened, method, delta, epsilon, SOME))


def test_intervals_of_a_quarter_of_the_width_would_be_caught(opened, monkeypatch):
    from discreet.session import sums

    kept = sums.half_width
    monkeypatch.setattr(sums, "half_width", lambda kind, beta: kept(kind, beta) / 4)
    assert issubclass(sums.JointSums, Joint)
    assert wrong("ranges", released(opened, "ranges", "gaussian", 0.5, FEW))
