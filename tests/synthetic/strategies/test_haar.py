import numpy as np
import pytest

from discreet.synthetic.strategies import Haar


@pytest.mark.parametrize("size", [1, 2, 3, 10, 64, 1000, 1 << 15])
def test_the_inverse_undoes_it(size):
    x = np.random.default_rng(0).integers(0, 1000, size=size)
    assert Haar(size=size).solve(Haar(size=size).matvec(x)) == pytest.approx(x, abs=1e-8)


def test_rows_are_orthogonal_where_every_part_is_halved():
    rows = Haar(size=32).dense()
    gram = rows @ rows.T
    assert np.count_nonzero(gram - np.diag(np.diagonal(gram))) == 0


@pytest.mark.parametrize("size", [2, 8, 1024, 1 << 20])
def test_sensitivity_is_one_for_each_level(size):
    levels = size.bit_length() - 1
    assert Haar(size=size).sensitivity(1, relation="add_remove") == 1 + levels
    assert Haar(size=size).sensitivity(1, relation="replace_one") == 2 * levels
    assert Haar(size=size).change(2, relation="replace_one").power == 2 * levels + 2
