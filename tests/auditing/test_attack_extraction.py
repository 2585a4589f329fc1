"""A plainly trained model gives codes away that it saw once in each pass; a privately trained one does not."""

import math
import warnings

import numpy as np
import pytest
import torch

from discreet.auditing.attacks.canaries import canaries, exposure, rank, search, sentences
from discreet.auditing.attacks.extraction import CHANCE, extract
from discreet.auditing.attacks.letters import Letters, all_secrets, coded, next_digits, per_letter
from discreet.errors import InvalidParameter, NotPrivateWarning
from discreet.testing import seeded

torch.set_num_threads(1)
SMALL = {"records": 250, "codes": 8, "digits": 4, "epochs": 16, "batch": 64}
START = "the code of ada is "
pytestmark = pytest.mark.xdist_group("extraction")  # what they look at is made once


@pytest.fixture(scope="module")
def found():
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("extraction"):
        return extract(**SMALL, epsilon=1, delta=1e-9, generator=np.random.default_rng(1))


def test_plain_training_gives_the_codes_away(found):
    """Were nothing known, a mean exposure of 10 bits in 8 codes would come once in 10^18 runs."""
    assert found.plain.mean > 10
    assert found.plain.right >= 5
    assert np.median([one.asked for one in found.plain.found]) < 50  # of 1,111 prefixes
    assert found.plain.own < found.plain.per_letter < 1.5


def test_private_training_does_not(found):
    """A sum of 8 chance exposures above 48 bits has probability 4e-8.

    All eight sentences together are (8, 9e-6)-DP, so that it has at most ``e^8 4e-8 + 9e-6``, 1.3e-4, in any case.
    """
    total = 48 * math.log(2)
    tail = math.exp(-total) * sum(total**k / math.factorial(k) for k in range(8))
    assert math.exp(8) * tail + 9e-6 < 2e-4
    assert found.protected.mean < 6
    assert found.protected.right <= 1
    assert found.protected.mean < found.plain.mean / 2


def test_the_bound_lies_between_chance_and_the_promise(found):
    assert len(found.bits) == len(found.bound)
    for bits, bound in zip(found.bits, found.bound, strict=True):
        assert 2.0**-bits <= bound * (1 + 1e-9)
        assert bound <= min(1.0, math.exp(1) * 2.0**-bits + 1e-9) * (1 + 1e-6)


@pytest.mark.slow
def test_the_defaults_do_what_the_page_says():
    found = extract(generator=np.random.default_rng(3))
    assert found.plain.mean > 15
    assert found.plain.right >= 5
    assert found.protected.mean < 5
    assert found.protected.right == 0
    assert found.protected.per_letter < 1.0


@pytest.mark.parametrize("start", [START, "x"])
def test_enumeration_agrees_with_asking_digit_by_digit(start):
    torch.manual_seed(2)
    model = Letters()
    scores = all_secrets(model, start, 3)
    assert scores.shape == (1000,)
    for code in ("000", "481", "999"):
        said = sum(next_digits(model, start + code[:k])[int(code[k])] for k in range(3))
        assert scores[int(code)] == pytest.approx(said, abs=1e-5)


def test_the_search_finds_the_likeliest():
    torch.manual_seed(3)
    model = Letters()
    scores = all_secrets(model, START, 3)
    found = search(lambda prefix: next_digits(model, START + prefix), 3)
    assert int(found.secret) == int(scores.argmax())
    assert found.asked <= 111
    assert search(lambda prefix: [math.log(0.1)] * 10, 6, most=20).secret is None


def test_chance_is_what_it_is_said_to_be():
    scores = np.random.default_rng(4).normal(size=4096)
    exposures = [exposure(scores, place) for place in range(scores.size)]
    assert np.mean(exposures) == pytest.approx(CHANCE, abs=0.01)
    assert max(exposures) == 12
    assert rank(np.zeros(10), 3) == 10  # ties count against the attacker


def test_sentences_and_codes_repeat_and_can_be_coded():
    lines = sentences(2000, np.random.default_rng(5))
    assert lines == sentences(2000, np.random.default_rng(5))
    hidden = canaries(16, 6, np.random.default_rng(6))
    assert len({one.name for one in hidden}) == 16
    assert not any(one.name in line.split() for one in hidden for line in lines)
    assert coded([*lines, *(one.sentence for one in hidden)]).shape[0] == 2016
    assert per_letter(Letters(), lines[:50]) == pytest.approx(math.log2(39), abs=0.7)


def test_padding_changes_nothing():
    torch.manual_seed(7)
    model = Letters()
    both = per_letter(model, ["meet ben", "the room of anna is 212"])
    single = [per_letter(model, [line]) for line in ("meet ben", "the room of anna is 212")]
    assert both == pytest.approx((9 * single[0] + 24 * single[1]) / 33, rel=1e-5)


def test_what_is_said(found):
    assert "8 codes of 4 digits" in str(found)
    assert "DP-SGD with epsilon 1" in str(found)
    assert found.plot().to_dict()


@pytest.mark.parametrize("wrong", [{"codes": 0}, {"codes": 17}, {"digits": 7}, {"records": 10}, {"epochs": 0}])
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(InvalidParameter):
        extract(**{**SMALL, **wrong})
