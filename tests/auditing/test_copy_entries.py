"""Full tables are what is audited, and a claim of almost nothing falls; that the entries stand is in ``test_audit``."""

import numpy as np
import pytest

from discreet.accounting import PrivacyLoss
from discreet.auditing.audit import audit
from discreet.auditing.copy_entries import our_copies

ENTRIES = {entry.name: entry for entry in our_copies()}


@pytest.mark.parametrize("name", ENTRIES)
def test_tables_are_what_is_looked_at(name):
    entry = ENTRIES[name]
    for side in entry.neighbours[0]:
        assert np.asarray(entry.release(side)).shape == (4,)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_a_smaller_claim_falls(name):
    entry = ENTRIES[name]
    said = {"neighbours": list(entry.neighbours), "draws": 20_000, "seconds": 60}
    assert audit(entry.release, claims=PrivacyLoss.pure(0.1).under(str(entry.claims.relation)), **said).refuted
