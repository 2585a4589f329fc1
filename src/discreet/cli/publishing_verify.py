"""``discreet verify``: anybody recomputes the guarantee of a release from its certificate."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from discreet.cli.findings import waiting
from discreet.cli.publishing_guard import guarded
from discreet.cli.publishing_preview import screen
from discreet.errors import InvalidParameter

if TYPE_CHECKING:
    from discreet.publishing.certificate import Certificate
    from discreet.publishing.verification import Finding

__all__ = ["verify"]

SHOWS = "This shows that the stated mechanisms, with the stated noise, give the stated guarantee."
NOT_SHOWS = (
    "How far one unit can move a sum, and what the budget is, are taken as the curator states them. It cannot show "
    "that the noise was drawn, that the data was bounded as stated, or that nothing else was released from it: that "
    "rests on the curator, the software and the ledger."
)
WRITTEN = "is the file that was written"
MARKS = {True: ("holds", "green"), False: ("DOES NOT HOLD", "bold red"), None: ("not checked", "dim")}


def verify(
    certificate: Annotated[Path, typer.Argument(help="The release.json of a release, with its files beside it.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Compute the guarantee of a release again, from the losses in its certificate, and compare its files.

    Needs no data and no ledger. Ends with exit code 1 if something does not hold.
    """
    with guarded(as_json):
        from discreet.publishing.certificate import LARGEST, Certificate
        from discreet.publishing.folder import plain_bytes
        from discreet.publishing.verification import findings

        try:
            text = plain_bytes(certificate, LARGEST).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = "it is no text" if isinstance(error, UnicodeDecodeError) else error.strerror or str(error)
            raise InvalidParameter(f"{certificate} cannot be read ({reason}). Name a release.json.") from None
        read = Certificate.from_json(text)
        with waiting("Computing"):
            found = list(findings(read, certificate.parent))
        holds = all(one.holds is not False for one in found)
        if as_json:
            checks = [{"what": one.what, "holds": one.holds, "seen": one.seen} for one in found]
            unchecked: dict[str, object] = {"not_checked": _unchecked(found)}
            from discreet.publishing.stated import STATED

            unchecked["taken_as_stated"] = list(STATED)
            record = {"holds": holds, "epsilon": read.epsilon, "delta": read.delta, **unchecked, "checks": checks}
            typer.echo(json.dumps({**record, "shows": SHOWS, "does_not_show": NOT_SHOWS}, indent=2, ensure_ascii=False))
        else:
            _show(read, found, holds)
        if not holds:
            raise typer.Exit(1)


def _show(certificate: "Certificate", found: "list[Finding]", holds: bool) -> None:
    from discreet.publishing.stated import STATED
    from discreet.publishing.words import cost_in_words
    from discreet.session.text_table import visible

    console = screen()
    console.print(Text(visible(certificate.title), style="bold"))
    console.print(Text(visible(f"{certificate.dataset}, version {certificate.version}, {certificate.date}")))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    for name in ("what", "", "seen"):
        table.add_column(name, overflow="fold")
    for one in found:
        word, style = MARKS[one.holds]
        table.add_row(Text(visible(one.what)), Text(word, style=style), Text(visible(one.seen)))
    console.print()
    console.print(table)
    console.print()
    cost = cost_in_words(certificate.epsilon, certificate.delta)
    console.print(
        Text(f"The release costs {cost}." if holds else "Something does not hold: do not rely on it.", "bold")
    )
    console.print(Text(SHOWS))
    console.print(Text(NOT_SHOWS))
    console.print(Text(f"Also taken as stated: {'; '.join(STATED)}."))
    if count := _unchecked(found):
        words = "1 thing was not checked" if count == 1 else f"{count} things were not checked"
        missing = sum(one.holds is None and one.what.endswith(WRITTEN) for one in found)
        console.print(Text(f"{words}: {missing} of the files listed are not beside the certificate.", style="yellow"))


def _unchecked(found: "list[Finding]") -> int:
    return sum(one.holds is None for one in found)
