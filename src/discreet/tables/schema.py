"""What is known of a table before anybody looks: types, bounds, allowed values and what missing values mean.

All of it is declared by the curator and public. Nothing here is ever read from data: a bound taken from the data is
itself a release without noise.
"""

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal
from unicodedata import normalize

from discreet.errors import InvalidParameter, MissingExtra
from discreet.exact import Real, finite, show
from discreet.tables.kinds import LIMIT, LONGEST, Interval, Kind, Value, check_kind, kind_of

__all__ = ["Bounds", "Column", "Schema", "Values", "keys_of"]

FIELDS = ("type", "min", "max", "step", "values", "nulls", "max_length")


@dataclass(frozen=True, slots=True)
class Column:
    """What is declared about one column.

    ``bounds`` clamp numbers that are added up, averaged or ranked; conditions, keys and bins see what is stored, and a
    number outside is in no group that follows from the bounds. ``step`` says that numbers are ``low``, ``low + step``,
    ... up to ``high`` and nothing between, so that quantiles are among them; whole numbers have a step of 1 anyway.
    ``values`` are the keys that groups by this column have, with or without rows. ``nulls`` says what a missing value,
    or NaN, means: ``"skip"`` leaves it out of sums, means and counts of the column, as SQL does; any other value stands
    in for it. Texts are cut after ``max_length`` characters, 65,536 unless it is declared.

    >>> Column("int", bounds=(0, 120), nulls=0)
    Column('int', bounds=(0, 120), nulls=0)
    """

    type: Kind | None = None
    _: KW_ONLY
    bounds: tuple[Real, Real] | None = None
    step: Real | None = None
    values: tuple[Value, ...] | None = None
    nulls: Value | Literal["skip"] = "skip"
    max_length: int | None = None

    def __post_init__(self) -> None:
        kind = None if self.type is None else check_kind(self.type)
        if self.bounds is not None:
            _check_bounds(self.bounds, kind)
        if self.step is not None:
            _check_step(self.step, self.bounds, kind)
        if self.values is not None:
            object.__setattr__(self, "values", keys_of(self.values))
            kinds = {kind_of(value) for value in self.values if value is not None}
            kind = kind or next(iter(kinds))
            if kinds - {kind}:
                raise InvalidParameter(f"all values of a column are of one type: declared {kind}, got {sorted(kinds)}.")
        object.__setattr__(self, "type", kind)
        if self.nulls != "skip" and self.nulls is not None:
            filled = kind_of(self.nulls)
            if kind is not None and filled != kind and (filled, kind) != ("int", "float"):
                raise InvalidParameter(f"nulls={self.nulls!r} stands in for a missing {kind}: write a {kind}.")
        _check_lengths(self.max_length, kind, (*(self.values or ()), self.nulls))

    @property
    def interval(self) -> Interval | None:
        """The declared bounds."""
        return None if self.bounds is None else Interval.of(*self.bounds)

    @property
    def steps(self) -> int | None:
        """How many declared steps lie between the bounds."""
        return None if self.step is None or self.bounds is None else _steps(self.step, self.bounds)

    def __repr__(self) -> str:
        parts = [] if self.type is None else [repr(self.type)]
        if self.bounds is not None:
            parts.append(f"bounds=({show(self.bounds[0])}, {show(self.bounds[1])})")
        if self.step is not None:
            parts.append(f"step={show(self.step)}")
        if self.values is not None:
            parts.append(f"values={self.values!r}")
        if self.nulls != "skip":
            parts.append(f"nulls={self.nulls!r}")
        if self.max_length is not None:
            parts.append(f"max_length={self.max_length}")
        return f"Column({', '.join(parts)})"


def Bounds(  # noqa: N802
    low: Real,
    high: Real,
    *,
    step: Real | None = None,
    type: Kind | None = None,  # noqa: A002
    nulls: Value = "skip",
) -> Column:
    """Declare that a column holds numbers from low to high; in sums and quantiles others move to the nearer end.

    With a ``step`` they are low, low + step, and so on, and quantiles are among these.

    >>> Bounds(0, 500)
    Column(bounds=(0, 500))
    >>> Bounds(0, 100, step=5)
    Column(bounds=(0, 100), step=5)
    """
    return Column(type, bounds=(low, high), step=step, nulls=nulls)


def Values(values: Iterable[Value], *, nulls: Value = "skip") -> Column:  # noqa: N802
    """Declare the keys of a column: a group for each is released, and rows with other values are in none.

    >>> Values(["north", "south"])
    Column('str', values=('north', 'south'))
    """
    return Column(values=keys_of(values), nulls=nulls)


@dataclass(frozen=True, slots=True)
class Schema:
    """The declared columns of one table.

    >>> Schema.read({"amount": {"min": 0, "max": 500}, "city": "str"})["amount"]
    Column(bounds=(0, 500))
    """

    columns: Mapping[str, Column] = field(default_factory=dict)

    @classmethod
    def read(cls, declared: "Schema | Mapping[str, object] | str | Path | None") -> "Schema":
        """Return the schema from Python, or from a YAML file of the same shape."""
        if isinstance(declared, Schema):
            return declared
        if isinstance(declared, str | Path):
            declared = _yaml(Path(declared))
        if declared is None:
            return cls()
        if not isinstance(declared, Mapping):
            raise InvalidParameter(f"a schema maps columns to declarations, got {type(declared).__name__}.")
        inner = declared.get("columns")
        if isinstance(inner, Mapping) and len(declared) == 1:
            declared = inner
        return cls({str(name): _column(str(name), entry) for name, entry in declared.items()})

    def __getitem__(self, name: str) -> Column:
        return self.columns.get(name, Column())

    def completed(self, types: Mapping[str, Kind | None]) -> "Schema":
        """Return the schema of all columns that a source has, with the types its metadata states."""
        if unknown := [name for name in self.columns if name not in types]:
            known = ", ".join(sorted(types)) or "none"
            raise InvalidParameter(f"the schema declares {', '.join(unknown)}, and the table has only {known}.")
        done = {}
        for name, stored in types.items():
            column = self[name]
            kind = column.type or stored
            if column.bounds is not None and kind not in ("int", "float", None):
                raise InvalidParameter(f"{name} has bounds, and its type is {kind}: bounds are for numbers.")
            if column.max_length is not None and kind not in ("str", None):
                raise InvalidParameter(f"{name} has a max_length, and its type is {kind}: lengths are for texts.")
            done[name] = replace(column, type=kind)
        return Schema(done)


def keys_of(values: Iterable[Value]) -> tuple[Value, ...]:
    r"""Return distinct keys, refusing those that readers would take for one another.

    >>> keys_of(["caf\u00e9", "cafe\u0301"])
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: two of the declared values look alike (they differ in how letters are composed). A
    key is compared code point by code point: declare the one that the data holds.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidParameter("values are a list of keys, got a single one. Write it in brackets.")
    keys = tuple(map(_key, values))
    if not keys:
        raise InvalidParameter("at least one value must be declared.")
    if len({(type(key), key) for key in keys}) < len(keys):
        raise InvalidParameter("a value is declared twice.")
    if len({normalize("NFC", key) if isinstance(key, str) else (type(key), key) for key in keys}) < len(keys):
        raise InvalidParameter(
            "two of the declared values look alike (they differ in how letters are composed). "
            "A key is compared code point by code point: declare the one that the data holds."
        )
    return keys


def _key(value: Value) -> Value:
    """Return a key as a plain value: subclasses may differ in what the engine takes for the same."""
    if value is None or type(value) in (bool, date):
        return value
    if isinstance(value, float):
        raise InvalidParameter("decimal numbers make no keys: two that print alike may differ. Use whole numbers.")
    kind = kind_of(value)
    if kind == "int":
        number = int(value)  # type: ignore[arg-type]
        if not -(2**63) <= number < 2**63:
            raise InvalidParameter("whole numbers that are keys have at most 64 bits.")
        return number
    if kind == "str":
        text = str.__str__(value)
        if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
            raise InvalidParameter("a key holds the character 0 or half a surrogate pair, which no engine stores.")
        return text
    raise InvalidParameter(f"keys are texts, whole numbers, dates, True or False, got {type(value).__name__}.")


def _check_bounds(bounds: object, kind: Kind | None) -> None:
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise InvalidParameter("bounds are a pair (low, high).")
    low, high = finite(bounds[0], "the lower bound"), finite(bounds[1], "the upper bound")
    if low > high or max(abs(low), abs(high)) > LIMIT:
        raise InvalidParameter("bounds are a pair (low, high), low not above high, within plus or minus 2^53.")
    if kind not in ("int", "float", None):
        raise InvalidParameter(f"bounds are for numbers, and this column is of type {kind}.")
    if kind == "int" and (low.denominator, high.denominator) != (1, 1):
        raise InvalidParameter("the bounds of whole numbers are whole numbers.")


def _check_lengths(most: object, kind: Kind | None, texts: Iterable[object]) -> None:
    if most is not None and (type(most) is not int or not 1 <= most <= LONGEST):
        raise InvalidParameter(f"max_length is a whole number of characters, from 1 to {LONGEST}.")
    if most is not None and kind not in ("str", None):
        raise InvalidParameter(f"max_length is for texts, and this column is of type {kind}.")
    longest = most if isinstance(most, int) else LONGEST
    if any(isinstance(text, str) and len(text) > longest for text in texts if text != "skip"):
        raise InvalidParameter(f"a declared value has more than {longest} characters, so no row could have it.")


def _steps(step: Real, bounds: tuple[Real, Real]) -> int:
    return round((Fraction(bounds[1]) - Fraction(bounds[0])) / Fraction(step))


def _check_step(step: Real, bounds: tuple[Real, Real] | None, kind: Kind | None) -> None:
    exact = finite(step, "step")
    if bounds is None or kind not in ("int", "float", None) or exact <= 0:
        raise InvalidParameter("a step is a number above 0, for a column of numbers with bounds.")
    if kind == "int" and exact.denominator != 1:
        raise InvalidParameter("the step of whole numbers is a whole number.")
    width = Fraction(bounds[1]) - Fraction(bounds[0])
    if not width or abs(_steps(exact, bounds) * exact - width) > exact / 10**6:
        raise InvalidParameter("the upper bound must be a whole number of steps above the lower one.")


def _column(name: str, entry: object) -> Column:
    if isinstance(entry, Column):
        return entry
    if isinstance(entry, str):
        return Column(check_kind(entry))
    if isinstance(entry, Mapping):
        if unknown := [str(key) for key in entry if key not in FIELDS]:
            raise InvalidParameter(f"{name}: {', '.join(unknown)} means nothing here; write {', '.join(FIELDS)}.")
        if ("min" in entry) != ("max" in entry):
            raise InvalidParameter(f"{name}: write both min and max.")
        bounds = (entry["min"], entry["max"]) if "min" in entry else None
        if "step" in entry and bounds is None:
            raise InvalidParameter(f"{name}: a step needs min and max.")
        values = entry.get("values")
        return Column(
            entry.get("type"),
            bounds=bounds,
            step=entry.get("step"),
            values=None if values is None else keys_of(values),
            nulls=entry.get("nulls", "skip"),
            max_length=entry.get("max_length"),
        )
    raise InvalidParameter(
        f"{name}: declare a type ({name}: float), bounds ({name}: {{min: 0, max: 500}}) or values, "
        f"got {type(entry).__name__}."
    )


def _yaml(path: Path) -> Mapping[str, Any]:
    try:
        import yaml
    except ImportError:
        raise MissingExtra("PyYAML", "tables") from None
    try:
        read = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        raise InvalidParameter(f"{path} cannot be read as YAML. It should map columns to declarations.") from None
    if not isinstance(read, Mapping):
        raise InvalidParameter(f"{path} should map columns to declarations.")
    return read
