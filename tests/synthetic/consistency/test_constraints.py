"""Facts that contradict each other are named, all of them and no others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidParameter
from discreet.synthetic.consistency import Constraints
from discreet.synthetic.consistency.contradiction import contradiction


def blamed(facts):
    """Return the names in the error, or nothing."""
    try:
        facts.check()
    except InvalidParameter as error:
        said = str(error).split("other: ")[1].split(", given")[0]
        return set(said.replace("'", "").split(", "))
    return set()


def test_only_the_contradiction_is_named():
    facts = (
        Constraints(6)
        .equal("everybody", range(6), 100)
        .at_most("youth", [0, 1], 20)
        .at_least("elders", [4, 5], 30)
        .equal("the rest", [2, 3], 60)
        .at_most("harmless", [3], 50)
    )
    assert blamed(facts) == set()
    assert blamed(facts.at_least("more elders", [4, 5], 45)) == {"everybody", "the rest", "more elders"}
    assert blamed(facts.at_most("few", [4, 5], 10)) == {"elders", "few"}
    assert blamed(facts.zero("no rest", [2, 3])) == {"the rest", "no rest"}


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_facts_that_somebody_keeps_are_never_blamed(seed):
    random = np.random.default_rng(seed)
    x = random.integers(0, 20, 8)
    facts = Constraints(8).zero("empty", x == 0) if (x == 0).any() else Constraints(8)
    for i in range(6):
        cells = random.choice(8, int(random.integers(1, 6)), replace=False)
        value = int(x[cells].sum())
        kind = random.choice(["equal", "at_most", "at_least"])
        facts = getattr(facts, str(kind))(f"fact {i}", cells, value + {"at_most": 1, "at_least": -1}.get(str(kind), 0))
    assert blamed(facts) == set()
    assert facts.violated(x) == ()


@settings(max_examples=15)
@given(st.integers(0, 2**32))
def test_what_is_blamed_is_irreducible(seed):
    random = np.random.default_rng(seed)
    facts = Constraints(6)
    for i in range(9):
        cells = random.choice(6, int(random.integers(1, 5)), replace=False)
        kind = str(random.choice(["equal", "at_most", "at_least"]))
        facts = getattr(facts, kind)(f"fact {i}", cells, int(random.integers(0, 15)))
    names = [row.name for row in facts.rows]
    found = contradiction(facts.matrix, facts.low, facts.high, names)
    if found is None:
        return

    def contradict(kept):
        rows = [names.index(name) for name in kept]
        return contradiction(facts.matrix[rows], facts.low[rows], facts.high[rows], kept) is not None

    assert contradict(list(found))
    for name in found:
        rest = [other for other in found if other != name]
        assert not rest or not contradict(rest)


@pytest.mark.parametrize(("one", "other"), [(1e9, 1e9 + 50), (1e12, 1e12 + 1e4), (10, 10.000001)])
def test_large_totals_that_nearly_agree_contradict(one, other):
    facts = Constraints(3).at_most("harmless", [2], one)
    assert blamed(facts.equal("a", [0, 1], one).equal("b", [0, 1], other)) == {"a", "b"}
    assert blamed(facts.at_most("a", [0, 1], one).at_least("b", [0, 1], other)) == {"a", "b"}
    assert blamed(facts.equal("a", [0, 1], one).at_least("b", [0], other)) == {"a", "b"}
    assert blamed(facts.equal("a", [0, 1], one).equal("b", [0, 1, 2], other)) == set()


def test_equalities_are_exact():
    many = 2**53
    assert blamed(Constraints(2).equal("a", [0, 1], many).equal("b", [0, 1], many - 1)) == {"a", "b"}
    facts = Constraints(3).equal("all", [0, 1, 2], many).equal("most", [0, 1], many - 1)
    assert blamed(facts) == set()
    assert blamed(facts.zero("nobody", [2])) == {"all", "most", "nobody"}
    with pytest.raises(InvalidParameter, match="float holds"):
        Constraints(2).equal("a", [0, 1], many + 1)


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from([10**6, 10**9, 10**12]))
def test_of_large_facts_exactly_those_that_contradict_are_blamed(seed, size):
    random = np.random.default_rng(seed)
    x = random.integers(0, size, 12) * random.integers(0, 2, 12)
    facts = Constraints(13)
    for i in range(10):
        cells = random.choice(12, int(random.integers(1, 10)), replace=False)
        kind = str(random.choice(["equal", "at_most", "at_least"]))
        facts = getattr(facts, kind)(f"fact {i}", cells, int(x[cells].sum()))
    assert blamed(facts) == set()
    apart = facts.equal("as many", [12], size)
    assert blamed(apart) == set()
    assert blamed(apart.at_least("one more", [12], size + 1)) == {"as many", "one more"}


def test_negative_values_contradict_alone():
    assert blamed(Constraints(2).at_most("debt", [0, 1], -1)) == {"debt"}
    assert blamed(Constraints(2).equal("difference", {0: 1.0, 1: -1.0}, -1)) == set()


def test_what_is_violated_is_listed():
    facts = Constraints(3).equal("all", [0, 1, 2], 3).zero("none", [2])
    assert facts.violated([1, 1, 1]) == ("none",)
    assert facts.violated([4, -1, 0]) == ("no negative counts",)
    assert facts.violated([1, 1, 0]) == ("all",)
    assert facts.violated([1.0, 2.0000001, 0], tolerance=1e-6) == ()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Constraints(0),
        lambda: Constraints(2).equal("", [0], 1),
        lambda: Constraints(2).equal("a", [2], 1),
        lambda: Constraints(2).equal("a", [], 1),
        lambda: Constraints(2).equal("a", [0], float("nan")),
        lambda: Constraints(2).equal("a", {0: float("inf")}, 1),
        lambda: Constraints(2).equal("a", [0], 1).zero("a", [1]),
        lambda: Constraints(2).zero("a", np.array([True])),
    ],
)
def test_what_is_no_fact_is_refused(make):
    with pytest.raises(InvalidParameter):
        make()
