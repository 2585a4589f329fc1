"""A synthesis in writing: JSON with a kind and a version, exact, and readable by every later version.

Tables of a model are 64-bit floats, little-endian, in base64: exact, and a third of the size of decimals.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, UnknownKind
from discreet.noise.fast import Floats
from discreet.session.values import read, read_object, write
from discreet.synthetic.graphical import GraphicalModel, JunctionTree
from discreet.synthetic.graphical.estimation import Measured
from discreet.synthetic.network import Conditional, Network
from discreet.tables.synthetic import Coding, Determined, Synthetic

if TYPE_CHECKING:
    from discreet.session.synthesis.result import Synthesis

__all__ = ["KIND", "VERSION", "read_synthesis", "write_synthesis"]

KIND = "synthesis"
VERSION = 1
FIELDS = frozenset(
    {
        *(
            "table",
            "codings",
            "rules",
            "determined",
            "rows",
            "model",
            "measured",
            "gaussian",
            "loss",
            "method",
            "reason",
        ),
        *("steps", "notes", "level", "parameters", "private", "numbers"),
    }
)


def write_synthesis(made: "Synthesis") -> str:
    """Return a synthesis as JSON."""
    record = {
        "kind": KIND,
        "version": VERSION,
        "table": made.table,
        "codings": [_coding(one) for one in made.codings],
        "rules": list(made.asked.rules),
        "determined": [
            {"column": one.column, "by": one.by, "values": [[write(a), write(b)] for a, b in one.values]}
            for one in made.asked.determined
        ],
        "rows": made.asked.rows,
        "model": _model(made.model),
        "measured": [
            {"attributes": list(one.attributes), "counts": _told(one.counts), "sigma": float(one.sigma)}
            for one in made.measured
        ],
        "gaussian": made.gaussian,
        "loss": json.loads(made.loss.to_json()),
        "method": made.method,
        "reason": made.reason,
        "steps": [[what, epsilon, delta] for what, epsilon, delta in made.steps],
        "notes": list(made.notes),
        "level": made.level,
        "parameters": write(dict(made.parameters)),
        "private": made.private,
        "numbers": made.numbers,
    }
    return json.dumps(record, allow_nan=False)


def read_synthesis(text: str) -> dict[str, Any]:
    """Return the parts of a synthesis that ``write_synthesis`` wrote; anything else is refused."""
    record: dict[str, Any] = read_object(text, KIND, VERSION, FIELDS)
    try:
        codings = tuple(_read_coding(one) for one in record["codings"])
        determined = tuple(
            Determined(one["column"], one["by"], tuple((read(a), read(b)) for a, b in one["values"]))  # type: ignore[misc]
            for one in record["determined"]
        )
        sizes = tuple(one.size for one in codings)
        return {
            "table": record["table"],
            "asked": Synthetic(
                rules=tuple(record["rules"]), determined=determined, rows=record["rows"], codings=codings
            ),
            "model": _read_model(record["model"], sizes),
            "measured": tuple(
                Measured(tuple(one["attributes"]), _read_table(one["counts"], sizes, one["attributes"]), one["sigma"])
                for one in record["measured"]
            ),
            "gaussian": record["gaussian"],
            "loss": PrivacyLoss.from_json(json.dumps(record["loss"])),
            "method": record["method"],
            "reason": record["reason"],
            "steps": tuple((what, epsilon, delta) for what, epsilon, delta in record["steps"]),
            "notes": tuple(record["notes"]),
            "level": record["level"],
            "parameters": read(record["parameters"]),
            "private": record["private"],
            "numbers": record["numbers"],
        }
    except (InvalidParameter, KeyError, TypeError, ValueError, IndexError):
        raise UnknownKind("this serialised synthesis does not hold what a synthesis has.") from None


def _coding(one: Coding) -> dict[str, object]:
    return {
        "name": one.name,
        "kind": one.kind,
        "values": [write(value) for value in one.values],
        "edges": [str(edge) for edge in one.edges],
        "nulls": one.nulls,
        "source": one.source,
    }


def _read_coding(record: Mapping[str, Any]) -> Coding:
    return Coding(
        record["name"],
        record["kind"],
        values=tuple(read(value) for value in record["values"]),  # type: ignore[misc]
        edges=tuple(Fraction(edge) for edge in record["edges"]),
        nulls=record["nulls"],
        source=record["source"],
    )


def _model(model: GraphicalModel | Network) -> dict[str, object]:
    if isinstance(model, Network):
        told = [[one.attribute, list(one.given), _told(one.table)] for one in model.conditionals]
        return {"kind": "network", "conditionals": told, "total": float(model.total)}
    return {
        "kind": "graphical",
        "cliques": [list(clique) for clique in model.tree.cliques],
        "parents": list(model.tree.parents),
        "tables": [_told(table) for table in model.potentials],
        "total": float(model.total),
    }


def _read_model(record: Mapping[str, Any], sizes: tuple[int, ...]) -> GraphicalModel | Network:
    if record["kind"] == "network":
        parts = tuple(
            Conditional(attribute, tuple(given), _read_table(told, sizes, [*given, attribute]))
            for attribute, given, told in record["conditionals"]
        )
        return Network(sizes, parts, float(record["total"]))
    if record["kind"] != "graphical":
        raise UnknownKind("this version knows graphical models and networks, and no others.")
    cliques = tuple(tuple(clique) for clique in record["cliques"])
    tables = [_read_table(told, sizes, clique) for told, clique in zip(record["tables"], cliques, strict=True)]
    return GraphicalModel(JunctionTree(sizes, cliques, tuple(record["parents"])), tables, float(record["total"]))


def _told(table: Floats) -> str:
    return base64.b64encode(np.ascontiguousarray(table, dtype="<f8").tobytes()).decode()


def _read_table(told: str, sizes: Sequence[int], attributes: Sequence[int]) -> Floats:
    flat = np.frombuffer(base64.b64decode(told, validate=True), dtype="<f8").astype(np.float64)
    return flat.reshape(tuple(sizes[place] for place in attributes))
