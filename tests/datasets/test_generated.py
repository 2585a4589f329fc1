"""The generated data sets: the same everywhere, and shaped like what they stand for."""

from dataclasses import fields
from hashlib import sha256

import numpy as np
import pytest

from discreet.datasets import census, networks, ratings, stays, stories, traces
from discreet.errors import InvalidParameter


def digest(data):
    parts = data.items() if isinstance(data, dict) else ((f.name, getattr(data, f.name)) for f in fields(data))
    state = sha256()
    for name, part in parts:
        state.update(name.encode())
        state.update("\n".join(map(str, np.asarray(part).ravel().tolist())).encode())
    return state.hexdigest()[:16]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: ratings(500, 300), "52837db72b317ee7"),
        (lambda: traces(200), "0e7c6dc503cfe5f6"),
        (lambda: networks(400), "014f4f490441538c"),
        (lambda: stays(2_000), "3605a2e854ef28f8"),
        (lambda: stories(stays(20_000), 40), "48a9a937b91166e4"),
        (lambda: census(500), "006213245ba12929"),
    ],
    ids=["ratings", "traces", "networks", "stays", "stories", "census"],
)
def test_the_same_on_every_machine(make, expected):
    assert digest(make()) == digest(make()) == expected


def test_ratings_are_sparse_and_skewed():
    films = ratings(4_000, 2_000)
    counts = np.diff(films.start)
    support = np.sort(np.bincount(films.title, minlength=films.titles))[::-1]
    assert 0.01 < len(films.title) / (films.people * films.titles) < 0.03
    assert counts.mean() > 1.2 * np.median(counts)
    assert support[: films.titles // 10].sum() > 0.4 * support.sum()
    assert all(len(set(films.title[films.of(i)])) == counts[i] for i in range(50))


def test_people_are_at_home_at_night():
    month = traces(300)
    night = month.hour % 24 < 6
    for person in range(20):
        mine = (month.person == person) & night
        places = 100 * month.x[mine] + month.y[mine]
        assert not len(places) or np.bincount(places).max() >= 0.5 * len(places)


def test_networks_overlap_and_are_no_copies():
    pair = networks(1_000)
    mapped = pair.truth[pair.auxiliary]
    common = mapped[(mapped >= 0).all(axis=1)]
    links = {tuple(sorted(link)) for link in pair.target.tolist()}
    kept = np.mean([tuple(sorted(link)) in links for link in common.tolist()])
    assert 0.75 < kept < 0.85
    assert len(set(pair.truth[pair.truth >= 0].tolist())) == (pair.truth >= 0).sum()


def test_stories_are_mostly_true():
    year = stays(30_000)
    told = stories(year, 200)
    right = told.details == year.details[told.about]
    given = told.details >= 0
    assert 0.93 < right[given].mean() < 0.995
    assert 0.6 < given.mean() < 0.95


def test_the_census_keeps_ages_and_dates_together():
    town = census(1_000)
    born = town["birth_date"].astype("datetime64[Y]").astype(int) + 1970
    assert born.min() >= 1925
    assert born.max() <= 2024
    assert len(set(town["postcode"])) > 50


@pytest.mark.parametrize("make", [ratings, traces, networks, stays, census])
@pytest.mark.parametrize("size", [0, 2.5, True, "many"])
def test_refuses_what_is_no_number(make, size):
    with pytest.raises(InvalidParameter, match="whole number"):
        make(size)


def test_refuses_shares_and_stories_that_cannot_be():
    with pytest.raises(InvalidParameter, match="share"):
        networks(400, keep_links=0)
    with pytest.raises(InvalidParameter, match="newsworthy"):
        stories(stays(200), 10**6)
