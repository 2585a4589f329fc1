"""The order of a person's groups: alike in the engine and in Python, and fair."""

import random
import warnings
from datetime import date

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.errors import NotPrivateWarning
from discreet.tables.order import MASK, Salt, encoded, key_text
from discreet.testing import seeded

SALT = Salt("salt", 1664525789, 1986745321)

PERSONS = {
    "int": [0, 1, -1, 7, 2**31 - 1, 2**31, -(2**31), 2**62, 2**63 - 1, -(2**63)],
    "str": ["", "a", "Ada", "Åsa", "A\u030asa", "\U0001f600", "x" * 5000, "'", '"', "\\", "\x01", "1"],
    "date": [date(1, 1, 1), date(1970, 1, 1), date(2026, 11, 16), date(9999, 12, 31)],
}
GROUPS = [("Oslo", 3, True), ("", 0, False), ("~", -1, None), (None, None, None), ("é", 2**62, True), ("1:a", 5, None)]
TYPES = {"int": pa.int64(), "str": pa.string(), "date": pa.date32()}


@pytest.mark.parametrize("keys", [("city",), ("n",), ("ok",), ("city", "n"), ("city", "n", "ok")])
@pytest.mark.parametrize("kind", PERSONS)
def test_the_engine_and_python_find_the_same_number(kind, keys):
    pairs = [(person, group) for person in PERSONS[kind] for group in GROUPS]
    data = pa.table(
        {
            "id": list(range(len(pairs))),
            "user": pa.array([person for person, _ in pairs], type=TYPES[kind]),
            "city": [group[0] for _, group in pairs],
            "n": pa.array([group[1] for _, group in pairs], type=pa.int64()),
            "ok": [group[2] for _, group in pairs],
        }
    )
    unit = dp.Person("user", groups=1, rows=1)
    session = dp.Session(data, name="t", unit=unit, budget=dp.Budget(1, 1e-6), threads=1)
    session._planner.salt = SALT
    query = session.query.group_by("id").agg(n=dp.count())
    plan = session.planned(query, epsilon=1)
    rows, scope = plan.rows, plan.rows.scope
    text = encoded(scope, [scope.resolve(dp.col(key)) for key in keys])
    order = SALT.order(scope, rows.bounding.key, SALT.digest(scope, text))
    rows.ordered = False  # the order alone is asked for, and nobody is bounded
    sql = rows._staged({"k": rows.keys[0], "number": order, "text": text}, [])
    found = {row["k"]: row for row in session._tables.engine.run(sql).to_pylist()}
    names = ("city", "n", "ok")
    for place, (person, group) in enumerate(pairs):
        told = key_text([group[names.index(key)] for key in keys])
        assert (found[place]["text"] or "") == told
        assert found[place]["number"] == SALT.number(person, told)
        assert 0 <= found[place]["number"] <= MASK


VALUES = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=6)


@given(st.lists(VALUES, min_size=2, max_size=3), st.lists(VALUES, min_size=2, max_size=3))
def test_different_keys_have_different_texts(a, b):
    """Of each column all keys are of one type, so 1 and "1" never meet."""
    if len(a) == len(b) and all(x is None or y is None or type(x) is type(y) for x, y in zip(a, b, strict=True)):
        assert (key_text(a) == key_text(b)) == (a == b)


def test_every_group_of_a_person_is_as_likely_to_stay():
    """Of 40,000 persons with the same four groups, each group is first for a quarter: off by 10 sigma at most."""
    firsts = [0] * 4
    for person in range(40_000):
        numbers = [SALT.number(person, f"group {i}") for i in range(4)]
        firsts[numbers.index(min(numbers))] += 1
    assert all(abs(count - 10_000) < 10 * (40_000 * 3 / 16) ** 0.5 for count in firsts)


def test_another_salt_is_another_choice():
    other = Salt("another", 1664525789, 1986745321)
    rng = random.Random(0)
    people = [rng.randrange(2**40) for _ in range(500)]
    agree = sum(
        (SALT.number(p, "a") < SALT.number(p, "b")) == (other.number(p, "a") < other.number(p, "b")) for p in people
    )
    assert 150 < agree < 350


def test_salts_are_drawn_anew():
    salts = {Salt.fresh() for _ in range(50)}
    assert len(salts) == 50
    assert all(salt.first % 2 == salt.second % 2 == 1 for salt in salts)
    assert all(2**30 < salt.first < 2**31 and 2**30 < salt.second < 2**31 for salt in salts)


def crowded():
    """Return a session in which bounding drops most groups of everybody."""
    data = pa.table(
        {"user": [u for u in range(40) for _ in range(12)], "city": [f"c{i}" for _ in range(40) for i in range(12)]}
    )
    return dp.Session(
        data,
        name="t",
        schema={"city": dp.Values([f"c{i}" for i in range(12)])},
        unit=dp.Person("user", groups=2, rows=1),
        budget=dp.Budget(100),
    )


@pytest.mark.parametrize("opened", ["inside", "outside"])
def test_a_seed_repeats_which_groups_stay_too(opened):
    """A release that is repeated in a test is the same to the last digit, though a person's groups are cut."""
    sql = "SELECT city, COUNT(*) AS n FROM t GROUP BY city"

    def released(seed):
        before = crowded() if opened == "outside" else None
        with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(seed):
            session = before or crowded()
            session.preview(sql, epsilon=40)
            return [row["n"] for row in session.release(sql, epsilon=40)]

    assert released("a") == released("a")
    assert len({tuple(released(f"seed {i}")) for i in range(5)}) == 5


def test_outside_of_a_test_a_session_keeps_its_salt():
    session = crowded()
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(1):
        assert session._planner._salt() != session._planner.salt
    assert session._planner._salt() == session._planner.salt
