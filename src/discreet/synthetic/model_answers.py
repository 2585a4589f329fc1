"""Answers of a model with error bars, at no extra budget: what the measured tables themselves certify.

A model's own answer has noise and a bias that nobody knows, so no interval comes from the model. The measured tables
have noise alone, and its law is known. A count that a measured table holds, or the sum of k of its cells, is off by the
sum of k discrete Gaussian numbers. This sum is sub-Gaussian with variance ``k sigma^2`` (Canonne, Kamath and Steinke,
NeurIPS 2020). For ``sigma >= 2.1`` more is true: its probabilities are those of one discrete Gaussian number of that
variance, up to a factor of ``(1 + 2.1 exp(-pi^2 sigma^2))^k``, since ``sum_z exp(-(z - c)^2 / (2 t^2))`` is largest at
whole c and exceeds ``t sqrt(2 pi)`` by no more than that; and the tail of a density that falls, summed over whole
numbers beyond t, is below its integral from t on. So the quantile of the normal law holds, rounded up to a whole
number. Sums of geometric noise have the tail that Chernoff's bound gives by their own moment generating function.

Which tables are measured may depend on the noise of those before. The t-th table that holds the wanted counts, in the
order of measuring, is therefore used with the error probability ``beta / (t (t + 1))``: given all that came before, its
noise is fresh, and all these add up to beta at most. The interval is what all tables agree on, above 0.

A count over attributes that no measured table holds together lies between the bounds of Bonferroni and Frechet: it is
no larger than the count of any part of its cell, and no smaller than what parts that cover the cell have in common.
Each part gets the same share of beta, one for every set that might have been measured. These bounds are certified too,
and wide. That is all: how close the model itself is, is not known.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from discreet.errors import InvalidParameter
from discreet.exact import Real, probability
from discreet.mechanisms.scale import NOT_GIVEN
from discreet.noise.fast import Floats
from discreet.synthetic.graphical.factor import Attributes, broadcast
from discreet.synthetic.graphical.measured import Measured
from discreet.synthetic.graphical.model import GraphicalModel
from discreet.synthetic.network import Network

__all__ = ["Answer", "ModelAnswers"]

Kind = Literal["measured", "bounds", "not measured"]
Law = Literal["discrete gaussian", "geometric"]

SMOOTH = 2.1
"""From this sigma on, sums of noise have tails as light as a normal law's."""

SAID: dict[Kind, str] = {
    "measured": "each entry lies in its interval with the probability asked for, whatever the model is",
    "bounds": "not measured together: model bias unknown; the intervals follow from measured parts alone",
    "not measured": "not measured: model bias unknown, so there is no interval",
}


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The model's counts by some attributes, and for each the interval that holds the true one.

    The interval is for one entry at a time, with probability ``1 - beta`` each. It need not have the model's count in
    it: then the model is wrong there, with that probability.
    """

    attributes: Attributes
    values: Floats
    low: Floats | None
    high: Floats | None
    beta: float
    kind: Kind

    @property
    def half_widths(self) -> Floats | None:
        """How far the true count may be from the model's, at most."""
        if self.low is None or self.high is None:
            return None
        return np.maximum(self.high - self.values, self.values - self.low)

    @property
    def note(self) -> str:
        """What the intervals are, in words."""
        return SAID[self.kind]


@dataclass(frozen=True, slots=True, eq=False)
class ModelAnswers:
    """A model with the tables that it was fitted to, in the order in which they were measured.

    Intervals hold whenever each table's noise has the law ``noise`` with the standard deviation ``sigma``, independent
    of all that was measured before, and none of these tables was left out because of what it told.

    >>> from discreet.synthetic.graphical.tree_fit import fit_tree
    >>> told = [Measured((0,), np.array([30.0, 70.0]), 5.0), Measured((1,), np.array([60.0, 40.0]), 5.0)]
    >>> answers = ModelAnswers(fit_tree((2, 2), told), told)
    >>> answer = answers.marginal((0,))
    >>> answer.values.round(6).tolist(), answer.low.tolist(), answer.high.tolist(), answer.kind
    ([30.0, 70.0], [18.0, 58.0], [42.0, 82.0], 'measured')
    >>> answers.marginal((0, 1)).kind
    'bounds'
    """

    model: GraphicalModel | Network
    measurements: Sequence[Measured] = NOT_GIVEN
    noise: Law = "discrete gaussian"

    def __post_init__(self) -> None:
        if self.noise not in ("discrete gaussian", "geometric"):
            raise InvalidParameter("noise must be 'discrete gaussian' or 'geometric'.")
        if self.measurements is NOT_GIVEN:
            object.__setattr__(self, "measurements", self.model.measurements)
        sizes = self.model.sizes
        for one in self.measurements:
            inside = all(0 <= i < len(sizes) for i in one.attributes)
            if not inside or one.counts.shape != tuple(sizes[i] for i in one.attributes):
                raise InvalidParameter("a measured table has the model's values on each axis, one axis per attribute.")
            if list(one.attributes) != sorted(set(one.attributes)):
                raise InvalidParameter("a measured table has its axes in the order of its attributes' numbers.")

    def marginal(self, attributes: Attributes, beta: Real = 0.05) -> Answer:
        """Return the model's counts by some attributes, one axis for each in their order, with intervals."""
        wanted, p = tuple(sorted(set(attributes))), float(probability(beta, "beta"))
        values = np.asarray(self.model.marginal(wanted), dtype=np.float64)
        found = self._interval(wanted, p)
        if found is not None:
            return Answer(wanted, values, *found, p, "measured")
        bounds = self._bounds(wanted, p)
        if bounds is not None:
            return Answer(wanted, values, *bounds, p, "bounds")
        return Answer(wanted, values, None, None, p, "not measured")

    def _interval(self, wanted: Attributes, beta: float) -> tuple[Floats, Floats] | None:
        """Return the interval on which all tables agree that hold the attributes, or None if none does."""
        tables = [one for one in self.measurements if set(wanted) <= set(one.attributes)]
        if not tables:
            return None
        shape = tuple(self.model.sizes[i] for i in wanted)
        low, high = np.zeros(shape), np.full(shape, np.inf)
        for place, one in enumerate(tables, start=1):
            sums = one.counts.sum(axis=tuple(axis for axis, i in enumerate(one.attributes) if i not in wanted))
            share, cells = beta / (place * (place + 1)), one.counts.size // max(1, sums.size)
            reach = tail(one.sigma, cells, share) if self.noise != "geometric" else heavy(one.sigma, cells, share)
            low, high = np.maximum(low, sums - reach), np.minimum(high, sums + reach)
        # Where tables contradict each other, which has probability beta at most, the widest view is left.
        return np.minimum(low, np.maximum(high, 0.0)), np.maximum(low, high)

    def _bounds(self, wanted: Attributes, beta: float) -> tuple[Floats, Floats] | None:
        """Return what measured parts say of a cell: no more than each of them, no less than all have in common."""
        parts = self._parts(wanted)
        if not parts:
            return None
        covering = _covering(parts, wanted)
        share = beta / (2 ** len(wanted) - 1)  # as many parts as could have been measured, with the total among them
        told = {part: self._interval(part, share) for part in (*parts, ())}
        found = {part: interval for part, interval in told.items() if interval is not None}
        shape = tuple(self.model.sizes[i] for i in wanted)
        high = np.full(shape, np.inf)
        for part in parts:
            high = np.minimum(high, broadcast(found[part][1], part, wanted))
        low = np.zeros(shape)
        if covering:
            everyone = float(found[()][1])
            together = sum((broadcast(found[part][0], part, wanted) for part in covering), np.zeros(shape))
            low = np.maximum(0.0, together - (len(covering) - 1) * everyone)
        return np.minimum(low, high), high

    def _parts(self, wanted: Attributes) -> list[Attributes]:
        """Return the largest sets of wanted attributes that some table holds."""
        held = {tuple(i for i in wanted if i in one.attributes) for one in self.measurements} - {()}
        return sorted(one for one in held if not any(set(one) < set(other) for other in held))


def tail(sigma: float, cells: int, beta: float) -> float:
    """Return a t that the sum of so many discrete Gaussian numbers exceeds in size with probability beta at most.

    >>> tail(10.0, 1, 0.05), tail(1.0, 1, 0.05)
    (20.0, 2.0)
    """
    deviation = sigma * math.sqrt(cells)
    if sigma >= SMOOTH and cells < 1 << 40:
        return float(math.ceil(-float(special.ndtri(beta / 2 * (1 - 1e-4))) * deviation * (1 + 1e-12)))
    return float(math.floor(math.sqrt(2 * math.log(2 / beta)) * deviation * (1 + 1e-12)))


def heavy(sigma: float, cells: int, beta: float) -> float:
    """Return the same for two-sided geometric noise, whose ratio a has ``sigma^2 = 2 a / (1 - a)^2``.

    One number has a tail of its own; for sums ``log E exp(s Z) = 2 log(1 - a) - log(1 - a e^s) - log(1 - a e^-s)``, and
    any s below ``-log a`` bounds the tail: the best of many is taken.

    >>> heavy(2.0, 1, 0.05), heavy(2.0, 100, 0.05)
    (4.0, 54.0)
    """
    rate = 2 * math.asinh(1 / (sigma * math.sqrt(2)))
    if cells == 1:  # P[|Z| > t] = 2 a^(t + 1) / (1 + a)
        reach = math.log(2 / (beta * (1 + math.exp(-rate)))) / rate - 1
        return float(max(0, math.ceil(reach * (1 + 1e-12) + 1e-12)))
    s = rate * np.linspace(0.001, 0.999, 999)
    moments = 2 * np.log(-np.expm1(-rate)) - np.log(-np.expm1(s - rate)) - np.log(-np.expm1(-s - rate))
    return float(math.floor(float(((cells * moments + math.log(2 / beta)) / s).min()) * (1 + 1e-12)))


def _covering(parts: Sequence[Attributes], wanted: Attributes) -> list[Attributes]:
    """Return few parts that hold all wanted attributes together, or none if they do not."""
    left, found = set(wanted), []
    while left:
        best = max(parts, key=lambda part: len(left & set(part)))
        if not left & set(best):
            return []
        found.append(best)
        left -= set(best)
    return found
