"""``discreet bench``: measure algorithms against each other on public data."""

import typer

__all__ = ["bench"]

bench = typer.Typer(
    help="Compare algorithms by the errors they make, on generated shapes or on public data of your own.",
    epilog="Example: discreet bench histograms --output comparison",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)


@bench.callback()
def gathered() -> None:
    """Compare algorithms by the errors they make, on generated shapes or on public data of your own."""
