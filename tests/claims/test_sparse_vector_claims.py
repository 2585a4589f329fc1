"""The sparse vector from its definition: the exact probability of everything that it may say, short and long streams.

Given the noise on the threshold, replies are independent, so the probability of a stream of replies is a sum over that
noise of a product over the questions. Noise is whole, and sums reach as far as float64 sees.
"""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from claims_reference import largest_loss
from scipy.stats import chi2

from discreet.accounting import PrivacyLoss
from discreet.mechanisms.comparisons import _steps
from discreet.mechanisms.sparse_vector import SparseVector

BELOW, ABOVE = False, True


def at_least(noise, scale, t):
    """``log P[noise >= t]`` for an array of whole numbers."""
    t = np.asarray(t, dtype=float)
    with np.errstate(divide="ignore", over="ignore"):
        if noise == "exponential":
            return np.where(t <= 0, 0.0, -t / scale)
        a = math.exp(-1 / scale)
        high = -t / scale - math.log1p(a)
        low = np.log1p(-np.exp(np.minimum(t - 1, 0) / scale) / (1 + a))
        return np.where(t >= 1, high, low)


def less(noise, scale, t):
    """``log P[noise < t]``."""
    t = np.asarray(t, dtype=float)
    with np.errstate(divide="ignore", over="ignore"):
        if noise == "exponential":
            return np.where(t <= 0, -np.inf, np.log(-np.expm1(-np.maximum(t, 0) / scale)))
        return at_least(noise, scale, 1 - t)


def equal(noise, scale, t):
    """``log P[noise = t]``."""
    t, a = np.asarray(t, dtype=float), math.exp(-1 / scale)
    if noise == "exponential":
        return np.where(t < 0, -np.inf, math.log1p(-a) - t / scale)
    return math.log((1 - a) / (1 + a)) - np.abs(t) / scale


def log_probability(answers, replies, *, noise, first, second, offset=0, gaps=None):
    """The log of the probability of replies to a stream of answers, for the threshold ``offset``."""
    reach = math.ceil(60 * first) + 200
    limit = np.arange(0 if noise == "exponential" else -reach, reach + 1)
    total = equal(noise, first, limit)
    for i, (answer, above) in enumerate(zip(answers, replies, strict=False)):
        t = offset + limit - answer
        if not above:
            total = total + less(noise, second, t)
        elif gaps is None:
            total = total + at_least(noise, second, t)
        else:
            total = total + equal(noise, second, t + gaps[i])
    top = total.max()
    return -math.inf if top == -math.inf else float(top + np.log(np.exp(total - top).sum()))


def centre(made):
    """What one-sided noise is moved by: the mean of that on the threshold less that on an answer."""
    if made.noise == "laplace":
        return made.target
    first, second = (round(1 / math.expm1(1 / scale)) for scale in made.scales)
    return made.target - first + second


def settings(made):
    first, second = (float(scale) for scale in made.scales)
    return {"noise": made.noise, "first": first, "second": second, "offset": centre(made)}


def streams_of_replies(length, most):
    """All that may be said: the stream ends with the last reply that may be above."""
    for replies in product((BELOW, ABOVE), repeat=length):
        seen = 0
        for i, above in enumerate(replies):
            seen += above
            if seen == most:
                if not any(replies[i + 1 :]):
                    yield replies[: i + 1]
                break
        else:
            yield replies


def plan(**given):
    return SparseVector(**({"threshold": 0, "epsilon": 1, "relation": "replace_one", "whole": True} | given))


CASES = [
    plan(),
    plan(above=2, epsilon=2),
    plan(noise="exponential"),
    plan(above=2, noise="exponential", share=0.5),
    plan(monotone=True, relation="add_remove", epsilon=3),
    plan(monotone=True, relation="add_remove", above=2, noise="exponential"),
    plan(sensitivity=2, above=3, epsilon=0.5),
]


def moves(made):
    """All ways in which three answers move."""
    d = int(made.sensitivity)
    steps = (-d, 0, d) if not made.monotone else (0, d)
    found = list(product(steps, repeat=3))
    return found + [tuple(-m for m in move) for move in found] if made.monotone else found


def largest(made, x, y):
    return max(
        abs(log_probability(x, said, **settings(made)) - log_probability(y, said, **settings(made)))
        for said in streams_of_replies(len(x), made.above)
    )


@pytest.mark.parametrize("made", CASES)
def test_every_short_stream_keeps_the_claim(made):
    assert made.loss == PrivacyLoss.pure(made.epsilon).under(made.relation)
    for x in ((0, 0, 0), (3, -4, 1), (-9, 20, -2)):
        whole = [log_probability(x, said, **settings(made)) for said in streams_of_replies(3, made.above)]
        assert math.fsum(np.exp(whole)) == pytest.approx(1, abs=1e-9)
        for move in moves(made):
            y = tuple(a + m for a, m in zip(x, move, strict=True))
            assert largest(made, x, y) <= made.epsilon + 1e-9


def long_streams(made, length=60):
    """Streams that press on both noises: many answers well above that are below, and some far below that are not."""
    d, second = int(made.sensitivity), float(made.scales[1])
    rise = 0 if made.monotone else d
    for high in (0, 0.5, 1, 2, 4):
        for low in (0, 2, 6):
            count = length - made.above
            up, down = centre(made) + round(high * second), centre(made) - round(low * second)
            x, said = (up,) * count + (down,) * made.above, (BELOW,) * count + (ABOVE,) * made.above
            yield x, (up + rise,) * count + (down - d,) * made.above, said
            yield x, (up + d,) * count + (down + (d if made.monotone else -d),) * made.above, said
            yield (down,) * made.above + (up,) * count, (down - d,) * made.above + (up + rise,) * count, said[::-1]


def on_long_streams(made, **changed):
    law = settings(made) | changed
    return max(
        abs(log_probability(x, said, **law) - log_probability(y, said, **law)) for x, y, said in long_streams(made)
    )


@pytest.mark.parametrize("made", CASES)
def test_long_streams_keep_the_claim_and_come_close_to_it(made):
    found = on_long_streams(made)
    assert found <= made.epsilon + 1e-9
    if not made.monotone:
        assert found > 0.97 * float(made.epsilon)


@pytest.mark.parametrize("made", CASES)
def test_the_check_catches_a_tenth_less_noise(made):
    if not made.monotone:
        first, second = (0.9 * float(scale) for scale in made.scales)
        assert on_long_streams(made, first=first, second=second) > made.epsilon


MONOTONE = [
    plan(monotone=True, relation="add_remove"),
    plan(monotone=True, relation="add_remove", epsilon=3),
    plan(monotone=True, relation="add_remove", noise="exponential"),
    plan(monotone=True, relation="add_remove", above=2, noise="exponential"),
    plan(monotone=True, relation="add_remove", above=3, epsilon=0.5, sensitivity=2),
    plan(monotone=True, relation="add_remove", share=0.3),
]
BEFORE = 5
"""Answers below before those above: so many hold the noise of the threshold up, and its shift costs all it may."""


def after_answers_below(made, count, **changed):
    """The largest loss where all answers move up, or stay: those told below rise, and those told above stay."""
    d, second, found = int(made.sensitivity), float(made.scales[1]), 0.0
    law = settings(made) | changed
    said = (BELOW,) * count + (ABOVE,) * made.above
    for high in (0, 4, 8, 16):
        for low in (0, 5, 12, 16):
            up, down = centre(made) + round(high * second), centre(made) - round(low * second)
            x, y = ((up + rise,) * count + (down,) * made.above for rise in (0, d))
            found = max(found, abs(log_probability(x, said, **law) - log_probability(y, said, **law)))
    return found


@pytest.mark.parametrize("made", MONOTONE)
def test_monotone_streams_reach_the_claim_after_some_answers_below(made):
    for count in (0, 1, BEFORE, 60):
        assert after_answers_below(made, count) <= made.epsilon + 1e-9
    assert after_answers_below(made, BEFORE) > 0.9999 * float(made.epsilon)


@pytest.mark.parametrize("epsilon", [1, 3])
def test_one_question_before_it_reaches_half_of_the_claim(epsilon):
    made = plan(monotone=True, relation="add_remove", epsilon=epsilon)
    assert after_answers_below(made, 0) == pytest.approx(0)
    assert after_answers_below(made, 1) == pytest.approx(epsilon / 2)


@pytest.mark.parametrize("made", MONOTONE)
@pytest.mark.parametrize("less", [(0.99, 0.99), (0.97, 1), (1, 0.97)])
def test_the_check_catches_a_hundredth_less_noise_on_monotone_streams(made, less):
    """A hundredth less of both noises, and a little more of either one alone, which carries a part of epsilon."""
    first, second = (part * float(scale) for part, scale in zip(less, made.scales, strict=True))
    assert after_answers_below(made, BEFORE, first=first, second=second) > 1.005 * float(made.epsilon)
    if made.noise == "laplace" and made.above == 1:
        assert after_answers_below(made, 1, first=first, second=second) < made.epsilon


def test_the_check_catches_monotone_noise_where_answers_move_both_ways():
    wrong = plan(monotone=True, relation="add_remove", share=0.3)
    right = plan(share=0.3)
    law = settings(wrong) | {"offset": centre(right)}
    found = max(
        abs(log_probability(x, said, **law) - log_probability(y, said, **law)) for x, y, said in long_streams(right)
    )
    assert found == pytest.approx(1.7, abs=0.01)


def of_groups(groups, first, second):
    """The log of the probability of many equal replies to equal answers, for Laplace noise and the threshold 0."""
    farthest = max(answer for answer, _, _ in groups)
    limit = np.arange(-math.ceil(60 * first), max(farthest, 0) + math.ceil(60 * first))
    total = -np.abs(limit) / first
    for answer, count, above in groups:
        total += count * (at_least if above else less)("laplace", second, limit - answer)
    top = total.max()
    return float(top + np.log(np.exp(total - top).sum()))


ROUNDED = SparseVector(threshold=0, sensitivity=1, epsilon=2000, relation="add_remove", monotone=True, share=0.5)


def rounded_moves():
    """How many steps answers move by if all of them rise, or stay, and are computed with an error of half a step."""
    half = float(ROUNDED.grid) / 2
    (low, high), (stays, falls) = (
        _steps(np.array(pair), ROUNDED.grid) for pair in ((0, 1 + half), (half, -0.75 * half))
    )
    return int(high - low), int(falls - stays)


def rounded_loss(second, moved, count=10**6):
    """The largest loss for answers above 0 that are told below, and one below that is told above; in both directions.

    The first move by ``moved[0]``, the last by ``moved[1]``; or by as much the other way.
    """
    first = float(ROUNDED.scales[0])
    up, down, found = round(20 * first), round(-5 * first), []
    x = of_groups(((up, count, BELOW), (down, 1, ABOVE)), first, second)
    for sign in (1, -1):
        y = of_groups(((up + sign * moved[0], count, BELOW), (down + sign * moved[1], 1, ABOVE)), first, second)
        found.append(abs(x - y))
    return max(found)


def test_rounded_answers_that_all_move_one_way_keep_the_claim():
    """Rounding may lower an answer that rises, by a step, so that signs differ after all."""
    up, down = rounded_moves()
    assert (up, down) == (ROUNDED.moves, -1)
    second = float(ROUNDED.scales[1])
    for moved in ((up, down), (up, 0), (up, up), (0, up), (down, up), (down, down)):
        assert rounded_loss(second, moved) <= ROUNDED.epsilon + 1e-9
    assert rounded_loss(second, (up, down)) > ROUNDED.epsilon - 1e-3
    assert rounded_loss(float(ROUNDED.moves / (ROUNDED.epsilon * ROUNDED.share)), (up, down)) > ROUNDED.epsilon + 1e-5


@pytest.mark.parametrize("made", [plan(gap=True), plan(gap=True, noise="exponential"), plan(gap=True, epsilon=3)])
def test_the_gap_is_free(made):
    law = settings(made)
    for x in ((0, 0, 0), (3, -4, 1)):
        for move in product((-1, 0, 1), repeat=3):
            y = tuple(a + m for a, m in zip(x, move, strict=True))
            for position in range(3):
                said = (BELOW,) * position + (ABOVE,)
                for gap in (0, 1, 5, 40):
                    gaps = [gap] * 3
                    pair = [log_probability(z, said, gaps=gaps, **law) for z in (x, y)]
                    assert largest_loss([pair[0]], [pair[1]]) <= made.epsilon + 1e-9


def test_the_gap_is_not_the_value():
    """The noisy answer itself tells the noise of the threshold: with it, many answers below cost more each."""

    def with_value(answers, value, *, first, second):
        limit = np.arange(-4000, value + 1)
        total = equal("laplace", first, limit) + equal("laplace", second, value - answers[-1])
        for answer in answers[:-1]:
            total = total + less("laplace", second, limit - answer)
        return float(np.logaddexp.reduce(total))

    made = plan()
    first, second = (float(scale) for scale in made.scales)
    x, y = (0,) * 60, (1,) * 60
    losses = [
        with_value(x, v, first=first, second=second) - with_value(y, v, first=first, second=second) for v in (-9, 0)
    ]
    assert max(map(abs, losses)) > 2 * made.epsilon


LAWS = [
    plan(above=2, epsilon=2),
    plan(above=2, epsilon=2, noise="exponential"),
    plan(above=1, epsilon=1, relation="add_remove", monotone=True, threshold=2),
    SparseVector(threshold=0.5, sensitivity=0.25, epsilon=2, above=2, relation="replace_one"),
]
DRAWS = 2000


@pytest.mark.parametrize("made", LAWS)
@pytest.mark.parametrize("at_once", [True, False])
def test_replies_follow_the_law(made, at_once, repeatable):
    answers = [0.25, 0.6, -0.3, 0.5] if not made.whole else [1, 3, -2, 0]
    seen = Counter()
    for _ in range(DRAWS):
        talk = made.open(answers)
        if at_once:
            seen[tuple(talk.answers(lambda x: np.array(x), 4).above.tolist())] += 1
        else:
            said = []
            for i in range(4):
                if talk.exhausted:
                    break
                said.append(talk.answer(lambda x, i=i: x[i]).above)
            seen[tuple(said)] += 1
    coarse = 1 if made.whole else 2**10 * float(made.grid)  # the grid is finer than this sum need be
    units = [round(a / coarse) for a in answers]
    law = settings(made)
    if not made.whole:
        shrunk = coarse / float(made.grid)
        law |= {"first": law["first"] / shrunk, "second": law["second"] / shrunk, "offset": round(0.5 / coarse)}
    expected = {
        said: DRAWS * math.exp(log_probability(units, said, **law)) for said in streams_of_replies(4, made.above)
    }
    assert set(seen) <= set(expected)
    statistic = sum((seen[said] - n) ** 2 / n for said, n in expected.items())
    assert chi2.sf(statistic, len(expected) - 1) > 1e-9


def test_restarted_thresholds_are_conversations_of_their_own():
    """Each stretch up to an answer above the threshold is one with a part of epsilon, and its noise is drawn anew."""
    made = plan(above=4, epsilon=2, restart=True)
    assert made.scales == plan(epsilon=0.5).scales
    assert made.loss == (4 * PrivacyLoss.pure(0.5)).under("replace_one")
    assert made.loss.rho <= 4 * 0.5**2 / 2
    assert made.loss.epsilon() == 2
