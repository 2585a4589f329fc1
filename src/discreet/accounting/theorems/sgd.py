"""DP-SGD by hand: the path a textbook takes, one theorem at a time.

Gradients are clipped to norm C, summed, and Gaussian noise of deviation ``z C`` is added, z being the noise multiplier.
A batch holds each record with probability q, drawn anew in every step (Abadi et al., CCS 2016). Under add_remove the
sum changes by at most C. The path is valid and far from tight: Renyi or numerical accounting give a fraction of it.
"""

from discreet.accounting.theorems.advanced import advanced_composition
from discreet.accounting.theorems.gaussian import gdp_epsilon
from discreet.accounting.theorems.guarantee import Guarantee
from discreet.accounting.theorems.sampling import poisson_sampling, require
from discreet.exact import Real, positive, probability, upward

__all__ = ["sgd_step", "sgd_step_in_batch", "sgd_training"]


def sgd_step_in_batch(*, noise_multiplier: Real, delta: Real, relation: str) -> Guarantee:
    """Return what one step promises to those in its batch: Gaussian noise with ``mu = 1 / z`` (Balle and Wang, 2018).

    >>> sgd_step_in_batch(noise_multiplier=1, delta=1e-5, relation="add_remove")
    Guarantee(epsilon=4.37717809568..., delta=1e-05)
    """
    require(relation, "add_remove", "a replaced record moves the sum of clipped gradients by 2 C, so z is halved.")
    z, d = positive(noise_multiplier, "noise_multiplier"), probability(delta, "delta")
    return Guarantee(gdp_epsilon(1 / z, d), upward(d))


def sgd_step(*, noise_multiplier: Real, rate: Real, delta: Real, relation: str) -> Guarantee:
    """Return what one step promises to everyone in the data set: ``(ln(1 + q (e^epsilon - 1)), q delta)``.

    ``delta`` is that within the batch.

    >>> sgd_step(noise_multiplier=1, rate=0.01, delta=1e-5, relation="add_remove")
    Guarantee(epsilon=0.58005157998..., delta=1...e-07)
    """
    inside = sgd_step_in_batch(noise_multiplier=noise_multiplier, delta=delta, relation=relation)
    return poisson_sampling(*inside, rate=rate, relation=relation)


def sgd_training(
    *, noise_multiplier: Real, rate: Real, steps: int, delta: Real, slack: Real, relation: str
) -> Guarantee:
    """Return what T steps promise by advanced composition: delta is ``T q delta + slack``, not ``T q delta`` alone.

    ``delta`` is that of one step within its batch.

    >>> sgd_training(noise_multiplier=4, rate=0.01, steps=1000, delta=1e-7, slack=1e-6, relation="add_remove")
    Guarantee(epsilon=4.22008173350..., delta=2.0000000000000...e-06)
    """
    step = sgd_step(noise_multiplier=noise_multiplier, rate=rate, delta=delta, relation=relation)
    return advanced_composition(*step, slack=slack, count=steps)
