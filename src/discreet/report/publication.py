"""The page about a publication: several tables released together, and what their release promises to whom."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from discreet.accounting import Budget, PrivacyLoss
from discreet.errors import InvalidParameter, RelationMismatch
from discreet.exact import finite, probability
from discreet.plots import theme
from discreet.report import words
from discreet.report.citations import Mechanism, accounting, bounding
from discreet.report.exhibit import Exhibit
from discreet.report.page import FALSE_ALARMS, PRIORS, template
from discreet.report.versions import versions
from discreet.session.answer import Answer
from discreet.session.digits import above
from discreet.units import Person, Row

__all__ = ["Line", "Publication", "Published", "render_publication"]

SLACK = 1e-9
"""What rounding may take from an epsilon that was claimed."""

LISTED = 3
"""With more tables than this a page has a table of contents."""

CURRENCIES = {"basic": "epsilon", "zcdp": "rho", "renyi": "Renyi divergence", "gdp": "squared mu"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One table: the name of its files, what it is about, what was asked in SQL or words, and what was released."""

    name: str
    title: str
    question: str
    answer: Answer
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One entry of a ledger."""

    number: int
    when: str
    what: str
    cost: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """Tables that are published together.

    ``loss``, ``epsilon`` and ``delta`` are of everything in it together; ``spent`` is the share of the data set's
    budget that is spent afterwards. ``size`` is declared and public. ``exact`` holds rows with true values by the names
    of tables and is for invented data alone: whatever stands there is published.
    """

    title: str
    description: str
    date: str
    dataset: str
    version: str
    size: int | None
    unit: Row | Person
    loss: PrivacyLoss
    epsilon: float
    delta: float
    budget: Budget
    spent: float
    tables: tuple[Published, ...]
    warnings: tuple[str, ...] = ()
    ledger: str = ""
    entries: tuple[Line, ...] = ()
    reproduce: str = ""
    private: bool = True
    exact: Mapping[str, Iterable[Mapping[str, object]]] | None = None

    @property
    def fixes(self) -> bool:
        """Whether some numbers are published without noise, so that only data that agree on them are compared."""
        return any(table.answer.parameters.get("exact") for table in self.tables)

    def __post_init__(self) -> None:
        if finite(self.epsilon, "epsilon") < 0:
            raise InvalidParameter("epsilon must be at least 0.")
        probability(self.delta, "delta", zero=True)
        if not 0 <= finite(self.spent, "spent") <= 1:
            raise InvalidParameter("spent is a share of the budget: 0 at least, and 1 at most.")
        if self.loss.relation not in (None, self.unit.relation):
            raise RelationMismatch(
                f"the unit is protected under {self.unit.relation}, and the loss speaks of {self.loss.relation}."
            )
        least = replace(self.loss, reduced=False).bounds(self.delta)[0]  # of what is charged
        if self.epsilon < least * (1 - SLACK):
            raise InvalidParameter(
                f"epsilon must cover the loss, got {words.bound(self.epsilon)} where nothing below "
                f"{words.least(least)} is true. Write loss.epsilon(delta)."
            )


def render_publication(publication: Publication) -> str:
    """Return the page as HTML: one file, no script, nothing fetched, ready to mail or print.

    >>> empty = Publication(
    ...     title="Nothing yet", description="", date="", dataset="visits", version="1", size=None, unit=Row(),
    ...     loss=PrivacyLoss.pure(0), epsilon=0.0, delta=0.0, budget=Budget(1), spent=0.0, tables=(),
    ... )
    >>> "<script" in render_publication(empty)
    False
    """
    unit, exact = publication.unit, publication.exact or {}
    exhibits = [
        Exhibit(
            table.answer,
            number=place + 1,
            title=table.title,
            question=table.question,
            files=table.files,
            people="people" if isinstance(unit, Person) else "rows",
            exact=exact.get(table.name),
        )
        for place, table in enumerate(publication.tables)
    ]
    private = publication.private and all(table.answer.private for table in publication.tables)
    return str(
        template("publication.html").render(
            publication=publication,
            title=publication.title,
            date=publication.date,
            private=private,
            exhibits=exhibits,
            listed=len(exhibits) > LISTED,
            numbers=sum(exhibit.numbers for exhibit in exhibits),
            unit=unit,
            persons=isinstance(unit, Person),
            currency=CURRENCIES[str(publication.budget.filter)],
            rounded_up=above,
            factor=words.multiple(publication.epsilon),
            beliefs=[(prior, *words.posterior(prior, publication.epsilon)) for prior in PRIORS],
            false_alarms=FALSE_ALARMS,
            power=words.power(FALSE_ALARMS, publication.epsilon, publication.delta),
            mechanisms=_mechanisms(exhibits, publication),
            exact=bool(exact),
            reproduce=publication.reproduce,
            versions=versions(),
            theme=theme,
        )
    )


def _mechanisms(exhibits: Iterable[Exhibit], publication: Publication) -> list[tuple[Mechanism, str]]:
    """Return all mechanisms with what they made, in the order of the tables."""
    uses: dict[Mechanism, list[str]] = {}
    for exhibit in exhibits:
        for mechanism, columns in exhibit.mechanisms.items():
            named = ", ".join(columns[:4]) + (f" and {len(columns) - 4} more" if len(columns) > 4 else "")
            uses.setdefault(mechanism, []).append(f"{named} (table {exhibit.number})")
    made = [(mechanism, "; ".join(used)) for mechanism, used in uses.items()]
    bounds = bounding(publication.unit)
    if made and bounds is not None:
        made.append((bounds, "all tables"))
    total, budget = accounting(publication.loss, publication.budget)
    return [*made, (total, "the total epsilon"), (budget, "the whole data set")] if made else []
