"""The parts of a publication: its picture, its citations, its widths."""

import json
import re

import pytest

from discreet.accounting import Budget, PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.plots import svg
from discreet.plots.intervals import Panel, intervals
from discreet.report import citations, papers
from discreet.report.exhibit import Exhibit
from discreet.report.figure import Figure
from discreet.session.answer import Answer
from discreet.session.estimates import Estimates
from discreet.units import Person, Row

LOSS = PrivacyLoss.laplace(1)


def estimates(*values, off=1.0, **parts):
    return Estimates(value=values, low=tuple(v - off for v in values), high=tuple(v + off for v in values), **parts)


def exhibit(columns, keys=None, **parts):
    keys = {"city": ("Oslo", "Bergen")} if keys is None else keys
    return Exhibit(Answer(keys=keys, columns=columns, level=0.95, loss=LOSS, **parts), number=1, title="", question="")


def marks(chart):
    """Return the kinds of marks that a picture has, and all domains of its scales."""
    text = json.dumps(chart.to_dict())
    return {kind for kind in ("bar", "point", "rule", "tick", "text") if f'"type": "{kind}"' in text}


def test_amounts_are_bars_and_others_are_points():
    bars = Panel(name="n", values=[1, 2], lows=[0, 1], highs=[2, 3])
    points = Panel(name="mean", values=[1, None], lows=[0, None], highs=[None, None], amounts=False)
    assert marks(intervals(["a", "b"], [bars], description="x")) == {"bar", "rule", "tick", "text"}
    assert marks(intervals(["a", "b"], [points], description="x")) == {"point", "rule", "tick", "text"}


@pytest.mark.parametrize("width", [330, 800])
@pytest.mark.parametrize("stacked", [False, True])
def test_pictures_have_the_width_they_were_given_and_can_only_draw(width, stacked):
    panels = [Panel(name=f"n{k}", values=[5, 1e6], lows=[-3, 9e5], highs=[9, 2e6]) for k in range(3)]
    drawn = svg(intervals(["a", "b" * 50], panels, description='a "picture"', width=width, stacked=stacked))
    assert width - 12 < int(re.search(r' width="(\d+)"', drawn)[1]) <= width + 2
    assert 'aria-label="a &quot;picture&quot;"' in drawn
    Figure(svg=drawn, caption="it is allowed on a page")


@pytest.mark.parametrize("values", [[0, 0], [-5, -5], [None, None], [0.0, 1e-300], [1e300, -1e300]])
@pytest.mark.parametrize("amounts", [False, True])
def test_no_numbers_are_too_strange_to_draw(values, amounts):
    panel = Panel(name="n", values=values, lows=[None, None], highs=[None, None], amounts=amounts)
    assert "NaN" not in svg(intervals(["a", "b"], [panel], description="x"))


def test_pictures_that_would_mislead_are_refused():
    panel = Panel(name="n", values=[1, 2], lows=[0, 1], highs=[2, 3])
    with pytest.raises(InvalidParameter, match="differ"):
        intervals(["a", "a"], [panel], description="x")
    with pytest.raises(InvalidParameter, match="same length"):
        intervals(["a"], [panel], description="x")
    with pytest.raises(InvalidParameter, match="at least one"):
        intervals([], [], description="x")


def test_sums_are_drawn_as_amounts_and_means_are_not():
    uneven = Estimates(value=(1.0, 2.0), low=(0.0, 1.9), high=(2.5, 2.1))
    sums = exhibit({"spent": estimates(1000.5, 20.25)}).pictures[0].svg
    means = exhibit({"mean": uneven}).pictures[0].svg
    assert "mark-rect role-mark" in sums
    assert "mark-symbol role-mark" not in sums
    assert "mark-symbol role-mark" in means


def test_keys_that_look_the_same_have_rows_of_their_own():
    made = exhibit({"n": estimates(1, 2, 3, off=1)}, keys={"k": ("1", 1, "x" * 80), "l": (None, None, None)})
    drawn = made.pictures[0].svg
    assert ">1, (none)</text>" in drawn
    assert ">1, (none) (2)</text>" in drawn


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 30])
def test_widths_cover_the_page_and_follow_the_panels(columns):
    made = exhibit({f"n_{k}": estimates(1000 + k, 20, off=3) for k in range(columns)})
    for part in made.layout.parts:
        assert sum(part.widths) == pytest.approx(100, abs=2)
        assert len(part.widths) == sum(head.span for head in part.heads) == len(part.rows[0])
    assert sum(len(part.heads) - 1 for part in made.layout.parts) == columns
    if columns == 3:
        key, *rest = made.layout.parts[0].widths
        blocks = [a + b for a, b in zip(rest[::2], rest[1::2], strict=True)]
        assert max(blocks) - min(blocks) < 0.1
        assert key + sum(blocks) == pytest.approx(100, abs=0.1)


def test_accuracy_does_not_hide_rows_without_an_interval():
    e = Estimates(value=(1.0, 2.0, 3.0, None), low=(0.5, 1.0, None, None), high=(1.5, 3.0, None, None))
    made = exhibit({"mean": e}, keys={"k": (1, 2, 3, 4)})
    assert made.accuracy[0][1] == (
        "half of the rows within ±1, all within ±1; each in 19 of 20 releases; of 1 no interval is known"
    )


@pytest.mark.parametrize(
    ("method", "name", "paper"),
    [
        ("integer Laplace noise, scale 2", "Integer Laplace noise", papers.GEOMETRIC),
        ("discrete Gaussian noise, sigma 4", "Discrete Gaussian noise", papers.DISCRETE_GAUSSIAN),
        ("exponential mechanism", "Exponential mechanism", papers.EXPONENTIAL),
        ("exponential mechanism, one after another", "Exponential mechanism, one after another", papers.TOP),
        ("tree of noisy counts", "Tree of noisy counts", papers.TREE),
    ],
)
def test_every_mechanism_of_a_session_has_its_paper(method, name, paper):
    found = citations.mechanisms(exhibit({"n": estimates(1, 2, off=1, method=method)}).answer)
    first = next(iter(found))
    assert first.name == name
    assert paper in first.papers
    assert found[first] == ("n",)


def test_mechanisms_are_named_once_with_all_their_columns():
    both = "discrete Gaussian noise, sigma 4; discrete Gaussian noise, sigma 2"
    made = exhibit({"a": estimates(1, 2, off=1, method=both), "b": estimates(1, 2, off=1, method="no noise: public")})
    assert {one.name: columns for one, columns in citations.mechanisms(made.answer).items()} == {
        "Discrete Gaussian noise": ("a",)
    }


def test_persons_are_bounded_and_rows_are_not():
    assert citations.bounding(Row()) is None
    assert papers.BOUNDING in citations.bounding(Person("id")).papers


@pytest.mark.parametrize("rule", ["basic", "zcdp", "renyi", "gdp"])
def test_every_filter_has_its_paper(rule):
    total, budget = citations.accounting(PrivacyLoss.gaussian(mu=1), Budget(2, 1e-6, filter=rule))
    assert total.name == "Numerical accounting"
    assert budget.papers
