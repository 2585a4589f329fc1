"""PrivacyLoss: what a release costs, as a value one can calculate with."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from discreet.accounting import terms as kinds
from discreet.accounting.composition import Counted, delta_of, epsilon_of, merged, pure_of, renyi_of
from discreet.accounting.meaning import Meaning
from discreet.accounting.record import read_record, show_term, write_record
from discreet.errors import InvalidParameter, RelationMismatch, UnknownKind
from discreet.exact import Real, finite, positive, probability, show, upward
from discreet.exact import probability as exact_probability
from discreet.units import Relation, check_relation

if TYPE_CHECKING:
    from discreet.accounting.routes import Routes

__all__ = ["PrivacyLoss"]


@dataclass(frozen=True, slots=True, repr=False)
class PrivacyLoss(Meaning):
    """The worst privacy loss that a description allows, on neighbours of the stated relation.

    Losses add under (adaptive) composition and repeat by multiplication. A loss without a relation is neutral: the
    sensitivity one wrote decides what neighbours are, and it adopts its partner's relation.

    ``grouped`` says that neighbours differ in a group of records. Each of them has a coin of its own, so what was said
    about groups is not sampled any more. ``reduced`` says that a theorem put a larger loss in the place of what was
    described, so that nothing is known from below. Neither counts where losses are compared: they cost the same.

    >>> year = 52 * PrivacyLoss.laplace(0.1) + PrivacyLoss.gaussian(mu=0.05)
    >>> year.epsilon(delta=0)
    inf
    >>> year.epsilon(delta=1e-6) < 52 * 0.1
    True
    """

    terms: tuple[Counted, ...] = ()
    relation: Relation | None = None
    grouped: bool = field(default=False, compare=False)
    reduced: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", merged(self.terms))
        if self.relation is not None:
            check_relation(self.relation)
        for term, _ in self.terms:
            object.__setattr__(self, "relation", _common(self.relation, kinds.relation_of(term)))

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

        Where a theorem put a larger loss in the place of what was described, as for most groups and for parts that
        cost differently, the lower bound is 0.

        >>> low, high = (1000 * PrivacyLoss.laplace(0.05) + PrivacyLoss.gaussian(mu=0.5)).bounds(delta=1e-6)
        >>> 0 <= (high - low) / high < 1e-4
        True
        """
        from discreet.accounting.lower import both_epsilons

        lower, upper = both_epsilons(self.terms, probability(delta, "delta", zero=True))
        return 0.0 if self.reduced else min(lower, upper), upper

    def plot(self, kind: str = "profile", *, delta: Real = 1e-6) -> Any:  # noqa: ANN401  an altair chart
        """Draw the loss: its "profile" (delta at every epsilon), the "tradeoff" of a test, or its "density".

        >>> chart = PrivacyLoss.gaussian(mu=1).plot("tradeoff")
        """
        from discreet.accounting.pictures import draw

        return draw(self, kind, delta)

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
        relation, grouped = _common(self.relation, other.relation), self.grouped or other.grouped
        return PrivacyLoss(self.terms + other.terms, relation, grouped, self.reduced or other.reduced)

    def __mul__(self, count: int) -> "PrivacyLoss":
        if type(count) is not int or count < 0:
            raise InvalidParameter(f"a loss is repeated a whole number of times, got {count!r}.")
        terms = tuple((term, count * k) for term, k in self.terms)
        return PrivacyLoss(terms, self.relation, self.grouped, self.reduced)

    __rmul__ = __mul__

    def __radd__(self, zero: int) -> "PrivacyLoss":
        """Let ``sum`` start from 0."""
        return self if type(zero) is int and zero == 0 else NotImplemented

    @classmethod
    def total(cls, losses: Iterable["PrivacyLoss"]) -> "PrivacyLoss":
        """Return the sum of any number of losses; for thousands this is much faster than ``sum``.

        >>> PrivacyLoss.total(PrivacyLoss.laplace(0.1) for _ in range(20)) == 20 * PrivacyLoss.laplace(0.1)
        True
        """
        listed = list(losses)
        relation: Relation | None = None
        for loss in listed:
            if not isinstance(loss, PrivacyLoss):
                raise InvalidParameter(f"only losses can be added up, got {type(loss).__name__}.")
            relation = _common(relation, loss.relation)
        grouped, reduced = any(loss.grouped for loss in listed), any(loss.reduced for loss in listed)
        return cls(tuple(term for loss in listed for term in loss.terms), relation, grouped, reduced)

    def group(self, size: int, *, one_way: bool = False) -> "PrivacyLoss":
        """Return the loss for groups of up to ``size`` units that change together.

        With ``one_way`` under add_remove all of them are added or all removed, as those of one person are; then a
        Poisson sample with Gaussian noise costs less (Ganesh, 2024). Sample first, then group: the members of a group
        are drawn one by one.

        >>> PrivacyLoss.laplace(0.5).group(3) == PrivacyLoss.laplace(1.5)
        True
        """
        if type(size) is not int or size < 1:
            raise InvalidParameter(f"a group has a whole number of members, at least 1, got {size!r}.")
        together = one_way and self.relation == "add_remove"
        terms = tuple((kinds.group_one_way(t, size) if together else t.group(size), k) for t, k in self.terms)
        both = zip(self.terms, terms, strict=True)
        less = size > 1 and not all(kinds.attained_in_groups(term, grown) for (term, _), (grown, _) in both)
        return PrivacyLoss(terms, self.relation, self.grouped or size > 1, self.reduced or less)

    def sampled(
        self,
        rate: Real | None = None,
        *,
        scheme: str = "poisson",
        relation: str | None = None,
        size: int | None = None,
        records: int | None = None,
        most: int | None = None,
        epsilon: Real | None = None,
    ) -> "PrivacyLoss":
        """Return the loss of the same release on a random sample of the data.

        This is about one release on one sample that is drawn anew each time and kept secret. Several releases of the
        same sample are one mechanism, which this does not describe.

        - ``"poisson"``: each record takes part with probability ``rate``. For add_remove; with ``relation=
          "replace_one"`` the loss must hold under both relations (one stated under add_remove counts as a group of
          two). With ``most`` batches above it are cut, which is accounted for in data sets of up to ``records``.
        - ``"without_replacement"``: ``size`` of ``records``, or that share as ``rate``; for replace_one.
        - ``"with_replacement"``: ``size`` draws from ``records``; for replace_one. The theorem is stated at one
          ``epsilon``, by default the pure one, and what comes out is (epsilon, delta) alone.
        - ``"symmetric"``: what the theorem behind the second scheme is about, for any relation.

        >>> step = PrivacyLoss.gaussian(mu=1 / 1.1).sampled(256 / 60000)
        >>> round((14062 * step).epsilon(delta=1e-5), 3)
        2.382
        >>> PrivacyLoss.pure(1).sampled(scheme="without_replacement", size=1, records=10).epsilon()
        0.15856...
        """
        from discreet.accounting.sampling import on_sample

        return on_sample(
            self, rate, scheme=scheme, relation=relation, size=size, records=records, most=most, epsilon=epsilon
        )

    def under(self, relation: str) -> "PrivacyLoss":
        """Say which neighbours the loss is about.

        >>> PrivacyLoss.laplace(1).under("add_remove").relation
        'add_remove'
        """
        return PrivacyLoss(self.terms, _common(self.relation, check_relation(relation)), self.grouped, self.reduced)

    # How it is written ---------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Return the loss as JSON, exact and readable by every later version.

        >>> PrivacyLoss.laplace(0.5).to_json()
        '{"record": "privacy-loss", "version": 1, "relation": null, "terms": [{"kind": "laplace", "epsilon": "1/2", ...'
        """
        return write_record(self.terms, self.relation, grouped=self.grouped, reduced=self.reduced)

    @classmethod
    def from_json(cls, text: str) -> "PrivacyLoss":
        """Read what ``to_json`` wrote; anything else is refused.

        >>> PrivacyLoss.from_json(PrivacyLoss.gaussian(mu=1).to_json()) == PrivacyLoss.gaussian(mu=1)
        True
        """
        terms, relation, marks = read_record(text)
        try:
            return cls(terms, relation, **marks)
        except RelationMismatch as error:
            raise UnknownKind(f"no theorem covers what this record says: {error}") from None

    def __repr__(self) -> str:
        parts = [show_term(term, count) for term, count in self.terms] or ["PrivacyLoss()"]
        whole = " + ".join(parts)
        if self.relation is None:
            return whole
        return (
            f"({whole}).under({self.relation!r})"
            if len(parts) > 1 or whole[0].isdigit()
            else (f"{whole}.under({self.relation!r})")
        )

    def _repr_html_(self) -> str:
        from discreet.accounting.notebook import loss_html

        return loss_html(self)

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
    def bounded_range(cls, epsilon: Real) -> "PrivacyLoss":
        """A mechanism whose losses on two neighbours differ by at most epsilon among each other.

        The exponential mechanism is one. This is stronger than epsilon-DP, and costs about half under composition.

        >>> (100 * PrivacyLoss.bounded_range(0.1)).epsilon(1e-6) < 0.6 * (100 * PrivacyLoss.pure(0.1)).epsilon(1e-6)
        True
        """
        return cls(((kinds.BoundedRange(_not_negative(epsilon, "epsilon")), 1),))

    @classmethod
    def renyi_curve(cls, points: Iterable[tuple[Real, Real]]) -> "PrivacyLoss":
        """A mechanism known by some pairs (order, Renyi divergence) alone, each valid in both directions.

        >>> round(PrivacyLoss.renyi_curve([(2, 0.1), (8, 0.4), (32, 1.7)]).epsilon(1e-6), 4)
        1.943
        """
        listed = [(finite(order, "order"), _not_negative(divergence, "divergence")) for order, divergence in points]
        return cls(((kinds.RenyiCurve(tuple(sorted(listed))), 1),))

    @classmethod
    def one_of(cls, weights: Iterable[Real], terms: Iterable["PrivacyLoss"]) -> "PrivacyLoss":
        """One of several releases, drawn with public odds; which one is told.

        >>> PrivacyLoss.one_of([0.5, 0.5], [PrivacyLoss.pure(1), PrivacyLoss.pure(2)]).delta(1)
        0.27838...
        """
        parts = list(terms)
        if any(len(part.terms) != 1 or part.terms[0][1] != 1 for part in parts):
            raise InvalidParameter("a choice is among single releases, each a loss that is no sum.")
        odds = tuple(exact_probability(weight, "a weight", one=True) for weight in weights)
        relation: Relation | None = None
        for part in parts:
            relation = _common(relation, part.relation)
        grouped, reduced = any(part.grouped for part in parts), any(part.reduced for part in parts)
        return cls(((kinds.OneOf(odds, tuple(part.terms[0][0] for part in parts)), 1),), relation, grouped, reduced)

    @classmethod
    def one_of_each(cls, weights: Iterable[Real], terms: Iterable["PrivacyLoss"]) -> "PrivacyLoss":
        """One of several releases of one family, drawn by each part of the data for itself; see ``parallel``."""
        one = cls.one_of(weights, terms)
        apart = tuple((kinds.OneOfEach.of(cast("kinds.OneOf", term)), count) for term, count in one.terms)
        return cls(apart, one.relation, one.grouped, one.reduced)

    @classmethod
    def shuffled(cls, epsilon: Real, users: int) -> "PrivacyLoss":
        """Reports of ``users`` people through one epsilon-DP local randomiser, shuffled; under replace_one.

        >>> PrivacyLoss.shuffled(1, 10**4).epsilon(1e-6) < 0.1
        True
        """
        count = _whole(users, "users")
        return cls(((kinds.Shuffled(_not_negative(epsilon, "epsilon"), count), 1),), "replace_one")

    @classmethod
    def tree(cls, steps: int, noise_multiplier: Real) -> "PrivacyLoss":
        """Running sums by a binary tree of Gaussian noise (Dwork, Naor, Pitassi and Rothblum, STOC 2010).

        Each record takes part in one of ``steps`` steps, so in at most ``floor(log2(steps)) + 1`` complete nodes, each
        of which has noise of ``noise_multiplier`` times what one record changes. A tree that is filled up to a power of
        two and releases incomplete nodes too, its root among them, has ``ceil(log2(steps)) + 1`` levels: give that
        power as ``steps``. This is about a record that comes or goes; one that moves from a step to another, as it may
        under replace_one, changes two paths and costs ``tree(steps, noise).group(2)``.

        >>> PrivacyLoss.tree(1000, 5) == 10 * PrivacyLoss.gaussian(mu=Fraction(1, 5))
        True
        """
        count, noise = _whole(steps, "steps"), positive(noise_multiplier, "noise_multiplier")
        if count < 1:
            raise InvalidParameter("a tree has at least one step.")
        return cls.gaussian(mu_squared=count.bit_length() / noise**2)

    @classmethod
    def matrix(cls, strategy: Any, noise_multiplier: Real, *, epoch: int | None = None) -> "PrivacyLoss":  # noqa: ANN401
        """Gaussian noise on ``strategy @ values``, one value for each step (the matrix mechanism of DP-FTRL).

        ``noise_multiplier`` is the noise of each row in units of what one record changes in one step. A record takes
        part once, or with ``epoch`` in all steps of one rest modulo it; see ``theorems.strategy_sensitivity``. This is
        about a record that comes or goes; for one that may move to other steps, as under replace_one, write
        ``.group(2)``.

        >>> PrivacyLoss.matrix([[1, 0], [1, 1]], 2).rho
        0.2500000000000...
        """
        from discreet.accounting.theorems.strategy import strategy_sensitivity

        square = Fraction(strategy_sensitivity(strategy, epoch=epoch)) ** 2
        return cls.gaussian(mu_squared=square / positive(noise_multiplier, "noise_multiplier") ** 2)

    @classmethod
    def overflow(cls, probability: Real) -> "PrivacyLoss":
        """What it adds to a loss that, on each data set, something else is released with this probability.

        >>> (PrivacyLoss.pure(1) + PrivacyLoss.overflow(1e-9)).delta(1) < 4e-9
        True
        """
        return cls(((kinds.Overflow(exact_probability(probability, "probability", zero=True, one=True)), 1),))

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
    def gaussian_mixture(
        cls, shifts: Iterable[Real], weights: Iterable[Real], *, mu_squared: Real = 1
    ) -> "PrivacyLoss":
        """Gaussian noise on a random shift: ``shifts[j]`` standard deviations (or mu) with probability ``weights[j]``.

        >>> poisson = PrivacyLoss.gaussian(mu=1).sampled(0.25)
        >>> mixture = PrivacyLoss.gaussian_mixture([0, 1], [0.75, 0.25])
        >>> abs(poisson.delta(1) - mixture.delta(1)) < 1e-12
        True
        """
        at, odds = [_not_negative(m, "a shift") for m in shifts], [_not_negative(w, "a weight") for w in weights]
        if len(at) != len(odds) or not at:
            raise InvalidParameter("a mixture has as many shifts as weights, and at least one.")
        law = sorted(zip(at, odds, strict=True))
        square = _not_negative(mu_squared, "mu_squared")
        return cls(((kinds.GaussianMixture(square, tuple(m for m, _ in law), tuple(w for _, w in law)), 1),))

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

    @classmethod
    def from_pair(cls, p: kinds.Weights, q: kinds.Weights) -> "PrivacyLoss":
        """Any two finite distributions: what a release gives on two data sets that are the worst neighbours.

        Lists over the same outcomes, or mappings from outcomes to probabilities. Exact numbers add up to 1 exactly;
        floats that miss it by rounding are divided by their sum. Both directions count. Several pairs that are composed
        are about the same data set with their p; beside a Poisson sample, which tells the data set with a record from
        the one without, p may be that of either, and the worse counts.

        >>> PrivacyLoss.from_pair([0.75, 0.25], [0.25, 0.75]).epsilon()
        1.0986122886681...
        >>> PrivacyLoss.from_pair({"yes": 0.5, "no": 0.5}, {"yes": 0.25, "no": 0.5, "maybe": 0.25}).delta(1)
        0.25
        """
        laws = kinds.exact_law(p, q, "p"), kinds.exact_law(q, p, "q")
        return cls(((kinds.FinitePair(*laws), 1),))


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
