"""YAML with the line of everything that was written, and nothing lost on the way.

A number is kept as the decimal that stands there, so that ``0.1`` is a tenth. Words are as in YAML 1.2: ``no`` and
``on`` are texts, ``1e-7`` is a number, and what could be a number or a text (``007``, ``0x1f``) is refused. Tags,
anchors, repeated keys, several documents, long files and deep ones are refused: a file is read beside private data.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, Self

from discreet.errors import MissingExtra
from discreet.publishing.mistake import Mistake

__all__ = ["Marked", "Number", "Path", "read_yaml"]

Path = tuple[str | int, ...]

LONGEST = 1_000_000
DEEPEST = 20
MOST = 50_000

NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d{1,4})?", re.ASCII)
UNCLEAR = re.compile(r"[-+]?(0\d+(\.\d*)?|0[xob][0-9a-fA-F]+)", re.ASCII)
DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ufffe\uffff]")
"""Characters that nobody sees and that files, ledgers or terminals take amiss: controls, halves of characters, and
those that turn the direction of writing."""
NULLS = ("", "~", "null", "Null", "NULL")
TRUTHS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


class Number(Decimal):
    """A decimal, and how it was written: a version of 1.10 is not 1.1."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        """Return the decimal that a text says, with all its digits."""
        made = super().__new__(cls, text)
        made.text = text
        return made

    def __repr__(self) -> str:
        return f"Number({self.text!r})"


@dataclass(frozen=True, slots=True)
class Marked:
    """What a file holds, and the lines of each part by its path: the first and the last, counted from 1."""

    name: str
    value: Any
    lines: Mapping[Path, tuple[int, int]] = field(default_factory=dict)
    text: str = ""

    def place(self, path: Iterable[str | int]) -> Path:
        """Return the innermost part on a path that stands in the file."""
        found: Path = ()
        for part in path:
            if (*found, part) in self.lines:
                found = (*found, part)
        return found

    def line(self, path: Iterable[str | int], word: str = "") -> int | None:
        """Return the line of a part, or the line inside it on which a word stands first."""
        if (found := self.lines.get(self.place(path))) is None:
            return None
        first, last = found
        if word:
            whole = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
            for number, line in enumerate(self.text.splitlines()[first - 1 : last], first):
                if whole.search(line):
                    return number
        return first

    def mistake(self, path: Iterable[str | int], wrong: str, fix: str = "", *, word: str = "") -> Mistake:
        """Return a mistake in a part of the file."""
        return Mistake(self.name, self.line(path, word), wrong, fix)


def read_yaml(text: str, name: str = "release.yaml") -> Marked:
    r"""Return what a YAML text holds, or say on which line it cannot be read.

    >>> found = read_yaml("budget:\n  epsilon: 0.1\n")
    >>> found.value, found.line(("budget", "epsilon"))
    ({'budget': {'epsilon': Number('0.1')}}, 2)
    """
    try:
        import yaml
    except ImportError:
        raise MissingExtra("PyYAML", "tables") from None
    if len(text) > LONGEST:
        raise Mistake(name, None, "a file has at most a million characters.", "Declare fewer values, or publish less.")
    reader = _Reader(name, text)
    try:
        documents = list(reader.events(yaml))
    except yaml.MarkedYAMLError as error:
        opened = "flow" in str(error.context) or "quoted" in str(error.context)
        mark = (error.context_mark if opened else None) or error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        raise Mistake(name, line, *_unreadable(f"{error.context or ''}: {error.problem or ''}")) from None
    except yaml.YAMLError:
        raise Mistake(
            name, None, "the file holds a character that no YAML file may have.", "Save it as plain UTF-8 text."
        ) from None
    if len(documents) > 1:
        raise Mistake(name, documents[1][1], "a file holds one release, and a second one starts here.", "Remove ---.")
    value = documents[0][0] if documents else None
    return Marked(name, value, reader.lines, text)


def _unreadable(problem: str) -> tuple[str, str]:
    """Return what is wrong and what to do, for what the parser says in its own words."""
    for sign, wrong, fix in PROBLEMS:
        if sign in problem:
            return wrong, fix
    return "this line cannot be read as YAML.", "Look for a missing colon, quotation mark or bracket in it or above it."


PROBLEMS = (
    ("'\\t'", "lines are indented with a tab.", "Write spaces instead."),
    ("quoted scalar", "a quotation mark is not closed.", 'Write "text" with a mark at both ends.'),
    ("mapping values are not allowed", "there is a colon where none can be.", 'Write the text in quotes: "a: b".'),
    ("could not find expected ':'", "a colon is missing here or on the line above.", "Write name: value."),
    ("expected ',' or", "a bracket is not closed, or a comma is missing.", "Write {min: 0, max: 500} or [a, b]."),
    ("expected <block end>", "this line is indented differently from its neighbours.", "Align it with them."),
    ("<document start>", "this line is indented differently from its neighbours.", "Align it with them."),
    ("cannot start any token", "a text starts with a sign that means something in YAML.", "Write it in quotes."),
    ("alphabetic or numeric character", "a text starts with * or &.", 'Write it in quotes: "*".'),
)


class _Reader:
    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        self.lines: dict[Path, tuple[int, int]] = {}
        self.count = 0

    def events(self, yaml: Any) -> Iterable[tuple[Any, int]]:  # noqa: ANN401  the module
        """Yield the documents, each with its first line."""
        self.yaml = yaml
        events = yaml.parse(self.text, Loader=yaml.SafeLoader)
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                yield self._value(next(events), events, ()), event.start_mark.line + 1

    def _value(self, event: Any, events: Any, path: Path) -> Any:  # noqa: ANN401  what the parser gives
        yaml, line = self.yaml, event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise Mistake(self.name, line, "anchors and aliases (& and *) are not read.", "Write the value out.")
        if event.tag is not None:
            raise Mistake(self.name, line, "tags (words with !) are not read.", "Write the value alone.")
        if len(path) > DEEPEST:
            raise Mistake(self.name, line, f"nothing is nested more than {DEEPEST} deep.", "Write it in fewer levels.")
        self.count += 1
        if self.count > MOST:
            wrong = f"a file holds at most {MOST:,} values."
            raise Mistake(self.name, line, wrong, "Declare fewer, or publish less.")
        self.lines.setdefault(path, (line, line))
        if isinstance(event, yaml.ScalarEvent):
            self._ends(path, event)
            return self._scalar(event, line)
        if isinstance(event, yaml.SequenceStartEvent):
            values: list[Any] = []
            while not isinstance(event := next(events), yaml.SequenceEndEvent):
                values.append(self._value(event, events, (*path, len(values))))
            self._ends(path, event)
            return values
        found: dict[str, Any] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key, at = self._key(event), event.start_mark.line + 1
            if key in found:
                first = self.lines[*path, key][0]
                wrong = f"{key} stands here for the second time; the first is on line {first}."
                raise Mistake(self.name, at, wrong, "Remove one of them.")
            self.lines[*path, key] = at, at
            found[key] = self._value(next(events), events, (*path, key))
        self._ends(path, event)
        return found

    def _ends(self, path: Path, event: Any) -> None:  # noqa: ANN401
        mark = event.end_mark
        last = mark.line + 1 if mark.column or mark.line == event.start_mark.line else mark.line
        self.lines[path] = self.lines[path][0], max(last, self.lines[path][0])

    def _key(self, event: Any) -> str:  # noqa: ANN401
        line = event.start_mark.line + 1
        if not isinstance(event, self.yaml.ScalarEvent) or event.anchor is not None or event.tag is not None:
            raise Mistake(self.name, line, "what stands before a colon is a plain name.", "Write name: value.")
        if event.value == "<<":
            raise Mistake(self.name, line, "<< is not read.", "Write the values out.")
        self._check_seen(event.value, line)
        if "\n" in event.value or "\t" in event.value:
            raise Mistake(self.name, line, "a name stands on one line, without tabs.", "Write it so.")
        return str(event.value)

    def _check_seen(self, text: str, line: int) -> None:
        if (found := UNSEEN.search(text)) is not None:
            wrong = f"a text holds the character U+{ord(found[0]):04X}, which cannot be seen or published."
            raise Mistake(self.name, line, wrong, "Remove it, or write it in letters.")

    def _scalar(self, event: Any, line: int) -> Any:  # noqa: ANN401
        text: str = event.value
        self._check_seen(text, line)
        if not event.implicit[0]:
            return text
        if text in NULLS:
            return None
        if text in TRUTHS:
            return TRUTHS[text]
        if UNCLEAR.fullmatch(text):
            wrong = f"{text} may be a number or a text."
            raise Mistake(self.name, line, wrong, f'Write "{text}" in quotes for a text, or the number without the 0.')
        if NUMBER.fullmatch(text):
            return Number(text)
        if DAY.fullmatch(text):
            try:
                return date.fromisoformat(text)
            except ValueError:
                raise Mistake(self.name, line, f"there is no day {text}.", "Write one as 2026-01-31.") from None
        return text
