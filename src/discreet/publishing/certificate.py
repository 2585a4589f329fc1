"""The certificate ``release.json``: what was released, at what cost, so that a stranger can compute the cost again.

It is JSON with a kind and a version, every loss in it exact. A later version reads it; anything else is refused, and so
is what two readers could read in two ways: a field, a release or a file that is there twice.
"""

import json
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, get_args

from discreet.accounting import Budget, PrivacyLoss
from discreet.accounting.budget import FilterName
from discreet.errors import DiscreetError, InvalidParameter, UnknownKind
from discreet.publishing.text import decimal
from discreet.session import Answer
from discreet.session.values import read_object
from discreet.units import Person, Row

__all__ = ["Certificate", "Certified", "Charged"]

KIND = "publication"
VERSION = 1
FIELDS = frozenset(
    {
        *("made_with", "title", "date", "dataset", "unit", "relation", "budget", "loss", "epsilon", "delta"),
        *("releases", "ledger", "files", "registry"),
    }
)
RELEASE = frozenset(["name", "title", "query", "answer", "loss", "epsilon", "delta", "files"])
PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
DECIMAL = re.compile(r"[0-9]{1,50}(\.[0-9]{1,400})?")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
HASH = re.compile(r"[0-9a-f]{64}")
LARGEST = 1 << 28
DIGITS = 300
"""Whole numbers of a certificate have no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certified:
    """One release: what was asked, what was answered, its loss, and the hashes of its files."""

    name: str
    title: str
    query: str
    answer: Answer
    loss: PrivacyLoss
    epsilon: float
    delta: float
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged:
    """Where the charge is written: the ledger, the account in it, the number and the hash of the entry."""

    id: str
    dataset: str
    entry: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """Everything about a publication that its guarantee follows from."""

    made_with: str
    title: str
    date: str
    dataset: str
    version: str
    size: int | None
    unit: Row | Person
    budget: Budget
    loss: PrivacyLoss
    epsilon: float
    delta: float
    releases: tuple[Certified, ...]
    ledger: Charged
    files: Mapping[str, str]
    registry: Mapping[str, Any]

    @property
    def private(self) -> bool:
        """Whether all of it was made with noise that nobody can repeat."""
        return all(one.answer.private for one in self.releases)

    def to_json(self) -> str:
        """Return the certificate as JSON, laid out for people."""
        budget = self.budget
        record = {
            "kind": KIND,
            "version": VERSION,
            "made_with": self.made_with,
            "title": self.title,
            "date": self.date,
            "dataset": {"name": self.dataset, "version": self.version, "size": self.size},
            "unit": _unit_record(self.unit),
            "relation": self.unit.relation,
            "budget": {
                "epsilon": decimal(Fraction(budget.epsilon)),
                "delta": decimal(Fraction(budget.delta)),
                "filter": budget.filter,
            },
            "loss": _loss_record(self.loss),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "releases": [
                {
                    "name": one.name,
                    "title": one.title,
                    "query": one.query,
                    "answer": json.loads(one.answer.to_json()),
                    "loss": _loss_record(one.loss),
                    "epsilon": one.epsilon,
                    "delta": one.delta,
                    "files": dict(one.files),
                }
                for one in self.releases
            ],
            "ledger": {
                "id": self.ledger.id,
                "dataset": self.ledger.dataset,
                "entry": self.ledger.entry,
                "hash": self.ledger.hash,
            },
            "files": dict(self.files),
            "registry": dict(self.registry),
        }
        return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Certificate":
        """Read what ``to_json`` wrote; anything else is refused."""
        if len(text) > LARGEST:
            raise UnknownKind("this is too large for a certificate.")
        _check_unambiguous(text)
        record: dict[str, Any] = read_object(text, KIND, VERSION, FIELDS)
        try:
            unit = _unit(record["unit"])
            if record["relation"] != unit.relation:
                raise UnknownKind("the relation of a certificate is that of its unit.")
            dataset, budget = _object(record["dataset"], "name", "version", "size"), record["budget"]
            _object(budget, "epsilon", "delta", "filter")
            ledger = _object(record["ledger"], "id", "dataset", "entry", "hash")
            return cls(
                made_with=_text(record["made_with"]),
                title=_text(record["title"]),
                date=_text(record["date"], DATE),
                dataset=_text(dataset["name"]),
                version=_text(dataset["version"]),
                size=None if dataset["size"] is None else _whole(dataset["size"]),
                unit=unit,
                budget=Budget(
                    Fraction(_text(budget["epsilon"], DECIMAL)),
                    Fraction(_text(budget["delta"], DECIMAL)),
                    filter=_filter(budget["filter"]),
                ),
                loss=_loss(record["loss"]),
                epsilon=_number(record["epsilon"]),
                delta=_number(record["delta"]),
                releases=_releases(record["releases"], _files(record["files"])),
                ledger=Charged(
                    id=_text(ledger["id"]),
                    dataset=_text(ledger["dataset"]),
                    entry=_whole(ledger["entry"]),
                    hash=_text(ledger["hash"], HASH),
                ),
                files=_files(record["files"]),
                registry=_object(record["registry"]),
            )
        except UnknownKind:
            raise
        except (DiscreetError, ValueError, ArithmeticError, TypeError, KeyError, RecursionError):
            raise UnknownKind("this certificate does not hold what a certificate has.") from None


def _check_unambiguous(text: str) -> None:
    """Refuse JSON with a field that is there twice, and numbers that are not finite or too long to be meant."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise UnknownKind("a certificate says everything once, and this one has a field twice.")
        return found

    def whole(digits: str) -> int:
        if len(digits) > DIGITS:
            raise UnknownKind(f"whole numbers of a certificate have at most {DIGITS} digits.")
        return int(digits)

    def real(digits: str) -> float:
        if not math.isfinite(float(digits)):
            raise UnknownKind("numbers of a certificate are finite.")
        return float(digits)

    try:
        json.loads(text, object_pairs_hook=once, parse_int=whole, parse_float=real)
    except (ValueError, TypeError, RecursionError):
        raise UnknownKind(f"this is not a serialised {KIND}: it is not JSON.") from None


def _unit_record(unit: Row | Person) -> dict[str, object]:
    if isinstance(unit, Person):
        return {
            "kind": "person",
            "column": unit.key,
            "groups": unit.groups,
            "rows": unit.rows,
            "relation": unit.relation,
        }
    return {"kind": "row", "relation": unit.relation, "size": unit.size}


def _unit(record: object) -> Row | Person:
    if isinstance(record, dict) and record.get("kind") == "person":
        parts = _object(record, "kind", "column", "groups", "rows", "relation")
        return Person(_text(parts["column"]), groups=parts["groups"], rows=parts["rows"], relation=parts["relation"])
    parts = _object(record, "kind", "relation", "size")
    if parts["kind"] != "row":
        raise UnknownKind("this version knows persons and rows as units, and no others.")
    return Row(relation=parts["relation"], size=parts["size"])


def _loss_record(loss: PrivacyLoss) -> object:
    return json.loads(loss.to_json())


def _loss(record: object) -> PrivacyLoss:
    return PrivacyLoss.from_json(json.dumps(record))


def _releases(record: object, beside: dict[str, str]) -> tuple[Certified, ...]:
    """Return all releases; none has the name or a file of another, nor a file of the whole."""
    found = tuple(_release(one) for one in _list(record))
    names = [one.name.casefold() for one in found]
    files = [name.casefold() for one in found for name in one.files] + [name.casefold() for name in beside]
    if len(set(names)) < len(names) or len(set(files)) < len(files):
        raise UnknownKind("releases and files of a certificate have names of their own.")
    return found


def _release(record: object) -> Certified:
    parts = _object(record, *RELEASE)
    return Certified(
        name=_text(parts["name"], PLAIN),
        title=_text(parts["title"]),
        query=_text(parts["query"]),
        answer=Answer.from_json(json.dumps(parts["answer"])),
        loss=_loss(parts["loss"]),
        epsilon=_number(parts["epsilon"]),
        delta=_number(parts["delta"]),
        files=_files(parts["files"]),
    )


def _object(record: object, *fields: str) -> dict[str, Any]:
    if not isinstance(record, dict) or (fields and set(record) != set(fields)):
        raise UnknownKind(f"a part of a certificate has the fields {', '.join(sorted(fields))}, and no others.")
    return record


def _list(record: object) -> list[object]:
    if not isinstance(record, list):
        raise UnknownKind("a certificate has a list of releases.")
    return record


def _files(record: object) -> dict[str, str]:
    """Return hashes by the plain names of files: none may lead to another folder."""
    found = _object(record)
    for name, value in found.items():
        if not PLAIN.fullmatch(name) or not isinstance(value, str) or not HASH.fullmatch(value):
            raise UnknownKind("files of a certificate are plain names with their SHA-256.")
    return found


def _text(value: object, form: re.Pattern[str] | None = None) -> str:
    if not isinstance(value, str) or (form is not None and not form.fullmatch(value)):
        raise InvalidParameter("a text is needed, and of its form.")
    value.encode()  # half of a character is none
    return value


def _filter(value: object) -> FilterName:
    if value not in get_args(FilterName):
        raise InvalidParameter("a budget has a filter.")
    return value  # type: ignore[return-value]


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= sys.float_info.max:
        raise InvalidParameter("a number of at least 0 is needed.")
    return float(value)


def _whole(value: object) -> int:
    if type(value) is not int or value < 0:
        raise InvalidParameter("a whole number is needed.")
    return value
