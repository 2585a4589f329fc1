"""Names: as written if there is one spelled so, otherwise without regard to case if that is unique.

A name in quotes means what is spelled exactly so and nothing else.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from discreet.errors import InvalidQuery
from discreet.tables.expressions import Expression
from discreet.tables.sql.refusals import named, refuse, understood

__all__ = ["Rows", "find", "listed", "spelled"]


def spelled(identifier: object) -> str:
    """Return the text of an identifier that can be a name."""
    if not isinstance(identifier, exp.Identifier):
        refuse(identifier)
    understood(identifier, "this", "quoted")
    text = str(identifier.this)
    if not text or not text.isprintable():
        raise InvalidQuery("a name has at least one character, and only characters that can be seen. Write another.")
    return text


def find(identifier: object, names: Iterable[str]) -> str | None:
    """Return which of the names an identifier means.

    >>> find(exp.to_identifier("CITY"), ["city", "day"])
    'city'
    >>> find(exp.to_identifier("CITY", quoted=True), ["city", "day"]) is None
    True
    """
    text, known = spelled(identifier), list(names)
    if text in known:
        return text
    assert isinstance(identifier, exp.Identifier)  # noqa: S101
    if identifier.args.get("quoted"):
        return None
    alike = [name for name in known if name.casefold() == text.casefold()]
    if len(alike) > 1:
        raise InvalidQuery(f"{named(text)} may mean {listed(alike)}. Write the one you mean in double quotes.")
    return alike[0] if alike else None


def listed(names: Iterable[str]) -> str:
    """Return names for an error text, the first twenty of them."""
    known = sorted(names)
    return (", ".join(map(named, known[:20])) or "none") + (" and more" if len(known) > 20 else "")


@dataclass
class Rows:
    """The columns that a SELECT sees: by their name alone, and by the name of a table and theirs.

    What a column stands for is an expression over stored columns; None marks a name that several tables have.
    """

    plain: dict[str, Expression | None] = field(default_factory=dict)
    tables: dict[str, Mapping[str, Expression]] = field(default_factory=dict)

    def add(self, table: str | None, columns: Mapping[str, Expression], shared: Iterable[str] = ()) -> None:
        """Add the columns of a table; those that are shared keep the meaning that they have."""
        if table is not None:
            if any(table.casefold() == other.casefold() for other in self.tables):
                raise InvalidQuery(f"two tables are called {named(table)}. Give one another name: FROM a AS x.")
            self.tables[table] = columns
        kept = set(shared)
        for name, column in columns.items():
            if name not in kept:
                self.plain[name] = None if name in self.plain else column

    def leaf(self, node: exp.Expr) -> Expression | None:
        """Return what a column stands for, and None for any other part of a tree."""
        return self.column(node) if isinstance(node, exp.Column) else None

    def column(self, node: exp.Column) -> Expression:
        """Return what a column stands for."""
        understood(node, "this", "table")
        if isinstance(node.this, exp.Star):
            refuse(node.this)
        if node.args.get("table") is None:
            return self._plain(node)
        columns = self.table(node.args["table"])
        name = find(node.this, columns)
        if name is None:
            raise InvalidQuery(
                f"there is no column {named(node.name)} in {named(node.table)}. There are: {listed(columns)}."
            )
        return columns[name]

    def table(self, identifier: object) -> Mapping[str, Expression]:
        """Return the columns of one of the tables."""
        name = find(identifier, self.tables)
        if name is None:
            raise InvalidQuery(
                f"there is no table {named(spelled(identifier))} in FROM. There are: {listed(self.tables)}."
            )
        return self.tables[name]

    def has(self, identifier: object) -> bool:
        """Return whether there is a column of that name."""
        return find(identifier, self.plain) is not None

    def _plain(self, node: exp.Column) -> Expression:
        name = find(node.this, self.plain)
        if name is None:
            told = named(spelled(node.this))
            text = " Texts are in single quotes." if node.this.args.get("quoted") else ""
            raise InvalidQuery(f"there is no column {told}. There are: {listed(self.plain)}.{text}")
        column = self.plain[name]
        if column is None:
            raise InvalidQuery(f"several tables have a column {named(name)}. Write the table before it: t.{name}.")
        return column
