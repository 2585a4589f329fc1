"""What somebody who knows everything else can still learn about one record: Bayes' rule with a privacy loss.

For neighbours P and Q the odds of P against Q after an output are those before it times ``e^L``, with L the privacy
loss. So a loss between ``-t`` and ``t`` keeps the posterior of a prior p within

    p / (p + (1 - p) e^t)    and    p e^t / (p e^t + 1 - p)

(Kasiviswanathan and Smith, "On the Semantics of Differential Privacy", 2014). A pure loss never leaves these bounds. Of
another, ``P[L > t] <= D(x') / (1 - x' / x)`` for each x' below ``x = e^t`` (see ``tails``), and ``P[L < -t]``, which is
at most ``e^-t Q[-L > t]``, adds the part ``1 / x`` of it. Both together are at most a failure f if

    x >= (D(x') + f x') / (f - D(x')).

Hockey-stick divergences are jointly convex, so under replace_one all this holds for any statement about the record of
one unit, under add_remove for the statement that it is there. It does not hold against somebody who does not know the
other records: these may well teach something about this one, whether it takes part or not.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting.composition import Counted, delta_of, epsilon_of, pure_of
from discreet.accounting.tails import minimum
from discreet.errors import NoTheorem
from discreet.exact import Real, ball, down, probability, up, upward

__all__ = ["Posterior", "posterior_of"]

LARGEST = 10**5


@dataclass(frozen=True, slots=True)
class Posterior:
    """Bounds on a belief after a release, which hold but for a probability ``failure`` over its noise.

    >>> print(posterior_of((), Fraction(1, 2)))
    Whoever knows all other records and believes something about this one with probability 0.5 will, after the release,
    believe it with a probability of at least 0.5 and at most 0.5.
    """

    prior: float
    low: float
    high: float
    epsilon: float
    failure: float

    def __str__(self) -> str:
        low, high = math.floor(self.low * 1e4 + 1e-9) / 1e4, math.ceil(self.high * 1e4 - 1e-9) / 1e4
        unless = f" Over the noise, this fails with probability at most {self.failure:.3g}." if self.failure else ""
        return (
            f"Whoever knows all other records and believes something about this one with probability {self.prior:.4g} "
            f"will, after the release, believe it with a probability of at least {low:.4g} and at most {high:.4g}."
            f"{unless}"
        )


def posterior_of(terms: tuple[Counted, ...], prior: Real, failure: Real = 0) -> Posterior:
    """Return the bounds on the posterior of somebody who knows all other records."""
    p, f = probability(prior, "prior", zero=True, one=True), probability(failure, "failure", zero=True)
    t = Fraction(_largest_loss(terms, f))
    return Posterior(
        prior=float(p),
        low=max(0.0, down(lambda: ball(p) / (ball(p) + ball(1 - p) * ball(t).exp()))),
        high=min(1.0, up(lambda: ball(p) / (ball(p) + ball(1 - p) * (-ball(t)).exp()))),
        epsilon=upward(t),
        failure=upward(f),
    )


def _largest_loss(terms: tuple[Counted, ...], failure: Fraction) -> float:
    """Return about the least t that the loss leaves, on either side, with no more than the failure's probability."""
    total = pure_of(terms)
    certain = math.inf if total is None else upward(total)
    if not failure or not certain:
        if math.isinf(certain):
            raise NoTheorem(
                "no bound on the posterior is certain: the loss is not bounded. Say how often it may fail, as in "
                "posterior(prior, failure=1e-6)."
            )
        return certain
    start = epsilon_of(terms, failure)
    ends = (epsilon_of(terms, failure / 10**k) for k in (4, 3, 2, 1))
    end = next((end for end in ends if math.isfinite(end)), start + 1)

    def loss(share: float) -> float:
        place = Fraction(start + (end - start) * share)
        delta = Fraction(delta_of(terms, place))
        if delta >= failure or place > LARGEST:
            return math.inf
        return up(lambda: ((ball(delta) + ball(failure) * ball(place).exp()) / ball(failure - delta)).log())

    found = min(certain, minimum(loss, 0.0, 1.0)) if math.isfinite(start) else certain
    if math.isinf(found):
        raise NoTheorem("no loss is exceeded as rarely as that. Give a failure well above the smallest delta.")
    return found
