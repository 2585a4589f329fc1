"""Write docs/threats.md: every known way in which such software has failed, and the test that keeps it out.

The rows come from the docstrings of ``tests/threats/test_vNN_*.py``: the first line says what must hold, ``Defence:``,
``Source:`` and, where something is missing, ``Open:`` say the rest. What has no test yet waits below for a part of the
library that does not exist. Run by ``make docs``; ``tests/threats/test_page.py`` checks that the page is up to date.
"""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests" / "threats"
PAGE = ROOT / "docs" / "threats.md"
NUMBERS = range(1, 82)
FIELDS = ("Defence", "Source", "Open")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One failure: what must hold instead, why it does, who found it, what tests it or what it waits for."""

    number: int
    rule: str
    defence: str
    source: str
    test: str = ""
    waits_for: str = ""
    open: str = ""

    @property
    def status(self) -> str:
        """Say where this stands, in a few words."""
        if self.waits_for:
            return f"waits for {self.waits_for}"
        return f"tested in part; open: {self.open}" if self.open else "tested"

    def __str__(self) -> str:
        test = f"`{self.test}`" if self.test else "none yet"
        defence = f"Planned: {self.defence}" if self.waits_for else self.defence[:1].upper() + self.defence[1:]
        cells = (f"V{self.number:02}", self.rule, defence, self.source, test, self.status)
        return "| " + " | ".join(cell.replace("``", "`").replace("|", "\\|") for cell in cells) + " |"


def waits(number: int, room: str, rule: str, defence: str, source: str) -> Row:
    """Return a row for a part of the library that does not exist yet."""
    return Row(number=number, rule=rule, defence=defence, source=source, waits_for=room)


WAITING = (
    waits(
        29,
        "the service",
        "How long a query runs must not depend on the data.",
        "No functions of the analyst inside queries; answers come at the tick of a clock.",
        "Haeberlen, Pierce and Narayan, Differential Privacy Under Fire, USENIX Security 2011.",
    ),
    waits(
        49,
        "the service",
        "Nothing exact may stand beside a noisy answer: row counts, bytes read, plans, cache hits, logs.",
        "Answers follow a fixed schema that has no place for them.",
        "General knowledge about query services.",
    ),
    waits(
        71,
        "typed records of answers",
        "Verification must not read sentences, nor run a planner again that may have changed since.",
        "An answer carries a record with a kind, exact parameters and a version; words are made from it, never read.",
        "Found by using this library: rewording a message made a genuine certificate fail.",
    ),
    waits(
        73,
        "the file readers",
        "Values that cannot be read must not become missing in silence.",
        "The format of every column is declared, and what cannot be read is counted before anything is published.",
        "Found by using this library: amounts with currency signs, dates in another order.",
    ),
    waits(
        74,
        "reports of what contribution bounds leave out",
        "A number that leaves out most of the data must not be shown as if it were the whole.",
        "Columns say what they count, and intervals say what they cover.",
        "Found by using this library: a count of flights with five rows for each aircraft.",
    ),
)

HEAD = """# What must never happen

Software for differential privacy fails in ways that no user sees: the answers look noisy and are not private. Each row
below happened to somebody or was shown to be possible. Each row with a test has a file in `tests/threats`, which holds
the check **and a flawed implementation that the same check catches**, so that a test which can never fail is not
counted. The page is written from these files by `tools/threats_page.py`.

{tested} of {all} have a test{partly}; {waiting} wait for a part of the library that does not exist yet.

| id | The rule that was broken | Defence | Source | Test | Status |
|---|---|---|---|---|---|
"""


def read(path: Path) -> Row:
    """Return the row of one test file, or say what its docstring lacks."""
    found = re.fullmatch(r"test_v(\d\d)_\w+", path.stem)
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    if found is None or not text:
        raise ValueError(f"{path.name} must be called test_vNN_name.py and begin with a docstring.")
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    fields = re.findall(rf"({'|'.join(FIELDS)}): (.*?)(?= (?:{'|'.join(FIELDS)}): |$)", paragraphs[-1])
    known = {name.lower(): value for name, value in fields}
    if not {"defence", "source"} <= known.keys():
        raise ValueError(f"the docstring of {path.name} must end in lines 'Defence: ...' and 'Source: ...'.")
    return Row(number=int(found[1]), rule=paragraphs[0], test=path.stem, **known)


def rows(folder: Path = TESTS) -> list[Row]:
    """Return all rows in order; every number must be there once."""
    found = [*(read(path) for path in folder.glob("test_v*.py")), *WAITING]
    numbers = [row.number for row in found]
    if sorted(numbers) != list(NUMBERS):
        wrong = sorted({n for n in (*numbers, *NUMBERS) if numbers.count(n) != 1 or n not in NUMBERS})
        every = f"each of V{NUMBERS[0]:02} to V{NUMBERS[-1]:02}"
        raise ValueError(f"{every} is tested or waits, not both and not neither: look at {wrong}.")
    return sorted(found, key=lambda row: row.number)


def page(folder: Path = TESTS) -> str:
    """Return the whole page."""
    table = rows(folder)
    waiting, partly = (
        sum(bool(x) for x in flags) for flags in zip(*((r.waits_for, r.open) for r in table), strict=True)
    )
    head = HEAD.format(
        tested=len(table) - waiting,
        all=len(table),
        waiting=waiting,
        partly=f", {partly} of them in part" if partly else "",
    )
    return head + "\n".join(map(str, table)) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
