"""``discreet preview``: how accurate a release will be and what it costs, before anything is spent."""

import json
import shlex
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.cli.findings import waiting, writable
from discreet.cli.publishing_guard import guarded
from discreet.errors import InvalidParameter

if TYPE_CHECKING:
    from discreet.publishing.foresight import Foreseen, Foresight

__all__ = ["preview", "screen", "show_releases"]

WIDTH = 100
"""Columns of a line where there is no terminal to ask."""

BAR = 32


def preview(
    file: Annotated[Path, typer.Argument(help="The file, by default release.yaml here.")] = Path("release.yaml"),
    html: Annotated[Path | None, typer.Option("--html", help="Write one HTML page with pictures to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Tell how far off every column will be, and what the release costs. Reads no data, spends nothing.

    The page also shows what other epsilons would buy, and twenty simulated releases of an invented table.
    """
    with guarded(as_json):
        writable(html)
        from discreet.publishing.foresight import foresee
        from discreet.publishing.reading import read_release

        console = screen()
        source = read_release(file)
        with waiting("Planning"):
            foresight = foresee(source, pictures=html is not None or (console.is_terminal and not as_json))
            written = _page(foresight, html, file)
        if as_json:
            typer.echo(json.dumps(record(foresight) | written, indent=2, ensure_ascii=False))
            return
        show_releases(console, foresight)
        _show_cost(console, foresight)
        if html is not None:
            console.print(f"\nThe page:\n  {html}", soft_wrap=True, markup=False)


def screen() -> Console:
    """Return where people read: a terminal with its own width, or lines of a fixed one."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDTH)


def show_releases(console: Console, foresight: "Foresight") -> None:
    """Print a table of errors for each release."""
    from discreet.publishing.words import accuracy, keys_in_words, note

    console.print(Text(foresight.source.file.title, style="bold"))
    for one in foresight.releases:
        console.print()
        console.print(Text(one.entry.heading, style="bold"))
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
        for name in ("column", "measures", "accuracy", "note"):
            table.add_column(name, overflow="fold")
        for column in one.forecast.columns:
            cells = (column.name, column.measures, accuracy(column, one.forecast.level))
            table.add_row(*map(Text, cells), Text(note(column)))
        console.print(table)
        console.print(Text(keys_in_words(one)))
        if console.is_terminal:
            for line in _plot(one):
                console.print(Text(line, style="dim"))


def _show_cost(console: Console, foresight: "Foresight") -> None:
    from discreet.publishing.words import cost_in_words, standing_in_words

    console.print()
    console.print(Text(f"All of it costs {cost_in_words(foresight.epsilon, foresight.delta)}.", style="bold"))
    console.print(Text(standing_in_words(foresight)))
    for warning in foresight.warnings:
        console.print(Text(f"Warning: {warning}", style="yellow"))
    console.print(Text("No data was read and nothing was spent."))


def _plot(one: "Foreseen") -> Iterator[str]:
    """Yield a small plot: what error each epsilon would buy."""
    if one.frontier is None:
        return
    for name, errors in one.frontier.errors.items():
        yield f"  {name}: error by epsilon"
        for epsilon, error in zip(one.frontier.epsilons, errors, strict=True):
            bar = "█" * max(1, round(BAR * error / max(errors)))
            mark = " <- planned" if epsilon == one.frontier.chosen else ""
            yield f"  {epsilon:8.3g}  {bar} ±{error:,.3g}{mark}"


def _page(foresight: "Foresight", html: Path | None, file: Path) -> dict[str, str]:
    if html is None:
        return {}
    from discreet.publishing.preview_page import render_preview

    command = shlex.join(["discreet", "preview", str(file), "--html", str(html)])
    page = render_preview(foresight, reproduce=command, date=date.today().isoformat())  # noqa: DTZ011
    try:
        html.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InvalidParameter(f"{html} cannot be written ({error.strerror or error}). Name another file.") from None
    return {"page": str(html)}


def record(foresight: "Foresight") -> dict[str, Any]:
    """Return a preview as JSON has it."""
    standing = foresight.standing
    return {
        "title": foresight.source.file.title,
        "releases": [
            {
                "name": one.entry.name,
                "title": one.entry.heading,
                "query": one.forecast.query,
                "level": one.forecast.level,
                "epsilon": one.forecast.epsilon,
                "delta": one.forecast.delta,
                "threshold": one.forecast.threshold,
                "columns": [
                    {
                        "name": column.name,
                        "measures": column.measures,
                        "error": column.error,
                        "note": column.error_note,
                        "mechanism": column.mechanism,
                        "share": column.share,
                    }
                    for column in one.forecast.columns
                ],
            }
            for one in foresight.releases
        ],
        "epsilon": foresight.epsilon,
        "delta": foresight.delta,
        "spent_before": standing.before,
        "spent_after": standing.after,
        "fits": standing.fits,
        "stored": standing.stored,
        "warnings": list(foresight.warnings),
    }
