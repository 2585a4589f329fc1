import itertools
import math
import uuid
from collections import Counter
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from discreet.errors import InvalidInput, InvalidParameter, RelationMismatch
from discreet.mechanisms import partition
from discreet.mechanisms.stability_histogram import Bins, StabilityHistogram, _gather
from discreet.testing import check_mechanism
from discreet.units import Row

SURE = StabilityHistogram(epsilon=200, delta=1e-9, relation="add_remove")
"""So little noise that it is never seen."""


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("noise", ["geometric", "gaussian"])
def test_keeps_the_contract(relation, noise, monkeypatch):
    monkeypatch.setattr(partition, "BLOCK", 64)  # thousands of small releases
    made = StabilityHistogram(epsilon=1, delta=0.05, relation=relation, noise=noise)
    t = made.threshold
    several = [Bins((), ()), *(Bins((key,), (n,)) for key in (0, 1) for n in range(t + 1, t + 100))]
    alone = [0], ([1] if relation == "replace_one" else [])
    done = check_mechanism(made, outputs=several, neighbours=alone)
    assert {"interface", "frozen", "keyword-only", "repr", "loss", "claim", "law"} <= set(done.passed)
    assert made.loss.delta(1) <= 0.05


@pytest.mark.parametrize(
    ("epsilon", "delta", "least", "exact"),
    [(1, 1e-6, 27, None), (0.5, 1e-9, 81, 9.024214911879619e-10), (0.1, 1e-5, 217, 9.944811023375551e-06)],
)
def test_worked_thresholds(epsilon, delta, least, exact):
    made = StabilityHistogram(epsilon=epsilon, delta=delta, relation="replace_one")
    assert made.threshold == least
    assert exact is None or math.isclose(made.failure, exact, rel_tol=1e-9)
    assert made.loss.delta(epsilon) == float(made.failure) <= delta
    half = StabilityHistogram(epsilon=epsilon / 2, delta=delta, relation="add_remove")
    assert (half.threshold, half.failure) == (made.threshold, made.failure)


def test_several_bins_share_delta():
    made = StabilityHistogram(epsilon=1, delta=1e-3, relation="replace_one", bins=3)
    assert made.unit.scale == 6
    a = math.exp(-1 / 6)
    assert math.isclose(made.failure, 1 - (1 - a**made.threshold / (1 + a)) ** 3, rel_tol=1e-9)
    assert 1 - (1 - a ** (made.threshold - 1) / (1 + a)) ** 3 > 1e-3


def test_bins_of_any_kind_in_an_order_of_their_own():
    data = ["b"] * 90 + [2] * 80 + ["a"] * 70 + [True] * 60 + [1] * 50 + [None] * 40 + [1.0] * 30 + ["rare"]
    found = SURE.release(data)
    assert repr(found) == repr(SURE.release(data[::-1])) == repr(SURE.release(sorted(data, key=repr)))
    assert repr(found.keys) == "(1, 2, None, 'a', 'b')"
    assert found.counts == (140, 80, 40, 70, 90)


@pytest.mark.parametrize("dtype", ["U40", "S9", "object"])
def test_arrays_say_the_same_as_lists(dtype):
    data = ["b"] * 9 + ["a"] * 12 + ["ab"] * 7 + ["c"]
    array = np.array(data).astype(dtype)
    assert SURE.release(array) == SURE.release(array.tolist())
    assert [n for _, n in SURE.release(array)] == [12, 7, 9]
    numbers = np.array([5] * 8 + [-3] * 7 + [300] * 9)
    for kind in (np.int16, np.int64):
        assert repr(SURE.release(numbers.astype(kind))) == "Bins(keys=(-3, 5, 300), counts=(7, 8, 9))"


def test_equal_numbers_are_one_bin_with_one_look():
    """Else one record in front would decide what is shown."""
    for first, many in ((Decimal("1.50"), Decimal("1.5")), (-0.0, 0.0), (True, 1), (1.0, 1)):
        assert repr(SURE.release([first] + [many] * 50)) == repr(SURE.release([many] * 50 + [first]))
        assert repr(SURE.release([first] * 50).keys) == repr(SURE.release([many] * 50).keys)
    assert SURE.release([math.nan] * 9 + [np.nan] * 9).counts == (18,)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.array([7] * 50 + [8]), np.array([7] * 50 + [np.nan])),
        (np.array([7] * 50 + [8]), np.array([7] * 50 + [8.5])),
        (np.array([True] * 50 + [False]), np.array([True] * 50 + [2])),
        (pd.Series([7] * 50 + [8]), pd.Series([7] * 50 + [None])),
    ],
)
def test_one_record_that_changes_the_type_of_all_changes_nothing_else(one, other):
    """numpy and pandas turn whole numbers into floats if one is missing."""
    assert Row(relation="replace_one").distance(one, other) == 1
    assert repr(SURE.release(one)) == repr(SURE.release(other))


def test_a_long_text_that_is_not_shown_leaves_no_trace():
    short, long = np.array(["flu"] * 50 + ["x"]), np.array(["flu"] * 50 + ["x" * 500])
    assert short.dtype != long.dtype
    assert repr(SURE.release(short)) == repr(SURE.release(long)) == "Bins(keys=('flu',), counts=(50,))"


def test_a_person_counts_in_few_bins_and_once_in_each():
    made = StabilityHistogram(epsilon=400, delta=1e-9, relation="add_remove", bins=2)
    data = [["c", "a", "b", "a"]] * 20 + [{"b"}] * 10 + ["d"] * 15 + [()]
    assert list(made.release(data)) == [("a", 20), ("b", 30), ("d", 15)]
    assert SURE.release([("a", "b")] * 9).keys == (("a", "b"),)


def test_counts_of_somebody_else():
    for keys in (["b", "a", "z"], np.array(["b", "a", "z"])):
        assert list(SURE.reveal(keys, [40, 20, 0])) == [("a", 20), ("b", 40)]
    assert list(SURE.reveal(np.array([7, 3, 7]), np.array([10, 20, 30]))) == [(3, 20), (7, 30)]
    assert list(SURE.reveal([len, print], [10, 20])) == [(None, 20)]
    assert SURE.reveal([], []) == SURE.release([]) == Bins((), ())
    assert SURE.reveal(["a"], [-5]) == Bins((), ())
    assert SURE.reveal([1, 1], [2**63, 2**63]).keys == (1,)
    with pytest.raises(InvalidInput, match="one length"):
        SURE.reveal(["a"], [1, 2])
    with pytest.raises(InvalidInput, match="whole"):
        SURE.reveal(["a"], [1.5])


@pytest.mark.parametrize(
    "keys",
    [
        [uuid.UUID(int=i) for i in range(4)],
        [(1, 2), [1, 2], np.array([1, 2]), (1.0, 2)],
        np.array([5, 5, 5, 5]),
        ["a", "a", "b", "a"],
    ],
    ids=["not told apart", "look the same", "array", "listed twice"],
)
def test_one_person_moves_a_bin_by_one_whatever_the_keys_look_like(keys):
    """For every person in some of the keys: each bin moves by at most one, and no more bins than she is in."""
    base = [3, 0, 7, 1]
    for hers in itertools.product((0, 1), repeat=4):
        without, own = _found(keys, base), _found(keys, [n + k for n, k in zip(base, hers, strict=True)])
        moved = [own[key] - without[key] for key in own]
        assert own.keys() == without.keys()
        assert set(moved) <= {0, 1}
        assert sum(moved) <= sum(hers)


def _found(keys, counts):
    found, numbers = _gather(keys, counts)
    return dict(zip(list(found), list(numbers), strict=True))


def test_the_frequent_ones():
    found = Bins(("a", "b", "c", "d"), (30, 90, 40, 90))
    assert list(found.above(40)) == [("b", 90), ("d", 90)]
    assert list(found.top(3)) == [("b", 90), ("d", 90), ("c", 40)]
    assert (len(found), len(found.top(0)), len(found.top(9))) == (4, 0, 4)


def test_nobody_is_shown_where_all_are_alone():
    made = StabilityHistogram(epsilon=1, delta=1e-12, relation="replace_one")
    assert len(made.release(np.arange(100_000))) == 0
    assert len(made.release(list(range(1000)))) == 0


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("noise", ["geometric", "gaussian"])
def test_what_is_said_of_errors_is_exact(relation, noise):
    """By adding up, over all counts, the probabilities of noise that is too far off."""
    made = StabilityHistogram(epsilon=1, delta=1e-3, relation=relation, noise=noise)
    t, reach = made.threshold, 400
    z = np.arange(-reach, reach + 1)
    law = np.exp([made.unit.log_probability(0, int(value)) for value in z])

    def misses(limit):
        shown = [np.where(n + z > t, n + z, 0) for n in range(1, 3 * t)]
        return max(float(law[np.abs(row - n) > limit].sum()) for n, row in enumerate(shown, 1))

    def hidden(n):
        return float(law[n + z <= t].sum())

    for beta in (0.4, 0.05, 1e-3):
        assert misses(made.error(beta)) <= beta < misses(made.error(beta) - 1)
        assert hidden(made.seen(beta)) <= beta < hidden(made.seen(beta) - 1)
        assert math.isclose(made.probability(made.seen(beta)), 1 - hidden(made.seen(beta)), rel_tol=1e-9)
    assert made.error(0.05, queries=100) > made.error(0.05)
    for verb in (made.error, made.seen):
        with pytest.raises(InvalidParameter, match="1/2"):
            verb(0.5)


def test_what_cannot_come_out():
    made = StabilityHistogram(epsilon=1, delta=0.01, relation="add_remove")
    t, data = made.threshold, ["a", "b", "b"]
    for output in (
        Bins(("c",), (t + 1,)),
        Bins(("a",), (t,)),
        Bins(("b", "a"), (t + 1, t + 1)),
        Bins(("a", "a"), (t + 1, t + 1)),
    ):
        assert made.log_probability(data, output) == -math.inf
    assert made.log_probability(data, Bins(("a", "b"), (t + 1, t + 9))) > -math.inf
    assert made.log_probability(np.array(data), Bins((), ())) == made.log_probability(data, Bins((), ()))


def test_bins_take_no_loop_over_bins(instructions):
    made = StabilityHistogram(epsilon=1, delta=1e-9, relation="replace_one")
    keys = np.random.default_rng(0).permutation(1_000_000)
    assert len(made.release(keys)) <= 5
    assert len(made.reveal(keys, np.ones(keys.size, dtype=np.int64))) <= 5
    assert instructions(lambda: made.release(keys)) < 100_000
    assert instructions(lambda: made.reveal(keys, np.ones(keys.size, dtype=np.int64))) < 100_000


@pytest.mark.parametrize(
    "given",
    [{"epsilon": 0}, {"delta": 0}, {"delta": 1}, {"bins": 0}, {"bins": 1.5}, {"noise": "laplace"}, {"epsilon": 1e-40}],
)
def test_what_cannot_be(given):
    with pytest.raises(InvalidParameter):
        StabilityHistogram(**({"epsilon": 1, "delta": 1e-6, "relation": "add_remove"} | given))


def test_the_relation_must_be_said():
    with pytest.raises(TypeError):
        StabilityHistogram(epsilon=1, delta=1e-6)
    with pytest.raises(RelationMismatch):
        StabilityHistogram(epsilon=1, delta=1e-6, relation="edge")


# --- the worst neighbours ------------------------------------------------------------------------------------------


def shown_law(made, count, places):
    """Return the law of what is shown of a bin, at these noisy counts, and of all the rest, from its definition."""
    if count == 0:
        return np.append(np.zeros(len(places)), 1.0)
    sigma, z = float(made.unit.sigma), np.arange(-2000, 2001)
    law = np.exp(-((places - count) ** 2) / (2 * sigma**2)) / np.exp(-(z**2) / (2 * sigma**2)).sum()
    return np.append(law, max(0.0, 1 - law.sum()))


def attained(made, epsilon):
    """Return the delta of the pair that is named worst, from its records."""
    one, other = (
        Counter(bin_ for record in data for bin_ in (record if made.bins > 1 else [record]))
        for data in made.worst_case()
    )
    p, q, t, reach = np.ones(1), np.ones(1), made.threshold, math.ceil(9 * made.unit.sigma)
    for bin_ in {key for key in one | other if one[key] != other[key]}:
        most = max(one[bin_], other[bin_])
        places = np.arange(max(t + 1, most - reach), max(t + 1, most) + reach)
        p = np.multiply.outer(p, shown_law(made, one[bin_], places)).ravel()
        q = np.multiply.outer(q, shown_law(made, other[bin_], places)).ravel()
    return max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ((p, q), (q, p)))


@pytest.mark.parametrize(
    ("bins", "relation", "epsilon", "delta"),
    [
        (1, "add_remove", 1, 1e-6),
        (1, "replace_one", 1, 1e-6),
        (2, "add_remove", 1, 1e-4),
        (2, "replace_one", 3, 1e-2),
        (1, "replace_one", 0.1, 0.3),
        (2, "add_remove", 3, 0.3),
    ],
)
def test_the_worst_neighbours_are_as_bad_as_is_claimed(bins, relation, epsilon, delta):
    made = StabilityHistogram(epsilon=epsilon, delta=delta, relation=relation, bins=bins, noise="gaussian")
    one, other = made.worst_case()
    assert len(one) - len(other) in ((1, -1) if relation == "add_remove" else (0,))
    assert attained(made, epsilon) == pytest.approx(made.loss.delta(epsilon), rel=1e-6)


def test_a_class_of_classes_is_not_asked():
    """Types are compared by what they are: a metaclass may say that its classes are equal to int, and fail later."""
    meta = type("Meta", (type,), {"__eq__": lambda *_: True, "__hash__": lambda _: hash(int)})

    def fail(_):
        raise RuntimeError("a value")

    odd = meta("Odd", (), {"__hash__": fail})()
    assert SURE.release([1] * 50 + [odd]).keys == (1,)
    assert SURE.reveal([1, odd], [50, 1]).keys == (1,)
