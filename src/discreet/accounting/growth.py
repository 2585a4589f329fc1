"""How epsilon grows with the number of repetitions, theorem by theorem.

``routes`` says what every theorem proves about one loss. Here the textbook's theorems are asked about 1, 2, ... copies
of it, which is cheap because each says how it repeats: epsilons add, rhos add, Renyi divergences add.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

from discreet.accounting import theorems
from discreet.accounting.loss import PrivacyLoss
from discreet.accounting.terms import Gaussian, Pure, Sampled
from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import Real, probability, upward

__all__ = ["ORDERS", "OURS", "Growth", "growth", "near_the_best", "repetitions"]

OURS = "discreet"
ORDERS = tuple(1 + Fraction(round(1000 * 1.4**k), 20_000) for k in range(29))
"""Orders of Renyi divergences to begin with, from near 1 to 600."""

ROUNDS = 6


@dataclass(frozen=True, slots=True)
class Growth:
    """One theorem's epsilon for each number of repetitions; infinite where it says nothing."""

    name: str
    counts: tuple[int, ...]
    epsilons: tuple[float, ...]
    valid: bool = True


def repetitions(most: int, points: int = 18) -> tuple[int, ...]:
    """Return whole numbers from 1 to the most, evenly spread on a logarithmic scale.

    >>> repetitions(1000, 4)
    (1, 10, 100, 1000)
    """
    return tuple(sorted({round(most ** (k / (points - 1))) for k in range(points)}))


def growth(
    step: PrivacyLoss, counts: Sequence[int], delta: Real, *, tick: Callable[[], object] = lambda: None
) -> tuple[Growth, ...]:
    """Return what each theorem proves about ``count * step`` at a total delta; ``tick`` is called on the way.

    Where one release has no epsilon of its own, basic and advanced composition give each release an equal share of
    delta.

    >>> lines = growth(PrivacyLoss.laplace(0.1), [1, 50], 1e-5)
    >>> [round(line.epsilons[-1], 2) for line in lines if line.name in ("basic composition", OURS)]
    [5.0, 2.8]
    """
    share = probability(delta, "delta")
    found: list[Growth] = []
    for name, valid, ask in (
        ("basic composition", True, _basic(step, share)),
        ("advanced composition", True, _advanced(step, share)),
        ("optimal composition", True, _optimal(step, share)),
        ("zCDP", True, _zcdp(step, share)),
        ("Renyi", True, _renyi(step, share, tick)),
        ("central limit", False, _limit(step, share)),
        (OURS, True, lambda count: (count * step).epsilon(share)),
    ):
        if ask is not None:
            line = tuple(_asked(ask, count, tick) for count in counts)
            if any(map(math.isfinite, line)):
                found.append(Growth(name, tuple(counts), line, valid))
    return tuple(found)


Ask = Callable[[int], float]


def _asked(ask: Ask, count: int, tick: Callable[[], object]) -> float:
    tick()
    with suppress(NoTheorem, InvalidParameter, OverflowError):
        return float(ask(count))
    return math.inf


def _pure(step: PrivacyLoss) -> Fraction | None:
    parts = [(term.pure, count) for term, count in step.terms]
    return None if any(e is None for e, _ in parts) else sum((e * k for e, k in parts if e is not None), Fraction(0))


def _basic(step: PrivacyLoss, delta: Fraction) -> Ask:
    pure = _pure(step)
    return lambda count: upward(count * (Fraction(step.epsilon(delta / count)) if pure is None else pure))


def _advanced(step: PrivacyLoss, delta: Fraction) -> Ask:
    pure = _pure(step)

    def ask(count: int) -> float:
        if pure is not None:
            return float(theorems.advanced_composition(pure, 0, slack=delta, count=count).epsilon)
        each = delta / (2 * count)
        return float(theorems.advanced_composition(step.epsilon(each), each, slack=delta / 2, count=count).epsilon)

    return ask


def _optimal(step: PrivacyLoss, delta: Fraction) -> Ask | None:
    """Return Kairouz, Oh and Viswanath's theorem for a pure mechanism of which more is known than its epsilon."""
    pure = _pure(step)
    if pure is None or all(isinstance(term, Pure) for term, _ in step.terms):
        return None
    return lambda count: theorems.optimal_epsilon(pure, 0, count=count, total_delta=delta)


def _zcdp(step: PrivacyLoss, delta: Fraction) -> Ask | None:
    rho = step.rho
    return None if math.isinf(rho) else lambda count: theorems.zcdp_epsilon(count * Fraction(rho), delta)


def _renyi(step: PrivacyLoss, delta: Fraction, tick: Callable[[], object]) -> Ask | None:
    """Return the improved conversion near the best order; None where zCDP says the same.

    Divergences add, so one curve serves every number of repetitions. The order infinity is the pure epsilon.
    """
    if all(isinstance(term, Gaussian) or term.kind == "zcdp" for term, _ in step.terms):
        return None
    pure, curve = _pure(step), lru_cache(maxsize=None)(partial(_divergence, step))
    for order in ORDERS:
        tick()
        curve(order)

    def ask(count: int) -> float:
        def epsilon(order: Fraction) -> float:
            divergence = curve(order)
            known = math.isfinite(divergence)
            return theorems.improved_conversion(order, count * Fraction(divergence), delta) if known else math.inf

        return min(near_the_best(epsilon, ORDERS), math.inf if pure is None else upward(count * pure))

    return ask


def _divergence(step: PrivacyLoss, order: Fraction) -> float:
    with suppress(NoTheorem, InvalidParameter, OverflowError):
        return step.renyi(order)
    return math.inf


def near_the_best(epsilon: Callable[[Fraction], float], orders: Iterable[Real], rounds: int = ROUNDS) -> float:
    """Return the least epsilon over some orders, and over orders ever closer to the best of them.

    >>> round(near_the_best(lambda order: abs(float(order) - 3.3), [2, 4, 8]), 2)
    0.01
    """
    found = {Fraction(order): epsilon(Fraction(order)) for order in orders}
    for _ in range(rounds):
        known = sorted(found)
        best = known.index(min(known, key=found.__getitem__))
        for neighbour in (known[max(best - 1, 0)], known[min(best + 1, len(known) - 1)]):
            between = (known[best] + neighbour) / 2
            if between not in found:
                found[between] = epsilon(between)
    return min(found.values())


def _limit(step: PrivacyLoss, delta: Fraction) -> Ask | None:
    """Return the central limit, which may lie on either side of the truth."""
    pure = _pure(step)
    if pure is not None:
        parts = [(term.pure or Fraction(0), count) for term, count in step.terms]
        epsilons, counts = [e for e, _ in parts], [k for _, k in parts]
        return lambda count: theorems.pure_limit(epsilons, count=[k * count for k in counts]).epsilon(delta)
    if len(step.terms) == 1:
        (term, copies), *_ = step.terms
        if isinstance(term, Sampled) and isinstance(term.base, Gaussian):
            noise, rate = 1 / math.sqrt(term.base.mu_squared), term.rate
            return lambda count: theorems.sampled_gaussian_limit(
                rate=rate, noise_multiplier=noise, steps=copies * count
            ).epsilon(delta)
    return None
