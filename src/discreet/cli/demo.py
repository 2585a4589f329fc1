"""The whole story on invented people: describe, fill in, check, preview, release, look at the ledger, verify."""

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.cli.publishing_guard import guarded
from discreet.errors import InvalidParameter
from discreet.report.words import number

if TYPE_CHECKING:
    from discreet.session import Answer

__all__ = ["demo"]

MARK = ".discreet-demo"
"""A folder with this file was made by the demo, and may be made anew."""

RELEASES = ("districts", "ages", "work", "incomes")
MADE = (
    *("town.parquet", "town.parquet.account", "release.yaml", "described.yaml", "preview.html"),
    *(f"ledger.sqlite{ending}" for ending in ("", "-wal", "-shm", "-journal")),
)
"""What the demo writes into its folder."""

MADE_OUT = (
    *("release.json", "release.yaml", "report.html", ".release-of"),
    *(f"{name}.{ending}" for name in RELEASES for ending in ("csv", "parquet")),
)
"""What it writes into the folder that is handed over."""

EXACT = {
    "districts": "SELECT region AS district, COUNT(*) AS people, AVG(income) AS income, "
    "AVG(CASE WHEN smoker THEN 100 ELSE 0 END) AS smokers_percent FROM town GROUP BY region",
    "work": "SELECT employment, education, COUNT(*) AS people FROM town GROUP BY employment, education",
}
"""What nobody would compute on real data: the exact answers of the two tables."""


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for everything; it is made if missing.")
    ] = Path("demo-report"),
    size: Annotated[
        int, typer.Option(min=1000, max=10_000_000, help="How many people live in the invented town.")
    ] = 20_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the story.")] = False,
) -> None:
    """Publish statistics of an invented town, from a bare table to a report that you could hand over.

    Runs the commands that you would run on your own table: describe, check, preview, release, ledger, verify. The
    people are generated, so this costs nobody's privacy; the noise, the ledger and the guarantee are the real thing.
    """
    with guarded(as_json):
        place = _Place(output)
        place.prepare(size)
        with _quiet(as_json):
            _tell(place)
        compared = _compared(place)
        if as_json:
            typer.echo(json.dumps(_record(place, compared), indent=2, ensure_ascii=False))
        else:
            _show(place, compared)


@dataclass(frozen=True, slots=True)
class _Place:
    """The folder of a demo and what lies in it."""

    folder: Path

    @property
    def table(self) -> Path:
        return self.folder / "town.parquet"

    @property
    def file(self) -> Path:
        return self.folder / "release.yaml"

    @property
    def bones(self) -> Path:
        return self.folder / "described.yaml"

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.sqlite"

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def preview(self) -> Path:
        return self.folder / "preview.html"

    def prepare(self, size: int) -> None:
        """Invent the town and fill in the file; what an earlier demo left there is removed, and nothing else."""
        from pyarrow import parquet, table

        from discreet.datasets.population import population

        folder = self.folder
        try:
            if folder.exists() and any(folder.iterdir()):
                if not (folder / MARK).is_file():
                    raise InvalidParameter(
                        f"{folder} holds other files, and the demo writes over nothing. Name another folder: "
                        "discreet demo --output FOLDER"
                    )
                self._clear()
            folder.mkdir(parents=True, exist_ok=True)
            (folder / MARK).write_text("Made by discreet demo, which may make this folder anew.\n", encoding="utf-8")
            parquet.write_table(table(population(size)), self.table)
            text = (files("discreet.cli") / "demo.yaml").read_text(encoding="utf-8")
            self.file.write_text(text.format(size=size, group=size // 8), encoding="utf-8")
        except OSError as error:
            raise InvalidParameter(
                f"the demo needs a folder that can be written, and {folder} cannot ({error.strerror or error}). Name "
                "another one: discreet demo --output FOLDER"
            ) from None

    def _clear(self) -> None:
        """Remove what the demo makes, by name; a file that somebody else put there stays."""
        for place, names in ((self.out, MADE_OUT), (self.folder, MADE)):
            if place.is_symlink():
                raise InvalidParameter(
                    f"{place} leads elsewhere, and the demo removes nothing there. Name another folder."
                )
            for name in names:
                (place / name).unlink(missing_ok=True)
        with suppress(OSError):
            self.out.rmdir()


def _tell(place: _Place) -> None:
    """Run the commands, one after another, as somebody would type them."""
    from discreet.cli.ledger import show
    from discreet.cli.publishing import check, describe
    from discreet.cli.publishing_preview import preview
    from discreet.cli.publishing_release import release
    from discreet.cli.publishing_verify import verify

    _said(f"describe {_word(place.table)} > {_word(place.bones)}", "Names and types, no values:")
    with redirect_stdout(StringIO()) as described:
        describe(str(place.table))
    place.bones.write_text(described.getvalue(), encoding="utf-8")
    typer.echo(f"({len(described.getvalue().splitlines())} lines to fill in; {place.file} is filled in already)")
    _run(f"check {_word(place.file)}", "Is it in order?", lambda: check(place.file))
    _run(
        f"preview {_word(place.file)} --html {_word(place.preview)}",
        "How accurate will it be? Nobody is looked at:",
        lambda: preview(place.file, html=place.preview),
    )
    _run(
        f"release {_word(place.file)} -o {_word(place.out)} --yes",
        "Charge the budget, then look, once:",
        lambda: release(place.file, output=place.out, yes=True),
    )
    _run(
        f"ledger show --ledger {_word(place.ledger)}",
        "What the ledger knows:",
        lambda: show(dataset=None, place=str(place.ledger), anchor=None, as_json=False, number=None),
    )
    _run(
        f"verify {_word(place.out / 'release.json')}",
        "Anybody can compute the guarantee again:",
        lambda: verify(place.out / "release.json"),
    )


def _run(command: str, words: str, act: Callable[[], None]) -> None:
    _said(command, words)
    act()


def _said(command: str, words: str) -> None:
    console = Console(highlight=False)
    console.print()
    console.print(Text(words, style="dim"))
    console.print(Text(f"$ discreet {command}", style="bold cyan"), soft_wrap=True)


def _word(path: Path) -> str:
    return shlex.quote(str(path))


@contextmanager
def _quiet(wanted: bool) -> Iterator[None]:
    if not wanted:
        yield
        return
    with redirect_stdout(StringIO()):
        yield


@dataclass(frozen=True, slots=True)
class _Compared:
    """One published number beside the exact one."""

    table: str
    group: str
    column: str
    value: float
    low: float
    high: float
    exact: float

    @property
    def inside(self) -> bool:
        return self.low <= self.exact <= self.high


def _compared(place: _Place) -> list[_Compared]:
    """Compare what was published with the exact answers, which only invented people allow to look at."""
    import duckdb

    from discreet.publishing.certificate import Certificate

    certificate = Certificate.from_json((place.out / "release.json").read_text(encoding="utf-8"))
    answers: dict[str, Answer] = {one.name: one.answer for one in certificate.releases}
    connection = duckdb.connect()
    connection.read_parquet(str(place.table)).create_view("town")
    found = []
    for name, sql in EXACT.items():
        answer = answers[name]
        rows = connection.execute(sql).to_arrow_table().to_pylist()
        exact = {tuple(row[key] for key in answer.keys): row for row in rows}
        for row in answer:
            group = tuple(row[key] for key in answer.keys)
            for column in answer.columns:
                value, low, high = (float(str(row[part])) for part in (column, f"{column}_low", f"{column}_high"))
                label = ", ".join(map(str, group))
                found.append(_Compared(name, label, column, value, low, high, float(exact[group][column])))
    connection.close()
    return found


def _show(place: _Place, compared: list[_Compared]) -> None:
    console = Console(highlight=False)
    console.print()
    console.print("For this demo only: beside the exact answers, which a real release never shows.", style="dim")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("District")
    for name in ("People", "exact", "Mean income", "exact", "Smokers, %", "exact"):
        quiet = name == "exact"
        table.add_column(name, justify="right", no_wrap=True, style="dim" if quiet else "bold cyan")
    groups: dict[str, list[str]] = {}
    for one in compared:
        if one.table == "districts":
            groups.setdefault(one.group, []).extend([number(one.value), number(one.exact)])
    for group, cells in groups.items():
        table.add_row(group, *cells)
    console.print(table)
    inside = sum(one.inside for one in compared)
    console.print(f"{inside} of {len(compared)} published intervals hold the exact number; 19 of 20 are promised.")
    console.print("\nThe report to hand over:")
    console.print(f"  {place.out / 'report.html'}", style="bold", soft_wrap=True, markup=False)


def _record(place: _Place, compared: list[_Compared]) -> dict[str, Any]:
    return {
        "ok": True,
        "folder": str(place.folder),
        "report": str(place.out / "report.html"),
        "preview": str(place.preview),
        "certificate": str(place.out / "release.json"),
        "ledger": str(place.ledger),
        "intervals": len(compared),
        "intervals_with_the_exact_number": sum(one.inside for one in compared),
    }
