"""Epsilon, milliseconds and memory of the accountants in Opacus; run by ``bench/accounting.py``, prints JSON.

``epsilon`` is that of its PRV accountant, ``rdp`` and ``gdp`` those of the two others; GDP is a central limit and may
lie below the truth. Opacus describes sampled Gaussian noise alone; any other plan, and one on which it stops with an
error, gives null and the reason.
"""

import json
import resource
import sys
import time
import warnings
from importlib.metadata import version

from opacus.accountants import create_accountant


def epsilon(mechanism: str, plan: dict[str, object]) -> float:
    """Return what one accountant says."""
    history = []
    for part in plan["parts"]:
        if part["kind"] != "gaussian":
            raise NotImplementedError(f"no {part['kind']} noise")
        history.append((part["sigma"], part.get("rate", 1.0), int(part["count"])))
    if mechanism == "gdp" and len(history) > 1:
        raise NotImplementedError("GDP takes one setting")
    accountant = create_accountant(mechanism=mechanism)
    accountant.history = history
    return float(accountant.get_epsilon(delta=plan["delta"]))


def measure(mechanism: str, plan: dict[str, object]) -> tuple[float | None, float | None, str]:
    """Return epsilon, the better time of two rounds in milliseconds, and why there is none."""
    best = float("inf")
    try:
        for _ in range(2):
            start = time.perf_counter()
            found = epsilon(mechanism, plan)
            best = min(best, time.perf_counter() - start)
    except (NotImplementedError, RuntimeError, ValueError, ArithmeticError, MemoryError) as error:
        return None, None, f"{type(error).__name__}: {error}"
    return found, best * 1e3, ""


def main(plans: list[dict[str, object]]) -> None:
    """Measure each plan and print."""
    warnings.simplefilter("ignore")
    results = []
    for plan in plans:
        found, milliseconds, why = measure("prv", plan)
        others = {name: measure(name, plan)[0] for name in ("rdp", "gdp")}
        results.append({"epsilon": found, "milliseconds": milliseconds, **others} | ({"why": why} if why else {}))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"name": f"Opacus {version('opacus')}", "peak_megabytes": peak, "results": results}))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
