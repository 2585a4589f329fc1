"""Tuples, lists and mappings of tensors, as records, inputs and outputs are: taken apart and put together again."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["flattened", "leaves", "mapped"]


def leaves(tree: Any) -> list[Any]:  # noqa: ANN401  whatever a record is
    """Return what is in a tree, in order; what is no tuple, list or mapping is a leaf.

    >>> leaves((1, {"a": [2, None]}))
    [1, 2, None]
    """
    return [leaf for part in children(tree) for leaf in leaves(part)] if is_node(tree) else [tree]


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:  # noqa: ANN401
    """Return a tree of the same form with a function of each leaf.

    >>> mapped(lambda x: 10 * x, (1, {"a": [2, 3]}))
    (10, {'a': [20, 30]})
    """
    if not is_node(tree):
        return function(tree)
    parts = [mapped(function, part) for part in children(tree)]
    if isinstance(tree, Mapping):
        return type(tree)(zip(tree, parts, strict=True))  # type: ignore[call-arg]
    return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)


def flattened(tree: Any) -> tuple[list[Any], Callable[[list[Any]], Any]]:  # noqa: ANN401
    """Return the leaves of a tree, and what puts others in their places.

    >>> found, back = flattened((1, {"a": [2, 3]}))
    >>> back([x + 1 for x in found])
    (2, {'a': [3, 4]})
    """

    def back(others: list[Any]) -> Any:  # noqa: ANN401
        given = iter(others)
        return mapped(lambda _: next(given), tree)

    return leaves(tree), back


def is_node(tree: object) -> bool:
    """Tell whether something holds others."""
    return isinstance(tree, tuple | list | Mapping)


def children(tree: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield what a node holds."""
    yield from tree.values() if isinstance(tree, Mapping) else tree
