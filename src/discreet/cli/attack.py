"""``discreet attack``: the commands that attack, gathered from the files of their kinds."""

import typer

__all__ = ["attack"]

attack = typer.Typer(
    help="Attack a release: see why privacy is needed, on invented people or on your own file, locally.",
    epilog="Example: discreet attack linkage people.csv",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,  # a traceback must never print data
)
