"""What a release may spend: a part of what its file spends, or an epsilon of its own."""

import re
from fractions import Fraction
from typing import Annotated, Any

from pydantic import Discriminator, Field, PlainValidator, Tag, WithJsonSchema

from discreet.publishing.marked import Number
from discreet.publishing.written import Delta, Part, Positive, refuse

__all__ = ["Amount", "Share", "Spend"]

PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%", re.ASCII)


class Amount(Part):
    """An epsilon, and for a whole file perhaps a delta."""

    epsilon: Positive = Field(description="How much may be spent", examples=[0.5])
    delta: Delta | None = Field(default=None, description="The delta that goes with it", examples=[1e-7])


def _share(value: object) -> Fraction:
    found = PERCENT.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        refuse("it is not clear whether this is a part or an epsilon.", f"Write {_instead(value)}.")
    share = Fraction(found[1]) / 100
    if not 0 < share <= 1:
        refuse("a part lies above 0% and is at most 100%.", "Write one such as 40%.")
    return share


def _instead(value: object) -> str:
    """Return both things that a bare number may mean."""
    if not isinstance(value, Number) or not 0 < value <= 100:
        return "40% or {epsilon: 0.4}"
    percent = value if value >= 1 else (100 * value).normalize()
    return f"{percent:f}% or {{epsilon: {value.text}}}"


Share = Annotated[
    Fraction, PlainValidator(_share), WithJsonSchema({"type": "string", "pattern": r"^\s*\d+(\.\d+)?\s*%\s*$"})
]
"""A part of what the file spends, as 40%."""


def _kind(value: Any) -> str:  # noqa: ANN401  whatever the file holds
    return "<amount>" if isinstance(value, dict | Amount) else "<share>"


Spend = Annotated[Annotated[Share, Tag("<share>")] | Annotated[Amount, Tag("<amount>")], Discriminator(_kind)]
"""A part, or an epsilon of its own."""
