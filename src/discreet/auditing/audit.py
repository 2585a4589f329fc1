"""``audit``: try to break a claim, and say how hard was tried.

Draws are made in stages of growing size. In each, events are chosen on one half and counted on the other, which did
not choose them, with exact confidence bounds; the stages share alpha, so the whole audit calls a true claim false with
probability at most alpha. It stops as soon as the claim is refuted, and otherwise when time or draws are used up.
"""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.auditing.choosing import best_events
from discreet.auditing.draws import Source, neighbours_of
from discreet.auditing.evidence import Claim, Proof, prove
from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import Real, positive, probability

__all__ = ["Audit", "audit"]

FIRST, GROWTH, MOST = 2000, 6, 4_000_000
AT_ONCE = 500_000
STAGES = 8


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found: an epsilon that the release certainly exceeds or attains, and whether the claim stands."""

    claims: PrivacyLoss
    delta: float
    alpha: float
    proofs: tuple[Proof, ...]
    draws: int
    seconds: float
    stages: int

    @property
    def refuted(self) -> bool:
        """Whether the claim is false, at the stated confidence."""
        return any(proof.refutes for proof in self.proofs)

    @property
    def epsilon(self) -> float:
        """The largest epsilon that was certified, at delta."""
        return max((proof.epsilon for proof in self.proofs), default=0.0)

    @property
    def claimed(self) -> float:
        """The epsilon that is claimed, at delta."""
        return self.claims.epsilon(self.delta)

    @property
    def evidence(self) -> Proof | None:
        """The event that says most: against the claim if it was refuted, else for the largest epsilon."""
        if not self.proofs:
            return None
        return max(self.proofs, key=lambda proof: proof.excess if self.refuted else proof.epsilon)

    @property
    def mu(self) -> float:
        """The largest mu that was certified, if the release is known to be Gaussian: ``z(p) - z(q)`` of an event."""
        from scipy.special import ndtri

        chances = [proof.chances for proof in self.proofs if proof.chances[0] > 0 and proof.chances[1] < 1]
        return max((float(ndtri(p) - ndtri(q)) for p, q in chances), default=0.0)

    @property
    def slack(self) -> float:
        """By what part the noise could be too small without this audit having noticed, roughly.

        That much more noise is where what was seen would refute the claim: its epsilons are scaled down for that, or
        its mu if it is Gaussian.
        """
        with suppress(NoTheorem):
            return max(0.0, self.claims.mu / self.mu - 1) if self.mu > 0 else math.inf
        claim = Claim.of(self.claims, self.delta)
        chances = np.array([proof.chances for proof in self.proofs]).reshape(-1, 2)

        def noticed(slack: float) -> bool:
            return bool(np.any(chances[:, 0] > claim.most(chances[:, 1], scale=1 / (1 + slack))))

        low, high = 0.0, 10.0
        if not noticed(high):
            return math.inf
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (low, middle) if noticed(middle) else (middle, high)
        return high

    def __str__(self) -> str:
        at = f" at delta {self.delta:g}" if self.delta else ""
        tried = f"{self.draws:,} draws in {self.seconds:.1f} s"
        if self.refuted:
            return (
                f"claim epsilon {self.claimed:.3g}{at}: REFUTED, it is at least {self.epsilon:.3g} "
                f"(wrongly so with probability below {self.alpha:g}; {self.evidence}; {tried})."
            )
        if self.slack < 1:
            caught = f"a mechanism with {_percent(self.slack)} percent too little noise would have been refuted"
        else:
            caught = "only a gross mistake would have been refuted: give it more time, or neighbours that differ more"
        return f"claim epsilon {self.claimed:.3g}{at}: not refuted, lower bound {self.epsilon:.3g}; {caught} ({tried})."


def _percent(part: float) -> str:
    return f"{math.ceil(1000 * part) / 10:g}" if part < 0.1 else f"{math.ceil(100 * part)}"


def audit(
    release: Any,  # noqa: ANN401 - a mechanism or a function
    *,
    claims: PrivacyLoss | None = None,
    neighbours: Sequence[Any] | None = None,
    seconds: float = 60.0,
    alpha: float = 1e-4,
    delta: Real | None = None,
    batch: Callable[[Any, int], Any] | None = None,
    timing: bool = False,
    draws: int = MOST,
    progress: Callable[[float, str], None] | None = None,
) -> Audit:
    """Try to break the claim that a release costs no more than a loss.

    ``release`` is a mechanism or a function of the data; ``neighbours`` a pair of data sets, or a list of pairs (a
    mechanism knows its own, and its own claim). ``batch(data, count)`` draws many at once, where it can. With
    ``timing`` the time that a release takes is an output too. ``delta`` is where epsilon is told; the claim itself is
    tested at all of them.

    >>> from discreet import Geometric
    >>> found = audit(Geometric(sensitivity=1, epsilon=1), draws=20_000)
    >>> found.refuted, 0.5 < found.epsilon < 1
    (False, True)
    """
    source, loss, pairs = _subject(release, claims, neighbours, batch, timing)
    if not positive(seconds, "seconds") or type(draws) is not int or draws < 100:
        raise InvalidParameter("an audit needs some seconds and at least 100 draws.")
    level = float(probability(alpha, "alpha"))
    at = _usual_delta(loss) if delta is None else float(probability(delta, "delta", zero=True))
    claim, begun = Claim.of(loss, at), time.monotonic()
    proofs: list[Proof] = []
    made = stage = 0
    count = FIRST
    while stage < STAGES:
        share = level / len(pairs) * 2.0 ** -(stage + 1)
        started = time.monotonic()
        for pair in pairs:
            proofs += _stage(source, pair, min(count, draws), claim, at, share)
            made += 2 * min(count, draws)
        stage += 1
        spent, took = time.monotonic() - begun, time.monotonic() - started
        if progress is not None:
            progress(min(1.0, max(spent / seconds, count / draws)), f"{made:,} draws")
        if any(proof.refutes for proof in proofs) or count >= draws:
            break
        left = seconds - spent
        grown = min(GROWTH, 0.8 * left / max(took, 1e-9))
        if grown < 1:
            break
        count = min(draws, math.ceil(count * grown))
    if progress is not None:
        progress(1.0, f"{made:,} draws")
    return Audit(loss, at, level, tuple(proofs), made, time.monotonic() - begun, stage)


def _usual_delta(loss: PrivacyLoss) -> float:
    """Return a delta at which the claim has an epsilon that an audit can see."""
    if loss.is_pure:
        return 0.0
    return 1e-3 if math.isfinite(loss.epsilon(1e-3)) else loss.delta(50)


def _subject(
    release: Any,  # noqa: ANN401 - a mechanism or a function
    claims: PrivacyLoss | None,
    neighbours: Sequence[Any] | None,
    batch: Callable[[Any, int], Any] | None,
    timing: bool,
) -> tuple[Source, PrivacyLoss, list[tuple[Any, Any]]]:
    run = getattr(release, "release", release)
    if not callable(run):
        raise InvalidParameter("audit a mechanism, or a function of the data.")
    loss = claims if claims is not None else getattr(release, "loss", None)
    if not isinstance(loss, PrivacyLoss):
        raise InvalidParameter("say what is claimed: claims=PrivacyLoss.pure(1), say.")
    if neighbours is None:
        worst = getattr(release, "worst_case", None)
        if worst is None:
            raise InvalidParameter("give neighbours=(data, other data): two data sets that differ by one person.")
        return Source(run, batch, timing), loss, [worst()]
    return Source(run, batch, timing), loss, neighbours_of(neighbours)


def _stage(source: Source, pair: tuple[Any, Any], count: int, claim: Claim, delta: float, alpha: float) -> list[Proof]:
    """Draw, choose on one half, count on the other; a large second half is drawn in pieces."""
    first, second = source.draw(pair, min(count, AT_ONCE))
    half = first.size // 2, second.size // 2
    events = best_events(first.part(0, half[0]), second.part(0, half[1]), claim, delta, alpha)
    tests = [(first.part(half[0], first.size), second.part(half[1], second.size))]
    hits = {event: [0, 0] for event in events}
    drawn, left = [0, 0], count - min(count, AT_ONCE)
    while tests:
        for side, test in enumerate(tests.pop()):
            drawn[side] += test.size
            for event in events:
                hits[event][side] += event.happens(test)
        if left > 0:
            tests.append(source.draw(pair, min(left, AT_ONCE)))
            left -= AT_ONCE
    share = alpha / max(1, len(events))
    return [
        prove(
            event.name,
            event.direction,
            (hits[event][event.likelier], hits[event][1 - event.likelier]),
            (drawn[event.likelier], drawn[1 - event.likelier]),
            claim,
            delta,
            share,
        )
        for event in events
    ]
