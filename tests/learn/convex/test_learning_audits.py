"""Every entry of private learning stands long audits, and a fit with a wrong constant does not stand a short one."""

from dataclasses import replace

import pytest

from discreet import PrivacyLoss, audit
from discreet.auditing.learn_entries import our_learning
from discreet.auditing.registry import Tier, examine

LONG = Tier(seconds=10, draws=200_000, alpha=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("entry", our_learning(), ids=lambda entry: entry.name)
def test_no_claim_is_refuted_in_long_audits(entry):
    assert not examine(entry, LONG).refuted


def test_noise_for_a_fifth_of_the_gradient_is_refuted():
    entry = next(e for e in our_learning() if e.name == "output perturbation, pure, HuberHinge, norm 10, replace_one")
    weak = replace(entry, claims=PrivacyLoss.pure(0.2).under("replace_one"))
    assert examine(weak, Tier(seconds=None, draws=100_000, alpha=1e-6)).refuted
    assert not audit(
        entry.release, claims=entry.claims, neighbours=list(entry.neighbours), batch=entry.batch, draws=20_000
    ).refuted
