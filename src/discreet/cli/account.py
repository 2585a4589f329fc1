"""The ``account`` command's work: read a plan or a configuration, tell its cost, write the page."""

import json
import math
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import partial
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from discreet.accounting.expression import parse_plan
from discreet.cli.configuration import read_configuration
from discreet.cli.costs import WORK, costs_of
from discreet.cli.verdict import as_record, as_text, judge
from discreet.errors import DiscreetError, InvalidParameter
from discreet.report import Costs, render_costs

__all__ = ["Asked", "tell"]

DELTA = 1e-6
PEOPLE = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was written on the command line."""

    loss: str | None
    config: Path | None
    delta: float | None
    plot: Path | None
    people: int | None
    as_json: bool


def tell(asked: Asked) -> None:
    """Answer on the terminal, and with a page if one is wanted; what is wrong is said and ends with exit code 2."""
    try:
        if (asked.loss is None) == (asked.config is None):
            raise InvalidParameter(
                'say what is released, as discreet account "10 * laplace(0.1)", or name a file: --config run.json'
            )
        if asked.plot is not None:
            _writable(asked.plot)
        _tell_run(asked, asked.config) if asked.config is not None else _tell_plan(asked, asked.loss or "")
    except DiscreetError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None


def _tell_plan(asked: Asked, text: str) -> None:
    step, repeats = parse_plan(text)
    whole, delta = repeats * step, DELTA if asked.delta is None else asked.delta
    low, high = whole.bounds(delta)
    table = whole.routes(delta)
    record = {
        "delta": delta,
        "epsilon": _plain(high),
        "at_least": _plain(low),
        "routes": [{"theorem": route.name, "epsilon": _plain(route.epsilon), "valid": route.valid} for route in table],
    }
    if not asked.as_json:
        typer.echo("\n".join([f"{text} at delta={delta:g}", *str(table).splitlines()[1:]]))
        typer.echo(
            f"\nepsilon {high:.6g} at delta {delta:g}; no accountant can prove less than {low:.6g} for this description"
        )
    costs = partial(costs_of, step, repeats, table, (low, high), plan=text, people=asked.people or PEOPLE)
    written = _write_page(asked, costs)
    if asked.as_json:
        typer.echo(json.dumps(record | written, indent=2))


def _tell_run(asked: Asked, path: Path) -> None:
    run = read_configuration(path, delta=asked.delta)
    verdict = judge(run)
    if not asked.as_json:
        typer.echo(as_text(run, verdict))
        for warning in verdict.warnings:
            typer.echo(f"\nWARNING: {warning}")
    costs = partial(
        costs_of,
        run.step(Fraction(1)),
        run.count,
        bounds=(verdict.lower, verdict.epsilon),
        plan=f"{path.name}: {run.words}",
        people=asked.people or run.people or PEOPLE,
        warnings=verdict.warnings,
    )
    written = _write_page(asked, lambda tick: costs(run.loss().routes(verdict.delta), tick=tick))
    if asked.as_json:
        typer.echo(json.dumps(as_record(run, verdict) | written, indent=2))


def _plain(value: float) -> float | str:
    """Return a number that JSON has: infinity is written as a word."""
    return value if math.isfinite(value) else "infinite"


def _write_page(asked: Asked, make: Callable[..., Costs]) -> dict[str, str]:
    """Write the page if one is wanted, and return where it is."""
    if asked.plot is None:
        return {}
    with _progress() as tick:
        html = render_costs(make(tick=tick), reproduce=_command(asked), date=date.today().isoformat())  # noqa: DTZ011
    try:
        asked.plot.write_text(html, encoding="utf-8")
    except OSError as error:
        raise _unwritable(asked.plot, error) from None
    if not asked.as_json:
        typer.echo(f"\nThe page to hand over:\n  {asked.plot}")
    return {"page": str(asked.plot)}


def _writable(page: Path) -> None:
    """See to it that the page can be written before minutes of work are spent on it."""
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        new = not page.exists()
        page.touch()
        if new:
            page.unlink()
    except OSError as error:
        raise _unwritable(page, error) from None


def _unwritable(page: Path, error: OSError) -> InvalidParameter:
    return InvalidParameter(
        f"the page needs a file that can be written, and {page} cannot ({error.strerror or error}). "
        "Name another one: --plot page.html"
    )


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Show a bar on a terminal, on the stream that carries no results."""
    console = Console(stderr=True)
    columns = TextColumn("{task.description:<28}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%")
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=WORK)

        def tick(words: str) -> None:
            bar.update(task, advance=1, description=words)

        yield tick


def _command(asked: Asked) -> str:
    words = ["discreet", "account"]
    words += [asked.loss] if asked.loss is not None else ["--config", str(asked.config)]
    words += ["--delta", f"{asked.delta:g}"] if asked.delta is not None else []
    words += ["--people", str(asked.people)] if asked.people is not None else []
    return shlex.join([*words, "--plot", str(asked.plot)])
