"""What an answer says about groups that were shown by the noise of their counts, against the loss that it states.

Where noise and threshold were accounted for jointly, both follow from epsilon, delta and the unit, and are made again.
Otherwise the loss has a term for the noise and one for the threshold, which must be those of the noise and threshold in
words, and together within epsilon and delta. Where the answer tells how many groups were left out, that has a term.
Every count that is shown lies above the threshold.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any

from discreet.accounting import PrivacyLoss
from discreet.accounting.terms import Approximate, DiscreteGaussian, DiscreteLaplace
from discreet.errors import DiscreetError
from discreet.mechanisms import StabilityHistogram
from discreet.mechanisms.gaussian_threshold import gaussian_survival
from discreet.mechanisms.partition import touched
from discreet.mechanisms.thresholds import failure
from discreet.publishing.certificate import Certified
from discreet.session.noise import Noise, Reach
from discreet.session.plan import COUNTED
from discreet.session.sparse import JOINTLY, Sparse
from discreet.units import Person, Row

__all__ = ["problem_sparse"]

NEAR = 1e-3
ASKED = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(3))
"""At which parts of epsilon two curves are compared."""


def problem_sparse(one: Certified, unit: Row | Person, counted: Mapping[str, tuple[int, ...]]) -> str:
    """Return the first thing that does not agree, or nothing.

    ``counted`` are the columns of the query that count, each with what a unit may change it by in a group.
    """
    made: dict[str, Any] = one.answer.parameters
    if not all(1 in changes for changes in counted.values()):
        return "a noise that chooses groups is on numbers of units, and this one is on rows"
    if [name.casefold() for name in counted] != [name.casefold() for name in one.answer.columns]:
        return "groups are chosen by the noise of one count"
    if len(counted) != 1 or type(made["threshold"]) is not int:
        return "groups are chosen by the noise of one count"
    groups, terms = made["groups"], [term for term, count in one.loss.terms for _ in range(count)]
    reach = Reach(groups, 0, 1, unit.relation)
    gaussian = [term for term in terms if isinstance(term, DiscreteGaussian)]
    if gaussian:
        return _apart(one, unit, reach, gaussian, terms)
    if touched(groups, unit.relation) > JOINTLY:
        return "the loss has no term for its noise"
    whole, left = Fraction(made["epsilon"]), _left_out(one, reach)
    try:
        ours = Sparse(
            StabilityHistogram(
                epsilon=whole * (1 - COUNTED) if left else whole,
                delta=Fraction(made["delta"]),
                relation=unit.relation,
                bins=groups,
                noise="gaussian",
            ),
            reach,
        )
    except DiscreetError:
        return "no noise is known to fit its epsilon and delta"
    if ours.threshold != made["threshold"]:
        return "the threshold of the groups is another"
    if set(made["noise"].values()) != {str(ours.noise)}:
        return "the noise is told in other words than its mechanism has"
    loss, at = PrivacyLoss.total([ours.loss, *left]), [float(part * whole) for part in ASKED]
    same = all(abs(loss.delta(e) - one.loss.delta(e)) <= NEAR * loss.delta(e) for e in at)
    return _shown(one, ours.noise) if same else "the loss is not that of the mechanism"


def _apart(one: Certified, unit: Row | Person, reach: Reach, gaussian: list[Any], terms: list[Any]) -> str:
    made: dict[str, Any] = one.answer.parameters
    failures = [term for term in terms if isinstance(term, Approximate)]
    listed = [term for term in terms if isinstance(term, DiscreteLaplace)]
    wanted: list[Any] = [term for loss in _left_out(one, reach) for term, _ in loss.terms]
    if len(gaussian) != 1 or len(failures) != 1 or failures[0].epsilon or len(terms) != 2 + len(wanted):
        return "the loss has other terms than a noise and a threshold"
    for ours, told in zip(wanted, listed, strict=True):
        if ours.sensitivity != told.sensitivity or abs(ours.scale / told.scale - 1) > NEAR:
            return "the loss has another term for the groups that are left out"
    square = Fraction(gaussian[0].sigma_squared)
    noise = Noise("gaussian", reach, square)
    if gaussian[0].squared_sensitivity != reach.squared:
        return "the noise is not that of a count of units"
    if set(made["noise"].values()) != {str(noise)}:
        return "the noise is told in other words than its mechanism has"
    survival = partial(gaussian_survival, square)
    changed = touched(made["groups"], unit.relation)
    if not 0 <= made["threshold"] < 2**62 or failure(survival, changed, made["threshold"]) > failures[0].failure:
        return "the threshold fails more often than the loss says"
    within = one.loss.epsilon(made["delta"]) <= made["epsilon"] * (1 + NEAR)
    return _shown(one, noise) if within else "the loss is above its epsilon"


def _left_out(one: Certified, reach: Reach) -> list[PrivacyLoss]:
    """Return what it costs to tell how many groups were left out, where the answer does."""
    made: dict[str, Any] = one.answer.parameters
    if "groups_not_shown" not in made:
        return []
    return [Noise.laplace(reach, Fraction(made["epsilon"]) * COUNTED).loss.under(reach.relation)]


def _shown(one: Certified, noise: Noise) -> str:
    """See that every count is above the threshold, and in the middle of an interval of its noise."""
    made: dict[str, Any] = one.answer.parameters
    off, threshold = noise.error(1 - one.answer.level), made["threshold"]
    (column,) = one.answer.columns.values()
    for value, low, high in zip(column.value, column.low, column.high, strict=True):
        if type(value) is not int or value <= threshold:
            return "a group is shown whose count is not above the threshold"
        if (low, high) != (value - off, value + off):
            return "an interval is not as wide as the mechanism makes it"
    return ""
