"""The kinds of release there are. A new kind is one file with an ``Entry``, and one line here."""

from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from discreet.publishing.entry import Entry
from discreet.publishing.hierarchy import HierarchyEntry
from discreet.publishing.histogram import Histogram
from discreet.publishing.quantiles import Quantiles
from discreet.publishing.synthesize import Synthesize
from discreet.publishing.table import Table
from discreet.publishing.workload import Workload

__all__ = ["KINDS", "OfAKind", "tag"]

KINDS: dict[str, type[Entry]] = {
    one.kind: one for one in (Table, Histogram, Quantiles, Workload, HierarchyEntry, Synthesize)
}
"""Kinds by the word that an entry of a file starts with."""


def tag(kind: str) -> str:
    """Return the mark of a kind in the places of errors; no field is called so."""
    return f"<{kind}>"


def _kind(value: Any) -> str | None:  # noqa: ANN401  whatever the file holds
    found = [kind for kind in KINDS if isinstance(value, dict) and kind in value]
    return tag(found[0]) if len(found) == 1 else None


class OfAKind:
    """Reads an entry as the kind whose name it has among its fields."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ANN401
        """Return the choice among all kinds."""
        choices: dict[Any, CoreSchema] = {tag(kind): handler.generate_schema(made) for kind, made in KINDS.items()}
        return core_schema.tagged_union_schema(choices, discriminator=_kind)
