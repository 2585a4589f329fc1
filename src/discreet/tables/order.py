"""Which groups of a person stay when there are too many: an order that only the person's own rows decide.

Every (person, group) gets a number of 31 bits, mixed from a number of the person and one of the group under salts
that are drawn for each session. Each is folded twice through a product, which spreads groups evenly over persons. The
same steps are written in SQL for every engine and in Python for tests. The salts need not be secret: whatever they are,
which groups stay depends on the person's own rows alone, so removing a person changes nothing about others.
"""

import hashlib
from dataclasses import dataclass

from discreet.noise.bits import source
from discreet.tables.dialects import Dialect
from discreet.tables.kinds import Kind, Value
from discreet.tables.typed import Scope, Typed

__all__ = ["MASK", "PERSON_KINDS", "Salt", "encoded", "key_text"]

MASK = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Salt:
    """A text that is digested with keys, and two odd multipliers."""

    text: str
    first: int
    second: int

    @classmethod
    def fresh(cls) -> "Salt":
        """Draw a salt, from where noise comes from: a test that repeats its noise repeats the choice of groups too."""
        text, *factors = (int(word) for word in source().words(3))
        first, second = (factor % 2**30 | 2**30 | 1 for factor in factors)
        return cls(f"{text:016x}", first, second)

    def digest(self, scope: Scope, group: Typed) -> Typed:
        """Return the number of a group, from the text that names it."""
        return Typed("int", scope.dialect.digest(scope.dialect.salted(self.text, group.sql)), group.level)

    def order(self, scope: Scope, person: Typed, digest: Typed) -> Typed:
        """Return the number of a (person, group), from what names the person and the number of the group."""
        dialect = scope.dialect
        mixed = Typed("int", dialect.xor(_person(self, dialect, person), digest.sql), max(person.level, digest.level))
        for factor in (self.first, self.second):
            product = scope.let(Typed("int", f"({mixed.sql} * CAST({factor} AS {dialect.whole}))", mixed.level))
            folded = dialect.xor(dialect.shift(product.sql, 31), f"({product.sql} & {MASK})")
            mixed = Typed("int", folded, product.level)
        return mixed

    def number(self, person: Value, group: str) -> int:
        """Return the same number as an engine does.

        >>> 0 <= Salt("salt", 1664525789, 1013904223).number(7, "Oslo") < 2**31
        True
        """
        mixed = (_fold(person) if isinstance(person, int) else self._digest(str(person))) ^ self._digest(group)
        for factor in (self.first, self.second):
            mixed = (mixed * factor >> 31) ^ (mixed * factor & MASK)
        return mixed

    def _digest(self, text: str) -> int:
        start = hashlib.md5((self.text + text).encode(), usedforsecurity=False).digest()[:4]
        return int.from_bytes(start, "little") & MASK


def encoded(scope: Scope, keys: list[Typed]) -> Typed:
    """Return keys as one text: a single one as it is (missing or not), several with their lengths or a tilde.

    Two groups of the same text would have the same number, of which either both stay or none does.
    """
    dialect, parts = scope.dialect, []
    for key in keys:
        text = key.sql if key.kind == "str" else as_text(dialect, key)
        if len(keys) == 1:
            return Typed("str", text, key.level)
        named = scope.let(Typed("str", text, key.level))
        size = f"CAST(LENGTH({named.sql}) AS {dialect.text})"
        parts.append(Typed("str", f"COALESCE({size} || ':' || {named.sql}, '~')", named.level))
    return Typed("str", " || ".join(part.sql for part in parts), max(part.level for part in parts))


def as_text(dialect: Dialect, key: Typed) -> str:
    """Return a key as text, alike on all engines."""
    if key.kind == "bool":
        return f"CASE WHEN {key.sql} THEN 'true' WHEN NOT {key.sql} THEN 'false' END"
    return f"CAST({key.sql} AS {dialect.text})"


def key_text(values: list[Value]) -> str:
    """Return in Python what ``encoded`` returns in SQL.

    >>> key_text(["Oslo", None, True])
    '4:Oslo~4:true'
    """
    if len(values) == 1:
        (one,) = values
        return "" if one is None else str(one).lower() if isinstance(one, bool) else str(one)
    texts = [None if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in values]
    return "".join("~" if text is None else f"{len(text)}:{text}" for text in texts)


def _person(salt: Salt, dialect: Dialect, person: Typed) -> str:
    if person.kind == "int":
        return f"({dialect.xor(person.sql, dialect.shift(person.sql, 31))} & {MASK})"
    text = person.sql if person.kind == "str" else as_text(dialect, person)
    return dialect.digest(dialect.salted(salt.text, text))


def _fold(person: int) -> int:
    return (person ^ person >> 31) & MASK


PERSON_KINDS: tuple[Kind, ...] = ("int", "str", "date")
"""What may name a person."""
