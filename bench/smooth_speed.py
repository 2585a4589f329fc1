"""Smooth sensitivity beside a sort: milliseconds of both in one run, and the memory that is taken.

    python bench/smooth_speed.py [--count 10000000]

The whole look at a data set is timed: reading, clamping, sorting, the exact value, and the search for the smooth bound.
A sort of the same array by numpy is the least that any of it could cost. Data are random, without any spread, in two
clusters, evenly spaced (where every window is as good as any), rounded, and heavy-tailed; beta goes down to 1e-6, where
windows of millions of ranks compete, and below. Each figure is the best of some rounds.
"""

import argparse
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from discreet.sensitivity.smooth import OrderStatistic, TrimmedMean

ROUNDS = 3
BETAS = (1e-9, 1e-6, 1e-3, 0.1)
GOAL_SORT = 4
GOAL_COPIES = 3


def milliseconds(function: Callable[[], object]) -> float:
    """Return the least time over some rounds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def copies(function: Callable[[], object], data: npt.NDArray[np.float64]) -> float:
    """Return the most memory that was in use at once, in copies of the data."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / data.nbytes


def data_sets(n: int) -> dict[str, npt.NDArray[np.float64]]:
    """Return data of all kinds between 0 and 1."""
    generator = np.random.default_rng()
    clusters = np.where(generator.random(n) < 0.5, 0.25, 0.75)
    return {
        "random": generator.random(n),
        "all equal": np.full(n, 0.4),
        "two values": clusters,
        "two clusters": clusters + 0.01 * generator.normal(size=n),
        "evenly spaced": generator.permutation(np.arange(n) / n),
        "hundredths": np.floor(generator.random(n) * 100) / 100,
        "heavy-tailed": generator.lognormal(size=n) / 100,
    }


def main() -> None:
    """Measure and print one row for each function and data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000_000, help="numbers in a data set")
    n = parser.parse_args().count
    functions = {
        "median": OrderStatistic(rank=(n + 1) // 2, bounds=(0, 1)),
        "trimmed mean": TrimmedMean(trim=n // 10, bounds=(0, 1)),
        "trimmed to a 1000th": TrimmedMean(trim=(n - n // 1000) // 2, bounds=(0, 1)),
    }
    words = "".join(f"{f'beta {beta:g}':>12}" for beta in BETAS)
    print(f"milliseconds for at(data).smooth(beta), {n:,} numbers; in brackets how many times numpy's sort\n")
    print(f"{'':<15}{'':<21}{'np.sort':>9}{words}{'copies':>9}")
    worst, most = 0.0, 0.0
    for kind, data in data_sets(n).items():
        for name, function in functions.items():
            sort = milliseconds(lambda data=data: np.sort(data))
            taken = [milliseconds(lambda f=function, x=data, b=beta: f.at(x).smooth(b)) for beta in BETAS]
            held = max(copies(lambda f=function, x=data, b=beta: f.at(x).smooth(b), data) for beta in BETAS[:2])
            worst, most = max(worst, *(one / sort for one in taken)), max(most, held)
            shown = "".join(f"{f'{one:,.0f} ({one / sort:.1f})':>12}" for one in taken)
            print(f"{kind:<15}{name:<21}{sort:>9,.0f}{shown}{held:>9.2f}", flush=True)
    print(f"\nAt most {worst:.1f} sorts (goal: {GOAL_SORT}) and {most:.2f} copies (goal: {GOAL_COPIES}).")


if __name__ == "__main__":
    main()
