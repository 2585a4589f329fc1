"""One table of a publication as a reader sees it: its cells, its picture, and its accuracy in words."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from statistics import median_high
from urllib.parse import quote

from discreet.report.citations import Mechanism, mechanisms
from discreet.report.drawing import drawable, even, pictures, sides
from discreet.report.figure import Figure
from discreet.report.layout import Layout
from discreet.report.synthetic import association, is_synthetic, margins
from discreet.session.answer import Answer
from discreet.session.cost import SILENT, cost, interval, promise
from discreet.session.digits import above
from discreet.session.estimates import Estimates
from discreet.session.text_table import visible

__all__ = ["Exhibit"]

EXAMPLES = 12
"""Synthetic rows that a page shows: nobody reads them one by one."""

MISSING = "a missing group is not an empty one"


class Exhibit:
    """A released table with everything that a page says about it. All of it is computed from what was released.

    ``exact`` holds rows with true values, for invented data alone.

    >>> from discreet.accounting import PrivacyLoss
    >>> n = Estimates(value=(1234, 310), low=(1228, 304), high=(1240, 316), error=6)
    >>> keys, loss, public = {"city": ("Oslo", "Bergen")}, PrivacyLoss.laplace(0.5), {"threshold": 37}
    >>> answer = Answer(keys=keys, columns={"n": n}, level=0.95, loss=loss, parameters=public)
    >>> exhibit = Exhibit(answer, number=1, title="Visits", question="How many?")
    >>> exhibit.accuracy
    [('n', 'within ±6 in 19 of 20 releases', '')]
    >>> exhibit.threshold
    'A city appears when about 37 people or more are in it; a missing one is not an empty one.'
    """

    def __init__(
        self,
        answer: Answer,
        *,
        number: int,
        title: str,
        question: str,
        files: Sequence[str] = (),
        people: str = "people",
        exact: Iterable[Mapping[str, object]] | None = None,
    ) -> None:
        self.answer, self.number, self.title, self.question = answer, number, title, question
        self.people = people
        self.files = [(name, "./" + quote(name)) for name in files]
        self.layout = Layout(answer, drawn=drawable(answer), exact=exact)
        if is_synthetic(answer):
            self.layout = Layout(answer, exact=exact, most=EXAMPLES)

    @property
    def anchor(self) -> str:
        """Where the page has it."""
        return f"table-{self.number}"

    @property
    def numbers(self) -> int:
        """How many values it holds."""
        return sum(value is not None for e in self.answer.columns.values() for value in e.value)

    @property
    def cost(self) -> str:
        """What it costs by itself."""
        return cost(self.answer.loss, self.answer.parameters.get("delta"))

    @property
    def mechanisms(self) -> dict[Mechanism, tuple[str, ...]]:
        """What made it."""
        return mechanisms(self.answer)

    @property
    def whole(self) -> str:
        """The file that has all rows: comma-separated values before others."""
        names = [name for name, _ in self.files]
        return next((name for name in names if name.endswith(".csv")), names[0] if names else "")

    @cached_property
    def pictures(self) -> tuple[Figure, ...]:
        """What is drawn of it, for a wide and for a narrow page."""
        if is_synthetic(self.answer):
            return margins(self.answer)
        return pictures(self.answer, names=self.layout.key_share / 100)

    @cached_property
    def maps(self) -> tuple[Figure, ...]:
        """What else is drawn of synthetic rows: how strongly columns go together."""
        return association(self.answer) if is_synthetic(self.answer) else ()

    @property
    def accuracy(self) -> list[tuple[str, str, str]]:
        """The names of columns, how far off their numbers may be, and how they were made; alike ones together."""
        found: dict[tuple[str, str], list[str]] = {}
        for name, estimates in self.answer.columns.items():
            found.setdefault((self._accuracy(estimates), visible(estimates.method)), []).append(visible(name))
        return [(", ".join(names), accuracy, method) for (accuracy, method), names in found.items()]

    def _accuracy(self, e: Estimates) -> str:
        held = promise(self.answer.level)
        if e.is_text:
            return "chosen at random, frequent values more often; a choice has no interval"
        if e.error is not None:
            if not e.error:
                return f"{SILENT} {held}" if e.method else "exact, because it is public"
            return f"within ±{above(float(e.error))} {held}"
        lengths = [max(pair) for pair in sides(e)]
        if not lengths:
            return "no interval is known"
        unknown = sum(value is not None for value in e.value) - len(lengths)
        rest = f"; of {unknown:,} no interval is known" if unknown else ""
        if even(lengths):
            return f"within ±{above(max(lengths), 3)} {held}{rest}"
        usual, widest = above(median_high(lengths), 2), above(max(lengths), 2)
        return f"half of the rows within ±{usual}, all within ±{widest}; each {held}{rest}"

    @property
    def misses(self) -> tuple[int, int]:
        """How many intervals there are, and how many of them are expected to miss, at most: 0 where that is below 1."""
        count = sum(end is not None for e in self.answer.columns.values() if e.error != 0 for end in e.low)
        expected = count * (1 - self.answer.level)
        return count, math.ceil(expected - 1e-9) if expected >= 1 else 0

    @property
    def threshold(self) -> str:
        """Which groups appear, in words; nothing where all are public."""
        threshold = self.answer.parameters.get("threshold")
        names = [visible(name) for name in self.answer.keys]
        if not isinstance(threshold, int) or not names:
            return ""
        group = f"combination of {', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
        article = "An" if group[:1].lower() in "aeiou" else "A"
        people = self.people if threshold != 1 else {"people": "person", "rows": "row"}[self.people]
        verb = "is" if threshold == 1 else "are"
        return (
            f"{article} {group} appears when about {threshold:,} {people} or more {verb} in it; "
            "a missing one is not an empty one."
        )

    @property
    def interval(self) -> str:
        """What the intervals are called."""
        return interval(self.answer.level)

    @property
    def dropped(self) -> int | None:
        """About how many groups are not shown, where that was released."""
        count = self.answer.parameters.get("groups_not_shown")
        return count if isinstance(count, int) else None

    @property
    def notes(self) -> list[str]:
        """What the answer says about itself and this page does not say already."""
        return [visible(note) for note in self.answer.notes if not (self.threshold and MISSING in note)]

    @property
    def gaps(self) -> bool:
        """Whether some number is missing among the rows shown."""
        return any(value is None for e in self.answer.columns.values() for value in e.value[: self.layout.shown])
