"""``discreet release``: says the cost, asks, charges once, and writes a folder to hand over."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from discreet.cli.findings import progress, waiting
from discreet.cli.publishing_guard import guarded
from discreet.cli.publishing_preview import screen, show_releases
from discreet.errors import InvalidParameter

if TYPE_CHECKING:
    from discreet.publishing.foresight import Foresight
    from discreet.publishing.releasing import Outcome

__all__ = ["release"]


def release(
    file: Annotated[Path, typer.Argument(help="The file, by default release.yaml here.")] = Path("release.yaml"),
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for everything that is published; it is made if missing.")
    ] = Path("out"),
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Spend without asking.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of sentences.")] = False,
) -> None:
    """Publish what a file declares: charge the budget once, look at the data, write tables, report and certificate.

    The same file on the same version of the data is answered from the ledger, and costs nothing again. Everything is
    read once before the charge: if a value cannot be read, you are asked whether to go on, or with --yes only the log
    says so. Ends with exit code 1 if the budget or the ledger refuses.
    """
    with guarded(as_json):
        from discreet.publishing.folder import prepared
        from discreet.publishing.foresight import foresee
        from discreet.publishing.reading import read_release
        from discreet.publishing.releasing import admissible, publish, readable

        source = read_release(file)
        with waiting("Planning"):
            foresight = foresee(source)
            admissible(source, foresight)
        declared = source.file
        private = [source.beside(one) for one in (declared.dataset.source, declared.ledger, declared.anchor) if one]
        names = [name for one in declared.releases for name in one.file_names]
        folder = prepared(output, source.marked.text, names, private=private)
        if foresight.standing.stored is None and not yes:
            _ask(foresight, as_json)
        if foresight.standing.stored is None:
            with waiting("Reading everything once"):
                well = readable(source)
            if not well:
                _warn(ask=not yes)
        with progress() as show:
            show("reading", None)
            outcome = publish(source, foresight, folder, show)
        if as_json:
            typer.echo(json.dumps(_record(outcome), indent=2, ensure_ascii=False))
        else:
            _show(foresight, outcome)


def _ask(foresight: "Foresight", as_json: bool) -> None:
    """Have the curator agree to the cost, in words; somebody who cannot be asked must have said so before."""
    from discreet.publishing.words import spending_in_words

    words = f"This will spend {spending_in_words(foresight)}, for ever."
    if as_json or not sys.stdin.isatty():
        raise InvalidParameter(f"{words} Nobody can be asked here: add --yes to agree. Nothing was spent.")
    console = screen()
    show_releases(console, foresight)
    console.print()
    for warning in foresight.warnings:
        console.print(Text(f"Warning: {warning}", style="yellow"))
    if not typer.confirm(f"{words} Go on?"):
        typer.echo("Nothing was spent.")
        raise typer.Exit(1)


def _warn(*, ask: bool) -> None:
    """Ask whether to go on where some values cannot be read; where nobody is asked, nothing may depend on that."""
    words = (
        "Some values of the table cannot be read: the log discreet.curator says which. A release that meets one fails, "
        "stays charged, and tells that the value is there."
    )
    if ask and not typer.confirm(f"{words} Go on all the same?"):
        typer.echo("Nothing was spent.")
        raise typer.Exit(1)


def _show(foresight: "Foresight", outcome: "Outcome") -> None:
    from discreet.publishing.words import cost_in_words
    from discreet.session.digits import percent

    console, name = screen(), foresight.source.file.dataset.name
    cost = cost_in_words(outcome.epsilon, outcome.delta)
    if outcome.stored:
        console.print(Text(f"Entry {outcome.entry} of the ledger has this release already: nothing was spent.", "bold"))
    else:
        console.print(Text(f"Released at {cost}, as entry {outcome.entry} of the ledger.", style="bold"))
    console.print(Text(f"{percent(outcome.spent)} of the budget of {name} is spent, for ever."))
    if not all(answer.private for answer in outcome.answers):
        console.print(Text("NOT PRIVATE: made with repeatable noise for a test. Do not publish.", style="bold red"))
    for note in outcome.notes:
        console.print(Text(f"Note: {note}"))
    console.print(f"\n{outcome.folder}:", soft_wrap=True, markup=False)
    for one in outcome.files:
        console.print(f"  {one}", soft_wrap=True, markup=False)
    console.print(
        f"\nAnybody can check the guarantee: discreet verify {outcome.folder / 'release.json'}",
        soft_wrap=True,
        markup=False,
    )


def _record(outcome: "Outcome") -> dict[str, Any]:
    return {
        "ok": True,
        "folder": str(outcome.folder),
        "files": list(outcome.files),
        "epsilon": outcome.epsilon,
        "delta": outcome.delta,
        "spent": outcome.spent,
        "entry": outcome.entry,
        "stored": outcome.stored,
        "private": all(answer.private for answer in outcome.answers),
        "notes": list(outcome.notes),
    }
