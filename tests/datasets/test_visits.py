"""The log of visits: the same everywhere, skewed as logs are, and quick to make."""

from hashlib import sha256

import numpy as np
import pytest

from discreet.datasets import visits
from discreet.datasets.visits import KINDS, MOST
from discreet.errors import InvalidParameter

CHECKSUM = "70de730de3b1a33d"


@pytest.fixture(scope="module")
def year():
    return visits()


def digest(table):
    state = sha256()
    for name, column in table.items():
        state.update(name.encode())
        state.update("\n".join(map(str, column.tolist())).encode())
    return state.hexdigest()[:16]


def test_the_same_on_every_machine():
    assert digest(visits(rows=2_000, users=300, cities=50).table) == CHECKSUM


def test_neither_reads_nor_moves_the_global_generator():
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    visits(rows=100)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_columns_have_one_length_and_plain_types(year):
    table = year.table
    assert {len(column) for column in table.values()} == {100_000}
    assert {name: column.dtype.kind for name, column in table.items()} == {
        "user_id": "i",
        "city": "U",
        "day": "M",
        "amount": "f",
        "age": "i",
        "kind": "U",
        "returned": "b",
        "rating": "f",
    }


def test_ranges(year):
    assert 1 <= year.user_id.min() <= year.user_id.max() <= 5_000
    assert year.day.dtype == np.dtype("datetime64[D]")
    assert (str(year.day[0]), str(year.day[-1])) == ("2026-01-01", "2026-12-31")
    assert (np.diff(year.day) >= np.timedelta64(0, "D")).all()
    assert len(np.unique(year.day)) == 365
    assert 16 <= year.age.min() <= year.age.max() <= 95
    assert set(year.table["kind"]) == set(KINDS)
    assert set(year.rating[~np.isnan(year.rating)]) == {1, 2, 3, 4, 5}
    assert 0.3 < np.isnan(year.rating).mean() < 0.4


def test_users_are_skewed_and_keep_their_age(year):
    counts = np.sort(np.bincount(year.user_id))[::-1]
    assert counts[:500].sum() > 0.4 * counts.sum()
    assert counts[0] > 20 * np.median(counts)
    assert all(len(set(year.age[year.user_id == user])) <= 1 for user in range(1, 50))


def test_cities_follow_zipf(year):
    counts = np.bincount(year.city_code, minlength=200)
    assert counts[0] == counts.max()
    assert 7 < counts[:10].mean() / counts[90:110].mean() < 60
    assert counts.min() > 0


def test_home_is_where_people_are():
    mixed, settled = visits(rows=20_000, users=500, home=0), visits(rows=20_000, users=500, home=0.9)
    pairs = [len(np.unique(one.user_id * 200 + one.city_code)) for one in (mixed, settled)]
    assert pairs[1] < 0.4 * pairs[0]


def test_amounts_are_cents_with_a_heavy_tail(year):
    cents = 100 * year.amount
    assert np.allclose(cents, np.rint(cents), atol=1e-6)
    assert year.amount.min() > 0
    assert 0.001 < (year.amount > 500).mean() < 0.05
    assert year.amount.mean() > 1.5 * np.median(year.amount)
    stay = year.kind_code == KINDS.index("stay")
    assert np.median(year.amount[stay]) > 2 * np.median(year.amount[~stay])


@pytest.mark.parametrize("cities", [1, 1_000, MOST])
def test_names_are_distinct(cities):
    names = visits(rows=10, cities=cities).cities.tolist()
    assert len(set(names)) == len(names) == cities
    assert names[0] == visits(rows=10, cities=2).cities[0]


def test_even_one_visit_is_a_log():
    assert {len(column) for column in visits(rows=1, users=1, cities=1).table.values()} == {1}


@pytest.mark.parametrize("name", ["rows", "users", "cities"])
@pytest.mark.parametrize("size", [0, 2.5, True, "many"])
def test_refuses_what_is_no_number(name, size):
    with pytest.raises(InvalidParameter, match=f"{name} must be a whole number"):
        visits(**{name: size})


def test_refuses_more_cities_than_names_and_shares_that_cannot_be():
    with pytest.raises(InvalidParameter, match="no more names"):
        visits(rows=10, cities=MOST + 1)
    with pytest.raises(InvalidParameter, match="share"):
        visits(rows=10, home=1.5)
