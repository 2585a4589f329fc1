"""Epsilon beside a rival accountant: tightness and milliseconds, both sides measured in this one run.

    python bench/accounting.py [--random 10]

For each plan: our certified bounds, the rival's epsilon (an upper bound at its default grid), the relative gap between
our bounds, and how many times faster we are, with the upper bound alone and with both.
"""

import argparse
import json
import random
import statistics
import time

from discreet import PrivacyLoss
from environment import in_rivals

NAMED = [
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


def random_plans(count: int) -> list[tuple[str, float, list[dict[str, float | str]]]]:
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


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, default=10, help="random DP-SGD settings beside the named plans")
    plans = NAMED + random_plans(parser.parse_args().random)
    described = json.dumps([{"delta": delta, "parts": parts} for _, delta, parts in plans])
    rival = in_rivals("dp_accounting_epsilon.py", described, pins=["dp-accounting==0.6.0"])
    name = rival["name"] if rival else "dp-accounting"
    print(f"{'plan':<40}{'our bounds':>22}{'gap':>9}{name:>21}{'ms':>8}{'ours':>8}{'times':>7}{'both':>7}")
    ratios, both_ratios, gaps, worse = [], [], [], []
    for place, (label, delta, parts) in enumerate(plans):
        loss = loss_of(parts)
        upper_ms, _ = timed(lambda loss=loss, delta=delta: loss.epsilon(delta))
        both_ms, (low, high) = timed(lambda loss=loss, delta=delta: loss.bounds(delta))
        gaps.append((high - low) / high)
        line = f"{label:<40}{low:>11.6f}{high:>11.6f}{gaps[-1]:>9.1e}"
        if rival:
            other = rival["results"][place]
            ratios.append(other["milliseconds"] / upper_ms)
            both_ratios.append(other["milliseconds"] / both_ms)
            worse.append(high / other["epsilon"] - 1)
            line += f"{other['epsilon']:>21.6f}{other['milliseconds']:>8.0f}{upper_ms:>8.1f}"
            line += f"{ratios[-1]:>7.1f}{both_ratios[-1]:>7.1f}"
        print(line)
    print(f"\nlargest gap {max(gaps):.1e}")
    if rival:
        print(
            f"median speed-up {statistics.median(ratios):.1f} (both bounds {statistics.median(both_ratios):.1f}), "
            f"least {min(ratios):.1f}; our upper bound above theirs by at most {max(worse):.1e}"
        )


if __name__ == "__main__":
    main()
