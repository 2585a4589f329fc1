"""Tables in plain text: aligned in a terminal, whatever the keys hold.

Keys are untrusted: characters that move the cursor, turn the direction of text or show nothing are written as escapes,
and wide ones count for two columns.
"""

import unicodedata
from collections.abc import Sequence

__all__ = ["columns_of", "shortened", "text_table", "visible"]

ESCAPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
WITHOUT_WIDTH = frozenset({"Mn", "Me"})
GAP = "  "


def visible(text: str) -> str:
    r"""Return a text with escapes for what a terminal or browser would obey or hide.

    >>> print(visible("a\x1b[2Jb\u202ec\n"))
    a\x1b[2Jb\u202ec\n
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c.encode("unicode_escape").decode() if unicodedata.category(c) in ESCAPED else c for c in text)


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a visible text takes.

    >>> columns_of("Oslo"), columns_of("東京"), columns_of("e\u0301")
    (4, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_width, text))


def shortened(text: str, most: int) -> str:
    """Return a visible text of at most so many columns, cut with an ellipsis.

    >>> shortened("Llanfairpwllgwyngyll", 10)
    'Llanfairp…'
    """
    if columns_of(text) <= most:
        return text
    kept, used = [], 1
    for c in text:
        used += _width(c)
        if used > most:
            break
        kept.append(c)
    return "".join(kept) + "…"


def text_table(heads: Sequence[Sequence[str]], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> list[str]:
    """Return the lines of a table, all equally wide: heads, a rule, rows.

    >>> for line in text_table([["city", "n"]], [["Oslo", "12"], ["Bergen", "7"]], [False, True]):
    ...     print(line)
    city     n
    ──────  ──
    Oslo    12
    Bergen   7
    """
    widths = [max((columns_of(row[i]) for row in (*heads, *rows)), default=0) for i in range(len(right))]

    def line(cells: Sequence[str]) -> str:
        filled = []
        for cell, width, to_the_right in zip(cells, widths, right, strict=True):
            blank = " " * (width - columns_of(cell))
            filled.append(blank + cell if to_the_right else cell + blank)
        return GAP.join(filled)

    return [*map(line, heads), line(["─" * width for width in widths]), *map(line, rows)]


def _width(c: str) -> int:
    if unicodedata.category(c) in WITHOUT_WIDTH or "\u1160" <= c <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(c) in ("W", "F") else 1
