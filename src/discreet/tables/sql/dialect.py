"""The grammar: standard SQL as sqlglot reads it, with everything taken out that no query may use.

Functions keep the name that was written, so that the list of those allowed is a list of names; statements other than
SELECT have no rule at all.
"""

from typing import ClassVar

from sqlglot import Token, TokenType, exp, parser, tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, SqlglotError

from discreet.errors import InvalidQuery

__all__ = ["Private", "tree"]

WRITTEN = ("CAST", "EXTRACT", "SUBSTRING", "TRIM", "TRY_CAST")
"""Functions with a grammar of their own, as in ``EXTRACT(year FROM day)``."""


class Private(Dialect):
    """SQL for private tables: nulls sort last, and identifiers are in double quotes or backticks."""

    NULL_ORDERING = "nulls_are_last"

    class Tokenizer(tokens.Tokenizer):
        """Words as in standard SQL; none of them starts a command."""

        IDENTIFIERS: ClassVar = ['"', "`"]
        COMMANDS: ClassVar[set[TokenType]] = set()

    class Parser(parser.Parser):
        """Rules of SELECT alone, with functions left as they are written."""

        STATEMENT_PARSERS: ClassVar = {}
        COLUMN_OPERATORS: ClassVar = {
            kind: parser.Parser.COLUMN_OPERATORS[kind] for kind in (TokenType.DOT, TokenType.DCOLON)
        }
        FUNCTIONS: ClassVar = {}
        NO_PAREN_FUNCTIONS: ClassVar = {}
        FUNCTION_PARSERS: ClassVar = {name: parser.Parser.FUNCTION_PARSERS[name] for name in WRITTEN}
        NO_PAREN_FUNCTION_PARSERS: ClassVar = {"CASE": parser.Parser.NO_PAREN_FUNCTION_PARSERS["CASE"]}


def tree(words: list[Token], text: str) -> exp.Expr:
    """Return the tree of one statement.

    >>> from discreet.tables.sql.words import words
    >>> type(tree(words("SELECT 1"), "SELECT 1")).__name__
    'Select'
    """
    try:
        trees = Private().parser(error_level=ErrorLevel.IMMEDIATE).parse(words, text)
    except SqlglotError as error:
        raise InvalidQuery(f"the text is no SQL that can be read{_place(error)}. {FORM}") from None
    except RecursionError:
        raise InvalidQuery("the text is nested too deeply to be read. Write it in fewer levels.") from None
    if len(trees) != 1 or trees[0] is None:
        raise InvalidQuery(f"a query is one statement. {FORM}")
    return trees[0]


FORM = "Write SELECT key, COUNT(*) AS n FROM table WHERE ... GROUP BY key."


def _place(error: SqlglotError) -> str:
    found = getattr(error, "errors", None)
    if not found or not isinstance(found[0].get("line"), int):
        return ""
    return f", from line {found[0]['line']} on, near character {found[0]['col']}"
