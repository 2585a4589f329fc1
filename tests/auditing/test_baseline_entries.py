"""The audited synthesizers: what is looked at, and that entries would fall if they cost more than they say."""

import dataclasses

import numpy as np
import pytest

from discreet.accounting import PrivacyLoss
from discreet.auditing.baseline_entries import our_baselines
from discreet.auditing.registry import Tier, examine

ENTRIES = {entry.name: entry for entry in our_baselines()}


@pytest.mark.parametrize("name", ENTRIES)
def test_models_are_told_by_their_tables(name):
    """Two attributes of two values each, and their pair if it is measured."""
    entry = ENTRIES[name]
    length = 4 if "Independent" in name else 8
    for one, other in entry.neighbours:
        assert abs(len(one) - len(other)) in (0, 1, 2)
        for data in (one, other):
            tables = entry.release(data)
            assert tables.shape == (length,)
            assert np.isfinite(tables).all()


def test_both_relations_and_several_records_are_among_them():
    assert len(ENTRIES) == 4
    assert {word for name in ENTRIES for word in ("add_remove", "replace_one") if word in name} == {
        "add_remove",
        "replace_one",
    }
    assert any("2 of a person" in name for name in ENTRIES)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_a_claim_that_is_too_small_is_refuted(name):
    """The same releases, said to cost almost nothing."""
    entry, tier = ENTRIES[name], Tier(seconds=None, draws=20_000, alpha=1e-6)
    modest = dataclasses.replace(entry, claims=PrivacyLoss.pure(0.1).under(entry.claims.relation))
    assert examine(modest, tier).refuted
