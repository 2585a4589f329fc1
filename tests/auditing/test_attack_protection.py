"""The strongest attacker on noisy counts: below the bound, at it where it is tight, above it where noise is missing."""

import numpy as np
import pytest

from discreet.auditing.attacks.protection import tell_apart
from discreet.errors import InvalidParameter
from discreet.mechanisms import Geometric
from discreet.testing import seeded

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.NotPrivateWarning")


def measure(mechanism, record, **options):
    with seeded("protection"):
        return tell_apart(mechanism, record, release="counts", **options)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize("record", [[1], [1, 1], [1, -1], [2], [1] * 10])
def test_no_record_is_told_apart_better_than_theory_allows(epsilon, record):
    size = int(np.abs(record).sum())
    found = measure(Geometric(sensitivity=size, epsilon=epsilon), record)
    assert found.advantage <= found.bound + 5 * found.deviation
    assert found.bound <= np.tanh(epsilon / 2) + 1e-9


def test_one_count_reaches_the_bound():
    found = measure(Geometric(sensitivity=1, epsilon=1), [1])
    assert abs(found.advantage - found.bound) <= 5 * found.deviation
    assert found.bound == pytest.approx(np.tanh(0.5))


def test_a_tenth_too_little_noise_is_seen():
    class Sabotaged:
        sensitivity, loss, error = (
            1,
            Geometric(sensitivity=1, epsilon=1).loss,
            Geometric(sensitivity=1, epsilon=1).error,
        )
        release = Geometric(sensitivity=1, epsilon=1.1).release

    found = measure(Sabotaged(), [1])
    assert found.advantage > found.bound + 5 * found.deviation


def test_a_record_larger_than_the_sensitivity_is_refused():
    with pytest.raises(InvalidParameter, match="Bound what one record adds"):
        tell_apart(Geometric(sensitivity=1, epsilon=1), [1, 1], release="counts")


def test_the_sentence_holds_the_numbers():
    words = str(measure(Geometric(sensitivity=1, epsilon=1), [1], trials=100))
    assert "epsilon 1 " in words
    assert "at most 0.462" in words
