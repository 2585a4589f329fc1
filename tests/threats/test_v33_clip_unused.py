"""What is computed must be computed from the clamped values, not beside them.

A library clamped its data into a new variable and went on with the old one. Everything looked right: bounds were asked
for, a clamp ran, and the sensitivity was that of clamped values. One value far outside showed it.

Defence: values exist only as whole numbers of steps between the bounds once they have been read; nothing keeps the
originals. Synthesizers read coded records through one door, which clamps codes, and a session hands them counts of rows
that were bounded for each person.
Source: OpenDP SmartNoise issue 622.
"""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.mechanisms import DiscreteGaussian, Exponential, Geometric, Quantile
from discreet.sensitivity import Mean, Sum, Variance, brute_force
from discreet.session.synthesis.methods import METHODS
from discreet.synthetic.multiplicative import MWEM, PMW

FAR = [0, 1, 0.5, -1000, 1000.5, 10**9]
QUERIES = {
    "sum": Sum(bounds=(0, 1)),
    "centred sum": Sum(bounds=(0, 1), center=True),
    "mean": Mean(bounds=(0, 1), size=3),
    "variance": Variance(bounds=(0, 1), size=3),
}


def keeps(query, claimed):
    """Tell whether values far outside count for no more than the bounds do."""
    return brute_force(query, FAR, 3, "replace_one") <= claimed


def same_as_clamped(query):
    return all(query([0.25, x]) == query([0.25, min(max(x, 0), 1)]) for x in FAR)


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_values_outside_count_as_the_bounds(query):
    assert keeps(query, query.sensitivity(relation="replace_one"))
    assert keeps(lambda rows: query(np.array(rows)), query.sensitivity(relation="replace_one"))
    assert same_as_clamped(query)


def test_quantiles_of_values_outside():
    quantile = Quantile(bounds=(0, 1), epsilon=1, relation="replace_one", grid=0.125)
    assert all(same_as_clamped(lambda rows, y=y: quantile.log_probability(rows, y)) for y in np.arange(9) / 8)


def clamped_and_forgotten(rows):
    clamped = [min(max(x, 0), 1) for x in rows]
    assert all(0 <= x <= 1 for x in clamped)
    return sum(map(Fraction, rows), Fraction(0))


def centred_before_the_clamp(rows):
    """A variance about the mean of the values as they came."""
    middle = sum(map(Fraction, rows), Fraction(0)) / len(rows)
    return sum((min(max(Fraction(x), Fraction(0)), Fraction(1)) - middle) ** 2 for x in rows) / 3


@pytest.mark.parametrize("naive", [clamped_and_forgotten, centred_before_the_clamp])
def test_the_check_catches_a_clamp_that_is_not_used(naive):
    assert not keeps(naive, 1)
    assert not same_as_clamped(naive)


# Synthesizers: codes outside of their domain, and people with many rows ----------------------------------------------

SIZES = (3, 2)
WILD = [[10**9, -4], [-1, 1], [2, 0], [1, 7], [0, 1]]
TAME = [[2, 0], [0, 1], [2, 0], [1, 1], [0, 1]]


@pytest.fixture
def without_noise(monkeypatch):
    """Everything that is released is what it is computed from."""
    for kind in (DiscreteGaussian, Geometric):
        monkeypatch.setattr(kind, "release", lambda _, exact: np.asarray(exact))
    monkeypatch.setattr(Exponential, "release", lambda _, scores: int(np.argmax(scores)))


def whole_model(kind, rows):
    return kind(sizes=SIZES, rho=1, relation="add_remove").release(rows).marginal((0, 1))


SYNTHESIZERS = {name: one.mechanism for name, one in METHODS.items()} | {"mwem": MWEM}


@pytest.mark.parametrize("kind", SYNTHESIZERS.values(), ids=SYNTHESIZERS)
def test_codes_outside_count_as_the_ends_of_a_domain(kind, without_noise):
    found = whole_model(kind, WILD)
    assert np.allclose(found, whole_model(kind, TAME))
    assert np.allclose(found, whole_model(kind, np.array(WILD)))
    assert abs(found.sum() - 5) < 1e-6


def test_conversations_count_codes_outside_as_the_ends(without_noise):
    plan = PMW(sizes=SIZES, size=5, alpha=1, relation="replace_one", epsilon=1, direct=6)
    told = [[plan.open(rows).answer({0: value}).value for value in range(3)] for rows in (WILD, TAME)]
    assert told[0] == told[1] == [2, 1, 2]


class ClampedAndForgotten:
    """A synthesizer that clamps codes, and counts the others."""

    def __init__(self, **_):
        pass

    def release(self, rows):
        clamped = np.clip(np.array(rows), 0, np.array(SIZES) - 1)
        assert (clamped >= 0).all()
        self.table = np.zeros(SIZES)
        for row in rows:
            self.table[min(abs(row[0]), 2), min(abs(row[1]), 1)] += 1
        return self

    def marginal(self, _):
        return self.table


def test_the_check_catches_a_synthesizer_that_forgets_its_clamp():
    assert not np.allclose(whole_model(ClampedAndForgotten, WILD), whole_model(ClampedAndForgotten, TAME))


def counts_of(people, **unit):
    table = pa.table({"who": [who for who, _ in people], "x": [x for _, x in people]})
    session = dp.Session(
        table, name="t", schema={"x": dp.Values(["a", "b"])}, unit=dp.Person("who", **unit), budget=dp.Budget(8, 1e-6)
    )
    made = session.synthesize(epsilon=4, method="independent")
    return np.array(made.measured[0].counts)


@pytest.mark.filterwarnings("ignore")
def test_a_person_with_a_thousand_rows_moves_a_copy_by_what_was_declared(without_noise):
    others = [(i, "ab"[i % 2]) for i in range(20)]
    for unit in ({"groups": 1, "rows": 2}, {"groups": 2, "rows": 3}):
        moved = counts_of([*others, *[(99, "a")] * 1000, *[(99, "b")] * 500], **unit) - counts_of(others, **unit)
        assert 0 < np.abs(moved).sum() <= unit["groups"] * unit["rows"]
    unbounded = counts_of([*others, *[(99 + i, "a") for i in range(1000)]], groups=1, rows=2) - counts_of(
        others, groups=1, rows=2
    )
    assert np.abs(unbounded).sum() == 1000  # so the check would see rows that nobody bounded
