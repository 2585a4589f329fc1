"""The failures of k-anonymity: what is called certain must be true of every single person."""

import numpy as np
import pytest

from discreet.auditing.attacks.anonymity_failures import break_anonymity, cut_minimally, group_by_mondrian
from discreet.errors import InvalidParameter


@pytest.mark.parametrize("k", [2, 5, 17])
def test_classes_hold_at_least_k(k):
    known = (np.random.RandomState(1).random_sample((500, 3)) * [1000, 20, 4]).astype(int)
    sizes = np.bincount(group_by_mondrian(known, k))
    assert sizes.min() >= k
    assert len(sizes) > 500 / (8 * k)


def test_rows_that_are_alike_stay_together():
    assert set(group_by_mondrian(np.ones((10, 2), dtype=int), 2)) == {0}


@pytest.mark.parametrize("k", [2, 3, 10])
def test_both_halves_of_a_minimal_range_are_inhabited(k):
    """What the attacker concludes from minimality is so, in every published range."""
    values = (np.random.RandomState(2).random_sample(400) ** 2 * 1024).astype(int).tolist()
    published = cut_minimally(values, k, 0, 1024)
    assert sum(count for _, _, count in published) == 400
    coarse = [(low, high) for low, high, _ in published if high - low > 1]
    assert coarse
    for low, high in coarse:
        middle = (low + high) // 2
        assert any(low <= v < middle for v in values)
        assert any(middle <= v < high for v in values)


def test_a_larger_k_gives_less_away_and_two_tables_more_than_one():
    found = break_anonymity(3_000, ks=(2, 5, 20))
    for shares in (found.homogeneity, found.intersection, found.minimality):
        assert list(shares) == sorted(shares, reverse=True)
    assert found.intersection[0] > 0.5
    assert found.protection.advantage < found.protection.bound + 5 * found.protection.deviation


def test_it_speaks_and_draws():
    found = break_anonymity(600, ks=(2, 5))
    assert "5-anonymous" in str(found)
    assert found.plot().to_dict()["title"]["text"]


@pytest.mark.parametrize(("size", "ks"), [(100, (1,)), (100, ()), (10, (5,))])
def test_refuses_what_cannot_be_grouped(size, ks):
    with pytest.raises(InvalidParameter):
        break_anonymity(size, ks=ks)
