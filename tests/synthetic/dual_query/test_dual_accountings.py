"""What DualQuery costs, by each theorem, and how its parameters are chosen."""

import math
from fractions import Fraction

import pytest

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.synthetic.dual_query import DualQuery, Queries, practical, records_needed, theoretical
from discreet.synthetic.dual_query.accountings import rho_of, round_epsilon
from discreet.synthetic.dual_query.choice import affordable_rho

ONE = Queries(sizes=(2,), attributes=[[0]], values=[[1]])


def plan(**settings):
    return DualQuery(**{"queries": ONE, "relation": "replace_one", **settings})


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"eta": Fraction(6, 5), "rounds": 170, "samples": 1750, "size": 494021},
            {"pure": 122.126, "advanced": 1.859019, "heterogeneous": 1.029474, "concentrated": 0.489586},
        ),
        (
            {"eta": Fraction(2, 5), "rounds": 100, "samples": 500, "size": 32561},
            {
                "pure": 60.80894321427475,
                "advanced": 2.3046862821217116,
                "heterogeneous": 1.2693118425185193,
                "concentrated": 0.5974464367324,
            },
        ),
    ],
    ids=["kdd99", "adult"],
)
def test_all_theorems_at_published_settings(settings, expected):
    told = plan(**settings).accountings(1e-3)
    for name, value in expected.items():
        assert getattr(told, name) == pytest.approx(value, rel=1e-8, abs=5e-7 if value < 100 else 5e-4)
    assert told.loss < told.concentrated < told.heterogeneous < told.advanced < told.pure


def test_rho_is_the_sum_of_the_squared_ranges_over_eight():
    eta, rounds, samples, size, records = Fraction(2, 5), 9, 7, 50, 3
    spent = [round_epsilon(eta, size, records, t) for t in range(1, rounds + 1)]
    assert spent[0] == 0
    assert rho_of(eta, rounds, samples, size, records) == samples * sum(one**2 for one in spent) / 8
    assert float(rho_of(eta, 100, 500, 32561, 1)) == pytest.approx(0.012388009888763322, rel=1e-12)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_the_loss_is_that_of_all_draws(relation):
    one = plan(eta=0.5, rounds=3, samples=4, size=20, records=2, relation=relation)
    parts = 4 * PrivacyLoss.bounded_range(Fraction(1, 10)) + 4 * PrivacyLoss.bounded_range(Fraction(2, 10))
    assert one.loss == parts.under(relation)
    assert one.loss.epsilon() == pytest.approx(1.2)


def test_a_single_round_costs_nothing_and_reads_nothing():
    one = plan(eta=1, rounds=1, samples=5, size=10)
    assert one.loss.epsilon() == 0
    assert one.accountings(0.1).concentrated == one.accountings(0.1).loss == 0


def test_the_constants_of_the_paper():
    found = theoretical(0.1, queries=1000, log_domain=20 * math.log(2), beta=0.05)
    assert found.rounds == math.ceil(11052.408446371419)
    assert found.samples == math.ceil(128938.68819579255)
    assert found.eta == Fraction(1, 40)


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3])
def test_the_bound_keeps_what_the_theorem_promises(alpha):
    queries = Queries(sizes=(2,) * 20, attributes=[[i] for i in range(20)], values=[[1]] * 20)
    asked = theoretical(alpha, queries=2 * len(queries), log_domain=20 * math.log(2))
    one = DualQuery(
        queries=queries, size=10**6, rounds=asked.rounds, samples=asked.samples, eta=asked.eta, relation="replace_one"
    )
    assert one.error(0.05) <= alpha


def test_records_grow_with_the_third_power_of_one_over_the_error():
    needed = [records_needed(a, 1, 1e-3, queries=10**6, log_domain=100.0) for a in (0.2, 0.1)]
    assert 3.0 < math.log2(needed[1] / needed[0]) < 3.2
    single = records_needed(0.1, 0.5, 1e-3, queries=10**6, log_domain=100.0)
    assert 1.8 < single / needed[1] < 2.2  # n times epsilon is what counts


@pytest.mark.parametrize("size", [50, 3_000, 10**5, 10**8])
@pytest.mark.parametrize("records", [1, 4])
def test_the_practical_choice_stays_within_the_budget(size, records):
    found = practical(0.06, size=size, log_domain=35.0, records=records)
    assert 0 < rho_of(found.eta, found.rounds, found.samples, size, records) <= Fraction(0.06)


@pytest.mark.parametrize("epsilon", [0.01, 1, 20])
def test_a_plan_for_a_budget(epsilon):
    made = DualQuery.for_budget(epsilon, 1e-4, queries=ONE, size=5000, relation="add_remove", records=2)
    assert made.loss.epsilon(1e-4) <= epsilon
    assert PrivacyLoss.zcdp(Fraction(affordable_rho(epsilon, 1e-4))).epsilon(1e-4) <= epsilon


@pytest.mark.parametrize(
    "settings",
    [
        {"eta": 0},
        {"eta": math.nan},
        {"rounds": 0},
        {"samples": 0.5},
        {"size": 0},
        {"records": 0},
        {"size": 1 << 60, "rounds": 2},
    ],
    ids=repr,
)
def test_settings_that_cannot_be(settings):
    with pytest.raises(InvalidParameter):
        plan(**{"eta": 1, "rounds": 2, "samples": 2, "size": 5, **settings})
