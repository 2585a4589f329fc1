"""What is impossible, decided on codes: bins are tried at every place where a rule can change."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidParameter
from discreet.session.post import holds
from discreet.session.synthesis.counted import counted, rows_of
from discreet.session.synthesis.rows import table_of
from discreet.session.synthesis.rules import condition, masks_of, rules_of
from discreet.tables.kinds import Interval
from discreet.tables.synthetic import Coding, Determined, Synthetic, even_edges

SEX = Coding("sex", "str", values=("f", "m"))
AGE = Coding("age", "int", edges=tuple(map(Fraction, (0, 10, 13, 30))))
PAY = Coding("pay", "float", edges=tuple(map(Fraction, (0, 1, 2))), nulls=False)
RULES = [
    "sex = 'f' OR age >= 12",
    "NOT (age > 11 AND age < 13) OR sex = 'm'",
    "age <> 11",
    "pay < age",
    "sex IS NOT NULL",
]


def real_values(coding, code):
    if coding.nulls and code == coding.size - 1:
        return [None]
    if not coding.edges:
        return [coding.values[code]]
    low, high = coding.within(code)
    last = code == len(coding.edges) - 2
    steps = [low + Fraction(step, 4) for step in range(int((high - low) * 4) + 1)]
    inside = [x for x in steps if x < high or last]
    return [int(x) for x in inside if x.denominator == 1] if coding.kind == "int" else [float(x) for x in inside]


@pytest.mark.parametrize("rule", RULES)
def test_a_cell_is_impossible_where_every_value_in_it_breaks_the_rule(rule):
    codings = [SEX, AGE, PAY]
    ((attributes, mask),) = masks_of(Synthetic(rules=(rule,)), codings).items()
    chosen = [codings[place] for place in attributes]
    made = condition(rule, [one.name for one in codings])
    for cell in product(*(range(one.size) for one in chosen)):
        values = product(*(real_values(one, code) for one, code in zip(chosen, cell, strict=True)))
        names = [one.name for one in chosen]
        possible = any(holds(made, dict(zip(names, row, strict=True))) is not False for row in values)
        assert mask[cell] == (not possible), cell


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_restored_rows_fulfil_the_rules(data):
    rules = data.draw(st.lists(st.sampled_from(RULES[:3]), unique=True))
    asked, codings = Synthetic(rules=tuple(rules)), [SEX, AGE]
    masks = masks_of(asked, codings)
    cells = [
        cell
        for cell in product(range(SEX.size), range(AGE.size))
        if not any(mask[tuple(cell[i] for i in at)] for at, mask in masks.items())
    ]
    codes = np.array(data.draw(st.lists(st.sampled_from(cells), min_size=1, max_size=20)), dtype=np.int64)
    numbers = data.draw(st.sampled_from(["uniform", "middle"]))
    made = rules_of(asked, codings)
    rows = table_of(codes, codings, made, numbers)
    for sex, age in zip(rows["sex"], rows["age"], strict=True):
        assert all(holds(rule, {"sex": sex, "age": age}) is not False for _, rule in made)
    if numbers == "middle":
        assert rows == table_of(codes, codings, made, numbers)


def test_uniform_numbers_fill_their_bins():
    rows = table_of(np.repeat(np.array([[0], [1], [2]]), 4000, axis=0), [AGE])["age"]
    for place, (low, high) in enumerate(((0, 10), (10, 13), (13, 31))):
        counts = np.bincount(rows[4000 * place : 4000 * (place + 1)], minlength=31)
        assert counts[low:high].sum() == 4000
        assert counts[low:high].min() > 4000 / (high - low) / 2


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("bins", [1, 3, 7, 20])
def test_even_edges_cover_the_bounds(bins, whole):
    edges = even_edges(Interval.of(-3, 40), bins, whole=whole)
    assert (edges[0], edges[-1]) == (-3, 40)
    assert all(a < b for a, b in pairwise(edges))
    assert len(edges) - 1 <= bins
    assert not whole or all(edge.denominator == 1 for edge in edges)


def test_what_follows_must_be_on_both_lists():
    by = Coding("city", "str", values=("Oslo", "Ulm"), nulls=False)
    land = Coding("land", "str", values=("N", "D"), nulls=False)
    one = Determined("land", "city", (("Oslo", "N"), ("Ulm", "D")))
    assert masks_of(Synthetic(determined=(one,)), [by, land])[0, 1].tolist() == [[False, True], [True, False]]
    assert masks_of(Synthetic(determined=(one,)), [land, by])[0, 1].tolist() == [[False, True], [True, False]]
    with pytest.raises(InvalidParameter, match="no value of land"):
        masks_of(Synthetic(determined=(Determined("land", "city", (("Oslo", "X"),)),)), [by, land])
    with pytest.raises(InvalidParameter, match="no column of the copy"):
        masks_of(Synthetic(determined=(Determined("land", "town", ()),)), [by, land])


def test_counted_rows_become_the_same_rows_for_everybody():
    from discreet.accounting import PrivacyLoss
    from discreet.session.answer import Answer

    codes = np.array([[0, 1], [0, 1], [1, 2], [2, 3]])
    keys, columns = counted(codes, {"sex": SEX.labels, "age": AGE.labels}, "n", "synthetic rows")
    made = {"together": "synthesis", "types": {"sex": "str", "age": "int"}, "edges": {"age": [0, 10, 13, 30]}}
    answer = Answer(
        keys=keys, columns=columns, level=0.95, loss=PrivacyLoss.pure(1), parameters={**made, "rules": ["age <> 11"]}
    )
    rows = rows_of(Answer.from_json(answer.to_json()))
    assert rows["sex"] == ["f", "f", "m", None]
    assert rows["age"] == [12, 12, 21, None]
    assert rows.to_csv_bytes() == rows_of(answer).to_csv_bytes()
