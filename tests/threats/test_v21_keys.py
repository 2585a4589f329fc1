"""The names of groups must not tell who is there.

A table grouped by a column of the data has a row for each value that occurs, so the mere presence of a row betrays the
only person with a rare value, however noisy the number beside it is.

Defence: groups and bins are listed beforehand, each is released whether it occurs or not, and what is not listed is
never named; where nobody can list them, one that a single person is in is shown with a probability of delta at most.
Source: Korolova, Kenthapadi, Mishra and Ntoulas, Releasing Search Queries and Clicks Privately, WWW 2009.
"""

import inspect
from collections import Counter

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.mechanisms import (
    GaussianThreshold,
    Geometric,
    Laplace,
    LaplaceThreshold,
    OptimalSelection,
    StabilityHistogram,
    parallel,
)
from discreet.mechanisms.partition import touched
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


# --- groups that nobody can list -----------------------------------------------------------------------------------

RARE = (["Bern"] * 200 + ["Atlantis"], ["Bern"] * 200)
UNKNOWN = [
    StabilityHistogram(epsilon=1, delta=delta, relation=relation, bins=bins, noise=noise)
    for delta in (1e-2, 1e-6)
    for relation in ("add_remove", "replace_one")
    for bins in (1, 3)
    for noise in ("geometric", "gaussian")
]
SELECTIONS = [
    make(epsilon=1, delta=delta, groups=groups, relation=relation)
    for make in (OptimalSelection, LaplaceThreshold, GaussianThreshold)
    for delta in (1e-2, 1e-6)
    for groups in (1, 3)
    for relation in ("add_remove", "replace_one")
]


@pytest.mark.parametrize("mechanism", UNKNOWN, ids=range(len(UNKNOWN)))
def test_a_bin_of_one_person_is_hardly_ever_shown(mechanism):
    """All bins that this person alone is in, together."""
    assert 0 < 1 - (1 - mechanism.probability(1)) ** mechanism.bins <= mechanism.delta * (1 + 1e-9)
    assert mechanism.probability(0) == 0


@pytest.mark.parametrize("selection", SELECTIONS, ids=range(len(SELECTIONS)))
def test_a_group_of_one_person_is_hardly_ever_kept(selection):
    everywhere = 1 - (1 - selection.probability(1)) ** touched(selection.groups, selection.relation)
    assert 0 < everywhere <= selection.delta * (1 + 1e-9)
    assert selection.probability(0) == 0


def has_rare(release):
    """Return a release that tells nothing but whether the rare bin is there."""
    return lambda data: float("Atlantis" in dict(release(data)))


def audited(release, claims):
    return dp.audit(has_rare(release), claims=claims, neighbours=[RARE], draws=2000, alpha=1e-9)


def test_the_auditor_cannot_tell_who_is_in_a_rare_bin():
    shown = StabilityHistogram(epsilon=1, delta=1e-3, relation="add_remove")
    assert not audited(lambda data: shown.release(np.array(data)), shown.loss).refuted


@pytest.mark.parametrize("claims", [dp.PrivacyLoss.pure(1), dp.PrivacyLoss.approximate(1, 1e-3)], ids=["pure", "delta"])
def test_the_auditor_catches_groups_from_the_data(claims):
    assert audited(naive, claims).refuted


def test_the_check_catches_a_threshold_on_exact_counts():
    """Exact counts above 3 alone, with noise: nobody who makes the fourth is hidden."""
    fourth = (["Bern"] * 200 + ["Atlantis"] * 4, ["Bern"] * 200 + ["Atlantis"] * 3)
    claims = dp.PrivacyLoss.approximate(1, 1e-3)
    told = dp.audit(has_rare(only_large), claims=claims, neighbours=[fourth], draws=2000, alpha=1e-9)
    assert told.refuted
