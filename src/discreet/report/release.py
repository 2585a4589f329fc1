"""What was published: one answer, its error, its cost. It never holds the true answer."""

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.errors import InvalidParameter
from discreet.exact import positive, probability
from discreet.units import Relation, check_relation

__all__ = ["Release", "Value"]

Value = int | float | str | Mapping[str, int | float]
"""An answer: one number, one word, or a number for each group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One published answer, in words that need no glossary.

    >>> Release(title="Smokers", question="How many people smoke?", value=3041, error="within ±24 in 19 of 20 releases",
    ...         mechanism="Geometric(sensitivity=1, epsilon=0.125)", relation="replace_one", epsilon=0.125,
    ...         private=True).value
    3041
    """

    title: str
    question: str
    value: Value
    error: str
    mechanism: str
    relation: Relation
    epsilon: float
    delta: float = 0.0
    private: bool
    unit: str = ""

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")
        probability(self.delta, "delta", zero=True)
        check_relation(self.relation)
        private: object = self.private
        if not isinstance(private, bool):
            raise InvalidParameter(f"private must be True or False, got {type(private).__name__}.")

    @property
    def numbers(self) -> int:
        """How many numbers were published."""
        return len(self.value) if isinstance(self.value, Mapping) else 1
