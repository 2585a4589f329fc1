"""Uniqueness on combinations against counting by hand; k, l and t against their definitions."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.auditing.attacks.anonymity import anonymity_of
from discreet.auditing.attacks.combinations import combinations_of
from discreet.auditing.attacks.quasi_identifiers import quasi_identifiers
from discreet.auditing.attacks.tables import table_of
from discreet.datasets import census
from discreet.errors import InvalidInput, InvalidParameter

small = st.integers(1, 40).flatmap(
    lambda n: st.fixed_dictionaries(
        {name: st.lists(st.integers(0, top), min_size=n, max_size=n) for name, top in (("a", 3), ("b", 5), ("s", 6))}
    )
)


@given(small)
def test_every_combination_agrees_with_counting_by_hand(data):
    table = table_of(data)
    found = combinations_of(table.columns, table.rows, 3)
    for one in found:
        counts = Counter(zip(*[data[name] for name in one.columns], strict=True))
        assert one.unique == sum(count == 1 for count in counts.values())
    assert sorted(one.columns for one in found) == sorted(c for size in (1, 2, 3) for c in combinations(data, size))


@given(small)
def test_k_l_and_t_agree_with_their_definitions(data):
    table = table_of(data)
    n = table.rows
    found = anonymity_of([table.column("a"), table.column("b")], n, table.column("s"))
    classes = {}
    for a, b, s in zip(data["a"], data["b"], data["s"], strict=True):
        classes.setdefault((a, b), []).append(s)
    values = sorted(set(data["s"]))
    whole = np.array([data["s"].count(v) / n for v in values])
    assert found.k == min(map(len, classes.values()))
    assert found.unique == sum(len(c) == 1 for c in classes.values())
    assert found.distinct_l == min(len(set(c)) for c in classes.values())
    assert found.known_for_certain == sum(len(c) for c in classes.values() if len(set(c)) == 1)
    entropies, moved = [], []
    for members in classes.values():
        share = np.array([members.count(v) / len(members) for v in values])
        positive = share[share > 0]
        entropies.append(float(-(positive * np.log(positive)).sum()))
        moved.append(np.abs(np.cumsum(share - whole))[:-1].sum() / max(len(values) - 1, 1))
    assert found.entropy_l == pytest.approx(np.exp(min(entropies)))
    assert found.t == pytest.approx(max(moved), abs=1e-9)


def test_wide_columns_are_counted_exactly_too():
    """Columns of thousands of values take the way by sorting."""
    town = {name: column.tolist() for name, column in census(3_000).items()}
    found = quasi_identifiers(town, list(town))
    for one in found.combinations:
        counts = Counter(zip(*[town[name] for name in one.columns], strict=True))
        assert one.unique == sum(count == 1 for count in counts.values())
    pair = ["birth_date", "income"]
    classes = Counter(zip(*[town[name] for name in pair], strict=True))
    measured = quasi_identifiers(town, pair, "condition").anonymity
    assert (measured.classes, measured.unique) == (len(classes), sum(count == 1 for count in classes.values()))


def test_words_are_as_far_from_each_other_as_any_others():
    table = table_of({"a": list("xxyy"), "s": ["p", "q", "q", "q"]})
    assert anonymity_of(table.columns[:1], 4, table.column("s")).t == pytest.approx(0.25)


def test_the_census_falls_to_the_classic_three():
    found = quasi_identifiers(census(5_000), sensitive="condition")
    assert found.on("birth_date", "sex", "postcode").share > 0.9
    assert next(iter(found.weights)) == "birth_date"
    assert found.advice[0].startswith("Shorten birth_date")


def test_a_table_without_structure_has_no_unique_rows():
    """Eight kinds of rows, a hundred of each: nobody stands out on any combination."""
    rows = [{"a": i & 1, "b": i & 2, "c": i & 4} for i in range(8)] * 100
    found = quasi_identifiers(rows)
    assert found.worst.unique == 0
    assert found.anonymity.k == 100
    assert "0 percent" in str(found)


def test_columns_that_are_names_are_set_aside_and_said():
    town = census(500) | {"id": np.arange(500)}
    found = quasi_identifiers(town)
    assert "id" in found.identifiers
    assert "id" not in found.columns
    assert any(line == "Take out id: it is as good as a name." for line in found.advice)
    assert "single" in str(found)


def test_many_columns_are_cut_to_the_most_telling_and_said():
    random = np.random.RandomState(1)
    wide = {f"c{i}": (random.random_sample(200) * (i + 2)).astype(int) for i in range(20)}
    found = quasi_identifiers(wide)
    assert len(found.columns) == 12
    assert set(found.columns) | set(found.left_out) == set(wide)


def test_one_row_is_unique_as_it_must_be():
    found = quasi_identifiers({"age": [31], "sex": ["f"]}, sensitive="sex")
    assert found.anonymity.k == 1
    assert found.worst.share == 1
    assert found.advice[0].startswith("With so few rows")


def test_no_value_of_a_cell_is_in_what_is_said():
    secret = {"name": ["Zaphod", "Trillian"] * 20, "planet": ["Betelgeuse", "Earth", "Magrathea", "Krikkit"] * 10}
    found = quasi_identifiers(secret, sensitive="planet")
    said = repr(found) + str(found)
    assert not any(value in said for column in secret.values() for value in column)


@pytest.mark.parametrize(
    "source",
    [{}, {"a": []}, {"a": [1], "b": [1, 2]}, [], [1, 2], 7, None],
    ids=["", "0", "odd", "none", "ints", "7", "None"],
)
def test_refuses_what_is_no_table(source):
    with pytest.raises(InvalidInput):
        quasi_identifiers(source)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"columns": ["age", "age"]}, InvalidParameter),
        ({"columns": []}, InvalidParameter),
        ({"columns": ["shoe"]}, InvalidInput),
        ({"sensitive": "shoe"}, InvalidInput),
        ({"columns": ["age"], "sensitive": "age"}, InvalidParameter),
        ({"largest": 5}, InvalidParameter),
        ({"largest": 0}, InvalidParameter),
    ],
)
def test_refuses_columns_that_cannot_be_asked_for(options, error):
    with pytest.raises(error):
        quasi_identifiers({"age": [1, 2, 2], "sex": ["f", "m", "f"]}, **options)


def test_it_draws():
    assert quasi_identifiers(census(300)).plot().to_dict()["title"]["text"]
