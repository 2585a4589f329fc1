"""The report of a publication: complete, honest, self-contained, and deaf to hostile text."""

import re
from dataclasses import FrozenInstanceError
from datetime import date
from html.parser import HTMLParser

import pytest

from discreet.accounting import Budget, PrivacyLoss
from discreet.errors import InvalidParameter, RelationMismatch
from discreet.report.publication import Line, Publication, Published, render_publication
from discreet.session.answer import Answer
from discreet.session.estimates import Estimates
from discreet.units import Person, Row

HOSTILE = "<script>alert('x')</script>\"><img src=http://evil.example/x onerror=alert(1)> {{ 7 * 7 }} Ünïçødé 東京"
LOSS = PrivacyLoss.laplace(0.5)


def counts(*values, off=6, **changes):
    parts = {"method": "integer Laplace noise, scale 2", "error": off}
    low, high = [None if v is None else v - off for v in values], [None if v is None else v + off for v in values]
    return Estimates(value=values, low=tuple(low), high=tuple(high), **(parts | changes))


def answer(**changes):
    parts = {
        "keys": {"city": ("Oslo", "Bergen")},
        "columns": {"n": counts(1234, 310)},
        "level": 0.95,
        "loss": LOSS,
        "parameters": {"threshold": None, "delta": 0.0},
        "notes": ("The interval covers the noise, not what bounds on rows, groups and values left out.",),
    }
    return Answer(**(parts | changes))


def table(made=None, **changes):
    parts = {"name": "cities", "title": "Visits by city", "question": "SELECT city, COUNT(*) AS n FROM visits"}
    made = answer() if made is None else made
    return Published(**(parts | {"answer": made, "files": ("cities.csv", "cities.parquet")} | changes))


def publication(*tables, **changes):
    parts = {
        "title": "Visits in 2026",
        "description": "Where people went.",
        "date": "16 November 2026",
        "dataset": "visits",
        "version": "2026-11",
        "size": 300_000,
        "unit": Person("user_id", groups=3, rows=4),
        "loss": LOSS,
        "epsilon": 0.5,
        "delta": 0.0,
        "budget": Budget(2),
        "spent": 0.25,
        "tables": tables,
    }
    return Publication(**(parts | changes))


def page(*tables, **changes):
    return render_publication(publication(*tables, **changes))


class Reader(HTMLParser):
    """Reads a page as a browser would: which elements are open, and what stands in them."""

    VOID = frozenset({"meta", "col", "wbr", "br", "rect", "path", "line"})

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.ids, self.links, self.rows = [], [], [], [], 0
        self.words = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        named = dict(attrs)
        assert not any(name.startswith("on") for name in named), f"<{tag}> can act"
        assert not {"src", "srcset", "action", "data"} & set(named), f"<{tag}> can fetch"
        self.ids += [named["id"]] if "id" in named else []
        self.links += [named["href"]] if "href" in named else []
        self.rows += tag == "tr" and "tbody" in self.open
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "svg"} & set(self.open):
            self.words.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(self.words))


def read(html):
    reader = Reader(html)
    assert not reader.open
    assert not {"script", "img", "link", "iframe", "object", "embed", "base", "form"} & set(reader.tags)
    assert len(set(reader.ids)) == len(reader.ids)
    for link in reader.links:
        assert link.startswith(("#", "./")), "a link leaves the folder"
    assert not re.search(r"@import|url\(\s*['\"]?http", html)
    assert "default-src 'none'" in html
    return reader


def test_the_page_says_what_the_reader_holds_in_order():
    text = read(page(table(), reproduce="discreet release release.yaml")).text
    places = [
        "Visits in 2026",
        "Data set visits, version 2026-11, declared size 300,000.",
        "1 table",
        "with 2 values",
        "every person",
        "0.5 with delta 0: the guarantee has no exceptions",
        "What is protected, and what that means for a person",
        "The budget, and what is spent of it",
        "Table 1 Visits by city",
        "SELECT city, COUNT(*) AS n FROM visits",
        "Oslo1,234± 6",
        "How accurate it is",
        "n: within ±6 in 19 of 20 releases (integer Laplace noise, scale 2).",
        "How the numbers were protected",
        "Ghosh, Roughgarden and Sundararajan",
        "What is not protected",
        "discreet verify release.json",
        "discreet release release.yaml",
        "Versions",
    ]
    found = [text.find(place) for place in places]
    assert -1 not in found, places[found.index(-1)]
    assert found == sorted(found)


def test_a_person_is_told_what_the_promise_is():
    text = read(page(table())).text
    assert "all rows that carry the same user_id count as one" in text
    assert "up to 4 rows in each of up to 3 groups of a table" in text
    assert "Take any one person out of the data, or add somebody new" in text
    assert "more than 1.649 times as likely." in text
    assert "already knows the rows of everybody else, and wonders whether you took part" in text
    assert "at most 62.3% likely, and no less than 37.7%" in text


@pytest.mark.parametrize(
    ("unit", "said", "never"),
    [
        (Row(), "Take any one row out of the data, or add one.", "user_id"),
        (Row(relation="replace_one", size=9), "Replace any one row by any other.", "add one"),
        (
            Person("id", rows=1, relation="replace_one"),
            "Replace everything that any one person contributed",
            "groups of",
        ),
        (Person("id", groups=1), "up to 1 group of a table", "up to 0"),
        (Person("id"), "all rows that carry the same id count as one", "only a bounded part"),
    ],
)
def test_every_unit_has_its_words(unit, said, never):
    text = read(page(table(), unit=unit)).text
    assert said in text
    assert never not in text
    assert ("The number of" in text) == (unit.relation == "replace_one")
    assert ("People with several rows are protected less" in text) == isinstance(unit, Row)


def test_with_delta_it_speaks_of_tests_and_not_of_beliefs():
    loss = PrivacyLoss.approximate(1, 1e-6)
    text = read(page(table(), loss=loss, epsilon=1.0, delta=1e-6, budget=Budget(2, 1e-5))).text
    assert "up to a remainder of 1e-6" in text
    assert "says yes in at most 13.6% of those where it is" in text
    assert "likely before" not in text
    assert "no exceptions" not in text
    assert "Numerical accounting" in text
    assert "Shares are counted in rho" in text


def test_the_budget_is_rounded_against_us():
    html = page(table(), spent=1 / 3)
    text = read(html).text
    assert "33.4% spent" in text
    assert "66.6% left" in text
    assert 'aria-label="33.4% of the budget is spent and 66.6% is left."' in html
    assert '<rect class="part" width="333.3"' in html
    assert "Shares are counted" not in text


def test_hostile_text_stays_text():
    made = answer(
        keys={HOSTILE: (HOSTILE, HOSTILE + "2")},
        columns={
            HOSTILE + "c": counts(3, 4, method=HOSTILE, unit_note=HOSTILE),
            "w": Estimates(value=(HOSTILE, "b"), low=(None, None), high=(None, None), method=HOSTILE),
        },
        notes=(HOSTILE,),
        parameters={"threshold": 5},
    )
    html = page(
        table(made, name=HOSTILE, title=HOSTILE, question=HOSTILE, files=(HOSTILE, "javascript:alert(1)", "../up.csv")),
        *(table(title=HOSTILE) for _ in range(3)),
        title=HOSTILE,
        description=HOSTILE,
        date=HOSTILE,
        dataset=HOSTILE,
        version=HOSTILE,
        unit=Person(HOSTILE, groups=1, rows=1),
        warnings=(HOSTILE,),
        ledger=HOSTILE,
        entries=(Line(number=1, when=HOSTILE, what=HOSTILE, cost=HOSTILE, hash=HOSTILE),),
        reproduce=HOSTILE,
    )
    reader = read(html)
    assert "&lt;script&gt;" in html
    assert "{{ 7 * 7 }}" in reader.text
    assert "東京" in reader.text
    assert "./javascript%3Aalert%281%29" in reader.links


def test_nothing_refers_to_the_world():
    html = page(*[table()] * 4, epsilon=2.0)
    assert "http://" not in html
    assert "https://" not in html


@pytest.mark.parametrize("key", ["a style = b", "javascript:x", "url(x)", 'x" onload=y', "a/src=b", "<svg>"])
def test_keys_that_look_like_markup_are_drawn_all_the_same(key):
    made = answer(keys={key: (key, "b")}, columns={key + "n": counts(3, 4)})
    html = page(table(made))
    assert html.count("<figure") == 1
    assert key in read(html).text


def test_keys_cannot_turn_the_page_around():
    made = answer(keys={"city": ("\u202eevil\x1b[2J", "תל אביב")})
    html = page(table(made))
    assert "\u202e" not in html
    assert "\x1b" not in html
    assert "<bdi>תל אביב</bdi>" in html
    assert "\\u202eevil" in html


@pytest.mark.parametrize("count", [0, 1, 3, 4, 12])
def test_any_number_of_tables(count):
    reader = read(page(*[table(title=f"Number {k}") for k in range(count)], epsilon=0.5 * max(count, 1)))
    assert f"{count} table{'' if count == 1 else 's'}" in reader.text
    assert ("Nothing was published in this report." in reader.text) == (count == 0)
    assert ("nav" in reader.tags) == (count > 3)
    assert [link for link in reader.links if link.startswith("#")] == [
        f"#table-{k + 1}" for k in range(count) if count > 3
    ]
    assert {link[1:] for link in reader.links if link.startswith("#")} <= set(reader.ids)


def test_one_row_needs_no_picture():
    made = answer(keys={}, columns={"n": counts(7)})
    html = page(table(made))
    assert "<figure" not in html
    assert "7</td><td" in html
    assert "1 row." in read(html).text


def test_a_table_of_which_no_group_may_be_shown():
    made = answer(keys={"city": ()}, columns={"n": counts()}, parameters={"threshold": 40})
    html = page(table(made))
    text = read(html).text
    assert "No group of this table may be shown." in text
    assert "A city appears when about 40 people or more are in it" in text
    assert "<figure" not in html


def test_numbers_beyond_all_floats_are_shown_and_not_drawn():
    made = answer(columns={"n": counts(10**400, 5)})
    assert "1e400" in read(page(table(made))).text


def test_many_rows_are_cut_and_the_file_is_named():
    rows = range(10_000)
    made = answer(keys={"id": tuple(rows)}, columns={"n": counts(*rows)})
    html = page(table(made))
    reader = read(html)
    assert html.count('<td class="spread">') == 200
    assert "The first 200 of 10,000 rows." in reader.text
    assert "All 10,000 rows are in cities.csv." in reader.text
    assert "The first 40 of 10,000 rows: n by id" in reader.text
    assert "with 10,000 values" in reader.text
    assert len(html) < 400_000
    assert "The other 9,800 rows are not on this page." in read(page(table(made, files=()))).text


def test_wide_tables_are_cut_into_parts_that_fit_on_paper():
    made = answer(columns={f"a_rather_long_name_{k}": counts(10**6 + k, k) for k in range(30)})
    html = page(table(made))
    reader = read(html)
    assert "Columns 1 to " in reader.text
    assert " of 30. 2 rows." in reader.text
    assert html.count("<bdi>Oslo</bdi></th>") == html.count('<table class="released"') > 3
    for group in re.findall(r"<colgroup>(.*?)</colgroup>", html):
        widths = [float(width) for width in re.findall(r"width: ([\d.]+)%", group)]
        assert 95 < sum(widths) < 105
        assert min(widths) > 0


def test_missing_numbers_and_open_intervals():
    spend = Estimates(value=(41.25, None, 3.5), low=(40.0, None, 0.0), high=(42.5, None, None), method="a new method")
    made = answer(keys={"city": ("Oslo", None, "")}, columns={"n": counts(5, None, 7), "spend": spend})
    text = read(page(table(made))).text
    assert "(none)" in text
    assert "(empty)" in text
    assert "— stands where no number can be told from noise." in text
    assert "from 0" in text
    assert "with 4 values" in text
    assert "a new method" in text
    assert "All 3 rows: n and spend by city" in text


def test_words_that_were_chosen_have_no_interval():
    words = Estimates(
        value=("meal", "shop"), low=(None, None), high=(None, None), method="exponential mechanism, one after another"
    )
    made = answer(columns={"kind_1": words, "kind_2": words})
    html = page(table(made))
    text = read(html).text
    assert "kind_1, kind_2: chosen at random, frequent values more often; a choice has no interval" in text
    assert "Durfee and Rogers" in text
    assert "Beside each number" not in text
    assert "<figure" not in html


def test_the_threshold_is_said_in_words():
    loss = PrivacyLoss.approximate(0.2, 1e-7) + PrivacyLoss.laplace(0.3)
    made = answer(
        loss=loss,
        parameters={"threshold": 1037, "groups_not_shown": 12},
        notes=("Groups with few members are left out; a missing group is not an empty one.", "Another note."),
    )
    text = read(page(table(made), loss=loss, epsilon=0.6, delta=1e-6)).text
    assert "A city appears when about 1,037 people or more are in it; a missing one is not an empty one." in text
    assert "About 12 groups are not shown; this number has noise as well." in text
    assert text.count("not an empty one") == 1
    assert "Another note." in text
    assert "Desfontaines, Voss, Gipson and Mandayam" in text
    both = answer(keys={"age": (1, 2), "city": ("a", "b")}, parameters={"threshold": 1})
    assert "A combination of age and city appears when about 1 person or more is in it" in read(page(table(both))).text
    noisy = PrivacyLoss.approximate(0, 1e-7) + PrivacyLoss.laplace(0.3)
    other = answer(keys={"age": (1, 2)}, parameters={"threshold": 9}, loss=noisy)
    text = read(page(table(other), unit=Row())).text
    assert "An age appears when about 9 rows or more are in it" in text
    assert "Korolova" in text


def test_the_expected_number_of_misses_is_said_where_there_is_one():
    many = answer(keys={"id": tuple(range(50))}, columns={"n": counts(*range(50))})
    assert "Of the 50 in this table, up to 3 are expected to miss" in read(page(table(many))).text
    assert "expected to miss" not in read(page(table())).text


def test_the_picture_has_words_and_no_more_than_forty_rows():
    made = answer(keys={"id": tuple(range(60))}, columns={"n": counts(*range(60))})
    html = page(table(made))
    assert (
        html.count('role="img" aria-label="The first 40 of 60 rows: n by id, each number with its 95% interval.') == 2
    )
    assert ">39</text>" in html
    assert ">45</text>" not in html


def test_a_seeded_publication_raises_the_banner():
    for html in (page(table(), private=False), page(table(), table(answer(private=False)), epsilon=1.0)):
        text = read(html).text
        assert "NOT PRIVATE: made with a seeded source" in text
        assert "no guarantee" in text
        assert "no seed to steal" not in text
        assert "Protected nobody" in text
    assert "NOT PRIVATE" not in page(table())


def test_true_values_stand_beside_those_of_invented_people():
    exact = {"cities": [{"city": "Bergen", "n": 311}, {"city": "Oslo", "n": 1230}]}
    html = page(table(), exact=exact)
    text = read(html).text
    assert "Oslo1,234± 61,230" in text
    assert "For a demonstration only" in text
    assert "demonstration" not in page(table())


def test_the_ledger_and_the_warnings():
    line = Line(number=7, when="2026-11-16", what="release of cities", cost="epsilon 0.5", hash="9f" * 32)
    text = read(page(table(), ledger="visits.ledger", entries=(line,), warnings=("Amounts are cut.",))).text
    assert "in the ledger visits.ledger" in text
    assert f"release of cities{'9f' * 32}epsilon 0.5" in text
    assert "Before you use these numbers Amounts are cut." in text
    assert "ledger" not in read(page(table())).text


def test_dates_and_numbers_are_keys_too():
    made = answer(keys={"day": (date(2026, 1, 1), date(2026, 1, 2)), "year": (2026, True)})
    assert "2026-01-012026" in read(page(table(made))).text


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"epsilon": 0.3}, InvalidParameter, "epsilon must cover the loss"),
        ({"epsilon": -1.0}, InvalidParameter, "at least 0"),
        ({"epsilon": float("nan")}, InvalidParameter, "epsilon"),
        ({"delta": 1.5}, InvalidParameter, "delta"),
        ({"spent": 1.01}, InvalidParameter, "share of the budget"),
        ({"loss": LOSS.under("replace_one")}, RelationMismatch, "add_remove"),
    ],
)
def test_parts_that_contradict_each_other_are_refused(changes, error, message):
    with pytest.raises(error, match=message):
        publication(table(), **changes)


def test_a_publication_does_not_change():
    with pytest.raises(FrozenInstanceError):
        publication().title = "other"
