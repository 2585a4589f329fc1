"""Everything that makes a claim, with the neighbours that test it hardest: no claim of ours stands unattacked.

A room that adds a private computation adds an entry here, or registers one from outside with ``register``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import mechanisms
from discreet.accounting import PrivacyLoss
from discreet.auditing.audit import MOST, Audit, audit
from discreet.errors import InvalidParameter
from discreet.sensitivity import Count, Mean, Sum

__all__ = ["TIERS", "Entry", "Tier", "examine", "register", "registered"]


@dataclass(frozen=True, slots=True)
class Tier:
    """How hard to try: seconds and draws for each entry, and the chance of a false alarm in each."""

    seconds: float
    draws: int
    alpha: float


TIERS: dict[str, Tier] = {
    "fast": Tier(seconds=1.5, draws=12_000, alpha=1e-9),
    "nightly": Tier(seconds=60.0, draws=1_000_000, alpha=1e-6),
    "release": Tier(seconds=600.0, draws=MOST, alpha=1e-6),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A private computation and how it is attacked."""

    name: str
    release: Any
    claims: PrivacyLoss
    neighbours: tuple[tuple[Any, Any], ...]
    batch: Callable[[Any, int], Any] | None = None


REGISTRY: dict[str, Entry] = {}


def register(
    name: str,
    release: Any,  # noqa: ANN401 - a mechanism or a function
    *,
    claims: PrivacyLoss | None = None,
    neighbours: tuple[tuple[Any, Any], ...] = (),
    batch: Callable[[Any, int], Any] | None = None,
) -> Entry:
    """Add a private computation to those that are audited; a mechanism knows its claim and its worst case.

    >>> from discreet import Laplace
    >>> register("two counts at once", Laplace(sensitivity=2, epsilon=1), neighbours=(([0, 0], [1, 1]),)).name
    'two counts at once'
    """
    if name in REGISTRY:
        raise InvalidParameter(f"{name!r} is registered already: give it a name of its own.")
    loss = claims if claims is not None else getattr(release, "loss", None)
    pairs = neighbours or ((release.worst_case(),) if hasattr(release, "worst_case") else ())
    if not isinstance(loss, PrivacyLoss) or not pairs:
        raise InvalidParameter("register a claim (a PrivacyLoss) and at least one pair of neighbours.")
    REGISTRY[name] = entry = Entry(name, release, loss, pairs, batch)
    return entry


def registered() -> tuple[Entry, ...]:
    """Return all entries: our own mechanisms and what was registered."""
    return (*_mechanisms(), *REGISTRY.values())


def examine(entry: Entry, tier: Tier, progress: Callable[[float, str], None] | None = None) -> Audit:
    """Audit one entry."""
    return audit(
        entry.release,
        claims=entry.claims,
        neighbours=list(entry.neighbours),
        batch=entry.batch,
        seconds=tier.seconds,
        draws=tier.draws,
        alpha=tier.alpha,
        progress=progress,
    )


def _mechanisms() -> tuple[Entry, ...]:
    scalars: dict[str, Any] = {
        "geometric": mechanisms.Geometric(sensitivity=1, epsilon=1),
        "geometric, sensitivity 3": mechanisms.Geometric(sensitivity=3, epsilon=Fraction(1, 2)),
        "laplace": mechanisms.Laplace(sensitivity=1, epsilon=1),
        "laplace on a coarse grid": mechanisms.Laplace(sensitivity=Fraction(1, 3), scale=Fraction(1, 3), grid=0.25),
        "laplace, large answers": mechanisms.Laplace(sensitivity=2**40, epsilon=1),
        "gaussian": mechanisms.Gaussian(sensitivity=1, sigma=1),
        "gaussian for a budget": mechanisms.Gaussian(sensitivity=1, epsilon=1, delta=1e-3),
        "discrete gaussian": mechanisms.DiscreteGaussian(sensitivity=1, sigma=1),
        "randomised response": mechanisms.RandomizedResponse(epsilon=1),
        "randomised response, five answers": mechanisms.RandomizedResponse(epsilon=1, categories=5),
        "warner": mechanisms.Warner(truth=0.75),
        "yes-biased": mechanisms.YesBiased(),
    }
    others: dict[str, Any] = {
        "bounded count": mechanisms.BoundedCount(size=5, epsilon=1),
        "exponential": mechanisms.Exponential(epsilon=1),
        "exponential, monotone": mechanisms.Exponential(epsilon=1, monotone=True),
        "permute and flip": mechanisms.PermuteAndFlip(epsilon=1),
        "noisy max": mechanisms.NoisyMax(epsilon=1, noise="laplace"),
        "noisy max, gumbel": mechanisms.NoisyMax(epsilon=1, noise="gumbel"),
        "noisy max, exponential": mechanisms.NoisyMax(epsilon=1, noise="exponential"),
        "quantile": mechanisms.Quantile(bounds=(0, 10), epsilon=1, relation="add_remove", grid=0.25),
        "quantile, replaced": mechanisms.Quantile(bounds=(0, 10), epsilon=1, relation="replace_one", grid=0.25),
        "random record": mechanisms.RandomRecord(size=4),
    }
    lifted: dict[str, Any] = {
        "count of records": (
            mechanisms.Geometric(sensitivity=1, epsilon=1).of(Count(), relation="add_remove"),
            (([0, 0], [0]), ([], [0])),
        ),
        "sum of records": (
            mechanisms.Laplace(sensitivity=1, epsilon=1).of(Sum(bounds=(0, 1)), relation="add_remove"),
            (([0.5, 1], [0.5]), ([], [1]), ([0.5, 0.1, 0.2], [0.5, 0.1])),
        ),
        "mean of records": (
            mechanisms.Laplace(sensitivity=Fraction(1, 4), epsilon=1).of(
                Mean(bounds=(0, 1), size=4), relation="replace_one"
            ),
            (([0, 0, 0, 0], [0, 0, 0, 1]),),
        ),
        "statistical query": (
            mechanisms.STAT(query=_fraction, size=4, epsilon=1),
            (([0, 0, 0, 0], [0, 0, 0, 1]),),
        ),
    }
    return (
        *(Entry(name, m, m.loss, (m.worst_case(),), _in_one(m)) for name, m in scalars.items()),
        *(Entry(name, m, m.loss, (m.worst_case(),)) for name, m in others.items()),
        *(Entry(name, m, m.loss, pairs) for name, (m, pairs) in lifted.items()),
    )


def _fraction(record: float) -> float:
    return float(record)


def _in_one(mechanism: Any) -> Callable[[Any, int], Any]:  # noqa: ANN401 - any mechanism on numbers
    """Return many draws at once: noise on a vector is independent noise on each entry."""
    return lambda value, count: mechanism.release(np.full(count, value))
