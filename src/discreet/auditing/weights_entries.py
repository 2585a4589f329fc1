"""What is audited of multiplicative weights: whole conversations, and what is learned from tables.

A conversation is the list of all replies to a fixed stream of questions, each with where it came from, on data that one
person moves across what is compared.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from discreet.auditing.entries import Entry

__all__ = ["our_weights"]

SOURCES = {"checked": 0.0, "measured": 1000.0, "direct": 2000.0, "unchecked": 3000.0}
"""Replies from different sources are told apart by these."""


def our_weights() -> tuple[Entry, ...]:
    """Return conversations of multiplicative weights, MWEM on tables, and small data sets, under both relations."""
    return (*_conversations(), *_models())


def _conversations() -> Iterator[Entry]:
    from discreet.synthetic.multiplicative import PMW, Table

    single = [{0: 1}, {0: 0}, {0: 1}, {0: 1}, {0: 0}]
    tables = [Table((0,)), {0: 1}, Table((0,)), Table((0,))]
    plans: dict[str, tuple[dict[str, Any], list[Any]]] = {
        "private multiplicative weights": ({"epsilon": 2, "updates": 2}, single),
        "private multiplicative weights, Gaussian": ({"rho": 1, "updates": 2}, single),
        "private multiplicative weights, tables": ({"epsilon": 2, "updates": 2}, tables),
        "private multiplicative weights, bypassed": ({"epsilon": 2, "updates": 1, "direct": 1}, single),
    }
    for place, (name, (settings, questions)) in enumerate(plans.items()):
        relation = "replace_one" if place % 2 else "add_remove"
        plan = PMW(sizes=(2,), size=4, alpha=0.5, relation=relation, **settings)  # type: ignore[arg-type]
        here = [[1], [1], [0], [0]]
        there = here[1:] if relation == "add_remove" else [[0], *here[1:]]
        yield Entry(f"{name}, {relation}", partial(_told, plan, questions), plan.loss, ((here, there),))


def _models() -> Iterator[Entry]:
    from discreet.synthetic import Prefix
    from discreet.synthetic.multiplicative import MWEM
    from discreet.synthetic.small_databases import SmallDatabases

    for relation, budget in (("add_remove", {"epsilon": 2}), ("replace_one", {"rho": 1})):
        plan = MWEM(sizes=(2, 2), relation=relation, rounds=2, **budget)  # type: ignore[arg-type]
        yield Entry(f"MWEM on tables, {relation}", partial(_table, plan), plan.loss, (plan.worst_case(),))
        small = SmallDatabases(workload=Prefix(size=3), records=2, size=3, epsilon=2, relation=relation)  # type: ignore[arg-type]
        yield Entry(f"small data sets, {relation}", small, small.loss, (small.worst_case(),))


def _told(plan: Any, questions: list[Any], data: list[list[int]]) -> Any:  # noqa: ANN401 - a plan, and an array
    talk = plan.open(data)
    replies = [talk.answer(question) for question in questions]
    return np.concatenate([np.ravel(reply.value) + SOURCES[reply.source] for reply in replies])


def _table(plan: Any, data: Any) -> Any:  # noqa: ANN401 - a plan, and arrays
    return plan.release(data).marginal(tuple(range(len(plan.sizes)))).reshape(-1)
