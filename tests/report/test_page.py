"""The report: complete, honest, self-contained, and deaf to hostile text."""

import re
import sys

import pytest

from discreet.errors import InvalidInput, InvalidParameter, MissingExtra, RelationMismatch
from discreet.report import Figure, Release, render

HOSTILE = "<script>alert('x')</script>\"><img src=http://evil.example/x onerror=alert(1)> Ünïçødé 東京"
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" width="2"><path d="M0,0"/></svg>'


def release(**changes):
    parts = {
        "title": "Smokers",
        "question": "How many people smoke?",
        "value": 3041,
        "error": "within ±24 in 19 of 20 releases",
        "mechanism": "Geometric(sensitivity=1, epsilon=0.125)",
        "relation": "replace_one",
        "epsilon": 0.125,
        "private": True,
    }
    return Release(**(parts | changes))


def page(*releases, **changes):
    parts = {"title": "A report", "dataset_description": "Some people.", "total": 1.0}
    return render(releases, **(parts | changes))


def assert_self_contained(html):
    assert "<script" not in html
    assert not re.search(r"<(img|link|iframe|object|embed|base|form)\b", html)
    assert not re.search(r"\b(src|href|action)\s*=", html.split("</style>")[1])
    assert "http://" not in html
    assert "https://" not in html
    assert "@import" not in html
    assert "url(http" not in html


def test_error_comes_before_epsilon():
    html = page(release())
    assert "3,041" in html
    head = html[html.index("<thead>") :]
    assert head.index("How accurate it is") < head.index("Epsilon")
    assert "within ±24 in 19 of 20 releases" in html
    assert "0.125" in html


def test_is_one_file_that_fetches_nothing():
    html = page(release(), plots=[Figure(svg=DRAWING, caption="A line.")])
    assert_self_contained(html)
    assert "<svg width" in html
    assert "A line." in html
    assert "default-src 'none'" in html


def test_says_what_an_attacker_can_learn_rounded_against_us():
    html = page(release())
    assert "at most 73.2% likely" in html
    assert "no less than 26.8%" in html
    assert "at most 2.7% likely" in html
    assert "2.719 times" in html


def test_with_delta_it_speaks_of_tests_and_not_of_beliefs():
    html = page(release(delta=1e-6), total_delta=1e-6)
    assert "can be right in <strong>at most 13.6%" in html
    assert "no exceptions" not in html
    assert "73.2%" not in html


def test_the_relation_is_said_in_words():
    assert "replace it by any other" in page(release())
    assert "The number of records is public" in page(release())
    other = page(release(relation="add_remove"))
    assert "or add anyone" in other
    assert "The number of records is public" not in other


def test_a_seeded_release_raises_the_banner():
    html = page(release(), release(title="Seeded", private=False))
    assert "NOT PRIVATE: made with a seeded source" in html
    assert "no guarantee" in html
    assert "no seed to steal" not in html
    assert "every person</dd>" not in html
    assert "NOT PRIVATE" not in page(release())


@pytest.mark.parametrize("count", [0, 1, 40])
def test_any_number_of_releases(count):
    html = page(*[release(title=f"Number {k}") for k in range(count)], total=0.125 * count)
    assert html.count('<td data-label="Accuracy">') == count
    assert ("Nothing was published" in html) == (count == 0)
    assert f"{count} number{'' if count == 1 else 's'}<" in html
    assert_self_contained(html)


def test_hostile_text_stays_text():
    html = page(
        release(title=HOSTILE, question=HOSTILE, value={HOSTILE: 3}, error=HOSTILE, mechanism=HOSTILE, unit=HOSTILE),
        release(title="word", value=HOSTILE),
        title=HOSTILE,
        dataset_description=HOSTILE,
        assumptions=[HOSTILE],
        reproduce=HOSTILE,
        date=HOSTILE,
        plots=[Figure(svg=DRAWING, caption=HOSTILE)],
        exact={HOSTILE: {HOSTILE: 4}},
    )
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html
    assert "東京" in html


def test_template_language_in_data_is_not_run():
    assert "{{ 7 * 7 }}" in page(release(question="{{ 7 * 7 }}"))


def test_groups_are_listed():
    html = page(release(title="Districts", value={"north": 1200, "south": -3}))
    assert "2 numbers, below" in html
    assert "1,200" in html
    assert "\N{MINUS SIGN}3" in html


def test_exact_answers_appear_only_when_given_and_are_labelled():
    assert "demo only" not in page(release())
    html = page(release(), exact={"Smokers": 3058})
    assert "3,058" in html
    assert "which a real release never shows" in html


def test_refuses_parts_that_contradict_each_other():
    with pytest.raises(InvalidParameter, match="cover every release"):
        page(release(), total=0.1)
    with pytest.raises(RelationMismatch, match="one neighbour relation"):
        page(release(), release(relation="add_remove"))
    with pytest.raises(InvalidParameter, match="total"):
        page(total=float("nan"))


@pytest.mark.parametrize(
    "svg",
    [
        "",
        "plain text",
        "<svg><script>1</script></svg>",
        "<svg onload=alert(1)></svg>",
        "<svg/onload=alert(1)></svg>",
        "<svg><foreignObject><b></b></foreignObject></svg>",
        '<svg><image href="http://evil.example"/></svg>',
        '<svg><path fill="url(http://evil.example)"/></svg>',
        "<svg><!-- comment --></svg>",
        "<svg></svg><iframe></iframe>",
    ],
)
def test_refuses_a_drawing_that_can_act(svg):
    with pytest.raises(InvalidInput, match="shapes and text alone"):
        Figure(svg=svg, caption="")


def test_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtra, match=r"pip install 'discreet\[report\]'"):
        page(release())
