"""Private medians beside their rivals: the error of every method on real data, all releases made in this one run.

    DISCREET_DATA=... python bench/smooth.py [--repeats 1000] [--picture medians.svg]

All protect one record that is replaced, with the number of records public. All data are whole numbers, and every
release, ours or theirs, is rounded to one. Samples are drawn once with a fixed seed; releases are random.
"""

import argparse
import json
import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from data import real
from discreet.mechanisms import CandidateQuantile, GridQuantile, Laplace, Quantile, QuantileTree
from discreet.mechanisms.admissible import Cauchy, LaplaceLogNormal, PowerLaw, StudentT
from discreet.mechanisms.admissible import Laplace as LaplaceNoise
from discreet.mechanisms.inverse_sensitivity import InverseSensitivity
from discreet.mechanisms.propose_test_release import ProposeTestRelease
from discreet.mechanisms.smooth_noise import SmoothNoise, smooth_noise
from discreet.sensitivity.smooth import Median
from environment import in_rivals

Data = npt.NDArray[np.int64]
Release = Callable[[], float]

DELTA = 1e-6
EPSILONS = (0.1, 1.0)
GOAL = 1.05
BRANCHING = 16
CANDIDATES = 1001
"""So many evenly spread candidates are offered to those who choose among a list, ours and theirs."""


@dataclass(frozen=True, slots=True)
class Case:
    """A data set and what is public about it: its bounds, and its size."""

    name: str
    data: Data = field(repr=False)
    bounds: tuple[int, int]

    @property
    def median(self) -> float:
        """What should be released: the lower of the two middle numbers."""
        return float(np.sort(np.clip(self.data, *self.bounds))[(self.data.size - 1) // 2])


def cases(folder: Path) -> list[Case]:
    """Return each data set whole, and samples of it where that makes the question hard."""
    rng = np.random.default_rng(20260101)
    hours = np.loadtxt(folder / "adult" / "adult.csv", delimiter=",", skiprows=1, usecols=12, dtype=np.int64)
    income = np.loadtxt(folder / "fulton" / "FultonPUMS5full.csv", delimiter=",", skiprows=1, usecols=5).astype(
        np.int64
    )
    cells = np.load(folder / "dpbench" / "INCOME.npy")
    drawn = rng.choice(cells.size, 10_000, p=cells / cells.sum())
    whole = [
        Case("Adult, hours a week", hours, (0, 100)),
        Case("Fulton, income", income, (0, 500_000)),
        Case("DPBench, INCOME", drawn, (0, 4095)),
    ]
    return [
        Case(f"{case.name}, {size:,}", rng.choice(case.data, size, replace=False), case.bounds)
        for case in whole
        for size in (case.data.size, 500)
    ]


def ours(case: Case, epsilon: float) -> dict[str, Release]:
    """Return every method that is private for one replaced record."""
    data, (low, high) = case.data.astype(float), case.bounds
    function = Median(bounds=case.bounds, kind="lower")
    rho = epsilon**2 / (4 * (math.log(1 / DELTA) + epsilon))
    cells, weights = np.unique(np.clip(case.data, low, high), return_counts=True)
    levels = max(1, math.ceil(math.log(high - low + 1) / math.log(BRANCHING)))
    tree = QuantileTree(branching=BRANCHING, levels=levels, epsilon=epsilon, relation="replace_one")
    grid = GridQuantile(bounds=case.bounds, epsilon=epsilon, relation="replace_one")
    on_records: dict[str, Any] = {
        "smooth, chosen": smooth_noise(function, epsilon),
        "smooth, power law": SmoothNoise(function=function, noise=PowerLaw(epsilon=epsilon, beta=epsilon / 4)),
        "smooth, Cauchy": SmoothNoise(function=function, noise=Cauchy(epsilon=epsilon, beta=epsilon / 2)),
        "smooth, Student t": SmoothNoise(function=function, noise=StudentT(epsilon=epsilon, beta=epsilon / 5)),
        "smooth, Laplace*": SmoothNoise(
            function=function, noise=LaplaceNoise(epsilon=epsilon, delta=DELTA, beta=epsilon / 20)
        ),
        "smooth, log-normal*": SmoothNoise(function=function, noise=LaplaceLogNormal(rho=rho, beta=math.sqrt(rho) / 2)),
        "exponential": Quantile(bounds=case.bounds, epsilon=epsilon, relation="replace_one"),
        "candidates": CandidateQuantile(
            candidates=np.linspace(low, high, min(high - low, CANDIDATES - 1) + 1).tolist(),
            epsilon=epsilon,
            relation="replace_one",
        ),
        "inverse sensitivity": InverseSensitivity(bounds=case.bounds, epsilon=epsilon, grid=1),
    }
    if high - low < 5000:
        on_records["candidates, all"] = CandidateQuantile(
            candidates=range(low, high + 1), epsilon=epsilon, relation="replace_one"
        )
    releases: dict[str, Release] = {name: lambda m=m: float(m.release(data)) for name, m in on_records.items()}  # type: ignore[misc]
    everywhere = Laplace(sensitivity=high - low, epsilon=epsilon)
    releases["global Laplace"] = lambda: everywhere.release(case.median)
    releases["exponential, grid"] = lambda: float(grid.release(cells, weights))
    releases["tree"] = lambda: float(np.asarray(tree.release(cells - low, weights).quantile(0.5))) + low
    tested = ProposeTestRelease(function=function, bound=(high - low) / 256, epsilon=epsilon, delta=DELTA)
    releases["tested*"] = lambda: _or_middle(tested.release(data).value, case)
    return releases


def _or_middle(value: object, case: Case) -> float:
    """Return a release, or the middle of the bounds for one that was refused."""
    return sum(case.bounds) / 2 if value is None else float(value)  # type: ignore[arg-type]


def errors(case: Case, releases: list[float | None]) -> tuple[float, float]:
    """Return the mean absolute error of releases, drawn to the bounds and rounded, and its standard error.

    The error of a library that raises an error, instead of releasing, is infinite.
    """
    if None in releases:
        return math.inf, 0.0
    off = np.abs(np.rint(np.clip(releases, *case.bounds)) - case.median)
    return float(off.mean()), float(off.std(ddof=1) / math.sqrt(off.size))


def times_for(case: Case, repeats: int) -> int:
    """Return how often a median is released: a tenth as often for large data, where errors are small."""
    return repeats if case.data.size <= 1000 else max(repeats // 10, 2)


def rivals(jobs: list[tuple[Case, float]], repeats: int) -> dict[str, list[list[float | None]]]:
    """Return the releases of each rival for each job."""
    with tempfile.TemporaryDirectory() as folder:
        written = []
        for place, (case, epsilon) in enumerate(jobs):
            file = Path(folder, f"{place}.npy")
            np.save(file, case.data)
            times, bounds = times_for(case, repeats), [float(x) for x in case.bounds]
            written.append({"data": str(file), "bounds": bounds, "epsilon": epsilon, "repeats": times})
        plan = Path(folder, "jobs.json")
        plan.write_text(json.dumps(written), encoding="utf-8")
        found = {}
        for script, pins, environment in (
            ("median_opendp.py", ["opendp==0.16.0"], ""),
            ("median_diffprivlib.py", ["diffprivlib==0.6.6"], "diffprivlib"),
        ):
            result = in_rivals(script, str(plan), pins=pins, environment=environment)
            if result:
                found[result["name"]] = result["releases"]
    return found


def main() -> None:
    """Release, compare, print, and write the page if one is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000, help="releases of small data; a tenth of it for large")
    parser.add_argument("--picture", type=Path, help="write the picture to this SVG file")
    options = parser.parse_args()
    folders = [real(name) for name in ("adult", "fulton", "dpbench")]
    jobs = [(case, epsilon) for case in cases(folders[0].parent) for epsilon in EPSILONS]
    theirs = rivals(jobs, options.repeats)
    table: list[dict[str, tuple[float, float]]] = []
    for place, (case, epsilon) in enumerate(jobs):
        row = {
            name: errors(case, [release() for _ in range(times_for(case, options.repeats))])
            for name, release in ours(case, epsilon).items()
        }
        table.append(row | {name: errors(case, found[place]) for name, found in theirs.items()})
    show(jobs, table, list(theirs), options.repeats)
    if options.picture:
        draw(jobs, table, list(theirs)).save(str(options.picture))


def show(
    jobs: list[tuple[Case, float]], table: list[dict[str, tuple[float, float]]], theirs: list[str], n: int
) -> None:
    """Print errors as a table in Markdown, and whether the best of ours is near the best of all."""
    names = list(dict.fromkeys(name for row in table for name in row))
    print(f"Mean absolute error of {n} private medians, {n // 10} of large data; * delta {DELTA:g}, others pure.\n")
    print("| data, records | median | epsilon | " + " | ".join(names) + " | best of ours / best of all |")
    print("|---" * (len(names) + 4) + "|")
    for (case, epsilon), row in zip(jobs, table, strict=True):
        least = min(error for error, _ in row.values())
        shown = [_cell(row.get(name), least) for name in names]
        verdict = _verdict(row, theirs)
        print(f"| {case.name} | {case.median:,.0f} | {epsilon:g} | " + " | ".join(shown) + f" | {verdict} |")


def _verdict(row: dict[str, tuple[float, float]], theirs: list[str]) -> str:
    """Return the best of ours over the best of all, and whether that is missed by more than sampling explains."""
    mine = min(found for name, found in row.items() if name not in theirs)
    best = min(row.values())
    ratio = mine[0] / best[0] if best[0] else (1.0 if mine[0] == 0 else math.inf)
    noise = 2 * math.hypot(mine[1], best[1])
    if ratio <= GOAL:
        return f"{ratio:.2f}"
    return f"{ratio:.2f} ({'within sampling error' if mine[0] - best[0] <= noise else 'missed'})"


def _cell(found: tuple[float, float] | None, least: float) -> str:
    if found is None:
        return "-"
    error = found[0]
    return "fails" if math.isinf(error) else f"**{error:.3g}**" if error == least else f"{error:.3g}"


def draw(jobs: list[tuple[Case, float]], table: list[dict[str, tuple[float, float]]], theirs: list[str]) -> object:
    """Return a picture: for each question the error of every method, on a logarithmic scale."""
    import altair as alt

    rows = [
        {
            "question": f"{case.name}; epsilon {epsilon:g}",
            "method": name,
            "error": max(error, 0.01),
            "whose": "rival" if name in theirs else "discreet",
        }
        for (case, epsilon), row in zip(jobs, table, strict=True)
        for name, (error, _) in row.items()
        if math.isfinite(error)
    ]
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_point(filled=True, size=70, opacity=0.85)
        .encode(
            x=alt.X(
                "error:Q",
                scale=alt.Scale(type="log", domain=[0.01, 1_000_000]),
                axis=alt.Axis(values=[0.01, 1, 100, 10_000, 1_000_000], format=",~g"),
                title="mean absolute error (0.01: less than that)",
            ),
            y=alt.Y("method:N", title=None, sort=list(dict.fromkeys(name for row in table for name in row))),
            color=alt.Color(
                "whose:N",
                title=None,
                scale=alt.Scale(domain=["discreet", "rival"], range=["#1a5fa8", "#b5443a"]),
                legend=alt.Legend(orient="top"),
            ),
            facet=alt.Facet("question:N", columns=2, title=None, sort=None),
        )
        .properties(width=300, height=200)
        .configure(background="white")
    )


if __name__ == "__main__":
    main()
