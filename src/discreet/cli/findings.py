"""How an attack's command answers: in words and a table, as JSON, as a page."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import date
from pathlib import Path
from typing import Any, NoReturn

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from discreet.errors import DiscreetError, InvalidParameter
from discreet.report.finding import Finding, Rows, render_finding

__all__ = ["answer", "plain", "progress", "refusing", "waiting", "writable"]


@contextmanager
def refusing() -> Iterator[None]:
    """Say what is wrong in one sentence and end with exit code 2; no traceback, and so no data in one."""
    try:
        yield
    except DiscreetError as error:
        _stop(str(error))


def _stop(words: str) -> NoReturn:
    typer.echo(words, err=True)
    raise typer.Exit(2) from None


@contextmanager
def progress() -> Iterator[Callable[[str, float | None], None]]:
    """Show a bar on a terminal, on the stream that carries no results; called with words and a share, if known."""
    console = Console(stderr=True)
    columns = TextColumn("{task.description:<20}"), BarColumn(), TextColumn("{task.fields[done]}")
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0, done="")

        def show(words: str, share: float | None) -> None:
            if share is None:
                bar.update(task, total=None, description=words, done="running")
            else:
                bar.update(task, total=1.0, completed=share, description=words, done=f"{100 * share:3.0f}%")

        yield show


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """Show on a terminal that work is being done, on the stream that carries no results."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(words):
        yield


def writable(page: Path | None) -> None:
    """See to it that the page can be written before work is spent on it."""
    if page is None:
        return
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        new = not page.exists()
        page.touch()
        if new:
            page.unlink()
    except OSError as error:
        raise InvalidParameter(
            f"the page needs a file that can be written, and {page} cannot ({error.strerror or error}). "
            "Name another one: --plot page.html"
        ) from None


def answer(
    make: Callable[[], Finding], record: Mapping[str, Any], *, as_json: bool, plot: Path | None, command: str
) -> None:
    """Print a finding, and write it as a page if one is wanted."""
    finding = make()
    written: dict[str, Any] = {}
    if plot is not None:
        html = render_finding(finding, reproduce=command, date=date.today().isoformat())  # noqa: DTZ011
        try:
            plot.write_text(html, encoding="utf-8")
        except OSError as error:
            raise InvalidParameter(
                f"{plot} cannot be written ({error.strerror or error}). Name another file."
            ) from None
        written = {"page": str(plot)}
    if as_json:
        typer.echo(json.dumps({"verdict": finding.verdict, **record, **written}, indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False)
    console.print(Text(f"\n{finding.verdict}", style="bold"))
    for table in finding.tables:
        console.print(_table(table))
    for line in finding.remarks:
        console.print(Text(line, style="dim"))
    if finding.advice:
        console.print(Text("\nWhat to do", style="bold"))
        for line in finding.advice:
            console.print(Text(f"- {line}"))
    if finding.protection:
        console.print(Text("\nThe same release, protected", style="bold"))
        console.print(Text(finding.protection))
    if plot is not None:
        console.print(Text("\nThe page:"))
        console.print(f"  {plot}", style="bold", soft_wrap=True, markup=False)


def _table(rows: Rows) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), title=None)
    for place, name in enumerate(rows.head):
        table.add_column(Text(name), justify="right" if place else "left", overflow="fold")
    for row in rows.rows:
        table.add_row(*[Text(cell) for cell in row])
    return table


def plain(value: Any) -> Any:  # noqa: ANN401  whatever JSON can hold
    """Return a result as JSON has it: records as objects, keys as text.

    >>> from discreet.auditing.attacks.traces import Resolution
    >>> plain({Resolution(): (0.5, 1.0)})
    {'1 antenna, 1 h': [0.5, 1.0]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value
