import threading
import warnings
from contextlib import suppress

import numpy as np
import pytest

from discreet.errors import InvalidParameter, NotPrivateWarning
from discreet.noise import discrete_laplace, source
from discreet.testing import seeded

quiet = pytest.mark.filterwarnings("ignore::discreet.errors.NotPrivateWarning")


def draw():
    return discrete_laplace(1e9, size=5).tolist()


def test_it_warns_where_it_is_used():
    with pytest.warns(NotPrivateWarning, match="nothing made inside is private") as caught, seeded(1):
        pass
    assert caught[0].filename == __file__


@quiet
def test_the_same_seed_gives_the_same_noise():
    noise = []
    for seed in (1, 1, "1", "1", 2, -1, 2**200):
        with seeded(seed):
            noise.append(tuple(draw()))
    assert noise[0] == noise[1]
    assert noise[2] == noise[3]
    assert len(set(noise)) == 5


@quiet
def test_words_do_not_depend_on_how_they_are_asked_for():
    with seeded("a") as one, seeded("a") as two:
        assert (one.words(20_000) == np.concatenate([two.words(1), two.words(19_999)])).all()


@quiet
def test_it_nests_and_restores_even_after_an_exception():
    assert source().private
    with seeded(1) as outer:
        with suppress(KeyError), seeded(2) as inner:
            assert source() is inner
            raise KeyError
        assert source() is outer
        assert not source().private
    assert source().private


@quiet
def test_other_threads_keep_the_secure_source():
    seen = []
    with seeded(1):
        thread = threading.Thread(target=lambda: seen.append(source().private))
        thread.start()
        thread.join()
    assert seen == [True]


@quiet
@pytest.mark.parametrize("seed", [None, 1.0, True, b"seed"])
def test_other_seeds_are_refused(seed):
    with pytest.raises(InvalidParameter, match="seed must be"), seeded(seed):
        pass


def test_warnings_as_errors_leave_nothing_behind():
    with warnings.catch_warnings(action="error"), pytest.raises(NotPrivateWarning), seeded(1):
        pass
    assert source().private
