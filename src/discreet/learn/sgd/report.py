"""What may be told of a training: its plan, what it has spent, and curves made of noisy sums alone."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from discreet.exact import Real, probability
from discreet.learn.sgd.plan import Training
from discreet.learn.sgd.run import Moment, Run

__all__ = ["TrainingReport"]

POINTS = 12


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """A training as the public may see it.

    Satisfies the loss of the training itself, as it is made of its plan and its releases alone: the clip of each step,
    the norm of the noisy gradient, and the time since the start.
    """

    plan: Training
    steps: int
    delta: float
    epsilon: float
    spent: tuple[tuple[int, float], ...]
    moments: tuple[Moment, ...]

    @classmethod
    def of(cls, run: Run, delta: Real) -> "TrainingReport":
        """Return the report of a run so far, with epsilons at delta."""
        d = float(probability(delta, "delta"))
        marks = sorted({max(1, round(k * run.started / POINTS)) for k in range(1, POINTS + 1)} if run.started else ())
        spent = tuple((step, run.plan.loss_after(step).epsilon(d)) for step in marks)
        return cls(run.plan, run.started, d, spent[-1][1] if spent else 0.0, spent, tuple(run.history))

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
            }
        )

    def plot(self, kind: str = "epsilon") -> Any:  # noqa: ANN401  an altair chart
        """Draw the "epsilon" spent, the "norm" of noisy gradients or the "clip", over steps."""
        from discreet.errors import InvalidParameter
        from discreet.plots import Axis, Curve, curves

        lines = {
            "epsilon": ([step for step, _ in self.spent], [spent for _, spent in self.spent]),
            "norm": ([m.step for m in self.moments], [m.norm for m in self.moments]),
            "clip": ([m.step for m in self.moments], [m.clip for m in self.moments]),
        }
        if kind not in lines:
            raise InvalidParameter(f"a report draws one of {', '.join(map(repr, lines))}, got {kind!r}.")
        xs, ys = lines[kind]
        titles = {"epsilon": f"epsilon at delta {self.delta:g}", "norm": "norm of the noisy gradient", "clip": "clip"}
        curve = Curve(name=kind, xs=xs, ys=ys, strong=True, markers=kind == "epsilon")
        return curves(
            [curve], Axis(title="step"), Axis(title=titles[kind], low=0.0), title=f"A training of {self.steps} steps"
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
