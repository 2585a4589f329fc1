"""A ``release.yaml`` to fill in, made from names and types alone: no value of the table is read or written."""

import re
from dataclasses import dataclass
from pathlib import Path

from discreet.publishing.shape import Shape, shape_of
from discreet.publishing.text import quoted, select

__all__ = ["Described", "described"]

PERSON = re.compile(
    r"(user|person|patient|customer|client|member|subject|respondent|household|employee|student)(_?id)?"
)
HINTS = {
    None: "the file does not say its type: int, float, str, date, bool or timestamp",
    "bool": "true or false",
    "date": "a day",
    "float": "a number: to add it up or average it, say its bounds",
    "int": "a whole number: to add it up or average it, say its bounds",
    "str": "a text: list its values where they are public",
    "timestamp": "a moment",
}
FORMS = {
    None: "float",
    "bool": "bool",
    "date": "date",
    "float": "{min: LOW, max: HIGH}",
    "int": "{min: LOW, max: HIGH}",
    "str": "{values: [FIRST, SECOND]}",
    "timestamp": "timestamp",
}
HEADED = (
    "# A text file does not say what its columns are called: its first line was taken as their names. If that line is",
    "# a row of data, show this file to nobody, and put a line with the names above it.",
)


@dataclass(frozen=True, slots=True)
class Described:
    """A table's name and shape, and the file that was made of them."""

    name: str
    shape: Shape
    text: str


def described(source: str) -> Described:
    """Return a file for a table."""
    name = _table_name(source)
    shape = shape_of(source, name)
    return Described(name, shape, _file(source, name, shape))


def _file(source: str, name: str, shape: Shape) -> str:
    """Return the file. Who is protected is left open: nobody can read that off a table."""
    person = next((column for column in shape.columns if PERSON.fullmatch(column.casefold())), "user_id")
    group = next(
        (column for column, kind in shape.columns.items() if kind in ("bool", "str") and column != person), None
    )
    lines = [
        "# yaml-language-server: $schema=release.schema.json",
        "# (discreet check --schema > release.schema.json lets an editor complete and check this file.)",
        "# Made from the names and types of the columns; no value was read. Fill in what is yours to say, then run",
        "#   discreet check release.yaml      one sentence for each mistake",
        "#   discreet preview release.yaml    how accurate it will be and what it costs; reads no data",
        *(HEADED if shape.headed else ()),
        "",
        f"title: {_quoted(f'About {name}')}  # heads the report",
        "# description: One paragraph for readers.",
        "",
        "dataset:",
        f"  name: {name}  # its account in the ledger, and the table's name in SQL",
        f"  source: {_quoted(source)}  # relative to this file",
        "  # size: 20000  # about how many people; public, for warnings and the size of groups",
        '  # version: "1"  # a new version of the data has answers of its own',
        "",
        "# Who is protected? Only you can say.",
        f"#   unit: {{person: {person}, groups: 3, rows: 5}}",
        "#       people have several rows: all rows of a person together, of which at most 5 count in each of at",
        "#       most 3 groups of a table; with more rows each weighs less, and further groups are left out",
        "#   unit: row",
        "#       each row is a different person",
        "unit:",
        "",
        "# What is known of columns before anybody looks. Never take bounds or values from the data itself:",
        "# take them from what the column means.",
        *_columns(shape, person),
        "",
        "# What may ever be spent on this data set, by this file and all others. A smaller epsilon protects more;",
        "# delta should be far below one over the number of people.",
        "budget: {epsilon: 1, delta: 1e-7}",
        "# spend: {epsilon: 0.5}  # what this file may spend of it; everything unless said",
        "# ledger: ledger.sqlite  # where spending is written down",
        "",
        "releases:",
        "  - table: everybody  # the name of its files",
        f"    sql: SELECT COUNT(*) AS n FROM {quoted(name)}",  # noqa: S608  it is a text to be edited
    ]
    if group is not None:
        lines += [
            f"  # - table: by_{_word(group)}",
            f"  #   sql: {_text(select(name, {group: quoted(group)}, {'n': 'COUNT(*)'}))}",
            "  #   spend: 40%  # of what this file spends; or error: {n: 60} for an accuracy",
        ]
    return "\n".join(lines) + "\n"


def _columns(shape: Shape, person: str) -> list[str]:
    if not shape.listed:
        return [
            "columns: {}  # a JSON file does not list its columns: declare those that are used, as in amount: float"
        ]
    lines = ["columns:  # take away the # where you declare something"]
    for column, kind in shape.columns.items():
        hint = "tells people apart: leave it as it is" if column == person else HINTS[kind]
        lines.append(f"  # {_quoted(column)}: {FORMS[kind]}  # {hint}")
    return lines


def _table_name(source: str) -> str:
    """Return a name for SQL, from the name of a file or of a table in a database."""
    stem = source.rpartition("#")[2].rpartition(".")[2] if "://" in source else Path(source).name.partition(".")[0]
    return _word(stem) or "data"


def _word(text: str) -> str:
    word = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")[:60]
    return f"t_{word}" if word[:1].isdigit() else word


def _quoted(text: str) -> str:
    """Return a text as YAML has it on one line.

    >>> _quoted("city"), _quoted("no: way"), _quoted("007")
    ('city', '"no: way"', '"007"')
    """
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_ ./-]*", text) and text.strip() == text:
        return text
    return _in_marks(text)


def _text(text: str) -> str:
    """Return words as YAML has them on one line: as they are unless a sign in them means something."""
    return text if text.isprintable() and not re.search(r"""[:#"'\\]""", text) else _in_marks(text)


def _in_marks(text: str) -> str:
    return f'"{"".join(map(_escape, text))}"'


def _escape(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"
