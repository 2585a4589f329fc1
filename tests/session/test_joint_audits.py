"""Releases whose groups are answered together, drawn many times on neighbouring counts: their losses are not refuted.

What is audited is what runs in a session after the engine has counted. The same release with a fortieth of the noise
must be refuted by as many draws.
"""

from fractions import Fraction

import pytest

from discreet.auditing import audit
from discreet.session.adaptive import JointTree
from discreet.session.cumulative import JointCdf
from discreet.session.fineness import cdf_grid, tree_grids
from discreet.session.joint import Budgeted, amounts
from discreet.session.levels import JointLevels
from discreet.session.margins import JointMargins
from discreet.session.sums import JointSums
from discreet.tables.kinds import Interval
from discreet.tables.together import Levels

EPSILON, DELTA = Fraction(1), Fraction(1, 10**4)
VALUES = (("f", "m"), ("a", "b", "c"))
NAMES = ("sex", "city")
LINE = tree_grids([(Interval.of(0, 7), True)])


def cost(noise, relation, records, epsilon):
    (found,) = amounts(epsilon, DELTA, noise, relation, records)
    return found


def margins(noise, relation, records, epsilon):
    return JointMargins(NAMES, VALUES, (("sex", "city"), ("sex",), ()), cost(noise, relation, records, epsilon))


def sums(noise, relation, records, epsilon):
    return JointSums(NAMES, VALUES, "prefixes", cost(noise, relation, records, epsilon))


def levels(noise, relation, records, epsilon):
    areas = (("a",), ("c",))
    asked = Levels(("city",), ((),))
    return JointLevels(("city",), (("a", "c"),), asked, areas, cost(noise, relation, records, epsilon))


def tree(noise, relation, records, epsilon):
    return JointTree(("k",), LINE, Budgeted(relation, records, epsilon=epsilon))


def cdf(noise, relation, records, epsilon):
    return JointCdf(("k",), cdf_grid(Interval.of(0, 7), whole=True), cost(noise, relation, records, epsilon))


def neighbours(make, relation, records):
    """A unit with all of its records in one cell, which are gone, or in another; for a tree where many are already."""
    if make in (tree, cdf):
        first, last, base = (0,), (7,), 12 if make is tree else 0
    else:
        first, last, base = (("a",), ("c",), 5) if make is levels else (("f", "a"), ("m", "c"), 5)
    one = {first: base + records, last: base}
    return one, {first: base, last: base + (records if relation == "replace_one" else 0)}


def released(joint):
    def release(counted):
        _, columns = joint.release(counted, "n", 0.05)
        return tuple(float(value) for one in columns.values() for value in one.value)

    if isinstance(joint, JointTree):
        return lambda counted: _bins(joint, counted)
    return release


def _bins(joint, counted):
    """The ends of the bins and their counts, in one row of fixed length: those of the first and of the last bin."""
    keys, columns = joint.release(counted, "n", 0.05)
    ends, counts = keys["k_to"], columns["n"].value
    last = float(ends[-2]) if len(ends) > 1 else 0.0
    return float(len(ends)), float(ends[0]), float(counts[0]), last, float(counts[-1])


CASES = [
    (margins, "laplace", "replace_one"),
    (margins, "gaussian", "add_remove"),
    (sums, "laplace", "add_remove"),
    (sums, "gaussian", "replace_one"),
    (levels, "gaussian", "replace_one"),
    (cdf, "laplace", "replace_one"),
    (cdf, "gaussian", "add_remove"),
    (tree, "laplace", "add_remove"),
    (tree, "laplace", "replace_one"),
]


@pytest.mark.parametrize(
    ("make", "noise", "relation"), CASES, ids=["-".join((make.__name__, *rest)) for make, *rest in CASES]
)
def test_the_loss_of_a_joint_release_is_not_refuted(make, noise, relation):
    records, draws = 2, 100 if make is levels else 200
    pair = neighbours(make, relation, records)
    quiet, loud = (make(noise, relation, records, epsilon) for epsilon in (EPSILON, 40 * EPSILON))
    found = audit(released(quiet), claims=quiet.loss, neighbours=[pair], draws=draws)
    assert not found.refuted, str(found)
    caught = audit(released(loud), claims=quiet.loss, neighbours=[pair], draws=draws)
    assert caught.refuted, str(caught)
