"""An entry for a registry of deployments of differential privacy: what readers of other releases compare.

The questions follow Dwork, Kohli and Mulligan, "Differential Privacy in Practice: Expose your Epsilons!", Journal of
Privacy and Confidentiality 2019: what is protected, how much may be learned, by which mechanisms, counted how.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.publishing.file import ReleaseFile
from discreet.session import Answer
from discreet.units import Person, Row

__all__ = ["derived_entry", "registry_entry"]


def registry_entry(file: ReleaseFile, answers: Sequence[Answer], epsilon: float, delta: float) -> dict[str, Any]:
    """Return the entry of a publication, made of what is public already."""
    return derived_entry(
        title=file.title,
        dataset=file.dataset.name,
        unit=file.protected,
        filter_name=str(file.budget.budget.filter),
        answers={entry.name: answer for entry, answer in zip(file.releases, answers, strict=True)},
        epsilon=epsilon,
        delta=delta,
    )


def derived_entry(
    *,
    title: str,
    dataset: str,
    unit: Row | Person,
    filter_name: str,
    answers: Mapping[str, Answer],
    epsilon: float,
    delta: float,
) -> dict[str, Any]:
    """Return the one entry that follows from the rest of a certificate: whoever reads one compares it."""
    persons = isinstance(unit, Person)
    joint = any("together" in answer.parameters for answer in answers.values())
    exact = {name: answer.parameters["exact"] for name, answer in answers.items() if answer.parameters.get("exact")}
    return {
        "name": title,
        "dataset": dataset,
        "unit": f"a person, by {unit.key}" if isinstance(unit, Person) else "a row",
        "relation": unit.relation,
        "model": "central: the curator holds the data and adds the noise",
        "parameters": {"epsilon": epsilon, "delta": delta},
        "mechanisms": [
            {
                "release": name,
                "columns": {column: estimates.method for column, estimates in answer.columns.items()},
                "groups": str(answer.parameters.get("keys") or "one"),
                "threshold": answer.parameters.get("threshold"),
            }
            for name, answer in answers.items()
        ],
        "accounting": {
            "of_this_release": "numerical composition of all parts, declared at once",
            "of_the_dataset": f"filter {filter_name}, valid under full adaptivity",
        },
        "contribution_bounding": {
            "groups": unit.groups if isinstance(unit, Person) else 1,
            "rows_per_group": unit.rows if isinstance(unit, Person) else 1,
            "values": "clamped to declared bounds",
            "how": "rows beyond the bound weigh less, groups beyond it are left out" if persons else "one row each",
        },
        "post_processing": "ratios of noisy sums and counts, clamped to their bounds; HAVING, ORDER BY and LIMIT"
        + ("; least squares, non-negativity and rounding of counts that are answered together" if joint else ""),
        **({"exact": exact} if exact else {}),
        "private": all(answer.private for answer in answers.values()),
    }
