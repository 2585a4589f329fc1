"""The terms that a privacy loss can be made of, one file for each kind."""

import dataclasses
import re
from fractions import Fraction
from typing import Any

from discreet.accounting.terms.base import Term, parameters
from discreet.accounting.terms.concentrated import Concentrated
from discreet.accounting.terms.discrete_gaussian import DiscreteGaussian
from discreet.accounting.terms.discrete_laplace import DiscreteLaplace
from discreet.accounting.terms.gaussian import Gaussian
from discreet.accounting.terms.laplace import Laplace
from discreet.accounting.terms.pure import Approximate, Pure
from discreet.accounting.terms.randomized_response import RandomizedResponse
from discreet.accounting.terms.sampled import Sampled
from discreet.errors import InvalidParameter, UnknownKind

__all__ = [
    "KINDS",
    "Approximate",
    "Concentrated",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Gaussian",
    "Laplace",
    "Pure",
    "RandomizedResponse",
    "Sampled",
    "Term",
    "from_record",
    "parameters",
    "to_record",
]

KINDS: dict[str, type[Any]] = {
    kind.kind: kind
    for kind in (
        Approximate,
        Concentrated,
        DiscreteGaussian,
        DiscreteLaplace,
        Gaussian,
        Laplace,
        Pure,
        RandomizedResponse,
        Sampled,
    )
}


def to_record(term: Term) -> dict[str, Any]:
    """Return a term as plain JSON values; rationals as exact strings.

    >>> to_record(Laplace(Fraction(1, 10)))
    {'kind': 'laplace', 'epsilon': '1/10'}
    """
    return {"kind": term.kind, **{name: _plain(value) for name, value in parameters(term).items()}}


def _plain(value: Any) -> Any:  # noqa: ANN401 - a parameter of any kind
    if isinstance(value, Fraction):
        return str(value)
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


def _read(value: object, wanted: object, name: str) -> Fraction | int | bool | Term:
    try:
        if wanted is Term and isinstance(value, dict) and value.get("kind") != Sampled.kind:
            return from_record(value)
        if wanted is bool and isinstance(value, bool):
            return value
        if wanted is int and isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        if wanted is Fraction and isinstance(value, str) and RATIONAL.fullmatch(value):
            return Fraction(value)
    except (ValueError, ZeroDivisionError):
        pass
    raise UnknownKind(f"{name} does not hold a number that this kind can have; the record was not read.")
