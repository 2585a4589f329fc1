"""Mistakes in a curator's file: each is one sentence that names the file, the line and what to write instead."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from discreet.errors import InvalidParameter

__all__ = ["Mistake", "Mistakes", "listed", "nearest"]


class Mistake(InvalidParameter):
    """One thing that is wrong with a file.

    >>> print(Mistake("release.yaml", 12, "epsilon must be above 0.", "Write epsilon: 0.5."))
    release.yaml, line 12: epsilon must be above 0. Write epsilon: 0.5.
    """

    def __init__(self, file: str, line: int | None, wrong: str, fix: str = "") -> None:
        self.file, self.line, self.wrong, self.fix = file, line, wrong, fix
        place = file if line is None else f"{file}, line {line}"
        super().__init__(" ".join(part for part in (f"{place}: {wrong}", fix) if part))


class Mistakes(InvalidParameter):
    """Everything that is wrong with a file, in the order of its lines.

    >>> print(Mistakes([Mistake("a.yaml", 2, "two."), Mistake("a.yaml", 1, "one.")]))
    a.yaml, line 1: one.
    a.yaml, line 2: two.
    """

    def __init__(self, found: Iterable[Mistake]) -> None:
        self.found: Sequence[Mistake] = tuple(sorted(found, key=lambda one: one.line or 0))
        super().__init__("\n".join(map(str, self.found)))


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that somebody may have meant.

    >>> nearest("epsilom", ["epsilon", "delta"]), nearest("sizes", ["epsilon", "delta"])
    ('epsilon', None)
    """
    words = {one.casefold(): one for one in known}
    found = get_close_matches(word.casefold(), words, n=1, cutoff=0.6)
    return words[found[0]] if found else None


def listed(words: Iterable[str], last: str = "and") -> str:
    """Return words as a sentence has them.

    >>> listed(["table", "histogram", "quantiles"], "or")
    'table, histogram or quantiles'
    """
    *first, end = words
    return f"{', '.join(first)} {last} {end}" if first else end
