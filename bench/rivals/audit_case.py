"""What the scripts ``audit_*.py`` share; they run in a rival's environment with our auditor and print JSON.

The rival is called as its documentation says; our auditor only sees what it returns or raises. ``claims`` is what the
documentation promises, ``known`` the public issue or paper on what is found, and empty where nothing is expected.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent.parent / "src"))

from discreet import PrivacyLoss
from discreet.auditing.audit import MOST, audit

__all__ = ["Case", "Check", "PrivacyLoss", "main"]

ALPHA = 1e-4


@dataclass(frozen=True, kw_only=True)
class Case:
    """One release of a rival on one pair of neighbours."""

    name: str
    release: Callable[[Any], Any]
    neighbours: tuple[Any, Any]
    claims: PrivacyLoss
    relation: str
    pair: str
    says: str
    known: str = ""
    batch: Callable[[Any, int], Any] | None = None
    draws: int = MOST
    delta: float | None = None

    def run(self, seconds: float) -> dict[str, Any]:
        """Audit it; at least one of the neighbours must give a result, for a call that always fails shows nothing."""
        works = [self._works(one) for one in self.neighbours]
        if not any(works):
            return {"verdict": "did not run", "evidence": "it raises on both neighbours"}
        found = audit(
            self.release,
            claims=self.claims,
            neighbours=self.neighbours,
            batch=self.batch,
            seconds=seconds,
            alpha=ALPHA,
            draws=self.draws,
            delta=self.delta,
        )
        return {
            "verdict": "refuted" if found.refuted else "not refuted",
            "claimed": found.claimed,
            "delta": found.delta,
            "at_least": found.epsilon,
            "evidence": str(found.evidence),
            "draws": found.draws,
            "slack": min(found.slack, 99.0),
        }

    def _works(self, data: Any) -> bool:
        try:
            self.release(data)
        except Exception:
            return False
        return True


@dataclass(frozen=True, kw_only=True)
class Check:
    """Something that is computed rather than sampled: whether it holds, and what was seen."""

    name: str
    compute: Callable[[], tuple[bool, str]]
    relation: str
    pair: str
    says: str
    known: str = ""

    def run(self, _: float) -> dict[str, Any]:
        """Compute it."""
        holds, seen = self.compute()
        return {"verdict": "holds" if holds else "does not hold", "evidence": seen}


def main(library: str, cases: list[Case | Check]) -> None:
    """Run all cases, with the seconds that the command line gives each, and print them as JSON."""
    warnings.showwarning = lambda *_, **__: None
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    rows = []
    for case in cases:
        begun = time.monotonic()
        print(f"{library}: {case.name} ...", file=sys.stderr, flush=True)
        row = {key: getattr(case, key) for key in ("name", "relation", "pair", "says", "known")}
        row |= case.run(seconds) | {"seconds": time.monotonic() - begun, "kind": type(case).__name__.lower()}
        rows.append(row)
    print(json.dumps({"library": library, "version": version(library), "alpha": ALPHA, "cases": rows}))
