"""Private multiplicative weights: what a conversation costs, exactly, and what it tells."""

import copy
import itertools
import math
import multiprocessing
import pickle
import threading

import numpy as np
import pytest

from discreet import BudgetExceeded, InvalidInput, InvalidParameter
from discreet.accounting import PrivacyLoss
from discreet.mechanisms import Dialogue
from discreet.mechanisms.comparisons import Reply
from discreet.mechanisms.geometric import Geometric
from discreet.synthetic.coded import Tallied
from discreet.synthetic.multiplicative import PMW, Linear, Table, learning, pmw, questions

SETTINGS = {"sizes": (2, 3), "size": 100, "alpha": 0.4, "relation": "replace_one", "epsilon": 1}
RELATIONS = ["add_remove", "replace_one"]


def made(**more):
    return PMW(**SETTINGS | more)


def rows(counts):
    """Records of attributes of sizes 2 and 3, given as counts of all six combinations."""
    return Tallied(np.array(list(itertools.product(range(2), range(3)))), np.array(counts))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("records", [1, 3])
@pytest.mark.parametrize("direct", [0, 7])
def test_the_loss_is_that_of_all_parts(relation, records, direct):
    pure = made(relation=relation, records=records, direct=direct)
    many = pure.updates_planned + direct
    assert pure.loss.epsilon() == pytest.approx(1, rel=1e-12)
    assert pure.gate.loss.epsilon() == pytest.approx(0.75)
    assert (many * pure.noise.loss).epsilon() == pytest.approx(0.25)
    assert (many * pure.table_noise.loss).epsilon() == pytest.approx(0.25)
    assert pure.gate.sensitivity == pure.noise.sensitivity == records * questions.STEPS
    assert pure.table_noise.sensitivity == records * (1 if relation == "add_remove" else 2)
    assert not pure.gate.monotone
    zero = made(relation=relation, records=records, direct=direct, epsilon=None, rho=0.5)
    assert 0.5 * (1 - 1e-2) < zero.loss.rho <= 0.5 * (1 + 1e-9)
    assert zero.gate.loss.rho <= 0.375 * (1 + 1e-9)
    for noise in (zero.noise, zero.table_noise):
        assert many * noise.loss.rho == pytest.approx(0.125, rel=1e-6)
    assert zero.gate.restart
    assert zero.loss.relation == relation


def test_the_loss_is_known_before_and_has_a_budget():
    plan = PMW.for_budget(1, 1e-6, **{name: SETTINGS[name] for name in ("sizes", "size", "alpha", "relation")})
    assert 0.98 < plan.loss.epsilon(1e-6) <= 1
    assert PMW.for_budget(1, **{n: v for n, v in SETTINGS.items() if n != "epsilon"}).loss.is_pure
    assert isinstance(plan, Dialogue)
    assert eval(repr(plan), {"PMW": PMW}) == plan
    assert plan.loss == PrivacyLoss.from_json(plan.loss.to_json())


# The law of a conversation, computed ------------------------------------------------------------------------------


class Forced:
    """Comparisons that say what they are told to, and keep the answers that they were asked about."""

    def __init__(self, counts, replies, above):
        self.counts, self.replies, self.asked, self.left = counts, list(replies), [], above

    @property
    def exhausted(self):
        return not self.left

    def answer(self, query):
        self.asked.append(query(self.counts))
        self.left -= self.replies[0]
        return Reply(self.replies.pop(0))


def log_compare(scale, t):
    """The logs of P[noise >= t] and of P[noise < t] for integer Laplace noise."""
    a = math.exp(-1 / scale)
    high = np.where(
        t >= 1, np.exp(-np.maximum(t, 1) / scale) / (1 + a), 1 - np.exp(np.minimum(t - 1, 0) / scale) / (1 + a)
    )
    return np.log(high), np.log1p(-high)


def log_gate(plan, answers, replies):
    first, second = (float(scale) for scale in plan.gate.scales)
    limit = np.arange(-int(45 * first), int(45 * first) + 1)
    total = math.log(math.tanh(0.5 / first)) - np.abs(limit) / first
    for answer, above in zip(answers, replies, strict=True):
        total = total + log_compare(second, plan.gate.target + limit - answer)[0 if above else 1]
    return float(np.logaddexp.reduce(total))


STREAM = ([1, 0, 0, 0, 0, 0], {0: 1}, Table((1,)), [0.5, 0, 0, 1, 0, 0.5])


def transcripts():
    """What comparisons say, with no more than two of them above, and what is measured after each of these."""
    for where in ((), (0,), (1,), (2, 4), (4,), (0, 3), (4, 5), (1, 5)):
        for far in (-3, 0, 2):
            yield tuple(i in where for i in range(8)), far


def law(plan, data, replies, far, monkeypatch):
    """The log-probability that the code which runs tells one transcript about these data, up to the noise's mode."""
    talk = plan.open(data)
    gate = talk._gate = Forced(talk._counts, replies, plan.updates)
    measured = []

    def release(self, exact):
        fixed = np.asarray(exact) * 0 + far  # what is told is the same whatever the data
        measured.append(self.log_probability(np.asarray(exact), fixed))
        return int(fixed) if np.ndim(exact) == 0 else fixed

    monkeypatch.setattr(Geometric, "release", release)
    sources = [talk.answer(question).source for question in STREAM]
    return log_gate(plan, gate.asked, replies[: len(gate.asked)]) + sum(measured), sources


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("direct", [0, 1])
def test_exact_loss_of_whole_conversations(relation, direct, monkeypatch):
    """Every transcript of a stream with single questions and a table, for all neighbours of small data."""
    for module in (questions, learning, pmw):
        monkeypatch.setattr(module, "STEPS", 2)
    plan = PMW(
        sizes=(2, 3), size=2, alpha=0.5, relation=relation, epsilon=2, updates=2, gate_noise="laplace", direct=direct
    )
    cells = list(itertools.product(range(2), range(3)))
    largest = 0.0
    for replies, far in transcripts():
        told = {}
        for base in cells[::2]:
            sets = [[base, cell] for cell in cells] if relation == "replace_one" else [[base], [], [base, (1, 0)]]
            for data in sets:
                told[tuple(data)] = law(plan, data or np.zeros((0, 2)), replies, far, monkeypatch)
        assert len({tuple(sources) for _, sources in told.values()}) == 1
        for one, two in itertools.combinations(told, 2):
            near = len(set(one) ^ set(two)) == 1 and abs(len(one) - len(two)) == 1
            if relation == "replace_one":
                near = one[0] == two[0]
            if near:
                largest = max(largest, abs(told[one][0] - told[two][0]))
    assert plan.loss.epsilon() == pytest.approx(2)
    assert 0.8 < largest <= 2 + 1e-9


# What it tells ----------------------------------------------------------------------------------------------------


def divergence(data, talk):
    """KL of the data, with places that nobody takes, from the weights."""
    share = np.append(np.array(data) / talk.plan.size, 1 - sum(data) / talk.plan.size)
    weights = np.append(talk.weights.table((0, 1)).reshape(-1), 1 - talk.weights.somebody)
    kept = share > 0
    return float((share[kept] * np.log(share[kept] / weights[kept])).sum())


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("step", ["measured", "fixed", "textbook"])
def test_what_is_promised_is_kept_and_each_lesson_brings_nearer(relation, step):
    data = [400_000, 0, 250_000, 50_000, 0, 300_000] if relation == "replace_one" else [500_000, 0, 0, 100_000, 0, 0]
    plan = made(relation=relation, size=10**6, alpha=0.1, step=step, epsilon=20)
    ceiling = plan.error(0.001, queries=200)
    assert ceiling <= 0.1 * plan.size + 1
    talk, rng = plan.open(rows(data)), np.random.default_rng(5)
    least = {"textbook": plan.least**2 / 4}.get(step, 2 * plan.least**2)
    failed = 0
    for i in range(200):
        values = rng.random(6) if i % 2 else rng.integers(0, 2, 6).astype(float)
        before = divergence(data, talk)
        told = talk.answer(values)
        assert abs(told.value - float(values @ data)) <= ceiling + 10
        if told.source == "measured":
            failed += 1
            assert before - divergence(data, talk) >= least * (1 - 1e-9)
        else:
            assert told.source == "checked"
    assert 0 < failed <= plan.updates_planned


@pytest.mark.parametrize("relation", RELATIONS)
def test_tables_are_learned_as_a_whole(relation):
    data = [400_000, 0, 250_000, 50_000, 0, 300_000]
    plan = made(relation=relation, size=10**6, alpha=0.1, epsilon=60)
    assert plan.error(0.001, queries=10, entries=6) <= 0.1 * plan.size + 1
    talk, exact = plan.open(rows(data)), np.array(data).reshape(2, 3)
    before = divergence(data, talk)
    told = talk.answer(Table((0, 1)))
    assert told.source == "measured"
    assert np.abs(told.value - exact).max() < 20_000
    assert before - divergence(data, talk) >= 2 * plan.least**2
    again = talk.answer(Table((0, 1)))
    assert again.source == "checked"
    assert np.abs(again.value - exact).max() <= 0.1 * plan.size
    assert talk.answer(Table((1,))).source == "checked"
    assert abs(talk.model().marginal((0,))[0] - 650_000) <= 0.1 * plan.size


def test_after_the_cap_replies_come_from_the_weights_alone(monkeypatch):
    plan = made(size=10**6, updates=1, alpha=0.05, epsilon=50)
    talk = plan.open(rows([10**6, 0, 0, 0, 0, 0]))
    assert talk.answer({0: 0}).source == "measured"
    assert talk.exhausted
    monkeypatch.setattr(learning.Counts, "answer", lambda *_: pytest.fail("data were looked at"))
    monkeypatch.setattr(learning.Counts, "table", lambda *_: pytest.fail("data were looked at"))
    told = talk.answer({1: 0})
    assert told.source == "unchecked"
    assert told.value == pytest.approx(10**6 / 3, rel=1e-6)
    assert talk.answer(Table((1,))).source == "unchecked"
    assert plan.error(queries=10) == math.inf  # with so few updates nothing is promised


def test_direct_questions_teach_and_are_counted():
    plan = made(size=10**6, alpha=0.05, epsilon=50, direct=3, patience=2)
    talk = plan.open(rows([10**6, 0, 0, 0, 0, 0]))
    told = [talk.answer({0: 0}) for _ in range(4)]
    assert [one.source for one in told] == ["direct", "direct", "checked", "checked"]
    assert talk.direct_left == 1
    assert abs(told[-1].value - 10**6) < 0.05 * 10**6
    assert talk.answer({1: 0}).source == "direct"
    assert talk.direct_left == 0
    assert talk.answer(Table((0, 1))).source in ("checked", "measured")


def test_the_promise_grows_with_questions_and_shrinks_with_records():
    few, many = (made(size=10**6, alpha=0.2).error(queries=k) for k in (10, 10**6))
    assert few < many < math.inf
    assert made(size=1000, alpha=0.2).error(queries=10) == math.inf
    needed = made(alpha=0.2).size_needed(queries=1000)
    assert made(alpha=0.2, size=needed + 1).error(queries=1000) <= 0.2 * (needed + 1) + 1
    assert made(alpha=0.2, size=int(needed * 0.99)).error(queries=1000) == math.inf
    tables = made(alpha=0.2).size_needed(queries=1000, entries=6)
    assert tables > needed
    assert made(alpha=0.2, size=tables + 1).error(queries=1000, entries=6) < math.inf
    with pytest.raises(InvalidParameter, match="are needed"):
        PMW.for_queries(10, sizes=(2,), size=5, relation="add_remove", epsilon=0.1)


# Odd data, odd settings, odd uses ---------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [{"epsilon": 0.01}, {"epsilon": None, "rho": 10}], ids=["little", "much"])
@pytest.mark.parametrize(
    "data", [[0] * 6, [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 10**12], [2**32] * 6], ids=["empty", "one", "far", "all"]
)
def test_any_data_are_answered(data, budget):
    talk = made(relation="add_remove", **budget).open(rows(data))
    for question in ([1] * 6, {0: 0, 1: 1}, Table((0, 1)), Linear((1,), [0, 0.3, 1]), {}):
        assert np.isfinite(talk.answer(question).value).all()
    assert np.isfinite(talk.model().marginal((0, 1))).all()


@pytest.mark.parametrize("relation", RELATIONS)
def test_domains_of_one_element(relation):
    plan = PMW(sizes=(1,), size=1, alpha=0.5, relation=relation, epsilon=1)
    talk = plan.open([[0]])
    assert 0 <= float(talk.answer([1.0]).value) < 10**4
    assert talk.answer(Table((0,))).value.shape == (1,)


def test_large_domains_of_many_attributes():
    plan = made(sizes=(4,) * 20, size=1000, cells=1 << 12, epsilon=10**4, alpha=0.1)
    talk = plan.open(np.ones((1000, 20), dtype=int))
    for i in range(19):
        talk.answer(Table((i, i + 1)))
    assert talk.weights.blocks is None
    assert abs(talk.answer({3: 1, 4: 1}).value - 1000) < 300
    with pytest.raises(InvalidInput, match="fewer"):
        talk.answer(Table(tuple(range(10))))


def test_odd_questions_are_refused_before_anything_private(monkeypatch):
    talk = made().open(np.zeros((100, 2), dtype=int))
    monkeypatch.setattr(type(talk._gate), "answer", lambda *_: pytest.fail("compared"))
    for question in ([math.nan] * 6, [2] * 6, [1] * 5, {5: 1}, Table((9,)), "all"):
        with pytest.raises(InvalidInput):
            talk.answer(question)


@pytest.mark.parametrize(
    "wrong",
    [
        {"sizes": ()},
        {"sizes": (2, 0)},
        {"size": 0},
        {"size": 2.0},
        {"alpha": 0},
        {"alpha": 2},
        {"alpha": math.nan},
        {"epsilon": None},
        {"rho": 1},
        {"epsilon": -1},
        {"share": 1},
        {"updates": 0},
        {"direct": -1},
        {"patience": 0},
        {"step": "long"},
        {"gate_noise": "none"},
        {"records": 0},
        {"cells": 0},
    ],
    ids=str,
)
def test_odd_settings_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        made(**wrong)


def test_the_number_of_records_is_public_under_replace_one_alone():
    with pytest.raises(InvalidInput, match="100 were declared"):
        made().open([[0, 0]] * 99)
    assert made(relation="add_remove").open([[0, 0]] * 99).answer({}).value >= 0
    assert made(records=2).open([[0, 0]] * 99).answer({}).value >= 0  # a person may have fewer than two
    assert made().open([[9, "x"]] * 100).answer({}).value >= 0


def fork_and_ask(talk, channel):
    try:
        talk.answer({})
    except BudgetExceeded as refusal:
        channel.send(str(refusal))


def test_it_cannot_be_copied_and_goes_on_in_one_process_alone():
    talk = made().open([[0, 0]] * 100)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="copied"):
            attempt(talk)
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    other = context.Process(target=fork_and_ask, args=(talk, there))
    other.start()
    assert here.poll(60)
    assert "another process" in here.recv()
    other.join()


def test_threads_take_turns():
    plan = made(size=10**5, updates=5, alpha=0.05, epsilon=100)
    talk, told = plan.open(rows([10**5, 0, 0, 0, 0, 0])), []
    crowd = [
        threading.Thread(target=lambda i=i: told.extend(talk.answer({0: i % 2, 1: j % 3}) for j in range(10)))
        for i in range(4)
    ]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    assert len(told) == 40
    assert sum(one.source == "measured" for one in told) <= 5
