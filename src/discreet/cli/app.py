"""The commands: they read options, call one function, and print for people or for machines."""

from pathlib import Path
from typing import Annotated

import typer

from discreet._version import __version__
from discreet.cli import (  # they add their commands to `attack` and `bench`
    attack_extract,  # noqa: F401
    attack_linkage,  # noqa: F401
    attack_release,  # noqa: F401
    bench_dual,  # noqa: F401
    bench_histograms,  # noqa: F401
)
from discreet.cli.account import Asked, tell
from discreet.cli.attack import attack
from discreet.cli.auditing import audit_command
from discreet.cli.bench import bench
from discreet.cli.demo import demo
from discreet.cli.ledger import ledger_app
from discreet.cli.publishing import add_to
from discreet.cli.synthesize import synthesize

__all__ = ["app"]

app = typer.Typer(
    help="Differential privacy: publish statistics about people without publishing the people.",
    epilog="Example: discreet demo --output demo-report",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,  # a traceback must never print data
)


app.command(epilog="Example: discreet demo --output demo-report --size 50000")(demo)
add_to(app)
app.command(
    epilog="Example: discreet synthesize people.parquet --schema schema.yaml --unit row --epsilon 1 --delta 1e-6 "
    "--out copy.parquet"
)(synthesize)
app.add_typer(ledger_app, name="ledger")
app.add_typer(attack, name="attack")
app.add_typer(bench, name="bench")
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
