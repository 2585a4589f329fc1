"""What a curator should know before it is too late: errors that swamp what is there, deltas that protect too little.

Only what is declared is looked at: sizes, bounds, budgets.
"""

from collections.abc import Iterator
from fractions import Fraction

from discreet.accounting.large_delta import too_large
from discreet.publishing.entry import Entry
from discreet.publishing.file import ReleaseFile
from discreet.session.columns import Column
from discreet.session.digits import above
from discreet.session.plan import Plan
from discreet.tables.synthetic import Synthetic

__all__ = ["about_delta", "about_errors", "about_exact", "about_little_noise"]


def about_delta(file: ReleaseFile) -> Iterator[str]:
    """Say when delta is not far below one over the number of people: then it could stand for publishing some of them.

    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy", 2014, section 2.3.
    """
    size, delta = file.dataset.size, file.budget.delta
    if size is None and too_large(delta):
        yield (
            f"delta {above(float(delta))} is large for any number of people: it would allow to publish each of them as "
            "they are with that probability. Write delta: 1e-6 or less, and dataset: size."
        )
    if size is not None and delta * 10 * size > 1:
        limit = Fraction(1, 100 * size)
        yield (
            f"delta {above(float(delta))} is not far below one over {size:,} people: it would allow to publish some of "
            f"them as they are. Write delta: {above(float(limit), 1)} or less."
        )


def about_exact(entry: Entry, plan: Plan) -> Iterator[str]:
    """Say what is published without noise, and what that means."""
    if plan.joint is not None and plan.joint.exact:
        yield f"{entry.name}: {plan.joint.exact[0].lower()}{plan.joint.exact[1:]}"


def about_little_noise(entry: Entry, plan: Plan) -> Iterator[str]:
    """Say when so little noise is added that hardly anybody is protected."""
    for words in plan.warnings:
        yield f"{entry.name}: {words}"


def about_errors(file: ReleaseFile, entry: Entry, plan: Plan) -> Iterator[str]:
    """Say when a column will hold little but noise."""
    size = file.dataset.size
    if isinstance(plan.query.together, Synthetic):
        yield from _about_copy(entry, plan, size)
        return
    groups = 1 if not plan.key_names else plan.declared or None
    for column in plan.columns:
        if not isinstance(column, Column) or (error := plan.expected(column)) is None or not error:
            continue
        told = f"{entry.name}: {column.name} will be off by up to {above(error, 3)}"
        if column.widest is not None and error >= column.widest / 2:
            yield (
                f"{told} in groups of {plan.settings.group_size:,.0f} rows, half of what its bounds allow or more: it "
                "will say next to nothing. Spend more on it, group less finely, or narrow the bounds."
            )
        elif column.told.startswith(("count of", "different")) and size is not None:
            if error > size:
                yield f"{told}, more than all {size:,} people: it will say nothing. Spend more on it."
            elif groups is not None and groups > 1 and error >= size / groups:
                yield (
                    f"{told}, and {size:,} people in {groups:,} groups are about {size / groups:,.0f} in each: it will "
                    "say next to nothing. Spend more on it, or group less finely."
                )


def _about_copy(entry: Entry, plan: Plan, size: int | None) -> Iterator[str]:
    """Say which columns of a synthetic copy have so many values that the count of most of them drowns in noise."""
    joint = plan.joint
    if joint is None or size is None:
        return
    beta, sizes = 1 - plan.settings.level, joint.sizes
    drowned = [name for name, sd in joint.parts() if name in sizes and joint.half_width(sd, beta) > size / sizes[name]]
    if drowned:
        yield (
            f"{entry.name}: {size:,} people are few for the values of {', '.join(drowned)}: the noise exceeds most of "
            "their counts. Cut them more coarsely, leave some out, or spend more."
        )
