"""One thread inside, and as many as before outside, whoever enters and leaves in between."""

import threading

import numpy as np
import pytest

from discreet.synthetic.aim import AdaptiveTables
from discreet.synthetic.graphical import estimation
from discreet.synthetic.one_thread import OneThread, settings


def numbers():
    return [number() for number, _ in settings()]


def test_the_number_is_restored_by_the_last():
    before = numbers()
    with OneThread():
        with OneThread():
            assert all(number == 1 for number in numbers())
        assert all(number == 1 for number in numbers())
        worker = threading.Thread(target=lambda: OneThread().__enter__() or OneThread().__exit__())
        worker.start()
        worker.join()
        assert all(number == 1 for number in numbers())
    assert numbers() == before
    with pytest.raises(ZeroDivisionError), OneThread():
        _ = 1 / 0
    assert numbers() == before


def test_models_are_fitted_with_one_thread(monkeypatch):
    seen, original = [], estimation.minimize

    def minimize(*arguments, **options):
        seen.extend(numbers())
        return original(*arguments, **options)

    monkeypatch.setattr(estimation, "minimize", minimize)
    AdaptiveTables(sizes=(2, 2, 3), rho=1, relation="add_remove").release(np.array([[0, 0, 1], [1, 1, 2]]))
    assert set(seen) <= {1}
    assert len(seen) >= len(settings())
