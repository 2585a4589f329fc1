"""Rebuild a value from its repr without evaluating code: calls of named classes on literals, and nothing else."""

import ast
from collections.abc import Callable, Mapping
from typing import Any

from discreet.errors import InvalidInput

__all__ = ["rebuild"]


def rebuild(text: str, names: Mapping[str, Callable[..., Any]]) -> Any:  # noqa: ANN401 - whatever the text describes
    """Return the value that a repr describes, built from the classes in ``names``.

    >>> from fractions import Fraction
    >>> rebuild("Fraction(1, 3)", {"Fraction": Fraction})
    Fraction(1, 3)
    >>> rebuild("__import__('os')", {})
    Traceback (most recent call last):
    discreet.errors.InvalidInput: '__import__' is not a name that may be called here.
    """
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        raise InvalidInput(f"the repr is not a Python expression: {text!r}.") from None
    return _value(tree.body, names)


def _value(node: ast.expr, names: Mapping[str, Callable[..., Any]]) -> Any:  # noqa: ANN401
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names)
        case ast.Tuple(elts=items):
            return tuple(_value(item, names) for item in items)
        case ast.List(elts=items):
            return [_value(item, names) for item in items]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            if name not in names:
                raise InvalidInput(f"{name!r} is not a name that may be called here.")
            named = {keyword.arg: _value(keyword.value, names) for keyword in keywords if keyword.arg}
            return names[name](*(_value(arg, names) for arg in args), **named)
    raise InvalidInput(f"a repr holds literals and calls of classes only, not {ast.unparse(node)!r}.")
