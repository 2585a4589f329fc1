"""Scoreboard-RH finds people where ratings are theirs, and nobody where they are not."""

import math

import numpy as np
import pytest

from discreet.auditing.attacks.ratings import Memory, deanonymise_ratings
from discreet.datasets import Ratings, ratings
from discreet.errors import InvalidParameter

EXACT = (Memory(name="exact", days=0, stars=0),)


@pytest.fixture(scope="module")
def films():
    return ratings(5_000, 1_500)


@pytest.fixture(scope="module")
def found(films):
    return deanonymise_ratings(films, targets=100)


def shuffled(films):
    """The same titles as often, by other people: nothing in a record belongs together."""
    random = np.random.RandomState(5)
    person = films.person[np.argsort(random.random_sample(len(films.title)))]
    order = np.argsort(person, kind="stable")
    start = np.searchsorted(person[order], np.arange(films.people + 1))
    return Ratings(films.titles, start, films.title[order], films.stars[order], films.day[order])


def test_more_knowledge_finds_more_people(found):
    for rates in found.found.values():
        assert rates[-1] > 0.9
        assert rates[-1] >= rates[0]
    assert found.found["no dates"][0] < 0.5 < found.found["dates to within 3 days"][0]


def test_found_and_accused_are_shares_of_the_same_people(found):
    for name, rates in found.found.items():
        assert all(0 <= right + wrong <= 1 for right, wrong in zip(rates, found.accused[name], strict=True))


def test_on_ratings_without_structure_success_falls_to_chance(films):
    found = deanonymise_ratings(shuffled(films), auxiliary=films, targets=100, memories=EXACT)
    assert max(found.found["exact"]) <= 0.02


def test_a_person_who_is_not_there_is_accused_less_often_if_more_is_asked_for(films):
    strict = deanonymise_ratings(films, targets=60, memories=EXACT, known=(8,), eccentricity=10)
    lax = deanonymise_ratings(films, targets=60, memories=EXACT, known=(8,), eccentricity=1.5)
    assert strict.accused_absent["exact"] < lax.accused_absent["exact"] < 0.6
    assert strict.found["exact"][0] > 0.9


def test_the_score_is_that_of_the_paper():
    """Two people rated title 0, one of them title 1 too: computed by hand."""
    tiny = Ratings(2, np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([5, 3, 1]), np.array([10, 20, 40]))
    found = deanonymise_ratings(tiny, known=(1,), targets=2, memories=EXACT)
    near = 2 / math.log(2)
    far = (math.exp(-4 / 1.5) + math.exp(-1)) / math.log(2)
    scores = np.array([near, far])
    assert (near - far) / scores.std() > 1.5
    assert found.found["exact"] == (1.0,)


def test_the_answer_is_the_same_every_time(films):
    first, again = (deanonymise_ratings(films, targets=20, memories=EXACT).found for _ in range(2))
    assert first == again


def test_it_speaks_and_draws(found):
    assert "5,000" in str(found)
    assert "theory allows at most" in str(found)
    assert found.plot().to_dict()["title"]["text"]


@pytest.mark.parametrize("options", [{"known": ()}, {"known": (0,)}, {"known": (10**6,)}, {"memories": ()}])
def test_refuses_what_cannot_be_asked(films, options):
    with pytest.raises(InvalidParameter):
        deanonymise_ratings(films, **options)
