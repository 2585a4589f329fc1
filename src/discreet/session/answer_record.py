"""An answer in writing: JSON with a kind and a version, exact, and readable by every later version."""

import json
from typing import TYPE_CHECKING, Any

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter, UnknownKind
from discreet.session.estimates import Estimates
from discreet.session.values import read, read_object, write

if TYPE_CHECKING:
    from discreet.session.answer import Answer

__all__ = ["KIND", "VERSION", "read_answer", "write_answer"]

KIND = "answer"
VERSION = 1
FIELDS = frozenset({"keys", "columns", "level", "loss", "parameters", "notes", "private"})
COLUMN = frozenset({"name", "value", "low", "high", "method", "unit_note", "error"})


def write_answer(answer: "Answer") -> str:
    """Return an answer as JSON. Columns are lists, so that no reader changes their order."""
    record = {
        "kind": KIND,
        "version": VERSION,
        "keys": [{"name": name, "values": write(values)} for name, values in answer.keys.items()],
        "columns": [
            {
                "name": name,
                "value": write(estimates.value),
                "low": write(estimates.low),
                "high": write(estimates.high),
                "method": estimates.method,
                "unit_note": estimates.unit_note,
                "error": write(estimates.error),
            }
            for name, estimates in answer.columns.items()
        ],
        "level": answer.level,
        "loss": json.loads(answer.loss.to_json()),
        "parameters": {name: write(value) for name, value in answer.parameters.items()},
        "notes": list(answer.notes),
        "private": answer.private,
    }
    return json.dumps(record, allow_nan=False)


def read_answer(text: str) -> dict[str, Any]:
    """Return the parts of an answer that ``write_answer`` wrote; anything else is refused."""
    record = read_object(text, KIND, VERSION, FIELDS)
    try:
        keys, columns = _named(record["keys"], frozenset({"name", "values"})), _named(record["columns"], COLUMN)
        parameters, notes = record["parameters"], record["notes"]
        if not isinstance(parameters, dict) or not isinstance(notes, list):
            raise UnknownKind("a serialised answer has parameters by name and a list of notes.")
        return {
            "keys": {name: _listed(entry["values"]) for name, entry in keys.items()},
            "columns": {name: _estimates(entry) for name, entry in columns.items()},
            "level": record["level"],
            "loss": PrivacyLoss.from_json(json.dumps(record["loss"])),
            "parameters": {name: read(value) for name, value in parameters.items()},
            "notes": tuple(notes),
            "private": record["private"],
        }
    except InvalidParameter as error:
        raise UnknownKind(f"this serialised answer does not hold a table: {error}") from None


def _named(entries: object, fields: frozenset[str]) -> dict[str, dict[str, Any]]:
    """Return entries by name, in order; none may lack a field or come twice."""
    found: dict[str, dict[str, Any]] = {}
    for entry in entries if isinstance(entries, list) else [None]:
        if not isinstance(entry, dict) or set(entry) != fields or not isinstance(entry["name"], str):
            raise UnknownKind(f"each column of a serialised answer has the fields {', '.join(sorted(fields))}.")
        if entry["name"] in found:
            raise UnknownKind("a serialised answer names a column twice.")
        found[entry["name"]] = entry
    return found


def _listed(values: object) -> tuple[Any, ...]:
    if not isinstance(values, list):
        raise UnknownKind("each column of a serialised answer holds lists of values.")
    return tuple(read(value) for value in values)


def _estimates(entry: dict[str, Any]) -> Estimates:
    value, low, high = (_listed(entry[name]) for name in ("value", "low", "high"))
    return Estimates(
        value=value,
        low=low,
        high=high,
        method=entry["method"],
        unit_note=entry["unit_note"],
        error=read(entry["error"]),  # type: ignore[arg-type]
    )
