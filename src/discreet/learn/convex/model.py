"""What all private fits of a linear model share: how records are read, and what is known of the loss.

Objectives are sums over records, not averages: the number of records, which is private under add_remove, is then
nowhere in a constant. One record changes the gradient of the sum by at most ``L`` if it comes or goes, and by ``2 L``
if it is replaced, where L is the Lipschitz constant of the loss times the largest norm of a row.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import Real, positive, probability, show, upward
from discreet.learn.convex.exact_sums import SlopeGrid
from discreet.learn.convex.losses import Loss
from discreet.learn.convex.objective import Objective
from discreet.learn.convex.rows import Examples, Rows, one_column, within_range
from discreet.learn.convex.softmax import Softmax
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import store
from discreet.noise.fast import Floats
from discreet.units import Relation, check_relation

__all__ = ["Fit", "Regularized"]

FINEST: float = 2.0**-14
COARSEST: float = 2.0**-36
MOST_SIZE = 1 << 40


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Fit(Faces, ABC):
    """A private fit: ``release((rows, targets))`` returns weights, the last of them that of the intercept column.

    ``size`` is a public number, about as many records as there are; it decides how much is computed, never what is
    promised.
    """

    rows: Rows
    loss_function: Loss
    relation: Relation
    epsilon: Real
    delta: Real = 0
    size: int = 1000
    multinomial: ClassVar[bool] = False
    """Whether the method takes a loss of several linear predictions."""

    def __post_init__(self) -> None:
        check_relation(self.relation)
        if isinstance(self.loss_function, Softmax) and not self.multinomial:
            raise NoTheorem(
                f"{type(self).__name__} is proven for losses of one linear prediction. Fit several classes by "
                "GradientDescent, with a delta above 0."
            )
        positive(self.epsilon, "epsilon")
        probability(self.delta, "delta", zero=True)
        within_range(positive(self.loss_function.lipschitz, "the Lipschitz constant"), "the Lipschitz constant")
        store(self, epsilon=self.epsilon, delta=self.delta)
        if type(self.size) is not int or not 1 <= self.size <= MOST_SIZE:
            raise InvalidParameter(f"size must be a whole number from 1 to {MOST_SIZE}, about how many records.")

    def __repr__(self) -> str:
        said = [f"{field.name}={_said(getattr(self, field.name))}" for field in fields(self)]
        return f"{type(self).__name__}({', '.join(said)})"

    @property
    def lipschitz(self) -> Fraction:
        """How long the gradient of one record can be."""
        return self.loss_function.lipschitz * self.rows.reach

    @property
    def smoothness(self) -> Fraction:
        """The largest eigenvalue of the second derivative of one record."""
        return self.loss_function.smoothness * self.rows.reach**2

    @property
    def slopes(self) -> SlopeGrid:
        """How slopes of the loss are rounded and summed."""
        return SlopeGrid(Fraction(self.loss_function.lipschitz))

    @property
    def turns(self) -> int:
        """How many gradients of records a neighbour changes: 1, or 2 under replace_one."""
        return 2 if self.relation == "replace_one" else 1

    @property
    def domain(self) -> Records:
        """Tables of rows with targets."""
        return Records(relation=self.relation)

    @property
    @abstractmethod
    def loss(self) -> PrivacyLoss:
        """What it costs."""

    @property
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """What it costs in every way that is proven; an account may charge whichever it likes best."""
        return (self.loss,)

    @abstractmethod
    def _weights(self, examples: Examples) -> Floats:
        """Return private weights."""

    def release(self, data: tuple[Any, Any], /) -> Floats:
        """Return weights for rows inside (see ``Rows.weights``); data is a pair of a table and its targets."""
        table, targets = data
        return self._weights(self.read(table, targets))

    def read(self, table: Any, targets: Any) -> Examples:  # noqa: ANN401 - whatever numpy takes
        """Return the records that count, clipped."""
        coded, kept = self.loss_function.read(one_column(targets))
        return self.rows.examples(table, coded, kept)

    def worst_case(self) -> tuple[Any, Any]:
        """One record of the largest norm that comes, or turns to its opposite."""
        row = np.zeros((1, self.rows.features))
        row[0, 0] = float(self.rows.norm)
        one = (row, np.array([1.0]))
        return one, ((-row, one[1]) if self.relation == "replace_one" else (row[:0], one[1][:0]))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Regularized(Fit):
    """A fit whose objective is strongly convex: ``strength / 2`` times the squared norm of the weights is added."""

    strength: Real = 1

    def __post_init__(self) -> None:
        Fit.__post_init__(self)
        store(self, strength=upward(positive(self.strength, "strength")))

    @property
    def tolerance(self) -> Fraction:
        """The norm of the gradient at which a solver stops: a public number, tiny beside what one record changes."""
        return Fraction(float(self.lipschitz) * max(FINEST, self.size * COARSEST))

    def objective(self, examples: Examples, tilt: Floats, strength: Real) -> Objective:
        """Return the objective on given records."""
        return Objective(examples, self.loss_function, float(strength), tilt, float(self.rows.reach))


def _said(value: object) -> str:
    return show(value) if isinstance(value, int | float | Fraction) and not math.isnan(value) else repr(value)
