"""The page about a plan: what it costs by every theorem, before anything is released."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from discreet.errors import InvalidParameter
from discreet.plots import theme
from discreet.report.figure import Figure
from discreet.report.page import template
from discreet.report.versions import versions

__all__ = ["Comparison", "Costs", "render_costs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What one theorem says of the whole plan."""

    name: str
    epsilon: float
    note: str
    paper: str
    valid: bool
    best: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """A plan and its cost; ``table`` is the noise that each of many counts would bear in its place."""

    plan: str
    epsilon: float
    lower: float
    delta: float
    repeats: int
    comparisons: Sequence[Comparison]
    growth: Figure
    build_up: Figure | None
    profile: Figure
    tradeoff: Figure
    queries: Figure
    table: Sequence[tuple[int, float, float, float]] = ()
    people: int
    sampling_error: float
    relation: str | None = None
    sampled: bool = False
    warnings: Sequence[str] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        if not 0 <= self.lower <= self.epsilon:
            raise InvalidParameter(f"the bounds must be in order, got {self.lower} and {self.epsilon}.")

    @property
    def renyi(self) -> Comparison | None:
        """The best that Renyi accounting proves, where it covers the plan."""
        found = [c for c in self.comparisons if c.name.startswith("Renyi")]
        return min(found, key=lambda c: c.epsilon, default=None)


def render_costs(costs: Costs, *, reproduce: str = "", date: str = "") -> str:
    """Return the page as HTML: one file, no script, nothing fetched."""
    return str(
        template("costs.html").render(
            costs=costs, reproduce=reproduce, date=date, versions=versions(), theme=theme, title="What this plan costs"
        )
    )
