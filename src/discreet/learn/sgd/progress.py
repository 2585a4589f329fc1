"""One line on how far a training is: steps, epsilon spent, time left."""

import sys
import time
from typing import TextIO

from discreet.exact import Real
from discreet.learn.sgd.run import Run

__all__ = ["Progress"]

EVERY = 1.0


class Progress:
    """Shows a bar with the epsilon that was spent at a delta, and the time left at the present speed.

    All of it is public: the number of steps is planned, and epsilon depends on it alone.
    """

    def __init__(self, delta: Real, out: TextIO | None = None, every: float = EVERY) -> None:
        self.delta, self.every = delta, every
        self.out = sys.stderr if out is None else out
        self.began, self.first, self.shown = time.monotonic(), -1, -float("inf")

    def show(self, run: Run) -> None:
        """Write the line anew, at most once in a while and at the end."""
        now, total = time.monotonic(), run.plan.steps
        if self.first < 0:
            self.first = run.finished - 1
        done = run.finished >= total
        if now - self.shown < self.every and not done:
            return
        self.shown = now
        left = (now - self.began) / max(run.finished - self.first, 1) * (total - run.finished)
        filled = 24 * run.finished // total
        epsilon = run.loss.epsilon(self.delta)
        self.out.write(
            f"\r[{'=' * filled}{' ' * (24 - filled)}] step {run.finished}/{total}, epsilon {epsilon:.3f} at delta "
            f"{float(self.delta):g}, {left:.0f} s left" + ("\n" if done else "")
        )
        self.out.flush()
