"""A conversation that claims too little is found; that the entries stand is in ``test_audit``."""

import discreet as dp
from discreet.accounting import PrivacyLoss
from discreet.synthetic.multiplicative import PMW


def test_an_audit_refutes_a_false_claim():
    plan = PMW(sizes=(2,), size=4, alpha=0.5, relation="add_remove", epsilon=40, updates=2)

    def measured(data):
        return float(plan.open(data).answer({0: 1}).source == "measured")

    pair = ([[1]] * 4, [[1]] * 3)  # a gap of 2 records, or of 1, from 2 that are expected; the threshold is 1.5
    found = dp.audit(measured, claims=PrivacyLoss.pure(1).under("add_remove"), neighbours=[pair], draws=2000)
    assert found.refuted
