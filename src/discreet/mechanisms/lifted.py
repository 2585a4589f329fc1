"""Value mechanisms lifted to records by a query."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import finite, show
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Mechanism, Records, Shift
from discreet.sensitivity.smooth import Function
from discreet.units import Relation, check_relation

__all__ = ["Lifted", "lift"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifted(Faces):
    """A value mechanism applied to the answer of a query.

    Satisfies the mechanism's loss under ``relation`` whenever the query's sensitivity, in the mechanism's norm and
    under that relation, is at most what the mechanism was built for. Queries of ``discreet.sensitivity`` state theirs
    and are checked; for any other function the sensitivity is the author's promise.
    """

    mechanism: Mechanism[Any, Any]
    query: Callable[[Sequence[Any]], Any]
    relation: Relation

    def __post_init__(self) -> None:
        check_relation(self.relation)
        domain = self.mechanism.domain
        if not isinstance(domain, Shift):
            raise InvalidParameter("only a mechanism on values can be lifted; this one already takes records.")
        _check_query(self.mechanism, domain, self.query)
        if domain.monotone and self.relation == "replace_one":
            raise NoTheorem(
                "monotone scores all move the same way, and a replaced record may raise some and lower others. Write "
                "monotone=False, or relation='add_remove'."
            )
        stated = getattr(self.query, "sensitivity", None)
        if stated is not None and not callable(stated):
            raise InvalidParameter(
                "the query states a sensitivity that no relation and norm can be asked for. Write it as a method, "
                "def sensitivity(self, p, *, relation), or give the function without it as your own promise."
            )
        if stated is not None:
            p = domain.norm if math.isinf(domain.norm) else Fraction(domain.norm)
            needed = finite(stated(p, relation=self.relation), "the query's sensitivity")
            if needed > Fraction(domain.sensitivity):
                raise InvalidParameter(
                    f"the query changes by up to {show(needed)} between {self.relation} neighbours, but the mechanism "
                    f"is built for {show(domain.sensitivity)}. Write sensitivity={show(needed)}."
                )

    @property
    def domain(self) -> Records:
        """Data sets under the stated relation, with the query's public size where it has one."""
        size = getattr(self.query, "size", None)
        return Records(relation=self.relation, bounds=getattr(self.query, "bounds", None), size=size)

    @property
    def loss(self) -> PrivacyLoss:
        """The mechanism's, now about records."""
        return self.mechanism.loss.under(self.relation)

    def release(self, records: Sequence[Any], /) -> Any:  # noqa: ANN401 - whatever the mechanism gives
        """Ask the query and release its answer."""
        return self.mechanism.release(self.query(records))

    @property
    def draws(self) -> Callable[[Any, int], Any] | None:
        """Many releases at once, if the mechanism can: the query is asked once."""
        many = getattr(self.mechanism, "draws", None)
        return None if many is None else lambda records, count: many(self.query(records), count)

    def error(self, beta: float = 0.05, **options: Any) -> Any:  # noqa: ANN401 - whatever the mechanism promises
        """Return the mechanism's error, about the query's exact answer."""
        return self.mechanism.error(beta, **options)  # type: ignore[attr-defined]


def _check_query(mechanism: object, domain: Shift, query: object) -> None:
    """Refuse what could only fail when records are there: no function, or answers that the mechanism cannot release."""
    name, asked = type(mechanism).__name__, type(query).__name__
    if isinstance(query, Function):
        raise InvalidParameter(
            f"{asked} knows how far it moves near each data set, and {name} adds the same noise on all of them. Write "
            f"smooth_noise({asked.lower()}, ...), which adds what each data set needs."
        )
    if not callable(query):
        raise InvalidParameter(f"a query is a function of records, such as Count(), got {asked}.")
    answers = getattr(query, "answers", None)
    if domain.whole and answers == "number":
        raise InvalidParameter(f"{asked} answers with a real number, and {name} releases whole ones. Use Laplace.")
    if domain.several and answers in ("count", "number"):
        raise InvalidParameter(f"{asked} answers with one number, and {name} chooses among several. Use Counts.")
    if domain.several is False and answers == "counts":
        raise InvalidParameter(f"{asked} answers with several numbers, and {name} takes one. Use Count.")


def lift(mechanism: Mechanism[Any, Any], query: Callable[[Sequence[Any]], Any], relation: str) -> Lifted:
    """Return the mechanism applied to a query of records."""
    return Lifted(mechanism=mechanism, query=query, relation=check_relation(relation))
