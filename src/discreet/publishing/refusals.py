"""What a session refuses, in the words of the file: its errors speak of Python, and a curator writes YAML."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from discreet.errors import DiscreetError
from discreet.publishing.entry import Entry, Wrong
from discreet.publishing.mistake import nearest

__all__ = ["in_words_of_the_file"]


@dataclass(frozen=True, slots=True)
class Saying:
    """An error of a session, by a pattern, and how the file puts it.

    ``wrong`` and ``fix`` are filled with the groups of the pattern. ``fields`` are those that the error may be about,
    and ``among`` is the group that lists the names there are, of which the first group should have been one.
    """

    pattern: str
    wrong: str
    fix: str
    fields: tuple[str, ...] = ()
    among: int = 0


SAYINGS = (
    Saying(
        r"there is no column (?:col\()?'([^']*)'\)?[^.]*\. There are: ([^.]*)",
        "there is no column {1}.",
        "There are: {2}.",
        ("where", "group_by", "by", "columns", "column"),
        among=2,
    ),
    Saying(
        r"there is no table '?(\w+)'?[^.]*\. There are: ([^.]*)",
        "there is no table {1}.",
        "There are: {2}.",
        among=2,
    ),
    Saying(
        r"there is no function '(\w+)'.*There are: (.*)\.",
        "there is no function {1}.",
        "There are: {2}.",
        ("where", "columns", "group_by"),
        among=2,
    ),
    Saying(
        r"^col\('([^']*)'\) has no bounds",
        "{1} has no bounds, so one person could change the answer without limit.",
        "Write {1}: {{min: 0, max: 500}} under columns, with your own numbers and not those of the data.",
    ),
    Saying(
        r"^(.*) has no bounds\. ",
        "a number that is added up has no bounds, so one person could change the answer without limit.",
        "Write CLIP(x, 0, 500) around it, with your own numbers.",
    ),
    Saying(
        r"^col\('([^']*)'\) is of type (\w+), and a number is needed",
        "{1} is read as {2}, and a number is needed.",
        "Write {1}: {{type: float, min: 0, max: 500}} under columns, or choose another column.",
    ),
    Saying(
        r"^(\S+) has no type in the file's metadata",
        "the type of {1} is not known.",
        "Write {1}: float under columns.",
    ),
    Saying(
        r"^(\w+) is a (\w+), and groups have names",
        "{1} is a {2}, and groups need names that are equal or not.",
        "Write BIN({1}, 0, 10, 20), ROUND({1}) or CAST({1} AS DATE).",
        ("group_by", "by"),
    ),
    Saying(
        r"^the groups of this query are private()",
        "the groups of this release are private, and showing some of them takes a delta above 0.",
        "Write delta: 1e-7 in the budget, or the values of the column under columns.",
        ("group_by", "by"),
    ),
    Saying(
        r"^no error can be promised for ([^,.]*).*\. It can for (.*)\.",
        "no error can be promised for {1}.",
        "It can for {2}.",
        ("error",),
        among=2,
    ),
    Saying(
        r"^no epsilon up to()",
        "no epsilon that protects anybody keeps these errors.",
        "Write a larger error, or group_size: 100000 if groups are that large.",
        ("error",),
    ),
    Saying(
        r"^split names ([^,;]*).*; this query has (.*)\.",
        "there is no column {1} to share the cost.",
        "There are: {2}.",
        ("split",),
        among=2,
    ),
    Saying(
        r"^Gaussian noise needs a delta()",
        "Gaussian noise needs a delta above 0.",
        "Write delta: 1e-7 in the budget, or noise: laplace.",
        ("noise",),
    ),
    Saying(
        r"^all groups of this query are public()",
        "all groups are public, so none are left out.",
        "Remove count_groups.",
        ("count_groups",),
    ),
    Saying(
        r"^(\S+) compares values of one type, got (\w+) and (\w+)",
        "{1} compares values of one type, and these are {2} and {3}.",
        "Declare the type of the column under columns, or use CAST.",
        ("where", "columns"),
    ),
    Saying(
        r"^(\S+) is stored as (\w+) and cannot be read as (\w+)",
        "{1} is stored as {2} and cannot be read as {3}.",
        "Write another type for {1} under columns.",
    ),
)


def in_words_of_the_file(error: DiscreetError, entry: Entry, columns: Iterable[str]) -> tuple[Wrong, str]:
    """Return where in an entry an error belongs, what is wrong and what to write, and a word to look for there."""
    text = str(error)
    for saying in SAYINGS:
        if (found := re.search(saying.pattern, text)) is not None:
            word = found[1]
            known = re.findall(r"\w+", found[saying.among]) if saying.among else []
            meant = nearest(word, [*columns, *known] if "no column" in saying.wrong else known)
            fix = saying.fix.format(*(found[0], *found.groups())) if meant is None else f"Did you mean {meant}?"
            wrong = saying.wrong.format(*(found[0], *found.groups()))
            return (_field(entry, saying.fields, word), wrong, fix), word
    first, _, rest = text.partition(". ")
    return (_field(entry, (), ""), first if first.endswith((".", "?")) else f"{first}.", rest), ""


def _field(entry: Entry, fields: Iterable[str], word: str) -> tuple[str, ...]:
    """Return the field of an entry that an error is about: one in which the word stands, or the first that it has."""
    own = {"sql": "query"}
    having = [name for name in (*fields, "sql", "columns", "column") if getattr(entry, own.get(name, name), None)]
    holding = [
        name
        for name in having
        if word and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", str(getattr(entry, own.get(name, name))))
    ]
    return tuple([*holding, *having][:1])
