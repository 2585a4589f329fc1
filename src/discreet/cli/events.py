"""Events of dp-accounting as they print themselves: ``SelfComposedDpEvent(event=..., count=1000)``.

The text is parsed and built from a list of known events; it is never evaluated, and dp-accounting is not needed.
"""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.accounting import PrivacyLoss
from discreet.errors import DiscreetError, InvalidInput
from discreet.exact import Real, positive, probability

__all__ = ["Event", "looks_like_event", "parse_event"]

LONGEST = 100_000
MOST = 10**12

Noise = Callable[[Fraction], PrivacyLoss]
"""The loss of an event whose noise is multiplied by a factor."""


@dataclass(frozen=True, slots=True)
class Event:
    """What is repeated and how often; ``noises`` are the noise multipliers named, ``fixed`` says one has no noise."""

    step: Noise
    count: int
    noises: tuple[float, ...]
    fixed: bool


def looks_like_event(text: str) -> bool:
    """Tell whether a text is the print of an event, rather than a table of settings.

    >>> looks_like_event("GaussianDpEvent(noise_multiplier=1.1)"), looks_like_event("delta = 1e-5")
    (True, False)
    """
    return re.match(r"\s*[\w.]{0,80}DpEvent\(", text) is not None


def parse_event(text: str) -> Event:
    """Return the loss that an event describes.

    >>> event = parse_event("SelfComposedDpEvent(event=GaussianDpEvent(noise_multiplier=2.0), count=10)")
    >>> event.step(Fraction(1)), event.count
    (PrivacyLoss.gaussian(mu_squared=0.25), 10)
    """
    if len(text) > LONGEST:
        raise InvalidInput(f"an event is written in at most {LONGEST:,} characters.")
    reader = _Reader()
    try:
        node = ast.parse(text.strip(), mode="eval").body
        count = 1
        while (found := reader.self_composed(node)) is not None:
            node, times = found
            count *= times
        make = reader.event(node)
        if count * max((copies for _, copies in make(Fraction(1)).terms), default=1) > MOST:
            raise InvalidInput(f"an event is repeated at most {MOST:,} times.")
    except (SyntaxError, RecursionError, MemoryError):
        raise InvalidInput("this is not an event. Write what repr(event) prints, such as " + EXAMPLE) from None
    except (TypeError, ValueError, ArithmeticError) as error:
        if isinstance(error, DiscreetError):
            raise
        raise InvalidInput(f"this does not describe an event: {error}.") from None
    return Event(make, count, tuple(reader.noises), reader.fixed)


EXAMPLE = "PoissonSampledDpEvent(sampling_probability=0.01, event=GaussianDpEvent(noise_multiplier=1.1))."
FIELDS: dict[str, tuple[str, ...]] = {
    "NoOpDpEvent": (),
    "GaussianDpEvent": ("noise_multiplier",),
    "LaplaceDpEvent": ("noise_multiplier",),
    "EpsilonDeltaDpEvent": ("epsilon", "delta"),
    "PoissonSampledDpEvent": ("sampling_probability", "event"),
    "SelfComposedDpEvent": ("event", "count"),
    "ComposedDpEvent": ("events",),
}


class _Reader:
    """Builds losses from a syntax tree and remembers the noise it saw."""

    def __init__(self) -> None:
        self.noises: list[float] = []
        self.fixed = False

    def self_composed(self, node: ast.expr) -> tuple[ast.expr, int] | None:
        if _name(node) != "SelfComposedDpEvent":
            return None
        fields = _fields(node)
        return fields["event"], _count(fields["count"])

    def event(self, node: ast.expr) -> Noise:
        name = _name(node)
        fields = _fields(node)
        if name in ("GaussianDpEvent", "LaplaceDpEvent"):
            noise = positive(_number(fields["noise_multiplier"]), "noise_multiplier")
            self.noises.append(float(noise))
            make = PrivacyLoss.gaussian if name == "GaussianDpEvent" else PrivacyLoss.laplace
            return lambda factor: make(1 / (factor * noise))
        if name == "EpsilonDeltaDpEvent":
            known = PrivacyLoss.approximate(_number(fields["epsilon"]), _number(fields["delta"]))
            self.fixed = True
            return lambda _: known
        if name == "PoissonSampledDpEvent":
            rate = probability(_number(fields["sampling_probability"]), "sampling_probability", one=True)
            inner = self.event(fields["event"])
            return lambda factor: inner(factor).sampled(rate)
        if name == "SelfComposedDpEvent":
            part, count = self.event(fields["event"]), _count(fields["count"])
            return lambda factor: count * part(factor)
        if name == "ComposedDpEvent":
            listed = fields["events"]
            if not isinstance(listed, ast.List | ast.Tuple):
                raise InvalidInput("events must be a list of events.")
            parts = [self.event(part) for part in listed.elts]
            return lambda factor: sum((part(factor) for part in parts), PrivacyLoss())
        return lambda _: PrivacyLoss()


def _name(node: ast.expr) -> str:
    """Return the name of an event, with or without its module before it."""
    function: Any = node.func if isinstance(node, ast.Call) else None
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name not in FIELDS:
        seen = f"{name!r}" if name else "something that is no event"
        raise InvalidInput(f"an event must be one of {', '.join(FIELDS)}; got {seen}.")
    return str(name)


def _fields(node: ast.expr) -> dict[str, ast.expr]:
    name = _name(node)
    assert isinstance(node, ast.Call)  # noqa: S101 - _name has seen to it
    wanted = FIELDS[name]
    given = dict(zip(wanted, node.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
    if set(given) != set(wanted) or len(node.args) + len(node.keywords) != len(wanted):
        raise InvalidInput(f"{name} has the fields {', '.join(wanted) or 'none'}; write each of them once.")
    return given


def _number(node: ast.expr) -> Real:
    """Return a number, also as numpy prints it: ``np.float64(0.01)``."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return Fraction(_number(left)) / Fraction(_number(right))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr="float64" | "float32" | "int64"), args=[inner]):
            return _number(inner)
    raise InvalidInput(f"a number was expected in an event, got {ast.unparse(node)[:40]!r}.")


def _count(node: ast.expr) -> int:
    value = _number(node)
    if value != int(value) or not 1 <= value <= MOST:
        raise InvalidInput(f"count must be a whole number from 1 to {MOST:,}, got {value}.")
    return int(value)
