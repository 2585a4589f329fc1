"""The commands: they read options, call one function, and print for people or for machines."""

import json
import shlex
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from discreet._version import __version__
from discreet.cli import attack_linkage, attack_release  # noqa: F401 - they add their commands to `attack`
from discreet.cli import demo as story
from discreet.cli.account import Asked, tell
from discreet.cli.attack import attack
from discreet.cli.auditing import audit_command
from discreet.cli.handout import page
from discreet.report.words import bound, number, shown

__all__ = ["app"]

app = typer.Typer(
    help="Differential privacy: publish statistics about people without publishing the people.",
    epilog="Example: discreet demo --output demo-report",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,  # a traceback must never print data
)


app.add_typer(attack, name="attack")
app.command("audit", epilog="Example: discreet audit --zoo --output scoreboard.html")(audit_command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"discreet {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Publish statistics about people without publishing the people."""


@app.command(epilog="Example: discreet demo --output demo-report --size 5000")
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for report.html; it is made if missing.")
    ] = Path("demo-report"),
    size: Annotated[
        int, typer.Option(min=100, max=10_000_000, help="How many people live in the invented town.")
    ] = 20_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Ask five questions of an invented town, and write a report that you could hand over.

    The people are generated, so this costs nobody's privacy; the noise and the guarantee are the real thing.
    """
    target = output / "report.html"
    try:
        output.mkdir(parents=True, exist_ok=True)
        target.touch()
    except OSError as error:
        _refuse(output, error)
    result = story.perform(size)
    command = shlex.join(["discreet", "demo", "--size", str(size)])
    html = page(result, command=command, date=date.today().isoformat())  # noqa: DTZ011  the reader's own day
    try:
        target.write_text(html, encoding="utf-8")
    except OSError as error:
        _refuse(output, error)
    if as_json:
        typer.echo(json.dumps(story.record(result, report=str(target)), indent=2, ensure_ascii=False))
    else:
        _show(result, target)


@app.command(
    epilog='Example: discreet account "gaussian(sigma=1.1).sampled(256/60000) * 14062" --delta 1e-5 --plot page.html',
)
def account(
    loss: Annotated[
        str | None, typer.Argument(help="What is released, such as '52 * geometric(0.5) + gaussian(sigma=20)'.")
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="The delta at which epsilon is asked for. [default: 1e-6, or the file's]"),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="A training run in JSON or TOML, an Opacus accountant's state, or a printed DpEvent."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Write one HTML page with pictures to this file.")] = None,
    people: Annotated[
        int | None, typer.Option(min=1, max=10**12, help="How many people a count is about, for the page.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Tell what a plan of releases costs, by every theorem that applies and by our own accountant.

    Losses are approximate(epsilon, delta), discrete_gaussian(sigma=), exponential(epsilon), gaussian(sigma=),
    gaussian_mixture([shifts], [weights]), geometric(epsilon), laplace(epsilon), matrix([[rows]], noise), pair([p],
    [q]), pure(epsilon), randomized_response(epsilon), renyi_curve([[order, divergence]]), shuffled(epsilon, users),
    tree(steps, noise) and zcdp(rho); they add, repeat by a whole number and can be .sampled(rate, scheme='poisson'),
    .group(size) or .under('add_remove'). The plan must be fixed beforehand.
    """
    tell(Asked(loss=loss, config=config, delta=delta, plot=plot, people=people, as_json=as_json))


def _refuse(folder: Path, error: OSError) -> None:
    typer.echo(
        f"The report needs a folder that can be written, and {folder} cannot ({error.strerror or error}). "
        "Name another one: discreet demo --output FOLDER",
        err=True,
    )
    raise typer.Exit(2)


def _show(result: story.Demo, target: Path) -> None:
    console = Console(highlight=False)
    console.print()
    console.print(f"[bold]{number(result.size)} people of an invented town, five questions[/bold]")
    if not result.private:
        console.print("[bold red]NOT PRIVATE: made with a seeded source[/bold red]")
    console.print(_table(result))
    console.print(
        f"[bold]Total epsilon {bound(result.epsilon)}[/bold], for any one person's record replaced by any other."
    )
    console.print(
        "The last column is for this demo only: the exact answer, which a real release never shows.", style="dim"
    )
    console.print("\nThe report to hand over:")
    console.print(f"  {target}", style="bold", soft_wrap=True, markup=False)


def _table(result: story.Demo) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("Question")
    table.add_column("Published", justify="right", style="bold cyan", no_wrap=True)
    table.add_column("Accurate, in 19\nof 20 releases")
    table.add_column("Epsilon", justify="right", no_wrap=True)
    table.add_column("Exact\n(demo only)", justify="right", style="dim", no_wrap=True)
    for release in result.releases:
        exact, error = result.exact[release.title], release.error.removesuffix(story.OFTEN).rstrip(", ")
        if isinstance(release.value, Mapping) and isinstance(exact, Mapping):
            table.add_row(release.title, "", error, bound(release.epsilon), "")
            for label, value in release.value.items():
                table.add_row(f"  {label}", number(value), "", "", number(exact[label]))
        else:
            table.add_row(release.title, shown(release.value), error, bound(release.epsilon), shown(exact))
    return table
