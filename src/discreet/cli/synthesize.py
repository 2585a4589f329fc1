"""``discreet synthesize``: a synthetic copy of a table, in one command."""

import json
import shlex
import sys
import warnings
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from discreet.cli.findings import progress, waiting, writable
from discreet.cli.publishing_guard import guarded
from discreet.cli.publishing_preview import screen
from discreet.errors import InvalidParameter, LedgerError, NotDurableWarning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.accounting import Account, Budget
    from discreet.session import Session
    from discreet.session.synthesis.result import Synthesis

__all__ = ["synthesize"]

LOUD = (
    "NOT PRIVATE: what follows compares the copy with the real rows, without any noise. It is for you alone. Do not "
    "publish it, and do not choose among copies by it: that would publish some of it."
)


def synthesize(
    data: Annotated[str, typer.Argument(help="A Parquet, CSV or JSON file, or postgresql://host/base#schema.table.")],
    schema: Annotated[Path, typer.Option(help="YAML that declares bounds and values of columns.")],
    unit: Annotated[
        str, typer.Option(help="Who is protected: row, row,replace_one, or user_id,groups=3,rows=5 for persons.")
    ],
    epsilon: Annotated[float, typer.Option(min=0.0, help="What the copy may cost.")],
    delta: Annotated[float, typer.Option(min=0.0, max=1.0, help="The delta that goes with it.")] = 0.0,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the rows to x.parquet or x.csv.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write one HTML page about the copy to this file.")] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="A column, as sex, age:bins=10, income:quantiles=8 or city:categories=50. [default: all declared]"
        ),
    ] = None,
    rule: Annotated[
        list[str] | None, typer.Option(help="What holds for every row, such as \"role <> 'spouse' OR age >= 15\".")
    ] = None,
    method: Annotated[str, typer.Option(help="auto, table, independent, tree, adaptive or bayes.")] = "auto",
    rows: Annotated[
        int | None, typer.Option(min=0, help="How many rows. [default: as many as there are, noisily]")
    ] = None,
    where: Annotated[str | None, typer.Option(help="Which rows count, as a condition in SQL.")] = None,
    deadline: Annotated[float | None, typer.Option(min=0.0, help="Seconds for fitting the model.")] = None,
    ledger: Annotated[
        str | None, typer.Option(help="The ledger that the cost is written to; its account is named after the table.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option(min=0.0, help="The epsilon of a new account in the ledger. [default: epsilon]")
    ] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Only say what it costs and how far off counts will be.")
    ] = False,
    audit: Annotated[
        bool, typer.Option("--audit", help="Also compare with the real rows. This is NOT private: never publish it.")
    ] = False,
    target: Annotated[str | None, typer.Option(help="With --audit: a column to predict from the others.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Spend without asking.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of sentences.")] = False,
) -> None:
    """Make a synthetic copy of a table: rows that nobody stands behind, with the types of the original.

    Without a ledger the cost is kept nowhere: whoever makes two copies has to add up what they cost.
    """
    with guarded(as_json):
        _check_files(out, report, preview=preview)
        wanted = _wanted(column, rule, method=method, rows=rows, where=where, deadline=deadline)
        from discreet.accounting import Budget

        whole = Budget(epsilon if budget is None else budget, delta)
        cost: dict[str, Any] = {"epsilon": epsilon, "delta": delta or None, "last": budget is None}
        with progress() as show, _opened(data, schema, unit, whole, ledger, show) as session:
            with waiting("Planning"):
                forecast = session.preview_synthesis(**cost, **wanted)
            if preview:
                typer.echo(forecast.to_json() if as_json else str(forecast))
                return
            if not yes:
                _ask(str(forecast), as_json)
            if target is not None and target not in (one.name for one in forecast.columns):
                raise InvalidParameter(f"the copy will have no column {target}. Name another as --target.")
            made = session.synthesize(**cost, **wanted, why="discreet synthesize")
            compared = _compared(session, made, target) if audit else None
        if out is not None:
            made.write(out)
        if report is not None:
            words = ["discreet", "synthesize", data, "--schema", str(schema), "--unit", unit, "--epsilon", str(epsilon)]
            _write_report(made, report, epsilon, delta, unit, shlex.join(words))
        _show(made, out, report, compared, kept=ledger is not None, as_json=as_json)


def _check_files(out: Path | None, report: Path | None, *, preview: bool) -> None:
    if out is None and report is None and not preview:
        raise InvalidParameter("say where the copy shall be written: --out copy.parquet, or --preview to see its cost.")
    if out is not None and out.suffix.lower() not in (".parquet", ".csv"):
        raise InvalidParameter("rows are written to a file that ends in .parquet or .csv: --out copy.parquet")
    for place in (out, report):
        writable(place)


def _wanted(column: list[str] | None, rule: list[str] | None, **others: object) -> dict[str, Any]:
    columns = None if not column else dict(_column(one) for one in column)
    return {"columns": columns, "constraints": list(rule or ()), **others}


def _column(written: str) -> tuple[str, object]:
    """Return a column and how it is cut.

    >>> _column("age:bins=10"), _column("sex"), _column("age:edges=0,18,65")
    (('age', {'bins': 10}), ('sex', None), ('age', {'edges': [0.0, 18.0, 65.0]}))
    """
    name, _, how = written.partition(":")
    if not how:
        return name, None
    word, _, value = how.partition("=")
    try:
        if word == "edges":
            return name, {"edges": [float(edge) for edge in value.split(",")]}
        if word in ("bins", "quantiles", "categories"):
            return name, {word: int(value)}
    except ValueError:
        pass
    raise InvalidParameter(f"{written} is no column: write age:bins=10, age:edges=0,18,65, or city:categories=50.")


def _unit(written: str) -> Any:  # noqa: ANN401  a unit
    """Return who is protected.

    >>> _unit("row"), _unit("user_id,groups=3,rows=5")
    (Row(relation='add_remove'), Person('user_id', groups=3, rows=5, relation='add_remove'))
    """
    from discreet.units import Person, Row

    first, *rest = [part.strip() for part in written.split(",")]
    if first == "row" and all(part in ("add_remove", "replace_one") for part in rest[:1]) and len(rest) < 2:
        return Row(relation=rest[0]) if rest else Row()  # type: ignore[arg-type]
    said = dict(part.split("=", 1) for part in rest if "=" in part)
    relation = next((part for part in rest if part in ("add_remove", "replace_one")), "add_remove")
    if not first or not all(word in ("groups", "rows") and number.isdigit() for word, number in said.items()):
        raise InvalidParameter("the unit is row, row,replace_one, or a column of persons: user_id,groups=3,rows=5.")
    bounds = {word: int(number) for word, number in said.items()}
    return Person(first, relation=relation, **bounds)  # type: ignore[arg-type]


@contextmanager
def _opened(
    data: str,
    schema: Path,
    unit: str,
    budget: "Budget",
    ledger: str | None,
    show: Any,  # noqa: ANN401  a bar
) -> "Iterator[Session]":
    """Open the table; data whose budget is in a ledger is paid from that one alone."""
    from discreet.publishing.marker import marker_beside
    from discreet.session import Session

    marker = marker_beside(data)
    name = "".join(letter if letter.isalnum() else "_" for letter in Path(data.rpartition("#")[2]).stem) or "data"
    name = name if marker is None else marker.dataset
    if ledger is None and marker is not None:
        raise LedgerError(
            f"the budget of {data} is kept in a ledger, under {name}: spend it there alone. Name the ledger: --ledger "
            "ledger.sqlite"
        )
    with ExitStack() as stack:
        account: Budget | Account = budget
        if ledger is not None:
            from discreet.ledger import Ledger

            opened = stack.enter_context(Ledger(ledger))
            if marker is not None and marker.ledger != opened.id:
                raise LedgerError(
                    f"the budget of {data} is kept in the ledger {marker.ledger}, and {ledger} is another: two ledgers "
                    "would spend it twice. Name the first one."
                )
            account = opened.account(name) if name in opened.names else opened.account(name, budget=budget)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotDurableWarning)  # it is told in the words of this command
            session = Session(data, schema=schema, unit=_unit(unit), budget=account, name=name, progress=show)
        yield stack.enter_context(session)


def _ask(forecast: str, as_json: bool) -> None:
    if as_json or not sys.stdin.isatty():
        raise InvalidParameter(
            "This spends budget, and nobody can be asked here: add --yes to agree. Nothing was spent."
        )
    typer.echo(forecast)
    if not typer.confirm("Spend this, for ever?"):
        typer.echo("Nothing was spent.")
        raise typer.Exit(1)


def _compared(session: "Session", made: "Synthesis", target: str | None) -> Any:  # noqa: ANN401  a report
    """Return how copy and yardsticks compare with the real rows: errors of tables, associations, and predictions."""
    from discreet.session.synthesis.evaluating import real_codes, yardsticks
    from discreet.utility import compare

    sizes = tuple(one.size for one in made.codings)
    place = None if target is None else made.columns.index(target)
    with waiting("Comparing with the real rows"):
        real = real_codes(session, made)
        return compare(real, {made.method: made.codes, **yardsticks(real, made)}, sizes, place)


def _write_report(made: "Synthesis", report: Path, epsilon: float, delta: float, unit: str, command: str) -> None:
    from discreet.accounting import Budget
    from discreet.report.publication import Publication, Published, render_publication

    answer = made.counted()
    table = Published(
        name=made.table,
        title=f"A synthetic copy of {made.table}",
        question=str(made.parameters["query"]),
        answer=answer,
    )
    at = 0.0 if made.loss.is_pure else float(made.parameters["delta"])
    page = Publication(
        title=f"A synthetic copy of {made.table}",
        description=f"Method {made.method}: {made.reason}.",
        date=date.today().isoformat(),  # noqa: DTZ011
        dataset=made.table,
        version="1",
        size=None,
        unit=_unit(unit),
        loss=made.loss,
        epsilon=made.loss.epsilon(at),
        delta=at,
        budget=Budget(epsilon, delta),
        spent=1.0,
        tables=(table,),
        warnings=tuple(note for note in made.notes if note.startswith(("There are about", "No value of"))),
        reproduce=command,
        private=made.private,
    )
    report.write_text(render_publication(page), encoding="utf-8")


def _show(
    made: "Synthesis",
    out: Path | None,
    report: Path | None,
    compared: Any,  # noqa: ANN401  a report
    *,
    kept: bool,
    as_json: bool,
) -> None:
    if as_json:
        record = {
            "ok": True,
            "method": made.method,
            "reason": made.reason,
            "rows": len(made.rows()),
            "steps": [{"what": what, "epsilon": e, "delta": d} for what, e, d in made.steps],
            "files": [str(one) for one in (out, report) if one is not None],
            "private": made.private,
            "notes": list(made.notes),
        }
        if compared is not None:
            record["not_private"] = {"warning": LOUD, "comparison": str(compared)}
        typer.echo(json.dumps(record, indent=2, ensure_ascii=False))
        return
    console = screen()
    console.print(str(made), markup=False)
    if not kept:
        console.print(
            Text("The cost is written down nowhere: add it to what else is released from these data.", "yellow")
        )
    for place in (out, report):
        if place is not None:
            console.print(f"  {place}", soft_wrap=True, markup=False)
    if compared is not None:
        console.print()
        console.print(Text(LOUD, style="bold red"))
        console.print(str(compared), markup=False)
