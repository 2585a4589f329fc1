"""The scoreboard of an audit: which claims were attacked and stood, and which broken mechanisms were caught."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.plots import theme
from discreet.report.page import template
from discreet.report.versions import versions

__all__ = ["Attacked", "Caught", "Scoreboard", "render_scoreboard"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacked:
    """One of our own claims after an audit."""

    name: str
    claim: float
    delta: float
    certified: float
    slack: float
    draws: int
    refuted: bool
    evidence: str

    @property
    def noticed(self) -> str:
        """How much too little noise would have been noticed, in words."""
        if self.refuted:
            return "refuted"
        if not self.slack < 1:
            return "gross mistakes"
        return f"{math.ceil(100 * self.slack / (1 + self.slack))} % too little"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caught:
    """One of the broken mechanisms after an audit."""

    name: str
    mistake: str
    paper: str
    caught: bool
    seconds: float
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoreboard:
    """Everything that an audit found."""

    tier: str
    alpha: float
    attacked: Sequence[Attacked]
    caught: Sequence[Caught] = ()

    @property
    def refuted(self) -> int:
        """How many of our own claims did not stand."""
        return sum(row.refuted for row in self.attacked)

    @property
    def catches(self) -> int:
        """How many of the broken mechanisms were found out."""
        return sum(row.caught for row in self.caught)


def render_scoreboard(board: Scoreboard, *, reproduce: str = "", date: str = "") -> str:
    """Return the page as HTML: one file, no script, nothing fetched."""
    return str(
        template("scoreboard.html").render(
            board=board, reproduce=reproduce, date=date, versions=versions(), theme=theme, title="Every claim, attacked"
        )
    )
