"""PrivacyLoss: what a release costs, as a value one can calculate with."""

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.accounting import terms as kinds
from discreet.accounting.composition import Counted, delta_of, epsilon_of, lower_epsilon_of, merged, pure_of, renyi_of
from discreet.errors import InvalidParameter, NoTheorem, RelationMismatch, UnknownKind
from discreet.exact import Real, finite, positive, probability, show, upward
from discreet.units import Relation, check_relation

if TYPE_CHECKING:
    from discreet.accounting.routes import Routes

__all__ = ["PrivacyLoss"]

RECORD = "privacy-loss"
VERSION = 1


@dataclass(frozen=True, slots=True, repr=False)
class PrivacyLoss:
    """The worst privacy loss that a description allows, on neighbours of the stated relation.

    Losses add under (adaptive) composition and repeat by multiplication. A loss without a relation is neutral: the
    sensitivity one wrote decides what neighbours are, and it adopts its partner's relation.

    >>> year = 52 * PrivacyLoss.laplace(0.1) + PrivacyLoss.gaussian(mu=0.05)
    >>> year.epsilon(delta=0)
    inf
    >>> year.epsilon(delta=1e-6) < 52 * 0.1
    True
    """

    terms: tuple[Counted, ...] = ()
    relation: Relation | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", merged(self.terms))
        if self.relation is not None:
            check_relation(self.relation)

    # What it costs -------------------------------------------------------------------------------------------

    def delta(self, epsilon: Real) -> float:
        """Return a delta for which (epsilon, delta)-DP is proven.

        >>> PrivacyLoss.laplace(1).delta(0.5)
        0.22119921692859...
        """
        exact = finite(epsilon, "epsilon")
        if exact < 0:
            raise InvalidParameter(f"epsilon must not be negative, got {show(exact)}.")
        return delta_of(self.terms, exact)

    def epsilon(self, delta: Real = 0) -> float:
        """Return an epsilon for which (epsilon, delta)-DP is proven; infinite if there is none.

        >>> PrivacyLoss.gaussian(mu=1).epsilon(delta=1e-5)
        4.37717809...
        """
        return epsilon_of(self.terms, probability(delta, "delta", zero=True))

    def bounds(self, delta: Real) -> tuple[float, float]:
        """Return certified lower and upper bounds on epsilon, for the worst mechanism of this description.

        >>> low, high = (1000 * PrivacyLoss.laplace(0.05) + PrivacyLoss.gaussian(mu=0.5)).bounds(delta=1e-6)
        >>> 0 <= (high - low) / high < 1e-4
        True
        """
        exact = probability(delta, "delta", zero=True)
        upper = epsilon_of(self.terms, exact)
        return min(lower_epsilon_of(self.terms, exact), upper), upper

    def routes(self, delta: Real) -> "Routes":
        """Return what each theorem proves about this loss at delta, and which is tightest: the course in one call.

        >>> (50 * PrivacyLoss.laplace(0.1)).routes(1e-5).best.name
        'discreet'
        """
        from discreet.accounting.routes import routes

        return routes(self, delta)

    def advantage(self) -> float:
        """Return the largest advantage of a membership test: true less false positive rate, at most ``delta(0)``.

        >>> PrivacyLoss.pure(1).advantage()
        0.46211715726...
        """
        return self.delta(0)

    def renyi(self, alpha: Real) -> float:
        """Return the Renyi divergence of order alpha > 1 (Mironov, CSF 2017).

        >>> PrivacyLoss.gaussian(mu=1).renyi(8)
        4.0
        """
        order = finite(alpha, "alpha")
        if order <= 1:
            raise InvalidParameter(f"alpha must be above 1, got {show(order)}.")
        return renyi_of(self.terms, order)

    @property
    def rho(self) -> float:
        """A zCDP parameter (Bun and Steinke, TCC 2016); infinite if there is none.

        >>> PrivacyLoss.gaussian(mu=1).rho
        0.5
        """
        total = Fraction(0)
        for term, count in self.terms:
            if term.rho is None:
                return math.inf
            total += count * term.rho
        return upward(total)

    @property
    def is_pure(self) -> bool:
        """Whether some epsilon holds with delta 0."""
        return pure_of(self.terms) is not None

    # How it combines -----------------------------------------------------------------------------------------

    def __add__(self, other: "PrivacyLoss") -> "PrivacyLoss":
        if not isinstance(other, PrivacyLoss):
            return NotImplemented
        return PrivacyLoss(self.terms + other.terms, _common(self.relation, other.relation))

    def __mul__(self, count: int) -> "PrivacyLoss":
        if type(count) is not int or count < 0:
            raise InvalidParameter(f"a loss is repeated a whole number of times, got {count!r}.")
        return PrivacyLoss(tuple((term, count * k) for term, k in self.terms), self.relation)

    __rmul__ = __mul__

    def __radd__(self, zero: int) -> "PrivacyLoss":
        """Let ``sum`` start from 0."""
        return self if type(zero) is int and zero == 0 else NotImplemented

    def group(self, size: int) -> "PrivacyLoss":
        """Return the loss for groups of up to ``size`` units that change together.

        >>> PrivacyLoss.laplace(0.5).group(3) == PrivacyLoss.laplace(1.5)
        True
        """
        if type(size) is not int or size < 1:
            raise InvalidParameter(f"a group has a whole number of members, at least 1, got {size!r}.")
        return PrivacyLoss(tuple((term.group(size), k) for term, k in self.terms), self.relation)

    def sampled(self, rate: Real) -> "PrivacyLoss":
        """Return the loss of the same release on a Poisson sample: each record takes part with probability ``rate``.

        This holds under add_remove, for one release on one sample that is drawn anew each time and kept secret. Several
        releases of the same sample are one mechanism, which this does not describe.

        >>> step = PrivacyLoss.gaussian(mu=1 / 1.1).sampled(256 / 60000)
        >>> round((14062 * step).epsilon(delta=1e-5), 3)
        2.382
        """
        share = probability(rate, "rate", one=True)
        if self.relation == "replace_one":
            raise RelationMismatch(
                "Poisson sampling is stated for add_remove neighbours; this loss is about replace_one."
            )
        if not self.terms:
            return self.under("add_remove")
        if len(self.terms) != 1 or self.terms[0][1] != 1:
            raise NoTheorem(
                "sampling amplifies one release on one fresh sample. Write k * loss.sampled(rate) for k releases, each "
                "on a sample of its own."
            )
        term = self.terms[0][0]
        if isinstance(term, kinds.Sampled):
            share *= term.rate
            term = term.base
        if isinstance(term, kinds.Approximate) and term.failure:
            amplified = kinds.Sampled(kinds.Pure(term.epsilon), share).pure if term.epsilon else Fraction(0)
            found: kinds.Term = kinds.Approximate(amplified or Fraction(0), share * term.failure)
        elif isinstance(term, kinds.Concentrated):
            raise NoTheorem(
                "zCDP alone does not say how a release behaves on a sample; name the noise, as gaussian(mu)."
            )
        else:
            found = term if share == 1 else kinds.Sampled(term, share)
        return PrivacyLoss(((found, 1),), "add_remove")

    def under(self, relation: str) -> "PrivacyLoss":
        """Say which neighbours the loss is about.

        >>> PrivacyLoss.laplace(1).under("add_remove").relation
        'add_remove'
        """
        return PrivacyLoss(self.terms, _common(self.relation, check_relation(relation)))

    # How it is written ---------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Return the loss as JSON, exact and readable by every later version.

        >>> PrivacyLoss.laplace(0.5).to_json()
        '{"record": "privacy-loss", "version": 1, "relation": null, "terms": [{"kind": "laplace", "epsilon": "1/2", ...'
        """
        terms = [{**kinds.to_record(term), "count": count} for term, count in self.terms]
        return json.dumps({"record": RECORD, "version": VERSION, "relation": self.relation, "terms": terms})

    @classmethod
    def from_json(cls, text: str) -> "PrivacyLoss":
        """Read what ``to_json`` wrote; anything else is refused.

        >>> PrivacyLoss.from_json(PrivacyLoss.gaussian(mu=1).to_json()) == PrivacyLoss.gaussian(mu=1)
        True
        """
        try:
            record = json.loads(text)
        except (ValueError, TypeError, RecursionError):
            raise UnknownKind("this is not a serialised privacy loss: it is not JSON.") from None
        header = (record.get("record"), record.get("version")) if isinstance(record, dict) else None
        if header != (RECORD, VERSION) or type(header[1]) is not int:
            raise UnknownKind(f"this is not a serialised privacy loss of version {VERSION}.")
        if set(record) != {"record", "version", "relation", "terms"} or not isinstance(record["terms"], list):
            raise UnknownKind("a serialised privacy loss has the fields record, version, relation and terms.")
        relation = record["relation"]
        return cls(
            tuple(_read_term(entry) for entry in record["terms"]),
            None if relation is None else check_relation(relation),
        )

    def __repr__(self) -> str:
        parts = [_show_term(term, count) for term, count in self.terms] or ["PrivacyLoss()"]
        whole = " + ".join(parts)
        if self.relation is None:
            return whole
        return (
            f"({whole}).under({self.relation!r})"
            if len(parts) > 1 or whole[0].isdigit()
            else (f"{whole}.under({self.relation!r})")
        )

    # What it is made of --------------------------------------------------------------------------------------

    @classmethod
    def pure(cls, epsilon: Real) -> "PrivacyLoss":
        """An epsilon-DP mechanism of which nothing else is known.

        >>> (10 * PrivacyLoss.pure(0.1)).delta(0.4)
        0.01608013199...
        """
        return cls(((kinds.Pure(_not_negative(epsilon, "epsilon")), 1),))

    @classmethod
    def approximate(cls, epsilon: Real, delta: Real) -> "PrivacyLoss":
        """An (epsilon, delta)-DP mechanism of which nothing else is known.

        >>> PrivacyLoss.approximate(1, 1e-6).delta(1)
        1e-06
        """
        failure = probability(delta, "delta", zero=True, one=True)
        return cls(((kinds.Approximate(_not_negative(epsilon, "epsilon"), failure), 1),))

    @classmethod
    def zcdp(cls, rho: Real) -> "PrivacyLoss":
        """A rho-zCDP mechanism of which nothing else is known."""
        return cls(((kinds.Concentrated(_not_negative(rho, "rho")), 1),))

    @classmethod
    def gaussian(cls, mu: Real | None = None, *, mu_squared: Real | None = None) -> "PrivacyLoss":
        """Gaussian noise with mu = sensitivity / sigma."""
        if (mu is None) == (mu_squared is None):
            raise InvalidParameter("give either mu or mu_squared.")
        square = _not_negative(mu, "mu") ** 2 if mu is not None else _not_negative(mu_squared, "mu_squared")
        return cls(((kinds.Gaussian(square), 1),))

    @classmethod
    def laplace(cls, epsilon: Real) -> "PrivacyLoss":
        """Laplace noise with epsilon = sensitivity / scale."""
        return cls(((kinds.Laplace(_not_negative(epsilon, "epsilon")), 1),))

    @classmethod
    def discrete_laplace(cls, *, sensitivity: int, scale: Real) -> "PrivacyLoss":
        """Two-sided geometric noise on whole numbers."""
        return cls(((kinds.DiscreteLaplace(_whole(sensitivity), positive(scale, "scale")), 1),))

    @classmethod
    def discrete_gaussian(cls, *, squared_sensitivity: int, sigma_squared: Real, scalar: bool = False) -> "PrivacyLoss":
        """Discrete Gaussian noise on whole numbers."""
        square = positive(sigma_squared, "sigma_squared")
        return cls(((kinds.DiscreteGaussian(_whole(squared_sensitivity), square, bool(scalar)), 1),))

    @classmethod
    def randomized_response(cls, epsilon: Real, categories: int = 2) -> "PrivacyLoss":
        """Randomised response over ``categories`` answers.

        >>> PrivacyLoss.randomized_response(1.1).delta(1)
        0.0713966887930...
        """
        answers = _whole(categories, "categories")
        return cls(((kinds.RandomizedResponse(_not_negative(epsilon, "epsilon"), answers), 1),))


def _common(a: Relation | None, b: Relation | None) -> Relation | None:
    if a is not None and b is not None and a != b:
        raise RelationMismatch(
            f"one loss is about {a} neighbours, the other about {b}. State both for the same relation: an add_remove "
            "loss holds for replace_one as loss.group(2), the converse is not defined."
        )
    return a if b is None else b


def _not_negative(value: object, name: str) -> Fraction:
    exact = finite(value, name)
    if exact < 0:
        raise InvalidParameter(f"{name} must not be negative, got {show(exact)}.")
    return exact


def _whole(value: object, name: str = "the sensitivity of whole numbers") -> int:
    exact = _not_negative(value, name)
    if exact.denominator != 1:
        raise InvalidParameter(f"{name} must be a whole number, got {show(exact)}.")
    return exact.numerator


def _read_term(entry: object) -> Counted:
    if not isinstance(entry, dict):
        raise UnknownKind("each term of a serialised privacy loss is an object.")
    count = entry.get("count")
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise UnknownKind("each term of a serialised privacy loss has a whole count of at least 1.")
    return kinds.from_record({key: value for key, value in entry.items() if key != "count"}), count


NAMES = {"zcdp": ("zcdp", {"parameter": "rho"}), "approximate": ("approximate", {"failure": "delta"})}


def _show_term(term: kinds.Term, count: int) -> str:
    if isinstance(term, kinds.Sampled):
        text = f"{_show_term(term.base, 1)}.sampled({show(term.rate)})"
    else:
        name, renamed = NAMES.get(term.kind, (term.kind, {}))
        shown = ", ".join(
            f"{renamed.get(key, key)}={value if isinstance(value, bool) else show(value)}"
            for key, value in kinds.parameters(term).items()
        )
        text = f"PrivacyLoss.{name}({shown})"
    return f"{count} * {text}" if count > 1 else text
