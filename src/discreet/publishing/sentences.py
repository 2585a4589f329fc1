"""What pydantic finds wrong, as sentences: where, what, and what to write."""

from collections.abc import Iterable, Iterator
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from discreet.publishing.file import ColumnPart, PersonUnit, ReleaseFile, RowUnit
from discreet.publishing.kinds import KINDS, tag
from discreet.publishing.marked import Marked, Path
from discreet.publishing.mistake import Mistake, listed, nearest
from discreet.publishing.spending import Amount
from discreet.publishing.written import MISTAKE, Part, as_yaml
from discreet.tables.kinds import Kind

__all__ = ["sentences"]

TAGS: dict[str, type[Part]] = {
    "<person>": PersonUnit,
    "<rows>": RowUnit,
    "<column>": ColumnPart,
    "<amount>": Amount,
    **{tag(kind): made for kind, made in KINDS.items()},
}
"""The parts that a choice in the file may be."""

SHAPES = {
    "model_type": "several settings by name are needed here.",
    "dict_type": "several settings by name are needed here.",
    "list_type": "a list is needed here.",
    "bool_type": "true or false is needed here.",
    "too_short": "at least one is needed here.",
}
"""What is wrong with the shape of a value, by pydantic's name for it."""

UNIT = "Write unit: {person: user_id, groups: 3, rows: 5} if people have several rows, or unit: row if each has one."


def sentences(error: ValidationError, file: Marked) -> Iterator[Mistake]:
    """Yield one mistake for each thing that is wrong; a misspelt name is one, though its proper one is missing too."""
    found = error.errors(include_url=False)
    misspelt = set()
    for one in found:
        if one["type"] == "extra_forbidden":
            *above, name = one["loc"]
            misspelt.add((*above, nearest(str(name), _fields(_owner(one["loc"])))))
    for one in found:
        if not (one["type"] == "missing" and one["loc"] in misspelt):
            yield _mistake(_Found(one["loc"], one["type"], one["input"], one.get("ctx", {})), file)


class _Found:
    """One error of pydantic, with the names that a curator would use."""

    def __init__(self, place: Path, kind: str, value: Any, context: dict[str, Any]) -> None:  # noqa: ANN401
        self.place, self.kind, self.value, self.context = place, kind, value, context
        self.names = [part for part in place if isinstance(part, str) and not part.startswith("<")]
        self.name = self.names[-1] if self.names else "file"
        self.field = _fields(_owner(place)).get(self.name)

    @property
    def told(self) -> str:
        """The name of the value, with its number in a list, counted from 1."""
        last = self.place[-1] if self.place else ""
        return f"{self.name}, number {last + 1}" if isinstance(last, int) else self.name

    @property
    def whole(self) -> str:
        """The part of the file that it stands in."""
        kinds = [part.strip("<>") for part in self.place if isinstance(part, str) and part.strip("<>") in KINDS]
        if kinds and self.names[:-1] == ["releases"]:
            return f"this {kinds[0]}"
        return self.names[-2] if len(self.names) > 1 else "the file"

    @property
    def example(self) -> str:
        """What to write."""
        if self.name == "releases":
            return "Write releases: and below it - table: by_city with its sql."
        if self.field is None or not self.field.examples:
            return "Look at docs/release.schema.json for what may stand here."
        return f"Write {self.name}: {as_yaml(self.field.examples[0])}."


def _mistake(found: _Found, file: Marked) -> Mistake:
    name, place = found.name, found.place
    if found.kind == MISTAKE:
        return file.mistake(place, f"{found.told}: {found.context['wrong']}", found.context["fix"])
    if found.kind == "missing":
        about = found.field.description if found.field is not None else None
        meaning = f" ({about[0].lower()}{about[1:]})" if about else ""
        return file.mistake(place, f"{found.whole} says nothing about {name}{meaning}.", found.example)
    if found.kind == "extra_forbidden":
        inside = "here" if found.whole == "the file" else f"in {found.whole}"
        return file.mistake(place, f"{name} means nothing {inside}.", _meant(name, _fields(_owner(place))))
    if found.kind in ("union_tag_not_found", "union_tag_invalid"):
        return _unknown_kind(found, file)
    if "<word>" in place:
        return file.mistake(place, "the unit says who is protected.", UNIT)
    if "<kind>" in place:
        fix = f"Write {name}: {{min: 0, max: 500}}, {name}: {{values: [a, b]}} or {name}: date."
        meant = nearest(found.value, get_args(Kind)) if isinstance(found.value, str) else None
        fix = fix if meant is None else f"Did you mean {name}: {meant}?"
        return file.mistake(place, f"{name} is declared by a type, or by bounds or values.", fix)
    if found.kind == "literal_error":
        words = [part.strip("' ") for part in found.context["expected"].replace(" or ", ", ").split(",")]
        meant = nearest(str(found.value), words)
        fix = f"Write {name}: {words[0]}." if meant is None else f"Did you mean {name}: {meant}?"
        return file.mistake(place, f"{name} is one of {listed(words, 'or')}.", fix)
    return file.mistake(place, f"{found.told}: {SHAPES.get(found.kind, 'this cannot be read.')}", found.example)


def _unknown_kind(found: _Found, file: Marked) -> Mistake:
    value, place = found.value, found.place
    if not isinstance(value, dict) or not value:
        return file.mistake(place, f"a release starts with its kind: {listed(KINDS, 'or')}.", "Write - table: by_city.")
    several = [kind for kind in KINDS if kind in value]
    if several:
        wrong = f"a release is of one kind, and this one of {listed(several)}."
        return file.mistake(place, wrong, "Write a release for each.")
    known = {name for model in KINDS.values() for name in _fields(model)}
    near = {name: meant for name in value if name not in known and (meant := nearest(name, KINDS)) is not None}
    name = next(iter(near or value))
    fix = f"Did you mean {near[name]}?" if near else "Write - table: by_city."
    return file.mistake((*place, name), f"{name} is no kind of release. There are {listed(KINDS)}.", fix)


def _owner(place: Path) -> type[Part]:
    """Return the part of the file that a place is in."""
    model: type[Part] = ReleaseFile
    for part in place[:-1]:
        if isinstance(part, str) and part in TAGS:
            model = TAGS[part]
        elif isinstance(part, str) and part in _fields(model):
            annotation = _fields(model)[part].annotation
            options = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
            model = next((one for one in options if isinstance(one, type) and issubclass(one, Part)), model)
    return model


def _fields(model: type[Part]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _meant(word: str, known: Iterable[str]) -> str:
    names = list(known)
    meant = nearest(word, names)
    return f"Write {listed(names, 'or')}, or remove it." if meant is None else f"Did you mean {meant}?"
