"""YAML is read with its lines, exactly, and refuses what a file beside private data must not do."""

from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.publishing.marked import Number, read_yaml
from discreet.publishing.mistake import Mistake


@pytest.mark.parametrize("text", ["0.1", "1e-7", "1E+3", ".5", "5.", "-3", "123456789012345678901234567890.5"])
def test_numbers_are_the_decimals_that_stand_there(text):
    found = read_yaml(f"a: {text}").value["a"]
    assert isinstance(found, Number)
    assert Fraction(found) == Fraction(text)
    assert found.text == text


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30))
def test_every_decimal_comes_back(number):
    found = read_yaml(f"a: {number:f}" if "." in f"{number:f}" else f"a: {number:f}.0").value["a"]
    assert Fraction(found) == Fraction(number)


def test_words_stay_words():
    text = "a: [no, yes, on, off, NO, y, '1', \"0.5\", 12:30, 1_000, .inf, .nan, 2026-01]"
    expected = ["no", "yes", "on", "off", "NO", "y", "1", "0.5", "12:30", "1_000", ".inf", ".nan", "2026-01"]
    assert read_yaml(text).value["a"] == expected


def test_truth_days_and_nothing_are_known():
    assert read_yaml("a: [true, False, ~, null, 2026-01-31]").value["a"] == [True, False, None, None, date(2026, 1, 31)]


@pytest.mark.parametrize("text", ["007", "0150", "-01", "0x1f", "0o17", "0b1", "00.5"])
def test_what_may_be_a_number_or_a_text_is_refused(text):
    with pytest.raises(Mistake, match="may be a number or a text"):
        read_yaml(f"a: {text}")


def test_lines_of_everything():
    found = read_yaml("a: 1\nb:\n  - c: 2\n    d: |\n      x\n      y\n  - {e: 3}\n")
    paths = [("a",), ("b",), ("b", 0), ("b", 0, "c"), ("b", 0, "d"), ("b", 1), ("b", 1, "e")]
    assert [found.line(path) for path in paths] == [1, 2, 3, 3, 4, 7, 7]


def test_the_line_of_a_word_inside_a_text():
    found = read_yaml("sql: |\n  SELECT a\n  FROM b\n  WHERE ab = b\n")
    assert [found.line(("sql",), word) for word in ("a", "b", "ab", "zz")] == [2, 3, 4, 1]


def test_places_that_are_not_in_the_file_are_skipped():
    found = read_yaml("a:\n  b: 1\n")
    assert found.line(("a", "<tag>", "b")) == 2
    assert found.line(("a", "missing")) == 1


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3", 3, "second time"),
        ("a: &x 1\nb: 2", 1, "anchors"),
        ("a: 1\nb: *x", 2, "anchors"),
        ("a: !!python/object/apply:os.system [ls]", 1, "tags"),
        ("a: !secret x", 1, "tags"),
        ("a: {<<: {b: 1}}", 1, "<< is not read"),
        ("? [a]\n: 1", 1, "a plain name"),
        ("a: 1\n---\nb: 1", 2, "a second one"),
        ("a:\n- b: " + "[" * 30 + "1" + "]" * 30, 2, "nested"),
        ("a: 2026-02-30", 1, "there is no day"),
    ],
)
def test_what_is_refused_has_its_line(text, line, words):
    with pytest.raises(Mistake, match=words) as refused:
        read_yaml(text)
    assert refused.value.line == line


def test_a_bomb_of_aliases_is_refused_at_once():
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{b}: &{b} [{', '.join(['*' + a] * 9)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)]
    with pytest.raises(Mistake, match="anchors and aliases"):
        read_yaml("\n".join(lines))


def test_brackets_without_end_do_not_exhaust_the_stack():
    with pytest.raises(Mistake, match="nested"):
        read_yaml("a: " + "[" * 100_000)


def test_a_long_file_is_refused_before_it_is_read():
    with pytest.raises(Mistake, match="a million characters"):
        read_yaml("#" * 1_000_001)


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text):
    try:
        read_yaml(text)
    except Mistake as refused:
        assert str(refused).startswith("release.yaml")  # noqa: PT017


@pytest.mark.parametrize("sign", ["\\0", "\\uD800", "\\e", "\\u202E", "\\x7f", "\\r", "\\uFFFF"])
@pytest.mark.parametrize("text", ['a: 1\ntitle: "x{}"', 'a: 1\n"x{}": 2', 'a: 1\nb: ["x{}"]'])
def test_what_nobody_sees_is_refused_with_its_line(sign, text):
    with pytest.raises(Mistake, match="line 2: a text holds the character") as refused:
        read_yaml(text.format(sign))
    assert str(refused.value).isprintable()


def test_lines_and_tabs_are_no_trouble_in_texts_and_are_in_names():
    assert read_yaml('a: "x\\n\\ty"').value == {"a": "x\n\ty"}
    with pytest.raises(Mistake, match="a name stands on one line"):
        read_yaml('"a\\nb": 1')


def test_other_digits_are_no_numbers():
    assert read_yaml("a: １\nb: ٣").value == {"a": "１", "b": "٣"}  # noqa: RUF001


def test_many_values_are_refused_soon():
    with pytest.raises(Mistake, match="a file holds at most 50,000 values"):
        read_yaml("a: [" + "1," * 400_000 + "1]")
