"""The catch rate: every broken mechanism of the zoo is found out, and none of the correct ones is accused.

Draws are seeded and their number does not depend on the clock, so that a catch here is a catch everywhere. What shows
in durations alone is hunted by ``discreet audit --zoo``, which has a clock.
"""

import pytest
from scipy.stats import binom

from discreet.auditing.hunt import hunt
from discreet.auditing.zoo import BROKEN, CORRECT

VISIBLE = [specimen for specimen in BROKEN if specimen.shows == "output"]


@pytest.mark.parametrize("specimen", VISIBLE, ids=lambda specimen: specimen.name)
def test_broken_mechanisms_are_caught(specimen):
    found = hunt(specimen, alpha=1e-4, draws=4_000_000)
    assert found.refuted, f"{specimen.mistake}: {found}"


@pytest.mark.parametrize("specimen", CORRECT, ids=lambda specimen: specimen.name)
def test_correct_twins_are_left_alone(specimen):
    found = hunt(specimen, alpha=1e-4, draws=12_000)
    assert not found.refuted, str(found)


@pytest.mark.slow
def test_false_alarms_over_all_correct_twins():
    """500 audits at alpha 0.05: no more alarms than a binomial law allows but once in a billion."""
    quick = [specimen for specimen in CORRECT if specimen.batch is not None and specimen.shows == "output"]
    hunts = (hunt(quick[seed % len(quick)], alpha=0.05, draws=2000, seed=seed) for seed in range(500))
    alarms = sum(found.refuted for found in hunts)
    assert alarms <= binom.ppf(1 - 1e-9, 500, 0.05)


def test_the_zoo_is_large_enough():
    assert len(BROKEN) >= 25
    assert len({specimen.name for specimen in (*BROKEN, *CORRECT)}) == len(BROKEN) + len(CORRECT)
