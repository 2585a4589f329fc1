"""Synthetic data beside mbi's and each other: errors of all tables of three attributes, time and memory.

    DISCREET_DATA=... python bench/synthetic.py [--data adult] [--epsilon 1] [--releases 5] [--seconds 300] [--quick]

Adult has 14 attributes (all but education-num, which tells the same as education), Titanic 9, and the census file of
Fulton county 16: its age in bins of five years and its income in bins that double. The error is the mean over all
tables of three attributes of the L1 distance between the table of the model and that of the data, both as
probabilities. Every method runs in a process of its own, so that its memory is its own, and all of a row were measured
in one run. Time is that of a release, without planning its budget; mbi's includes compiling. The rivals' loops around
mbi are in ``bench/rivals/synthetic_mbi.py``; a rival that is not done within ``--seconds`` is judged by what it has.
"""

import argparse
import importlib
import importlib.util
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from data import real
from discreet.accounting.filters import Zcdp
from discreet.synthetic.coded import Tallied
from environment import in_rivals

DELTA = 1e-9
OURS = {
    "Independent": "discreet.synthetic.independent",
    "SpanningTree": "discreet.synthetic.spanning_tree",
    "PrivBayes": "discreet.synthetic.priv_bayes",
    "AdaptiveTables": "discreet.synthetic.aim",
}
RIVALS = ("mst", "aim")
GOALS = {"SpanningTree": (0.160, 2.0), "AdaptiveTables": (0.100, 60.0)}
"""Error and seconds on Adult at epsilon 1."""

Codes = npt.NDArray[np.int64]


def columns(path: Path) -> dict[str, npt.NDArray[np.float64]]:
    """Return the columns of a file of numbers by name."""
    with path.open() as file:
        names = [name.strip('"') for name in file.readline().strip().split(",")]
        table = np.loadtxt(file, delimiter=",", ndmin=2)
    return dict(zip(names, table.T, strict=True))


def coded(name: str) -> tuple[Codes, tuple[int, ...]]:
    """Return the codes and sizes of a data set; sizes and bins are public."""
    folder = real(name)
    if name == "fulton":
        found = columns(folder / "FultonPUMS5full.csv")
        made: dict[str, tuple[Any, int]] = {
            "puma": (found["puma"] - 1101, 7),
            "age": (found["age"] // 5, 20),
            "educ": (found["educ"] - 1, 16),
            "income": (np.floor(np.log2(np.maximum(found["income"], 500) / 500) + (found["income"] > 500)), 12),
        }
        made |= {one: (found[one], 2) for one in found if one not in {*made, "state", "fips"}}
    else:
        stem = "adult-discrete" if name == "adult" else name
        sizes = json.loads((folder / f"{name}-domain.json").read_text())
        found = columns(folder / f"{stem}.csv")
        made = {one: (found[one], sizes[one]) for one in found if one != "education-num"}
    limits = tuple(size for _, size in made.values())
    table = np.stack([np.clip(values, 0, size - 1) for values, size in made.values()], axis=1)
    return table.astype(np.int64), limits


def triples(codes: Codes, sizes: tuple[int, ...]) -> dict[tuple[int, ...], npt.NDArray[np.float64]]:
    """Return the probabilities of all tables of three attributes."""
    tally = Tallied(codes, np.ones(len(codes), dtype=np.int64))
    return {one: tally.table(one, sizes) / len(codes) for one in itertools.combinations(range(len(sizes)), 3)}


def exact_baselines(codes: Codes, sizes: tuple[int, ...]) -> tuple[float, float]:
    """Return the errors of a uniform distribution, and of the exact single attributes as if independent."""
    singles = [np.bincount(codes[:, i], minlength=size) / len(codes) for i, size in enumerate(sizes)]
    uniform, independent = [], []
    for one, table in triples(codes, sizes).items():
        uniform.append(np.abs(table - 1 / table.size).sum())
        product = singles[one[0]][:, None, None] * singles[one[1]][None, :, None] * singles[one[2]][None, None, :]
        independent.append(np.abs(table - product).sum())
    return float(np.mean(uniform)), float(np.mean(independent))


def one_of_ours(path: str, method: str, epsilon: float, releases: int) -> None:
    """Release so many times, and print errors, seconds and memory as JSON."""
    with np.load(path) as file:
        codes, sizes = file["codes"], tuple(int(size) for size in file["sizes"])
    kind = getattr(importlib.import_module(OURS[method]), method)
    plan = kind.for_budget(epsilon, DELTA, sizes=sizes, relation="add_remove")
    exact = triples(codes, sizes)
    errors, seconds, busy = [], [], []
    peak = 0.0
    for _ in range(releases):
        start, began = time.perf_counter(), time.process_time()
        model = plan.release(codes)
        seconds.append(time.perf_counter() - start)
        busy.append(time.process_time() - began)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        errors.append(
            np.mean([np.abs(model.marginal(one) / model.total - table).sum() for one, table in exact.items()])
        )
    print(json.dumps({"errors": errors, "seconds": seconds, "busy": busy, "megabytes": peak}))


def ours(path: str, method: str, epsilon: float, releases: int) -> dict[str, Any] | None:
    """Run one of our methods in a process of its own; None if it is not there."""
    if importlib.util.find_spec(OURS[method]) is None:
        return None
    command = [sys.executable, __file__, "--one", path, method, str(epsilon), str(releases)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        print(f"{method} failed: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def rival(path: str, method: str, epsilon: float, releases: int, seconds: float) -> dict[str, Any] | None:
    """Run a loop around mbi, each release in a process of its own; None if it cannot be installed or never ends."""
    rho = float(Zcdp.reaching(Fraction(epsilon), Fraction(DELTA)).limit)
    runs = []
    for _ in range(releases):
        arguments = (path, method, repr(rho), repr(seconds))
        try:
            told = in_rivals(
                "synthetic_mbi.py", *arguments, pins=["mbi==2.0.0"], environment="mbi", timeout=2 * seconds + 120
            )
        except subprocess.TimeoutExpired:
            print(f"mbi {method} did not end within {2 * seconds + 120:.0f} s.", file=sys.stderr)
            continue
        if told is None:
            return None
        runs.append(told)
    if not runs:
        return None
    return {
        "errors": [one["error"] for one in runs],
        "seconds": [one["seconds"] for one in runs],
        "megabytes": max(one["megabytes"] for one in runs),
        "note": ""
        if all(one["whole"] for one in runs)
        else f"cut short after {[one['rounds'] for one in runs]} rounds",
    }


def show(label: str, found: dict[str, Any] | None, goal: tuple[float, float] | None) -> None:
    """Print one row."""
    if found is None:
        print(f"  {label:<22} {'-':>8}")
        return
    errors, seconds = np.array(found["errors"]), np.array(found["seconds"])
    busy = f"{np.mean(found['busy']):>8.2f}" if "busy" in found else f"{'':>8}"
    note = found.get("note", "")
    if goal is not None:
        met = [
            f"{word} {'met' if value <= limit else 'missed'}"
            for word, value, limit in zip(
                (f"error {goal[0]:.3f}", f"{goal[1]:.0f} s"), (errors.mean(), seconds.mean()), goal, strict=True
            )
        ]
        note = f"goals: {', '.join(met)}"
    span = f"{errors.min():.4f} to {errors.max():.4f}"
    cost = f"{seconds.mean():>8.2f} {busy} {found['megabytes']:>8.0f}"
    print(f"  {label:<22} {errors.mean():>8.4f}  {span:<18} {cost}  {note}", flush=True)


def race(name: str, epsilons: list[float], releases: int, seconds: float, rivals: bool) -> None:
    """Print a table for one data set."""
    codes, sizes = coded(name)
    uniform, independent = exact_baselines(codes, sizes)
    print(f"\n{name}: {len(codes)} records, {len(sizes)} attributes of {sizes} values")
    print(f"  exact: uniform {uniform:.3f}, independent {independent:.3f}")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "data.npz")
        np.savez(path, codes=codes, sizes=np.array(sizes))
        for epsilon in epsilons:
            print(f"\n  epsilon {epsilon:g}, delta {DELTA:g}, {releases} releases")
            print(f"  {'':<22} {'error':>8}  {'least to most':<18} {'seconds':>8} {'busy':>8} {'MB':>8}")
            for method in OURS:
                goal = GOALS.get(method) if (name, epsilon) == ("adult", 1.0) else None
                show(method, ours(path, method, epsilon, releases), goal)
            for method in RIVALS if rivals else ():
                show(f"mbi 2.0.0 {method.upper()}", rival(path, method, epsilon, min(releases, 1), seconds), None)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["adult", "titanic", "fulton"])
    parser.add_argument("--epsilon", nargs="+", type=float, default=[0.1, 1.0, 10.0])
    parser.add_argument("--releases", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--no-rivals", action="store_true")
    parser.add_argument("--quick", action="store_true", help="Adult and epsilon 1 alone, two releases, no rivals")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        path, method, epsilon, releases = options.one
        one_of_ours(path, method, float(epsilon), int(releases))
        return
    if options.quick:
        options.data, options.epsilon, options.releases, options.no_rivals = ["adult"], [1.0], 2, True
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "as many as it takes")
    print(f"{os.cpu_count()} cores; threads of a BLAS: {threads}")
    for name in options.data:
        race(name, options.epsilon, options.releases, options.seconds, not options.no_rivals)


if __name__ == "__main__":
    main()
