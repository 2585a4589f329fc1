"""Epsilon, milliseconds and memory of Microsoft's prv-accountant; run by ``bench/accounting.py``, prints JSON.

Its result is an estimate with an error of 0.01 on both sides; ``epsilon`` is the upper end. A plan that it cannot
express, or on which it stops with an error, gives null and the reason.
"""

import json
import resource
import sys
import time
import warnings
from importlib.metadata import version

from prv_accountant import GaussianMechanism, LaplaceMechanism, PoissonSubsampledGaussianMechanism, PRVAccountant

EPSILON_ERROR = 0.01


def law(part: dict[str, float | str]) -> object:
    """Return the rival's description of one release, or say that it has none."""
    if part["kind"] == "laplace":
        if "rate" in part:
            raise NotImplementedError("no sampled Laplace noise")
        return LaplaceMechanism(mu=part["epsilon"])
    if "rate" in part:
        return PoissonSubsampledGaussianMechanism(noise_multiplier=part["sigma"], sampling_probability=part["rate"])
    return GaussianMechanism(noise_multiplier=part["sigma"])


def epsilon(plan: dict[str, object]) -> tuple[float, float]:
    """Return the lower and the upper end of the rival's estimate."""
    counts = [int(part["count"]) for part in plan["parts"]]
    accountant = PRVAccountant(
        prvs=[law(part) for part in plan["parts"]],
        max_self_compositions=counts,
        eps_error=EPSILON_ERROR,
        delta_error=plan["delta"] / 1000,
    )
    low, _, high = accountant.compute_epsilon(delta=plan["delta"], num_self_compositions=counts)
    return float(low), float(high)


def measure(plan: dict[str, object]) -> dict[str, object]:
    """Return what one plan gives: the better of two rounds."""
    best = float("inf")
    try:
        for _ in range(2):
            start = time.perf_counter()
            low, high = epsilon(plan)
            best = min(best, time.perf_counter() - start)
    except (NotImplementedError, RuntimeError, ValueError, ArithmeticError, MemoryError) as error:
        return {"epsilon": None, "lower": None, "milliseconds": None, "why": f"{type(error).__name__}: {error}"}
    return {"epsilon": high, "lower": low, "milliseconds": best * 1e3}


def main(plans: list[dict[str, object]]) -> None:
    """Measure each plan and print."""
    warnings.simplefilter("ignore")
    results = [measure(plan) for plan in plans]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    name = f"prv-accountant {version('prv-accountant')}"
    print(json.dumps({"name": name, "peak_megabytes": peak, "results": results}))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
