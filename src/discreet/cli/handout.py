"""What the demo hands over: its answers and three pictures as one report."""

import math
from collections.abc import Mapping

from discreet import plots
from discreet.cli.demo import AGES, BETA, COUNT, COUNTS, INCOMES, OFTEN, Demo
from discreet.datasets.population import DISTRICTS
from discreet.mechanisms import Geometric
from discreet.report import Figure, render
from discreet.report.words import bound, number

__all__ = ["page"]


def page(demo: Demo, *, command: str, date: str = "") -> str:
    """Return the report as HTML."""
    fixed = (
        "What was fixed before looking at the data, and is public: the names of the districts, incomes from "
        f"{number(INCOMES[0])} to {number(INCOMES[1])}, ages from {AGES[0]} to {AGES[1]}."
    )
    return render(
        demo.releases,
        title="A town survey, published with privacy",
        dataset_description=(
            f"Five questions about {number(demo.size)} people of an invented town, answered so that the answers "
            "betray little about any one of them. The people are generated; "
            + ("the noise, the accuracy and the guarantee are real." if demo.private else "the noise is seeded.")
        ),
        total=demo.epsilon,
        plots=[_bars(demo), _accuracy(), _noise()],
        assumptions=[fixed],
        reproduce=command,
        date=date,
        exact=demo.exact,
    )


def _bars(demo: Demo) -> Figure:
    title, groups = next((r.title, r.value) for r in demo.releases if isinstance(r.value, Mapping))
    error, counts = COUNTS.error(BETA, queries=len(groups)), list(groups.values())
    lows, highs = [count - error for count in counts], [count + error for count in counts]
    chart = plots.bars_with_error(list(groups), counts, lows, highs, title, "people")
    words = f"Published counts. The whiskers reach ±{number(error)}: they hold all eight true counts at once {OFTEN}."
    return Figure(svg=plots.svg(chart), caption=words)


def _accuracy() -> Figure:
    epsilons = [2.0 ** (k / 2) for k in range(-13, 3)]
    lines = {"one count": (COUNT, 1), "the eight districts, all at once": (COUNTS, len(DISTRICTS))}
    errors = {
        name: [Geometric(sensitivity=used.sensitivity, epsilon=e).error(BETA, queries=queries) for e in epsilons]
        for name, (used, queries) in lines.items()
    }
    chosen = {name: float(used.epsilon) for name, (used, _) in lines.items()}
    chart = plots.error_against_epsilon(epsilons, errors, chosen, axis="error in people (±)")
    words = "Halving epsilon about doubles the error, however many people took part. The marks are our choices."
    return Figure(svg=plots.svg(chart), caption=words)


def _noise() -> Figure:
    error, base = COUNT.error(BETA), math.exp(-float(COUNT.epsilon))
    values = range(-2 * error, 2 * error + 1)
    chances = [(1 - base) / (1 + base) * base ** abs(value) for value in values]
    axis, title = "people added or taken away", "The noise in one count"
    chart = plots.noise_distribution(values, chances, (-error, error), title=title, axis=axis)
    words = f"Geometric noise at epsilon {bound(float(COUNT.epsilon))}. No noise at all is its most likely value."
    return Figure(svg=plots.svg(chart), caption=words)
