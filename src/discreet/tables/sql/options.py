"""``SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, delta = 1e-6)``, the clause of GoogleSQL.

It says what the query may cost, and how its groups are answered together. Whom it protects is not the analyst's to
say: that is fixed in the session.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import Token, TokenType

from discreet.errors import InvalidQuery
from discreet.exact import Real, positive, probability
from discreet.tables.sql.constants import number
from discreet.tables.sql.refusals import named

__all__ = ["Options", "options"]

CLAUSE = "DIFFERENTIAL_PRIVACY"
SESSION = (
    "group_selection_strategy",
    "k_threshold",
    "kappa",
    "max_groups_contributed",
    "max_rows_contributed",
    "min_privacy_units_per_group",
    "privacy_unit_column",
)

TOGETHER = ("areas", "exact", "method", "rules", "shares", "sums")
"""Options that say how groups are answered together."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a query may cost, as far as its text says."""

    epsilon: Real | None = None
    delta: Real | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    """How groups are answered together, by name."""


def options(words: list[Token]) -> tuple[Options, list[Token]]:
    """Return what the clause says, and the words without it.

    >>> from discreet.tables.sql.words import words
    >>> told, rest = options(words("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.5) COUNT(*) FROM visits"))
    >>> told, [word.text for word in rest]
    (Options(epsilon=0.5, delta=None, words={}), ['SELECT', 'COUNT', '(', '*', ')', 'FROM', 'visits'])
    """
    level, starts = 0, []
    for place, word in enumerate(words[:-1]):
        level += (word.token_type is TokenType.L_PAREN) - (word.token_type is TokenType.R_PAREN)
        if word.token_type is TokenType.SELECT and words[place + 1].token_type is TokenType.WITH:
            starts.append((place + 1, level))
    if not starts:
        return Options(), words
    if len(starts) > 1 or starts[0][1]:
        raise InvalidQuery(f"WITH {CLAUSE} belongs to the outermost SELECT, once. Leave it out of the others.")
    start = starts[0][0]
    end = start + 2
    if not _says(words, start + 1, CLAUSE):
        raise InvalidQuery(f"SELECT WITH is followed by {CLAUSE}. Write SELECT WITH {CLAUSE} OPTIONS(epsilon = 1).")
    given: dict[str, Real] = {}
    told: dict[str, str] = {}
    if _says(words, end, "OPTIONS") and _is(words, end + 1, TokenType.L_PAREN):
        given, told, end = _given(words, end + 2)
    return Options(given.get("epsilon"), given.get("delta"), told), words[:start] + words[end:]


def _given(words: list[Token], place: int) -> tuple[dict[str, Real], dict[str, str], int]:
    given: dict[str, Real] = {}
    told: dict[str, str] = {}
    while not _is(words, place, TokenType.R_PAREN):
        if given or told:
            if not _is(words, place, TokenType.COMMA):
                raise InvalidQuery("options are separated by commas. Write OPTIONS(epsilon = 1, delta = 1e-6).")
            place += 1
        name = words[place].text.lower() if place < len(words) else ""
        if name in SESSION:
            raise InvalidQuery(
                f"{name} is not an option of a query: whom and how the session protects is fixed when it is opened. "
                "Leave it out."
            )
        if name not in ("epsilon", "delta", *TOGETHER):
            raise InvalidQuery(
                f"the options are epsilon, delta and {', '.join(TOGETHER)}, got {named(name)}. Write "
                "OPTIONS(epsilon = 1)."
            )
        if name in given or name in told:
            raise InvalidQuery(f"the option {name} is given twice. Leave one out.")
        if name in TOGETHER:
            if not _is(words, place + 1, TokenType.EQ) or not _is(words, place + 2, TokenType.STRING):
                raise InvalidQuery(f"the option {name} is a text in quotes. Write OPTIONS({name} = '...').")
            told[name] = words[place + 2].text
            place += 3
            continue
        if not _is(words, place + 1, TokenType.EQ) or not _is(words, place + 2, TokenType.NUMBER):
            raise InvalidQuery(f"the option {name} is a number. Write OPTIONS({name} = 0.5).")
        given[name] = number(words[place + 2].text)
        _ = positive(given[name], name) if name == "epsilon" else probability(given[name], name, zero=True)
        place += 3
    return given, told, place + 1


def _is(words: list[Token], place: int, kind: TokenType) -> bool:
    return place < len(words) and words[place].token_type is kind


def _says(words: list[Token], place: int, text: str) -> bool:
    return _is(words, place, TokenType.VAR) and words[place].text.upper() == text
