"""Everything that makes a claim, with the neighbours that test it hardest: no claim of ours stands unattacked.

A room that adds a private computation adds an entry here, or registers one from outside with ``register``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from discreet.accounting import PrivacyLoss
from discreet.auditing.aim_entries import our_graphical_models
from discreet.auditing.audit import MOST, Audit, audit
from discreet.auditing.baseline_entries import our_baselines
from discreet.auditing.copy_entries import our_copies
from discreet.auditing.dual_entries import our_games
from discreet.auditing.entries import Entry, our_mechanisms, our_theorems
from discreet.auditing.estimator_entries import our_estimators
from discreet.auditing.fitted_entries import our_dialogues, our_fitted
from discreet.auditing.learn_entries import our_learning
from discreet.auditing.queries import our_queries
from discreet.auditing.sgd_entries import our_trainings
from discreet.auditing.table_entries import our_tables
from discreet.auditing.weights_entries import our_weights
from discreet.errors import InvalidParameter

__all__ = ["TIERS", "Entry", "Tier", "examine", "register", "registered"]


@dataclass(frozen=True, slots=True)
class Tier:
    """How hard to try: seconds and draws for each entry, and the chance of a false alarm in each."""

    seconds: float | None
    draws: int
    alpha: float


TIERS: dict[str, Tier] = {
    "fast": Tier(seconds=1.0, draws=12_000, alpha=1e-9),
    "nightly": Tier(seconds=60.0, draws=1_000_000, alpha=1e-6),
    "release": Tier(seconds=600.0, draws=MOST, alpha=1e-6),
}


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
    """Return all entries: our mechanisms, theorems of our accounting as releases, queries, and what was registered.

    Private learning is among them where scikit-learn and torch are there.
    """
    return (
        *our_mechanisms(),
        *our_fitted(),
        *our_dialogues(),
        *our_tables(),
        *our_estimators(),
        *our_graphical_models(),
        *our_baselines(),
        *our_copies(),
        *our_games(),
        *our_weights(),
        *(our_learning() if find_spec("sklearn") else ()),
        *(our_trainings() if find_spec("torch") else ()),
        *our_theorems(),
        *our_queries(),
        *REGISTRY.values(),
    )


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
