"""Uniqueness is counted, so it must agree with counting by hand, and vanish where all traces are alike."""

import numpy as np
import pytest

from discreet.auditing.attacks.traces import Resolution, uniqueness_of_traces
from discreet.datasets import Traces, traces
from discreet.errors import InvalidParameter


@pytest.fixture(scope="module")
def month():
    return traces(1_500)


def by_hand(data, resolution, drawn):
    """Return for each person and points how many traces hold them all."""
    held = {}
    for person, x, y, hour in zip(data.person, data.x, data.y, data.hour, strict=True):
        place = int(x) // resolution.cells, int(y) // resolution.cells, int(hour) // resolution.hours
        held.setdefault(int(person), set()).add(place)
    return [sum(points <= trace for trace in held.values()) for points in drawn(held)]


@pytest.mark.parametrize("resolution", [Resolution(), Resolution(cells=4, hours=6)])
def test_whole_traces_agree_with_counting_by_hand(resolution):
    """With as many points as everybody has, the drawn points are the whole trace."""
    random = np.random.RandomState(1)
    n, p = 60, 3
    person = np.repeat(np.arange(n), p)
    hour = np.tile([0, 24, 48], n)
    x, y = (random.random_sample((2, n * p)) * 8).astype(int)
    data = Traces(n, person, x, y, hour)
    counts = by_hand(data, resolution, lambda held: list(held.values()))
    found = uniqueness_of_traces(data, points=(p,), resolutions=(resolution,), targets=n)
    assert found.unique[resolution] == (np.mean(np.array(counts) == 1),)
    assert 0 < found.unique[Resolution(cells=4, hours=6)][0] < 1 if resolution.cells == 4 else True


def test_searching_and_looking_up_agree(month, monkeypatch):
    resolution = (Resolution(cells=4, hours=6),)
    looked_up = uniqueness_of_traces(month, resolutions=resolution, targets=200).unique
    monkeypatch.setattr("discreet.auditing.attacks.traces.TABLE", 0)
    assert uniqueness_of_traces(month, resolutions=resolution, targets=200).unique == looked_up


def test_more_points_and_finer_points_single_out_more(month):
    found = uniqueness_of_traces(month, targets=400)
    shares = [found.unique[resolution] for resolution in found.unique]
    assert all(list(row) == sorted(row) for row in shares)
    assert all(fine >= coarse for fine, coarse in zip(shares[0], shares[-1], strict=True))
    assert shares[0][3] > 0.95


def test_people_who_go_the_same_ways_are_not_singled_out(month):
    twins = Traces(
        2 * month.people,
        np.concatenate([month.person, month.person + month.people]),
        *(np.tile(column, 2) for column in (month.x, month.y, month.hour)),
    )
    assert max(uniqueness_of_traces(twins, targets=200).unique[Resolution()]) == 0


def test_it_speaks_and_draws(month):
    found = uniqueness_of_traces(month, targets=50)
    assert "single out" in str(found)
    assert found.plot().to_dict()["title"]["text"]


@pytest.mark.parametrize("options", [{"points": (0,)}, {"points": (10**6,)}, {"resolutions": ()}])
def test_refuses_what_cannot_be_asked(month, options):
    with pytest.raises(InvalidParameter):
        uniqueness_of_traces(month, **options)
