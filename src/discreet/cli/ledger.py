"""``discreet ledger``: look at a ledger, check it, and hand it over."""

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from discreet.accounting import Budget
from discreet.cli.publishing_preview import screen
from discreet.errors import DiscreetError, LedgerError
from discreet.ledger.units import AMOUNT, FAILURE
from discreet.session.text_table import visible

if TYPE_CHECKING:
    from discreet.ledger import Entry, Ledger

__all__ = ["ledger_app"]

ledger_app = typer.Typer(
    help="Look at a ledger: what each dataset may spend, what was spent, and whether nobody has touched it.",
    epilog="Example: discreet ledger list --ledger ledger.sqlite",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)

Place = Annotated[
    str,
    typer.Option("--ledger", "-l", envvar="DISCREET_LEDGER", help="A file, or postgresql+psycopg://user@host/base."),
]
Anchored = Annotated[
    str | None,
    typer.Option("--anchor", envvar="DISCREET_ANCHOR", help="Where the ledger's heads are kept besides, if anywhere."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Dataset = Annotated[str | None, typer.Argument(help="A dataset; not needed if the ledger has one.")]


@ledger_app.command("list", epilog="Example: discreet ledger list --ledger ledger.sqlite")
def list_accounts(place: Place = "ledger.sqlite", anchor: Anchored = None, as_json: AsJson = False) -> None:
    """List the datasets: the budget of each, and what of it is spent."""
    with _opened(place, anchor) as ledger:
        rows = [_account(ledger, name) for name in ledger.names]
        if as_json:
            typer.echo(json.dumps({"ledger": ledger.told, "id": ledger.id, "accounts": rows}, indent=2))
            return
        table = _table("Dataset", "Budget", "Spent", "Entries", "About")
        for row in rows:
            budget = f"epsilon {row['epsilon']}, delta {row['delta']} ({row['filter']})"
            _add(table, row["dataset"], budget, f"{row['spent_percent']}%", str(row["entries"]), row["unit"] or "")
        console = screen()
        console.print(Text(visible(f"Ledger {ledger.told}")))
        console.print(table if rows else "It has no accounts yet: discreet release opens one.")


@ledger_app.command(epilog="Example: discreet ledger show visits --ledger ledger.sqlite")
def show(
    dataset: Dataset = None,
    place: Place = "ledger.sqlite",
    anchor: Anchored = None,
    as_json: AsJson = False,
    number: Annotated[int | None, typer.Option("--entry", "-e", help="Show one entry with all it holds.")] = None,
) -> None:
    """Show what was written about a dataset, in order."""
    with _opened(place, anchor) as ledger:
        name = _chosen(ledger, dataset)
        entries = ledger.entries(name)
        if number is not None:
            found = next((entry for entry in entries if entry.number == number), None)
            if found is None:
                raise LedgerError(f"{name} has no entry {number}: it has 1 to {len(entries)}.")
            typer.echo(json.dumps(_record(found), indent=2, ensure_ascii=False))
            return
        if as_json:
            records = {"dataset": name, "entries": [_record(entry) for entry in entries]}
            typer.echo(json.dumps(records, indent=2, ensure_ascii=False))
            return
        table = _table("No.", "When (UTC)", "Who", "What", "Cost", "Why", "Hash", right=("No.", "Cost"))
        answered = {entry.body["of"] for entry in entries if entry.kind == "settle"}
        for entry in entries:
            cost = f"{entry.amount / AMOUNT:.6g}" if entry.amount else ""
            why = str(entry.body.get("why") or entry.body.get("reason") or "")
            when = entry.time[:19].replace("T", " ")
            unanswered = entry.kind == "charge" and entry.body.get("query") and entry.number not in answered
            kind = "charge, no answer" if unanswered else entry.kind  # interrupted, failed, or still under way
            _add(table, str(entry.number), when, entry.who, kind, cost, _short(why), entry.hash[:10])
        console = screen()
        account = _account(ledger, name)
        console.print(Text(visible(f"{name}: {account['spent_percent']}% of the {account['currency']} spent")))
        console.print(table)


@ledger_app.command(epilog="Example: discreet ledger verify --ledger ledger.sqlite --anchor /mnt/other/heads")
def verify(place: Place = "ledger.sqlite", anchor: Anchored = None, as_json: AsJson = False) -> None:
    """Check every chain, recompute every charge from its loss, and compare with the anchor."""
    with _opened(place, anchor) as ledger:
        states = ledger.verify(deep=True)
        heads = {name: {"entries": state.number, "head": state.head} for name, state in states.items()}
        if as_json:
            typer.echo(json.dumps({"ledger": ledger.told, "id": ledger.id, "ok": True, "accounts": heads}, indent=2))
            return
        for name, head in heads.items():
            typer.echo(f"{visible(name)}: {head['entries']} entries, each follows the one before; head {head['head']}")
        said = "compared with its anchor" if anchor else "no anchor was named, so an older copy would look the same"
        typer.echo(f"The ledger {ledger.told} verifies ({said}).")


@ledger_app.command(epilog="Example: discreet ledger export visits --output visits-ledger.csv")
def export(
    dataset: Dataset = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file ending in .json or .csv; otherwise JSON is printed.")
    ] = None,
    place: Place = "ledger.sqlite",
    anchor: Anchored = None,
) -> None:
    """Write everything about a dataset, with hashes, for whoever wants to check it elsewhere."""
    with _opened(place, anchor) as ledger:
        name = _chosen(ledger, dataset)
        records = [_record(entry) for entry in ledger.entries(name)]
        whole = {"ledger": ledger.id, "dataset": name, "account": _account(ledger, name), "entries": records}
        if output is None:
            typer.echo(json.dumps(whole, indent=2, ensure_ascii=False))
            return
        _write(output, whole)
        typer.echo(f"{len(records)} entries of {visible(name)} are in {output}")


def _write(output: Path, whole: dict[str, Any]) -> None:
    """Write an export in the form that its name asks for."""
    kind = output.suffix.lower()
    if kind not in (".csv", ".json"):
        raise LedgerError(f"{output} ends in neither .json nor .csv: name it so that its form is clear.")
    try:
        with output.open("w", newline="", encoding="utf-8") as file:
            if kind == ".json":
                json.dump(whole, file, indent=2, ensure_ascii=False)
                return
            writer = csv.DictWriter(file, fieldnames=list(whole["entries"][0]))
            writer.writeheader()
            for one in whole["entries"]:
                writer.writerow({**one, "body": json.dumps(one["body"], ensure_ascii=False)})
    except OSError as error:
        raise LedgerError(f"{output} cannot be written: {error.strerror}. Name another file.") from None


@contextmanager
def _opened(place: str, anchor: str | None) -> Iterator["Ledger"]:
    """Open a ledger for reading; exit with 1 if it cannot be trusted, with 2 if it is not there."""
    from discreet.ledger import Ledger

    try:
        if "://" not in place and not Path(place).exists():
            typer.echo(f"there is no ledger at {place}. Name it: --ledger FILE, or set DISCREET_LEDGER.", err=True)
            raise typer.Exit(2)
        with Ledger(place, anchor=anchor, read_only=True) as ledger:
            yield ledger
    except DiscreetError as error:
        typer.echo("\n".join(map(visible, str(error).split("\n"))), err=True)
        raise typer.Exit(1 if isinstance(error, LedgerError) else 2) from None


def _chosen(ledger: "Ledger", dataset: str | None) -> str:
    names = ledger.names
    if dataset is not None:
        return dataset
    if len(names) == 1:
        return names[0]
    raise LedgerError(f"say which dataset: {', '.join(names) or 'this ledger has none yet'}.")


def _account(ledger: "Ledger", name: str) -> dict[str, Any]:
    """Return what is told about an account; percentages of what is spent are rounded up."""
    account, budget = ledger.account(name), ledger.budget(name)
    spent, limit = account.spent, account.remaining + account.spent
    number, head = ledger.head(name)
    return {
        "dataset": name,
        **_budget(budget),
        "currency": account.rule.currency,
        "spent": float(spent.amount),
        "limit": float(limit.amount),
        "spent_percent": _percent(spent.amount / limit.amount),
        "relation": account.relation,
        "unit": account.unit,
        "entries": number,
        "head": head,
    }


def _budget(budget: Budget) -> dict[str, Any]:
    numbers = {"epsilon": float(budget.epsilon), "delta": float(budget.delta)}
    return {**{name: f"{value:.12g}" for name, value in numbers.items()}, "filter": budget.filter}


def _record(entry: "Entry") -> dict[str, Any]:
    return {
        "number": entry.number,
        "kind": entry.kind,
        "time": entry.time,
        "who": entry.who,
        "amount": str(Fraction(entry.amount, AMOUNT)),
        "failure": str(Fraction(entry.failure, FAILURE)),
        "body": dict(entry.body),
        "previous": entry.previous,
        "hash": entry.hash,
    }


def _percent(part: Fraction) -> str:
    tenths = -(-1000 * part.numerator // part.denominator)
    return f"{tenths / 10:g}"


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _table(*names: str, right: tuple[str, ...] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    for name in names:
        fixed = name in ("No.", "When (UTC)", "Cost", "Hash")
        table.add_column(name, justify="right" if name in right else "left", overflow="fold", no_wrap=fixed)
    return table


def _add(table: Table, *cells: str) -> None:
    """Add a row of texts that somebody wrote: shown as they are, obeyed by nothing."""
    table.add_row(*(Text(visible(cell)) for cell in cells))
