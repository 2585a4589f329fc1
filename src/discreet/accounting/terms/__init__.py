"""The terms that a privacy loss can be made of, one file for each kind."""

import dataclasses
import re
from fractions import Fraction
from typing import Any, get_args, get_origin

from discreet.accounting.terms.base import Term, parameters, within
from discreet.accounting.terms.bounded_range import BoundedRange
from discreet.accounting.terms.concentrated import Concentrated
from discreet.accounting.terms.discrete_gaussian import DiscreteGaussian
from discreet.accounting.terms.discrete_laplace import DiscreteLaplace
from discreet.accounting.terms.finite_pair import FinitePair, Weights, exact_law
from discreet.accounting.terms.gaussian import Gaussian
from discreet.accounting.terms.gaussian_mixture import GaussianMixture, binomial_mixture
from discreet.accounting.terms.laplace import Laplace
from discreet.accounting.terms.one_of import NOT_CHOSEN, OneOf
from discreet.accounting.terms.one_of_each import OneOfEach, on_two_parts
from discreet.accounting.terms.overflow import Overflow
from discreet.accounting.terms.profile import profiled, profiled_witness
from discreet.accounting.terms.pure import Approximate, Pure
from discreet.accounting.terms.randomized_response import RandomizedResponse
from discreet.accounting.terms.renyi_curve import RenyiCurve
from discreet.accounting.terms.sampled import Sampled
from discreet.accounting.terms.shuffled import Shuffled
from discreet.accounting.terms.symmetric import SampledSymmetric
from discreet.accounting.terms.witness import attained, attained_in_groups, concrete, least_delta, loose, witness
from discreet.errors import InvalidParameter, UnknownKind
from discreet.units import Relation

__all__ = [
    "KINDS",
    "Approximate",
    "BoundedRange",
    "Concentrated",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "FinitePair",
    "Gaussian",
    "GaussianMixture",
    "Laplace",
    "OneOf",
    "OneOfEach",
    "Overflow",
    "Pure",
    "RandomizedResponse",
    "RenyiCurve",
    "Sampled",
    "SampledSymmetric",
    "Shuffled",
    "Term",
    "Weights",
    "attained",
    "attained_in_groups",
    "concrete",
    "exact_law",
    "from_record",
    "group_one_way",
    "least_delta",
    "loose",
    "on_two_parts",
    "parameters",
    "profiled",
    "profiled_witness",
    "relation_of",
    "to_record",
    "witness",
]

KINDS: dict[str, type[Any]] = {
    kind.kind: kind
    for kind in (
        Approximate,
        BoundedRange,
        Concentrated,
        DiscreteGaussian,
        DiscreteLaplace,
        FinitePair,
        Gaussian,
        GaussianMixture,
        Laplace,
        OneOf,
        OneOfEach,
        Overflow,
        Pure,
        RandomizedResponse,
        RenyiCurve,
        Sampled,
        SampledSymmetric,
        Shuffled,
    )
}


def relation_of(term: Term) -> Relation | None:
    """Return the only relation that a term's theorem is about; None if it may be about any.

    >>> relation_of(Sampled(Laplace(Fraction(1)), Fraction(1, 2))), relation_of(Laplace(Fraction(1)))
    ('add_remove', None)
    """
    if isinstance(term, Sampled):
        return "add_remove"
    return "replace_one" if any(isinstance(part, Shuffled) for part in within(term)) else None


def group_one_way(term: Term, size: int) -> Term:
    """Return a term for groups that are added or removed as a whole, under add_remove."""
    if size > 1 and isinstance(term, Sampled) and isinstance(term.base, Gaussian):
        return binomial_mixture(term.base.mu_squared, size, term.rate)
    return term.group(size)


def to_record(term: Term) -> dict[str, Any]:
    """Return a term as plain JSON values; rationals as exact strings.

    >>> to_record(Laplace(Fraction(1, 10)))
    {'kind': 'laplace', 'epsilon': '1/10'}
    """
    return {"kind": term.kind, **{name: _plain(value) for name, value in parameters(term).items()}}


def _plain(value: Any) -> Any:  # noqa: ANN401 - a parameter of any kind
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return to_record(value) if hasattr(value, "kind") else value


def from_record(record: dict[str, Any]) -> Term:
    """Read what ``to_record`` wrote; anything else is refused."""
    kind = record.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise UnknownKind(f"a privacy loss of kind {kind!r} is not known to this version; it was not read.")
    cls = KINDS[kind]
    fields = {field.name: field for field in dataclasses.fields(cls)}
    given = {key: value for key, value in record.items() if key != "kind"}
    if set(given) != set(fields):
        raise UnknownKind(f"a {kind} loss has the parameters {sorted(fields)}, got {sorted(given)}.")
    exact = {name: _read(value, fields[name].type, f"{kind}.{name}") for name, value in given.items()}
    try:
        term: Term = cls(**exact)
    except InvalidParameter as error:
        raise UnknownKind(f"this {kind} loss is not one: {error}") from None
    return term


RATIONAL = re.compile(r"[0-9]+(/[0-9]+)?")
"""What ``str`` makes of a Fraction: Fraction itself also reads '1e999999999', and would not come back."""


SAMPLES = (Sampled.kind, SampledSymmetric.kind)
LONGEST = 10**6
"""Entries of a list in a record."""


def _read(value: object, wanted: object, name: str) -> Any:  # noqa: ANN401 - a parameter of any kind
    try:
        if wanted is Term and isinstance(value, dict) and value.get("kind") not in SAMPLES:
            return from_record(value)
        if wanted is bool and isinstance(value, bool):
            return value
        if wanted is int and isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        if wanted is Fraction and isinstance(value, str) and RATIONAL.fullmatch(value):
            return Fraction(value)
        if get_origin(wanted) is tuple and isinstance(value, list) and len(value) <= LONGEST:
            parts = get_args(wanted)
            each = [parts[0]] * len(value) if parts[-1] is Ellipsis else list(parts)
            if Term in each and any(isinstance(part, dict) and part.get("kind") in NOT_CHOSEN for part in value):
                raise ValueError
            return tuple(_read(part, kind, name) for part, kind in zip(value, each, strict=True))
    except (ValueError, ZeroDivisionError):
        pass
    raise UnknownKind(f"{name} does not hold a number that this kind can have; the record was not read.")
