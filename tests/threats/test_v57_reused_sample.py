"""Amplification by sampling is for a sample that is used once.

Two queries on one and the same sample were each charged as if it had been drawn for them. Here the
sample belongs to one release: a sum or a multiple of losses is not amplified, and the numbers below show why.

Defence: a sum or a multiple of losses is not amplified: the sample belongs to one release.
Source: OpenDP issue 2933.
"""

import math

import numpy as np
import pytest

from discreet.accounting import PrivacyLoss
from discreet.errors import NoTheorem

A, B = PrivacyLoss.laplace(1), PrivacyLoss.gaussian(1)
SCHEMES = ["poisson", "without_replacement", "symmetric"]


@pytest.mark.parametrize("loss", [A + B, 2 * A, 3 * PrivacyLoss.pure(1), A + PrivacyLoss.pure(2)])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_several_releases_of_one_sample_are_not_amplified(loss, scheme):
    with pytest.raises(NoTheorem, match="fresh sample"):
        loss.sampled(0.1, scheme=scheme)
    with pytest.raises(NoTheorem, match="fresh sample"):
        loss.sampled(scheme="with_replacement", size=1, records=10)


def test_gaussians_that_were_added_are_one_release_of_more_noise():
    """Two Gaussian releases of one sample are one with twice the squared mu, and that is what is amplified."""
    assert (B + B).sampled(0.1) == PrivacyLoss.gaussian(mu_squared=2).sampled(0.1)
    assert (B + B).sampled(0.1).epsilon(1e-6) > (2 * B.sampled(0.1)).epsilon(1e-6)


def reused(epsilon, rate, times):
    """Randomised response to "is the record in the sample", asked several times of the same sample."""
    yes = 1 / (1 + math.exp(-epsilon))
    p, q = np.ones(1), np.ones(1)
    for _ in range(times):
        p, q = np.outer(p, [yes, 1 - yes]).ravel(), np.outer(q, [1 - yes, yes]).ravel()
    return (1 - rate) * q + rate * p, q


@pytest.mark.parametrize(("epsilon", "rate", "times"), [(2, 0.1, 3), (1, 0.01, 8), (3, 0.2, 2)])
def test_the_check_catches_pretending_otherwise(epsilon, rate, times):
    p, q = reused(epsilon, rate, times)
    pretended = times * PrivacyLoss.pure(epsilon).sampled(rate)
    largest = float(np.max(np.log(p / q)))
    assert largest > 1.2 * pretended.epsilon()
    at = pretended.epsilon()
    assert np.maximum(p - math.exp(at) * q, 0).sum() > pretended.delta(at) == 0
    honest = PrivacyLoss.pure(times * epsilon).sampled(rate)
    for share in (0, 0.3, 0.7, 0.99):
        assert np.maximum(p - math.exp(share * largest) * q, 0).sum() <= honest.delta(share * largest) + 1e-12
    assert honest.epsilon() == pytest.approx(largest)


def test_fresh_samples_are_amplified_each():
    assert (3 * A.sampled(0.1)).epsilon() == pytest.approx(3 * math.log1p(0.1 * math.expm1(1)))
