"""What a certificate states beside its losses: errors, which are computed again, and what is the curator's word.

A stated error is compared with the interval of every value, and for counts and sums that stand alone with the noise of
a term of the loss, whose quantile it is at the stated level.
"""

import math
from typing import Any

from discreet.accounting.terms import DiscreteGaussian, DiscreteLaplace
from discreet.publishing.certificate import Certificate, Certified
from discreet.publishing.told import NOISE, terms_of
from discreet.session.noise import Noise, Reach

__all__ = ["STATED", "problem_of_delta", "problem_of_errors"]

STATED = {
    "what made it, for whom, and when": (
        *("made_with", "date", "dataset.version", "dataset.size", "releases.*.title"),
    ),
    "where it was charged: the ledger itself says so": ("ledger.id", "ledger.entry", "ledger.hash"),
    "hashes of files, compared where the files are": (
        *("files.release.yaml", "files.report.html", "releases.*.files.*.parquet"),
    ),
    "costs that are upper bounds, and may be stated too high": ("releases.*.epsilon",),
    "how often intervals hold, compared with the file of the curator where that is": ("releases.*.answer.level",),
    "how the cost was shared out": ("releases.*.answer.parameters.delta", "releases.*.answer.parameters.split.*"),
    "words for readers": (
        *("releases.*.answer.columns.*.unit_note", "releases.*.answer.notes.*", "releases.*.answer.parameters.reason"),
    ),
    "how cells are coded and what models were fitted to": tuple(
        f"releases.*.answer.parameters.{name}"
        for name in ("areas", "shares", "cells", "edges.*", "labels.*", "types.*", "measured.*")
    ),
}
"""Fields, by what they say, that are taken as the curator states them: they do not follow from the rest."""


def problem_of_errors(one: Certified) -> str:
    """Return which stated error is not that of its intervals, or of no noise of the release; nothing if all are."""
    alone = "together" not in one.answer.parameters and "selection" not in one.answer.parameters
    for name, column in one.answer.columns.items():
        error = column.error
        if error is None:
            if alone and column.method and _half_width(column) in _errors(one, column.method):
                return f"the error of {name} is missing"
            continue
        for value, low, high in zip(column.value, column.low, column.high, strict=True):
            if isinstance(value, int | float) and low is not None and high is not None:
                slack = 1e-9 * max(1.0, abs(float(value)), float(error))
                if max(abs(float(value - low - error)), abs(float(high - value - error))) > slack:
                    return f"the error of {name} is not that of its intervals"
        if alone and column.method and error not in _errors(one, column.method):
            return f"the error of {name} is not that of its noise"
        if not column.method and error:
            return f"{name} has an error and no noise"
    return ""


def _half_width(column: Any) -> float | None:  # noqa: ANN401 - a column of an answer
    """Return the half of all intervals of a column, if they have one middle and one width."""
    found = {
        half
        for value, low, high in zip(column.value, column.low, column.high, strict=True)
        if isinstance(value, int | float) and low is not None and high is not None
        for half in (float(value - low), float(high - value))
    }
    return found.pop() if len(found) == 1 else None


def problem_of_delta(one: Certified, certificate: Certificate) -> str:
    """See that no answer was planned with more delta than the budget has."""
    delta: Any = one.answer.parameters["delta"]
    within = 0 <= delta <= float(certificate.budget.delta) * (1 + 1e-9)
    return "" if within else "it was planned with more delta than the budget has"


def _errors(one: Certified, words: str) -> set[Any]:
    """Return the quantiles, at the level of an answer, of each noise of its loss that has these words."""
    found, parsed = set(), NOISE.fullmatch(words)
    told = 0.0 if parsed is None else float(parsed[2].replace(",", ""))
    for term in terms_of(one.loss):
        reach = Reach(1, 0, 1, "add_remove")
        if isinstance(term, DiscreteGaussian):
            noise, size = Noise("gaussian", reach, term.sigma_squared), math.sqrt(float(term.sigma_squared))
        elif isinstance(term, DiscreteLaplace):
            noise, size = Noise("laplace", reach, term.scale), float(term.scale)
        else:
            continue
        step = 2.0 ** round(math.log2(told / size)) if told > 0 else 0.0
        if step and noise.told(step) == words:
            found.add(noise.error(1 - one.answer.level) * step)
    return found
