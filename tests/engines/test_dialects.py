"""Every piece of SQL on every engine over hostile values, against plain Python."""

import hashlib
import math
import re
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from engines_reference import (
    BOOLEANS,
    DATES,
    FLOATS,
    INTEGERS,
    LARGEST,
    SMALLEST,
    TEXTS,
    TIMESTAMPS,
    clean,
    lift,
    limited,
    limited_whole,
    month_start,
    pairs,
    parsed_bool,
    parsed_date,
    parsed_float,
    parsed_int,
    quotient,
    whole,
)

NEEDLES = ["", "a", "'", '"', "\\", "\\n", "\n", "%", "_", "${x}", "é", "😀", "ab", "日本", "{}", "\u0301"]

DECIMALS = [
    None, "0", "1", "-1", "0.5", "-0.5", "2.5000000000", "0.1", "123456789012345.678", "9007199254740993",
    "9007199254740992.5", "-9007199254740993.5", "9999999999999999999999999999.9999999999",
    "-9999999999999999999999999999.9999999999", "0.0000000001", "1234567890.1234567891",
    "99999999999999999.7", "4503599627370497.5",
]  # fmt: skip


@pytest.fixture
def ask(engine):
    """Ask for expressions of columns x (and y): {name: SQL} gives {name: values in the order of the rows}."""

    def ask(columns, types, questions):
        size = len(next(iter(columns.values())))
        rows = {"place": list(range(size))} | columns
        made, relation = engine.load("values", rows, {"place": "int"} | types)
        selected = ", ".join(f"{sql} AS {name}" for name, sql in questions(made.dialect).items())
        table = made.run(f"SELECT place, {selected} FROM {relation.sql} ORDER BY place")
        assert table.column("place").to_pylist() == rows["place"]
        return table.drop_columns(["place"]).to_pydict()

    return ask


def test_doubles(ask):
    found = ask(
        {"x": FLOATS},
        {"x": "float"},
        lambda d: {
            "nan": d.is_nan("x"),
            "clean": d.clean("x"),
            "float": d.read("x", "float", "float"),
            "int": d.read("x", "float", "int"),
            "limited": d.limited(d.clean("x")),
        },
    )
    assert found["nan"] == [lift(math.isnan)(x) for x in FLOATS]
    assert found["clean"] == found["float"] == found["limited"] == [clean(x) for x in FLOATS]
    assert found["int"] == [whole(clean(x)) for x in FLOATS]
    assert {str(x) for x in found["clean"]}.isdisjoint({"-0.0", "nan", "inf"})


def test_doubles_beyond_the_limit_are_clamped_and_missing_ones_stay_missing(ask):
    values = [x for x in FLOATS if x is None or not math.isnan(x)]
    assert ask({"x": values}, {"x": "float"}, lambda d: {"r": d.limited("x")})["r"] == [limited(x) for x in values]


def test_whole_numbers(ask):
    found = ask(
        {"x": INTEGERS},
        {"x": "int"},
        lambda d: {
            "int": d.read("x", "int", "int"),
            "float": d.read("x", "int", "float"),
            "str": d.read("x", "int", "str"),
        },
    )
    assert found["int"] == INTEGERS
    assert found["float"] == [limited_whole(x) for x in INTEGERS]
    assert found["str"] == [lift(str)(x) for x in INTEGERS]


def test_decimals(ask):
    found = ask(
        {"x": DECIMALS},
        {"x": "decimal"},
        lambda d: {"float": d.read("x", "decimal", "float"), "int": d.read("x", "decimal", "int")},
    )
    expected = [None if x is None else clean(float(Decimal(x))) for x in DECIMALS]
    assert found["float"] == expected
    assert found["int"] == [whole(x) for x in expected]


def test_texts(ask):
    found = ask(
        {"x": TEXTS},
        {"x": "str"},
        lambda d: (
            {kind: d.read("x", "str", kind) for kind in ("str", "float", "int", "bool", "date")}
            | {"digest": d.digest("x"), "salted": d.digest(f"{d.string('s')} || x")}
        ),
    )
    assert found["str"] == TEXTS
    assert found["float"] == [parsed_float(x) for x in TEXTS]
    assert found["int"] == [parsed_int(x) for x in TEXTS]
    assert found["bool"] == [parsed_bool(x) for x in TEXTS]
    assert found["date"] == [parsed_date(x) for x in TEXTS]
    assert found["digest"] == [lift(digest)(x) for x in TEXTS]
    assert found["salted"] == [lift(digest)(lift("s".__add__)(x)) for x in TEXTS]


def test_constants_too_small_to_multiply_are_zero(engine):
    made, _ = engine.load("nothing", {"x": [1]}, {"x": "int"})
    tiny = made.dialect.constant(1e-300, "float")
    assert made.run(f"SELECT {tiny} * {tiny} AS r").column("r").to_pylist() == [0.0]


def test_every_day_is_read_and_nothing_else(ask):
    texts = [
        f"{y:04}-{m:02}-{d:02}" for y in (0, 1, 4, 100, 1900, 2000, 2023, 2024) for m in range(14) for d in range(33)
    ]
    assert ask({"x": texts}, {"x": "str"}, lambda d: {"r": d.parse_date("x")})["r"] == [parsed_date(x) for x in texts]


@pytest.mark.parametrize("pattern", ["a|b", "[0-9]+", "a.c", "", "x*", "(ab)+"])
def test_patterns_match_whole_texts(ask, pattern):
    texts = [*TEXTS[:30], "a|b", "aa", "abab", "axc", "0123", "12\n", "b\n", "x" * 500]
    found = ask({"x": texts}, {"x": "str"}, lambda d: {"r": d.matches("x", pattern)})
    assert found["r"] == [None if x is None else re.fullmatch(pattern, x) is not None for x in texts]


def test_parts_of_texts(ask):
    def questions(d):
        return {
            f"{name}_{place}": getattr(d, name)("x", needle)
            for name in ("starts_with", "ends_with", "contains")
            for place, needle in enumerate(NEEDLES)
        }

    found = ask({"x": TEXTS}, {"x": "str"}, questions)
    for place, needle in enumerate(NEEDLES):
        assert found[f"starts_with_{place}"] == [lift(str.startswith)(x, needle) for x in TEXTS]
        assert found[f"ends_with_{place}"] == [lift(str.endswith)(x, needle) for x in TEXTS]
        assert found[f"contains_{place}"] == [lift(str.__contains__)(x, needle) for x in TEXTS]


def test_texts_are_ordered_by_code_points(ask):
    a, b = pairs([text for text in TEXTS if text is None or len(text) < 4])
    found = ask(
        {"x": a, "y": b},
        {"x": "str", "y": "str"},
        lambda d: {"less": f"{d.ordered('x')} < {d.ordered('y')}", "same": f"{d.ordered('x')} = {d.ordered('y')}"},
    )
    assert found["less"] == [lift(lambda x, y: x < y)(x, y) for x, y in zip(a, b, strict=True)]
    assert found["same"] == [lift(lambda x, y: x == y)(x, y) for x, y in zip(a, b, strict=True)]


def test_bits(ask):
    a, b = pairs([None, 0, 1, 2, 255, 2**30, 2**31 - 1, 2**53, 2**62, LARGEST])
    found = ask(
        {"x": a, "y": b},
        {"x": "int", "y": "int"},
        lambda d: {"xor": d.xor("x", "y")} | {f"shift_{bits}": d.shift("x", bits) for bits in (0, 1, 31, 62)},
    )
    assert found["xor"] == [lift(int.__xor__)(x, y) for x, y in zip(a, b, strict=True)]
    for bits in (0, 1, 31, 62):
        assert found[f"shift_{bits}"] == [lift(int.__rshift__)(x, bits) for x in a]


def test_negative_numbers_are_shifted_alike(ask):
    found = ask({"x": INTEGERS}, {"x": "int"}, lambda d: {"r": f"({d.shift('x', 31)} & {2**31 - 1})"})
    assert found["r"] == [lift(lambda x: (x >> 31) & (2**31 - 1))(x) for x in INTEGERS]


def test_quotients_are_cut_towards_zero(ask):
    a, b = pairs([None, 0, 1, -1, 2, -2, 3, 7, -7, 10, 2**53, -(2**53), LARGEST, SMALLEST + 1])
    found = ask({"x": a, "y": b}, {"x": "int", "y": "int"}, lambda d: {"r": d.quotient("x", "y")})
    assert found["r"] == [quotient(x, y) for x, y in zip(a, b, strict=True)]


@pytest.mark.parametrize("values", [[LARGEST] * 1000, [SMALLEST] * 1000, [LARGEST, SMALLEST, None], [None], [], [1, 2]])
def test_sums_are_exact(ask, engine, values):
    made, relation = engine.load("numbers", {"x": values}, {"x": "int"})
    (total,) = made.run(f"SELECT {made.dialect.exact_sum('x')} AS s FROM {relation.sql}").column("s").to_pylist()
    kept = [x for x in values if x is not None]
    assert total == (sum(kept) if kept else None)


def test_booleans(ask):
    found = ask(
        {"x": BOOLEANS},
        {"x": "bool"},
        lambda d: {"bool": d.read("x", "bool", "bool"), "int": d.read("x", "bool", "int")},
    )
    assert found == {"bool": BOOLEANS, "int": [None, 1, 0]}


def test_dates(ask):
    parts = ("year", "month", "day", "weekday")
    found = ask(
        {"x": DATES},
        {"x": "date"},
        lambda d: (
            {"date": d.read("x", "date", "date"), "start": d.month_start("x")}
            | {part: d.part(part, "x") for part in parts}
        ),
    )
    assert found["date"] == DATES
    assert found["start"] == [month_start(x) for x in DATES]
    for part in parts:
        assert found[part] == [lift(numbered)(part, x) for x in DATES]


def test_days_between_dates(ask):
    a, b = pairs(DATES)
    found = ask({"x": a, "y": b}, {"x": "date", "y": "date"}, lambda d: {"r": d.days_between("x", "y")})
    assert found["r"] == [lift(lambda x, y: (x - y).days)(x, y) for x, y in zip(a, b, strict=True)]


def test_timestamps(ask):
    parts = ("year", "month", "day", "weekday", "hour")
    found = ask(
        {"x": TIMESTAMPS},
        {"x": "timestamp"},
        lambda d: (
            {"moment": d.read("x", "timestamp", "timestamp"), "date": d.read("x", "timestamp", "date")}
            | {part: d.part(part, "x") for part in parts}
        ),
    )
    assert found["moment"] == TIMESTAMPS
    assert found["date"] == [lift(datetime.date)(x) for x in TIMESTAMPS]
    for part in parts:
        assert found[part] == [lift(numbered)(part, x) for x in TIMESTAMPS]


def test_constants(engine):
    values = [("str", x) for x in TEXTS] + [("int", x) for x in INTEGERS] + [("bool", x) for x in BOOLEANS]
    values += [("date", x) for x in DATES] + [("timestamp", x) for x in TIMESTAMPS]
    values += [("float", x) for x in FLOATS if x is None or (math.isfinite(x) and (x == 0 or abs(x) >= 1e-100))]
    made, _ = engine.load("nothing", {"x": [1]}, {"x": "int"})
    selected = ", ".join(f"{made.dialect.constant(x, kind)} AS c{i}" for i, (kind, x) in enumerate(values))
    (row,) = made.run(f"SELECT {selected}").to_pylist()
    assert list(row.values()) == [x for _, x in values]


def test_moments_with_a_time_zone_are_told_in_utc(engine):
    moment = datetime(2024, 6, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    made, _ = engine.load("nothing", {"x": [1]}, {"x": "int"})
    (found,) = made.run(f"SELECT {made.dialect.constant(moment, 'timestamp')} AS c").column("c").to_pylist()
    assert found == moment.astimezone(UTC).replace(tzinfo=None)


def test_names_of_columns(engine):
    names = ["a b", "select", 'a"b', "a'b", "Ünï", "a.b", "${x}", "%s", "😀", "A"]
    names += [] if engine.name == "spark" else ["a`b"]
    made, relation = engine.load(
        "named", {f"c{i}": [i] for i in range(len(names))}, {f"c{i}": "int" for i in range(len(names))}
    )
    renamed = ", ".join(f"c{i} AS {made.dialect.identifier(name)}" for i, name in enumerate(names))
    chosen = ", ".join(made.dialect.identifier(name) for name in names)
    table = made.run(f"SELECT {chosen} FROM (SELECT {renamed} FROM {relation.sql}) t")
    assert table.to_pylist() == [{name: i for i, name in enumerate(names)}]


@pytest.mark.parametrize("stored", ["bool", "date", "decimal", "float", "int", "other", "str", "timestamp"])
def test_what_cannot_be_read_is_said_so(engine, stored):
    readable = {
        "bool": {"bool", "int"},
        "date": {"date"},
        "decimal": {"float", "int"},
        "float": {"float", "int"},
        "int": {"int", "float", "str"},
        "other": set(),
        "str": {"str", "float", "int", "bool", "date"},
        "timestamp": {"timestamp", "date"},
    }
    kinds = ("bool", "date", "float", "int", "str", "timestamp")
    assert {kind for kind in kinds if engine.dialect.read("x", stored, kind) is not None} == readable[stored]


def digest(text):
    return int.from_bytes(hashlib.md5(text.encode()).digest()[:4], "little") & (2**31 - 1)


def numbered(part, x):
    return x.isoweekday() if part == "weekday" else getattr(x, part)
