import os
import warnings

import numpy as np
import pytest

from discreet.mechanisms.quietly import Silence, quietly


def warns():
    warnings.warn("a value", stacklevel=1)
    return np.float64(1) / 0


def test_warnings_are_off_inside_and_as_before_outside():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)
        assert quietly(lambda: (warns(), quietly(warns, 0), warns())[0], otherwise=None) == np.inf
        assert warnings.filters == before
        with pytest.raises(UserWarning):
            warns()
    assert Silence.held == 0


@pytest.mark.parametrize("kind", [ValueError, SystemExit, GeneratorExit, BaseException, KeyboardInterrupt])
def test_only_a_person_may_interrupt(kind):
    def raises():
        raise kind

    before = list(warnings.filters)
    if kind is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt):
            quietly(raises, otherwise=5)
    else:
        assert quietly(raises, otherwise=5) == 5
    assert warnings.filters == before
    assert Silence.held == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_a_thread_holds_the_lock_does_not_wait_for_it():
    with Silence.lock:
        child = os.fork()
        if not child:
            os._exit(quietly(lambda: 5, otherwise=6))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
