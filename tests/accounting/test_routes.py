"""Routes: every theorem that applies is listed, none that lies is chosen, and none lies below the truth."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from html.parser import HTMLParser

import pytest
from accounting_reference import divergence, losses, responses
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.accounting import PrivacyLoss
from discreet.accounting.routes import NO_DIRECTION, Route, Routes, routes
from discreet.errors import InvalidParameter, NoTheorem

COMPOSED = {"basic composition", "advanced composition", "advanced, sharper drift", "heterogeneous"}
RENYI = {"Renyi", "Renyi, improved"}
AMPLIFIED = {"amplified (epsilon, delta)"}
CURVES = {"zCDP", "zCDP, best order", "Renyi", "Renyi, improved"}


def names(loss, delta=1e-6):
    return {route.name for route in routes(loss, delta)}


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (50 * PrivacyLoss.pure(0.1), COMPOSED | CURVES | {"optimal composition", "central limit"}),
        (PrivacyLoss.pure(0.1) + PrivacyLoss.laplace(0.2), COMPOSED | CURVES | {"central limit"}),
        (PrivacyLoss.laplace(0.1), COMPOSED | CURVES | {"optimal composition", "Laplace noise"}),
        (PrivacyLoss.randomized_response(1, 5), COMPOSED | CURVES | {"optimal composition", "randomised response"}),
        (9 * PrivacyLoss.approximate(0.1, 1e-9), COMPOSED | {"optimal composition"}),
        (PrivacyLoss.approximate(0.1, 1e-9) + PrivacyLoss.pure(1), COMPOSED),
        (PrivacyLoss.approximate(0.1, 1e-3), set()),
        (3 * PrivacyLoss.gaussian(1), CURVES | {"Gaussian DP"}),
        (PrivacyLoss.gaussian(1) + PrivacyLoss.laplace(1), CURVES),
        (PrivacyLoss.zcdp(0.1), CURVES),
        (PrivacyLoss(), COMPOSED | CURVES),
        (PrivacyLoss.bounded_range(1), COMPOSED | CURVES | {"optimal composition", "bounded range"}),
        (9 * PrivacyLoss.bounded_range(1), COMPOSED | CURVES | {"optimal composition", "central limit"}),
        (PrivacyLoss.shuffled(0.5, 10**4), COMPOSED | CURVES | {"optimal composition", "shuffling"}),
        (PrivacyLoss.renyi_curve([(2, 0.1), (9, 0.2)]), RENYI),
        (9 * PrivacyLoss.gaussian_mixture([0, 1], [0.5, 0.5]), CURVES),
        (
            99 * PrivacyLoss.gaussian(1).sampled(0.01),
            RENYI | AMPLIFIED | {"Renyi, Poisson sample", "DP-SGD by hand", "central limit"},
        ),
        (
            9 * PrivacyLoss.gaussian(1).sampled(0.01, scheme="without_replacement"),
            RENYI | AMPLIFIED | {"Renyi, fixed sample"},
        ),
        (
            PrivacyLoss.gaussian(1).sampled(0.01) + PrivacyLoss.gaussian(1).sampled(0.02),
            RENYI | {"Renyi, Poisson sample"},
        ),
        (PrivacyLoss.gaussian(1).sampled(0.01, most=99, records=999), set()),
    ],
)
def test_what_applies_is_listed(loss, expected):
    assert names(loss) == expected | {"discreet"}


def test_without_delta_only_what_needs_none_is_listed():
    assert names(5 * PrivacyLoss.pure(1), 0) == {"basic composition", "optimal composition", "discreet"}
    assert routes(PrivacyLoss.gaussian(1), 0).best.epsilon == math.inf


def test_values_are_those_of_the_theorems():
    found = {route.name: route.epsilon for route in routes(50 * PrivacyLoss.pure(Fraction(1, 10)), 1e-5)}
    assert found["basic composition"] == 5
    assert found["advanced composition"] == pytest.approx(3.918924802585794)
    assert found["advanced, sharper drift"] == pytest.approx(3.642862086996956)
    assert found["optimal composition"] == pytest.approx(2.844667, abs=1e-6)


def test_values_on_samples():
    """The textbook's way through a training run, far above the rest, and each theorem for samples by itself."""
    run = 1000 * PrivacyLoss.gaussian(mu=Fraction(1, 4)).sampled(Fraction(1, 100))
    found = {route.name: route for route in routes(run, 2e-6)}
    assert found["DP-SGD by hand"].epsilon == pytest.approx(4.22008, abs=1e-4)
    assert found["DP-SGD by hand"].note == "delta' = 1e-06"
    worked = 1000 * PrivacyLoss.gaussian(mu=Fraction(10, 11)).sampled(Fraction(1, 100))
    found = {route.name: route for route in routes(worked, 1e-5)}
    assert found["Renyi, Poisson sample"].epsilon == pytest.approx(1.725291, abs=1e-5)
    assert found["central limit"].valid is False
    drawn = PrivacyLoss.pure(1).sampled(Fraction(1, 100), scheme="without_replacement")
    found = {route.name: route for route in routes(drawn, 1e-9)}
    assert found["amplified (epsilon, delta)"].epsilon == pytest.approx(0.0170368632, abs=1e-7)
    assert all(route.epsilon >= drawn.epsilon(1e-9) * (1 - 1e-9) for route in found.values())


@given(st.lists(st.sampled_from([0.05, 0.2, 0.5, 1.1]), min_size=1, max_size=7), st.sampled_from([0.2, 1e-2, 1e-4]))
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_no_valid_route_undercharges(several, delta):
    p, q = responses(*several)
    for route in routes(sum((PrivacyLoss.pure(e) for e in several), PrivacyLoss()), delta):
        assert not route.valid or divergence(p, q, route.epsilon) <= delta + 1e-14


@given(losses, st.sampled_from([0, 1e-9, 1e-3]))
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
def test_every_loss_has_routes_and_the_best_is_valid(loss, delta):
    found = routes(loss, delta)
    assert found.best.valid
    assert all(found.best.epsilon <= route.epsilon for route in found if route.valid)
    assert all(route.epsilon >= 0 for route in found)
    assert repr(found)
    assert found._repr_html_()


def test_an_approximation_is_labelled_and_never_chosen():
    found = routes(3 * PrivacyLoss.pure(2), 0.05)
    (about,) = (route for route in found if not route.valid)
    assert about.note.startswith(NO_DIRECTION)
    tempting = Routes((*found, replace(about, epsilon=0.0)), found.loss, found.delta)
    assert tempting.best == found.best
    with pytest.raises(NoTheorem):
        _ = Routes((about,), found.loss, found.delta).best


def test_extreme_losses_are_listed_as_far_as_they_can_be():
    found = routes(PrivacyLoss.pure(1e-200) + PrivacyLoss.laplace(2e-200), 1e-9)
    assert found.best.epsilon <= 4e-200
    assert names(10**7 * PrivacyLoss.pure(1e-3)) >= {"basic composition", "zCDP"}
    assert "optimal composition" not in names(10**7 * PrivacyLoss.pure(1e-3))


def test_it_reads_like_a_tuple_and_like_a_table():
    found = routes(PrivacyLoss.laplace(1), 0.01)
    assert len(found) == len(list(found))
    assert isinstance(found[0], Route)
    assert found[-2:] == tuple(found)[-2:]
    assert found[0] in found
    lines = str(found).splitlines()
    assert lines[0] == "PrivacyLoss.laplace(epsilon=1) at delta=0.01"
    assert lines[1].split() == ["theorem", "epsilon", "note", "paper"]
    assert len(lines) == 2 + len(found)
    (starred,) = (line for line in lines if line.startswith("*"))
    assert found.best.name in starred
    assert max(map(len, lines)) < 140


def test_the_html_is_whole_and_escaped():
    loss = PrivacyLoss.laplace(1)
    text = Routes((Route("<i>", 1.0, True, "a & b", "'x'"),), loss, Fraction(0))._repr_html_()
    assert "<i>" not in text
    assert "a &amp; b" in text
    opened = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            opened.append(tag)

        def handle_endtag(self, tag):
            assert opened.pop() == tag

    Reader().feed(routes(loss, 0.01)._repr_html_())
    assert not opened


def test_numbers_are_shown_rounded_up():
    shown = Routes((Route("a", 0.12341, True, "", ""),), PrivacyLoss(), Fraction(0))
    assert "0.1235" in repr(shown)
    assert "5.0000" in repr(routes(50 * PrivacyLoss.pure(0.1), 0))


@dataclass(frozen=True)
class Unknown:
    """A kind of a later version: one whose divergences are known for small orders alone."""

    kind = "unknown"
    pure = None
    rho = None

    def delta(self, epsilon):
        return 0.5

    def renyi(self, alpha):
        if alpha > 5:
            raise NoTheorem("orders up to 5.")
        return 0.1

    def pair(self):
        return None

    def group(self, size):
        return self


def test_terms_of_later_kinds_skip_what_they_do_not_know():
    loss = PrivacyLoss(((Unknown(), 1),))
    assert CURVES.isdisjoint({route.name for route in _routes_without_own(loss)})


def _routes_without_own(loss):
    from discreet.accounting.routes import _adding, _concentrated, _exactly

    offers = [*_adding(loss, Fraction(1, 10)), *_concentrated(loss, Fraction(1, 10)), *_exactly(loss, Fraction(1, 10))]
    return [Route(name, float(theorem()), True, note, paper) for name, theorem, note, paper in offers]


@pytest.mark.parametrize(
    "call", [lambda: routes(1, 0.1), lambda: routes(PrivacyLoss(), 1), lambda: routes(PrivacyLoss(), -1)]
)
def test_bad_input_is_refused(call):
    with pytest.raises(InvalidParameter):
        call()
