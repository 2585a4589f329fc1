"""How the DualQuery experiments are told: tables on the terminal, a page, pictures and JSON in a folder."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet import plots
from discreet.bench.dual_query import Experiment
from discreet.errors import InvalidParameter
from discreet.report import Figure
from discreet.report.finding import Fact, Finding, Rows, render_finding

__all__ = ["show", "table_of", "verdict_of", "write"]

WIDE = 160
OURS = "DualQuery"
MEASURE = (
    "Errors are parts of all records: the largest over all queries, in the mean over the releases, +- Student's 95%."
)


def table_of(found: Experiment) -> Rows:
    """Return a row for each setting, with the largest error of each method."""
    rows = []
    for mine in found.of(OURS):
        cells = []
        for method in found.methods:
            row = next((one for one in found.of(method) if one.at == mine.at), None)
            cells.append("" if row is None else f"{row.error:.4f} +- {(row.interval[1] - row.interval[0]) / 2:.4f}")
        memory = f"{mine.memory / 2**30:.1f}"
        rows.append(
            [
                f"{mine.at:,.10g}",
                *cells,
                f"{sum(mine.mean) / len(mine.mean):.4f}",
                f"{mine.seconds:.1f}",
                memory,
                mine.plan,
            ]
        )
    head = [found.kind, *found.methods, "mean error", "CPU s", "GiB", "plan"]
    return Rows(title=f"{found.data}: {found.words}", head=head, rows=rows)


def verdict_of(found: Experiment) -> str:
    """Return where DualQuery is better than each other method, by more than the uncertainty of both."""
    said = []
    for other in found.methods:
        if other != OURS:
            ahead, of = len(found.beats(OURS, other)), len(found.of(OURS))
            said.append(f"below {other} in {ahead} of {of} settings")
    return f"On {found.data} the largest error of DualQuery is {' and '.join(said)}, beyond both 95% intervals."


def show(found: Sequence[Experiment], files: Sequence[str]) -> None:
    """Print all tables, and where the files are."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDE)
    for one in found:
        table = table_of(one)
        console.print(Text(f"\n{table.title}", style="bold"))
        shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
        for place, name in enumerate(table.head):
            shown.add_column(Text(name), justify="right" if place else "left", overflow="fold")
        for row in table.rows:
            shown.add_row(*[Text(cell) for cell in row])
        console.print(shown)
        console.print(Text(verdict_of(one)))
        if not one.complete:
            console.print(Text("The time was over before all was measured.", style="dim"))
    console.print(Text(MEASURE, style="dim"))
    if files:
        console.print(Text("\nWritten:"))
        for file in files:
            console.print(f"  {file}", style="bold", soft_wrap=True, markup=False)


def write(output: Path, found: Sequence[Experiment], command: str) -> list[str]:
    """Write the page, its pictures and JSON, and return where they are."""
    pictures: dict[str, tuple[str, str]] = {}
    files: dict[str, str] = {}
    for one in found:
        pictures[f"errors_{one.kind}.svg"] = plots.svg(one.plot()), "The strong line is DualQuery. Lower is better."
        if one.kind != "epsilon":
            pictures[f"seconds_{one.kind}.svg"] = plots.svg(one.plot_seconds()), "Processor time of one release."
        files[f"experiment_{one.kind}.json"] = one.to_json()
    page = Finding(
        kind="Benchmark",
        promise="",
        source="Queries and noise are new in every run.",
        title="DualQuery, compared",
        verdict=" ".join(verdict_of(one) for one in found),
        facts=[
            Fact(name="Experiments", value=str(len(found))),
            Fact(name="Settings", value=str(sum(len(one.of(OURS)) for one in found))),
        ],
        figures=[Figure(svg=text, caption=caption) for text, caption in pictures.values()],
        tables=[table_of(one) for one in found],
        remarks=[MEASURE],
    )
    files |= {name: text for name, (text, _) in pictures.items()}
    files["benchmark.html"] = render_finding(page, reproduce=command, date=date.today().isoformat())  # noqa: DTZ011
    try:
        for name, text in files.items():
            (output / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidParameter(f"{output} cannot be written to ({error.strerror or error}).") from None
    return [str(output / name) for name in sorted(files)]
