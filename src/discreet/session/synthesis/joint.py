"""Groups by many columns that a model answers: what it is measured by, what that costs, and which rows it makes.

A unit counts in at most ``records`` rows. What is measured depends on released numbers and public facts alone, and what
it costs on public facts alone.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from discreet.accounting import PrivacyLoss
from discreet.session.joint import Budgeted, Counted, Joint, Made, coded
from discreet.session.synthesis.methods import METHODS, choose, deviations, made
from discreet.session.synthesis.rules import Masks, masks_of
from discreet.tables.kinds import Value
from discreet.tables.synthetic import Coding, Synthetic

__all__ = ["JointSynthesis", "counted_rows"]

READ = (
    "Rows are synthetic: nobody stands behind any of them. Counts of combinations that were not measured may be far "
    "off, and no interval is known for a single row."
)

GAUSSIAN, GEOMETRIC = "discrete Gaussian noise", "integer Laplace noise"


@dataclass(frozen=True)
class JointSynthesis(Joint):
    """Synthetic rows by all columns."""

    names_of_keys: tuple[str, ...]
    declared: tuple[tuple[Value, ...], ...]
    asked: Synthetic
    cost: Budgeted
    seconds: float | None = None
    error_note: ClassVar[str] = "in counts of one column"

    def __post_init__(self) -> None:
        _ = self.mechanism  # which must exist

    @property
    def codings(self) -> tuple[Coding, ...]:
        """How each column is cut."""
        return self.asked.codings

    @property
    def lengths(self) -> tuple[int, ...]:
        """How many values each column has."""
        return tuple(map(len, self.declared))

    @cached_property
    def chosen(self) -> tuple[str, str]:
        """The method, and why it is taken."""
        return choose(self.lengths, self.cost, self.asked.method, self.seconds)

    @cached_property
    def zeros(self) -> Masks:
        """What is impossible."""
        return masks_of(self.asked, self.codings)

    @cached_property
    def mechanism(self) -> Any:  # noqa: ANN401  a synthesizer
        """What measures the rows."""
        places = {name: place for place, name in enumerate(self.names_of_keys)}
        workload = None
        if self.asked.workload is not None:
            workload = tuple(tuple(sorted(places[name] for name in one)) for one in self.asked.workload)
        return made(self.chosen[0], self.lengths, self.cost, zeros=self.zeros, workload=workload)

    @property
    def loss(self) -> PrivacyLoss:
        """That of all measurements and choices."""
        loss: PrivacyLoss = self.mechanism.loss
        return loss

    @property
    def told(self) -> str:
        """How the rows are made, in words."""
        return f"synthetic rows by {METHODS[self.chosen[0]].told}, {GEOMETRIC if self.cost.rho is None else GAUSSIAN}"

    @property
    def notes(self) -> tuple[str, ...]:
        """How to read it."""
        method, reason = self.chosen
        told = [READ, f"Method {method}: {reason}."]
        if self.asked.rules:
            told.append("Impossible by rule, and never there: rows without " + "; ".join(self.asked.rules) + ".")
        return tuple(told)

    @property
    def parameters(self) -> dict[str, object]:
        """The method, how columns are cut, and what is impossible."""
        return {
            "together": "synthesis",
            "method": self.chosen[0],
            "reason": self.chosen[1],
            "sizes": self.sizes,
            "types": {one.name: one.kind for one in self.codings},
            "edges": {one.name: [float(edge) for edge in one.edges] for one in self.codings if one.edges},
            "labels": {name: list(values) for name, values in zip(self.names_of_keys, self.declared, strict=True)},
            "rules": list(self.asked.rules),
            "wanted": self.asked.rows,
        }

    def names(self, count: str) -> tuple[str, ...]:
        """One column of counts."""
        return (count,)

    def parts(self) -> list[tuple[str, float]]:
        """The columns by themselves, where the noise of their counts is known beforehand."""
        found = deviations(self.chosen[0], self.mechanism)
        return list(zip(self.names_of_keys, found, strict=False)) or [("the tables", 0.0)]

    def release(self, counted: Counted, count: str, beta: float) -> Made:
        """Return synthetic rows, each once, with how many there are."""
        from discreet.session.synthesis.running import model_of
        from discreet.synthetic.coded import Tallied

        cells, counts = coded(counted, self.declared)
        model, _ = model_of(self, Tallied(cells, counts), lambda *_: None)
        return counted_rows(self, model, count)


def counted_rows(joint: JointSynthesis, model: Any, count: str) -> Made:  # noqa: ANN401  a model
    """Return the rows that a model makes, each once, with how many there are of it."""
    from discreet.session.synthesis.counted import counted
    from discreet.session.synthesis.rows import possible_codes

    labels = dict(zip(joint.names_of_keys, joint.declared, strict=True))
    return counted(possible_codes(model, joint.zeros, joint.asked.rows), labels, count, joint.told)
