"""Additive noise of the wrong size, shape or arithmetic."""

import math
from functools import partial

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.auditing.zoo.specimen import Floats, Integers, geometric, lattice, many

__all__ = ["BROKEN", "CORRECT"]

Value = int | float | tuple[float, ...]
ONE = PrivacyLoss.pure(1)


def porous_laplace(x: float, n: int, rng: np.random.Generator) -> Floats:
    """Add a float to a float: which doubles can come out depends on the answer."""
    return x + rng.laplace(0, 1, n)


def porous_gaussian(x: float, n: int, rng: np.random.Generator, sigma: float) -> Floats:
    """Do the same with normal noise."""
    return x + rng.normal(0, sigma, n)


def coarser_sum(x: float, n: int, rng: np.random.Generator) -> Floats:
    """Draw noise whose every double is reachable, then let the sum round it to the spacing at the answer."""
    size = rng.standard_exponential(n) + rng.random(n) * 2.0**-53
    return x + np.where(rng.random(n) < 0.5, size, -size)


def rounded_laplace(x: float, n: int, rng: np.random.Generator, scale: float) -> Floats:
    """Add Laplace noise and round to a lattice."""
    return lattice(x + rng.laplace(0, scale, n))


def rounded_gaussian(x: Value, n: int, rng: np.random.Generator, sigma: float) -> Floats:
    """Add normal noise and round to a lattice."""
    return lattice(np.asarray(x) + rng.normal(0, sigma, (n, *np.shape(x))))


def whole(x: Value, n: int, rng: np.random.Generator, scale: float) -> Integers:
    """Add two-sided geometric noise of this scale to every coordinate."""
    return np.asarray(x) + geometric(scale, (n, *np.shape(x)), rng)


def truncated(x: int, n: int, rng: np.random.Generator, most: int) -> Integers:
    """Draw the noise from its law cut to [-most, most]."""
    support = np.arange(-most, most + 1)
    weights = np.exp(-np.abs(support))
    return x + rng.choice(support, n, p=weights / weights.sum())


def one_sided(x: int, n: int, rng: np.random.Generator) -> Integers:
    """Add the size of the noise, so that answers are never too small."""
    return x + np.abs(geometric(1, n, rng))


def redrawn(x: int, n: int, rng: np.random.Generator) -> Integers:
    """Draw again until the noisy count is not negative."""
    out = x + geometric(1, n, rng)
    while (bad := out < 0).any():
        out[bad] = x + geometric(1, int(bad.sum()), rng)
    return out


def raised(x: int, n: int, rng: np.random.Generator) -> Integers:
    """Raise negative noisy counts to 0, which looks at the noisy count alone."""
    return np.maximum(x + geometric(1, n, rng), 0)


def discrete_gaussian(x: int, n: int, rng: np.random.Generator, sigma: float) -> Integers:
    """Add discrete Gaussian noise, cut where it has less than 1e-30 of its mass."""
    support = np.arange(-12 * math.ceil(sigma), 12 * math.ceil(sigma) + 1)
    weights = np.exp(-((support / sigma) ** 2) / 2)
    return x + rng.choice(support, n, p=weights / weights.sum())


MIRONOV = "Mironov, On Significance of the Least Significant Bits for Differential Privacy, CCS 2012"
HANEY = "Haney, Desfontaines, Hartman, Shrestha and Hay, Precision-based Attacks and Interval Refining, 2022"
DWORK = "Dwork, McSherry, Nissim and Smith, Calibrating Noise to Sensitivity, TCC 2006"
BALLE = "Balle and Wang, Improving the Gaussian Mechanism, ICML 2018"
HOLOHAN = "Holohan, Antonatos, Braghin and Mac Aonghusa, The Bounded Laplace Mechanism, JPC 2020"
GHOSH = "Ghosh, Roughgarden and Sundararajan, Universally Utility-Maximizing Privacy Mechanisms, STOC 2009"
CANONNE = "Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020"
COUNT = {"neighbours": (0, 1), "relation": "add_remove"}
SIXTEEN = {"neighbours": ((0,) * 16, (1,) * 16), "relation": "add_remove"}

CLASSICAL = math.sqrt(2 * math.log(1.25 / 0.3)) / 6
SWAPPED = -1 / math.log1p(-math.exp(-0.5))

BROKEN = (
    many(
        porous_laplace,
        name="porous-laplace",
        mistake="A float Laplace sample is added to a float answer: the lowest bits of the sum give the answer away.",
        paper=MIRONOV,
        claims=ONE,
        neighbours=(0.0, 1.0),
        relation="add_remove",
    ),
    many(
        partial(porous_gaussian, sigma=4),
        name="porous-gaussian",
        mistake="A float normal sample is added to a float answer: the lowest bits of the sum give the answer away.",
        paper="Jin, McMurtry, Rubinstein and Ohrimenko, Are We There Yet? Timing and Floating-Point Attacks, S&P 2022",
        claims=PrivacyLoss.gaussian(mu=0.25),
        neighbours=(0.0, 1.0),
        relation="add_remove",
        delta=1e-3,
    ),
    many(
        coarser_sum,
        name="coarser-sum",
        mistake="Even perfect noise is rounded to the spacing of doubles at the answer when it is added to it.",
        paper=HANEY,
        claims=ONE,
        neighbours=(0.0, 1.0),
        relation="add_remove",
    ),
    many(
        partial(whole, scale=1),
        name="halved-sensitivity",
        mistake="A value in [-1, 1] is replaced, which changes a sum by up to 2, and the noise is for 1.",
        paper=DWORK,
        claims=ONE,
        neighbours=(-1, 1),
        relation="replace_one",
    ),
    many(
        partial(whole, scale=4),
        name="wrong-norm",
        mistake="Laplace noise on 16 counts is calibrated to their L2 sensitivity 4 instead of the L1 sensitivity 16.",
        paper=DWORK,
        claims=ONE,
        **SIXTEEN,
    ),
    many(
        partial(whole, scale=0.5),
        name="inverted-scale",
        mistake="The scale is epsilon / sensitivity instead of sensitivity / epsilon.",
        paper=DWORK,
        claims=PrivacyLoss.pure(0.5),
        **COUNT,
    ),
    many(
        partial(truncated, most=3),
        name="truncated-noise",
        mistake="Noise is cut to an interval around the answer, so that its ends are possible for one neighbour only.",
        paper="Geng, Ding, Guo and Kumar, Tight Analysis of Privacy and Utility Tradeoff, AISTATS 2020",
        claims=ONE,
        **COUNT,
    ),
    many(
        one_sided,
        name="one-sided-noise",
        mistake="Only positive noise is added: the smallest possible output tells the answer.",
        paper="Kotsogiannis, Doudalis, Haney, Machanavajjhala and Mehrotra, One-sided Differential Privacy, ICDE 2020",
        claims=ONE,
        **COUNT,
    ),
    many(
        redrawn,
        name="redrawn-until-valid",
        mistake="Noise is drawn again until the count is not negative, which renormalises it differently per answer.",
        paper=HOLOHAN,
        claims=ONE,
        **COUNT,
    ),
    many(
        partial(whole, scale=SWAPPED),
        name="swapped-geometric",
        mistake="exp(-epsilon) is used as the chance to stop instead of the chance to go on.",
        paper=GHOSH,
        claims=PrivacyLoss.pure(0.5),
        **COUNT,
    ),
    many(
        partial(discrete_gaussian, sigma=1),
        name="gaussian-as-pure",
        mistake="Discrete Gaussian noise with sigma = sensitivity / epsilon is charged as if it were Laplace noise.",
        paper=CANONNE,
        claims=ONE,
        **COUNT,
    ),
    many(
        partial(rounded_gaussian, sigma=CLASSICAL),
        name="classical-gaussian",
        mistake="sigma = sqrt(2 log(1.25 / delta)) / epsilon is proven for epsilon <= 1 and used for 6.",
        paper=BALLE,
        claims=PrivacyLoss.approximate(6, 0.3),
        delta=0.3,
        **COUNT,
    ),
    many(
        partial(rounded_gaussian, sigma=math.sqrt(math.sqrt(2 * math.log(1.25 / 1e-3)))),
        name="sigma-as-variance",
        mistake="The sigma of the classical formula is passed where a sampler wants the variance.",
        paper=BALLE,
        claims=PrivacyLoss.approximate(1, 1e-3),
        delta=1e-3,
        **COUNT,
    ),
)

CORRECT = (
    many(
        partial(rounded_laplace, scale=1),
        name="lattice-laplace",
        mistake="",
        paper=MIRONOV,
        claims=ONE,
        neighbours=(0.0, 1.0),
        relation="add_remove",
    ),
    many(
        partial(rounded_gaussian, sigma=4),
        name="lattice-gaussian",
        mistake="",
        paper=HANEY,
        claims=PrivacyLoss.gaussian(mu=0.25),
        neighbours=(0.0, 1.0),
        relation="add_remove",
        delta=1e-3,
    ),
    many(
        partial(whole, scale=2),
        name="full-sensitivity",
        mistake="",
        paper=DWORK,
        claims=ONE,
        neighbours=(-1, 1),
        relation="replace_one",
    ),
    many(partial(whole, scale=16), name="right-norm", mistake="", paper=DWORK, claims=ONE, **SIXTEEN),
    many(
        partial(whole, scale=2), name="geometric-count", mistake="", paper=GHOSH, claims=PrivacyLoss.pure(0.5), **COUNT
    ),
    many(raised, name="raised-to-zero", mistake="", paper=HOLOHAN, claims=ONE, **COUNT),
    many(
        partial(discrete_gaussian, sigma=1),
        name="discrete-gaussian",
        mistake="",
        paper=CANONNE,
        claims=PrivacyLoss.zcdp(0.5),
        delta=1e-3,
        **COUNT,
    ),
    many(
        partial(rounded_gaussian, sigma=2.75),
        name="analytic-gaussian",
        mistake="",
        paper=BALLE,
        claims=PrivacyLoss.approximate(1, 1e-3),
        delta=1e-3,
        **COUNT,
    ),
)
