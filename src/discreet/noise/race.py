"""Races: which candidate is first after noise, decided exactly.

``race`` returns the index of the largest ``score + Z`` for independent Z of a continuous law. With Gumbel noise this is
the exponential mechanism, with exponential noise permute-and-flip (Ding et al., 2021), with Laplace noise
report-noisy-max. Keys are computed in float64 with an error bound; if the bounds of the leaders overlap, those leaders
alone learn more bits and are compared as balls until one is certainly ahead.
"""

from collections.abc import Callable

import numpy as np
from flint import arb, ctx

from discreet.errors import InvalidParameter
from discreet.exact import Precision
from discreet.noise.bits import source
from discreet.noise.densities import Racing
from discreet.noise.fast import BELIEVED, Floats
from discreet.noise.lazy import WORD, LazyUniform

__all__ = ["race"]


def race(density: Racing, scores: Floats, slack: Floats, exact: Callable[[int], arb]) -> int:
    """Return the index of the largest ``score + Z``.

    ``scores`` are float64 within ``slack`` of the exact ones, which ``exact(i)`` gives as a ball at the working
    precision. A score may be minus infinity (with slack 0): such a candidate never wins.

    >>> from discreet.noise.densities import Gumbel
    >>> race(Gumbel(), np.array([0.0, 1000.0]), np.zeros(2), lambda i: arb(1000 * i))
    1
    """
    never = np.isneginf(scores)
    if never.all():
        raise InvalidParameter("a race needs a candidate whose score is above minus infinity.")
    words = source().words(scores.size)
    mantissas = words >> np.uint64(1)
    v = mantissas.astype(np.float64)
    v *= 2.0**-63
    with np.errstate(divide="ignore", invalid="ignore"):
        z = density.inverse(v)
        slack = slack + density.slack(z) + (np.abs(z) + np.abs(scores)) * 2.0**-50
        if density.symmetric:
            z = np.where(words & np.uint64(1), -z, z)
        keys = scores + z
        slack = np.where(mantissas < BELIEVED, np.inf, slack)
        low, high = keys - slack, keys + slack
    low[never | np.isnan(low)] = -np.inf
    high[np.isnan(high)] = np.inf
    high[never] = -np.inf
    leaders = np.flatnonzero(high >= low.max())
    leaders = leaders[~never[leaders]]
    if leaders.size == 1:
        return int(leaders[0])
    numbers = {i: LazyUniform(int(mantissas[i]), 63) for i in leaders.tolist()}
    signs = {i: -1 if density.symmetric and int(words[i]) & 1 else 1 for i in numbers}
    return _photo_finish(density, numbers, signs, exact)


def _photo_finish(
    density: Racing, numbers: dict[int, LazyUniform], signs: dict[int, int], exact: Callable[[int], arb]
) -> int:
    with Precision():
        while len(numbers) > 1:
            ctx.prec = max(u.bits for u in numbers.values()) + 2 * WORD
            keys = {i: exact(i) + signs[i] * density.quantile(u.ball()) for i, u in numbers.items()}
            known = [key for key in keys.values() if key.is_finite()]
            numbers = {
                i: u
                for i, u in numbers.items()
                if not keys[i].is_finite() or not any(keys[i] < other for other in known)
            }
            if len(numbers) > 1:
                for u in numbers.values():
                    u.refine()
    return next(iter(numbers))
