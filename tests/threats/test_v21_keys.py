"""The names of groups must not tell who is there.

A table grouped by a column of the data has a row for each value that occurs, so the mere presence of a row betrays the
only person with a rare value, however noisy the number beside it is.

Defence: groups and bins are listed beforehand, each is released whether it occurs or not, and what is not listed is
never named.
Source: Korolova, Kenthapadi, Mishra and Ntoulas, Releasing Search Queries and Clicks Privately, WWW 2009.
"""

import inspect
from collections import Counter

import numpy as np
import pytest

from discreet.errors import InvalidParameter
from discreet.mechanisms import Geometric, Laplace, parallel
from discreet.sensitivity import Count, Histogram, Sum

CITIES = ("Bern", "Basel")
NEIGHBOURS = [
    (["Bern"] * 3, ["Bern"] * 3 + ["Atlantis"]),
    (["Bern"] * 3, ["Bern"] * 3 + ["Basel"]),
    ([], ["Basel"]),
    (["Bern"], [["Bern"]]),
    (["Bern"], [None]),
]
HEADS = Geometric(sensitivity=1, epsilon=1).of(Count(), relation="add_remove")
SPENT = Laplace(sensitivity=1, epsilon=1).of(Sum(bounds=(0, 1)), relation="add_remove")
SPLIT = parallel(dict.fromkeys(CITIES, HEADS), by=lambda x: x, relation="add_remove")
MIXED = parallel({"Bern": HEADS, "Basel": HEADS.clamped(0, 5)}, by=lambda x: x, relation="replace_one")
BINS = Geometric(sensitivity=2, epsilon=1).of(Histogram(bins=CITIES), relation="replace_one")


def names_somebody(release):
    """Tell whether the names or the number of the groups released differ between neighbours."""
    return any(groups(release(a)) != groups(release(b)) for a, b in NEIGHBOURS)


def groups(released):
    return list(released) if isinstance(released, dict) else np.shape(released)


@pytest.mark.parametrize("mechanism", [SPLIT, MIXED, BINS])
def test_groups_are_the_listed_ones(mechanism):
    assert not names_somebody(mechanism.release)


def test_groups_come_in_the_listed_order():
    assert list(SPLIT.release(["Basel", "Bern"])) == list(SPLIT.release([])) == list(CITIES)


def naive(data):
    """Count what is there, and add exact noise to each count."""
    return {name: HEADS.mechanism.release(count) for name, count in Counter(map(str, data)).items()}


def only_large(data):
    """The same, but without counts below a threshold, which hides nobody who has two neighbours."""
    counts = Counter(map(str, data))
    return {name: HEADS.mechanism.release(count) for name, count in counts.items() if count > 3}


def test_the_check_catches_groups_from_the_data():
    assert names_somebody(naive)
    assert any(groups(only_large(a)) != groups(only_large(b)) for a, b in [(["Bern"] * 3, ["Bern"] * 4)])


def test_bins_are_never_looked_up_in_the_data():
    assert inspect.signature(Histogram).parameters["bins"].default is inspect.Parameter.empty
    for bins in ((), None, "auto", 10):
        with pytest.raises(InvalidParameter):
            Histogram(bins=bins)
