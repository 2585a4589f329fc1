"""Epsilon, milliseconds and memory of Google's dp-accounting; run by ``bench/accounting.py``, prints JSON."""

import json
import resource
import sys
import time
from importlib.metadata import version

import dp_accounting
from dp_accounting.pld import pld_privacy_accountant


def event(parts: list[dict[str, float]]) -> dp_accounting.DpEvent:
    """Return the rival's description of a plan."""
    events = []
    for part in parts:
        if part["kind"] == "laplace":
            one = dp_accounting.LaplaceDpEvent(1 / part["epsilon"])
        else:
            one = dp_accounting.GaussianDpEvent(part["sigma"])
        if "rate" in part:
            one = dp_accounting.PoissonSampledDpEvent(part["rate"], one)
        events.append(dp_accounting.SelfComposedDpEvent(one, int(part["count"])))
    return dp_accounting.ComposedDpEvent(events)


def main(plans: list[dict[str, object]]) -> None:
    """Measure each plan and print."""
    results = []
    for plan in plans:
        best = float("inf")
        for _ in range(2):
            start = time.perf_counter()
            accountant = pld_privacy_accountant.PLDAccountant()
            accountant.compose(event(plan["parts"]))
            epsilon = accountant.get_epsilon(plan["delta"])
            best = min(best, time.perf_counter() - start)
        results.append({"epsilon": epsilon, "milliseconds": best * 1e3})
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    name = f"dp-accounting {version('dp-accounting')}"
    print(json.dumps({"name": name, "peak_megabytes": peak, "results": results}))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
