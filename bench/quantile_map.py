"""Which method finds a quantile best: errors of all four, over sizes, budgets and shapes of data.

Each release is made as a session makes it, its interval included, for one group of rows that come or go. Prints a
table in Markdown: the 95th percentile of the error in rows between the release and the rank, and in the unit of the
data, over so many releases; for propose-test-release also how often there was a value. With ``--plot`` a picture of
the errors against epsilon is written as SVG.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

from discreet.plots import Axis, Curve, curves, svg
from discreet.session.columns import TREE, Ranked
from discreet.session.ranks import rank_mechanism
from discreet.tables.grid import Grid
from discreet.tables.kinds import Interval
from discreet.tables.measures import UNIT, Cells

METHODS = ("exponential", "tree", "smooth", "ptr")
HIGHEST = 1000
DELTA = Fraction(1, 10**6)
SIZES = (300, 3000, 30_000)
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)

Floats = npt.NDArray[np.float64]

SHAPES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "even": lambda rng, n: rng.uniform(0, HIGHEST, n),
    "log-normal": lambda rng, n: np.exp(rng.normal(3.5, 0.8, n)),
    "two clusters": lambda rng, n: np.where(rng.random(n) < 0.6, rng.normal(300, 15, n), rng.normal(800, 15, n)),
    "ties": lambda rng, n: rng.choice([0, 20, 50, 100, 200, 500], n, p=[0.1, 0.2, 0.4, 0.15, 0.1, 0.05]).astype(float),
}


@dataclass(frozen=True, slots=True)
class Found:
    """How far off a method was: in rows, in the unit of the data, and how often it had a value."""

    rows: float
    value: float
    answered: float


def measure(data: Floats, probability: Fraction, epsilon: float, method: str, releases: int) -> Found:
    """Release a quantile many times and compare."""
    grid = Grid.over(Interval.of(0, HIGHEST), whole=False, centred=True, fineness=11 if method == "tree" else 15)
    steps = np.clip(np.rint((data - grid.value(0)) / float(grid.step)), grid.lowest, grid.highest).astype(np.int64)
    if method == "tree" and grid.highest - grid.lowest >= TREE[0] ** TREE[1]:
        raise SystemExit("the grid is finer than the tree of a session.")
    cells, counts = np.unique(steps, return_counts=True)
    column = Ranked("q", "", "quantiles", Cells("c", None, grid), (probability,), method)  # type: ignore[arg-type]
    made = rank_mechanism(column, Fraction(epsilon), 1, 1, "add_remove", 0.95, delta=DELTA)
    released = made.release([(cells, counts * UNIT)] * releases)["q"].value
    values = np.array([float(x) for x in released if x is not None])
    if not values.size:
        return Found(np.nan, np.nan, 0.0)
    ordered, rank = np.sort(data), float(probability) * data.size
    half = float(grid.step) / 2
    low = np.searchsorted(ordered, values - half, side="left")
    high = np.searchsorted(ordered, values + half, side="right")
    off = np.maximum(np.maximum(low - rank, rank - high), 0)
    true = ordered[max(int(np.ceil(rank)) - 1, 0)]
    return Found(float(np.quantile(off, 0.95)), float(np.quantile(np.abs(values - true), 0.95)), values.size / releases)


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, default=100)
    parser.add_argument("--probability", type=Fraction, default=Fraction(1, 2))
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    rng = np.random.default_rng(7)
    lines: dict[str, list[tuple[float, float]]] = {method: [] for method in METHODS}
    print(f"| data | rows | epsilon | {' | '.join(METHODS)} |")
    print(f"|---|---:|---:|{'---:|' * len(METHODS)}")
    for shape, draw in SHAPES.items():
        for size in SIZES:
            data = np.clip(draw(rng, size), 0, HIGHEST)
            for epsilon in EPSILONS:
                found = {m: measure(data, options.probability, epsilon, m, options.releases) for m in METHODS}
                best = min(one.value for one in found.values() if one.answered > 0.95)
                print(f"| {shape} | {size:,} | {epsilon:g} | {' | '.join(_cell(found[m], best) for m in METHODS)} |")
                if shape == "log-normal" and size == 3000:
                    for method, one in found.items():
                        if one.answered > 0.5:
                            lines[method].append((epsilon, one.value))
    if options.plot:
        options.plot.write_text(_picture(lines), encoding="utf-8")


def _cell(found: Found, best: float) -> str:
    if not found.answered:
        return "no value"
    text = f"{_short(found.value)} ({_short(found.rows)})"
    text += "" if found.answered > 0.95 else f", {found.answered:.0%}"
    return f"**{text}**" if found.value <= 1.1 * best and found.answered > 0.95 else text


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.2g}"


def _picture(lines: dict[str, list[tuple[float, float]]]) -> str:
    drawn = [
        Curve(name=method, xs=[x for x, _ in points], ys=[y for _, y in points], strong=method == "smooth")
        for method, points in lines.items()
        if points
    ]
    return svg(
        curves(
            drawn,
            Axis(title="epsilon", log=True),
            Axis(title="error of the median, in 19 of 20 releases", log=True),
            title="Smooth sensitivity gains with the square of epsilon",
            subtitle="3,000 log-normal rows between 0 and 1,000, median 33",
        ).properties(background="white")
    )


if __name__ == "__main__":
    main()
