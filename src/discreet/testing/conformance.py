"""``check_mechanism``: what every mechanism must be able to show, told to its author in sentences.

The statistical checks use a fixed number of draws from the secure source and raise a false alarm with probability below
``FALSE_ALARM`` each.
"""

import dataclasses
import inspect
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import mechanisms
from discreet.accounting import PrivacyLoss
from discreet.exact import log2_floor
from discreet.mechanisms import Mechanism, Records, Shift
from discreet.noise.fast import Floats
from discreet.testing.rebuild import rebuild

__all__ = ["Conformance", "check_mechanism"]

DRAWS = 4000
FALSE_ALARM = 1e-9
POOLED = 50
"""Expected releases per cell of the chi-square test, enough for its tail to be near the stated one."""
TOLERANCE = 1e-9
EPSILONS = (0.0, 0.25, 0.5, 0.9, 1.0)
"""Where the exact claim is checked, as fractions of the epsilon that holds with delta 1e-6."""


@dataclasses.dataclass(frozen=True, slots=True)
class Conformance:
    """Which checks were made, and which could not be and why."""

    passed: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]


class _Skip(Exception):
    """A check that does not apply."""


def check_mechanism(
    mechanism: Mechanism[Any, Any],
    *,
    outputs: Iterable[Any] | None = None,
    neighbours: tuple[Any, Any] | None = None,
) -> Conformance:
    """Check that a mechanism keeps the contract; an AssertionError says what is missing.

    ``neighbours`` replaces ``mechanism.worst_case()``. With ``outputs``, all outputs that these neighbours can give but
    for a negligible rest, the claim is checked exactly; whole-number, selection and grid mechanisms need no list.

    >>> from discreet import Geometric
    >>> check_mechanism(Geometric(sensitivity=1, epsilon=0.5)).skipped
    ()
    """
    pair = neighbours or _worst_case(mechanism)
    checks: dict[str, Callable[[], None]] = {
        "interface": lambda: _interface(mechanism),
        "frozen": lambda: _frozen(mechanism),
        "keyword-only": lambda: _keyword_only(mechanism),
        "repr": lambda: _repr_rebuilds(mechanism),
        "loss": lambda: _loss_is_a_value(mechanism),
        "shape": lambda: _keeps_shape(mechanism),
        "error": lambda: _error_holds(mechanism),
        "claim": lambda: _claim_holds(mechanism, pair, outputs),
        "law": lambda: _law_is_drawn(mechanism, pair, outputs),
    }
    passed, skipped = [], []
    for name, check in checks.items():
        try:
            check()
            passed.append(name)
        except _Skip as reason:
            skipped.append((name, str(reason)))
    return Conformance(tuple(passed), tuple(skipped))


def _interface(mechanism: Mechanism[Any, Any]) -> None:
    for face in ("domain", "loss", "release"):
        assert hasattr(mechanism, face), f"a mechanism has .{face}; {type(mechanism).__name__} has none."
    assert isinstance(mechanism.domain, Shift | Records), ".domain must be a Shift or Records: what are neighbours?"
    assert isinstance(mechanism.loss, PrivacyLoss), ".loss must be a PrivacyLoss."
    assert "Satisfies" in (type(mechanism).__doc__ or ""), (
        "the docstring states the guarantee in one sentence: 'Satisfies ... whenever ...'."
    )


def _frozen(mechanism: Any) -> None:  # noqa: ANN401 - it may not even be a dataclass
    assert dataclasses.is_dataclass(mechanism), "a mechanism is a dataclass(frozen=True, slots=True, kw_only=True)."
    for field in dataclasses.fields(mechanism):
        try:
            setattr(mechanism, field.name, getattr(mechanism, field.name))
        except (AttributeError, TypeError):
            continue
        raise AssertionError(f"{field.name} can be changed after the loss was read: make the dataclass frozen.")


def _keyword_only(mechanism: Mechanism[Any, Any]) -> None:
    for name, parameter in inspect.signature(type(mechanism)).parameters.items():
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY, f"{name} must be keyword-only: add kw_only=True."


def _repr_rebuilds(mechanism: Mechanism[Any, Any]) -> None:
    text = repr(mechanism)
    if "<" in text:
        raise _Skip("it holds a function, which has no literal form")
    names = {**vars(mechanisms), **_classes_in(mechanism), "Fraction": Fraction}
    assert rebuild(text, names) == mechanism, f"the repr does not give the mechanism back: {text}."


def _classes_in(value: object) -> dict[str, type]:
    """Return the class of a value and of all that it is made of, by name: what its repr may call."""
    found = {type(value).__name__: type(value)}
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            found |= _classes_in(getattr(value, field.name))
    elif isinstance(value, tuple | list):
        for part in value:
            found |= _classes_in(part)
    return found


def _loss_is_a_value(mechanism: Mechanism[Any, Any]) -> None:
    loss = mechanism.loss
    assert PrivacyLoss.from_json(loss.to_json()) == loss, "the loss does not survive its JSON."
    assert loss == mechanism.loss, "two readings of .loss differ."
    if isinstance(mechanism.domain, Records):
        assert loss.relation == mechanism.domain.relation, "a mechanism on records says its relation: loss.under(...)."


def _keeps_shape(mechanism: Mechanism[Any, Any]) -> None:
    domain = mechanism.domain
    if not isinstance(domain, Shift) or math.isinf(domain.norm):
        raise _Skip("its output has a form of its own")
    kind: type = int if domain.whole else float
    assert type(mechanism.release(kind(3))) is kind, f"a Python {kind.__name__} in must give a {kind.__name__} out."
    if "array" not in str(inspect.signature(mechanism.release)).lower():
        return
    table = np.zeros((2, 3), dtype=np.int64 if domain.whole else np.float64)
    released = mechanism.release(table)
    assert released.shape == table.shape, "an array keeps its shape."
    assert released.dtype == table.dtype, "an array keeps its type."


def _error_holds(mechanism: Mechanism[Any, Any]) -> None:
    error = getattr(mechanism, "error", None)
    if error is None or not isinstance(mechanism.domain, Shift) or math.isinf(mechanism.domain.norm):
        raise _Skip("it promises no error about a value")
    beta = 0.05
    draws = np.array([float(mechanism.release(0)) for _ in range(DRAWS)])
    misses = int(np.sum(np.abs(draws) > error(beta)))
    assert _binomial_tail(misses, DRAWS, beta) > FALSE_ALARM, (
        f"error({beta}) was exceeded in {misses} of {DRAWS} releases; at most about {beta:.0%} may be."
    )


def _claim_holds(mechanism: Mechanism[Any, Any], pair: tuple[Any, Any] | None, outputs: Iterable[Any] | None) -> None:
    twin, support = _enumerable(mechanism, pair, outputs)
    assert pair is not None
    p, q = (np.exp([twin.log_probability(x, y) for y in support]) for x in pair)
    for law in (p, q):
        assert abs(law.sum() - 1) < TOLERANCE, f"log_probability sums to {law.sum()} over all outputs."
    loss = mechanism.loss
    top = loss.epsilon(1e-6)
    for epsilon in (share * (top if math.isfinite(top) else 1.0) for share in EPSILONS):
        seen = max(float(np.maximum(a - math.exp(epsilon) * b, 0).sum()) for a, b in ((p, q), (q, p)))
        claim = loss.delta(epsilon)
        assert seen <= claim + TOLERANCE, f"delta({epsilon:.4g}) is {seen:.6g} on the worst case, claimed {claim:.6g}."


def _law_is_drawn(mechanism: Mechanism[Any, Any], pair: tuple[Any, Any] | None, outputs: Iterable[Any] | None) -> None:
    twin, support = _enumerable(mechanism, pair, outputs)
    assert pair is not None
    x = pair[0]
    law = {y: math.exp(twin.log_probability(x, y)) for y in support}
    _follows(law, Counter(twin.release(x) for _ in range(DRAWS)), "releases")
    many = getattr(twin, "draws", None)
    if many is not None:
        made = many(x, DRAWS)
        assert len(made) == DRAWS, f"draws(x, {DRAWS}) gives {len(made)} releases."
        _follows(law, Counter(made.tolist() if isinstance(made, np.ndarray) else made), "draws")


def _follows(law: dict[Any, float], drawn: Counter[Any], name: str) -> None:
    strays = sum(count for y, count in drawn.items() if y not in law)
    assert _binomial_tail(strays, DRAWS, TOLERANCE) > FALSE_ALARM, f"{strays} of {DRAWS} {name} are no listed output."
    seen, expected = _pooled([(drawn[y], DRAWS * p) for y, p in law.items()])
    statistic = float(np.sum((seen - expected) ** 2 / expected))
    assert _chi_square_tail(statistic, len(seen) - 1) > FALSE_ALARM, (
        f"{name} do not follow log_probability: chi-square {statistic:.0f} with {len(seen) - 1} degrees of freedom."
    )


def _pooled(cells: list[tuple[float, float]]) -> tuple[Floats, Floats]:
    """Join neighbouring outputs, in the order they are listed, until each cell expects ``POOLED`` releases."""
    pools = [[0.0, 0.0]]
    for seen, expected in cells:
        if pools[-1][1] >= POOLED:
            pools.append([0.0, 0.0])
        pools[-1][0] += seen
        pools[-1][1] += expected
    if len(pools) > 1 and pools[-1][1] < POOLED:
        last = pools.pop()
        pools[-1] = [pools[-1][0] + last[0], pools[-1][1] + last[1]]
    seen_, expected_ = np.array(pools).T
    return seen_, expected_


def _worst_case(mechanism: Mechanism[Any, Any]) -> tuple[Any, Any] | None:
    face = getattr(mechanism, "worst_case", None)
    return None if face is None else face()


def _enumerable(
    mechanism: Mechanism[Any, Any], pair: tuple[Any, Any] | None, outputs: Iterable[Any] | None
) -> tuple[Any, Sequence[Any]]:
    """Return the mechanism, or a twin on a coarse grid, and all its outputs but a negligible rest."""
    if pair is None or not hasattr(mechanism, "log_probability"):
        raise _Skip("it does not tell log_probability and worst_case")
    if outputs is not None:
        return mechanism, list(outputs)
    domain = mechanism.domain
    if isinstance(domain, Shift) and math.isinf(domain.norm):
        return mechanism, range(len(pair[0]))
    if isinstance(domain, Records):
        if domain.bounds is None or not isinstance(pair[0], int):
            raise _Skip("its outputs cannot be listed; pass outputs=")
        return mechanism, range(int(domain.bounds[0]), int(domain.bounds[1]) + 1)
    if hasattr(mechanism, "size"):
        return mechanism, range(mechanism.size + 1)
    reach = mechanism.error(1e-12) + max(abs(x) for x in pair)  # type: ignore[attr-defined]
    if domain.whole:
        if reach > 1e5:
            raise _Skip("it has too many outputs to list; check one with less noise")
        return mechanism, range(-int(reach), int(reach) + 1)
    return _coarse(mechanism, reach)


def _coarse(mechanism: Any, reach: float) -> tuple[Any, Sequence[float]]:  # noqa: ANN401
    """Return a twin on a grid of a few thousand points; post-processing, so its loss cannot be larger."""
    if not hasattr(mechanism, "grid"):
        raise _Skip("its outputs cannot be listed; pass outputs=")
    step = float(Fraction(2) ** log2_floor(Fraction(reach / 1000)))
    noise = {"sigma": mechanism.sigma} if hasattr(mechanism, "sigma") else {"scale": mechanism.scale}
    twin = type(mechanism)(sensitivity=mechanism.sensitivity, grid=step, **noise)
    count = math.ceil(reach / step)
    return twin, [k * step for k in range(-count, count + 1)]


def _binomial_tail(successes: int, trials: int, p: float) -> float:
    """Return the probability of at least so many successes."""
    from scipy.special import bdtrc

    return 1.0 if successes == 0 else float(bdtrc(successes - 1, trials, min(max(p, 0.0), 1.0)))


def _chi_square_tail(statistic: float, degrees: int) -> float:
    """Return the probability of a larger statistic under the law, with a safety factor for its approximate tail."""
    from scipy.special import chdtrc

    return 1.0 if degrees < 1 else 1e3 * float(chdtrc(degrees, statistic))
