"""DualQuery on a domain so small that its whole output can be counted."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from discreet.auditing.entries import Entry

__all__ = ["our_games"]

RECORDS = 6


def our_games() -> tuple[Entry, ...]:
    """Return the game under both relations: marginals of one attribute, and a parity of two."""
    return tuple(_entries())


def _entries() -> Iterator[Entry]:
    from discreet.synthetic.dual_query import DualQuery, Queries, Search

    single: dict[str, Any] = {"sizes": (2,), "attributes": [[0]], "values": [[1]]}
    odd: dict[str, Any] = {"sizes": (2, 2), "attributes": [[0, 1]], "values": [[1, 1]], "kind": "parity"}
    plain = Search(starts=1, moves=0)
    for relation in ("add_remove", "replace_one"):
        for name, settings, samples in (("a marginal", single, 1), ("a parity", odd, 3)):
            plan: Any = DualQuery(
                queries=Queries(**settings),
                size=RECORDS,
                rounds=3,
                samples=samples,
                eta=1,
                relation=relation,
                search=plain,
            )
            pairs = (_sides(len(plan.queries.sizes), relation),)
            yield Entry(f"dual query, {name}, {relation}", partial(_records, plan), plan.loss, pairs)


def _sides(attributes: int, relation: str) -> tuple[list[list[int]], list[list[int]]]:
    """Return records half of which satisfy the query, and one of them fewer."""
    no = [0] * attributes
    yes = [1, *no[1:]]
    half = RECORDS // 2
    return [yes] * half + [no] * half, [yes] * (half - 1) + [no] * (half + (relation == "replace_one"))


def _records(plan: Any, records: Any) -> Any:  # noqa: ANN401 - a plan, and arrays
    return plan.release(records).codes.reshape(-1)
