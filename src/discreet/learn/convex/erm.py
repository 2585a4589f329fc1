"""Private empirical risk minimisation in one place: a loss, a regulariser and a method, chosen by public numbers."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import Real, positive, show
from discreet.learn.convex.frank_wolfe import FrankWolfe
from discreet.learn.convex.gradient_descent import GradientDescent
from discreet.learn.convex.losses import Loss
from discreet.learn.convex.model import Fit
from discreet.learn.convex.objective_perturbation import ObjectivePerturbation
from discreet.learn.convex.output_perturbation import OutputPerturbation
from discreet.learn.convex.rows import Rows
from discreet.learn.convex.softmax import Softmax
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.gaussian import analytic_sigma
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import store
from discreet.noise.fast import Floats
from discreet.units import Relation

__all__ = ["ERM", "L2", "L1Ball", "Method"]

Method = Literal["auto", "output", "objective", "gradient", "frank_wolfe"]


@dataclass(frozen=True, slots=True)
class L2:
    """Half of ``strength`` times the squared norm of the weights; by default a strength that suits the noise."""

    strength: Real | None = None

    def __post_init__(self) -> None:
        if self.strength is not None:
            positive(self.strength, "strength")

    def __repr__(self) -> str:
        return "L2()" if self.strength is None else f"L2({show(self.strength)})"


@dataclass(frozen=True, slots=True)
class L1Ball:
    """Weights whose absolute values add up to at most ``radius``."""

    radius: Real

    def __post_init__(self) -> None:
        positive(self.radius, "radius")
        store(self, radius=self.radius)


@dataclass(frozen=True, slots=True, kw_only=True)
class ERM(Faces):
    """Minimise the sum of a convex loss over records, privately.

    Satisfies (epsilon, delta)-DP whenever the method it names does. ``method="auto"`` looks at public numbers alone:
    an L1 ball takes Frank-Wolfe; several classes take noisy gradients; else the objective is perturbed.

    >>> from discreet.learn.convex import Logistic, Rows
    >>> erm = ERM(rows=Rows(features=5, norm=1), loss_function=Logistic(), regularizer=L2(), relation="add_remove",
    ...           epsilon=1, delta=1e-5, size=10000)
    >>> erm.method, type(erm.plan).__name__
    ('auto', 'ObjectivePerturbation')
    """

    rows: Rows
    loss_function: Loss
    relation: Relation
    epsilon: Real
    regularizer: L2 | L1Ball = L2()
    delta: Real = 0
    size: int = 1000
    method: Method = "auto"
    steps: int | None = None

    def __post_init__(self) -> None:
        self.plan  # noqa: B018 - what cannot be fitted is refused at once

    @property
    def plan(self) -> Fit:
        """The method with all its numbers."""
        shared: dict[str, Any] = {
            "rows": self.rows,
            "loss_function": self.loss_function,
            "relation": self.relation,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "size": self.size,
        }
        method = self._chosen()
        if isinstance(self.regularizer, L1Ball):
            return FrankWolfe(**shared, radius=self.regularizer.radius, steps=self.steps or self._corners())
        if method == "gradient":
            strength = self.regularizer.strength
            return GradientDescent(**shared, strength=0 if strength is None else strength, steps=self.steps or STEPS)
        if isinstance(self.loss_function, Softmax):
            raise NoTheorem(
                f"no theorem covers {method} perturbation of a multinomial model here. Use method='gradient' and a "
                "delta above 0."
            )
        given = self.regularizer.strength
        strength = suited(self.rows, self.loss_function, self.epsilon, self.delta) if given is None else given
        if method == "output":  # its noise is not damped where the data bend the objective
            return OutputPerturbation(**shared, strength=3 * strength if given is None else strength)
        return ObjectivePerturbation(**shared, strength=strength)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the method."""
        return self.plan.loss

    @property
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """Those of the method."""
        return self.plan.losses

    @property
    def domain(self) -> Records:
        """Tables of rows with targets."""
        return Records(relation=self.relation)

    def release(self, data: tuple[Any, Any], /) -> Floats:
        """Return the weights for rows inside."""
        return self.plan.release(data)

    def worst_case(self) -> tuple[Any, Any]:
        """That of the method."""
        return self.plan.worst_case()

    def _chosen(self) -> str:
        if self.method not in ("auto", "output", "objective", "gradient", "frank_wolfe"):
            raise InvalidParameter(
                f"method must be auto, output, objective, gradient or frank_wolfe, got {self.method!r}."
            )
        ball = isinstance(self.regularizer, L1Ball)
        if ball != (self.method == "frank_wolfe") and self.method != "auto":
            raise InvalidParameter("an L1 ball is for method='frank_wolfe', and that method for an L1 ball.")
        if self.method != "auto":
            return self.method
        return "frank_wolfe" if ball else "gradient" if isinstance(self.loss_function, Softmax) else "objective"

    def _corners(self) -> int:
        """Return how many steps Frank-Wolfe takes: ``(n epsilon / log d)^(2/3)``, from 1 to 200."""
        reward = self.size * float(self.epsilon) / (1 + math.log(2 * self.rows.width))
        return max(1, min(200, round(math.pow(reward, 2 / 3))))


STEPS = 100
LEAST = 0.01
EXPECTED = 10.0
"""About how long the weights of a useful model are, inside."""


def suited(rows: Rows, loss: Loss, epsilon: Real, delta: Real) -> float:
    """Return a regularisation at which noise alone moves the weights by about their expected length.

    The noise of a tilted objective has norm ``sigma sqrt d``, and moves the minimum by at most that over the strength;
    where data bend the objective more than the regularisation does, by less.
    """
    return max(_moved(rows, loss, epsilon, delta), LEAST)


def _moved(rows: Rows, loss: Loss, epsilon: Real, delta: Real) -> float:
    lipschitz = float(loss.lipschitz * rows.reach)
    scale = math.sqrt(rows.width) * lipschitz
    if delta:
        return scale * analytic_sigma(Fraction(1), epsilon, delta) / EXPECTED
    return scale * math.sqrt(2 * rows.width) / float(epsilon) / EXPECTED
