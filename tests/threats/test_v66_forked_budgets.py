"""A budget that is kept in memory is spent in one process.

``os.fork`` copies a process with all that it holds. Five children of one session each found the whole budget in their
copy of it and spent it: five times the epsilon that had been promised, each with noise of its own.

Defence: whatever keeps what is left in memory knows its process, and a child that was forked is refused.
Source: Found by using this library: five children, one budget.
"""

import os
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.accounting import Account, Budget, PrivacyLoss
from discreet.accounting.filters import Basic, Zcdp
from discreet.errors import BudgetExceeded
from discreet.ledger import Ledger
from discreet.mechanisms import SparseVector
from discreet.synthetic.multiplicative.pmw import PMW
from discreet.synthetic.streaming import RunningTotal
from discreet.tables import Bounds

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

CHILDREN = 5
VISITS = pa.table({"user": list(range(40)), "hours": [float(i % 8) for i in range(40)]})


def successes(attempt):
    """Fork five children that try the same, and return in how many of them it succeeded; others must be refused."""
    pipes = []
    for _ in range(CHILDREN):
        reader, writer = os.pipe()
        if not os.fork():
            seen = b"x"
            try:
                attempt()
                seen = b"1"
            except BudgetExceeded:
                seen = b"0"
            finally:
                os.write(writer, seen)
                os._exit(0)
        os.close(writer)
        pipes.append(reader)
    found = []
    for reader in pipes:
        with os.fdopen(reader) as pipe:
            found.append(pipe.read())
        os.wait()
    assert set(found) <= {"0", "1"}, "a child failed in another way"
    return found.count("1")


def session(budget):
    return dp.Session(
        VISITS, name="visits", schema={"hours": Bounds(0, 8)}, unit=dp.Person("user", groups=1, rows=1), budget=budget
    )


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 10)])
def test_a_session_is_not_spent_by_its_copies(epsilon):
    with session(Budget(1)) as visits:
        assert not successes(lambda: visits.release("SELECT COUNT(*) AS n FROM visits", epsilon=epsilon))
        assert not successes(lambda: visits.plan(["SELECT SUM(hours) AS n FROM visits"], epsilon=epsilon))
        assert not successes(lambda: visits.synthesize(epsilon=epsilon, columns={"hours": 4}))
        assert visits.spent == 0
        visits.release("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        assert visits.spent == 1


def test_a_copy_of_a_session_does_not_look_into_the_table_either():
    with session(Budget(1)) as visits:
        assert not successes(visits.verify)
        assert not successes(lambda: visits.preview("SELECT COUNT(*) AS n FROM visits"))


def test_a_copy_gives_back_nothing_that_the_parent_holds():
    with session(Budget(1)) as visits:
        assert successes(visits.close) == CHILDREN
        assert visits.release("SELECT COUNT(*) AS n FROM visits", epsilon=1)


@pytest.mark.parametrize(
    "budget",
    [
        Budget(1),
        Budget(1, 1e-6),
        Budget(1, 1e-6, filter="renyi"),
        Budget(1, 1e-6, filter="gdp"),
        Budget(1, 1e-6, filter="basic"),
    ],
    ids=lambda budget: budget.filter,
)
def test_an_account_of_every_filter_is_spent_by_one_process(budget):
    account = budget.open()
    loss = (
        PrivacyLoss.gaussian(mu=account.largest_mu() / 2)
        if budget.delta and budget.filter != "basic"
        else PrivacyLoss.pure(Fraction(1, 2))
    )
    assert not successes(lambda: account.spend(loss))
    assert not successes(lambda: account.exhaust(loss))
    assert not successes(lambda: account.protect("rows"))
    assert successes(lambda: account.fits(loss)) == CHILDREN  # an answer, which is no
    assert account.spent.amount == 0
    account.spend(loss)


@pytest.mark.parametrize("rule", [Basic(Fraction(1)), Zcdp(Fraction(1))], ids=lambda rule: rule.currency)
def test_an_account_of_a_bare_filter_too(rule):
    account = Account(rule)
    assert not successes(lambda: account.spend(PrivacyLoss.pure(Fraction(1, 2))))


def test_a_forked_account_says_that_nothing_fits():
    account = Budget(1).open()

    def check():
        assert not account.fits(PrivacyLoss.pure(Fraction(1, 2)))

    assert successes(check) == CHILDREN
    assert not successes(account.largest_epsilon)


def conversations():
    sparse = SparseVector(threshold=10, epsilon=1, above=2, relation="add_remove").open([0] * 20)
    yield "sparse vector", lambda: sparse.answer(len)
    learner = PMW(sizes=(2, 2), size=100, alpha=0.2, relation="replace_one", epsilon=1).open(np.zeros((100, 2)))
    yield "multiplicative weights", lambda: learner.answer({0: 0})
    stream = RunningTotal(steps=4, rho=0.5, relation="add_remove").open()
    yield "running total", lambda: stream.add(1)


@pytest.mark.parametrize("name", ["sparse vector", "multiplicative weights", "running total"])
def test_a_conversation_goes_on_in_one_process(name):
    answer = dict(conversations())[name]
    assert not successes(answer)
    answer()


def test_a_training_goes_on_in_one_process():
    torch = pytest.importorskip("torch")
    from discreet.learn.sgd.private import private

    model = torch.nn.Linear(2, 1)
    data = torch.zeros(8, 2), torch.zeros(8, 1)
    parts = private(
        model,
        torch.optim.SGD(model.parameters(), lr=0.1),
        data,
        records=8,
        batch=8,
        noise_multiplier=1,
        steps=3,
        probe=False,  # the first batch is one of private records
    )
    x, y = next(iter(parts.batches))
    torch.nn.functional.mse_loss(parts.model(x), y).backward()
    assert not successes(parts.optimizer.step)  # the sum of a step that is under way, once more with other noise
    assert not successes(lambda: next(iter(parts.batches)))
    parts.optimizer.step()
    assert parts.run.finished == 1


def test_processes_share_a_ledger(tmp_path):
    """The way to spend one budget in several processes: children are refused when it is used up, and not before."""
    account = Ledger(tmp_path / "ledger.sqlite").account("visits", budget=Budget(1))
    assert successes(lambda: account.spend(PrivacyLoss.pure(Fraction(1, 2)))) == 2
    assert account.remaining.amount == 0


def test_a_session_of_a_ledger_is_refused_before_the_charge(tmp_path):
    """The connection of an engine does not survive a fork: what is charged could not be read."""
    account = Ledger(tmp_path / "ledger.sqlite").account("visits", budget=Budget(1))
    with session(account) as visits:
        assert not successes(lambda: visits.release("SELECT COUNT(*) AS n FROM visits", epsilon=Fraction(1, 10)))
        assert account.spent.amount == 0


def test_the_check_catches_an_account_that_does_not_know_its_process():
    class Careless(Account):
        def _check_process(self):
            pass

    account = Careless(Basic(Fraction(1)))
    assert successes(lambda: account.spend(PrivacyLoss.pure(1))) == CHILDREN
