"""How a released table looks: honest in text, in a notebook and in a picture, and deaf to hostile keys."""

import re
from datetime import UTC, date, datetime
from fractions import Fraction
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from session_answers import HOSTILE, answer, answers, numbered

from discreet import plots
from discreet.errors import InvalidParameter
from discreet.session.digits import above, shown
from discreet.session.estimates import Estimates
from discreet.session.text_table import columns_of, shortened, visible

# In text ---------------------------------------------------------------------------------------------------------


@given(answers())
def test_every_line_of_the_table_is_equally_wide(made):
    text = repr(made)
    table = text.split("\n\n")[1 if not made.private else 0].split("\n")
    assert len({columns_of(line) for line in table}) == 1
    assert not [
        c for line in text.split("\n") for c in line if ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u202e\u2028"
    ]


SCRIPTS = ((0, 0x24F), (0x370, 0x52F), (0x2010, 0x206F), (0x3041, 0x30FF), (0x4E00, 0x9FA5), (0xAC00, 0xD7A3))
WIDE_AND_NARROW = ((0xFF01, 0xFF9F), (0x1F600, 0x1F64F), (0x20000, 0x2A6D6))
LETTERS = st.one_of(
    *(
        st.characters(min_codepoint=first, max_codepoint=last, exclude_categories=["Mn", "Me"])
        for first, last in SCRIPTS + WIDE_AND_NARROW
    )
)
"""Characters of which all versions of Unicode say the same width."""


@given(st.text(LETTERS, max_size=12))
def test_widths_agree_with_another_judge(text):
    seen = visible(text)
    assert columns_of(seen) == cell_len(seen)
    assert columns_of(shortened(seen, 6)) <= 6
    assert seen == visible(seen)


def test_known_widths():
    assert [columns_of(x) for x in ("Oslo", "東京", "é", "e\u0301", "한국", "🙂", "ﾊﾝ", "नमस्ते")] == [
        4, 4, 1, 1, 4, 2, 2, 4,
    ]  # fmt: skip


def test_text_of_a_table():
    text = repr(answer())
    assert "1,234 ± 6" in text
    assert "(0 to 90)" in text
    assert "Costs epsilon 0.2 at delta 1e-7." in text
    assert "Each 95% interval covers the noise in 19 of 20 releases." in text
    assert "n: geometric noise" in text
    assert "the interval covers the noise" in text
    assert "NOT PRIVATE" not in text
    assert repr(answer(private=False)).startswith("NOT PRIVATE")


def test_long_tables_show_both_ends():
    lines = repr(numbered(1000)).splitlines()
    assert lines[2].split()[0] == "0"
    assert [line.split()[0] for line in lines if line][-6:-2] == ["996", "997", "998", "999"]
    assert sum(line.split()[:1] == ["..."] for line in lines) == 1
    assert any(line.startswith("1,000 rows.") for line in lines)
    assert len(lines) < 30
    assert "..." not in repr(numbered(20))


NUMBERS = st.integers(-(10**18), 10**18) | st.floats(-1e18, 1e18)


@given(NUMBERS, st.floats(1e-6, 1e12) | st.integers(1, 10**9), st.booleans())
def test_a_shown_interval_contains_the_released_one(value, half, symmetric):
    low, high = value - half, value + (half if symmetric else 3 * half)
    one = shown(value, low, high)
    if not low < high:
        return
    down, up = (Fraction(end.replace(",", "")) for end in one.span.split(" to "))
    assert down <= low
    assert up >= high
    assert up - down <= 2 * Fraction(high - low) or abs(value) > 1e15
    if one.plus_minus:
        centre, size = Fraction(one.value.replace(",", "")), Fraction(one.plus_minus.replace(",", ""))
        slack = size / 10**9
        assert centre - size <= low + slack
        assert centre + size >= high - slack


@given(st.floats(1e-12, 1e9))
def test_costs_are_rounded_up(cost):
    written, exact = Fraction(above(cost).replace(",", "")), Fraction(cost)
    assert exact * (1 - Fraction(1, 10**11)) <= written <= exact * Fraction(1002, 1000)


# In a notebook ---------------------------------------------------------------------------------------------------


class Tags(HTMLParser):
    """Counts elements and keeps what is inside cells."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]


ALLOWED = {"div", "style", "table", "caption", "strong", "code", "br", "thead", "tbody", "tr", "th", "td", "ul", "li"}


@given(answers())
def test_html_holds_no_element_from_data(made):
    page = Tags(made._repr_html_())
    assert set(page.tags) <= ALLOWED | {"small"}
    assert {name for _, name, _ in page.attributes} <= {"class", "scope", "colspan", "role"}


def test_hostile_text_stays_text():
    made = answer(
        keys={HOSTILE: (HOSTILE, "a", "b")},
        columns={
            HOSTILE + "!": Estimates(value=(HOSTILE, None, "b"), low=(None,) * 3, high=(None,) * 3, method=HOSTILE)
        },
        notes=(HOSTILE,),
        parameters={"query": HOSTILE},
    )
    html = made._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html
    assert "\x1b" not in html + repr(made)
    assert "\u202e" not in html + repr(made)
    assert not re.search(r"\b(src|href)\s*=", re.sub(r"&[a-z]+;[^<]*", "", html))
    assert "<script" not in plots.svg(answer(keys={"k": (HOSTILE, "a", "b")}).plot())


def test_html_is_accessible_and_says_its_cost():
    page = answer()._repr_html_()
    assert page.count('scope="row"') == 6
    assert page.count('scope="col') == 6
    assert "epsilon 0.2 at delta 1e-7" in page[page.index("<caption>") : page.index("</caption>")]
    assert "± " in page
    assert "1,228 to 1,240" in page
    assert "NOT PRIVATE" not in page
    assert 'role="alert">NOT PRIVATE' in answer(private=False)._repr_html_()
    assert "more rows" not in page
    assert "… 60 more rows …" in numbered(100)._repr_html_()


# In a picture ----------------------------------------------------------------------------------------------------


def test_plots_show_at_most_forty_rows_and_say_so():
    text = plots.svg(numbered(57).plot())
    assert "the first 40 of 57 rows" in text
    assert ">39<" in text
    assert ">41<" not in text
    assert "of 57" not in plots.svg(numbered(40).plot("n"))
    assert "NOT PRIVATE" in plots.svg(numbered(3, private=False).plot())
    assert "rows without a number are not drawn" in plots.svg(answer().plot("spend"))


def test_rows_that_look_alike_are_drawn_apart():
    chart = answer(keys={"k": ("x" * 80 + "1", "x" * 80 + "2", "")}).plot()
    labels = [row["label"] for row in chart.to_dict()["data"]["values"]]
    assert len(set(labels)) == 3
    assert labels[2] == "(empty)"


def test_words_are_not_drawn():
    words = Estimates(value=("a", "b", "c"), low=(None,) * 3, high=(None,) * 3)
    with pytest.raises(InvalidParameter, match="has none"):
        answer(columns={"best": words}).plot()
    with pytest.raises(InvalidParameter, match="has n, spend"):
        answer().plot("city")


def test_datetimes_of_two_kinds_sort():
    days = (datetime(2024, 1, 2), datetime(2024, 1, 1, tzinfo=UTC), date(2024, 1, 1))  # noqa: DTZ001
    assert answer(keys={"t": days}).sort("t")["n"].tolist() == [7, 1234, 98]
