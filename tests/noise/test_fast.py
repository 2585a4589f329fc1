import numpy as np
import pytest

from discreet.noise import fast
from discreet.noise.fast import BELIEVED, SLACK, agrees, boundary_points, libraries_can_be_trusted


def test_this_machine_can_be_trusted():
    assert libraries_can_be_trusted()
    assert SLACK == 2.0**-44


@pytest.mark.parametrize("name", ["log", "exp", "log1p", "expm1", "tan"])
@pytest.mark.parametrize("error", [1e-14, -1e-14])
def test_a_library_with_a_small_error_is_not_trusted(name, error, monkeypatch):
    function = getattr(np, name)
    monkeypatch.setattr(np, name, lambda x: function(x) * (1 + error))
    assert not libraries_can_be_trusted()


def test_an_error_next_to_one_alone_is_noticed():
    def cancelling(v):
        return np.log1p(v - 1 + 2.0**-50)

    assert agrees(np.log, lambda v: v.log(), boundary_points())
    assert not agrees(cancelling, lambda v: v.log(), boundary_points())


def test_points_lie_at_the_edges_of_what_is_believed():
    cells = boundary_points() * 2.0**63
    assert BELIEVED <= cells.min() < BELIEVED + 4 < cells.max() < 2.0**63
    assert np.all(boundary_points() < 1)


def test_the_bound_adds_up():
    """Cell, rounding of the cell's number, logarithm and arithmetic, as the module says."""
    largest = -np.log(BELIEVED * 2.0**-63)
    assert largest < 12
    cell = 2.0**-46 + 2.0**-53
    logarithm = fast.TRUSTED_ULPS * np.spacing(largest)
    assert cell + logarithm + 2.0**-48 < SLACK
