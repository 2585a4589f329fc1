"""Distances of tables, from records and from models."""

import itertools

import numpy as np
import pytest

from discreet import InvalidParameter
from discreet.synthetic.coded import Tallied
from discreet.synthetic.graphical import GraphicalModel, junction_tree
from discreet.utility import NOTE, workload_error
from discreet.utility.workload_error import default_workload

SIZES = (3, 2, 4)


def records(rows, seed):
    return np.random.default_rng(seed).integers(0, SIZES, (rows, 3))


def test_it_is_the_distance_of_shares_by_hand():
    real, made = records(300, 1), records(100, 2)
    found = workload_error(real, made, sizes=SIZES, workload=[(0, 1), (2,)])
    for some in ((0, 1), (2,)):
        away = 0.0
        for cell in itertools.product(*(range(SIZES[i]) for i in some)):
            one, other = ((data[:, list(some)] == cell).all(axis=1).mean() for data in (real, made))
            away += abs(one - other)
        assert found.by_set[some] == pytest.approx(away)
    assert found.mean == pytest.approx(np.mean(list(found.by_set.values())))
    assert found.worst == max(found.by_set.values()) == found.by_set[found.worst_set]
    assert found.total_variation == found.mean / 2
    assert found.note == NOTE
    assert "NOT private" in NOTE


def test_records_tallies_and_models_are_read_alike():
    real = records(200, 3)
    codes, counts = np.unique(real, axis=0, return_counts=True)
    assert workload_error(real, Tallied(codes, counts), sizes=SIZES).worst == pytest.approx(0)
    table = np.zeros(SIZES)
    np.add.at(table, tuple(real.T), 1.0)
    with np.errstate(divide="ignore"):
        model = GraphicalModel(junction_tree(SIZES, [(0, 1, 2)]), [np.log(table)], 77.0)
    assert workload_error(real, model, sizes=SIZES).worst == pytest.approx(0)


def test_nothing_in_common_is_two_and_no_records_are_uniform():
    assert workload_error([[0, 0, 0]], [[1, 1, 1]], sizes=SIZES).worst == 2
    assert workload_error([], [], sizes=SIZES).worst == 0


def test_the_default_is_all_triples():
    assert len(default_workload(14)) == 364
    assert default_workload(1) == ((0,),)


@pytest.mark.parametrize("workload", [[], [()], [(3,)], [(-1,)]])
def test_odd_workloads_are_refused(workload):
    with pytest.raises(InvalidParameter):
        workload_error([[0, 0, 0]], [[0, 0, 0]], sizes=SIZES, workload=workload)


def test_a_huge_table_and_a_model_of_other_sizes_are_refused():
    with pytest.raises(InvalidParameter, match="combinations"):
        workload_error([[0, 0]], [[0, 0]], sizes=(10**5, 10**5))
    model = GraphicalModel(junction_tree((2,), []), [np.zeros(2)], 1.0)
    with pytest.raises(InvalidParameter, match="sizes"):
        workload_error([[0]], model, sizes=(3,))
