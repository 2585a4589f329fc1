"""A loss in writing: JSON that every later version reads, and the expression that makes it."""

import json
from typing import Any

from discreet.accounting import terms as kinds
from discreet.accounting.composition import Counted
from discreet.errors import UnknownKind
from discreet.exact import show
from discreet.units import Relation, check_relation

__all__ = ["read_record", "show_term", "write_record"]

RECORD = "privacy-loss"
VERSION = 1


MARKS = ("grouped", "reduced")
"""What a record may say of a loss beside its terms; what it does not say is not so."""


def write_record(terms: tuple[Counted, ...], relation: Relation | None, **marks: bool) -> str:
    """Return the parts of a loss as JSON; rationals are exact."""
    listed = [{**kinds.to_record(term), "count": count} for term, count in terms]
    made = {name: True for name in MARKS if marks.get(name)}
    return json.dumps({"record": RECORD, "version": VERSION, "relation": relation, "terms": listed, **made})


def read_record(text: str) -> tuple[tuple[Counted, ...], Relation | None, dict[str, bool]]:
    """Return the parts of a loss that ``write_record`` wrote; anything else is refused."""
    try:
        record = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise UnknownKind("this is not a serialised privacy loss: it is not JSON.") from None
    header = (record.get("record"), record.get("version")) if isinstance(record, dict) else None
    if header != (RECORD, VERSION) or type(header[1]) is not int:
        raise UnknownKind(f"this is not a serialised privacy loss of version {VERSION}.")
    marks = {name: record.pop(name, False) for name in MARKS}
    if set(record) != {"record", "version", "relation", "terms"} or not isinstance(record["terms"], list):
        raise UnknownKind("a serialised privacy loss has the fields record, version, relation and terms.")
    for name, mark in marks.items():
        if type(mark) is not bool:
            raise UnknownKind(f"{name}, where a serialised privacy loss has it, is true or false.")
    terms = tuple(_read_term(entry) for entry in record["terms"])
    return terms, None if record["relation"] is None else check_relation(record["relation"]), marks


def _read_term(entry: object) -> Counted:
    if not isinstance(entry, dict):
        raise UnknownKind("each term of a serialised privacy loss is an object.")
    count = entry.get("count")
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise UnknownKind("each term of a serialised privacy loss has a whole count of at least 1.")
    return kinds.from_record({key: value for key, value in entry.items() if key != "count"}), count


NAMES = {
    "zcdp": ("zcdp", {"parameter": "rho"}),
    "approximate": ("approximate", {"failure": "delta"}),
    "pair": ("from_pair", {}),
}


def show_term(term: kinds.Term, count: int) -> str:
    """Return the expression that makes a term."""
    if isinstance(term, kinds.Sampled):
        text = f"{show_term(term.base, 1)}.sampled({show(term.rate)})"
    elif isinstance(term, kinds.SampledSymmetric):
        text = f"{show_term(term.base, 1)}.sampled({show(term.rate)}, scheme='symmetric')"
    else:
        name, renamed = NAMES.get(term.kind, (term.kind, {}))
        shown = ", ".join(
            f"{renamed.get(key, key)}={_show_value(value)}" for key, value in kinds.parameters(term).items()
        )
        text = f"PrivacyLoss.{name}({shown})"
    return f"{count} * {text}" if count > 1 else text


def _show_value(value: Any) -> str:  # noqa: ANN401 - a parameter of any kind
    if isinstance(value, tuple):
        return f"[{', '.join(map(_show_value, value))}]"
    if hasattr(value, "kind"):
        return show_term(value, 1)
    return repr(value) if isinstance(value, bool) else show(value)
