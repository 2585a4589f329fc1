"""The census job as a whole: what holds in every run, and how near the truth it is."""

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidInput, InvalidParameter, NoTheorem, RelationMismatch
from discreet.synthetic.hierarchy import Cells, Hierarchy, Spine
from discreet.synthetic.hierarchy import hierarchy as room
from discreet.testing import check_mechanism

SPINE = Spine(
    levels=("state", "county", "block"),
    leaves=tuple((s, c, b) for s, c, n in [(0, 0, 3), (0, 1, 1), (1, 0, 4)] for b in range(n)),
)
CELLS = Cells(
    attributes={"age": (10, 30, 70), "role": ("householder", "spouse", "child"), "sex": ("f", "m")},
    rules={"a spouse is at least 15": lambda c: c["age"] >= 15 or c["role"] == "child"},
)
QUERIES = {"total": (), "sex": ("sex",), "age, sex": ("age", "sex"), "all": ("age", "role", "sex")}
INVARIANTS = [{}, {"state": ()}, {"county": ()}, {"block": ()}, {"state": ("age", "sex"), "block": ("sex",)}]
SHARES = [None, {"state": {"total": 1, "all": 2}, "county": {"sex": 1}, "block": {"all": 1, "age, sex": 3}}]


def make(**settings):
    relation = "replace_one" if settings.get("invariants") else "add_remove"
    chosen = {"spine": SPINE, "cells": CELLS, "queries": QUERIES, "rho": 0.5, "relation": relation, **settings}
    return Hierarchy(**chosen)


def people(seed, mean=1.5):
    random = np.random.default_rng(seed)
    return random.poisson(mean, (len(SPINE.leaves), *CELLS.shape)) * random.integers(0, 2, (len(SPINE.leaves), 1, 1, 1))


def on_levels(leaves, spine=SPINE):
    """Return the sums of leaves on each level, by paths."""
    sums = []
    for level in spine.levels:
        depth = spine.depth(level) + 1
        sums.append(
            np.stack(
                [
                    sum(row for row, path in zip(leaves, spine.leaves, strict=True) if path[:depth] == node)
                    for node in spine.nodes(level)
                ]
            )
        )
    return sums


def broken_promises(hierarchy, data, release):
    """Return what a release should keep and does not."""
    broken = []
    truth, leaves = on_levels(data[:, CELLS.allowed]), release.counts[SPINE.levels[-1]]
    for level, true, sums in zip(SPINE.levels, truth, on_levels(leaves), strict=True):
        counts = release.counts[level]
        if counts.shape[1] != CELLS.count or counts.dtype.kind != "i" or counts.min() < 0:
            broken.append(f"{level}: whole counts of possible cells")
        if not np.array_equal(counts, sums):
            broken.append(f"{level}: the sum of its parts")
        attributes = hierarchy.invariants.get(level)
        if attributes is not None:
            labels = CELLS.labels(attributes)
            sums = [[x[:, labels == g].sum(axis=1).tolist() for g in range(labels.max() + 1)] for x in (counts, true)]
            if sums[0] != sums[1]:
                broken.append(f"{level}: invariant {attributes}")
    return broken


@settings(max_examples=25)
@given(
    st.integers(0, 2**32),
    st.sampled_from(INVARIANTS),
    st.sampled_from([*SHARES, {"state": {"all": 1}}, {"block": {"total": 1}}]),
    st.sampled_from([0.01, 0.5, 20]),
)
def test_every_release_keeps_every_promise(seed, invariants, shares, rho):
    hierarchy, data = make(invariants=invariants, shares=shares, rho=rho), people(seed)
    assert broken_promises(hierarchy, data, hierarchy.release(data)) == []


@pytest.mark.parametrize("invariants", INVARIANTS)
def test_promises_are_kept_when_time_is_up(invariants):
    hierarchy, data = make(invariants=invariants), people(4)
    release = hierarchy.release(data, seconds=0)
    assert not release.complete
    assert broken_promises(hierarchy, data, release) == []
    assert hierarchy.release(data, seconds=60).complete


def test_a_broken_invariant_is_seen():
    """Sabotage: with totals put in that are not those of the data, the check above must complain."""
    hierarchy, data = make(invariants={"county": ()}), people(1, mean=4)
    measured = hierarchy.measure(data)
    assert broken_promises(hierarchy, data, hierarchy.publish(measured)) == []
    one_more = tuple(None if totals is None else totals + 1 for totals in measured.exact[1:])
    wrong = room.Measured(noisy=measured.noisy, exact=(measured.exact[0] + [[2], [1]], *one_more))
    assert broken_promises(hierarchy, data, hierarchy.publish(wrong)) == ["county: invariant ()"]


@pytest.mark.parametrize("invariants", INVARIANTS)
@pytest.mark.parametrize("shares", SHARES)
def test_with_hardly_any_noise_the_truth_comes_out(invariants, shares):
    data = people(7, mean=3)
    release = make(rho=10**6, invariants=invariants, shares=shares).release(data)
    for counts, true in zip(release.counts.values(), on_levels(data[:, CELLS.allowed]), strict=True):
        assert np.array_equal(counts, true)


@pytest.mark.parametrize("shares", SHARES)
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_predicted_errors_are_those_observed(shares, relation):
    """Squared errors of the linear estimates over many equal trees, measured at once, against the predicted variance.

    The mean square of a tree is a quadratic form of normal errors; its moments are the largest where all variance lies
    in one direction, so Chernoff's bound for chi-square with one degree for each tree holds: with probability below
    1e-10 the ratio x has ``x - 1 - log x`` above the limit.
    """
    trees = 2000
    shape = [(0, 0), (0, 1), (0, 2), (1, 0)]
    spine = Spine(levels=SPINE.levels, leaves=tuple((tree, *path) for tree in range(trees) for path in shape))
    hierarchy = make(shares=shares, relation=relation, rho=0.2, spine=spine)
    measured = hierarchy.measure(np.zeros((len(spine.leaves), *CELLS.shape), dtype=np.int64))
    told = [np.zeros((len(spine.nodes(level)), CELLS.count)) for level in spine.levels]
    for m, noisy in zip(hierarchy.measurements, measured.noisy, strict=True):
        told[spine.depth(m.level)] += noisy[:, CELLS.labels(m.attributes)] / m.sigma**2
    values = hierarchy._estimation().estimates(told)
    predicted = hierarchy.standard_errors()
    for level, rows in zip(spine.levels, values, strict=True):
        for name, attributes in QUERIES.items():
            labels = CELLS.labels(attributes)
            table = np.stack([rows[:, labels == g].sum(axis=1) for g in range(labels.max() + 1)], axis=1)
            ratio = (table**2).mean() / predicted[level][name] ** 2
            assert ratio - 1 - math.log(ratio) < 2 * math.log(2e10) / trees


def test_errors_are_smaller_than_those_of_one_measurement():
    hierarchy = make()
    for m in hierarchy.measurements:
        assert hierarchy.standard_errors()[m.level][m.query] < m.sigma


def test_the_same_measurements_can_be_published_again():
    hierarchy, data = make(invariants={"state": ()}), people(3)
    measured = hierarchy.measure(data)
    first, second = hierarchy.publish(measured), hierarchy.publish(measured)
    for level in SPINE.levels:
        assert np.array_equal(first.counts[level], second.counts[level])


def test_columns_and_counts_are_the_same_data():
    rows = {
        "state": [0, 0, 1, 1, 9],
        "county": [0, 0, 0, 0, 0],
        "block": [0, 0, 3, 3, 0],
        "age": [30, 30, 70, 10, 30],
        "role": ["spouse", "spouse", "child", "spouse", "child"],
        "sex": ["f", "f", "m", "m", "m"],
    }
    counts = np.zeros((len(SPINE.leaves), *CELLS.shape), dtype=np.int64)
    counts[0, 1, 1, 0] = 2
    counts[SPINE.leaves.index((1, 0, 3)), 2, 2, 1] = 1
    hierarchy = make(rho=10**6)
    assert np.array_equal(hierarchy._histogram(rows), counts[:, CELLS.allowed])
    counts[0, 0, 1, 0] = 5  # a spouse of 10 is impossible, and counted nowhere
    counts[1] = -3
    assert hierarchy._histogram(counts).sum() == 3


def test_microdata_and_tables_say_what_the_counts_say():
    release = make().release(people(5, mean=3))
    rows = release.microdata()
    leaves = release.counts["block"]
    assert {len(column) for column in rows.values()} == {leaves.sum()}
    assert not np.any((rows["age"] < 15) & (rows["role"] != "child"))
    table = release.table("county", ("sex", "age"))
    for (node, (age, sex)), count in table.items():
        chosen = (rows["state"] == node[0]) & (rows["county"] == node[1]) & (rows["age"] == age) & (rows["sex"] == sex)
        assert chosen.sum() == count
    assert sum(release.table("state").values()) == leaves.sum()
    again = make()._histogram(rows)
    assert np.array_equal(again, leaves)


def test_there_are_as_many_households_as_householders():
    """A household is what its householder is: its type is an attribute that nobody else has."""
    cells = Cells(
        attributes={
            "role": ("householder", "spouse", "child"),
            "household": ("family", "single", "not the householder"),
        },
        rules={
            "householders have one": lambda c: (c["role"] == "householder") == (c["household"] != "not the householder")
        },
    )
    queries = {"households": ("household",), "all": ("role", "household")}
    data = np.random.default_rng(0).poisson(2, (len(SPINE.leaves), *cells.shape))
    release = make(cells=cells, queries=queries, invariants={"block": ("household",)}).release(data)
    rows = release.microdata()
    truth = data[:, cells.allowed]
    for kind in ("family", "single"):
        households = np.array(cells.values("household")) == kind
        assert np.array_equal(release.counts["block"][:, households].sum(axis=1), truth[:, households].sum(axis=1))
        assert np.all(rows["role"][rows["household"] == kind] == "householder")
    assert np.all(rows["household"][rows["role"] == "householder"] != "not the householder")


def test_progress_is_told_and_phases_come_in_order():
    seen = []
    make().release(people(2), progress=lambda *what: seen.append(what))
    assert [what[0] for what in seen] == ["measure", "estimate", *["fit", "round"] * 3]
    assert seen[-1] == ("round", 3, 3)


def test_the_label_is_on_the_release():
    release = make(invariants={"county": (), "state": ("sex",)}).release(people(1))
    said = str(release.invariants)
    assert "the number of persons of every county and of every level above" in said
    assert "the table by sex of every state." in said
    assert not make().release(people(1)).invariants
    assert release.loss_given_invariants == make(relation="replace_one").loss
    release = make().release(people(1))
    assert release.loss == release.loss_given_invariants == make().loss


@pytest.mark.parametrize("invariants", INVARIANTS[1:])
def test_with_invariants_there_is_no_loss_for_all_neighbours(invariants):
    hierarchy = make(invariants=invariants)
    with pytest.raises(NoTheorem, match="loss_given_invariants"):
        _ = hierarchy.loss
    with pytest.raises(NoTheorem, match="loss_given_invariants"):
        _ = hierarchy.release(people(1)).loss
    with pytest.raises(NoTheorem):
        check_mechanism(hierarchy)
    assert hierarchy.loss_given_invariants == make(relation="replace_one").loss
    assert "between data sets that agree on what is exact" in hierarchy._repr_html_()
    assert "between data sets" not in make()._repr_html_()


@pytest.mark.parametrize("invariants", INVARIANTS[1:])
def test_invariants_that_no_neighbours_agree_on_are_refused(invariants):
    with pytest.raises(NoTheorem, match="how many persons are counted"):
        make(invariants=invariants, relation="add_remove")


@pytest.mark.parametrize("invariants", [*INVARIANTS[1:], {"block": ("age", "role", "sex")}])
def test_the_worst_case_keeps_the_invariants(invariants):
    hierarchy = make(invariants=invariants)
    one, other = hierarchy.worst_case()
    assert one.sum() == other.sum() == 1
    assert np.array_equal(one, other) == (invariants == {"block": ("age", "role", "sex")})
    for x, y in zip(hierarchy.measure(one).exact, hierarchy.measure(other).exact, strict=True):
        assert (x is None and y is None) or np.array_equal(x, y)


@pytest.mark.parametrize("invariants", INVARIANTS[:3])
@pytest.mark.parametrize("shares", SHARES)
def test_a_change_of_one_person_that_keeps_the_invariants_costs_what_is_stated(invariants, shares):
    hierarchy = make(invariants=invariants, shares=shares, relation="replace_one")
    pair = [hierarchy._sums(hierarchy._histogram(data)) for data in hierarchy.worst_case()]
    cost = 0.0
    for m in hierarchy.measurements:
        labels, depth = CELLS.labels(m.attributes), SPINE.depth(m.level)
        one, other = (room.table_sums_whole(levels[depth], labels) for levels in pair)
        cost += ((one - other) ** 2).sum() / (2 * m.sigma**2)
    stated = hierarchy.loss_given_invariants.rho
    assert 0 < cost <= stated * (1 + 1e-12)
    assert invariants or cost > 0.99 * stated


class Slow(list):
    """A column that takes an hour to read, on a clock of its own."""

    def __init__(self, values, clock):
        super().__init__(values)
        self.clock = clock

    def __iter__(self):
        self.clock[0] += 3600
        return super().__iter__()


def test_how_long_reading_takes_decides_nothing(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    columns = {"state": [0], "county": [0], "block": [0], "age": [30], "role": ["child"], "sex": ["f"]}
    assert make().release(columns | {"sex": Slow(["f"], clock)}, seconds=1).complete
    assert clock[0] > 0
    assert not make().release(columns, seconds=0).complete


def test_it_keeps_the_contract_of_mechanisms():
    for relation in ("add_remove", "replace_one"):
        done = check_mechanism(make(relation=relation))
        assert {"interface", "frozen", "keyword-only", "loss"} <= set(done.passed)
        one, other = make(relation=relation).worst_case()
        assert one.sum() == 1
        assert other.sum() == (relation == "replace_one")


def test_a_single_level_and_a_single_leaf_will_do():
    flat = Spine(levels=("all",), leaves=(("everything",),))
    release = make(spine=flat, rho=10**6).release(np.full((1, *CELLS.shape), 2))
    assert release.counts["all"].tolist() == [[2] * CELLS.count]


@pytest.mark.parametrize(
    "data", [[1, 2], np.zeros((2, 2), dtype=np.int64), np.zeros((8, 3, 3, 2)), {"state": []}, "rows"]
)
def test_data_of_another_shape_is_refused(data):
    with pytest.raises(InvalidInput):
        make().release(data)


@pytest.mark.parametrize(
    "settings",
    [
        {"queries": {}},
        {"queries": {"height": ("height",)}},
        {"rho": 0},
        {"rho": float("nan")},
        {"invariants": {"moon": ()}},
        {"invariants": {"state": ("height",)}},
        {"invariants": {"state": ("sex",), "block": ("age",)}},
        {"spine": Spine(levels=("age",), leaves=((1,),))},
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings):
    with pytest.raises(InvalidParameter):
        make(**settings)


def test_a_relation_must_be_said_and_a_deadline_be_a_time():
    with pytest.raises(RelationMismatch):
        make(relation=None)
    with pytest.raises(InvalidParameter):
        make().release(people(1), seconds=-1)
