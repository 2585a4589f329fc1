"""The page that ``discreet account --plot`` writes: real files, whose pictures and numbers are the library's."""

import html
import json
import re

import pytest
from typer.testing import CliRunner

from discreet import PrivacyLoss
from discreet.accounting.queries import noise_per_query
from discreet.cli.app import app
from discreet.report.words import bound, least, noise

PLAN = "50 * laplace(0.1)"
LOSS = 50 * PrivacyLoss.laplace(0.1)


def run(*arguments):
    return CliRunner().invoke(app, ["account", *arguments])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    page = tmp_path_factory.mktemp("costs") / "new" / "page.html"
    result = run(PLAN, "--delta", "1e-5", "--people", "40000", "--plot", str(page))
    assert result.exit_code == 0, result.output
    return result.output, page.read_text(encoding="utf-8")


def texts(svg):
    return [html.unescape(text) for text in re.findall(r"<text[^>]*>(.*?)</text>", svg, re.DOTALL)]


@pytest.fixture(scope="module")
def pictures(made):
    found = re.findall(r"<svg.*?</svg>", made[1], re.DOTALL)
    assert len(found) == 5
    return dict(zip(("growth", "build up", "profile", "tradeoff", "queries"), map(texts, found), strict=True))


def test_it_is_one_file_that_fetches_nothing(made):
    output, page = made
    assert "page.html" in output
    assert "<script" not in page
    assert "http://" not in page
    assert "https://" not in page
    assert not re.search(r"<(img|link|iframe|object)\b", page)


def test_the_numbers_are_the_librarys(made):
    low, high = LOSS.bounds(1e-5)
    assert f"<dd>{bound(high)}</dd>" in made[1]
    assert f"<dd>{least(low)} at least</dd>" in made[1]
    for route in LOSS.routes(1e-5):
        assert route.name in made[1]
        assert bound(route.epsilon) in made[1]
    for k in (1, 10, 100, 1000):
        found = noise_per_query(k, epsilon=high, delta=1e-5)
        for value in (found.basic, found.concentrated, found.gaussian):
            assert f'<td class="figure">{noise(value)}</td>' in made[1]
    assert "±100" in made[1]


def test_epsilon_grows_by_every_theorem_and_the_limit_is_called_one(pictures):
    at_100 = (100 * PrivacyLoss.laplace(0.1)).epsilon(1e-5)
    assert f"discreet {at_100:.4g}" in pictures["growth"]
    assert "basic composition 10" in pictures["growth"]
    for name in ("advanced composition", "optimal composition", "zCDP", "Renyi", "central limit, about"):
        assert any(text.startswith(name) for text in pictures["growth"])
    assert f"this plan: {bound(LOSS.epsilon(1e-5))}" in pictures["growth"]


def test_the_loss_is_shown_once_and_repeated(pictures):
    titles = [text for text in pictures["build up"] if "mean" in text]
    assert [title.split(":")[0] for title in titles] == ["once", "10 repetitions", "100 repetitions"]
    assert f"epsilon {bound((10 * PrivacyLoss.laplace(0.1)).epsilon(1e-5))}" in pictures["build up"]


def test_the_guarantee_is_shown_in_two_ways(pictures):
    assert f"epsilon {LOSS.epsilon(1e-5):.4g} at delta 1e-05" in pictures["profile"]
    assert "perfect privacy" in pictures["tradeoff"]
    assert any("5% false alarms" in text for text in pictures["tradeoff"])


def test_queries_stand_beside_the_sampling_error(made, pictures):
    for name in ("Laplace, epsilons add", "Laplace, zCDP", "Gaussian, analytic", "sampling error, n = 40,000"):
        assert name in pictures["queries"]
    assert "privacy noise drowns in sampling noise" in made[1]


def test_the_command_on_the_page_is_the_one_that_was_given(made):
    assert html.escape(
        "discreet account '50 * laplace(0.1)' --delta 1e-05 --people 40000", quote=False
    ) in html.unescape(made[1])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((PLAN, "--delta", "0", "--plot", "page.html"), "delta above 0"),
        (("laplace(0)", "--plot", "page.html"), "neither 0 nor infinite"),
        (("nonsense", "--plot", "page.html"), "no meaning"),
        ((), "say what is released"),
        ((PLAN, "--config", "x.json"), "say what is released"),
    ],
)
def test_what_cannot_be_drawn_is_said_and_leaves_no_file(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.output
    assert not list(tmp_path.iterdir())


def test_a_page_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    result = run("laplace(1)", "--plot", str(tmp_path / "file" / "page.html"))
    assert result.exit_code == 2
    assert "Name another one: --plot page.html" in result.output


def test_infinity_is_valid_json():
    record = json.loads(run("gaussian(sigma=1)", "--delta", "0", "--json").output, parse_constant=pytest.fail)
    assert record["epsilon"] == "infinite"
