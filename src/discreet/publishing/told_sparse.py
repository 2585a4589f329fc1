"""What an answer says about groups that were shown by the noise of their counts, against the loss that it states.

Where noise and threshold were accounted for jointly, both follow from epsilon, delta and the unit, and are made again.
Otherwise the loss has a term for the noise and one for the threshold, which must be those of the noise and threshold in
words, and together within epsilon and delta.
"""

from fractions import Fraction
from functools import partial
from typing import Any

from discreet.accounting.terms import Approximate, DiscreteGaussian
from discreet.errors import DiscreetError
from discreet.mechanisms import StabilityHistogram
from discreet.mechanisms.gaussian_threshold import gaussian_survival
from discreet.mechanisms.partition import touched
from discreet.mechanisms.thresholds import failure
from discreet.publishing.certificate import Certified
from discreet.session.noise import Noise, Reach
from discreet.session.sparse import JOINTLY, Sparse
from discreet.units import Person, Row

__all__ = ["problem_sparse"]

NEAR = 1e-3
ASKED = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(3))
"""At which parts of epsilon two curves are compared."""


def problem_sparse(one: Certified, unit: Row | Person) -> str:
    """Return the first thing that does not agree, or nothing."""
    made: dict[str, Any] = one.answer.parameters
    if made["rows"] != 1 and not _counts_persons(one, unit):
        return "a noise that chooses groups is on numbers of units, and this one is on rows"
    if len(one.answer.columns) != 1 or type(made["threshold"]) is not int:
        return "groups are chosen by the noise of one count"
    groups, terms = made["groups"], [term for term, count in one.loss.terms for _ in range(count)]
    reach = Reach(groups, 0, 1, unit.relation)
    gaussian = [term for term in terms if isinstance(term, DiscreteGaussian)]
    if gaussian:
        return _apart(one, unit, reach, gaussian, terms)
    if touched(groups, unit.relation) > JOINTLY:
        return "the loss has no term for its noise"
    try:
        ours = Sparse(
            StabilityHistogram(
                epsilon=Fraction(made["epsilon"]),
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
    at = [float(part * Fraction(made["epsilon"])) for part in ASKED]
    same = all(abs(ours.loss.delta(e) - one.loss.delta(e)) <= NEAR * ours.loss.delta(e) for e in at)
    return "" if same else "the loss is not that of the mechanism"


def _apart(one: Certified, unit: Row | Person, reach: Reach, gaussian: list[Any], terms: list[Any]) -> str:
    made: dict[str, Any] = one.answer.parameters
    failures = [term for term in terms if isinstance(term, Approximate)]
    if len(gaussian) != 1 or len(failures) != 1 or failures[0].epsilon or len(terms) != 2:
        return "the loss has other terms than a noise and a threshold"
    square = Fraction(gaussian[0].sigma_squared)
    if gaussian[0].squared_sensitivity != reach.squared:
        return "the noise is not that of a count of units"
    if set(made["noise"].values()) != {str(Noise("gaussian", reach, square))}:
        return "the noise is told in other words than its mechanism has"
    survival = partial(gaussian_survival, square)
    changed = touched(made["groups"], unit.relation)
    if not 0 <= made["threshold"] < 2**62 or failure(survival, changed, made["threshold"]) > failures[0].failure:
        return "the threshold fails more often than the loss says"
    within = one.loss.epsilon(made["delta"]) <= made["epsilon"] * (1 + NEAR)
    return "" if within else "the loss is above its epsilon"


def _counts_persons(one: Certified, unit: Row | Person) -> bool:
    """Whether the query counts different values of the key of persons, and nothing else."""
    from sqlglot import exp

    from discreet.tables.sql.dialect import tree
    from discreet.tables.sql.options import options
    from discreet.tables.sql.words import words

    select = tree(options(words(one.query))[1], one.query)
    keys = [
        value.name
        for node in select.find_all(exp.Distinct)
        for value in node.expressions
        if isinstance(value, exp.Column)
    ]
    return isinstance(unit, Person) and unit.key in keys
