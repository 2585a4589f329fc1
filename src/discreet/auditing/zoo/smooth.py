"""Noise scaled to the data at hand: local sensitivity, smooth sensitivity, propose-test-release, for the median.

Data are an odd number of values in [0, 1]; one may be replaced.
"""

import math
from functools import partial

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.auditing.zoo.specimen import Floats, lattice, many

__all__ = ["BROKEN", "CORRECT"]

Values = tuple[float, ...]
ONE = PrivacyLoss.pure(1)


def gaps(values: Values) -> tuple[float, Floats, Floats]:
    """Return the median, its move when the records between two others are replaced, and how many these are."""
    ordered = np.array((0.0, *sorted(values), 1.0))
    middle = ordered.size // 2
    places = np.arange(ordered.size, dtype=np.float64)
    moves = ordered[middle:] - ordered[: middle + 1, None]
    replaced = places[middle:] - places[: middle + 1, None] - 1
    return float(ordered[middle]), np.where(replaced >= 0, moves, 0.0), np.maximum(replaced, 0.0)


def smooth(values: Values, beta: float) -> tuple[float, float]:
    """Return the median and its smooth sensitivity; with an infinite beta, its local sensitivity."""
    median, moves, replaced = gaps(values)
    weights = np.exp(-beta * replaced) if beta < math.inf else replaced == 0
    return median, float((moves * weights).max())


def laplace(values: Values, n: int, rng: np.random.Generator, *, beta: float, rate: float) -> Floats:
    """Add Laplace noise of the smooth sensitivity over ``rate``."""
    median, size = smooth(values, beta)
    return lattice(median + rng.laplace(0, size / rate, n))


def cauchy(values: Values, n: int, rng: np.random.Generator, *, beta: float, rate: float) -> Floats:
    """Add Cauchy noise of the smooth sensitivity over ``rate``."""
    median, size = smooth(values, beta)
    return lattice(median + size / rate * rng.standard_cauchy(n))


def proposed(values: Values, n: int, rng: np.random.Generator, *, noisy: bool) -> Floats:
    """Release the median with noise for moves up to 0.1 if enough records must be replaced for more than that.

    Half of epsilon is for the test, half for the answer, and delta is 0.01.
    """
    median, moves, replaced = gaps(values)
    distance = replaced[moves > 0.1].min(initial=len(values))
    measured = distance + rng.laplace(0, 2, n) if noisy else np.full(n, distance)
    passed = measured > 2 * math.log(1 / (2 * 0.01))
    return np.column_stack((passed, np.where(passed, lattice(median + rng.laplace(0, 0.2, n)), 0.0)))


NISSIM = "Nissim, Raskhodnikova and Smith, Smooth Sensitivity and Sampling in Private Data Analysis, STOC 2007"
LEI = "Dwork and Lei, Differential Privacy and Robust Statistics, STOC 2009"
CLIFF = {"neighbours": ((0, 0, 0, 1, 1), (0, 0, 0, 0, 1)), "relation": "replace_one"}
STABLE = {
    "neighbours": ((0,) * 24 + (1,) * 7, (0,) * 23 + (1,) * 8),
    "relation": "replace_one",
    "claims": PrivacyLoss.approximate(1, 0.01),
    "delta": 0.01,
}
LAPLACE = {"claims": PrivacyLoss.approximate(1, 1e-3), "delta": 1e-3}

BROKEN = (
    many(
        partial(laplace, beta=math.inf, rate=1),
        name="local-sensitivity-noise",
        mistake="The noise is scaled to the local sensitivity, which differs by all of it between neighbours.",
        paper=NISSIM,
        claims=ONE,
        **CLIFF,
    ),
    many(
        partial(laplace, beta=0.5, rate=0.5),
        name="smooth-with-wrong-beta",
        mistake="Laplace noise needs beta = epsilon / (2 ln(2 / delta)), and epsilon / 2 is taken.",
        paper=NISSIM,
        **CLIFF,
        **LAPLACE,
    ),
    many(
        partial(cauchy, beta=2, rate=1),
        name="smooth-without-dilation",
        mistake="All of epsilon pays for moving the noise and nothing for stretching it, with a beta of 2.",
        paper=NISSIM,
        claims=ONE,
        **CLIFF,
    ),
    many(
        partial(proposed, noisy=False),
        name="test-without-noise",
        mistake="Whether the data are stable enough to answer is decided without noise.",
        paper=LEI,
        **STABLE,
    ),
)

CORRECT = (
    many(
        partial(laplace, beta=1 / (2 * math.log(2 / 1e-3)), rate=0.5),
        name="smooth-laplace",
        mistake="",
        paper=NISSIM,
        **CLIFF,
        **LAPLACE,
    ),
    many(partial(cauchy, beta=0.5, rate=0.5), name="smooth-cauchy", mistake="", paper=NISSIM, claims=ONE, **CLIFF),
    many(partial(proposed, noisy=True), name="test-with-noise", mistake="", paper=LEI, **STABLE),
)
