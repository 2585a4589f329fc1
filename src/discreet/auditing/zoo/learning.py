"""Steps of private gradient descent: clipping, normalising, sampling."""

import math
from functools import partial

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.auditing.zoo.specimen import Floats, Integers, geometric, lattice, many

__all__ = ["BROKEN", "CORRECT"]

Gradients = tuple[tuple[float, ...], ...]


def step(records: Gradients, n: int, rng: np.random.Generator, *, norm: float, noise: float, clip: bool) -> Floats:
    """Add normal noise to a sum of gradients; they are clipped to the norm, unless the result of that is not used."""
    added = [0.0] * len(records[0])
    for gradient in records:
        factor = min(1.0, norm / (math.hypot(*gradient) or 1.0)) if clip else 1.0
        added = [sum_so_far + factor * part for sum_so_far, part in zip(added, gradient, strict=True)]
    return lattice(np.array(added) + rng.normal(0, noise, (n, len(added))))


def averaged(records: Gradients, n: int, rng: np.random.Generator, *, by: int | None = None) -> Floats:
    """Divide a noisy sum by a public number, or by how many records there are."""
    noisy = step(records, n, rng, norm=1, noise=2, clip=True)
    return lattice(noisy / (by or len(records)))


def sampled(records: tuple[int, ...], n: int, rng: np.random.Generator, *, again: bool) -> Integers:
    """Answer ten counts from a Poisson sample of a tenth, drawn once or again for each."""
    drawn = rng.binomial(len(records), 0.1, (n, 10 if again else 1))
    return drawn + geometric(1, (n, 10), rng)


def epoch(records: tuple[int, ...], n: int, rng: np.random.Generator, *, dealt: bool) -> Floats:
    """Take ten noisy steps; each record is dealt to one of them, or takes part in each with probability 1/10."""
    share, people = np.full(10, 0.1), len(records)
    counts = rng.multinomial(people, share, n) if dealt else rng.binomial(people, share, (n, 10))
    return lattice(counts + rng.normal(0, 0.3, (n, 10)))


ABADI = "Abadi et al., Deep Learning with Differential Privacy, CCS 2016"
PONOMAREVA = "Ponomareva et al., How to DP-fy ML, JAIR 2023"
OPACUS = "Opacus issue 571, 2023; Ponomareva et al., How to DP-fy ML, JAIR 2023"
BALLE = "Balle, Barthe and Gaboardi, Privacy Amplification by Subsampling, NeurIPS 2018"
CHUA = "Chua et al., How Private are DP-SGD Implementations?, ICML 2024"
HALF = {"claims": PrivacyLoss.gaussian(mu=0.5), "delta": 1e-3, "relation": "add_remove"}
STEEP = {"neighbours": (((0.5, 0.5),), ((0.5, 0.5), (3.0, 4.0))), **HALF}
ZEROS = {"neighbours": (((0.0,) * 32,) * 2, ((0.0,) * 32,) * 3), **HALF}
TENTHS = {
    "claims": 10 * PrivacyLoss.discrete_laplace(sensitivity=1, scale=1).sampled(0.1),
    "neighbours": ((), (1,)),
    "relation": "add_remove",
    "delta": 1e-3,
}
EPOCH = {
    "claims": 10 * PrivacyLoss.gaussian(mu=1 / 0.3).sampled(0.1),
    "neighbours": ((), (1,)),
    "relation": "add_remove",
    "delta": 0.5,
}

BROKEN = (
    many(
        partial(step, norm=1, noise=2, clip=False),
        name="clipped-but-not-used",
        mistake="Gradients are clipped, and then the unclipped ones are added up.",
        paper=PONOMAREVA,
        **STEEP,
    ),
    many(
        partial(step, norm=4, noise=2, clip=True),
        name="noise-without-clipping-norm",
        mistake="The noise multiplier is used as the standard deviation and not multiplied by the clipping norm 4.",
        paper=ABADI,
        **STEEP,
    ),
    many(
        averaged,
        name="normalised-by-true-size",
        mistake="The noisy sum is divided by the true number of records, which the size of the noise then shows.",
        paper=OPACUS,
        **ZEROS,
    ),
    many(
        partial(sampled, again=False),
        name="reused-sample",
        mistake="Ten answers come from one sample and each is charged as if its sample were its own.",
        paper=BALLE,
        **TENTHS,
    ),
    many(
        partial(epoch, dealt=True),
        name="dealt-batches-as-poisson",
        mistake="Each record is in exactly one batch of an epoch, and is charged as if it were sampled for each.",
        paper=CHUA,
        **EPOCH,
    ),
)

CORRECT = (
    many(partial(step, norm=1, noise=2, clip=True), name="clipped-and-used", mistake="", paper=ABADI, **STEEP),
    many(partial(averaged, by=2), name="normalised-by-a-constant", mistake="", paper=ABADI, **ZEROS),
    many(partial(sampled, again=True), name="fresh-samples", mistake="", paper=BALLE, **TENTHS),
    many(partial(epoch, dealt=False), name="poisson-batches", mistake="", paper=CHUA, **EPOCH),
)
