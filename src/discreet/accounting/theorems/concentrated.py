"""Zero-concentrated differential privacy: Renyi divergences of every order alpha are at most ``alpha rho``.

Bun and Steinke, TCC 2016. The rho of adaptive releases add.
"""

from discreet.accounting.terms.pure import pure_rho
from discreet.accounting.theorems.guarantee import not_negative
from discreet.accounting.theorems.renyi import renyi_epsilon
from discreet.exact import Real, ball, down, positive, probability, up, upward

__all__ = [
    "bounded_range_to_zcdp",
    "largest_rho",
    "pure_to_zcdp",
    "pure_to_zcdp_classical",
    "zcdp_epsilon",
    "zcdp_epsilon_classical",
]


def pure_to_zcdp(epsilon: Real) -> float:
    """Return ``epsilon tanh(epsilon / 2)``, the smallest rho that every epsilon-DP mechanism has.

    Randomised response dominates every epsilon-DP mechanism and its divergences attain this as alpha falls to 1.

    >>> pure_to_zcdp(2)
    1.52318831191...
    """
    return float(pure_rho(not_negative(epsilon, "epsilon")))


def pure_to_zcdp_classical(epsilon: Real) -> float:
    """Return ``epsilon^2 / 2`` (Bun and Steinke, Proposition 1.4).

    >>> pure_to_zcdp_classical(2)
    2.0
    """
    return upward(not_negative(epsilon, "epsilon") ** 2 / 2)


def bounded_range_to_zcdp(epsilon: Real) -> float:
    """Return ``epsilon^2 / 8`` for a mechanism of range epsilon (Cesar and Rogers, ALT 2021).

    The range is the largest difference between two losses on the same pair of neighbours. That of the exponential
    mechanism is the epsilon it is tuned for; of an epsilon-DP mechanism it may be ``2 epsilon``.

    >>> bounded_range_to_zcdp(2)
    0.5
    """
    return upward(not_negative(epsilon, "epsilon") ** 2 / 8)


def zcdp_epsilon_classical(rho: Real, delta: Real) -> float:
    """Return ``rho + 2 sqrt(rho ln(1/delta))`` (Bun and Steinke, Proposition 1.3).

    >>> zcdp_epsilon_classical(0.1, 1e-6)
    2.45078800047...
    """
    r, d = not_negative(rho, "rho"), probability(delta, "delta")
    return up(lambda: ball(r) + 2 * (-ball(r) * ball(d).log()).sqrt()) if r else 0.0


def zcdp_epsilon(rho: Real, delta: Real) -> float:
    """Return the improved conversion at the best order (Canonne, Kamath and Steinke, NeurIPS 2020).

    >>> zcdp_epsilon(0.1, 1e-6)
    2.14193892838...
    """
    r = not_negative(rho, "rho")
    return renyi_epsilon(lambda order: order * r, delta).epsilon if r else 0.0


def largest_rho(epsilon: Real, delta: Real) -> float:
    """Return the largest rho that the classical conversion turns into (epsilon, delta), rounded down.

    It is ``(sqrt(ln(1/delta) + epsilon) - sqrt(ln(1/delta)))^2``.

    >>> largest_rho(1, 1e-6)
    0.01746890476...
    """
    e, d = positive(epsilon, "epsilon"), probability(delta, "delta")
    return down(lambda: ((ball(e) - ball(d).log()).sqrt() - (-ball(d).log()).sqrt()) ** 2)
