from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from flint import arb
from noise_reference import ALARM, EDGES, Scripted, around, ball, drawing_from, merge, precisely, uniform
from scipy import stats

from discreet.errors import InvalidParameter
from discreet.noise import race
from discreet.noise.densities import Exponential, Gumbel, Laplace


def run(density, scores):
    """Race on scores that float64 holds exactly."""
    scores = np.asarray(scores, dtype=float)
    return race(density, scores, np.zeros(scores.size), lambda i: ball(Fraction(scores[i])))


def softmax(scores):
    weights = np.exp(np.asarray(scores) - max(scores))
    return weights / weights.sum()


def permute_and_flip(scores):
    """Return the law of McKenna and Sheldon, Permute-and-Flip, NeurIPS 2020, summed over subsets."""
    q = softmax(scores) / softmax(scores).max()
    law = []
    for i in range(len(q)):
        others = np.delete(q, i)
        terms = ((-1) ** r * np.prod(s) / (r + 1) for r in range(len(q)) for s in combinations(others, r))
        law.append(q[i] * sum(terms))
    return np.array(law)


@pytest.mark.usefixtures("deterministic")
@pytest.mark.parametrize(
    "scores",
    [
        [0, 0],
        [0, 1],
        [0, 1, 2, 3],
        [1e3, 1e3 - 2, 1e3 - 2, -1e3],
        [-5.5, -5.5, -5.5],
        [0, -np.inf, 0.5],
        [2.0**50, 2.0**50 + 1],
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("density", "law"), [(Gumbel(), softmax), (Exponential(), permute_and_flip)], ids=["gumbel", "pf"]
)
def test_winners_have_the_right_law(density, law, scores):
    winners = np.bincount([run(density, scores) for _ in range(5000)], minlength=len(scores))
    order = np.argsort(law(scores))
    counted, expected = merge(winners[order], 5000 * law(scores)[order])
    assert stats.chisquare(counted, expected).pvalue > ALARM
    assert not winners[np.isneginf(scores)].any()


@pytest.mark.usefixtures("deterministic")
def test_laplace_noise_reports_the_noisy_maximum():
    """P[1 + Z' > Z] for two Laplace variables is 1 - (2 + 1) exp(-1) / 4."""
    wins = sum(run(Laplace(), [0, 1]) for _ in range(5000))
    assert stats.binomtest(wins, 5000, 1 - 3 * np.exp(-1) / 4).pvalue > ALARM


@pytest.mark.parametrize("density", [Gumbel(), Exponential(), Laplace()])
@pytest.mark.parametrize("high", [1e3, 1e15, 1e300, 1.7e308])
def test_a_huge_lead_always_wins(density, high):
    for scores in ([0, high], [-high, 0], [-high, high], [-np.inf, -high], [high, high / 2]):
        assert {run(density, scores) for _ in range(20)} == {int(np.argmax(scores))}


@pytest.mark.parametrize("scores", [[], [-np.inf], [-np.inf] * 3])
def test_a_race_needs_somebody_who_can_win(scores):
    with pytest.raises(InvalidParameter, match="above minus infinity"):
        run(Gumbel(), scores)


def test_one_candidate():
    assert run(Gumbel(), [3.0]) == 0
    assert run(Gumbel(), [-np.inf, -1e308, -np.inf]) == 1


def key(density, word, score):
    z = density.quantile(uniform(word >> 1, 63))
    return ball(Fraction(score)) + (-z if density.symmetric and word & 1 else z)


def near_ties(density):
    """Yield pairs of words and scores whose keys agree to the last cell or differ by a few."""
    for first in (2**45, 2**46 + 5, 2**55, 2**61 + 12345, 2**62, 2**63 - 2**50, *EDGES):
        for gap in (0.0, 2.0**-60, 0.5, 3.0, 8.0):
            z = density.quantile(uniform(first, 63)) - ball(Fraction(gap))
            boundary = density.survival(z)
            if (boundary > 2.0**-62) and (boundary < 1 - 2.0**-62):
                yield from ((first << 1, second << 1, gap) for second in around(boundary, 63))


def wrong_winners(density):
    wrong = total = 0
    with precisely():
        for first, second, gap in near_ties(density):
            if (first, gap) == (second, 0):
                continue
            keys = [key(density, first, 0), key(density, second, gap)]
            assert (keys[0] > keys[1]) or (keys[1] > keys[0])
            truth = int(bool(keys[1] > keys[0]))
            with drawing_from(Scripted([first, second])):
                wrong += run(density, [0, gap]) != truth
            with drawing_from(Scripted([second, first])):
                wrong += run(density, [gap, 0]) == truth
            total += 2
    assert total > 100
    return wrong


@pytest.mark.parametrize("density", [Gumbel(), Exponential(), Laplace()])
def test_photo_finishes_are_decided_right(density):
    assert wrong_winners(density) == 0


def test_scores_known_to_a_slack_are_decided_by_the_exact_ones():
    """Float scores that are off by less than their slack must not decide."""
    density = Exponential()
    with precisely():
        for first, second, gap in near_ties(density):
            if gap:
                truth = int(bool(key(density, second, gap) > key(density, first, 0)))
                for error in (-1e-9, 1e-9):
                    with drawing_from(Scripted([first, second])):
                        scores, slack = np.array([0, gap * (1 + error)]), np.array([0, 2e-9 * gap])
                        assert race(density, scores, slack, lambda i, g=gap: i * ball(Fraction(g))) == truth


@pytest.mark.parametrize("density", [Gumbel, Exponential])
def test_without_slack_the_comparison_would_notice(density):
    class Careless(density):
        __slots__ = ()

        def slack(self, z):
            return -np.abs(z) * 2.0**-50

    assert wrong_winners(Careless()) > 0


@pytest.mark.parametrize("density", [Gumbel, Exponential, Laplace])
def test_with_infinite_slack_balls_decide_everything(density):
    class Doubtful(density):
        __slots__ = ()

        def slack(self, z):
            return np.full(np.shape(z), np.inf)

    assert wrong_winners(Doubtful()) == 0
    assert run(Doubtful(), [0, -np.inf, 1e6]) == 2


@pytest.mark.parametrize("density", [Gumbel(), Exponential(), Laplace()])
def test_words_at_the_ends_of_the_unit_interval(density):
    """Words 0 and 2^64 - 1 give infinite floats; the exact order must hold all the same."""
    ends = [0, 1, 2, 3, 2**64 - 1, 2**64 - 2, 2**64 - 4, 2**63]
    with precisely():
        for scores in ([0] * 8, list(range(8)), [0, 0, 0, 0, 40, 30, 20, 10]):
            keys = [key(density, w, s) for w, s in zip(ends, scores, strict=True)]
            best = [i for i, k in enumerate(keys) if not any(k < other for other in keys)]
            if len(best) == 1:  # neighbouring words give equal keys where the sign plays no part
                with drawing_from(Scripted(ends)):
                    assert (
                        race(density, np.array(scores, dtype=float), np.zeros(8), lambda i, s=scores: arb(s[i]))
                        == best[0]
                    )
