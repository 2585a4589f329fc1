"""The invented town: always the same, and as a town would be."""

from hashlib import sha256

import numpy as np
import pytest

from discreet.datasets import population
from discreet.errors import InvalidParameter

CHECKSUM = "14b290217fddf6b39c5ea075d5a25c1b394d8568d35009b07d69caf70b274731"


@pytest.fixture(scope="module")
def town():
    return population()


def share(mask):
    return float(np.mean(mask))


def test_the_town_is_the_same_on_every_machine(town):
    digest = sha256()
    for name, column in town.items():
        digest.update(name.encode())
        digest.update("\n".join(map(str, column.tolist())).encode())
    assert digest.hexdigest() == CHECKSUM


def test_neither_reads_nor_moves_the_global_generator():
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = population(500)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    assert all(np.array_equal(first[name], column) for name, column in population(500).items())


def test_columns_have_one_length_and_plain_types(town):
    assert {len(column) for column in town.values()} == {20_000}
    assert {column.dtype.kind for column in town.values()} <= set("iUb")
    assert np.array_equal(town["person_id"], np.arange(1, 20_001))


def test_ranges(town):
    assert (town["age"].min(), town["age"].max()) == (0, 99)
    assert town["income"].min() == 0
    assert 1 <= town["household_size"].min() <= town["household_size"].max() <= 6
    assert 0 <= town["commute_minutes"].min() <= town["commute_minutes"].max() <= 180
    assert set(town["sex"]) == {"female", "male"}
    assert len(set(town["region"])) == 8


def test_the_pyramid_thins_with_age(town):
    tens = np.bincount(town["age"] // 10, minlength=10)
    assert tens[5] == tens.max()
    assert tens[5] > tens[7] > tens[8] > tens[9] > 0


def test_districts_are_skewed(town):
    counts = np.sort(np.unique(town["region"], return_counts=True)[1])
    assert counts[-1] > 5 * counts[0]


def test_children_neither_earn_nor_smoke_nor_commute(town):
    child = town["age"] < 16
    assert set(town["employment"][child]) == {"child"}
    assert set(town["education"][child]) == {"none yet"}
    assert not town["income"][child].any()
    assert not town["smoker"][child].any()
    assert not town["commute_minutes"][child].any()
    assert town["household_size"][child].min() >= 2
    assert "child" not in town["employment"][~child]


def test_work_follows_age(town):
    age, work = town["age"], town["employment"]
    assert share(work[age >= 70] == "retired") > 0.9
    assert share(np.isin(work[(age >= 30) & (age < 55)], ["employed", "self-employed"])) > 0.75
    assert "student" not in work[age >= 31]
    assert "degree" not in town["education"][age < 22]


def test_income_follows_work_and_education_with_a_heavy_tail(town):
    income, work, education = town["income"], town["employment"], town["education"]
    employed = work == "employed"
    assert np.median(income[employed & (education == "degree")]) > 1.3 * np.median(
        income[employed & (education == "secondary")]
    )
    assert np.median(income[employed]) > 1.5 * np.median(income[work == "retired"])
    assert income.mean() > 1.2 * np.median(income)
    assert 0 < (income > 200_000).sum() < 100


def test_illness_follows_age_and_smoking(town):
    age, ill = town["age"], town["chronic_condition"]
    assert share(ill[age >= 75]) > 4 * share(ill[age < 40])
    middle = (age >= 50) & (age < 65)
    assert share(ill[middle & town["smoker"]]) > share(ill[middle & ~town["smoker"]])


def test_even_one_person_is_a_town():
    assert {len(column) for column in population(1).values()} == {1}


@pytest.mark.parametrize("size", [0, -1, 2.5, True, "many", None])
def test_refuses_what_is_no_number_of_people(size):
    with pytest.raises(InvalidParameter, match="whole number of people"):
        population(size)
