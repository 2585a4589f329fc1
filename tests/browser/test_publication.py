"""A publication in a real browser: accessible, printable, silent, and no wider than the window."""

import pyarrow as pa
import pytest

import discreet as dp
from discreet.accounting import PrivacyLoss
from discreet.datasets import visits
from discreet.datasets.visits import KINDS
from discreet.report.publication import Line, Publication, Published, render_publication
from discreet.session.answer import Answer
from discreet.session.estimates import Estimates
from discreet.tables import Bounds, Values

WIDTHS = (360, 1280)
SCHEMES = ("light", "dark")


def queries(session):
    return {
        "cities": "SELECT city, COUNT(*) AS visits, AVG(amount) AS mean_spent FROM visits GROUP BY city",
        "kinds": "SELECT kind, COUNT(DISTINCT user_id) AS people, MEDIAN(amount) AS median FROM visits GROUP BY kind",
        "year": "SELECT COUNT(*) AS visits, SUM(amount) AS spent, AVG(age) AS mean_age FROM visits",
        "favourites": session.query.group_by("city").agg(
            favourite=dp.top_k("kind", 2), people=dp.count_distinct("user_id")
        ),
    }


def wide():
    """Many columns, long keys, right-to-left keys, and numbers that are missing."""
    ends = {"value": (1_000_001, None, 3), "low": (999_990, None, -8), "high": (1_000_012, None, 14)}
    return Answer(
        keys={"place": ("תל אביב", "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch" * 2, None)},
        columns={f"number_of_visitors_{k}": Estimates(**ends, method="integer Laplace noise") for k in range(30)},
        level=0.95,
        loss=PrivacyLoss.laplace(0.1),
    )


@pytest.fixture(scope="module")
def html():
    year = visits(rows=60_000, users=6_000, cities=60)
    data = pa.table({name: pa.array(column.tolist()) for name, column in year.table.items()})
    unit, budget = dp.Person("user_id", groups=3, rows=4), dp.Budget(8, 1e-6)
    schema = {"amount": Bounds(0, 200), "kind": Values(list(KINDS)), "age": Bounds(16, 95)}
    with dp.Session(data, name="visits", schema=schema, unit=unit, budget=budget) as session:
        answers = {name: session.release(query, epsilon=1) for name, query in queries(session).items()}
        asked = {name: str(query) for name, query in queries(session).items()}
        spent = float(session.spent / session.account.rule.limit)
    answers["wide"] = wide()
    loss = PrivacyLoss.total([answer.loss for answer in answers.values()])
    return render_publication(
        Publication(
            title="Visits in 2026",
            description="Where people went, what for, and what they spent.",
            date="16 November 2026",
            dataset="visits",
            version="2026-11",
            size=60_000,
            unit=unit,
            loss=loss,
            epsilon=loss.epsilon(1e-6),
            delta=1e-6,
            budget=budget,
            spent=spent,
            tables=tuple(
                Published(
                    name=name,
                    title=f"The table of {name}",
                    question=asked.get(name, "Anything?"),
                    answer=answer,
                    files=(f"{name}.csv",),
                )
                for name, answer in answers.items()
            ),
            warnings=("Amounts above 200 count as 200.",),
            ledger="visits.ledger",
            entries=(Line(number=7, when="2026-11-16 10:00 UTC", what="release", cost="rho 0.1", hash="9f" * 32),),
            reproduce="discreet release release.yaml",
        )
    )


@pytest.fixture
def opened(browser, html, tmp_path):
    """Opens the page at a width, and holds what it said and asked for."""
    file = tmp_path / "report.html"
    file.write_text(html, encoding="utf-8")
    pages = []

    def open_page(width, scheme="light"):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(file.as_uri())
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_everybody_can_read_it(opened, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = opened(width, scheme)
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()
    assert len(results.response["passes"]) > 15


@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits_says_nothing_and_fetches_nothing(opened, width):
    page = opened(width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("window.scrollTo(10000, 0)")
    assert page.evaluate("window.scrollX") == 0
    assert page.said == []
    assert [url.rpartition("/")[2] for url in page.asked] == ["report.html"]


@pytest.mark.parametrize(("width", "shown"), [(360, ".for-narrow"), (1280, ".for-wide")])
def test_one_picture_is_shown_for_each_table_and_it_fits(opened, width, shown):
    page = opened(width)
    for name in (".for-narrow", ".for-wide"):
        pictures = page.locator(f"{name} > svg")
        assert pictures.count() == 4
        for place in range(4):
            assert pictures.nth(place).is_visible() == (name == shown)
    for place in range(4):
        box = page.locator(f"{shown} > svg").nth(place).bounding_box()
        assert box["x"] + box["width"] <= width


def test_panels_stand_above_their_columns(opened):
    page = opened(1280)
    table = page.locator("#table-1")
    for name in ("visits", "mean_spent"):
        drawn = table.locator(".for-wide text", has_text=name).first.bounding_box()
        head = table.locator("thead th", has_text=name).first.bounding_box()
        assert abs(drawn["x"] - head["x"]) < 12


def test_wide_tables_scroll_by_themselves_and_by_keyboard(opened):
    page = opened(360)
    wide = page.locator("#table-5 .scroll").first
    assert wide.evaluate("box => box.scrollWidth > box.clientWidth")
    wide.focus()
    page.keyboard.press("ArrowRight")
    for _ in range(100):
        if moved := wide.evaluate("box => box.scrollLeft"):
            break
        page.wait_for_timeout(20)
    assert moved > 0


def test_contents_lead_to_tables(opened):
    page = opened(1280)
    page.get_by_role("link", name="The table of year").click()
    assert 0 <= page.locator("#table-3").bounding_box()["y"] < 100


def test_it_prints(opened):
    page = opened(1280, "dark")
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    assert printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ") > 5
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('#table-2')).breakBefore") == "page"
    assert page.evaluate("getComputedStyle(document.querySelector('tbody tr')).breakInside") == "avoid"


def test_nothing_is_cut_off_on_paper(opened):
    page = opened(658)
    page.emulate_media(media="print")
    outside = page.evaluate(
        """() => [...document.querySelectorAll('main *')]
            .filter(e => !e.closest('svg') && e.getBoundingClientRect().right > innerWidth + 1)
            .map(e => e.tagName + ' ' + e.textContent.slice(0, 40))"""
    )
    assert outside == []
