import numpy as np
import pytest

from discreet import InvalidParameter
from discreet.synthetic.operators import Marginals
from discreet.synthetic.strategies import ResidualPlanner, total_variance, weighted_marginals


def error(workload, strategy, p):
    return float(strategy.change(p, relation="add_remove").power) ** (2 / p) * total_variance(workload, strategy)


WORK = [
    Marginals.of_order((4, 5, 6), 1),
    Marginals.of_order((3, 3, 3, 3), 2),
    Marginals(sizes=(2, 10, 3), of=((0,), (0, 1), (2,)), weights=(3, 1, 1)),
    Marginals(sizes=(2, 1, 3), of=((0, 1), (1, 2), (0, 2))),
]


@pytest.mark.parametrize("workload", WORK)
@pytest.mark.parametrize("p", [1, 2])
def test_what_is_found_is_no_worse_than_what_is_asked_or_than_all_cells(workload, p):
    found = error(workload, weighted_marginals(workload, p=p), p)
    whole = Marginals(sizes=workload.sizes, of=(tuple(range(len(workload.sizes))),))
    assert found <= 1.001 * error(workload, workload, p)
    assert found <= 1.001 * error(workload, whole, p)


@pytest.mark.parametrize("workload", WORK)
def test_no_strategy_of_marginals_beats_the_residual_planner(workload):
    planner = ResidualPlanner(workload=workload, rho=0.5, relation="add_remove")
    found = error(workload, weighted_marginals(workload, p=2), 2)
    assert planner.error().total <= found * (1 + 1e-9)
    assert planner.error().total >= 0.7 * found


def test_many_attributes():
    found = weighted_marginals(Marginals.of_order((5,) * 10, 2), p=2)
    assert all(len(attributes) <= 2 for attributes in found.of)
    assert np.isfinite(error(Marginals.of_order((5,) * 10, 2), found, 2))


def test_parameters_are_checked():
    with pytest.raises(InvalidParameter):
        weighted_marginals(WORK[0], p=0)
    with pytest.raises(InvalidParameter, match="tables"):
        weighted_marginals(Marginals.of_order((2,) * 40, 3))
