"""Expressions over one row: each part of the tree becomes the call that the Python builder makes."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from discreet.errors import InvalidQuery
from discreet.tables.expressions import Call, Expression, When, lit
from discreet.tables.kinds import Kind
from discreet.tables.sql.constants import constant, is_constant, value
from discreet.tables.sql.functions import AGGREGATES, EXTRACTS, ROW, arguments_of, substring, unknown
from discreet.tables.sql.refusals import refuse, understood

__all__ = ["KINDS", "Leaf", "Reader"]

Leaf = Callable[[exp.Expr], Expression | None]

BINARY: dict[type, str] = {
    exp.Add: "add",
    exp.Sub: "subtract",
    exp.Mul: "multiply",
    exp.Div: "divide",
    exp.EQ: "equal",
    exp.NEQ: "unequal",
    exp.LT: "less",
    exp.LTE: "at_most",
    exp.GT: "greater",
    exp.GTE: "at_least",
    exp.And: "and",
    exp.Or: "or",
    exp.DPipe: "concat",
}

COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)

KINDS: dict[str, Kind] = {
    "BIGINT": "int",
    "BOOLEAN": "bool",
    "DATE": "date",
    "DOUBLE": "float",
    "FLOAT": "float",
    "INT": "int",
    "TEXT": "str",
    "VARCHAR": "str",
}


@dataclass(frozen=True)
class Reader:
    """Reads a tree. ``leaf`` says what columns stand for, and may claim any other part before it is read."""

    leaf: Leaf

    def read(self, node: object) -> Expression:
        """Return the expression that a part of the tree describes, or refuse it."""
        if not isinstance(node, exp.Expr):
            refuse(node)
        if (found := self.leaf(node)) is not None:
            return found
        if is_constant(node):
            return lit(constant(node))
        if function := BINARY.get(type(node)):
            return _binary(self, node, function)
        if (read := PARTS.get(type(node))) is None:
            refuse(node)
        return read(self, node)


Part = Callable[[Reader, exp.Expr], Expression]

PARTS: dict[type, Part] = {}
"""Every part that is understood, apart from columns, constants and operators; what is not on the list is refused."""


def part(*classes: type) -> Callable[[Part], Part]:
    """Enter the reader of a part into the list."""

    def enter(read: Part) -> Part:
        PARTS.update(dict.fromkeys(classes, read))
        return read

    return enter


def _binary(reader: Reader, node: exp.Expr, function: str) -> Expression:
    understood(node, "this", "expression", "safe" if function == "concat" else "this")
    if isinstance(node, COMPARISONS) and any(isinstance(side, exp.Null) for side in (node.this, node.expression)):
        raise InvalidQuery("a comparison with NULL is never true. Write x IS NULL or x IS NOT NULL.")
    return Call(function, (reader.read(node.this), reader.read(node.expression)))


@part(exp.Paren)
def _paren(reader: Reader, node: exp.Expr) -> Expression:
    understood(node, "this")
    return reader.read(node.this)


@part(exp.Neg)
def _negate(reader: Reader, node: exp.Expr) -> Expression:
    understood(node, "this")
    return -reader.read(node.this)


@part(exp.Not)
def _not(reader: Reader, node: exp.Expr) -> Expression:
    understood(node, "this")
    return ~reader.read(node.this)


@part(exp.Between)
def _between(reader: Reader, node: exp.Expr) -> Expression:
    understood(node, "this", "low", "high")
    return reader.read(node.this).between(reader.read(node.args["low"]), reader.read(node.args["high"]))


@part(exp.In)
def _in(reader: Reader, node: exp.Expr) -> Expression:
    understood(node, "this", "expressions")
    values = [value(item, "IN") for item in node.expressions]
    if not values:
        raise InvalidQuery("IN takes at least one value. Write IN (1, 2, 3).")
    return reader.read(node.this).isin(values)


@part(exp.Is)
def _is(reader: Reader, node: exp.Expr) -> Expression:
    understood(node, "this", "expression")
    if not isinstance(node.expression, exp.Null):
        refuse(node)
    return reader.read(node.this).is_null()


@part(exp.Like)
def _like(reader: Reader, node: exp.Expr) -> Expression:
    understood(node, "this", "expression", "negate")
    pattern = value(node.expression, "LIKE")
    if not isinstance(pattern, str):
        raise InvalidQuery("LIKE takes a text, with % for any text and _ for one character.")
    found = Call("like", (reader.read(node.this),), (pattern,))
    return ~found if node.args.get("negate") else found


@part(exp.Case)
def _case(reader: Reader, node: exp.Expr) -> Expression:
    understood(node, "this", "ifs", "default")
    subject = node.args.get("this")
    pairs: list[Expression] = []
    for case in node.args["ifs"]:
        understood(case, "this", "true")
        condition = reader.read(case.this)
        pairs += [condition if subject is None else reader.read(subject) == condition, reader.read(case.args["true"])]
        if subject is not None and isinstance(case.this, exp.Null):
            raise InvalidQuery("a comparison with NULL is never true. Write CASE WHEN x IS NULL THEN ...")
    default = node.args.get("default")
    return When(tuple(pairs)).otherwise(None if default is None else reader.read(default))


@part(exp.Cast, exp.TryCast)
def _cast(reader: Reader, node: exp.Expr) -> Expression:
    understood(node, "this", "to", "safe" if type(node) is exp.TryCast else "to")
    to = node.args["to"]
    if not isinstance(to, exp.DataType):
        refuse(to)
    understood(to, "this", "nested", "expressions", "kind")
    kind = KINDS.get(getattr(to.this, "name", ""))
    if kind is None or to.args.get("nested") or to.expressions:
        raise InvalidQuery(f"CAST is to one of {', '.join(sorted(KINDS))}, without a length. Write CAST(x AS DOUBLE).")
    return reader.read(node.this).cast(kind)


@part(exp.Extract)
def _extract(reader: Reader, node: exp.Expr) -> Expression:
    understood(node, "this", "expression")
    part = node.this.name.upper() if isinstance(node.this, exp.Var | exp.Literal) else ""
    if part not in EXTRACTS:
        raise InvalidQuery(
            f"EXTRACT gives one of {', '.join(sorted(EXTRACTS))}; weekdays are ISODOW, from 1 for Monday to 7. "
            "Write EXTRACT(YEAR FROM x)."
        )
    return Call(EXTRACTS[part], (reader.read(node.expression),))


@part(exp.Trim)
def _trim(reader: Reader, node: exp.Expr) -> Expression:
    understood(node, "this")
    return reader.read(node.this).trim()


@part(exp.Substring)
def _substring(reader: Reader, node: exp.Expr) -> Expression:
    understood(node, "this", "start", "length")
    return substring(reader.read, [node.this, *(node.args[n] for n in ("start", "length") if node.args.get(n))])


@part(exp.Anonymous)
def _function(reader: Reader, node: exp.Expr) -> Expression:
    name, arguments = arguments_of(node)
    if name in AGGREGATES:
        raise InvalidQuery(
            f"{name} is of a group and this place is of a row. Filter groups with HAVING, and aggregate only once."
        )
    if name not in ROW:
        unknown(name)
    return ROW[name](reader.read, arguments)
