"""Strategies for workloads beside each other: expected errors, and how long planning, measuring and answering take.

    python bench/workloads.py [--cells 256] [--steps 4096] [--records 48842]

First the expected total squared error of every strategy for sums and ranges of one attribute, at epsilon 1 and at rho
1/2, as a multiple of the best. Then all tables of three attributes of a census of fourteen, coded as in the usual
version of the Adult data, by ResidualPlanner: selected, measured and put together. Then running totals.
"""

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np

from discreet.synthetic import AllRanges, Marginals, Prefix, ResidualPlanner, RunningTotal, compare

CENSUS = (16, 32, 9, 16, 7, 15, 6, 5, 2, 32, 32, 32, 42, 2)
GOAL_SECONDS = 1.0


def strategies(cells: int) -> None:
    """Print the strategies for prefixes and ranges."""
    for workload in (Prefix(size=cells), AllRanges(size=cells)):
        for budget in ({"epsilon": 1}, {"rho": 0.5}):
            start = time.perf_counter()
            table = compare(workload, relation="add_remove", discrete=False, **budget)
            seconds = time.perf_counter() - start
            print(f"\n{workload!r} at {budget}, compared in {seconds:.2f} s")
            for row in table.rows:
                print(f"  {row.name:<16} {row.error:>14.6g}  {row.error / table.best.error:>8.2f} x")


def adult() -> tuple[tuple[int, ...], np.ndarray] | None:
    """Return the sizes and the codes of the Adult data, less the weights of rows, if they are there."""
    folder = Path(os.environ.get("DISCREET_DATA", "")) / "adult"
    if not (folder / "adult-discrete.csv").is_file():
        return None
    sizes = json.loads((folder / "adult-domain.json").read_text())
    with (folder / "adult-discrete.csv").open() as file:
        names = [name.strip('"') for name in file.readline().strip().split(",")]
        codes = np.loadtxt(file, delimiter=",", dtype=np.int64)
    kept = [place for place, name in enumerate(names) if name != "fnlwgt"]
    return tuple(sizes[names[place]] for place in kept), codes[:, kept]


def census(records: int) -> None:
    """Print how long all tables of three attributes take, on the Adult data or on random codes."""
    found = adult()
    sizes = CENSUS if found is None else found[0]
    random = [np.random.default_rng().integers(0, size, records) for size in CENSUS]
    data = np.stack(random, axis=1) if found is None else found[1]
    print(f"\n{'random codes' if found is None else 'the Adult data'}, {len(data)} records of {len(sizes)} attributes")
    records = len(data)
    best, busy = (float("inf"), 0.0, 0.0, 0.0), float("inf")
    for _ in range(3):
        start, began = time.perf_counter(), time.process_time()
        work = Marginals.of_order(sizes, 3)
        plan = ResidualPlanner(workload=work, rho=0.5, relation="add_remove")
        planned = time.perf_counter()
        noisy = plan.release(data)
        measured = time.perf_counter()
        tables = [noisy.table(attributes) for attributes in work.of]
        done = time.perf_counter()
        busy = min(busy, time.process_time() - began)
        best = min(best, (done - start, planned - start, measured - planned, done - measured))
    whole, select, measure, answer = best
    print(f"\n{len(tables)} tables, {sum(table.size for table in tables)} cells of {records} records at rho 0.5")
    print(f"  selected {select:.3f} s, measured {measure:.3f} s, put together {answer:.3f} s")
    met = "met" if whole < GOAL_SECONDS else "missed"
    print(f"  in all {whole:.3f} s, {busy:.3f} s of the processor (goal {GOAL_SECONDS} s: {met})")
    print(f"  largest standard deviation of a cell {plan.error().largest:.2f}")


def streams(steps: int) -> None:
    """Print the errors of running totals and the time of a step."""
    print(f"\nrunning totals of {steps} steps at rho 0.5")
    for by in ("tree", "square_root"):
        plan = RunningTotal(steps=steps, rho=0.5, relation="add_remove", by=by)
        start = time.perf_counter()
        plan.release(np.ones(steps, dtype=np.int64))
        each = (time.perf_counter() - start) / steps
        error = plan.error()
        mean = (error.total / steps) ** 0.5
        print(f"  {by:<12} root mean square {mean:.3f}, largest {error.largest:.3f}, {each * 1e6:.0f} us a step")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=256)
    parser.add_argument("--steps", type=int, default=4096)
    parser.add_argument("--records", type=int, default=48_842)
    options = parser.parse_args()
    strategies(options.cells)
    census(options.records)
    streams(options.steps)


if __name__ == "__main__":
    main()
