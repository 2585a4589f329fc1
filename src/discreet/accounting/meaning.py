"""What a privacy loss means: for a test, for somebody with a prior, for the law of the loss itself."""

from fractions import Fraction

from discreet.accounting.composition import Counted
from discreet.accounting.moments import mgf_of, moments_of
from discreet.accounting.posterior import Posterior, posterior_of
from discreet.accounting.tails import tail_of
from discreet.accounting.terms import Gaussian
from discreet.accounting.tradeoff import tradeoff_curve
from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import Real, ball, finite, show, up

__all__ = ["Meaning"]


class Meaning:
    """The part of ``PrivacyLoss`` that says what its terms mean."""

    __slots__ = ()
    terms: tuple[Counted, ...]

    @property
    def mu(self) -> float:
        """The parameter of Gaussian differential privacy, where it says everything: for Gaussian noise alone.

        >>> from discreet.accounting import PrivacyLoss
        >>> (PrivacyLoss.gaussian(mu=3) + PrivacyLoss.gaussian(mu=4)).mu
        5.0
        """
        other = [term.kind for term, _ in self.terms if not isinstance(term, Gaussian)]
        if other:
            raise NoTheorem(
                f"mu describes Gaussian noise alone; this loss holds a {other[0]} term. Ask for tradeoff(rate) or "
                "epsilon(delta), or for rho, which every bounded loss has."
            )
        square = sum((term.mu_squared * k for term, k in self.terms if isinstance(term, Gaussian)), Fraction(0))
        return up(lambda: ball(square).sqrt()) if square else 0.0

    def tradeoff(self, false_positive_rate: Real) -> float:
        """Return what share of members any test must miss that accuses this share of others: a proven lower bound.

        Dong, Roth and Su, JRSS B 2022; for Gaussian noise ``Phi(Phi^-1(1 - rate) - mu)``. For many rates at once use
        ``discreet.accounting.tradeoff.tradeoff_curve``.

        >>> from discreet.accounting import PrivacyLoss
        >>> PrivacyLoss.gaussian(mu=1).tradeoff(0.05)
        0.740488977158...
        """
        return tradeoff_curve(self, [false_positive_rate])[0]

    def tail(self, epsilon: Real) -> float:
        """Return how likely it is that the privacy loss exceeds epsilon, at most, which is not what delta says.

        For terms that name their noise this is about the pair that dominates: all releases at their full sensitivity,
        whatever was answered. For the others, and in ``posterior``, it covers every mechanism.

        >>> from discreet.accounting import PrivacyLoss
        >>> PrivacyLoss.randomized_response(1.1).tail(1), PrivacyLoss.randomized_response(1.1).delta(1)
        (0.7502601055951..., 0.0713966887930...)
        """
        exact = finite(epsilon, "epsilon")
        if exact < 0:
            raise InvalidParameter(f"epsilon must not be negative, got {show(exact)}.")
        return tail_of(self.terms, exact)

    def moments(self, highest: int) -> tuple[float, ...]:
        """Return the mean of the privacy loss and its further raw moments: numerical values, not certified bounds.

        The loss is that of the first law of the dominating pair against the second.

        >>> from discreet.accounting import PrivacyLoss
        >>> PrivacyLoss.gaussian(mu=1).moments(2)
        (0.5, 1.25)
        """
        if type(highest) is not int or not 1 <= highest <= 100:
            raise InvalidParameter(f"moments are counted from 1 to at most 100, got {highest!r}.")
        return moments_of(self.terms, highest)

    def mgf(self, t: Real) -> float:
        """Return ``E e^(t L)``, which is ``exp(t D)`` with D the Renyi divergence of order t + 1: a numerical value.

        >>> from discreet.accounting import PrivacyLoss
        >>> round(PrivacyLoss.laplace(1).mgf(-1), 12), PrivacyLoss.approximate(1, 1e-6).mgf(1)
        (1.0, inf)
        """
        return mgf_of(self.terms, finite(t, "t"))

    def posterior(self, prior: Real, failure: Real = 0) -> Posterior:
        """Return what somebody who knows all other records may come to believe, from a prior belief.

        >>> from discreet.accounting import PrivacyLoss
        >>> print(PrivacyLoss.laplace(1).posterior(0.1))
        Whoever knows all other records and believes something about this one with probability 0.1 will, after the
        release, believe it with a probability of at least 0.0392 and at most 0.232.
        """
        return posterior_of(self.terms, prior, failure)
