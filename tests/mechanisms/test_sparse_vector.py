import asyncio
import math
import os
import pickle
import threading
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting import PrivacyLoss
from discreet.errors import BudgetExceeded, InvalidParameter, NoTheorem
from discreet.mechanisms import Dialogue
from discreet.mechanisms.comparisons import FAR, _asked, _steps, floor_of
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.testing.rebuild import rebuild


def plan(**given):
    return SparseVector(**({"threshold": 0, "epsilon": 1, "relation": "replace_one", "whole": True} | given))


def test_it_is_a_dialogue():
    made = plan()
    assert isinstance(made, Dialogue)
    assert "Satisfies" in SparseVector.__doc__
    assert PrivacyLoss.from_json(made.loss.to_json()) == made.loss
    assert made.loss.relation == made.domain.relation == "replace_one"


def test_worked_scales():
    assert plan(share=0.5, above=3).scales == (2, 12)
    assert plan(share=0.5, above=3, monotone=True, relation="add_remove").scales == (2, 6)
    assert plan(share=0.5, sensitivity=2).scales == (4, 8)


def test_the_default_split_is_that_of_least_variance():
    for above in (1, 3, 20):
        for monotone in (False, True):
            given = {"above": above, "monotone": monotone, "relation": "add_remove"}

            def variance(given=given, **share):
                return sum(scale**2 for scale in plan(**given, **share).scales)

            best = variance()
            first = Fraction(1) / plan(**given).scales[0]
            assert all(
                best <= variance(share=first * f) for f in (Fraction(9, 10), Fraction(99, 100), Fraction(11, 10))
            )


def test_worked_error():
    """Dwork and Roth, theorem 3.24: 8 (log k + log(2 / beta)) / epsilon."""
    made = plan(share=0.5)
    assert made.error(0.05, queries=1000, bound="union") == pytest.approx(84.77307786476858, abs=1e-9)
    assert made.error(0.05, queries=1000) < 60


@pytest.mark.parametrize("bound", ["exact", "union"])
def test_the_error_counts_what_rounding_moved_the_threshold_by(bound):
    """Thresholds of whole numbers are rounded, to 100 and to 101 here."""
    for threshold, answer, above in ((100.4, 100, True), (100.5, 100, False), (100.6, 101, True)):
        made = plan(threshold=threshold, epsilon=200)
        told = {made.open(None).answer(lambda _, answer=answer: answer).above for _ in range(50)}
        assert told == {above}
        reach = made.error(0.05, queries=1, bound=bound)
        assert answer >= threshold - reach if above else answer <= threshold + reach
        assert reach >= abs(threshold - made.target)


@pytest.mark.parametrize(
    "made",
    [
        plan(),
        plan(noise="exponential", above=2),
        plan(epsilon=0.001, monotone=True, relation="add_remove"),
        SparseVector(threshold=0, sensitivity=0.3, epsilon=1, relation="replace_one"),
    ],
)
def test_the_error_is_exact_for_its_event(made):
    """All noise on answers within the error of that on the threshold, in about 19 of 20 conversations."""
    queries, draws = 50, 2000
    reach = made.error(0.05, queries=queries)
    first, second = made.scales
    limit = np.array([int(made.draw(first)) for _ in range(draws)])
    noise = np.array(made.draw(second, (draws, queries)))
    misses = int((np.abs(noise - limit[:, None]).max(axis=1) > reach / float(made.grid)).sum())
    assert misses <= draws * 0.05 + 7 * math.sqrt(draws * 0.05)
    assert misses >= draws * 0.03 - 7 * math.sqrt(draws * 0.05)


def test_exponential_noise_has_half_the_variance_and_no_bias():
    made, other = plan(noise="exponential", epsilon=0.1), plan(epsilon=0.1)
    assert made.scales == other.scales
    assert made.loss == other.loss
    one, two = (np.array(m.draw(m.scales[1], 100_000), dtype=float) for m in (made, other))
    assert one.var() / two.var() == pytest.approx(0.5, rel=0.1)
    assert abs(one.mean()) < 6 * one.std() / math.sqrt(100_000) + 0.5
    assert made.error(0.05, queries=100) < other.error(0.05, queries=100)


def test_far_answers_are_told_right():
    data = {"low": 0, "high": 1000}
    for given in ({}, {"noise": "exponential"}, {"restart": True}, {"whole": False}):
        talk = plan(threshold=500, above=3, **given).open(data)
        said = [talk.answer(lambda d, k=k: d[k]).above for k in ("low", "high", "low", "low", "high", "low", "high")]
        assert said == [False, True, False, False, True, False, True]
        assert talk.exhausted
        with pytest.raises(BudgetExceeded):
            talk.answer(lambda d: 0)
        with pytest.raises(BudgetExceeded):
            talk.answers(lambda d: [0], 1)


def test_gaps_and_values():
    made = plan(threshold=100, above=400, epsilon=4000, gap=True, values_epsilon=4000)
    replies = made.open(None).answers(lambda _: [50, 130] * 400, 800)
    assert replies.above.tolist() == [False, True] * 400
    assert np.isnan(replies.gaps[::2]).all()
    assert np.isnan(replies.values[::2]).all()
    assert replies.gaps[1::2].mean() == pytest.approx(30, abs=1)
    assert replies.values[1::2].mean() == pytest.approx(130, abs=1)
    reply = made.open(None).answer(lambda _: 130)
    assert reply
    assert reply.gap > 0
    below = made.open(None).answer(lambda _: 0)
    assert (below.above, below.gap, below.value) == (False, None, None)
    plain = plan(threshold=100).open(None).answer(lambda _: 1000)
    assert (plain.above, plain.gap, plain.value) == (True, None, None)


def test_values_are_charged_on_top():
    made = plan(above=3, values_epsilon=Fraction(3, 2))
    assert made.loss.epsilon() == pytest.approx(2.5)
    assert made.value_noise.scale == 2
    assert plan().value_noise is None


def breaks(_):
    raise KeyError("a value")


def leaves(_):
    raise SystemExit(1)


class Liar(np.ndarray):
    def reshape(self, *_):
        return self

    def tolist(self):
        raise RuntimeError("a value")


class Leaves:
    def __iter__(self):
        raise SystemExit


def recurse(data):
    return recurse(data)


def raises(kind):
    def question(_):
        raise kind("a value")

    return question


@pytest.mark.parametrize(
    "query",
    [
        *map(raises, (RuntimeError, MemoryError, SystemExit, GeneratorExit, asyncio.CancelledError, BaseException)),
        recurse,
        lambda _: Leaves(),
        lambda _: np.array([1j, 2j]).view(Liar),
        lambda _: np.array([object(), "x"]),
        lambda _: np.ma.masked_array([5, 6], mask=[True, True]),
        lambda _: np.array([(1, 2)], dtype="i4,i4"),
        lambda _: np.array(["2020-01-01"], dtype="M8[D]"),
    ],
)
def test_whatever_a_question_does_it_says_nothing(query):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _asked(query, None, 3, Fraction(1)).tolist() == [0, 0, 0]
        replies = plan(threshold=1000, epsilon=100).open(None).answers(query, 3)
    assert replies.above.tolist() == [False] * 3


def test_arrays_of_other_classes_count_as_arrays():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wide = np.matrix([[1, 2, 3]])
    assert _asked(lambda _: wide, None, 2, Fraction(1)).tolist() == [1, 2]
    assert _asked(lambda _: wide, None, 4, Fraction(1)).tolist() == [1, 2, 3, 0]
    assert _asked(lambda _: np.array([4, 5]).view(Liar), None, 2, Fraction(1)).tolist() == [4, 5]
    assert _asked(lambda _: np.ma.masked_array([5, 6], mask=[True, False]), None, 2, Fraction(1)).tolist() == [0, 6]


def test_a_person_may_stop_a_question():
    talk = plan(threshold=10**6).open(None)
    with pytest.raises(KeyboardInterrupt):
        talk.answer(raises(KeyboardInterrupt))
    assert not talk.answer(lambda _: 0).above


@pytest.mark.parametrize(
    "query",
    [breaks, lambda _: math.nan, lambda _: None, lambda _: "7", lambda _: [], lambda _: np.array([1, 2]), leaves],
)
@pytest.mark.parametrize("whole", [True, False])
def test_what_is_no_number_counts_as_zero(query, whole):
    made = plan(threshold=-100, epsilon=100, whole=whole)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made.open([1, 2]).answer(query).above
        assert not plan(threshold=100, epsilon=100, whole=whole).open([1, 2]).answer(query).above


@pytest.mark.parametrize(
    "answer",
    [math.inf, 1e308, 10**400, Fraction(10**30), np.float32(1e30), np.uint64(2**64 - 1), Decimal("1e30"), True],
)
@pytest.mark.parametrize("whole", [True, False])
def test_answers_of_any_size_and_kind(answer, whole):
    made = plan(threshold=0.5 if not whole else 1, epsilon=10**6, whole=whole)
    for query in (lambda _: answer, lambda _: [answer], lambda _: np.array([answer])):
        talk = made.open(None)
        found = talk.answers(query, 1) if query(0) is not answer else talk.answer(query)
        assert np.all(found.above)


def test_a_vector_of_another_length_does_not_tell():
    made = plan(threshold=1000)
    for given in ([], [1], [1] * 50, np.zeros((3, 4)), (x for x in range(5)), 3, None, np.array(["a", "b"])):
        assert len(made.open(None).answers(lambda _, given=given: given, 7)) == 7
    assert len(made.open(None).answers(lambda _: [], 0)) == 0
    with pytest.raises(InvalidParameter, match="count"):
        made.open(None).answers(lambda _: [], -1)


@pytest.mark.parametrize("grid", [Fraction(1), Fraction(1, 2**20), Fraction(4), Fraction(2**70), Fraction(1, 2**70)])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, np.float16, np.float32, np.float64])
def test_steps_are_exact_for_every_type(grid, dtype):
    rng = np.random.default_rng(3)
    if np.dtype(dtype).kind == "f":
        top = min(float(np.finfo(dtype).max), 1e30)
        values = np.concatenate(
            [rng.uniform(-3, 3, 50), rng.uniform(-1, 1, 50) * top, [0.5, -0.5, 1.5, 2.5, 0.49999997]]
        )
    else:
        info = np.iinfo(dtype)
        drawn = rng.integers(info.min, info.max, 90, dtype=dtype, endpoint=True)
        values = np.concatenate([drawn, np.array([info.min, info.max, 0, 1, 2, 3, 6], dtype=dtype)])
    array = values.astype(dtype)
    expected = [max(-FAR, min(FAR, floor_of(Fraction(x) / grid))) for x in array.tolist()]
    assert _steps(array, grid).tolist() == expected
    assert _steps([Fraction(x) for x in array.tolist()], grid).tolist() == expected


INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_the_largest_and_smallest_of_every_integer_type_on_every_grid(dtype):
    info = np.iinfo(dtype)
    values = [v for v in (info.min, info.min + 1, -1, 0, 1, info.max - 1, info.max) if info.min <= v <= info.max]
    for exponent in range(-70, 71):
        grid = Fraction(2) ** exponent
        expected = [max(-FAR, min(FAR, floor_of(v / grid))) for v in values]
        assert _steps(np.array(values, dtype=dtype), grid).tolist() == expected
        for value, steps in zip(values, expected, strict=True):  # one alone, without larger ones beside it
            assert _steps(np.array([value], dtype=dtype), grid).tolist() == [steps]


def test_steps_of_a_grid_that_no_float_holds():
    assert _steps(np.array([0, 5e-324, -5e-324]), Fraction(1, 2**1094)).tolist() == [0, 2**20, -(2**20)]
    assert _steps(np.array([1e308, -1e308]), Fraction(2**1100)).tolist() == [0, 0]


@pytest.mark.parametrize("one", [Decimal, np.longdouble, Fraction, int])
def test_exact_answers_stay_exact(one):
    """Where float64 would round, neighbours 1 apart might be told 2 apart."""
    answers = [one(2**53) + one(k) for k in range(4)]
    expected = [2**53 + k for k in range(4)]
    assert _asked(lambda _: answers, None, 4, Fraction(1)).tolist() == expected
    assert _asked(lambda _: np.array(answers), None, 4, Fraction(1)).tolist() == expected
    assert _asked(lambda _: [np.array(x) for x in answers], None, 4, Fraction(1)).tolist() == expected


def test_decimals_of_any_size():
    sizes = ("1e999999", "-1e999999", "1e-999999", "-0", "NaN", "sNaN", "Infinity", "-Infinity", "0.5", "-0.5")
    expected = [FAR, -FAR, 0, 0, 0, 0, FAR, -FAR, 1, 0]
    assert _asked(lambda _: list(map(Decimal, sizes)), None, 10, Fraction(1)).tolist() == expected
    assert _asked(lambda _: [np.longdouble(x) for x in ("inf", "-inf", "nan")], None, 3, Fraction(1)).tolist() == [
        FAR,
        -FAR,
        0,
    ]
    for exponent in (-200, -3, 5, 200):
        grid = Fraction(2) ** exponent
        near = [Decimal(7).scaleb(k) * sign for k in range(-70, 71) for sign in (1, -1)]
        exact = [max(-FAR, min(FAR, floor_of(Fraction(x) / grid))) for x in near]
        assert _asked(lambda _, near=near: near, None, len(near), grid).tolist() == exact


def test_rounded_answers_move_as_promised():
    """Answers that differ by at most the sensitivity, and half a step each for rounding, stay within ``moves``."""
    for sensitivity in (0.3, 1, Fraction(1, 3), 1000.7):
        made = SparseVector(threshold=0, sensitivity=sensitivity, epsilon=1, relation="replace_one")
        rng, size, half = np.random.default_rng(8), Fraction(sensitivity), made.grid / 2
        for start in rng.uniform(-5, 5, 300):
            x, y = Fraction(start) - half, Fraction(start) + size + half
            assert abs(floor_of(x / made.grid) - floor_of(y / made.grid)) <= made.moves
        assert made.moves * made.grid / size - 1 < 4e-6


def test_a_million_answers_at_once(instructions):
    made = plan(threshold=10**6, above=2)
    replies = made.open(np.zeros(10**6)).answers(lambda x: x, 10**6)
    assert len(replies) == 10**6
    assert not replies.above.any()
    assert instructions(lambda: made.open(np.zeros(10**6)).answers(lambda x: x, 10**6)) < 10**6


def test_chunks_make_no_difference():
    spikes = np.zeros(200_000)
    spikes[[5, 65_535, 65_536, 131_072, 199_999]] = 10**6
    for restart in (False, True):
        replies = plan(threshold=10**5, above=5, restart=restart).open(None).answers(lambda _: spikes, spikes.size)
        assert np.flatnonzero(replies.above).tolist() == [5, 65_535, 65_536, 131_072, 199_999]
        short = plan(threshold=10**5, above=3, restart=restart).open(None).answers(lambda _: spikes, spikes.size)
        assert len(short) == 65_537


def test_threads_share_one_limit():
    talk, seen = plan(threshold=-1000, above=50).open(None), []

    def ask():
        for _ in range(40):
            try:
                seen.append(talk.answer(lambda _: 0).above)
            except BudgetExceeded:
                return

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(seen) == 50


def test_a_question_cannot_ask_its_own_conversation():
    """Else which questions are asked would depend on data."""
    for gap in (False, True):
        talk, inner = plan(threshold=1000, epsilon=100, gap=gap).open(["bob"]), []

        def question(data, talk=talk, inner=inner):
            try:
                talk.answer(lambda _: 10**9)
            except NoTheorem as error:
                inner.append(str(error))
                raise
            return 10**9

        assert not talk.answer(question).above
        assert not talk.exhausted
        assert len(inner) == 1
        assert "bob" not in inner[0]
        assert talk.answer(lambda _: 10**9).above


def in_a_child(action):
    """Run something in a forked process, and return what it says."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            said = str(action())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write, said.encode())
        os._exit(0)
    os.waitpid(child, 0)
    said = os.read(read, 10_000).decode()
    os.close(read)
    os.close(write)
    return said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_does_not_go_on_with_the_conversation(monkeypatch):
    """Every process would answer from the same noise on the threshold, as if it were the only one."""
    talk = plan(threshold=0, epsilon=100).open(None)
    assert in_a_child(lambda: talk.answer(lambda _: 1000)).startswith("BudgetExceeded: the conversation was opened in")
    assert in_a_child(lambda: plan(epsilon=100).open(None).answer(lambda _: 1000).above) == "True"
    held = talk._turn.acquire()  # by a thread that the child does not have
    assert in_a_child(lambda: talk.answer(lambda _: 1000)).startswith("BudgetExceeded")
    talk._turn.release()
    number = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: number)  # numbers of processes are used again
    assert in_a_child(lambda: talk.answer(lambda _: 1000)).startswith("BudgetExceeded")
    assert held
    assert talk.answer(lambda _: 1000).above


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_question_that_forks_is_answered_once():
    talk, said = plan(threshold=0, epsilon=100).open(None), []

    def question(_):
        said.append(os.fork())
        return 1000

    try:
        reply = talk.answer(question)
    except BudgetExceeded:
        os._exit(7)
    if not said[0]:
        os._exit(8)
    assert reply.above
    assert os.waitstatus_to_exitcode(os.waitpid(said[0], 0)[1]) == 7


def test_a_conversation_is_not_pickled():
    with pytest.raises(TypeError, match="copied or pickled"):
        pickle.dumps(plan().open(None))


def test_reprs_give_the_plan_back():
    for made in (
        plan(),
        plan(above=4, share=0.25, gap=True, values_epsilon=Fraction(1, 3), noise="exponential"),
        SparseVector(threshold=0.5, sensitivity=0.1, epsilon=2, relation="add_remove", monotone=True, restart=True),
    ):
        assert rebuild(repr(made), {"SparseVector": SparseVector, "Fraction": Fraction}) == made


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"epsilon": 0}, InvalidParameter, "epsilon"),
        ({"epsilon": 1e-30}, InvalidParameter, "larger"),
        ({"values_epsilon": 1e-30}, InvalidParameter, "larger"),
        ({"values_epsilon": 0}, InvalidParameter, "values_epsilon"),
        ({"sensitivity": 0}, InvalidParameter, "sensitivity"),
        ({"sensitivity": 0.5}, InvalidParameter, "whole"),
        ({"above": 0}, InvalidParameter, "above"),
        ({"above": 1.0}, InvalidParameter, "above"),
        ({"threshold": math.inf}, InvalidParameter, "threshold"),
        ({"threshold": 2.0**70}, InvalidParameter, "2\\^60"),
        ({"share": 1}, InvalidParameter, "share"),
        ({"noise": "gaussian"}, InvalidParameter, "noise"),
        ({"gap": 1}, InvalidParameter, "gap"),
        ({"monotone": True}, NoTheorem, "replaced"),
    ],
)
def test_what_cannot_be(given, error, match):
    with pytest.raises(error, match=match):
        plan(**given)


@pytest.mark.parametrize("given", [{"queries": 0}, {"queries": 5, "bound": "best"}, {"queries": 5, "beta": 0}])
def test_errors_of_errors(given):
    with pytest.raises(InvalidParameter):
        plan().error(**({"beta": 0.05} | given))
