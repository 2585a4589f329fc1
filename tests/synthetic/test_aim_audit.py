"""An audit of the synthesizers finds a claim that is far too small; that theirs stand is in ``test_audit``."""

import pytest

from discreet.accounting import PrivacyLoss
from discreet.auditing.aim_entries import our_graphical_models
from discreet.auditing.audit import audit

pytestmark = pytest.mark.slow

ENTRIES = {entry.name: entry for entry in our_graphical_models()}


@pytest.mark.parametrize("name", [name for name in sorted(ENTRIES) if "replace_one" in name])
def test_a_claim_far_too_small_is_refuted(name):
    entry = ENTRIES[name]
    found = audit(entry.release, claims=PrivacyLoss.zcdp(0.01), neighbours=list(entry.neighbours), draws=300)
    assert found.refuted
