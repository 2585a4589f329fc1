"""What an answer says about itself: the words of its columns and parameters, against the terms of its loss.

A forged loss has to lie in several places at once: the noise in words, the sensitivities that the unit's bounds give to
counts, and the epsilon that the answer was planned with. How far a sum may be moved is said once, and cannot be seen
here.
"""

import math
import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.accounting import PrivacyLoss
from discreet.accounting.filters import Zcdp
from discreet.accounting.terms import Approximate, BoundedRange, DiscreteGaussian, DiscreteLaplace, Laplace, Pure
from discreet.accounting.terms.base import Term
from discreet.publishing.certificate import Certified
from discreet.publishing.told_sparse import problem_sparse
from discreet.publishing.told_spread import SPREAD, problem_spread
from discreet.publishing.told_together import problem_together
from discreet.session.columns import TREE
from discreet.session.noise import Noise, Reach
from discreet.tables.measures import UNIT
from discreet.units import Person, Row

__all__ = ["Told", "terms_of"]

NEAR = 1e-3
"""How far the epsilon that an answer was planned with may be from what its terms add up to."""

DECLARED = re.compile(r"public: ([0-9,]+) declared")
NOISE = re.compile(r"(integer Laplace noise, scale|discrete Gaussian noise, sigma) ([0-9.,e+-]{1,30})")
TREE_TOLD = "tree of noisy counts"
CHOICES = ("exponential mechanism", "exponential mechanism, one after another")
SMOOTH_TOLD, TESTED_TOLD = "smooth sensitivity", "propose-test-release"


def terms_of(loss: PrivacyLoss) -> Counter[Any]:
    """Return how often a loss has each of its terms."""
    found: Counter[Any] = Counter()
    for term, count in loss.terms:
        found[term] += count
    return found


@dataclass(frozen=True, slots=True)
class Told:
    """One release, beside the unit that is protected: the words of its answer against the terms of its loss."""

    one: Certified
    unit: Row | Person

    @property
    def parameters(self) -> dict[str, Any]:
        """What the answer says that it was made with."""
        return self.one.answer.parameters

    def problem(self) -> str:
        """Return the first thing that does not agree, or nothing."""
        if self.parameters.get("together") in SPREAD:
            return self._unit() or problem_spread(self.one, self.unit)
        if "selection" in self.parameters:
            counted = _counted(self.one.query, self.unit, self.rows)
            return self._unit() or self._groups() or self._words() or problem_sparse(self.one, self.unit, counted)
        if "together" in self.parameters:
            return self._unit() or problem_together(self.one, self.unit)
        return self._unit() or self._groups() or self._words() or self._loss()

    def _unit(self) -> str:
        made, unit = self.parameters, self.unit
        persons = isinstance(unit, Person)
        if made["query"] != self.one.query:
            return "the answer is of another query"
        if (made["unit"], made["relation"]) != ("persons" if persons else "rows", unit.relation):
            return "the answer protects another unit"
        if made["rows"] != (unit.rows if isinstance(unit, Person) else 1):
            return "the answer counts another number of rows"
        if any(isinstance(term, DiscreteGaussian) and term.scalar for term in terms_of(self.one.loss)):
            return "its noise is that of a single number, and no release has such noise"
        return ""

    @property
    def declared(self) -> int | None:
        """How many groups there are by declaration; None where they are private."""
        keys = self.parameters["keys"]
        if not self.one.answer.keys:
            return 1 if keys == "" else 0
        found = DECLARED.fullmatch(keys)
        return int(found[1].replace(",", "")) if found else None

    def _groups(self) -> str:
        made, declared, answer = self.parameters, self.declared, self.one.answer
        most = self.unit.groups if isinstance(self.unit, Person) and answer.keys else 1
        if most is None or made["groups"] != (most if declared is None else min(most, declared)):
            return "the answer counts persons in another number of groups"
        if declared is not None:
            fits = made["threshold"] is None and len(answer) <= declared
            return "" if fits else "there are more groups than declared"
        told = f"private: a group is shown when about {made['threshold']:,} {made['unit']} or more are in it"
        return "" if made["keys"] == told else "the threshold of the groups is another"

    def _words(self) -> str:
        """Compare the method of every column with the noise that the answer lists."""
        listed, unit = set(self.parameters["noise"].values()), self.unit
        size_is_public = isinstance(unit, Row) and unit.size is not None and not self.one.answer.keys
        for name, column in self.one.answer.columns.items():
            known = (
                column.method in (TREE_TOLD, SMOOTH_TOLD, TESTED_TOLD, *CHOICES)
                or set(column.method.split("; ")) <= listed
            )
            if not known and not (size_is_public and not column.method):
                return f"the noise of {name} is not listed"
        return ""

    def _loss(self) -> str:
        """Find a term for every noise; what is left is of quantiles, top lists and the choice of groups."""
        left = terms_of(self.one.loss)
        for words in self.parameters["noise"].values():
            term = self._term_of(words, left)
            if term is None:
                return "the loss has no term for its noise"
            left[term] -= 1
            left += Counter()
        return self._counts() or self._rest(left) or self._adds_up(left)

    def _term_of(self, words: str, left: Counter[Any]) -> Any:  # noqa: ANN401  a term or None
        counts = [term for term in left if self._is_count(term, words, self.rows, 1)]
        sums = [term for term in left if self._is_sum(term, words)]
        return next(iter([*counts, *sorted(sums, key=self._is_tree)]), None)

    @property
    def rows(self) -> int:
        """The rows of a unit that count."""
        return int(self.parameters["rows"])

    def _is_count(self, term: Term, words: str, *changes: int) -> bool:
        """Return whether a term is noise in these words on something that a unit changes by so much in each group."""
        reaches = [self._reach(change) for change in changes]
        if isinstance(term, DiscreteGaussian):
            within = term.squared_sensitivity in [reach.squared for reach in reaches]
        else:
            within = isinstance(term, DiscreteLaplace) and term.sensitivity in [reach.first for reach in reaches]
        return within and _told(term) == words

    def _reach(self, change: int) -> Reach:
        return Reach(self.parameters["groups"], 0, change, self.unit.relation, not self.one.answer.keys)

    def _is_sum(self, term: Term, words: str) -> bool:
        """Return whether a term is noise in these words on a sum: whole steps in each row, a power of two each."""
        groups, parsed = self.parameters["groups"], NOISE.fullmatch(words)
        told = None if parsed is None else float(parsed[2].replace(",", ""))
        if not told or _told(term)[:8] != words[:8]:
            return False
        twice = self.unit.relation == "replace_one" and bool(self.one.answer.keys)
        if isinstance(term, DiscreteGaussian):
            size = math.sqrt(float(term.sigma_squared))
            steps, rest = divmod(term.squared_sensitivity, groups * self.rows**2)
            square = _is_square(steps) or (twice and steps % 2 == 0 and _is_square(steps // 2))
            whole = steps > 0 and rest == 0 and square
        else:
            size = float(term.scale)  # type: ignore[attr-defined]
            whole = term.sensitivity > 0 and term.sensitivity % (groups * self.rows) == 0  # type: ignore[attr-defined]
        step = math.log2(told / size)
        return whole and abs(step - round(step)) < 0.01  # three digits are told

    def _is_tree(self, term: Term) -> bool:
        wide = 2 if self.unit.relation == "replace_one" else 1
        return isinstance(term, DiscreteLaplace) and term.sensitivity == wide * UNIT * self.rows * TREE[1]

    def _counts(self) -> str:
        """See that every count of the query has the noise that the bounds of the unit ask for."""
        terms = terms_of(self.one.loss)
        columns = {name.casefold(): column for name, column in self.one.answer.columns.items()}
        for name, changes in _counted(self.one.query, self.unit, self.rows).items():
            column = columns.get(name.casefold())
            if column is None:
                return f"the query has a column {name}, and the answer has none"
            if column.method and not any(self._is_count(term, column.method, *changes) for term in terms):
                return f"the noise of {name} is not that of a count"
        return ""

    def _rest(self, left: Counter[Any]) -> str:
        methods = {column.method for column in self.one.answer.columns.values()}
        groups = self.parameters["groups"]
        trees = sum(count for term, count in left.items() if self._is_tree(term))
        chosen = sum(count for term, count in left.items() if isinstance(term, BoundedRange))
        if TREE_TOLD in methods and (not trees or trees % groups):
            return "the loss has no term for its quantiles"
        if methods & set(CHOICES) and (not chosen or chosen % groups):
            return "the loss has no term for its choices"
        fitted, problem = self._fitted(left)
        if problem:
            return problem
        others = sum(left.values()) - trees * (TREE_TOLD in methods) - chosen * bool(methods & set(CHOICES)) - fitted
        if self.declared is None:
            return "" if others else "the loss has no term for the choice of groups"
        return "the loss has terms that nothing is told of" if others else ""

    def _fitted(self, left: Counter[Any]) -> tuple[int, str]:
        """Return how many terms are of quantiles with fitted noise, and what is wrong with them.

        By smooth sensitivity each has one for its value and one for its interval; a tested one has an epsilon with a
        delta, as private groups may have too.
        """
        told = Counter(column.method for column in self.one.answer.columns.values())
        smooth, tested = (self.parameters["groups"] * told[words] for words in (SMOOTH_TOLD, TESTED_TOLD))
        found: Counter[type[Term]] = Counter()
        for term, count in left.items():
            found[type(term)] += count if _plain(term) else 0
        if smooth and not found[Pure] == found[Laplace] == smooth:
            return 0, "the loss has no term for its quantiles by smooth sensitivity"
        if found[Approximate] < tested:
            return 0, "the loss has no term for its tested quantiles"
        return 2 * smooth + tested, ""

    def _adds_up(self, left: Counter[Any]) -> str:
        """Compare the epsilon that the answer was planned with, at its delta, with what its terms add up to."""
        epsilon, delta = self.parameters["epsilon"], self.parameters["delta"]
        terms = terms_of(self.one.loss)
        if not terms or (set(terms) == {Pure(Fraction(0))} and not self.parameters["noise"]):
            return "" if not any(column.method for column in self.one.answer.columns.values()) else "it has no loss"
        if any(isinstance(term, DiscreteGaussian) for term in left):  # groups are chosen by Gaussian noise as well
            return "" if self.one.loss.epsilon(delta) <= epsilon * (1 + NEAR) else "the loss is above its epsilon"
        rho = sum(count * Fraction(term.rho) for term, count in terms.items() if isinstance(term, DiscreteGaussian))
        plain = sum(count * _plain(term) for term, count in terms.items())
        rest = Fraction(epsilon) - plain
        if not rho:
            return "" if abs(rest) <= NEAR * epsilon else "the terms of the loss give another epsilon"
        failures = 1 - math.prod((1 - _failure(term)) ** count for term, count in terms.items())
        part = rho / Zcdp.reaching(rest, Fraction(delta) - failures).limit
        least = Fraction(1, 2) if any(_failure(term) and not _plain(term) for term in left) else 1 - Fraction(NEAR)
        near = least <= part <= 1 + Fraction(NEAR)  # a threshold may fail less often than it was given leave to
        return "" if near else "the terms of the loss give another epsilon"


def _told(term: Term) -> str:
    reach = Reach(1, 0, 1, "add_remove")
    if isinstance(term, DiscreteGaussian):
        return str(Noise("gaussian", reach, Fraction(term.sigma_squared)))
    return str(Noise("laplace", reach, Fraction(term.scale))) if isinstance(term, DiscreteLaplace) else ""


def _plain(term: Term) -> Fraction:
    """Return the epsilon of a term that has one by itself."""
    if isinstance(term, DiscreteLaplace):
        return term.sensitivity / Fraction(term.scale)
    return Fraction(term.epsilon) if isinstance(term, Approximate | BoundedRange | Laplace | Pure) else Fraction(0)


def _failure(term: Term) -> Fraction:
    return Fraction(term.failure) if isinstance(term, Approximate) else Fraction(0)


def _is_square(number: int) -> bool:
    return math.isqrt(number) ** 2 == number


def _counted(query: str, unit: Row | Person, rows: int) -> dict[str, tuple[int, ...]]:
    """Return the columns of a query that count, each with what one unit may change it by in a group."""
    from sqlglot import exp

    from discreet.tables.sql.aggregates import default_name
    from discreet.tables.sql.dialect import tree
    from discreet.tables.sql.options import options
    from discreet.tables.sql.words import words

    select = tree(options(words(query))[1], query)
    plain = not select.args.get("with_") and not list(select.find_all(exp.Subquery))
    found: dict[str, tuple[int, ...]] = {}
    for item in select.expressions:
        node = item.this if isinstance(item, exp.Alias) else item
        name = item.alias if isinstance(item, exp.Alias) else None
        inner = node
        while isinstance(inner, exp.Filter | exp.Paren):
            inner = inner.this
        if not isinstance(inner, exp.Anonymous) or str(inner.this).upper() != "COUNT" or not inner.expressions:
            continue
        changes: tuple[int, ...] = (rows,)
        if isinstance(inner.expressions[0], exp.Distinct):
            (value,) = inner.expressions[0].expressions
            person = isinstance(unit, Person) and isinstance(value, exp.Column) and value.name == unit.key
            changes = (1, rows) if person or not plain else (rows,)
        found[name or default_name(node)] = changes
    return found
