"""Conversations of multiplicative weights stand up to a short audit, and one that claims too little does not."""

import pytest

import discreet as dp
from discreet.accounting import PrivacyLoss
from discreet.auditing.registry import Tier, examine
from discreet.auditing.weights_entries import our_weights
from discreet.synthetic.multiplicative import PMW

SHORT = Tier(seconds=0.3, draws=1000, alpha=1e-9)
ENTRIES = {entry.name: entry for entry in our_weights()}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if "MWEM" in name else ()) for name in ENTRIES]
)
def test_nothing_is_refuted(name):
    assert not examine(ENTRIES[name], SHORT).refuted


def test_the_same_audit_refutes_a_false_claim():
    plan = PMW(sizes=(2,), size=4, alpha=0.5, relation="add_remove", epsilon=40, updates=2)

    def measured(data):
        return float(plan.open(data).answer({0: 1}).source == "measured")

    pair = ([[1]] * 4, [[1]] * 3)  # a gap of 2 records, or of 1, from 2 that are expected; the threshold is 1.5
    found = dp.audit(
        measured, claims=PrivacyLoss.pure(1).under("add_remove"), neighbours=[pair], draws=2000, seconds=30
    )
    assert found.refuted
