"""How many of the records of a block are in its first half: what a noisy measure tells together with a prior.

Of p records, a share r of whose cells is in the first half, the measure tells a number a with Gaussian error. Before
that, a is one of these: all, or none; anything between, evenly; about ``r p``, with the variance of a binomial draw and
of 0, 3, 10 or 25 per cent of p besides. How often each of them occurs is fitted to all blocks of a level by the
algorithm of Dempster, Laird and Rubin ("Maximum Likelihood from Incomplete Data via the EM Algorithm", JRSS B 1977),
begun at the frequencies of the level above: an empirical Bayes estimate (Robbins 1956). Nothing here touches data but
for what was released, so that no constant in it bears on privacy.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from discreet.noise.fast import Floats

__all__ = ["KINDS", "Splits", "posterior_means"]

SPREADS = (0.0, 0.03, 0.1, 0.25)
KINDS = len(SPREADS) + 3
ROUNDS = 20
HELD = 2.0
"""The frequencies of the level above count as so many blocks."""

TINY = 1e-9
LEAST = 1e-200


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Splits:
    """Blocks of one level: records, share of the cells in the first half, its measured records and their variance."""

    records: Floats
    share: Floats
    measured: Floats
    variance: Floats


def posterior_means(splits: Splits, frequencies: Floats) -> tuple[Floats, Floats]:
    """Return the expected records in the first half of each block, and the fitted frequencies of all kinds of splits.

    >>> one = Splits(records=np.array([100.0]), share=np.array([0.5]), measured=np.array([300.0]),
    ...              variance=np.array([100.0]))
    >>> bool(posterior_means(one, np.full(KINDS, 1 / KINDS))[0] > 95)
    True
    """
    logs, means = _kinds(splits)
    logs = logs - logs.max(axis=0)
    likelihoods = np.exp(logs)
    fitted = frequencies
    for _ in range(ROUNDS):
        joint = likelihoods * fitted[:, None]
        fitted = (joint / joint.sum(axis=0)).sum(axis=1) + HELD * frequencies
        fitted = np.maximum(fitted / fitted.sum(), TINY)
    joint = likelihoods * fitted[:, None]
    expected = (joint * means).sum(axis=0) / joint.sum(axis=0)
    return np.clip(expected, 0.0, splits.records), fitted


def _kinds(splits: Splits) -> tuple[Floats, Floats]:
    """Return the log-likelihood of the measure under each kind of split, and the expected records under each."""
    p, at, v = splits.records, splits.measured, splits.variance
    middle = splits.share * p
    binomial = np.maximum(middle * (1 - splits.share), TINY)
    logs, means = [], []
    for spread in SPREADS:
        prior = binomial + (spread * p) ** 2
        total = prior + v
        logs.append(-((at - middle) ** 2) / (2 * total) - np.log(total) / 2)
        means.append(middle + (at - middle) * prior / total)
    for end in (np.zeros_like(p), p):
        logs.append(-((at - end) ** 2) / (2 * v) - np.log(v) / 2)
        means.append(end)
    log, mean = _anything(p, at, np.sqrt(v))
    return np.array([*logs, log]), np.array([*means, mean])


def _anything(p: Floats, at: Floats, deviation: Floats) -> tuple[Floats, Floats]:
    """The same for an even prior on 0 to p: a truncated Gaussian law, from the side where its tail is exact."""
    low, high = -at / deviation, (p - at) / deviation
    mass = np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
    within = np.maximum(mass, LEAST)
    slope = (np.exp(-(low**2) / 2) - np.exp(-(high**2) / 2)) / np.sqrt(2 * np.pi)
    mean = np.where(mass > LEAST, at + deviation * slope / within, at)
    return np.log(within) - np.log(p) + np.log(2 * np.pi) / 2, np.clip(mean, 0.0, p)
