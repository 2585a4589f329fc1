"""Stories match the records they are about, and none where the details are not theirs."""

import numpy as np
import pytest

from discreet.auditing.attacks.stories import Detail, link_stories
from discreet.datasets import Stays, Stories, stays, stories
from discreet.errors import InvalidParameter

ALL = "all six details"


@pytest.fixture(scope="module")
def year():
    return stays(60_000)


@pytest.fixture(scope="module")
def told(year):
    return stories(year, 150)


@pytest.fixture(scope="module")
def found(year, told):
    return link_stories(year, told)


def test_matches_agree_with_counting_by_hand(year, told, found):
    fits = [((story < 0) | (story == year.details)).all(axis=1).sum() for story in told.details]
    assert found.unique[ALL].value == sum(count == 1 for count in fits) / 150


def test_nearly_all_unique_matches_are_right(found):
    assert 0.3 < found.right[ALL].value <= found.unique[ALL].value
    assert found.right[ALL].value > 0.9 * found.unique[ALL].value


def test_less_detail_names_fewer_people(found):
    assert found.unique["age in tens, sex and cause"].value < 0.05 < found.unique[ALL].value


def test_stories_about_nobody_match_nobody_rightly(year, told):
    """Every detail from another person: what is left of a match is chance."""
    random = np.random.RandomState(1)
    mixed = np.stack([column[np.argsort(random.random_sample(len(column)))] for column in told.details.T], axis=1)
    found = link_stories(year, Stories(mixed, told.about))
    assert found.right[ALL].value <= 0.02


def test_protected_counts_tell_no_more_with_the_record_than_without(year, told, found):
    assert abs(found.guessed - found.guessed_without) < 0.05
    lone = Stays(year.details[told.about[:1]], year.diagnosis[told.about[:1]])
    assert link_stories(lone, Stories(told.details[:1], np.array([0]))).records == 1


def test_it_speaks_and_draws(found):
    assert "news stories match exactly one" in str(found)
    assert found.plot().to_dict()["title"]["text"]


@pytest.mark.parametrize("widths", [{"shoe size": 1}, {"age": 0}])
def test_refuses_details_that_records_do_not_have(year, told, widths):
    with pytest.raises(InvalidParameter, match="names some of age"):
        link_stories(year, told, levels=[Detail(name="x", widths=widths)])
