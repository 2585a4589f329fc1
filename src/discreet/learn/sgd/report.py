"""What may be told of a training: its plan, what it has spent, and curves made of noisy sums alone."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from discreet.errors import InvalidParameter, MissingExtra
from discreet.exact import Real, probability
from discreet.learn.sgd.plan import Training
from discreet.learn.sgd.run import Moment, Run

__all__ = ["TrainingReport"]

POINTS = 12
MOST = 400
"""Points of a curve in a picture; of more, some are left out."""
KINDS = ("epsilon", "held_out", "norm", "clip")


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """A training as the public may see it.

    Satisfies the loss of the training itself, as it is made of its plan and its releases alone: the clip of each step
    and the norm of the noisy gradient. ``held_out`` is what its owner measured, such as an accuracy after some of the
    steps; it must come from records that nobody has to protect.
    """

    plan: Training
    steps: int
    delta: float
    epsilon: float
    spent: tuple[tuple[int, float], ...]
    moments: tuple[Moment, ...]
    held_out: tuple[tuple[int, float], ...] = ()

    @classmethod
    def of(cls, run: Run, delta: Real, *, held_out: Iterable[tuple[int, float]] = ()) -> "TrainingReport":
        """Return the report of a run so far, with epsilons at delta, and pairs of a step and a held out accuracy."""
        d = float(probability(delta, "delta"))
        marks = sorted({max(1, round(k * run.started / POINTS)) for k in range(1, POINTS + 1)} if run.started else ())
        spent = tuple((step, run.plan.loss_after(step).epsilon(d)) for step in marks)
        measured = tuple(sorted((int(step), float(value)) for step, value in held_out))
        if any(not 0 <= step <= run.started for step, _ in measured):
            raise InvalidParameter(
                f"held_out is measured after steps of this run, from 0 to {run.started}, as (step, value)."
            )
        return cls(run.plan, run.started, d, spent[-1][1] if spent else 0.0, spent, tuple(run.history), measured)

    def to_json(self) -> str:
        """Return the report as JSON."""
        return json.dumps(
            {
                "record": "sgd-report",
                "version": 1,
                "plan": json.loads(self.plan.to_json()),
                "steps": self.steps,
                "delta": self.delta,
                "epsilon": self.epsilon,
                "spent": self.spent,
                "moments": [asdict(moment) for moment in self.moments],
                "held_out": self.held_out,
            }
        )

    def curve(self, kind: str) -> tuple[list[int], list[float]]:
        """Return steps and values of the "epsilon" spent, "norm" of noisy gradients, "clip", or "held_out" accuracy."""
        pairs = {
            "epsilon": self.spent,
            "norm": [(moment.step, moment.norm) for moment in self.moments],
            "clip": [(moment.step, moment.clip) for moment in self.moments],
            "held_out": self.held_out,
        }
        if kind not in pairs:
            raise InvalidParameter(f"a report draws one of {', '.join(map(repr, KINDS))}, got {kind!r}.")
        return [step for step, _ in pairs[kind]], [value for _, value in pairs[kind]]

    def plot(self, kind: str | None = None) -> Any:  # noqa: ANN401  an altair chart
        """Draw all curves that have points against steps, or one of them: "epsilon", "norm", "clip" or "held_out"."""
        from discreet.plots import Small, small_curves

        shown = [name for name in KINDS if self.curve(name)[0]] if kind is None else [kind]
        names = {
            "epsilon": f"epsilon spent, at delta {self.delta:g}",
            "held_out": "accuracy, held out",
            "norm": "norm of the noisy gradient",
            "clip": "clip",
        }
        drawn = []
        for name in shown:
            xs, ys = self.curve(name)
            every = max(1, len(xs) // MOST)
            measured = name in ("epsilon", "held_out")
            drawn.append(Small(name=names[name], xs=xs[::-every][::-1], ys=ys[::-every][::-1], markers=measured))
        return small_curves(
            drawn,
            axis="step",
            title=f"A private training of {self.steps:,} steps",
            subtitle=f"{self.plan.records:,} records, batches of {self.plan.batch:,}, noise multiplier "
            f"{self.plan.noise_multiplier:.3g}",
            columns=min(2, len(drawn)),
        )

    def __str__(self) -> str:
        """Say in a few lines what was done and what it cost."""
        plan = self.plan
        return (
            f"{self.steps} of {plan.steps} steps, batches of {plan.batch} from {plan.records} records "
            f"({plan.sampling})\n"
            f"clip {plan.clip:g} ({plan.clipping}), noise multiplier {plan.noise_multiplier:.4g} ({plan.noise}, "
            f"{plan.strategy})\n"
            f"epsilon {self.epsilon:.4g} at delta {self.delta:g}, add_remove"
        )

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the words and, where pictures can be drawn, the curves; nothing is fetched."""
        words = "<br>".join(escape(line) for line in str(self).splitlines())
        picture = ""
        if self.moments:
            try:
                from discreet.plots import svg

                picture = svg(self.plot())
            except MissingExtra:
                picture = ""
        return f"<div><p>{words}</p>{picture}</div>"
