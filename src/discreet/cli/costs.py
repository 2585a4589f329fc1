"""The page that ``discreet account --plot`` writes: one plan, its cost by every theorem, and what that buys."""

import math
from collections.abc import Callable, Sequence

from discreet import plots
from discreet.accounting import PrivacyLoss, Routes
from discreet.accounting.growth import ORDERS, OURS, growth, repetitions
from discreet.accounting.histogram import loss_histogram
from discreet.accounting.pictures import POINTS, Profile, profile_chart, profile_of, tradeoff_chart
from discreet.accounting.queries import noise_per_query, sampling_error
from discreet.errors import InvalidParameter, NoTheorem
from discreet.report import Comparison, Costs, Figure
from discreet.report.words import bound, number

__all__ = ["WORK", "costs_of"]

LEAST_SHOWN = 100
"""A plan that repeats less often is drawn up to this many repetitions, so that one sees where it would go."""

QUERIES = (1, 10, 100, 1000, 10_000)

ABSURD = 100
"""A theorem that always charges this many times as much is left out of the picture."""

Tick = Callable[[str], object]
WORK = POINTS + len(ORDERS) + 7 * 18 + 10
"""About how many ticks a page takes."""


def costs_of(
    step: PrivacyLoss,
    repeats: int,
    table: Routes,
    bounds: tuple[float, float],
    *,
    plan: str,
    people: int,
    warnings: Sequence[str] = (),
    tick: Tick,
) -> Costs:
    """Return everything the page shows; ``tick`` is called with what is being done."""
    delta, (low, high) = float(table.delta), bounds
    if not delta or not math.isfinite(high) or not high:
        raise InvalidParameter("a page needs a delta above 0 and an epsilon that is neither 0 nor infinite.")
    whole = repeats * step
    profile = profile_of(whole, delta, step=lambda: tick("delta at every epsilon"))
    return Costs(
        plan=plan,
        epsilon=high,
        lower=low,
        delta=delta,
        repeats=repeats,
        comparisons=[
            Comparison(
                name=route.name,
                epsilon=route.epsilon,
                note=route.note,
                paper=route.paper,
                valid=route.valid,
                best=route is table.best,
            )
            for route in table
        ],
        growth=_growth(step, repeats, delta, tick),
        build_up=_build_up(step, repeats, delta, tick),
        profile=_profile(profile, whole, delta),
        tradeoff=_tradeoff(profile),
        queries=_queries(high, delta, people),
        table=[
            (k, noise.basic, noise.concentrated, noise.gaussian)
            for k in QUERIES[:4]
            for noise in [noise_per_query(k, epsilon=high, delta=delta)]
        ],
        people=people,
        sampling_error=sampling_error(people),
        relation=whole.relation,
        sampled=any(term.kind == "sampled" for term, _ in whole.terms),
        warnings=warnings,
    )


def _growth(step: PrivacyLoss, repeats: int, delta: float, tick: Tick) -> Figure:
    most = max(repeats, LEAST_SHOWN)
    counts = tuple(sorted({*repetitions(most), repeats}))
    found = growth(step, counts, delta, tick=lambda: tick("epsilon, theorem by theorem"))
    ours = next(line for line in found if line.name == OURS)
    absurd = [
        line
        for line in found
        if all(theirs > ABSURD * our for theirs, our in zip(line.epsilons, ours.epsilons, strict=True))
    ]
    lines = [
        plots.Curve(
            name=f"{line.name}{'' if line.valid else ','} {'' if line.valid else 'about '}{_charge(line.epsilons)}",
            xs=line.counts,
            ys=line.epsilons,
            strong=line.name == OURS,
            dashed=not line.valid,
        )
        for line in found
        if line not in absurd
    ]
    here = ours.epsilons[counts.index(repeats)]
    words = "" if repeats == most else f"this plan: {bound(here)}"
    marks = [plots.Mark(x=repeats, y=here, text=words, place="foot")] if here > 0 else []
    chart = plots.curves(
        lines,
        plots.Axis(title="number of repetitions", log=True),
        plots.Axis(title=f"epsilon at delta {bound(delta)}", log=True),
        title="Epsilon against the number of repetitions",
        subtitle="each theorem's charge for the same noise; lower is better",
        marks=marks,
        height=380,
    )
    words = f"Both scales are logarithmic; the numbers are for {number(most)} repetitions. Solid lines are proven"
    if any(not line.valid for line in found):
        words += "; the dashed line is an approximation that may lie on either side of the truth, and is never charged"
    words += "".join(f". Left out is {line.name}, which charges over {ABSURD} times as much" for line in absurd)
    return Figure(svg=plots.svg(chart), caption=words + ".")


def _charge(epsilons: Sequence[float]) -> str:
    """Return the last epsilon as a name's number; nothing where the theorem says nothing there."""
    last = epsilons[-1]
    return "" if math.isinf(last) else f"{last:,.0f}" if 1000 <= last < 1e6 else f"{last:.4g}"


def _build_up(step: PrivacyLoss, repeats: int, delta: float, tick: Tick) -> Figure | None:
    """Draw the loss of 1, 10, 100 and all repetitions; None where a loss has no law of its own."""
    most = max(repeats, LEAST_SHOWN)
    shown = []
    for count in sorted({k for k in (1, 10, 100) if k < most} | {most}):
        tick("how the loss builds up")
        try:
            found = loss_histogram(count * step)
        except NoTheorem:
            return None
        epsilon = (count * step).epsilon(delta)
        whole = count == repeats and count not in (1, 10, 100)
        times = f"all {number(count)} repetitions" if whole else f"{number(count)} repetitions"
        shown.append(
            plots.Slices(
                name=("once" if count == 1 else times) + f": mean {found.mean:.2g}, spread {found.deviation:.2g}",
                edges=found.edges.tolist(),
                probabilities=found.probabilities.tolist(),
                line=epsilon if 0 < epsilon < math.inf else None,
                words=f"epsilon {bound(epsilon)}",
            )
        )
    chart = plots.slices(
        shown,
        title="How the privacy loss is distributed",
        subtitle="every panel has scales of its own",
        axis="privacy loss",
        height=150,
    )
    words = (
        f"The dashed lines mark the epsilon at delta {bound(delta)}: the loss exceeds it hardly ever. Repeated often "
        "enough, every loss turns into a bell."
    )
    return Figure(svg=plots.svg(chart), caption=words)


def _profile(profile: Profile, whole: PrivacyLoss, delta: float) -> Figure:
    words = (
        "Epsilon and delta are one curve, not two numbers: whoever quotes a smaller epsilon may have taken a larger "
        "delta."
    )
    return Figure(svg=plots.svg(profile_chart(profile, whole, delta)), caption=words)


def _tradeoff(profile: Profile) -> Figure:
    words = (
        "Someone who knows everything but whether you took part, and must guess it from all that is released, makes "
        "both kinds of error at least as often as the line says. Guessing blindly gives the dashed line."
    )
    return Figure(svg=plots.svg(tradeoff_chart(profile)), caption=words)


def _queries(epsilon: float, delta: float, people: int) -> Figure:
    counts = repetitions(QUERIES[-1], 13)
    noises = [noise_per_query(k, epsilon=epsilon, delta=delta).deviations for k in counts]
    names = ("Laplace, epsilons add", "Laplace, zCDP", "Gaussian, analytic")
    lines = [
        plots.Curve(name=name, xs=counts, ys=[row[place] for row in noises], strong=place == 2)
        for place, name in enumerate(names)
    ]
    error = sampling_error(people)
    ends = [float(counts[0]), float(counts[-1])]
    lines.append(
        plots.Curve(
            name=f"sampling error, n = {number(people)}", xs=ends, ys=[error, error], dashed=True, markers=False
        )
    )
    drowned = [round((error / noises[0][place]) ** power) for place, power in ((0, 1), (2, 2))]
    chart = plots.curves(
        lines,
        plots.Axis(title="number of counts", log=True),
        plots.Axis(title="standard deviation of the noise in each, in people", log=True),
        title="Queries against accuracy",
        subtitle=f"counts that share epsilon {bound(epsilon)} at delta {bound(delta)}",
        height=340,
    )
    if drowned[1] >= 1:
        words = (
            "Below the dashed line privacy noise drowns in sampling noise. That holds for up to "
            f"{number(drowned[1])} counts with Gaussian noise, and for {number(drowned[0]) if drowned[0] else 'none'} "
            "where epsilons are simply added."
        )
    else:
        words = "Below the dashed line privacy noise would drown in sampling noise; here it never does."
    return Figure(svg=plots.svg(chart), caption=words)
