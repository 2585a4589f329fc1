"""``audit``: try to break a claim, and say how hard was tried.

Draws are made in stages of growing size. In each, events are chosen on one half and counted on the other, which did
not choose them, with exact confidence bounds; the stages share alpha, so the whole audit calls a true claim false with
probability at most alpha. It stops as soon as the claim is refuted, and otherwise when time or draws are used up.
"""

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.auditing.choosing import Event, best_events
from discreet.auditing.draws import Form, Source, neighbours_of
from discreet.auditing.evidence import Claim, Proof, prove, prove_in_pairs
from discreet.errors import InvalidParameter
from discreet.exact import Real, positive, probability

__all__ = ["Audit", "audit"]

FIRST, LEAST, GROWTH, MOST = 2000, 100, 6, 4_000_000
AT_ONCE = 500_000
STAGES = 8
SECONDS = 60.0


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
        return max((float(ndtri(p) - ndtri(q)) for p, q in chances), default=0.0) if chances else 0.0

    @property
    def slack(self) -> float:
        """By what part the loss could be too large without this audit noticing it in 9 of 10 tries; roughly.

        It is the power of the test that was made, with its draws and its events, on a release that comes as close to
        the claim as this one did, and no closer than the claim allows.
        """
        if self.refuted:
            return math.nan
        claim = Claim.of(self.claims, self.delta)

        def noticed(slack: float) -> bool:
            return any(proof.notices(claim, 1 + slack) for proof in self.proofs)

        low, high = 0.0, 10.0
        if not noticed(high):
            return math.inf
        for _ in range(16):
            middle = (low + high) / 2
            low, high = (low, middle) if noticed(middle) else (middle, high)
        return high

    def __str__(self) -> str:
        at = f" at delta {self.delta:g}" if self.delta else ""
        tried = f"{self.draws:,} draws in {self.seconds:.1f} s"
        if self.refuted:
            more = f"it is at least {_down(self.epsilon)}" if self.epsilon > self.claimed else "an event is too likely"
            return (
                f"claim epsilon {self.claimed:.3g}{at}: REFUTED, {more} "
                f"(wrongly so with probability below {self.alpha:g}; {self.evidence}; {tried})."
            )
        if self.slack < 1:
            caught = f"{_percent(self.slack)} percent too little noise is refuted in 9 of 10 such audits"
        else:
            caught = "only a gross mistake would have been refuted: give it more draws, or neighbours that differ more"
        return (
            f"claim epsilon {self.claimed:.3g}{at}: not refuted, lower bound {_down(self.epsilon)}; {caught} ({tried})."
        )


def _percent(slack: float) -> str:
    """Return how much noise is missing if the loss is too large by a part ``slack``."""
    part = slack / (1 + slack)
    return f"{math.ceil(1000 * part) / 10:g}" if part < 0.1 else f"{math.ceil(100 * part)}"


def _down(epsilon: float) -> str:
    """Show three digits of a lower bound, rounded down."""
    if epsilon <= 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(epsilon)) - 2)
    return f"{math.floor(epsilon / unit * (1 + 1e-12)) * unit:.3g}"


def audit(
    release: Any,  # noqa: ANN401 - a mechanism or a function
    *,
    claims: PrivacyLoss | None = None,
    neighbours: Sequence[Any] | None = None,
    seconds: float | None = None,
    alpha: float = 1e-4,
    delta: Real | None = None,
    batch: Callable[[Any, int], Any] | None = None,
    timing: bool = False,
    draws: int | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> Audit:
    """Try to break the claim that a release costs no more than a loss.

    ``release`` is a mechanism or a function of the data; ``neighbours`` a pair of data sets, or a list of pairs (a
    mechanism knows its own, and its own claim). ``batch(data, count)`` draws many at once, and so does a mechanism that
    has ``draws(data, count)``, after a first stage of single releases. With ``timing`` the time that a release takes is
    an output too. ``delta`` is where epsilon is told; the claim itself is tested at all of them.

    It ends after ``draws`` on each data set, or after ``seconds``, whichever comes first; with ``draws`` alone no clock
    is read, and with neither it takes a minute.

    >>> from discreet import Geometric
    >>> found = audit(Geometric(sensitivity=1, epsilon=1), draws=20_000)
    >>> found.refuted, 0.5 < found.epsilon < 1
    (False, True)
    """
    source, loss, pairs = _subject(release, claims, neighbours, batch, timing)
    limit = float(positive(seconds, "seconds")) if seconds is not None else math.inf if draws is not None else SECONDS
    most = MOST if draws is None else draws
    if type(most) is not int or most < 100:
        raise InvalidParameter("an audit needs at least 100 draws.")
    level = float(probability(alpha, "alpha"))
    at = _usual_delta(loss) if delta is None else float(probability(delta, "delta", zero=True))
    claim, begun = Claim.of(loss, at), time.monotonic()
    proofs: list[Proof] = []
    made = stage = 0
    single = source if batch is not None else replace(source, batch=None)
    count = min(most, _first_count(single, pairs, limit) if math.isfinite(limit) else FIRST)
    while stage < STAGES:
        share = level / len(pairs) * 2.0 ** -(stage + 1)
        started = time.monotonic()
        for pair in pairs:
            proofs += _stage(source if stage else single, pair, count, claim, at, share)
            made += 2 * count
        stage += 1
        spent, took = time.monotonic() - begun, time.monotonic() - started
        if progress is not None:
            progress(min(1.0, max(spent / limit, count / most)), f"{made:,} draws")
        if any(proof.refutes for proof in proofs) or count >= most:
            break
        grown = min(GROWTH, 0.8 * (limit - spent) / max(took, 1e-9))
        if grown < 1:
            break
        count = min(most, math.ceil(count * grown))
    if progress is not None:
        progress(1.0, f"{made:,} draws")
    return Audit(loss, at, level, tuple(proofs), made, time.monotonic() - begun, stage)


def _usual_delta(loss: PrivacyLoss) -> float:
    """Return a delta at which the claim has an epsilon that an audit can see."""
    if loss.is_pure:
        return 0.0
    found = 1e-3 if math.isfinite(loss.epsilon(1e-3)) else loss.delta(50)
    if found >= 1:
        raise InvalidParameter("this claim has delta 1 at every epsilon: it rules nothing out.")
    return found


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
    many = batch if batch is not None else getattr(release, "draws", None)
    if neighbours is None:
        worst = getattr(release, "worst_case", None)
        if worst is None:
            raise InvalidParameter("give neighbours=(data, other data): two data sets that differ by one person.")
        return Source(run, many, timing), loss, [worst()]
    return Source(run, many, timing), loss, neighbours_of(neighbours)


def _first_count(source: Source, pairs: list[tuple[Any, Any]], seconds: float) -> int:
    """Return how many draws a first stage can have in a fifth of the time; the draws that tell are not used."""
    begun = time.monotonic()
    source.draw(pairs[0], 8)
    took = (time.monotonic() - begun) / 8
    return int(min(FIRST, max(LEAST, 0.2 * seconds / (len(pairs) * max(took, 1e-9)))))


def _stage(source: Source, pair: tuple[Any, Any], count: int, claim: Claim, delta: float, alpha: float) -> list[Proof]:
    """Draw, choose on one half, count on the other; a large second half is drawn in pieces."""
    drawn = source.draw(pair, min(count, AT_ONCE))
    half = min(count, AT_ONCE) // 2
    choosing = drawn.part(0, half)
    form = Form.of(*choosing.outputs)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        events = best_events(*choosing.put(form), claim, delta, alpha)
        counts = {event: [0, 0] for event in events}
        size, left, rest = 0, count - min(count, AT_ONCE), drawn.part(half, min(count, AT_ONCE))
        while True:
            tests = rest.put(form)
            size += tests[0].size
            for event, hits in counts.items():
                where = event.where(tests[event.likelier]), event.where(tests[1 - event.likelier])
                if event.score.paired:  # count the pairs in which it happens on one side alone
                    where = where[0] & ~where[1], where[1] & ~where[0]
                hits[0] += int(np.count_nonzero(where[0]))
                hits[1] += int(np.count_nonzero(where[1]))
            if left <= 0:
                break
            rest = source.draw(pair, min(left, AT_ONCE))
            left -= AT_ONCE
    share = alpha / max(1, len(events))
    return [_proof(event, (hits[0], hits[1]), size, claim, delta, share) for event, hits in counts.items()]


def _proof(event: Event, hits: tuple[int, int], size: int, claim: Claim, delta: float, share: float) -> Proof:
    if event.score.paired:
        top = float(claim.epsilons[-1]) if claim.deltas[-1] == 0 else math.inf
        return prove_in_pairs(event.name, event.direction, *hits, top, share)
    return prove(event.name, event.direction, hits, (size, size), claim, delta, share)
