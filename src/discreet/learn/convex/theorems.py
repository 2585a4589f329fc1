"""What perturbing an output or an objective costs: the constants of the papers, with their corrections.

- Chaudhuri, Monteleoni and Sarwate, "Differentially Private Empirical Risk Minimization", JMLR 2011: pure, replace_one,
  objectives that are averages over n records.
- Iyengar, Near, Song, Thakkar, Thakurta and Wang, "Towards Practical Differentially Private Convex Optimization", S&P
  2019: approximate minima. Two of them may be ``2 n gamma / Lambda`` apart, twice what is printed.
- Redberg, Koskela and Wang, "Improving the Privacy and Practicality of Objective Perturbation for Differentially
  Private Linear Learners", NeurIPS 2023: Gaussian noise, add_remove, objectives that are sums. Adding a record with a
  second derivative of at most ``beta x x^T`` to one of at least ``lambda I`` multiplies the determinant by 1 to
  ``1 + beta / lambda``, in both directions of add_remove, so ``J = log(1 + beta / lambda)`` serves in place of the
  printed ``|log(1 - beta / lambda)|`` and lambda need not exceed beta.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from discreet.accounting.terms.gaussian import gaussian_delta
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, positive, probability, smallest, up

__all__ = [
    "ApproximateMinima",
    "NormNoise",
    "approximate_minima",
    "jacobian",
    "objective_delta",
    "objective_noise",
    "objective_renyi",
    "objective_rho",
    "objective_sigma",
    "output_noise",
]


@dataclass(frozen=True, slots=True)
class NormNoise:
    """Noise of density proportional to ``exp(-beta |b|)``: its norm has a Gamma law of shape d and scale 1/beta."""

    beta: float
    extra: float = 0.0
    """What is added to the regularisation of the averaged objective."""
    epsilon: float = 0.0
    """The part of epsilon that the noise pays."""

    def expected_norm(self, dimension: int) -> float:
        """Return the mean of the norm."""
        return dimension / self.beta


def output_noise(*, n: int, strength: Real, epsilon: Real, lipschitz: Real = 1) -> NormNoise:
    """Return the noise of output perturbation: ``beta = n lambda epsilon / (2 L)`` (Algorithm 1 of Chaudhuri et al.).

    >>> output_noise(n=1000, strength=0.01, epsilon=1).expected_norm(10)
    2.0
    """
    sensitivity = 2 * Fraction(lipschitz) / (n * positive(strength, "strength"))
    e = positive(epsilon, "epsilon")
    return NormNoise(beta=float(e / sensitivity), epsilon=float(e))


def objective_noise(*, n: int, strength: Real, epsilon: Real, smoothness: Real, lipschitz: Real = 1) -> NormNoise:
    """Return the noise of objective perturbation (Algorithm 2 of Chaudhuri et al., replace_one).

    ``epsilon' = epsilon - 2 log(1 + c / (n lambda))``; where that is not above 0, the regularisation grows by
    ``c / (n (exp(epsilon / 4) - 1)) - lambda`` and ``epsilon' = epsilon / 2``.

    >>> round(objective_noise(n=1000, strength=0.01, epsilon=1, smoothness=0.25).beta, 10)
    0.4753073874
    """
    c, l0, e = float(smoothness), float(positive(strength, "strength")), float(positive(epsilon, "epsilon"))
    rest, extra = e - 2 * math.log1p(c / (n * l0)), 0.0
    if rest <= 0:
        extra, rest = c / (n * math.expm1(e / 4)) - l0, e / 2
    return NormNoise(beta=rest / (2 * float(lipschitz)), extra=extra, epsilon=rest)


@dataclass(frozen=True, slots=True)
class ApproximateMinima:
    """The constants of approximate minima perturbation: the least regularisation and the two amounts of noise."""

    least_strength: float
    sigma_objective: float
    sigma_output: float


def approximate_minima(
    *,
    n: int,
    lipschitz: Real,
    smoothness: Real,
    rank: int,
    epsilons: tuple[Real, Real, Real],
    deltas: tuple[Real, Real],
    gradient: Real,
) -> ApproximateMinima:
    """Return the constants of Iyengar et al., with two approximate minima as far apart as they can be.

    >>> made = approximate_minima(n=1000, lipschitz=1, smoothness=0.25, rank=2, epsilons=(0.99, 0.01, 0.6),
    ...                           deltas=(5e-6, 5e-6), gradient=1e-6)
    >>> round(made.sigma_output, 10)
    0.9267749138
    """
    e1, e2, e3 = (float(positive(e, "epsilon")) for e in epsilons)
    d1, d2 = (float(probability(d, "delta")) for d in deltas)
    if not 0 < e1 - e3 < 1:
        raise InvalidParameter("the first epsilon must exceed the third by less than 1.")
    least = rank * float(smoothness) / (e1 - e3)
    objective = 2 * float(lipschitz) / n * (1 + math.sqrt(2 * math.log(1 / d1))) / e3
    output = 2 * n * float(gradient) / least * (1 + math.sqrt(2 * math.log(1 / d2))) / e2
    return ApproximateMinima(least, objective, output)


def jacobian(smoothness: Fraction, strength: Fraction) -> Fraction:
    """Return ``log(1 + beta / lambda)``, rounded up: what the change of variables costs when a record comes or goes."""
    return Fraction(up(lambda: (1 + ball(smoothness / strength)).log()))


def objective_delta(epsilon: Real, *, mu: Real, jacobian: Real) -> float:
    """Return delta of Gaussian objective perturbation at epsilon, rounded up (Redberg et al., Theorem 3.1).

    ``mu`` is the Lipschitz constant over sigma. With H the delta of Gaussian noise: ``2 H(epsilon - J)`` from
    ``epsilon >= J + mu^2 / 2`` on, and below that ``1 - e^r + 2 e^r H(mu^2 / 2)`` with ``r = epsilon - J - mu^2 / 2``.

    >>> round(objective_delta(1, mu=0.2, jacobian=0.1), 8)
    4.3e-07
    """
    e, square, j = Fraction(epsilon), positive(mu, "mu") ** 2, Fraction(jacobian)
    rest = e - j - square / 2
    if rest >= 0:
        return min(1.0, 2 * gaussian_delta(square, e - j))
    at_turn = Fraction(gaussian_delta(square, square / 2))

    def formula() -> arb:
        factor = ball(rest).exp()
        return 1 - factor + 2 * factor * ball(at_turn)

    return min(1.0, up(formula))


def objective_renyi(alpha: Real, *, mu: Real, jacobian: Real) -> float:
    """Return the Renyi divergence of Gaussian objective perturbation (Redberg et al., Theorem 3.2), rounded up.

    ``J + mu^2 / 2 + log(E exp((alpha - 1) |N(0, mu^2)|)) / (alpha - 1)``, where the mean is
    ``exp(s^2 / 2) (1 + erf(s / sqrt 2))`` with ``s = (alpha - 1) mu``.

    >>> objective_renyi(2, mu=1, jacobian=0) > 1
    True
    """
    order, m, j = Fraction(alpha), positive(mu, "mu"), Fraction(jacobian)
    if order <= 1:
        raise InvalidParameter("alpha must be above 1.")

    def formula() -> arb:
        s = ball((order - 1) * m)
        moment = s * s / 2 + (1 + (s / arb(2).sqrt()).erf()).log()
        return ball(j + m * m / 2) + moment / ball(order - 1)

    return up(formula)


def objective_rho(*, mu: Real, jacobian: Real) -> float:
    """Return a zCDP parameter of Gaussian objective perturbation, rounded up: ``J + mu sqrt(2 / pi) + mu^2 / 2``.

    In ``objective_renyi`` ``log(1 + erf(s / sqrt 2))`` is at most ``s sqrt(2 / pi)``, so the divergence is
    at most ``J + mu sqrt(2 / pi) + alpha mu^2 / 2``, and alpha is above 1.

    >>> round(objective_rho(mu=0.1, jacobian=0.01), 6)
    0.094788
    """
    m, j = positive(mu, "mu"), Fraction(jacobian)
    return up(lambda: ball(j + m * m / 2) + ball(m) * (2 / arb.pi()).sqrt())


def objective_sigma(epsilon: Real, delta: Real, *, lipschitz: Fraction, jacobian: Fraction) -> float:
    """Return the least sigma for which Gaussian objective perturbation is (epsilon, delta)-DP; infinite if none is.

    >>> sigma = objective_sigma(1, 1e-5, lipschitz=Fraction(1), jacobian=Fraction(1, 100))
    >>> objective_delta(1, mu=1 / Fraction(sigma), jacobian=Fraction(1, 100)) <= 1e-5
    True
    """
    e, d = positive(epsilon, "epsilon"), probability(delta, "delta")
    if e <= jacobian:
        return math.inf

    def fits(ratio: float) -> bool:
        return ratio > 0 and objective_delta(e, mu=1 / Fraction(ratio), jacobian=jacobian) <= d

    ratio = smallest(fits)
    return up(lambda: ball(Fraction(ratio) * lipschitz)) if math.isfinite(ratio) else math.inf
