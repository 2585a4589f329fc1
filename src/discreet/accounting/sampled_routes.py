"""The theorems about releases on samples and about shuffled reports, as offers to ``routes``."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

from discreet.accounting import theorems
from discreet.accounting.loss import PrivacyLoss
from discreet.accounting.terms import (
    BoundedRange,
    Gaussian,
    Laplace,
    Sampled,
    SampledSymmetric,
    Shuffled,
    Term,
)
from discreet.exact import Real, ball, down, upward

__all__ = ["Offer", "few_orders", "on_samples", "sampled_limit"]

Offer = tuple[str, Callable[[], Real], str, str]
"""A name, the theorem to ask, a note and the paper."""

ORDERS = tuple(range(2, 65))
"""Whole orders at which theorems for whole orders are asked."""


def on_samples(loss: PrivacyLoss, delta: Fraction) -> Iterator[Offer]:
    """Yield what is known about losses that are all on samples, or all the same; needs a delta above 0."""
    if not delta or not loss.terms:
        return
    (term, count), *others = loss.terms
    if all(isinstance(each, Sampled) for each, _ in loss.terms):
        yield (
            "Renyi, Poisson sample",
            lambda: theorems.renyi_epsilon(lambda a: _sum(loss, a, _poisson), delta, orders=ORDERS).epsilon,
            "whole orders to 64",
            "Zhu, Wang 2019",
        )
    if all(isinstance(each, SampledSymmetric) for each, _ in loss.terms):
        yield (
            "Renyi, fixed sample",
            lambda: theorems.renyi_epsilon(lambda a: _sum(loss, a, _drawn), delta, orders=ORDERS).epsilon,
            "whole orders to 64",
            "Wang, Balle, Kasiviswanathan 2019",
        )
    if others:
        return
    if isinstance(term, Sampled | SampledSymmetric):
        yield (
            "amplified (epsilon, delta)",
            lambda: _amplified(term, count, delta),
            "of one release" if count == 1 else f"{count} times, epsilons add",
            "Balle, Barthe, Gaboardi 2018",
        )
    if isinstance(term, Sampled) and isinstance(term.base, Gaussian):
        half, noise = delta / 2, _noise(term.base)
        yield (
            "DP-SGD by hand",
            lambda: (
                theorems.sgd_training(
                    noise_multiplier=noise,
                    rate=term.rate,
                    steps=count,
                    delta=half / (count * term.rate),
                    slack=half,
                    relation="add_remove",
                ).epsilon
            ),
            f"delta' = {float(half):.3g}",
            "Abadi et al. 2016; Dwork, Rothblum, Vadhan 2010",
        )
    if isinstance(term, BoundedRange) and count == 1:
        yield "bounded range", lambda: loss.epsilon(delta), "exact", "Dong, Durfee, Rogers 2020"
    if isinstance(term, Shuffled) and count == 1:
        yield (
            "shuffling",
            lambda: theorems.shuffling(term.epsilon, delta, reports=term.users, relation="replace_one").epsilon,
            "closed form",
            "Feldman, McMillan, Talwar 2021",
        )


def few_orders(loss: PrivacyLoss, delta: Fraction) -> list[Fraction] | None:
    """Return orders around the best whole one, where others are slow to evaluate; None where all are quick."""
    if not any(isinstance(term, Sampled) and isinstance(term.base, Gaussian) for term, _ in loss.terms):
        return None
    best = theorems.renyi_epsilon(loss.renyi, delta, orders=range(2, 129)).order
    return None if best is None else [best + Fraction(k, 16) for k in range(-15, 16)]


def sampled_limit(loss: PrivacyLoss) -> theorems.Approximation | None:
    """Return the central limit of a run of DP-SGD, which proves nothing; None for any other loss."""
    if len(loss.terms) != 1:
        return None
    term, count = loss.terms[0]
    if not isinstance(term, Sampled) or not isinstance(term.base, Gaussian) or count < 2:
        return None
    return theorems.sampled_gaussian_limit(rate=term.rate, noise_multiplier=_noise(term.base), steps=count)


def _sum(loss: PrivacyLoss, order: Fraction, each: Callable[[Term, int], float]) -> float:
    parts = [(each(term, math.ceil(order)), count) for term, count in loss.terms]
    if any(math.isinf(part) for part, _ in parts):
        return math.inf
    return upward(sum((count * Fraction(part) for part, count in parts), Fraction(0)))


def _poisson(term: Term, order: int) -> float:
    assert isinstance(term, Sampled)  # noqa: S101 - offered for these alone
    return theorems.poisson_renyi(
        order,
        term.base.renyi,
        rate=term.rate,
        relation="add_remove",
        nonnegative_moments=isinstance(term.base, Gaussian | Laplace),
    )


def _drawn(term: Term, order: int) -> float:
    assert isinstance(term, SampledSymmetric)  # noqa: S101 - offered for these alone
    q, most = term.rate, term.base.pure
    return theorems.without_replacement_renyi(
        order,
        term.base.renyi,
        size=q.numerator,
        population=q.denominator,
        relation="replace_one",
        most=math.inf if most is None else most,
    )


def _amplified(term: Sampled | SampledSymmetric, count: int, delta: Fraction) -> float:
    """Each release at its share of delta: ``ln(1 + q (e^epsilon - 1))``, the base's epsilon at ``delta / (k q)``."""
    inside = min(delta / (count * term.rate), Fraction(999, 1000))
    base = PrivacyLoss(((term.base, 1),)).epsilon(inside)
    if math.isinf(base):
        return math.inf
    return count * float(theorems.poisson_sampling(base, 0, rate=term.rate, relation="add_remove").epsilon)


def _noise(base: Gaussian) -> float:
    return down(lambda: 1 / ball(base.mu_squared).sqrt())
