"""How a benchmark of histograms is told: tables on the terminal, a page, pictures and JSON in a folder."""

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet import plots
from discreet.bench import Result, algorithms, generated
from discreet.bench.checks import check_consistency, check_exchangeability
from discreet.errors import InvalidParameter
from discreet.report import Figure
from discreet.report.finding import Fact, Finding, Rows, render_finding
from discreet.units import Relation

__all__ = ["principles_of", "show", "tables_of", "writable_folder", "write"]

SMALL: dict[int, tuple[int, ...]] = {1: (64,), 2: (8, 8)}
"""The domain on which principles are checked."""

PATIENCE = 10.0
"""Seconds after which a comparison that is not clear yet is left undecided."""

WIDE = 160
LINES = "Both axes are logarithmic. The strong line is the least at the end."
FIELDS = "Every field says how many times the least error of its column an algorithm has."
REPEATED = "Histograms are drawn from public shapes and are the same in every run; the noise is new each time."

REGRET = "Regret: how many times the least error, in the geometric mean over the shapes."


def tables_of(found: Result, *, percentile: bool = False) -> list[Rows]:
    """Return one table for each domain, scale and epsilon: a row for each algorithm, a column for each shape."""
    tables = []
    keys = dict.fromkeys((s.sizes, s.scale, s.epsilon) for s in found.settings)
    for sizes, scale, epsilon in keys:
        settings = [s for s in found.settings if (s.sizes, s.scale, s.epsilon) == (sizes, scale, epsilon)]
        regret = found.regret(settings)
        good = {s: found.competitive(s) for s in settings}
        rows = []
        for name in regret:
            measured = [found.at(s).get(name) for s in settings]
            cells = [
                ""
                if row is None
                else f"{row.high if percentile else row.mean:.2g}{'*' if name in good[row.setting] else ''}"
                for row in measured
            ]
            rows.append([name, *cells, f"{regret[name]:.3g}"])
        cells_of = " x ".join(map(str, sizes))
        title = f"{scale:,} persons on {cells_of} cells at epsilon {epsilon:g}"
        title += ": errors that 19 of 20 releases stay within" if percentile else ""
        tables.append(Rows(title=title, head=["algorithm", *(s.data for s in settings), "regret"], rows=rows))
    return tables


def principles_of(found: Result, relation: Relation, tick: Callable[[str, float], None]) -> tuple[Rows, ...]:
    """Return the checks of every algorithm on a small domain, as a table."""
    rows: list[list[str]] = []
    for dimensions in sorted({len(sizes) for sizes in found.domains}):
        source = generated("mixture" if dimensions == 1 else "clusters", SMALL[dimensions])
        fitting = [algorithm for algorithm in algorithms(found.algorithms) if dimensions in algorithm.dimensions]
        for place, algorithm in enumerate(fitting):
            tick(f"checking {algorithm.name}", place / len(fitting))
            exchanged = check_exchangeability(algorithm, source, relation=relation, deadline=PATIENCE)
            consistent = check_consistency(algorithm, source, relation=relation)
            rows.append(
                [
                    f"{algorithm.name}, {dimensions}-D",
                    exchanged.verdict,
                    f"{exchanged.ratio:.3g}",
                    consistent.verdict + (" (not expected)" if consistent.surprising else ""),
                    *(f"{consistent.errors[place]:.2g}" for place in (0, -2, -1)),
                ]
            )
    head = ["algorithm", "exchangeable", "ratio", "consistency", "error at epsilon 1", "at 100", "at 1,000,000"]
    return (Rows(title="Two principles; errors are parts of that of an even spread", head=head, rows=rows),)


def show(found: Result, tables: Sequence[Rows], files: Sequence[str]) -> None:
    """Print all tables, what a reader must know of them, and where the files are."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDE)
    for table in tables:
        console.print(Text(f"\n{table.title}", style="bold"))
        shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
        for place, name in enumerate(table.head):
            shown.add_column(Text(name), justify="right" if place else "left", overflow="fold")
        for row in table.rows:
            shown.add_row(*[Text(cell) for cell in row])
        console.print(shown)
    console.print(Text(REGRET))
    for remark in found.remarks():
        console.print(Text(remark, style="dim"))
    if files:
        console.print(Text("\nWritten:"))
        for file in files:
            console.print(f"  {file}", style="bold", soft_wrap=True, markup=False)


def writable_folder(output: Path | None) -> None:
    """See to it that the folder can be written to before work is spent on it."""
    if output is None:
        return
    try:
        output.mkdir(parents=True, exist_ok=True)
        probe = output / "benchmark.json"
        new = not probe.exists()
        probe.touch()
        if new:
            probe.unlink()
    except OSError as error:
        raise InvalidParameter(
            f"--output needs a folder that can be written to, and {output} is none ({error.strerror or error})."
        ) from None


def write(output: Path, found: Result, tables: Sequence[Rows], command: str) -> list[str]:
    """Write the page, its pictures and JSON, and return where they are."""
    pictures = _pictures(found)
    page = Finding(
        kind="Benchmark",
        promise="",
        source=REPEATED,
        title="Histograms, compared",
        verdict=_verdict(found),
        facts=[
            Fact(name="Algorithms", value=str(len(found.algorithms))),
            Fact(name="Settings", value=str(len(found.settings)), words="shapes, scales and epsilons"),
            Fact(name="Releases in each", value=str(found.trials), words=f"under {found.relation}"),
        ],
        figures=[Figure(svg=text, caption=caption) for text, caption in pictures.values()],
        tables=tables,
        remarks=[REGRET, *found.remarks()],
    )
    files = {name: text for name, (text, _) in pictures.items()}
    files["benchmark.html"] = render_finding(page, reproduce=command, date=date.today().isoformat())  # noqa: DTZ011
    files["benchmark.json"] = found.to_json()
    try:
        for name, text in files.items():
            (output / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidParameter(f"{output} cannot be written to ({error.strerror or error}).") from None
    return [str(output / name) for name in sorted(files)]


def _pictures(found: Result) -> dict[str, tuple[str, str]]:
    """Return for each domain the errors against the scale, and a map of ratios for each scale: drawings and words."""
    pictures = {}
    for sizes in found.domains:
        part, where = found.on(sizes), "x".join(map(str, sizes))
        epsilon = part.settings[0].epsilon
        scales = sorted({s.scale for s in part.settings if s.epsilon == epsilon})
        alike = _comparable(part, epsilon)
        if alike and len(scales) > 1:
            pictures[f"errors_{where}.svg"] = plots.svg(part.plot()), LINES
        for scale in scales if alike else [None]:
            name = f"ratios_{where}{'' if scale is None else f'_{scale}'}.svg"
            pictures[name] = plots.svg(part.heat_map(scale=scale)), FIELDS
    return pictures


def _comparable(part: Result, epsilon: float) -> bool:
    """Return whether every shape was measured at every scale, so that a mean over the shapes says something."""
    chosen = [s for s in part.settings if s.epsilon == epsilon]
    return len(chosen) == len({s.data for s in chosen}) * len({s.scale for s in chosen})


def _verdict(found: Result) -> str:
    said = []
    for sizes in found.domains:
        name, regret = next(iter(found.on(sizes).regret().items()))
        said.append(
            f"On {' x '.join(map(str, sizes))} cells {name} has the least regret: {regret:.2f} times the least error."
        )
    return " ".join(said)
