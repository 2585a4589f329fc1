"""``assert_private``: the auditor inside a test, for this project and for others.

Three tiers say how hard to try: ``fast`` for every commit, ``nightly`` and ``release``. The tier comes from the
argument, else from ``pytest --privacy-tier``, else from the variable ``DISCREET_TIER``, else it is fast.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any

from discreet.accounting import PrivacyLoss
from discreet.auditing.audit import Audit, audit
from discreet.auditing.registry import TIERS
from discreet.errors import InvalidParameter

__all__ = ["assert_private"]

VARIABLE = "DISCREET_TIER"


def assert_private(
    release: Any,  # noqa: ANN401 - a mechanism or a function
    *,
    claims: PrivacyLoss | None = None,
    neighbours: Sequence[Any] | None = None,
    batch: Callable[[Any, int], Any] | None = None,
    timing: bool = False,
    tier: str | None = None,
) -> Audit:
    """Audit a release and fail if its claim is refuted; a true claim fails with the tier's alpha, 1e-9 or 1e-6.

    >>> from discreet import Geometric, PrivacyLoss
    >>> assert_private(Geometric(sensitivity=1, epsilon=1)).refuted
    False
    >>> assert_private(lambda rows: len(rows), claims=PrivacyLoss.pure(1), neighbours=([1, 2], [1]))
    Traceback (most recent call last):
    AssertionError: claim epsilon 1: REFUTED, ...
    """
    name = tier or os.environ.get(VARIABLE) or "fast"
    if name not in TIERS:
        raise InvalidParameter(f"a tier is one of {', '.join(TIERS)}, got {name!r}.")
    effort = TIERS[name]
    found = audit(
        release,
        claims=claims,
        neighbours=neighbours,
        batch=batch,
        timing=timing,
        seconds=effort.seconds,
        draws=effort.draws,
        alpha=effort.alpha,
    )
    if found.refuted:
        raise AssertionError(str(found))
    return found
