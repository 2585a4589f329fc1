"""Exact noise beside its rivals: nanoseconds per sample, both sides measured in this one run.

    python bench/noise.py [--count 1000000] [--rival-count 20000]

Numpy's samplers, which are neither exact nor secure, stand for the limit of float64 arithmetic. Each figure is the best
of several rounds, so that a busy machine counts as little as it can.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

from discreet import DiscreteGaussian, Gaussian, Geometric, Laplace
from discreet.noise import discrete_gaussian, discrete_laplace, on_grid
from discreet.noise.densities import Laplace as LaplaceDensity
from environment import in_rivals

SCALE = 10.0
ROUNDS = 7
GOAL_OPENDP = 150
GOAL_NUMPY = 4
GOAL_SCALAR = 50


def nanoseconds(function: Callable[[], object], count: int) -> float:
    """Return the least time per sample over some rounds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times) / count * 1e9


def main() -> None:
    """Measure, print the table and the scalar times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1_000_000, help="samples per vector")
    parser.add_argument("--rival-count", type=int, default=20_000, help="samples per vector for the slow rivals")
    options = parser.parse_args()
    n, generator = options.count, np.random.default_rng()
    values = np.linspace(0, 1e5, n)
    laplace = nanoseconds(lambda: generator.laplace(scale=SCALE, size=n), n)
    rows = {
        "integer Laplace": (nanoseconds(lambda: discrete_laplace(SCALE, size=n), n), laplace),
        "integer Gaussian": (
            nanoseconds(lambda: discrete_gaussian(SCALE, size=n), n),
            nanoseconds(lambda: generator.normal(scale=SCALE, size=n), n),
        ),
        "float-grid Laplace": (
            nanoseconds(lambda: on_grid(LaplaceDensity(), values, SCALE, grid=2.0**-17), n),
            nanoseconds(lambda: values + generator.laplace(scale=SCALE, size=n), n),
        ),
    }
    rival = in_rivals("opendp_noise.py", str(options.rival_count), pins=["opendp==0.16.0"])
    name, theirs = (rival["name"], rival["nanoseconds"]) if rival else ("OpenDP", {})
    print(f"nanoseconds per sample, vectors of {n:,} ({name}: {options.rival_count:,}), scale {SCALE:g}\n")
    print(f"{'':<20}{'discreet':>10}{'numpy*':>10}{name:>15}{'times numpy':>14}{'OpenDP / us':>14}")
    for row, (us, limit) in rows.items():
        other = theirs.get(row)
        shown, ratio = (f"{other:,.0f}", f"{other / us:,.0f}") if other else ("-", "-")
        print(f"{row:<20}{us:>10.1f}{limit:>10.1f}{shown:>15}{us / limit:>14.2f}{ratio:>14}")
    print(f"\n* insecure and inexact. Goals: {GOAL_OPENDP} times OpenDP, within {GOAL_NUMPY} times numpy for Laplace.")
    print(f"\nmicroseconds for one release of one number (goal: {GOAL_SCALAR})")
    for mechanism, value in (
        (Geometric(sensitivity=1, epsilon=0.1), 1234),
        (DiscreteGaussian(sensitivity=1, sigma=10), 1234),
        (Laplace(sensitivity=1, epsilon=0.1), 1234.5),
        (Gaussian(sensitivity=1, sigma=10), 1234.5),
    ):
        release = mechanism.release
        print(f"{type(mechanism).__name__:<20}{nanoseconds(lambda r=release, x=value: r(x), 1) / 1e3:>10.1f}")


if __name__ == "__main__":
    main()
