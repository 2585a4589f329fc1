"""The page: checks that its parts agree, then fills the template. Error first, epsilon second."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.resources import files
from typing import Any

from discreet.errors import InvalidParameter, MissingExtra, RelationMismatch
from discreet.exact import finite, probability
from discreet.plots import theme
from discreet.report import words
from discreet.report.figure import Figure
from discreet.report.release import Release, Value
from discreet.report.versions import versions

__all__ = ["render", "template"]

PRIORS = (0.01, 0.5)
FALSE_ALARMS = 0.05


def render(
    releases: Sequence[Release],
    *,
    title: str,
    dataset_description: str,
    total: float,
    total_delta: float = 0.0,
    plots: Sequence[Figure] = (),
    assumptions: Sequence[str] = (),
    reproduce: str = "",
    date: str = "",
    exact: Mapping[str, Value] | None = None,
) -> str:
    """Return the whole report as one HTML page: no script, nothing fetched, ready to mail or print.

    ``total`` and ``total_delta`` are the cost of all releases together, as the accountant says. ``exact`` holds true
    answers by title and is for invented data alone: whatever stands there is published.

    >>> page = render([], title="Empty", dataset_description="Nothing was asked.", total=0)
    >>> "<script" in page
    False
    """
    _check(releases, total, total_delta)
    return str(
        template("report.html").render(
            releases=releases,
            tables=[release for release in releases if isinstance(release.value, Mapping)],
            title=title,
            description=dataset_description,
            total=total,
            total_delta=total_delta,
            factor=words.multiple(total),
            relation=releases[0].relation if releases else None,
            private=all(release.private for release in releases),
            beliefs=[(prior, *words.posterior(prior, total)) for prior in PRIORS],
            false_alarms=FALSE_ALARMS,
            power=words.power(FALSE_ALARMS, total, total_delta),
            plots=plots,
            assumptions=assumptions,
            reproduce=reproduce,
            date=date,
            exact=dict(exact or {}),
            versions=versions(),
            theme=theme,
        )
    )


def _check(releases: Sequence[Release], total: float, total_delta: float) -> None:
    """Refuse a report whose parts contradict each other."""
    if finite(total, "total") < 0:
        raise InvalidParameter(f"total must be at least 0, got {total}.")
    probability(total_delta, "total_delta", zero=True)
    relations = sorted({release.relation for release in releases})
    if len(relations) > 1:
        raise RelationMismatch(
            f"one report must speak of one neighbour relation, got {' and '.join(relations)}. "
            "Write one report for each."
        )
    dearest = max((release.epsilon for release in releases if release.delta >= total_delta), default=0.0)
    if total < dearest:
        raise InvalidParameter(
            f"total must cover every release, got {total} below {dearest}. Add the losses and ask for their epsilon."
        )


def template(name: str) -> Any:  # noqa: ANN401  jinja2 is optional
    """Return a page of this room to fill in, or say how to install what fills it."""
    try:
        jinja2 = import_module("jinja2")
    except ImportError as missing:
        raise MissingExtra("jinja2", "report") from missing
    markup = import_module("markupsafe").Markup
    folder = files("discreet.report")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (folder / name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": words.number,
        "shown": words.shown,
        "bound": words.bound,
        "least": words.least,
        "noise": words.noise,
        "share": words.share,
        "above": words.percent_above,
        "below": words.percent_below,
        "drawing": lambda figure: markup(figure.inline),
    }
    return environment.get_template(name)
