"""From a text to words: strings, comments and quoted names are told apart here, before anything is read.

What SELECT can say and sqlglot cannot, ``WITH DIFFERENTIAL_PRIVACY OPTIONS(...)``, is taken out here too, word by word.
"""

from itertools import pairwise

from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

from discreet.errors import InvalidQuery
from discreet.tables.sql.dialect import FORM, Private
from discreet.tables.sql.refusals import named

__all__ = ["LEVELS", "words"]

CHARACTERS = 100_000
WORDS = 10_000
LEVELS = 24
"""How deep brackets and cases may be nested: the reader needs some twenty calls for each level."""

OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE)
CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END)
BRACKETS = (TokenType.L_PAREN, TokenType.R_PAREN)
STRANGE = (TokenType.PIPE_GT, TokenType.HINT, TokenType.BLOCK_START, TokenType.BLOCK_END, TokenType.BACKSLASH)


def words(text: str) -> list[Token]:
    """Return the words of one statement without the semicolon at its end.

    >>> [word.text for word in words("SELECT 'a;b' -- a comment; DROP TABLE x")]
    ['SELECT', 'a;b']
    >>> words("SELECT 1; SELECT 2")
    Traceback (most recent call last):
    discreet.errors.InvalidQuery: a query is one statement, and this text has several. Ask them one by one.
    """
    if not isinstance(text, str):
        raise InvalidQuery(f"a query is a text, got {type(text).__name__}. {FORM}")
    if len(text) > CHARACTERS:
        raise InvalidQuery(f"a query has at most {CHARACTERS} characters, got {len(text)}. Ask for less at a time.")
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidQuery("a query is a text in Unicode without the character 0. Write other characters.")
    try:
        found = list(Private().tokenize(text))
    except SqlglotError:
        raise InvalidQuery("a string, a quoted name or a comment is not closed. Close it.") from None
    while found and found[-1].token_type is TokenType.SEMICOLON:
        found.pop()
    if len(found) > WORDS:
        raise InvalidQuery(f"a query has at most {WORDS} words, got {len(found)}. Ask for less at a time.")
    if any(word.token_type is TokenType.SEMICOLON for word in found):
        raise InvalidQuery("a query is one statement, and this text has several. Ask them one by one.")
    if not found or found[0].token_type not in (TokenType.SELECT, TokenType.WITH):
        first = named(found[0].text.upper()) if found else "nothing"
        raise InvalidQuery(f"a query starts with SELECT or WITH, this one with {first}, and only reads. {FORM}")
    _check(found)
    return found


def _check(found: list[Token]) -> None:
    level = brackets = 0
    for word in found:
        level += (word.token_type in OPENING) - (word.token_type in CLOSING)
        brackets += (word.token_type is BRACKETS[0]) - (word.token_type is BRACKETS[1])
        if brackets < 0:
            break
        if level > LEVELS:
            raise InvalidQuery(f"a query has at most {LEVELS} levels of brackets and cases. Write it in fewer.")
        if word.token_type in STRANGE:
            raise InvalidQuery(f"{named(word.text)} is no part of a query. {FORM}")
    if brackets:
        raise InvalidQuery("each bracket that is opened must be closed. Count them.")
    for word, after in pairwise(found):
        if word.token_type is TokenType.NUMBER and after.token_type is TokenType.VAR and after.start == word.end + 1:
            raise InvalidQuery("a number is written in digits, as in 1000 or 0.5 or 1e6. Put a space behind it.")
