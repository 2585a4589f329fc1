"""What one record does inside its group is not what it does to all groups.

A record that is replaced may leave one group and enter another, so two groups change. A library took the largest group
for the largest change within a group and understated epsilon by a factor of two under replace_one.

Defence: parts are charged once under add_remove and as a group of two under replace_one; both, and groups of records
that change together, are compared with the exact joint law of all parts.
Source: OpenDP issue 2945; McSherry, Privacy Integrated Queries, SIGMOD 2009.
"""

import math
from itertools import combinations_with_replacement

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.accounting import PrivacyLoss
from discreet.accounting import parallel as parallel_loss
from discreet.errors import NoTheorem, RelationMismatch
from discreet.mechanisms import DiscreteGaussian, Geometric, Laplace, Quantile, group, parallel
from discreet.sensitivity import Count, Histogram, Sum

RELATIONS = ("add_remove", "replace_one")
RECORDS = [("a", 0), ("a", 1), ("b", 1), ("c", 1)]
SHARES = (0, 0.3, 0.6, 0.9, 1)


def count(epsilon):
    return Geometric(sensitivity=1, epsilon=epsilon).of(Count(), relation="add_remove")


def summed(epsilon):
    query = Sum(bounds=(0, 1), grid=1)
    return Laplace(sensitivity=1, epsilon=epsilon, grid=1).of(
        lambda rows: query([x for _, x in rows]), relation="add_remove"
    )


def gaussian(sigma):
    return DiscreteGaussian(sensitivity=1, sigma=sigma).of(Count(), relation="add_remove")


PARTS = {
    "equal counts": {"a": count(1), "b": count(1)},
    "unequal counts": {"a": count(0.5), "b": count(1)},
    "sums": {"a": summed(1), "b": summed(1)},
    "a sum and a count": {"a": summed(1), "b": count(0.75)},
    "gaussian counts": {"a": gaussian(1), "b": gaussian(1)},
    "one part": {"a": summed(1)},
}
EACH = [
    pytest.param(parts, relation, id=f"{name}, {relation}") for name, parts in PARTS.items() for relation in RELATIONS
]


def neighbours(relation, changes=1):
    """Yield neighbours with up to two records besides the one that changes (or those that change together)."""
    for size in range(3):
        for rest in combinations_with_replacement(RECORDS, size):
            for new in combinations_with_replacement(RECORDS, changes):
                if relation == "add_remove":
                    yield rest, rest + new
                else:
                    yield from ((rest + old, rest + new) for old in combinations_with_replacement(RECORDS, changes))


def joint(parts, data, reach=22):
    """Return the law of all answers together, over a window beyond which lies less than a millionth."""
    law = np.ones(1)
    for key, mechanism in parts.items():
        answer = mechanism.query([record for record in data if record[0] == key])
        one = np.exp([mechanism.mechanism.log_probability(answer, y) for y in range(-reach, reach + 1)])
        law = np.outer(law, one).ravel()
    return law


def keeps(parts, loss, relation, changes=1):
    """Tell whether the joint laws of all neighbours stay within a loss."""
    laws = {}

    def law(data):
        counts = tuple(sorted(data))
        if counts not in laws:
            laws[counts] = joint(parts, counts)
        return laws[counts]

    top = loss.epsilon(1e-4)
    limits = [(share * top, loss.delta(share * top)) for share in SHARES]
    pairs = {(tuple(sorted(a)), tuple(sorted(b))) for a, b in neighbours(relation, changes)}
    return all(
        np.maximum(p - math.exp(e) * q, 0).sum() <= limit * (1 + 1e-9) + 1e-7
        for a, b in pairs
        for p, q in ((law(a), law(b)), (law(b), law(a)))
        for e, limit in limits
    )


@pytest.mark.parametrize(("parts", "relation"), EACH)
def test_parts_keep_the_promise_under_both_relations(parts, relation):
    mechanism = parallel(parts, by=lambda record: record[0], relation=relation)
    assert mechanism.loss.relation == relation
    assert keeps(parts, mechanism.loss, relation)


@pytest.mark.parametrize("name", ["equal counts", "unequal counts", "sums", "gaussian counts"])
def test_the_check_catches_the_largest_part_taken_for_the_largest_change(name):
    parts = PARTS[name]
    once = parallel(parts, by=lambda record: record[0], relation="add_remove").loss
    assert not keeps(parts, once, "replace_one")


def test_the_check_catches_the_smallest_part():
    parts = PARTS["unequal counts"]
    assert not keeps(parts, parts["a"].loss, "add_remove")


@pytest.mark.parametrize("size", [2, 3])
def test_groups_that_change_together_keep_the_promise(size):
    parts = {"a": count(0.5)}
    assert keeps(parts, group(parts["a"], size).loss, "add_remove", changes=size)
    assert not keeps(parts, group(parts["a"], size - 1).loss, "add_remove", changes=size)


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_histogram_is_charged_like_its_bins_in_parallel(relation):
    """Two descriptions of one release: L1 sensitivity of all bins, or one mechanism for each part."""
    histogram = Histogram(bins=("a", "b"))
    scale = 3
    epsilon = histogram.sensitivity(relation=relation) / scale
    parts = [PrivacyLoss.discrete_laplace(sensitivity=1, scale=scale)] * 2
    assert parallel_loss(parts, relation=relation).epsilon() == pytest.approx(float(epsilon))


def test_parts_whose_size_is_public_are_refused():
    per_part = Quantile(bounds=(0, 1), epsilon=1, relation="replace_one")
    with pytest.raises(NoTheorem, match="changes their sizes"):
        parallel({"a": per_part}, by=lambda record: record[0], relation="replace_one")
    with pytest.raises(RelationMismatch):
        parallel_loss([PrivacyLoss.pure(1).under("replace_one")], relation="replace_one")


def test_every_kind_of_neighbour_was_tried():
    moved = [(a, b) for a, b in neighbours("replace_one") if {r[0] for r in a} != {r[0] for r in b}]
    inside = [(a, b) for a, b in neighbours("replace_one") if [r[0] for r in a] == [r[0] for r in b] and a != b]
    assert moved
    assert inside


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("groups", [1, 3])
def test_tables_count_what_leaves_a_group_and_what_enters_one(relation, groups):
    """A person of a table who is substituted leaves as many groups as they may be in, and enters as many others."""
    rows = {side: [(side, f"{side}{i}") for i in range(groups) for _ in range(2)] for side in "ab"}
    found = []
    for person in ("a", "b") if relation == "replace_one" else ("a", None):
        data = pa.table({"user": [u for u, _ in rows.get(person, [])], "tag": [t for _, t in rows.get(person, [])]})
        data = data.cast(pa.schema({"user": pa.string(), "tag": pa.string()}))
        unit = dp.Person("user", groups=groups, rows=2, relation=relation)
        session = dp.Session(data, name="t", unit=unit, budget=dp.Budget(1, 1e-6))
        query = session.query.group_by("tag").agg(n=dp.count())
        plan = session.planned(query, epsilon=1)
        (measure,) = plan.measures.values()
        told = session._tables.engine.run(plan.rows.totals([measure])).to_pylist()
        found.append({row["k_0"]: int(row[measure.name]) for row in told})
    moved = [found[0].get(tag, 0) - found[1].get(tag, 0) for tag in {*found[0], *found[1]}]
    reach = plan.noise[measure.name].reach
    assert sum(map(abs, moved)) == reach.first
    assert sum(m * m for m in moved) == reach.squared
