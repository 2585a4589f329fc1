"""Multinomial logistic loss: one linear prediction for each class.

The gradient in the predictions is ``p - e_t``, of norm at most ``sqrt 2``; the second derivative ``diag p - p p^T`` has
no eigenvalue above 1/2 (Boehning, Ann. Inst. Stat. Math. 1992). It depends on several predictions at once, so the
theorem of Gaussian objective perturbation does not cover it; noisy gradients do.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from flint import arb

from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import up
from discreet.learn.convex.losses import Kept
from discreet.learn.convex.rowwise import products
from discreet.noise.fast import Floats

__all__ = ["Softmax"]


@dataclass(frozen=True, slots=True)
class Softmax:
    """``log sum_k exp(p_k) - p_t`` for targets t of 0, 1, ..., classes - 1.

    >>> Softmax(3).slope(np.zeros((1, 3)), np.array([2.0])).round(3).tolist()
    [[0.333, 0.333, -0.667]]
    """

    classes: int
    lipschitz: ClassVar[Fraction] = Fraction(up(lambda: arb(2).sqrt()))
    smoothness: ClassVar[Fraction] = Fraction(1, 2)

    def __post_init__(self) -> None:
        if type(self.classes) is not int or self.classes < 2:
            raise InvalidParameter("there must be at least two classes.")

    def read(self, targets: Floats, /) -> Kept:
        """Targets that name a class count."""
        return targets, np.isin(targets, np.arange(self.classes))

    def value(self, predictions: Floats, targets: Floats, /) -> Floats:
        """``log sum_k exp(p_k) - p_t``."""
        most = np.max(predictions, axis=1, initial=-np.inf)
        told = predictions[np.arange(len(targets)), targets.astype(np.int64)]
        return np.asarray(most + np.log(np.exp(predictions - most[:, None]).sum(axis=1)) - told)

    def slope(self, predictions: Floats, targets: Floats, /) -> Floats:
        """``p - e_t``, shortened by less than rounding could lengthen it."""
        above = np.exp(predictions - np.max(predictions, axis=1, initial=-np.inf, keepdims=True))
        shares = above / products(above, np.ones((self.classes, 1)))
        shares[np.arange(len(targets)), targets.astype(np.int64)] -= 1.0
        return np.asarray(shares * (1 - 2.0**-40))

    def curvature(self, predictions: Floats, targets: Floats, /) -> Floats:
        """A bound of it."""
        return np.full(len(targets), 0.5)

    def slope_ball(self, prediction: arb, target: float, /) -> arb:
        """None: no method that solves to a proven gradient takes several predictions."""
        raise NoTheorem("multinomial models are fitted by noisy gradients alone.")
