"""Epsilon beside rival accountants: tightness, milliseconds and memory, all sides measured in this one run.

    python bench/accounting.py [--random 50] [--quick]

For each plan: our certified bounds, the rivals' epsilons (dp-accounting at its default grid), the relative gap between
our bounds, and how many times faster we are than dp-accounting, with the upper bound alone and with both. Then sigma
0.05, where memory is the question, and ten thousand releases that all differ.
"""

import argparse
import json
import random
import resource
import statistics
import time

from discreet import PrivacyLoss
from environment import in_rivals

Plan = tuple[str, float, list[dict[str, float | str]]]

NAMED: list[Plan] = [
    ("DP-SGD, MNIST", 1e-5, [{"kind": "gaussian", "sigma": 1.1, "rate": 256 / 60000, "count": 14062}]),
    ("DP-SGD, long", 1e-7, [{"kind": "gaussian", "sigma": 0.8, "rate": 0.001, "count": 100_000}]),
    (
        "1000 Laplace, 500 Gaussian",
        1e-6,
        [{"kind": "laplace", "epsilon": 0.05, "count": 1000}, {"kind": "gaussian", "sigma": 40.0, "count": 500}],
    ),
    ("50 Laplace", 1e-5, [{"kind": "laplace", "epsilon": 0.1, "count": 50}]),
    ("DP-SGD, Laplace noise", 1e-6, [{"kind": "laplace", "epsilon": 1.0, "rate": 0.01, "count": 1000}]),
]


def random_plans(count: int) -> list[Plan]:
    """Return random but repeatable DP-SGD settings."""
    generator = random.Random(2026)
    plans = []
    for _ in range(count):
        sigma = round(generator.uniform(0.6, 4), 2)
        rate, steps = round(10 ** generator.uniform(-3.5, -0.7), 5), round(10 ** generator.uniform(1.5, 4.3))
        name = f"sigma {sigma}, rate {rate}, {steps} steps"
        plans.append((name, 1e-6, [{"kind": "gaussian", "sigma": sigma, "rate": rate, "count": steps}]))
    return plans


def loss_of(parts: list[dict[str, float | str]]) -> PrivacyLoss:
    """Return our description of a plan."""
    total = PrivacyLoss()
    for part in parts:
        one = (
            PrivacyLoss.laplace(part["epsilon"])
            if part["kind"] == "laplace"
            else PrivacyLoss.gaussian(mu=1 / part["sigma"])
        )
        if "rate" in part:
            one = one.sampled(part["rate"])
        total += part["count"] * one
    return total


def timed(function: object, rounds: int = 3) -> tuple[float, object]:
    """Return the least milliseconds over some rounds, and the result."""
    best, result = float("inf"), None
    for _ in range(rounds):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
    return best * 1e3, result


def different(count: int) -> PrivacyLoss:
    """Return the loss of many releases of which no two are alike."""
    generator = random.Random(7)
    kinds = [
        lambda e: PrivacyLoss.laplace(e),
        lambda e: PrivacyLoss.gaussian(mu=e),
        lambda e: PrivacyLoss.pure(e),
        lambda e: PrivacyLoss.randomized_response(e, categories=3),
        lambda e: PrivacyLoss.discrete_laplace(sensitivity=1, scale=1 / e),
    ]
    return PrivacyLoss.total(generator.choice(kinds)(generator.uniform(0.001, 0.1)) for _ in range(count))


def rivals(plans: list[Plan], quick: bool) -> list[dict[str, object] | None]:
    """Return what the rivals say of the plans: dp-accounting of all, the others of the first."""
    described = [{"delta": delta, "parts": parts} for _, delta, parts in plans]
    every, some = json.dumps(described), json.dumps(described[:8])
    found = [in_rivals("dp_accounting_epsilon.py", every, pins=["dp-accounting==0.6.0"])]
    if not quick:
        found.append(in_rivals("prv_epsilon.py", some, pins=["prv-accountant==0.2.0"]))
        pins = ["opacus==1.6.0", "torch==2.13.0"]
        found.append(in_rivals("opacus_epsilon.py", some, pins=pins, environment="opacus"))
    return found


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, default=50, help="random DP-SGD settings beside the named plans")
    parser.add_argument("--quick", action="store_true", help="leave out prv-accountant and Opacus")
    options = parser.parse_args()
    plans = NAMED + random_plans(options.random)
    google, *others = rivals(plans, options.quick)
    print(f"{'plan':<40}{'our bounds':>24}{'gap':>9}{'dp-accounting':>15}{'ms':>7}{'ours':>8}{'times':>7}{'both':>7}")
    ratios, both_ratios, gaps, worse = [], [], [], []
    for place, (label, delta, parts) in enumerate(plans):
        loss = loss_of(parts)
        upper_ms, _ = timed(lambda loss=loss, delta=delta: loss.epsilon(delta))
        both_ms, (low, high) = timed(lambda loss=loss, delta=delta: loss.bounds(delta))
        gaps.append((high - low) / high)
        line = f"{label:<40}{low:>12.7f}{high:>12.7f}{gaps[-1]:>9.1e}"
        if google:
            one = google["results"][place]
            ratios.append(one["milliseconds"] / upper_ms)
            both_ratios.append(one["milliseconds"] / both_ms)
            worse.append(high / one["epsilon"] - 1)
            line += f"{one['epsilon']:>15.7f}{one['milliseconds']:>7.0f}{upper_ms:>8.1f}"
            line += f"{ratios[-1]:>7.1f}{both_ratios[-1]:>7.1f}"
        print(line)
        for other in filter(None, others):
            if place < len(other["results"]) and (found := other["results"][place])["epsilon"] is not None:
                also = "".join(f", {key} {found[key]:.6f}" for key in ("lower", "rdp", "gdp") if found.get(key))
                print(f"    {other['name']:<36}{found['epsilon']:>12.7f}{also}, {found['milliseconds']:.0f} ms")
    print(f"\nlargest gap {max(gaps):.1e}")
    if google:
        print(
            f"median speed-up {statistics.median(ratios):.1f} (both bounds {statistics.median(both_ratios):.1f}), "
            f"least {min(ratios):.1f} ({min(both_ratios):.1f}); our upper bound above dp-accounting's by at most "
            f"{max(worse):.1e}"
        )
    extremes(options.quick)


def extremes(quick: bool) -> None:
    """Measure little noise and many different releases, and the memory of all."""
    small = [("sigma 0.05", 1e-6, [{"kind": "gaussian", "sigma": 0.05, "rate": 0.01, "count": 10}])]
    milliseconds, bounds = timed(lambda: loss_of(small[0][2]).bounds(1e-6))
    print(f"\nsigma 0.05, rate 0.01, 10 steps: {bounds[0]:.4f} to {bounds[1]:.4f} in {milliseconds:.0f} ms")
    google = None if quick else rivals(small, quick=True)[0]
    if google:
        one, peak = google["results"][0], google["peak_megabytes"]
        print(f"    dp-accounting {one['epsilon']:.4f} in {one['milliseconds']:.0f} ms, {peak:.0f} MB")
    milliseconds, many = timed(lambda: different(10_000))
    first, epsilon = timed(lambda: many.epsilon(1e-6))
    print(f"10,000 different releases: added in {milliseconds:.0f} ms, epsilon {epsilon:.4f} in {first:.0f} ms")
    print(f"our peak memory over all of this: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
