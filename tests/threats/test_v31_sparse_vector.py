"""A sparse-vector algorithm must be one that has a proof.

Of six published versions four were not private: without noise on the answers, without a limit on how many may be above
the threshold, with one draw of noise for all, or with the noisy answer that was tested given away. Ten questions hardly
show it; fifty do.

Defence: one version, with noise on threshold and answers, a limit, and fresh noise for every value. The probability of
long streams of replies is computed exactly for neighbours that press on it from both sides, and the replies of the
code that runs are audited. Private multiplicative weights have no comparison of their own: theirs is this one, audited
in the same way.
Source: Lyu, Su and Li, Understanding the Sparse Vector Technique for Differential Privacy, VLDB 2017.
"""

import copy
import math

import numpy as np
import pytest

import discreet as dp
from discreet.auditing.zoo.sparse_vector import BROKEN
from discreet.errors import BudgetExceeded, NoTheorem
from discreet.mechanisms.comparisons import Reply
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.synthetic.multiplicative import PMW

LENGTH = 60
EPSILON = 1
NEVER = 1e-9
"""A scale of noise that is none."""


def log_cases(scale, t):
    """The logs of the probabilities that integer Laplace noise is at least t, below it, and equal to it."""
    t, a = np.asarray(t, dtype=float), math.exp(-1 / scale)
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        high = -np.maximum(t, 1) / scale - math.log1p(a)
        low = np.log1p(-np.exp(np.minimum(t - 1, 0) / scale) / (1 + a))
        more = np.where(t >= 1, high, low)
        high = -np.maximum(1 - t, 1) / scale - math.log1p(a)
        low = np.log1p(-np.exp(np.minimum(-t, 0) / scale) / (1 + a))
        fewer = np.where(t <= 0, high, low)
        same = math.log((1 - a) / (1 + a)) - np.abs(t) / scale
    return more, fewer, same


def log_probability(answers, replies, *, first, second, shared=False, value=None):
    """The log of the probability of replies, as a sum over the noise of the threshold of a product over questions.

    With ``shared`` one draw of noise serves all answers, and with a ``value`` the last noisy answer is told.
    """
    reach = math.ceil(50 * max(first, 1)) + LENGTH
    limit = np.arange(-reach, reach + 1)
    total = log_cases(first, limit)[2]
    if shared:  # only the difference of both draws counts: above means that it is at most the answer
        lowest = max((a for a, up in zip(answers, replies, strict=True) if not up), default=-math.inf)
        highest = min((a for a, up in zip(answers, replies, strict=True) if up), default=math.inf)
        noise = np.arange(-math.ceil(50 * second), math.ceil(50 * second) + 1)
        both = total[:, None] + log_cases(second, noise)[2]
        gap = limit[:, None] - noise
        kept = both[(gap > lowest) & (gap <= highest)]
        return float(np.logaddexp.reduce(kept)) if kept.size else -math.inf
    last = len(replies) - 1
    for i, (answer, above) in enumerate(zip(answers, replies, strict=False)):
        if above and i == last and value is not None:
            total = np.where(limit <= value, total + log_cases(second, np.array(value - answer))[2], -np.inf)
        else:
            more, fewer, _ = log_cases(second, limit - answer)
            total = total + (more if above else fewer)
    top = total.max()
    return -math.inf if top == -math.inf else float(top + np.log(np.exp(total - top).sum()))


def pressing(above, spread):
    """Long streams of answers and neighbours that move by 1, with replies: some below first, then some above."""
    count = LENGTH - above
    for high in (0, 0.5, 1, 2, 4):
        for low in (0, 2, 5):
            up, down = round(high * spread), -round(low * spread)
            x = (up,) * count + (down,) * above
            for moves in ((1, -1), (-1, 1), (1, 1), (-1, -1)):
                y = (up + moves[0],) * count + (down + moves[1],) * above
                yield x, y, (False,) * count + (True,) * above


def exposed(law, above=1, spread=4.0, values=(None,)):
    """The largest loss over long streams and their neighbours."""
    losses = []
    for x, y, replies in pressing(above, spread):
        for value in values:
            extra = {} if value is None else {"value": value}
            pair = [log_probability(z, replies, **law, **extra) for z in (x, y)]
            if max(pair) > -math.inf:
                losses.append(abs(pair[0] - pair[1]))
    return max(losses)


@pytest.mark.parametrize("above", [1, 2, 5])
def test_long_streams_cost_what_is_claimed_and_no_more(above):
    made = SparseVector(threshold=0, epsilon=EPSILON, above=above, relation="replace_one", whole=True)
    first, second = (float(scale) for scale in made.scales)
    found = exposed({"first": first, "second": second}, above=above, spread=second)
    assert 0.97 * EPSILON < found <= EPSILON + 1e-9
    assert made.loss.epsilon() == EPSILON


HALF = {"first": 2.0, "second": 4.0}

FLAWED = {
    "no noise on the answers": ({"first": 1.0, "second": NEVER}, 1, (None,)),
    "no limit, half above": ({"first": 2.0, "second": 2.0}, LENGTH // 2, (None,)),
    "noise for one, five above": (HALF, 5, (None,)),
    "one draw for all": (HALF | {"shared": True}, 1, (None,)),
    "the tested value": (HALF, 1, (-20, 0, 20)),
}


@pytest.mark.parametrize("flaw", FLAWED)
def test_the_check_catches_what_was_published(flaw):
    law, above, values = FLAWED[flaw]
    assert exposed(law, above, values=values) > 1.5 * EPSILON


def test_the_same_noise_with_a_limit_of_one_passes():
    assert exposed(HALF) <= EPSILON + 1e-9


AUDITED = SparseVector(threshold=0, epsilon=EPSILON, relation="replace_one", whole=True)


def stream(answers):
    """Ask the code that runs all the answers, and return what it says."""
    said = AUDITED.open(np.array(answers)).answers(lambda x: x, len(answers)).above.tolist()
    return (*map(int, said), *[-1] * (len(answers) - len(said)))


NEIGHBOURS = ((0,) * 50, (1,) * 25 + (-1,) * 25)


def test_an_audit_of_long_streams_finds_nothing():
    assert not dp.audit(stream, claims=AUDITED.loss, neighbours=[NEIGHBOURS], draws=3000).refuted


@pytest.mark.parametrize("name", ["sparse-no-query-noise", "sparse-no-cutoff-50"])
def test_the_same_audit_refutes_what_was_published(name):
    found = next(specimen for specimen in BROKEN if specimen.name == name)
    rng = np.random.default_rng(5)
    audited = dp.audit(
        lambda x: found.run(x, rng),
        batch=lambda x, n: found.batch(x, n, rng),
        claims=found.claims,
        neighbours=[found.neighbours],
        draws=200_000,
    )
    assert audited.refuted


def test_it_stops_and_cannot_be_copied():
    made = SparseVector(threshold=0, epsilon=1, above=3, relation="replace_one", whole=True)
    talk = made.open(None)
    replies = talk.answers(lambda _: np.full(10**5, 100), 10**5)
    assert talk.exhausted
    assert replies.above.sum() == 3
    with pytest.raises(BudgetExceeded, match="over"):
        talk.answer(lambda _: 5)
    with pytest.raises(TypeError, match="copied"):
        copy.copy(made.open(None))


def test_small_noise_needs_answers_that_move_one_way():
    with pytest.raises(NoTheorem, match="monotone"):
        SparseVector(threshold=0, epsilon=1, relation="replace_one", monotone=True)


def test_values_get_noise_of_their_own():
    """The value that is told does not tell the noise of the comparison: it may be below the noisy threshold."""
    made = SparseVector(threshold=0, epsilon=1, values_epsilon=1, gap=True, relation="replace_one", whole=True)
    replies = [made.open(None).answer(lambda _: 5) for _ in range(400)]
    told = [r for r in replies if r.above]
    assert made.loss.epsilon() == 2
    assert len(told) > 50
    assert min(r.gap for r in told) >= 0
    assert min(r.value for r in told) < 5 < max(r.value for r in told)
    assert abs(np.corrcoef([r.gap for r in told], [r.value for r in told])[0, 1]) < 0.8


# The comparisons inside of private multiplicative weights ------------------------------------------------------------


def weights_plan(**settings):
    """Comparisons of five records."""
    given = {"sizes": (4,), "size": 5, "alpha": 0.4, "relation": "replace_one", "epsilon": 2, "gate_noise": "laplace"}
    return PMW(**given | {"updates": 1, "share": 0.1} | settings)


ONE_WAY = ([[0], [0], [1], [1], [1]], [[0], [0], [0], [1], [1]])
"""A record moves from the second question to the first: one answer grows, and the other falls."""


class WithoutNoiseOnAnswers:
    """Comparisons with a noisy threshold, and with answers as they are."""

    def __init__(self, gate):
        self.gate = gate

    def open(self, counts):
        noise = dp.Geometric(sensitivity=1, epsilon=1 / self.gate.scales[0])
        self.counts, self.limit, self.exhausted = counts, self.gate.target + noise.release(0), False
        return self

    def answer(self, query):
        self.exhausted = query(self.counts) >= self.limit
        return Reply(self.exhausted)


class WithoutALimit:
    """Comparisons that begin anew, with a budget for one, each time they are over."""

    exhausted = False

    def __init__(self, gate):
        self.gate = gate

    def open(self, counts):
        self.counts, self.inner = counts, self.gate.open(counts)
        return self

    def answer(self, query):
        if self.inner.exhausted:
            self.inner = self.gate.open(self.counts)
        return self.inner.answer(query)


def compared(plan, rows):
    """Say for both questions whether their reply was measured."""
    talk = plan.open(rows)
    return tuple(int(talk.answer({0: value}).source == "measured") for value in (0, 1))


def audited(plan, claims):
    return dp.audit(lambda rows: compared(plan, rows), claims=claims, neighbours=[ONE_WAY], draws=4000)


def broken(plan, gate):
    object.__setattr__(plan, "gate", gate(plan.gate))
    return plan


def test_an_audit_of_comparisons_with_weights_finds_nothing():
    plan = weights_plan()
    assert not audited(plan, plan.loss).refuted


def test_the_same_audit_refutes_weights_without_noise_on_answers():
    assert audited(broken(weights_plan(), WithoutNoiseOnAnswers), weights_plan().loss).refuted


def paid_for(plan):
    """How many replies of a long conversation were measured."""
    talk = plan.open([[i % 4] for i in range(5)])
    return sum(talk.answer({0: i % 4}).source == "measured" for i in range(400))


@pytest.mark.parametrize("updates", [1, 3])
def test_weights_never_pay_for_more_replies_than_were_charged(updates):
    plan = weights_plan(updates=updates)
    assert plan.measurements == updates
    assert max(paid_for(plan) for _ in range(10)) == updates
    assert max(paid_for(broken(weights_plan(updates=updates), WithoutALimit)) for _ in range(10)) > updates
