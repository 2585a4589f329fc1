"""Budgets and accounts: exact to the last bit, whole or not at all, from one thread or from many."""

import copy
import math
import pickle
import sys
import threading
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import PrivacyLoss
from discreet.accounting.budget import Account, Budget, Cost
from discreet.accounting.filters import Basic, Zcdp
from discreet.accounting.terms import Laplace
from discreet.errors import BudgetExceeded, DiscreetError, InvalidParameter, NoTheorem, RelationMismatch

TENTH = Fraction(1, 10)
MIXED = ["basic", "renyi", "zcdp"]
EVERY = ["basic", "gdp", "renyi", "zcdp"]


def opened(name):
    return Budget(1, 1e-6, filter=name).open()


# Exactness ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [PrivacyLoss.pure, PrivacyLoss.laplace, PrivacyLoss.randomized_response])
def test_ten_tenths_fill_a_budget_of_one(make):
    account = Budget(1).open()
    for _ in range(10):
        account.spend(make(TENTH))
    assert account.remaining == Cost()
    for least in (1e-300, Fraction(1, 2**999)):
        with pytest.raises(BudgetExceeded, match=r"0 of 1 is left\. Nothing was spent"):
            account.spend(make(least))
    account.spend(PrivacyLoss())
    assert account.spent == Cost(Fraction(1))
    assert account.odometer() == (1.0, 0.0)


def test_a_float_is_the_rational_it_is():
    account = Budget(1).open()
    for _ in range(9):
        account.spend(PrivacyLoss.laplace(0.1))
    with pytest.raises(BudgetExceeded):
        account.spend(PrivacyLoss.laplace(0.1))
    assert account.remaining.amount == 1 - 9 * Fraction(0.1)


def test_rhos_and_squares_fill_their_limits():
    rho = Account(Zcdp(Fraction(1, 2)), delta=1e-6)
    for _ in range(10):
        rho.spend(PrivacyLoss.zcdp(Fraction(1, 40)) + PrivacyLoss.gaussian(mu_squared=Fraction(1, 20)))
    assert rho.remaining.amount == 0
    gdp = opened("gdp")
    for _ in range(7):
        gdp.spend(PrivacyLoss.gaussian(mu_squared=gdp.rule.limit / 7))
    assert gdp.remaining.amount == 0
    for account in (rho, gdp):
        with pytest.raises(BudgetExceeded):
            account.spend(PrivacyLoss.gaussian(mu=1e-100))


def test_a_plan_is_one_loss():
    account = Budget(1).open()
    account.spend(10 * PrivacyLoss.laplace(TENTH))
    assert account.remaining.amount == 0


losses = st.one_of(
    st.builds(PrivacyLoss.laplace, st.fractions(0, Fraction(1, 2))),
    st.builds(PrivacyLoss.pure, st.floats(1e-6, 0.5)),
    st.builds(PrivacyLoss.approximate, st.floats(1e-9, 0.3), st.just(0) | st.floats(1e-12, 1e-6)),
    st.builds(PrivacyLoss.gaussian, st.floats(1e-9, 0.3)),
    st.builds(PrivacyLoss.zcdp, st.fractions(0, Fraction(1, 50))),
    st.builds(lambda s: PrivacyLoss.discrete_laplace(sensitivity=1, scale=s), st.floats(1, 100)),
    st.builds(lambda s: PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=s), st.fractions(4, 10**4)),
)
plans = st.builds(lambda parts, k: k * sum(parts, PrivacyLoss()), st.lists(losses, max_size=3), st.integers(0, 3))


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(EVERY), st.lists(losses | plans, max_size=25))
def test_an_account_is_never_overspent_and_refusals_change_nothing(name, sequence):
    account = opened(name)
    total = Cost()
    for loss in sequence:
        before = (account.spent, account.remaining, account.odometer(), account.relation)
        try:
            account.spend(loss)
        except (BudgetExceeded, NoTheorem):
            assert (account.spent, account.remaining, account.odometer(), account.relation) == before
            continue
        single = Budget(1, 1e-6, filter=name).open()
        single.spend(loss)
        total += single.spent
        assert account.spent == total
    limit = Cost(account.rule.limit, account.rule.failures)
    assert total.within(limit)
    assert account.remaining == limit - total
    assert account.remaining.amount >= 0
    assert account.remaining.failure >= 0


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(EVERY), st.lists(st.floats(1e-4, 0.2), max_size=8))
def test_refusal_is_exact(name, spends):
    """What is refused would have exceeded; what is admitted would not: neither by any amount."""
    account = opened(name)
    for size in spends:
        loss = PrivacyLoss.gaussian(size) if name == "gdp" else PrivacyLoss.laplace(size)
        cost = sum((k * account.rule.amount(term) for term, k in loss.terms), Fraction(0))
        fits = account.spent.amount + cost <= account.rule.limit
        try:
            account.spend(loss)
        except BudgetExceeded:
            assert not fits
        else:
            assert fits


# Allowances --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize("before", [0, 1e-3, 0.05, 0.2])
def test_the_largest_epsilon_is_admitted_and_no_more(name, before):
    account = opened(name)
    account.spend(PrivacyLoss.laplace(before))
    allowance = account.largest_epsilon()
    with pytest.raises(BudgetExceeded):
        account.spend(PrivacyLoss.laplace(allowance * Fraction(1000001, 1000000)))
    with pytest.raises(BudgetExceeded):
        account.spend(PrivacyLoss.laplace(allowance * (1 + Fraction(1, 10**12))))
    account.spend(PrivacyLoss.laplace(allowance))
    assert account.remaining.amount <= account.rule.limit * Fraction(1, 10**14)


@pytest.mark.parametrize("name", ["gdp", "renyi", "zcdp"])
@pytest.mark.parametrize("sensitivity", [1, 3, 0.1, Fraction(1, 3), 1e6])
def test_the_smallest_sigma_is_admitted_and_no_less(name, sensitivity):
    account = opened(name)
    account.spend(PrivacyLoss.gaussian(0.1))
    sigma = account.smallest_sigma(sensitivity=sensitivity)

    def loss(sigma):
        return PrivacyLoss.gaussian(mu_squared=(Fraction(sensitivity) / Fraction(sigma)) ** 2)

    with pytest.raises(BudgetExceeded):
        account.spend(loss(sigma / 1.000001))
    with pytest.raises(BudgetExceeded):
        account.spend(loss(sigma * (1 - 1e-12)))
    account.spend(loss(sigma))


def test_pure_allowances_are_exact():
    account = Budget(1).open()
    account.spend(PrivacyLoss.laplace(Fraction(2, 3)))
    assert account.largest_epsilon() == Fraction(1, 3)
    account.spend(PrivacyLoss.laplace(account.largest_epsilon()))
    assert account.largest_epsilon() == 0


def test_where_nothing_is_admitted_allowances_say_so():
    pure, gdp = Budget(1).open(), opened("gdp")
    assert pure.largest_mu() == 0
    assert pure.smallest_sigma() == math.inf
    assert gdp.largest_epsilon() == 0
    full = Account(Zcdp(Fraction(1, 2)), delta=1e-6)
    full.spend(PrivacyLoss.gaussian(1))
    assert full.largest_epsilon() == full.largest_mu() == 0
    assert full.smallest_sigma(sensitivity=3) == math.inf


def test_a_mechanism_calibrated_to_the_budget_is_admitted():
    from discreet.mechanisms import Gaussian

    opened_for_gaussian = Budget(1, 1e-5, filter="gdp").open()
    opened_for_gaussian.spend(Gaussian(sensitivity=1, epsilon=1, delta=1e-5).loss)
    assert opened_for_gaussian.largest_mu() < 1e-5


@given(st.floats(1e-4, 100), st.floats(1e-12, 0.5))
@settings(max_examples=30, deadline=None)
def test_allowances_are_admitted_for_any_budget(epsilon, delta):
    for name in EVERY:
        account = Budget(epsilon, delta, filter=name).open()
        for make, allowance in (
            (PrivacyLoss.laplace, account.largest_epsilon()),
            (PrivacyLoss.gaussian, account.largest_mu()),
        ):
            if allowance:
                fresh = Budget(epsilon, delta, filter=name).open()
                fresh.spend(make(allowance))
                assert 0 < fresh.spent.amount <= fresh.rule.limit


# Failures ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MIXED)
def test_failures_add_up_to_their_share(name):
    account = Budget(1, Fraction(1, 1000), filter=name).open()
    share = account.rule.failures
    assert share == (Fraction(1, 1000) if name == "basic" else Fraction(1, 10000))
    for _ in range(4):
        account.spend(PrivacyLoss.approximate(0.01, share / 4) + PrivacyLoss.laplace(0.01))
    assert account.remaining.failure == 0
    with pytest.raises(BudgetExceeded, match="kept for failures is left"):
        account.spend(PrivacyLoss.approximate(0, 1e-30))
    account.spend(PrivacyLoss.laplace(0.01))


def test_the_share_of_failures_can_be_said():
    for name in ("gdp", "renyi", "zcdp"):
        none, much = (Budget(1, 1e-3, filter=name, failures=f).open() for f in (0, 9e-4))
        assert none.rule.limit > much.rule.limit
        with pytest.raises(BudgetExceeded):
            none.spend(PrivacyLoss.approximate(0, 1e-9))
        much.spend(PrivacyLoss.approximate(0, 9e-4))
        assert much.rule.delta(Fraction(1)) <= 1e-3


@pytest.mark.parametrize("name", MIXED)
def test_an_approximate_loss_costs_its_pure_part_and_its_failure(name):
    one, two = opened(name), opened(name)
    one.spend(PrivacyLoss.approximate(0.1, 1e-8))
    two.spend(PrivacyLoss.pure(0.1))
    assert one.spent == two.spent + Cost(failure=Fraction(1e-8))
    assert one.odometer() == two.odometer() == (0.1, 1e-6)


# Refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    "loss",
    [
        PrivacyLoss.approximate(0, 1),
        PrivacyLoss.approximate(1e300, 0.5),
        PrivacyLoss.laplace(1e9),
        10**400 * PrivacyLoss.laplace(1),
        10**400 * PrivacyLoss.approximate(0, 1e-300),
        PrivacyLoss.gaussian(1e150),
        PrivacyLoss.laplace(0.1) + PrivacyLoss.gaussian(1e9),
    ],
    ids=repr,
)
def test_boundless_losses_are_refused(name, loss):
    account = opened(name)
    with pytest.raises((BudgetExceeded, NoTheorem)):
        account.spend(loss)
    assert account.spent == Cost()


def test_infinite_losses_are_refused_with_a_way_out():
    for budget in (Budget(1), Budget(1, 1e-6, filter="basic")):
        for loss in (
            PrivacyLoss.gaussian(1e-9),
            PrivacyLoss.zcdp(1e-9),
            PrivacyLoss.laplace(0.1) + PrivacyLoss.zcdp(1),
        ):
            account = budget.open()
            with pytest.raises(BudgetExceeded, match=r'no finite epsilon.*filter="zcdp"'):
                account.spend(loss)
            assert account.spent == Cost()


def test_nothing_is_given_back():
    for terms in (
        ((Laplace(Fraction(-1)), 1),),
        ((Laplace(Fraction(1)), -1),),
        ((Laplace(Fraction(1, 10)), 1.5),),
    ):
        for name in MIXED:
            account = opened(name)
            with pytest.raises((InvalidParameter, TypeError)):
                account.spend(PrivacyLoss(terms))
            assert account.spent == Cost()


@pytest.mark.parametrize("what", [1, 0.1, None, "laplace", (1, 2)])
def test_only_losses_are_spent(what):
    with pytest.raises(InvalidParameter, match="spends a PrivacyLoss"):
        Budget(1).open().spend(what)


@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": math.inf},
        {"epsilon": math.nan},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "delta": -1e-9},
        {"epsilon": 1, "filter": "zcdp"},
        {"epsilon": 1, "delta": 1e-6, "filter": "pld"},
        {"epsilon": 1, "delta": 1e-6, "failures": 1e-6},
        {"epsilon": 1, "delta": 1e-6, "failures": -1e-9},
        {"epsilon": 1, "delta": 1e-6, "filter": "basic", "failures": 1e-7},
        {"epsilon": 1, "relation": "both"},
    ],
    ids=repr,
)
def test_what_no_budget_can_be_is_refused(settings):
    with pytest.raises((InvalidParameter, RelationMismatch)):
        Budget(**settings)


def test_what_no_account_can_be_is_refused():
    for rule, delta in ((Basic(Fraction(0)), 0), (Basic(Fraction(1), Fraction(-1)), 0), (Basic(Fraction(1), TENTH), 0)):
        with pytest.raises(InvalidParameter):
            Account(rule, delta=delta)


def test_without_a_delta_only_certain_bounds_are_shown():
    account = Account(Zcdp(Fraction(1)))
    account.spend(PrivacyLoss.laplace(0.5))
    assert account.odometer() == (0.5, 0)
    account.spend(PrivacyLoss.gaussian(0.5))
    assert account.odometer() == (math.inf, 0)


# Relations ---------------------------------------------------------------------------------------------------


def test_the_first_relation_is_adopted_and_kept():
    account = Budget(1).open()
    account.spend(PrivacyLoss.laplace(TENTH))
    assert account.relation is None
    account.spend(PrivacyLoss.laplace(TENTH).under("add_remove"))
    assert account.relation == "add_remove"
    with pytest.raises(RelationMismatch, match="add_remove neighbours, the loss about replace_one"):
        account.spend(PrivacyLoss.laplace(TENTH).under("replace_one"))
    account.spend(PrivacyLoss.laplace(TENTH))
    assert account.spent.amount == 3 * TENTH


def test_a_refused_loss_leaves_no_relation():
    account = Budget(1).open()
    with pytest.raises(BudgetExceeded):
        account.spend(PrivacyLoss.laplace(2).under("add_remove"))
    assert account.relation is None


def test_a_relation_can_be_given():
    account = Budget(1, relation="replace_one").open()
    with pytest.raises(RelationMismatch):
        account.spend(PrivacyLoss.laplace(TENTH).under("add_remove"))
    assert account.relation == "replace_one"


# Values and threads ------------------------------------------------------------------------------------------


def test_budgets_are_values_and_read_back():
    for budget in (Budget(1), Budget(TENTH, 1e-6), Budget(2, 1e-6, filter="gdp", relation="add_remove")):
        assert eval(repr(budget)) == budget
        assert hash(budget) == hash(eval(repr(budget)))
    assert Budget(1, 1e-6) == Budget(1.0, 1e-6, filter="zcdp")
    assert repr(Budget(1).open()) == "<Account: epsilon 0 of 1 spent>"


def test_two_accounts_of_a_budget_are_apart():
    budget = Budget(1)
    one, two = budget.open(), budget.open()
    one.spend(PrivacyLoss.laplace(1))
    assert two.remaining.amount == 1


@pytest.mark.parametrize("twice", [copy.copy, copy.deepcopy, pickle.dumps])
def test_an_account_is_not_copied(twice):
    with pytest.raises(TypeError, match="twice"):
        twice(Budget(1).open())


@pytest.fixture
def restless():
    """Threads change hands as often as they can, so that an account without a lock would be caught."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize("name", EVERY)
def test_many_threads_never_overspend(name):
    account = opened(name)
    share = account.rule.limit / 400
    admitted, refused, strange = [], [], []
    start = threading.Barrier(16)

    def hammer(number):
        size = 1 + number % 3
        loss = {
            "basic": lambda: PrivacyLoss.laplace(size * share),
            "gdp": lambda: PrivacyLoss.gaussian(mu_squared=size * share),
            "renyi": lambda: PrivacyLoss.laplace(Fraction(size, 50)),
            "zcdp": lambda: PrivacyLoss.zcdp(size * share),
        }[name]()
        start.wait()
        for _ in range(60):
            try:
                account.spend(loss)
            except BudgetExceeded:
                refused.append(size)
            except BaseException as error:
                strange.append(error)
            else:
                admitted.append(loss)

    threads = [threading.Thread(target=hammer, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not strange
    assert refused
    assert admitted
    total = sum((k * account.rule.amount(term) for loss in admitted for term, k in loss.terms), Fraction(0))
    if name != "renyi":
        assert account.spent.amount == total == account.rule.limit
    assert account.spent.amount <= account.rule.limit
    assert account.spent.amount == pytest.approx(total, rel=1e-12)


def test_exceeding_is_an_error_of_the_house():
    assert issubclass(BudgetExceeded, DiscreetError)


def test_an_account_of_many_odd_parts_can_still_be_read():
    """Sums of fractions have ever longer denominators, and Python refuses to write the longest out."""
    account = Budget(1, 1e-6, relation="add_remove").open()
    for i in range(250):
        account.spend(PrivacyLoss.gaussian(mu_squared=Fraction(1, 10**20 + 2 * i + 1)).under("add_remove"))
    assert account.spent.amount.denominator.bit_length() > 14_400  # 4300 digits and more
    assert "about" in repr(account)
    assert "about" in str(account.spent)
    with pytest.raises(BudgetExceeded, match="about"):
        account.spend(PrivacyLoss.zcdp(5).under("add_remove"))


# Advice --------------------------------------------------------------------------------------------------------

REFUSED_BY_SOME = {
    "training on samples": 1000 * PrivacyLoss.gaussian(1).sampled(0.01),
    "a fixed sample": PrivacyLoss.gaussian(1).sampled(0.01, scheme="without_replacement"),
    "a group in a sample": PrivacyLoss.gaussian(1).sampled(0.01).group(2),
    "gaussian": PrivacyLoss.gaussian(1),
    "zcdp": PrivacyLoss.zcdp(0.01),
    "mixture": PrivacyLoss.gaussian_mixture([0, 1], [0.5, 0.5]),
    "short curve": PrivacyLoss.renyi_curve([(2, 0.1), (8, 0.5)]),
    "long curve": PrivacyLoss.renyi_curve([(2, 0.1), (1000, 0.5)]),
    "cut batches": PrivacyLoss.overflow(1e-9),
    "pure": PrivacyLoss.pure(0.1),
    "approximate": PrivacyLoss.approximate(0.1, 1e-9),
    "shuffled": PrivacyLoss.shuffled(0.1, 100),
}


def refusal(budget, loss):
    """Return the words with which a loss is refused; None if it is taken."""
    try:
        budget.open().cost(loss)
    except (BudgetExceeded, NoTheorem) as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", REFUSED_BY_SOME)
@pytest.mark.parametrize("budget", [Budget(1), *(Budget(1, 1e-5, filter=f) for f in EVERY)], ids=["pure", *EVERY])
def test_a_refusal_names_a_filter_that_takes_the_loss(name, budget):
    loss = REFUSED_BY_SOME[name]
    said = refusal(budget, loss)
    if said is None:
        return
    advised = [other for other in EVERY if f'filter="{other}"' in said]
    assert advised or "PrivacyLoss.approximate" in said
    assert budget.filter not in advised
    for other in advised:
        assert Budget(1, 1e-5, filter=other).open().cost(loss).amount > 0
    if not advised:
        assert all(refusal(Budget(1, 1e-5, filter=other), loss) for other in ("zcdp", "renyi"))
        stated = PrivacyLoss.approximate(1, 1e-9).under(loss.relation or "add_remove")
        assert Budget(3, 1e-5).open().cost(stated).failure > 0


def test_training_on_samples_is_advised_to_add_renyi_divergences():
    with pytest.raises(BudgetExceeded, match='filter="renyi", which takes it') as seen:
        Budget(3, 1e-5).open().spend(REFUSED_BY_SOME["training on samples"])
    assert "zcdp" not in str(seen.value)
