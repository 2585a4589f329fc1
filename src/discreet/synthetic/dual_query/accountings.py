"""What DualQuery costs, by the theorems of its authors and by ours.

Gaboardi, Gallego Arias, Hsu, Roth and Wu, "Dual Query: Practical Private Query Release for High Dimensional Data",
ICML 2014. A draw of round t is one of the exponential mechanism with ``epsilon_t = 2 eta (t - 1) / n``, and there are
s of them. The paper composes s (T - 1) draws as if each were one of the last round, by Dwork, Rothblum and Vadhan
(FOCS 2010); the authors' program adds up what each round costs, with the same theorem. A bounded range (Dong, Durfee
and Rogers, ICML 2020) is worth ``epsilon_t^2 / 8`` of zCDP (Cesar and Rogers, ALT 2021), and ``loss`` is the tightest
that is known here.
"""

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from discreet.accounting import PrivacyLoss
from discreet.exact import Real, ball, probability, up, upward

__all__ = ["Accountings", "accountings", "loss_of", "rho_of", "round_epsilon"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accountings:
    """The epsilon at one delta by four theorems, each an upper bound, and by everything known about the loss.

    ``pure`` holds at delta 0 as well. ``concentrated`` is ``rho + 2 sqrt(rho log(1 / delta))``.
    """

    delta: Real
    pure: float
    advanced: float
    heterogeneous: float
    concentrated: float
    loss: float


def round_epsilon(eta: Fraction, size: int, records: int, place: int) -> Fraction:
    """Return the range of one draw of a round, of which the first is 1.

    >>> round_epsilon(Fraction(1, 2), 100, 1, 3)
    Fraction(1, 50)
    """
    return 2 * eta * records * (place - 1) / size


def rho_of(eta: Fraction, rounds: int, samples: int, size: int, records: int) -> Fraction:
    """Return the zCDP parameter of all rounds, ``s eta^2 T (T - 1) (2 T - 1) / (12 n^2)``, exactly.

    >>> round(float(rho_of(Fraction(2, 5), 100, 500, 32561, 1)), 9)
    0.01238801
    """
    squares = Fraction(rounds * (rounds - 1) * (2 * rounds - 1), 12 * size**2)
    return samples * (eta * records) ** 2 * squares


def loss_of(eta: Fraction, rounds: int, samples: int, size: int, records: int) -> PrivacyLoss:
    """Return the loss of all draws; the first round costs nothing."""
    return PrivacyLoss.total(
        samples * PrivacyLoss.bounded_range(round_epsilon(eta, size, records, place)) for place in range(2, rounds + 1)
    )


def accountings(
    eta: Fraction, rounds: int, samples: int, size: int, records: int, delta: Real, loss: PrivacyLoss
) -> Accountings:
    """Return the epsilons of all theorems, rounded up."""
    failure = probability(delta, "delta")
    last = round_epsilon(eta, size, records, rounds)
    draws = samples * (rounds - 1)
    spent = [round_epsilon(eta, size, records, place) for place in range(2, rounds + 1)]
    squares = samples * sum((one**2 for one in spent), Fraction(0))
    rho = rho_of(eta, rounds, samples, size, records)
    return Accountings(
        delta=delta,
        pure=upward(samples * sum(spent, Fraction(0))),
        advanced=up(lambda: (2 * draws * _log(failure)).sqrt() * ball(last) + draws * ball(last) * ball(last).expm1()),
        heterogeneous=up(
            lambda: (
                (2 * ball(squares) * _log(failure)).sqrt()
                + samples * sum((ball(one) * ball(one).expm1() for one in spent), ball(0))
            )
        ),
        concentrated=up(lambda: ball(rho) + 2 * (ball(rho) * _log(failure)).sqrt()) if rho else 0.0,
        loss=loss.epsilon(delta) if rounds > 1 else 0.0,
    )


def _log(delta: Fraction) -> arb:
    return -ball(delta).log()
