"""The search finds what tables allow, all of it and nothing else; noisy tables allow nearly everything."""

import math
import warnings
from dataclasses import replace
from itertools import combinations_with_replacement, product

import pytest

from discreet.auditing.attacks import block_tables, microdata
from discreet.auditing.attacks.block_tables import BLOCK, CELLS, certain_records, consistent, tabulate
from discreet.auditing.attacks.microdata import rebuild_microdata, worlds
from discreet.errors import InvalidInput, NotPrivateWarning
from discreet.testing import seeded


@pytest.fixture(scope="module")
def found():
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("microdata"):
        return rebuild_microdata()


def everything(people, oldest):
    records = [(age, *cell) for age, cell in product(range(oldest + 1), CELLS)]
    return combinations_with_replacement(records, people)


def test_the_published_block_has_one_solution(found):
    assert consistent(tabulate(BLOCK)) == [BLOCK]
    assert (found.solutions, found.certain, found.right) == (1, 7, 7)


@pytest.mark.parametrize(("people", "oldest", "suppress"), [(3, 6, 0), (3, 6, 3), (4, 3, 2), (5, 2, 3)])
def test_the_search_agrees_with_trying_everything(monkeypatch, people, oldest, suppress):
    monkeypatch.setattr(block_tables, "OLDEST", oldest)
    by_tables = {}
    for candidate in everything(people, oldest):
        by_tables.setdefault(tabulate(candidate, suppress_below=suppress), set()).add(tuple(sorted(candidate)))
    for tables, expected in list(by_tables.items())[:: max(1, len(by_tables) // 150)]:
        listed = consistent(tables)
        assert len(listed) == len(set(listed))
        assert {tuple(sorted(one)) for one in listed} == expected


def test_counting_worlds_agrees_with_listing_them(monkeypatch):
    monkeypatch.setattr(microdata, "OLDEST", 4)
    counts = {cell: (0, 2) if cell[0] == "F" else (0, 1) for cell in CELLS}
    sums = {cell: (1, 5) if cell[1] == "B" else (0, 3) for cell in CELLS}
    lacking = (2, "F", "B")
    expected = [0, 0]
    for world in everything(3, 4):
        ages = {cell: [a for a, *rest in world if tuple(rest) == cell] for cell in CELLS}
        fits = all(
            counts[c][0] <= len(ages[c]) <= counts[c][1] and sums[c][0] <= sum(ages[c]) <= sums[c][1] for c in CELLS
        )
        expected[0] += fits
        expected[1] += fits and lacking not in world
    assert [worlds(3, counts, sums), worlds(3, counts, sums, without=lacking)] == expected
    assert expected[0] > expected[1] > 0


def test_what_is_certain_is_in_every_solution():
    """Without one median the ages of two people are known by their sum alone, and the younger is at most 24."""
    tables = [replace(t, median=None) if (t.sex, t.race) == (None, "B") else t for t in tabulate(BLOCK)]
    solutions = consistent(tables)
    others = [person for person in BLOCK if person[0] not in (8, 66)]
    expected = {tuple(sorted([(a, "F", "B"), (74 - a, "F", "B"), *others])) for a in range(25)}
    assert {tuple(sorted(one)) for one in solutions} == expected
    assert certain_records(solutions) == tuple(others)


def test_noise_leaves_nearly_everything(found):
    assert found.possible == math.comb(464 + 6, 7)
    assert found.allowed > found.possible / 10
    assert found.allowed_certain == 0
    assert found.guess == pytest.approx(math.e / (math.e + 463))
    assert found.allowed_by_epsilon[-1] == found.without_medians == 26_600  # epsilon 10,000 hides nothing
    assert found.allowed_by_epsilon[0] > found.allowed_by_epsilon[3] > found.allowed_by_epsilon[-1]


def test_what_is_said(found):
    assert "1 set of people fits" in str(found)
    assert found.plot().to_dict()


def test_refusals():
    with pytest.raises(InvalidInput):
        tabulate([(200, "F", "B")])
    with pytest.raises(InvalidInput):
        rebuild_microdata(BLOCK[:2])
    with pytest.raises(InvalidInput):
        consistent(tabulate(BLOCK)[1:])
