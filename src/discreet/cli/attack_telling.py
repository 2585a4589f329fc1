"""How the commands that attack a release take their options, show their progress and answer."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from discreet import plots
from discreet.auditing.attacks.outcome import Outcome
from discreet.auditing.attacks.rates import Tick
from discreet.cli.findings import answer, plain, progress, refusing, writable
from discreet.errors import InvalidParameter
from discreet.report import Figure
from discreet.report.finding import Finding, Rows

__all__ = ["Epsilon", "Json", "Page", "asked", "counted", "tell", "typed"]

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Page = Annotated[Path | None, typer.Option("--plot", help="Write one HTML page with the picture to this file.")]
Epsilon = Annotated[
    float, typer.Option(min=1e-3, max=1e4, help="The epsilon of the protected release that stands beside the attack.")
]


@contextmanager
def asked(plot: Path | None) -> Iterator[None]:
    """Refuse in a sentence what cannot be done, and first of all a page that cannot be written."""
    with refusing():
        writable(plot)
        yield


@contextmanager
def counted(work: int) -> Iterator[Tick]:
    """Show a bar for work of a known number of pieces."""
    with progress() as show:
        done = 0

        def tick(words: str) -> None:
            nonlocal done
            show(words, min(done / work, 1.0))
            done += 1

        yield tick


def typed(name: str, **options: str | float | None) -> list[str]:
    """Return a command with its options, as one would type it."""
    given = {f"--{option.replace('_', '-')}": value for option, value in options.items() if value is not None}
    return [name, *(word for option, value in given.items() for word in (option, f"{value}"))]


def tell(
    found: Outcome,
    *,
    title: str,
    table: Rows,
    caption: str,
    source: str,
    words: Sequence[str],
    remarks: Sequence[str] = (),
    plot: Path | None,
    as_json: bool,
) -> None:
    """Print what an attack found, and write it as a page if one is wanted."""
    figures = [] if plot is None else [Figure(svg=plots.svg(found.plot()), caption=caption)]
    finding = Finding(
        title=title,
        verdict=found.verdict,
        figures=figures,
        tables=[table],
        protection=found.protection,
        remarks=[*remarks, "The noise of discreet is drawn anew each time, so its numbers differ a little."],
        source=source,
    )
    record = plain(found)
    if not isinstance(record, dict):
        raise InvalidParameter("an attack must hand back a record.")
    command = shlex.join(["discreet", "attack", *words, *(["--plot", str(plot)] if plot else [])])
    answer(lambda: finding, {**record, "protection": found.protection}, as_json=as_json, plot=plot, command=command)
