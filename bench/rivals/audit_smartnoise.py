"""SmartNoise SQL on pandas under our auditor; run by ``bench/rivals_audit.py``, prints JSON.

Its search for a noise scale, a function of bounds and epsilon alone, is remembered: each query repeats it otherwise.
"""

from functools import cache
from typing import Any

import pandas as pd
import snsql
from audit_case import Case, PrivacyLoss, main
from snsql.sql._mechanisms.laplace import Laplace

Rows = tuple[tuple[str, Any], ...]
RELATION = "add or remove one row"
TRUSTED = "its README says that SmartNoise is intended where the analyst is trusted by the data owner"
BUDGET = "epsilon per statistic, and delta per query for the threshold of rare keys"
DRAWS = 1500
FEW = 200
"""Draws on each side where every draw tells the two apart."""

COUNT, SUM = "SELECT COUNT(*) AS n FROM S.T", "SELECT SUM(x) AS n FROM S.T"
KEYS = "SELECT k, COUNT(*) AS n FROM S.T GROUP BY k"

search = Laplace._compute_noise_scale  # noqa: SLF001 - to remember what it finds
scales: dict[tuple[Any, ...], float] = {}


def remembered(self: Laplace) -> None:
    """Search once for each set of public parameters."""
    key = (self.lower, self.upper, self.max_contrib, self.epsilon)
    if key not in scales:
        search(self)
        scales[key] = self.scale
    self.scale = scales[key]


Laplace._compute_noise_scale = remembered  # noqa: SLF001


@cache
def reader(rows: Rows, delta: float, censor: bool) -> Any:
    """Return a private reader of a table with a key and a value between 0 and 10; one row is one person."""
    table = {
        "row_privacy": True,
        "censor_dims": censor,
        "clamp_counts": False,
        "k": {"type": "string"},
        "x": {"type": "int", "lower": 0, "upper": 10},
    }
    frame = pd.DataFrame({"k": [row[0] for row in rows], "x": [row[1] for row in rows]})
    return snsql.from_df(frame, privacy=snsql.Privacy(epsilon=1.0, delta=delta), metadata={"": {"S": {"T": table}}})


def number(query: str) -> Any:
    """Return how to release one number."""
    return lambda rows: reader(rows, 1e-6, False).execute(query)[1][0]


def keys(rows: Rows) -> list[str]:
    """Release the keys that are not censored."""
    return sorted(row[0] for row in reader(rows, 0.1, True).execute(KEYS)[1:])


def cases() -> list[Case]:
    """Return what should hold, and what is documented."""
    some: Rows = (("a", 2),) * 20
    shared = {"claims": PrivacyLoss.pure(1), "relation": RELATION, "says": BUDGET, "draws": DRAWS}
    return [
        Case(name="COUNT", release=number(COUNT), neighbours=(some, (*some, ("a", 2))), pair="20 rows, 21", **shared),
        Case(
            name="SUM",
            release=number(SUM),
            neighbours=(some, (*some, ("a", 10))),
            pair="20 times 2, and a 10 more; bounds 0 and 10",
            **shared,
        ),
        Case(
            name="SUM, value out of bounds",
            release=number(SUM),
            neighbours=(some, (*some, ("a", -(2**63)))),
            pair="20 times 2, and -2^63 more; bounds 0 and 10",
            **shared,
        ),
        Case(
            name="rare key, censored",
            release=keys,
            neighbours=(some, (*some, ("b", 2))),
            claims=PrivacyLoss.approximate(1, 0.1),
            delta=0.1,
            relation=RELATION,
            pair="20 rows of one key, and one row of another",
            says=BUDGET,
            draws=DRAWS // 2,
        ),
        Case(
            name="rare key, censor_dims off",
            release=lambda rows: sorted(row[0] for row in reader(rows, 0.1, False).execute(KEYS)[1:]),
            neighbours=(some, (*some, ("b", 2))),
            claims=PrivacyLoss.approximate(1, 0.1),
            delta=0.1,
            relation=RELATION,
            pair="20 rows of one key, and one row of another",
            says="censor_dims is on by default; off is for keys that are public: no claim is broken",
            known="its documentation of censor_dims",
            draws=FEW,
        ),
    ]


if __name__ == "__main__":
    main("smartnoise-sql", cases())
