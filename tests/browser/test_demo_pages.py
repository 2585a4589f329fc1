"""The pages of the demo in a real browser: the whole job of a curator, from a bare table to what is handed over."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from typer.testing import CliRunner

from discreet.cli.app import app

pytestmark = pytest.mark.xdist_group("demo pages")  # what they look at is made once


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("demo") / "town"
    result = CliRunner().invoke(app, ["demo", "--output", str(made), "--size", "3000"])
    assert result.exit_code == 0, result.output
    return made


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("page_of", ["preview.html", "out/report.html"])
def test_pages_are_accessible_silent_and_fit(browser, folder, page_of, width, scheme):
    page = browser.new_page(viewport={"width": width, "height": 900})
    said, asked = [], []
    page.emulate_media(color_scheme=scheme)
    page.on("console", lambda message: said.append(message.text))
    page.on("request", lambda request: asked.append(request.url))
    url = (folder / page_of).as_uri()
    page.goto(url)
    assert asked == [url]
    assert said == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.close()


def test_links_of_the_report_lead_to_its_files(browser, folder):
    page = browser.new_page()
    page.goto((folder / "out" / "report.html").as_uri())
    names = page.eval_on_selector_all("a[href]", "all => all.map(a => a.getAttribute('href'))")
    linked = {name.removeprefix("./") for name in names if not name.startswith("#")}
    assert {"districts.csv", "districts.parquet"} <= linked
    assert all((folder / "out" / name).is_file() for name in linked)
    page.close()
