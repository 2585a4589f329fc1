# ruff: noqa: ARG001 - one interface, several implementations: not each needs every argument
"""Functions of texts. Their time grows with a text in proportion, and no text grows beyond a public length.

Whoever asks may write any pattern and make texts longer, so a function that goes back in a text again and again would
take as long as she likes for one person's row. No engine is given a pattern with ``%``: its parts are looked for from
left to right, each behind the one before, which finds the parts whenever they are there.
"""

from dataclasses import replace
from fractions import Fraction
from string import punctuation

from discreet.errors import InvalidParameter
from discreet.tables.functions.declaring import boolean, count_of, function, text_of, words_of
from discreet.tables.kinds import LONGEST, Interval, Value
from discreet.tables.typed import Scope, Typed

LARGEST_MADE = 2**20
"""Characters of what a replacement may make before it is cut."""

LONGEST_SOUGHT = 1000
"""Characters of a text that is looked for in others: comparing them at every place takes that much longer."""

LONGEST_GAPPED = 100
"""Characters of a part of a pattern with underscores inside: an engine keeps that many places in mind."""

MOST_PARTS = 32
"""Parts of a pattern between percent signs: each is a step of the query."""

LETTERS = ("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


@function("lower")
def _lower(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    return text_of(arguments, f"TRANSLATE({{}}, '{LETTERS[0]}', '{LETTERS[1]}')")


@function("upper")
def _upper(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    return text_of(arguments, f"TRANSLATE({{}}, '{LETTERS[1]}', '{LETTERS[0]}')")


@function("trim")
def _trim(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    return text_of(arguments, "TRIM(BOTH ' ' FROM {})")


@function("substring")
def _substring(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    start, length = (count_of(option, "substring") for option in options)
    if start < 1:
        raise InvalidParameter("the first character is at position 1.")
    x = text_of(arguments, f"SUBSTRING({{}}, {start}, {length})")
    return replace(x, length=min(x.length, length))


@function("replace")
def _replace(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    old, new = _sought(options[0], "replace"), words_of(options[1], "replace")
    if not old:
        raise InvalidParameter("replace needs a text to look for.")
    x = text_of(arguments, "{}")
    x = replace(x, sql=f"REPLACE({x.sql}, {scope.dialect.string(old)}, {scope.dialect.string(new)})")
    times, rest = divmod(x.length, len(old))
    length = max(x.length, times * len(new) + rest)
    if length > LARGEST_MADE:
        raise InvalidParameter(
            f"replacing could make texts of {length} characters, from one of {x.length}: there may be {LARGEST_MADE}. "
            f"Take fewer characters first, with .slice(1, 100), or declare max_length=100 in the schema."
        )
    return _made(scope, x, length)


@function("concat")
def _concat(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    for x in arguments:
        text_of([x], "{}")
    sql, level = " || ".join(x.sql for x in arguments), max(x.level for x in arguments)
    joined = Typed("str", f"({sql})", level, nullable=any(x.nullable for x in arguments))
    return _made(scope, joined, sum(x.length for x in arguments))


def _made(scope: Scope, text: Typed, length: int) -> Typed:
    """Return a text that was made, cut if it might be too long.

    It is written once: DuckDB merges the steps of a calculation, and what stood three times in each of k steps would be
    calculated 3^k times.
    """
    if length <= LONGEST:
        return replace(text, length=length)
    return replace(text, sql=f"SUBSTRING({text.sql}, 1, {LONGEST})", length=LONGEST)


@function("length")
def _length(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    x = text_of(arguments, f"CAST(LENGTH({{}}) AS {scope.dialect.whole})")
    return replace(x, kind="int", interval=Interval(Fraction(0), Fraction(x.length)), length=LONGEST)


# Searches.


def _sought(value: Value, name: str) -> str:
    """Return an option that is looked for in texts."""
    text = words_of(value, name)
    if len(text) > LONGEST_SOUGHT:
        raise InvalidParameter(f"{name} takes a text of at most {LONGEST_SOUGHT} characters to look for.")
    return text


@function("starts_with")
def _starts_with(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    x = text_of(arguments, "{}")
    return boolean(scope.dialect.starts_with(x.sql, _sought(options[0], "startswith")), x)


@function("ends_with")
def _ends_with(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    x = scope.let(text_of(arguments, "{}"))
    return boolean(scope.dialect.ends_with(x.sql, _sought(options[0], "endswith")), x)


@function("contains")
def _contains(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    x = text_of(arguments, "{}")
    return boolean(scope.dialect.contains(x.sql, _sought(options[0], "contains")), x)


@function("like")
def _like(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    start, *others = _sought(options[0], "LIKE").split("%")
    whole = scope.let(text_of(arguments, "{}"))
    if not others:
        return boolean(_same(scope, whole.sql, start), whole)
    parts, end = [part for part in others[:-1] if part], others[-1]
    if len(parts) > MOST_PARTS or any("_" in part.strip("_") and len(part) > LONGEST_GAPPED for part in parts):
        raise InvalidParameter(
            f"a pattern of LIKE has at most {MOST_PARTS} parts between percent signs, and those with an underscore "
            f"inside have at most {LONGEST_GAPPED} characters."
        )
    if [start, end] == ["", ""] and len(parts) == 1 and "_" not in parts[0]:
        return boolean(scope.dialect.contains(whole.sql, parts[0]), whole)
    begins = _same(scope, f"SUBSTRING({whole.sql}, 1, {len(start)})", start)
    if start and not parts and not end:
        return boolean(begins, whole)
    rest = whole
    if start:
        behind = f"SUBSTRING({whole.sql}, {len(start) + 1})"
        rest = scope.let(replace(whole, sql=f"CASE WHEN {begins} THEN {behind} END"))
    for part in parts:
        rest = _behind(scope, rest, part)
    ends = _same(scope, scope.dialect.right(rest.sql, len(end)), end) if end else f"{rest.sql} IS NOT NULL"
    sql = f"CASE WHEN {whole.sql} IS NOT NULL THEN COALESCE({ends}, FALSE) END"
    return boolean(sql, replace(whole, level=rest.level))


def _behind(scope: Scope, x: Typed, part: str) -> Typed:
    """Return what stands behind the first place where a part of a pattern is; null if it is nowhere."""
    sought = part.strip("_")
    if not sought:
        return _without(scope, x, len(part))
    before, after = len(part) - len(part.lstrip("_")), len(part) - len(part.rstrip("_"))
    if before:
        x = _without(scope, x, before)
    if "_" in sought:
        found = scope.let(replace(x, sql=scope.dialect.first(x.sql, _expression(scope, sought))))
        x = replace(x, level=found.level)
        place = f"CASE WHEN LENGTH({found.sql}) = {len(sought)} THEN {scope.dialect.position(x.sql, found.sql)} END"
    else:
        place = f"NULLIF({scope.dialect.position(x.sql, scope.dialect.string(sought))}, 0)"
    x = scope.let(replace(x, sql=f"SUBSTRING({x.sql}, {place} + {len(sought)})"))
    return _without(scope, x, after) if after else x


def _without(scope: Scope, x: Typed, count: int) -> Typed:
    """Return a text without its first characters; null if there are fewer."""
    return scope.let(replace(x, sql=f"CASE WHEN LENGTH({x.sql}) >= {count} THEN SUBSTRING({x.sql}, {count + 1}) END"))


def _same(scope: Scope, text: str, part: str) -> str:
    """Whether a text is a part of a pattern, in which an underscore is any character."""
    if "_" not in part:
        return f"({text} = {scope.dialect.string(part)})"
    return scope.dialect.matches(text, _expression(scope, part))


def _expression(scope: Scope, part: str) -> str:
    """Return a part of a pattern as a regular expression, which repeats nothing and so never goes back far."""
    return "".join(
        scope.dialect.any_character if letter == "_" else f"\\{letter}" if letter in punctuation else letter
        for letter in part
    )
