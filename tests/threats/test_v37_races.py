"""Two processes must not spend the same budget.

Whoever looks at the balance, decides and then writes, races with everybody who does the same: both see enough, both
spend, and one of the two spends is lost in the total as well. A lock in one process helps against its own threads
alone.

Defence: looking, deciding and writing are one transaction that is alone with the account, in the file or database that
all share; a constraint on the total stands behind it.
Source: CWE-362 and CWE-367; W3C attribution API issue 309.
"""

import json
import os
import time
from fractions import Fraction

from discreet.accounting import Budget, PrivacyLoss
from discreet.errors import BudgetExceeded
from discreet.ledger import Ledger

SHARE = Fraction(1, 40)


def admitted(make, processes=4, attempts=20):
    """Return how many charges of a fortieth some processes are granted together, and what is left written down."""
    pipes, start = [], time.time() + 0.4
    for _ in range(processes):
        reader, writer = os.pipe()
        if not os.fork():
            count = 0
            try:
                spend = make()
                time.sleep(max(0, start - time.time()))
                count = sum(spend() for _ in range(attempts))
            finally:
                os.write(writer, str(count).encode())
                os._exit(0)
        os.close(writer)
        pipes.append(reader)
    total = 0
    for reader in pipes:
        with os.fdopen(reader) as pipe:
            total += int(pipe.read())
        os.wait()
    return total


def spender(path):
    def make():
        account = Ledger(path).account("visits", budget=Budget(1))

        def spend():
            try:
                account.spend(PrivacyLoss.pure(SHARE))
            except BudgetExceeded:
                return False
            return True

        return spend

    return make


def test_processes_spend_a_budget_once(tmp_path):
    path = tmp_path / "ledger.sqlite"
    assert admitted(spender(path)) == 40
    with Ledger(path) as ledger:
        assert ledger.account("visits").remaining.amount == 0
        ledger.verify()


def careless(path):
    """A ledger that looks, decides and then writes: what must not be."""

    def make():
        def spend():
            spent = Fraction(json.loads(path.read_text()))
            if spent + SHARE > 1:
                return False
            time.sleep(0.001)
            own = path.with_name(str(os.getpid()))
            own.write_text(json.dumps(str(spent + SHARE)))
            own.replace(path)
            return True

        return spend

    return make


def test_the_check_catches_a_look_before_the_lock(tmp_path):
    path = tmp_path / "ledger.json"
    path.write_text('"0"')
    assert admitted(careless(path)) > 40
