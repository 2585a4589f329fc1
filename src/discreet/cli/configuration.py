"""Settings of a training run, as Opacus and dp-accounting name them, read from JSON, TOML or the print of an event."""

import json
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.accounting import PrivacyLoss, noise_multiplier
from discreet.cli.events import looks_like_event, parse_event
from discreet.errors import InvalidInput
from discreet.exact import positive, probability

__all__ = ["Configuration", "read_configuration"]

LONGEST = 4_000_000
MOST = 10**12
NAMES = {
    "rate": ("sample_rate", "sampling_probability"),
    "batch": ("batch_size",),
    "people": ("dataset_size", "num_examples"),
    "noise": ("noise_multiplier",),
    "steps": ("steps", "num_steps"),
    "epochs": ("epochs",),
    "delta": ("delta", "target_delta"),
    "target": ("target_epsilon",),
    "reported": ("epsilon", "reported_epsilon"),
    "accountant": ("accountant", "mechanism"),
    "history": ("history",),
    "event": ("event",),
    "poisson": ("poisson_sampling",),
}
HARMLESS = ("max_grad_norm", "l2_norm_clip", "clipping_norm", "secure_mode")
"""Settings that are usual in such files and do not change the cost: noise is measured in units of the norm."""

ACCOUNTANTS = ("rdp", "gdp", "prv", "pld")
EXAMPLE = (
    '{"sample_rate": 0.004, "noise_multiplier": 1.1, "steps": 14000, "delta": 1e-5}, '
    "or batch_size and dataset_size instead of sample_rate, epochs instead of steps"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """A training run: ``step`` is the loss of one step, its noise times a factor; it repeats ``count`` times."""

    step: Callable[[Fraction], PrivacyLoss]
    count: int
    steps: int
    noises: tuple[float, ...]
    rates: tuple[float, ...] = ()
    fixed: bool = False
    delta: float | None = None
    target: float | None = None
    reported: float | None = None
    accountant: str | None = None
    people: int | None = None

    def loss(self, factor: float = 1.0) -> PrivacyLoss:
        """Return the loss of the whole run with all noise multiplied by a factor."""
        return self.count * self.step(Fraction(factor))

    @property
    def words(self) -> str:
        """The run in one line."""
        noise = f"noise multiplier {_range(self.noises)}" if self.noises else "no noise named"
        rate = f", sampling rate {_range(self.rates)}" if self.rates else ""
        return f"{self.steps:,} step{'' if self.steps == 1 else 's'}, {noise}{rate}"


def read_configuration(path: Path, *, delta: float | None = None) -> Configuration:
    """Read a file, or say what is missing in it; ``delta`` is used where the file has none."""
    try:
        if path.stat().st_size > LONGEST:
            raise InvalidInput(f"a configuration has at most {LONGEST:,} bytes, and {path} has more.")
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not text. Write JSON or TOML in UTF-8.") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror or error}).") from None
    settings = {"event": text} if looks_like_event(text) else _table(path, text)
    return _configuration(_renamed(settings), delta)


def _table(path: Path, text: str) -> Mapping[str, Any]:
    if path.suffix.lower() in (".yaml", ".yml"):
        raise InvalidInput(f"{path.name} is YAML. Write the same settings as JSON or TOML: {EXAMPLE}.")
    toml = path.suffix.lower() == ".toml"
    try:
        found = tomllib.loads(text) if toml else json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise InvalidInput(f"{path.name} is nested too deeply to be a configuration.") from None
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{path.name} is not {'TOML' if toml else 'JSON'} ({error}). Write {EXAMPLE}.") from None
    if not isinstance(found, dict):
        raise InvalidInput(f"a configuration is a table of settings. Write {EXAMPLE}.")
    return found


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidInput("a setting stands twice in the configuration; write each once.")
    return found


def _renamed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by our own names; unknown and doubled ones are refused."""
    known = {name: ours for ours, names in NAMES.items() for name in names}
    found: dict[str, Any] = {}
    for name, value in settings.items():
        if name in HARMLESS or value is None:
            continue
        if name not in known:
            raise InvalidInput(
                f"{name[:60]!r} is not a setting that is known here. Known are {', '.join((*known, *HARMLESS))}; "
                "take the others out."
            )
        if known[name] in found:
            raise InvalidInput(f"{' and '.join(NAMES[known[name]])} mean the same; write one of them.")
        found[known[name]] = value
    return found


def _configuration(found: dict[str, Any], delta: float | None) -> Configuration:
    common = _common(found, delta)
    forms = [name for name in ("history", "event") if name in found]
    single = [name for name in ("rate", "batch", "noise", "steps", "epochs", "target") if name in found]
    if len(forms) == 2 or (forms and single):
        raise InvalidInput(
            f"{' and '.join(NAMES[name][0] for name in (*forms, *single))} describe the run twice; keep one of them."
        )
    if found.get("poisson") is False:
        raise InvalidInput(
            "poisson_sampling is false: then no theorem about sampling holds, and every step counts in full. Set it to "
            "true and sample that way, or set sample_rate to 1."
        )
    if "history" in found:
        return _from_history(found["history"], common)
    if "event" in found:
        return _from_event(found["event"], common)
    return _from_settings(found, common)


def _common(found: dict[str, Any], delta: float | None) -> dict[str, Any]:
    given = found.get("delta", delta) if delta is None else delta
    accountant = found.get("accountant")
    if accountant is not None and (not isinstance(accountant, str) or accountant.lower() not in ACCOUNTANTS):
        raise InvalidInput(f"accountant must be one of {', '.join(ACCOUNTANTS)}.")
    reported = found.get("reported")
    return {
        "delta": None if given is None else float(probability(given, "delta")),
        "reported": None if reported is None else float(positive(reported, "epsilon")),
        "accountant": None if accountant is None else accountant.lower(),
        "people": None if "people" not in found else _whole(found["people"], "dataset_size"),
    }


def _from_settings(found: dict[str, Any], common: dict[str, Any]) -> Configuration:
    rate = _rate(found, common["people"])
    if ("steps" in found) == ("epochs" in found):
        raise InvalidInput(f"how long it trains must be said once, by steps or by epochs. Write {EXAMPLE}.")
    epochs = None if "steps" in found else positive(found["epochs"], "epochs")
    steps = _whole(found["steps"], "steps") if epochs is None else max(1, math.ceil(epochs / rate))
    target = None if "target" not in found else float(positive(found["target"], "target_epsilon"))
    if "noise" in found:
        noise = positive(found["noise"], "noise_multiplier")
    elif target is not None and common["delta"] is not None:
        noise = Fraction(noise_multiplier(rate=rate, steps=steps, epsilon=target, delta=common["delta"]))
    else:
        raise InvalidInput(
            "noise_multiplier is missing. Write it, or target_epsilon and delta, and it is found for you."
        )
    return Configuration(
        step=lambda factor: PrivacyLoss.gaussian(mu=1 / (factor * noise)).sampled(rate),
        count=steps,
        steps=steps,
        noises=(float(noise),),
        rates=(float(rate),),
        target=target,
        **common,
    )


def _rate(found: dict[str, Any], people: int | None) -> Fraction:
    if "rate" in found:
        if "batch" in found:
            raise InvalidInput("sample_rate and batch_size say the same; write one of them.")
        return probability(found["rate"], "sample_rate", one=True)
    if "batch" not in found or people is None:
        raise InvalidInput(f"the sampling rate is missing. Write {EXAMPLE}.")
    batch = _whole(found["batch"], "batch_size")
    if batch > people:
        raise InvalidInput(f"batch_size must not exceed dataset_size, got {batch:,} of {people:,}.")
    return Fraction(batch, people)


def _from_history(history: object, common: dict[str, Any]) -> Configuration:
    """Read the history of an Opacus accountant: noise multiplier, sample rate and number of steps, in that order."""
    wanted = "history must list [noise_multiplier, sample_rate, steps], as [[1.1, 0.004, 14000]]"
    if not isinstance(history, list) or not history:
        raise InvalidInput(f"{wanted}.")
    rows = []
    for place, entry in enumerate(history, start=1):
        if not isinstance(entry, list) or len(entry) != 3:
            raise InvalidInput(f"{wanted}; entry {place} is not of that form.")
        noise = positive(entry[0], f"noise_multiplier in entry {place}")
        rate = probability(entry[1], f"sample_rate in entry {place}", one=True)
        rows.append((noise, rate, _whole(entry[2], f"steps in entry {place}")))
    common_count = math.gcd(*(steps for _, _, steps in rows))

    def step(factor: Fraction) -> PrivacyLoss:
        parts = ((steps // common_count) * PrivacyLoss.gaussian(mu=1 / (factor * z)).sampled(q) for z, q, steps in rows)
        return sum(parts, PrivacyLoss())

    return Configuration(
        step=step,
        count=common_count,
        steps=sum(steps for _, _, steps in rows),
        noises=tuple(float(noise) for noise, _, _ in rows),
        rates=tuple(float(rate) for _, rate, _ in rows),
        **common,
    )


def _from_event(event: object, common: dict[str, Any]) -> Configuration:
    if not isinstance(event, str):
        raise InvalidInput("event must be the text that repr(event) prints.")
    parsed = parse_event(event)
    return Configuration(
        step=parsed.step,
        count=parsed.count,
        steps=parsed.count,
        noises=parsed.noises,
        fixed=parsed.fixed,
        **common,
    )


def _whole(value: object, name: str) -> int:
    exact = positive(value, name)
    if exact.denominator != 1 or exact > MOST:
        raise InvalidInput(f"{name} must be a whole number from 1 to {MOST:,}, got {float(exact):g}.")
    return exact.numerator


def _range(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
