"""Whether a tree holds everything that was written.

A lenient parser drops words that it has no use for: ``FROM visits *`` is read as ``FROM visits``, and
``COUNT(* EXCEPT)`` as ``COUNT(*)``. So the tree is written out again, and every word of the text must be in there.
"""

from collections import Counter

from sqlglot import Token, TokenType, exp

from discreet.errors import InvalidQuery
from discreet.tables.sql.dialect import Private
from discreet.tables.sql.refusals import named

__all__ = ["check_nothing_lost"]

TEXTS = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER)
PUNCTUATION = (TokenType.L_PAREN, TokenType.R_PAREN, TokenType.COMMA)

Word = tuple[str, str]


def check_nothing_lost(words: list[Token], root: exp.Expr) -> None:
    """Refuse a text with words that are not in its tree; brackets and commas apart.

    >>> from discreet.tables.sql.dialect import tree
    >>> from discreet.tables.sql.words import words
    >>> text = "SELECT COUNT(*) FROM visits *"
    >>> check_nothing_lost(words(text), tree(words(text), text))
    Traceback (most recent call last):
    discreet.errors.InvalidQuery: '*' has no meaning where it stands. Leave it out.
    """
    kept = Counter(_word(word) for word in Private().tokenize(root.sql(Private, comments=False)))
    for node in root.walk():
        kept.update(_rewritten(node))
    for word in words:
        if word.token_type in PUNCTUATION:
            continue
        told = _word(word)
        if not kept[told]:
            raise InvalidQuery(f"{named(word.text)} has no meaning where it stands. Leave it out.")
        kept[told] -= 1


def _word(word: Token) -> Word:
    text = word.text if word.token_type in (TokenType.STRING, TokenType.IDENTIFIER) else word.text.upper()
    return word.token_type.name, text if word.token_type in TEXTS else ""


def _rewritten(node: exp.Expr) -> list[Word]:
    """Return the words of a part that are written in another way when it is written out again."""
    if isinstance(node, exp.Substring):
        return [("FROM", ""), ("FOR", "")]
    if isinstance(node, exp.Cast):
        return [("DCOLON", "")]
    if isinstance(node, exp.Array):
        return [("L_BRACKET", ""), ("R_BRACKET", "")]
    if isinstance(node, exp.Ordered):
        return [("VAR", "NULLS"), ("VAR", "LAST")]
    if isinstance(node, exp.Literal) and not node.args.get("is_string") and node.name.startswith("0."):
        return [("DOT", ""), ("NUMBER", node.name[2:].upper())]
    return []
