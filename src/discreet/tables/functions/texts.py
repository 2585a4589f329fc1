# ruff: noqa: ARG001 - one interface, several implementations: not each needs every argument
"""Functions of texts."""

from dataclasses import replace
from fractions import Fraction

from discreet.errors import InvalidParameter
from discreet.tables.functions.declaring import boolean, count_of, function, text_of, words_of
from discreet.tables.kinds import LIMIT, Interval, Value
from discreet.tables.typed import Scope, Typed

LONGEST_MADE = 2**16
"""Texts that are made are missing if they would have more bytes: what one row makes must not fill the memory."""

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
    return text_of(arguments, f"SUBSTRING({{}}, {start}, {length})")


@function("replace")
def _replace(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    old, new = (words_of(option, "replace") for option in options)
    if not old:
        raise InvalidParameter("replace needs a text to look for.")
    growth = -(-len(new.encode()) // len(old.encode()))
    x = scope.let(text_of(arguments, "{}"))
    replaced = f"REPLACE({x.sql}, {scope.dialect.string(old)}, {scope.dialect.string(new)})"
    short = f"{scope.dialect.octets(x.sql)} <= {LONGEST_MADE // max(1, growth)}"
    return replace(x, sql=f"CASE WHEN {short} THEN {replaced} END", nullable=True)


@function("concat")
def _concat(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    for x in arguments:
        text_of([x], "{}")
    named = [scope.let(x) for x in arguments]
    sizes = " + ".join(scope.dialect.octets(x.sql) for x in named)
    sql = f"CASE WHEN {sizes} <= {LONGEST_MADE} THEN {' || '.join(x.sql for x in named)} END"
    return Typed("str", sql, max(x.level for x in named))


@function("length")
def _length(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    x = text_of(arguments, f"CAST(LENGTH({{}}) AS {scope.dialect.whole})")
    return replace(x, kind="int", interval=Interval(Fraction(0), Fraction(LIMIT)))


@function("starts_with")
def _starts_with(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    x = text_of(arguments, "{}")
    return boolean(scope.dialect.starts_with(x.sql, words_of(options[0], "startswith")), x)


@function("ends_with")
def _ends_with(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    x = scope.let(text_of(arguments, "{}"))
    return boolean(scope.dialect.ends_with(x.sql, words_of(options[0], "endswith")), x)


@function("contains")
def _contains(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    x = text_of(arguments, "{}")
    return boolean(scope.dialect.contains(x.sql, words_of(options[0], "contains")), x)


@function("like")
def _like_pattern(scope: Scope, arguments: list[Typed], options: tuple[Value, ...]) -> Typed:
    x = text_of(arguments, "{}")
    pattern = scope.dialect.string(words_of(options[0], "LIKE").replace("!", "!!"))
    return boolean(f"({x.sql} LIKE {pattern} ESCAPE '!')", x)
