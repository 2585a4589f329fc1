"""A conversation that learns a distribution from its own replies; see ``discreet.synthetic.multiplicative.pmw``.

Its comparisons share one noisy threshold, and its lessons one set of weights. So it cannot be copied or pickled, a
process that was forked does not go on with it, and threads take turns.
"""

import threading
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput
from discreet.noise.fast import Floats
from discreet.process import check_process, process
from discreet.synthetic.graphical.factor import Attributes
from discreet.synthetic.graphical.model import GraphicalModel
from discreet.synthetic.multiplicative.bypass import Readiness
from discreet.synthetic.multiplicative.questions import STEPS, Asked, Counts, Table, read_question
from discreet.synthetic.multiplicative.steps import step_length, tilt
from discreet.synthetic.multiplicative.weights import Weights

if TYPE_CHECKING:
    from discreet.synthetic.multiplicative.pmw import PMW

__all__ = ["Learning", "Told"]

Source = Literal["checked", "measured", "direct", "unchecked"]

PASSES = 10
"""A table that was measured teaches up to so many lessons, as long as each has something to tell."""


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """A reply in records, one number or a table, and where it comes from.

    ``"checked"`` is the weights' own answer, which was compared with the data and is near; ``"measured"`` is the answer
    of the data with noise, after a comparison that failed, and ``"direct"`` without one; ``"unchecked"`` is the
    weights' own answer when no comparison is left: free, private, and perhaps far off.
    """

    value: float | Floats
    source: Source


class Learning:
    """A running conversation. It is as secret as the data it holds; replies and ``weights`` may be shown."""

    __slots__ = (
        *("_counts", "_direct", "_gate", "_margin", "_process", "_ready", "_table_margin", "_turn", "plan", "weights"),
    )

    def __init__(self, plan: "PMW", records: Any) -> None:  # noqa: ANN401 - what ``tallied`` reads
        self.plan, self._counts = plan, Counts(records, plan.sizes)
        if not plan.nobody and self._counts.records != plan.size:
            raise InvalidInput(f"under replace_one the number of records is public: {plan.size} were declared.")
        self._gate, self._turn, self._process = plan.gate.open(self._counts), threading.Lock(), process()
        self.weights = Weights(plan.sizes, cells=plan.cells, nobody=plan.nobody)
        self._margin, self._table_margin = plan.margin, plan.table_margin
        self._ready, self._direct = Readiness(plan.patience if plan.direct else 0), plan.direct

    @property
    def exhausted(self) -> bool:
        """Whether nothing more will be compared with the data; replies go on, from the weights alone."""
        return self._gate.exhausted

    @property
    def direct_left(self) -> int:
        """How many questions may still bypass the comparison."""
        return self._direct

    def model(self) -> GraphicalModel:
        """Return what was learned so far: synthetic data, for nothing."""
        self._check_process()
        with self._turn:
            return self.weights.model(max(1.0, self.plan.size * self.weights.somebody))

    def answer(self, question: Any, /) -> Told:  # noqa: ANN401 - what ``read_question`` reads
        """Answer a question: weights in [0, 1], a condition, or a whole table."""
        asked = read_question(question, self.plan.sizes, self.plan.cells)
        self._check_process()
        with self._turn:
            if not self.weights.fits(asked.attributes):
                raise InvalidInput(
                    "this question joins too many attributes: weights that learn from it would have more than "
                    f"{self.plan.cells:,} entries. Ask about fewer attributes at once, or plan with more cells=."
                )
            return self._table(asked.attributes) if isinstance(asked, Table) else self._single(asked)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a conversation cannot be copied or pickled: each copy would answer as if it were the only one."
        )

    def _check_process(self) -> None:
        check_process(self._process, "the conversation", "Open another one here, which costs as much again.")

    def _single(self, asked: Asked) -> Told:
        share = self._share(asked)
        estimate = round(share * self.plan.size * STEPS)
        mask = asked.weights > 0
        if self._bypasses(asked.attributes, mask):
            return Told(self._measure(asked, mask, share, 0), "direct")
        for sign in (1, -1):
            if self._gate.exhausted:
                return Told(estimate / STEPS, "unchecked")
            if self._gate.answer(partial(_gap, asked, estimate, sign)).above:
                self._ready.failed(asked.attributes, mask)
                return Told(self._measure(asked, mask, share, sign), "measured")
        return Told(estimate / STEPS, "checked")

    def _measure(self, asked: Asked, mask: npt.NDArray[np.bool_], share: float, sign: int) -> float:
        """Release an answer with noise and learn from it; ``sign`` is that of a comparison, 0 if there was none."""
        plan = self.plan
        noisy = int(plan.noise.release(self._counts.answer(asked))) / STEPS
        self._ready.measured(asked.attributes, mask)
        if sign and plan.step != "measured":
            exponents = sign * step_length(plan.least, plan.step) / STEPS * asked.weights
            self.weights.multiply(asked.attributes, exponents.astype(np.float64))
            return max(0.0, noisy)
        gap = noisy / plan.size - share
        toward = sign or (1 if gap > 0 else -1)
        known = max(plan.least if sign else 0.0, toward * gap - self._margin)
        if known > 0:
            self._project(asked, share + toward * known)
        return max(0.0, noisy)

    def _table(self, attributes: Attributes) -> Told:
        plan = self.plan
        estimate = self.weights.table(attributes) * plan.size
        steps = np.rint(estimate * STEPS).astype(np.int64)
        mask = np.ones(steps.shape, dtype=np.bool_)
        direct = self._bypasses(attributes, mask)
        if not direct:
            if self._gate.exhausted:
                return Told(estimate, "unchecked")
            if not self._gate.answer(partial(_farthest, attributes, steps)).above:
                return Told(estimate, "checked")
            self._ready.failed(attributes, mask)
        noisy = plan.table_noise.release(self._counts.table(attributes)).astype(np.float64)
        self._ready.measured(attributes, mask)
        self._learn(attributes, noisy / plan.size, 0.0 if direct else plan.least)
        return Told(np.maximum(noisy, 0.0), "direct" if direct else "measured")

    def _learn(self, attributes: Attributes, noisy: Floats, least: float) -> None:
        """Project onto what the table shows of the entries that are too small, or too large, together."""
        margin = self._table_margin
        for _ in range(PASSES):
            shares = self.weights.table(attributes)
            gaps = noisy - shares
            sides = [(float((sign * gaps - margin).clip(0.0).sum()), sign) for sign in (1, -1)]
            known, sign = max(sides)
            if max(known, least) <= margin:
                return
            chosen = sign * gaps > margin if known > 0 else np.abs(gaps) >= np.abs(gaps).max()
            if known <= 0:
                sign = 1 if float(gaps[chosen].sum()) > 0 else -1
            asked = Asked(attributes, STEPS * chosen.astype(np.int64))
            self._project(asked, self._share(asked) + sign * max(known, least))
            least = 0.0

    def _project(self, asked: Asked, target: float) -> None:
        shares = self.weights.table(asked.attributes).reshape(-1)
        steps, where = np.unique(asked.weights.reshape(-1), return_inverse=True)
        sums = np.bincount(where.reshape(-1), weights=shares)
        values: Floats = np.append(steps / STEPS, 0.0)
        eta = tilt(values, np.asarray(np.append(sums, max(0.0, 1 - self.weights.somebody)), dtype=np.float64), target)
        self.weights.multiply(asked.attributes, np.asarray(eta / STEPS * asked.weights, dtype=np.float64))

    def _share(self, asked: Asked) -> float:
        found = float((self.weights.table(asked.attributes) * asked.weights).sum()) / STEPS
        return min(max(found, 0.0), 1.0)

    def _bypasses(self, attributes: Attributes, mask: npt.NDArray[np.bool_]) -> bool:
        if not self._direct or self._ready.sure(attributes, mask):
            return False
        self._direct -= 1
        return True


def _gap(asked: Asked, estimate: int, sign: int, counts: Counts) -> int:
    return sign * (counts.answer(asked) - estimate)


def _farthest(attributes: Attributes, estimate: npt.NDArray[np.int64], counts: Counts) -> int:
    return int(np.abs(counts.table(attributes) * STEPS - estimate).max())
