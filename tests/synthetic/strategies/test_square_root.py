import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.synthetic.operators import Prefix
from discreet.synthetic.strategies import Hierarchical, SquareRoot, total_variance


def test_its_square_is_the_matrix_of_totals():
    root = SquareRoot(size=50).dense()
    assert root @ root == pytest.approx(Prefix(size=50).dense(), abs=1e-4)


@pytest.mark.parametrize("size", [1, 5, 200, 5000])
def test_the_inverse_undoes_it(size):
    root = SquareRoot(size=size)
    x = np.random.default_rng(0).integers(0, 100, size=size)
    assert root.solve(root.whole_matvec(x) / root.denominator) == pytest.approx(x, abs=1e-6)


@pytest.mark.parametrize("size", [100, 1000, 100_000])
def test_its_norm_grows_with_the_logarithm_over_pi(size):
    square = float(SquareRoot(size=size).change(2, relation="add_remove").power)
    assert square - math.log(size) / math.pi == pytest.approx(1.066, abs=0.01)


def test_it_beats_the_tree_under_gaussian_noise():
    errors = []
    for strategy in (SquareRoot(size=256), Hierarchical(size=256)):
        power = float(strategy.change(2, relation="add_remove").power)
        errors.append(power * total_variance(Prefix(size=256), strategy))
    assert errors[0] < 0.75 * errors[1]


def test_very_many_steps_have_a_bound():
    many = SquareRoot(size=10_000)
    for p in (1, 2):
        change = many.change(p, relation="replace_one")
        assert not change.attained
        assert change.power == 2 * many.change(p, relation="add_remove").power
    assert SquareRoot(size=100).change(2, relation="replace_one").attained
    assert isinstance(SquareRoot(size=100).change(2, relation="replace_one").power, Fraction)
