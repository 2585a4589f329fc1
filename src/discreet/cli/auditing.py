"""``discreet audit``: attack every claim that is registered, and the zoo of broken mechanisms to show that it works."""

import json
import math
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from discreet.auditing.audit import Audit
from discreet.auditing.hunt import hunt
from discreet.auditing.registry import TIERS, Entry, examine, registered
from discreet.auditing.zoo.specimen import Specimen
from discreet.report.scoreboard import Attacked, Caught, Scoreboard, render_scoreboard

__all__ = ["audit_command"]


def audit_command(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the scoreboard to this file.")] = None,
    tier: Annotated[str, typer.Option(help="How hard to try: fast, nightly or release.")] = "fast",
    zoo: Annotated[bool, typer.Option(help="Show that known mistakes are caught, too.")] = False,
    only: Annotated[str, typer.Option(help="Audit only entries whose name holds this.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of sentences.")] = False,
) -> None:
    """Try to break every promise made here, and say how large a mistake would have been found.

    Ends with exit code 1 if a claim was refuted, or a broken mechanism was not caught.
    """
    if tier not in TIERS:
        typer.echo(f"A tier is one of {', '.join(TIERS)}, not {tier!r}.", err=True)
        raise typer.Exit(2)
    entries = [entry for entry in registered() if only in entry.name]
    if not entries:
        names = ", ".join(entry.name for entry in registered())
        typer.echo(f"Nothing that is registered has {only!r} in its name. There are: {names}.", err=True)
        raise typer.Exit(2)
    board = _board(entries, _specimens() if zoo else (), tier, quiet=as_json)
    if output is not None:
        _write(output, board, tier, zoo)
    if as_json:
        typer.echo(json.dumps(_record(board, output), indent=2))
    elif output is not None:
        typer.echo(f"\nThe scoreboard:\n  {output}")
    if board.refuted or board.catches < len(board.caught):
        raise typer.Exit(1)


def _advance(bar: Progress, task: TaskID, done: int, part: float, note: str) -> None:
    bar.update(task, completed=done + part, note=note)


def _specimens() -> tuple[Specimen, ...]:
    from discreet.auditing.zoo import BROKEN

    return BROKEN


def _board(entries: list[Entry], specimens: tuple[Specimen, ...], tier: str, *, quiet: bool) -> Scoreboard:
    attacked, caught = [], []
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"), TimeElapsedColumn())
    with Progress(*columns, transient=True, disable=quiet) as bar:
        task = bar.add_task("auditing", total=len(entries) + len(specimens), note="")
        for done, entry in enumerate(entries):
            bar.update(task, description=escape(entry.name))
            found = examine(entry, TIERS[tier], partial(_advance, bar, task, done))
            attacked.append(_attacked(entry, found))
            if not quiet:
                bar.console.print(f"{entry.name}: {found}", highlight=False, markup=False)
        for specimen in specimens:
            bar.update(task, description=specimen.name, note="", advance=1)
            hunted = hunt(specimen)
            caught.append(_caught(specimen, hunted))
            if not quiet:
                bar.console.print(f"{specimen.name} ({specimen.mistake}): {hunted}", highlight=False, markup=False)
    return Scoreboard(tier=tier, alpha=TIERS[tier].alpha, attacked=attacked, caught=caught)


def _attacked(entry: Entry, found: Audit) -> Attacked:
    return Attacked(
        name=entry.name,
        claim=found.claimed,
        delta=found.delta,
        certified=found.epsilon,
        slack=found.slack,
        draws=found.draws,
        refuted=found.refuted,
        evidence=str(found.evidence) if found.evidence else "",
    )


def _caught(specimen: Specimen, found: Audit) -> Caught:
    return Caught(
        name=specimen.name,
        mistake=specimen.mistake,
        paper=specimen.paper,
        caught=found.refuted,
        seconds=round(found.seconds, 2),
        evidence=str(found.evidence) if found.evidence else "",
    )


def _write(output: Path, board: Scoreboard, tier: str, zoo: bool) -> None:
    command = f"discreet audit --tier {tier}{' --zoo' if zoo else ''} --output {output.name}"
    today = date.today().isoformat()  # noqa: DTZ011  the reader's own day
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(render_scoreboard(board, reproduce=command, date=today), encoding="utf-8")
    except OSError as error:
        typer.echo(f"The scoreboard cannot be written to {output} ({error.strerror or error}).", err=True)
        raise typer.Exit(2) from None


def _record(board: Scoreboard, output: Path | None) -> dict[str, object]:
    return {
        "tier": board.tier,
        "refuted": board.refuted,
        "caught": board.catches,
        "page": None if output is None else str(output),
        "claims": [
            {
                "name": row.name,
                "claimed": _plain(row.claim),
                "delta": row.delta,
                "certified": _plain(row.certified),
                "noticed": _plain(row.slack),
                "draws": row.draws,
                "refuted": row.refuted,
            }
            for row in board.attacked
        ],
        "zoo": [{"name": row.name, "caught": row.caught, "seconds": row.seconds} for row in board.caught],
    }


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
