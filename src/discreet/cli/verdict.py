"""What a training run really costs, beside what other accountants would say of it."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.accounting import PrivacyLoss, calibrate, theorems
from discreet.accounting.growth import near_the_best
from discreet.accounting.terms import Gaussian, Sampled
from discreet.cli.configuration import Configuration
from discreet.errors import InvalidParameter, NoTheorem
from discreet.report.words import share

__all__ = ["Verdict", "as_record", "as_text", "judge"]

MANY = 10
"""A run with more settings than this is asked for whole orders, which are quick, and then for a few near the best."""

WHOLE = (*range(2, 21), 24, 28, 32, 40, 48, 64, 96, 128, 256)
ROUNDS = 4
MOST_SEARCHED = 100
"""For more settings than this no other noise is looked for: each trial accounts for all of them anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Certified bounds, the Renyi accountant's epsilon and what its excess is worth in noise.

    ``factor`` is how much noise reaches the epsilon that Renyi accounting would have claimed, ``for_target`` how much
    reaches the target; both are parts of the noise in the file. ``limit`` is the central limit, no bound of any kind.
    """

    delta: float
    epsilon: float
    lower: float
    renyi: float | None
    limit: float | None
    factor: float | None
    for_target: float | None
    warnings: tuple[str, ...]


def judge(run: Configuration) -> Verdict:
    """Return what is certain about a run at its delta."""
    if run.delta is None:
        raise InvalidParameter("delta is missing. Write it into the file, or say --delta 1e-5.")
    loss, delta = run.loss(), Fraction(run.delta)
    lower, upper = loss.bounds(delta)
    renyi = _renyi(loss, delta)
    searched = bool(run.noises) and not run.fixed and len(loss.terms) <= MOST_SEARCHED
    factor = target = None
    if searched and renyi is not None and upper < renyi < math.inf:
        factor = min(1.0, calibrate(run.loss, renyi, delta))
    if searched and run.target is not None:
        target = calibrate(run.loss, run.target, delta)
    limit = _limit(run, delta)
    return Verdict(
        delta=run.delta,
        epsilon=upper,
        lower=lower,
        renyi=renyi,
        limit=limit,
        factor=factor,
        for_target=target,
        warnings=tuple(_warnings(run, lower, upper, limit)),
    )


def _renyi(loss: PrivacyLoss, delta: Fraction) -> float | None:
    try:
        if len(loss.terms) <= MANY:
            return float(theorems.renyi_epsilon(loss.renyi, delta, conversion="improved").epsilon)
        return near_the_best(
            lambda order: theorems.improved_conversion(order, loss.renyi(order), delta), WHOLE, rounds=ROUNDS
        )
    except (NoTheorem, InvalidParameter):
        return None


def _limit(run: Configuration, delta: Fraction) -> float | None:
    """Return what the central limit says, as Opacus calls it: GDP."""
    (term, count), *others = run.loss().terms or ((None, 0),)
    if others or not isinstance(term, Sampled) or not isinstance(term.base, Gaussian):
        return None
    noise = 1 / math.sqrt(term.base.mu_squared)
    return theorems.sampled_gaussian_limit(rate=term.rate, noise_multiplier=noise, steps=count).epsilon(delta)


def _warnings(run: Configuration, lower: float, upper: float, limit: float | None) -> list[str]:
    found = []
    if run.reported is not None and run.reported < lower:
        who = f"the {run.accountant} accountant" if run.accountant else "the accountant"
        found.append(
            f"The reported epsilon {run.reported:.6g} is below {_below(lower)}, which is certain: {who} promises more "
            f"privacy than there is. Report {_above(upper)}."
        )
    elif run.accountant == "gdp" and limit is not None and limit < lower:
        found.append(
            f"The gdp accountant would report about {limit:.4g}, which is below {_below(lower)}, which is certain: it "
            f"is an approximation that promises more privacy than there is. Report {_above(upper)}."
        )
    if run.target is not None and upper > run.target:
        found.append(f"The target epsilon {run.target:.6g} is missed: the run costs {_above(upper)}.")
    return found


def as_record(run: Configuration, verdict: Verdict) -> dict[str, Any]:
    """Return the verdict as plain data for JSON."""
    return {
        "steps": run.steps,
        "noise_multiplier": list(run.noises),
        "delta": verdict.delta,
        "epsilon": verdict.epsilon,
        "at_least": verdict.lower,
        "renyi": verdict.renyi,
        "central_limit_without_direction": verdict.limit,
        "reported": run.reported,
        "accountant": run.accountant,
        "target": run.target,
        "noise_for_the_renyi_epsilon": _scaled(run, verdict.factor),
        "noise_saved": None if verdict.factor is None else 1 - verdict.factor,
        "noise_for_the_target": _scaled(run, verdict.for_target),
        "warnings": list(verdict.warnings),
    }


def _scaled(run: Configuration, factor: float | None) -> list[float] | None:
    return None if factor is None else [factor * noise for noise in run.noises]


def as_text(run: Configuration, verdict: Verdict) -> str:
    """Return the verdict in lines for people."""
    rows = [
        (
            "costs",
            f"epsilon {_above(verdict.epsilon)}",
            f"proven; no accountant can prove less than {_below(verdict.lower)}",
        )
    ]
    if verdict.renyi is not None:
        excess = max(verdict.renyi / verdict.epsilon - 1, 0.0) if verdict.epsilon else 0.0
        rows.append(("Renyi accounting says", f"epsilon {_above(verdict.renyi)}", f"{share(excess)} more"))
    if verdict.limit is not None:
        side = "below the truth" if verdict.limit < verdict.lower else "above the truth"
        rows.append(("central limit (GDP)", f"about {verdict.limit:.4g}", f"an approximation; here {side}"))
    if run.reported is not None:
        said = f"by {run.accountant}" if run.accountant else ""
        more = (
            f"{share(run.reported / verdict.epsilon - 1)} more than it costs" if run.reported > verdict.epsilon else ""
        )
        rows.append(("reported", f"epsilon {run.reported:.6g}", ", ".join(filter(None, (said, more)))))
    if verdict.factor is not None:
        rows.append(
            (
                f"noise for {_above(verdict.renyi or 0.0)}",
                _noise(run, verdict.factor),
                f"{share(1 - verdict.factor)} less, for the epsilon that Renyi accounting claims",
            )
        )
    if verdict.for_target is not None:
        rows.append((f"noise for {run.target:g}", _noise(run, verdict.for_target), "meets the target"))
    widths = [max(len(row[i]) for row in rows) for i in (0, 1)]
    lines = [f"{run.words}, delta {verdict.delta:g}", ""]
    lines += [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}".rstrip() for a, b, c in rows]
    return "\n".join(lines)


def _noise(run: Configuration, factor: float) -> str:
    return f"multiplier {factor * run.noises[0]:.4g}" if len(set(run.noises)) == 1 else f"{factor:.4g} times as much"


def _above(value: float) -> str:
    """Write a cost with four decimals, rounded up but for the last bits."""
    return "infinite" if math.isinf(value) else f"{math.ceil(value * (1 - 1e-12) * 1e4) / 1e4:.4f}"


def _below(value: float) -> str:
    """Write a lower bound with four decimals, rounded down."""
    return "infinite" if math.isinf(value) else f"{math.floor(value * 1e4) / 1e4:.4f}"
