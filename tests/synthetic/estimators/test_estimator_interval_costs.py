import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.synthetic.estimators import DAWA, LARGEST
from discreet.synthetic.estimators.interval_costs import FINE, deviations, least_partition, noise_scale, noisy_costs

LAWS = 11
"""Values of the noise that are told apart; all beyond are left out, and counted as a doubt."""


def neighbours(cells, relation):
    for i in range(len(cells)):
        for j in range(len(cells)) if relation == "replace_one" else [None]:
            if cells[i] > 0 and i != j:
                moved = list(cells)
                moved[i] -= 1
                if j is not None:
                    moved[j] += 1
                yield tuple(moved)


def partitions(costs, cells):
    """All partitions into intervals that have a cost, with their costs."""
    known = {(k * step, k * step + length): int(c) for length, step, cs in costs for k, c in enumerate(cs)}

    def from_(start):
        if start == cells:
            yield [start], 0
        for (low, high), cost in known.items():
            if low == start:
                for ends, rest in from_(high):
                    yield [start, *ends], cost + rest

    return list(from_(0))


@pytest.mark.parametrize(("relation", "steps"), [("add_remove", 1), ("replace_one", 2)])
def test_a_record_moves_the_deviations_by_one_for_each_cell_that_changes(relation, steps):
    most = 0
    for cells in itertools.product(range(4), repeat=4):
        exact = deviations(np.array(cells))
        for other in neighbours(cells, relation):
            for (_, _, a), (_, _, b) in zip(exact, deviations(np.array(other)), strict=True):
                most = max(most, int(np.abs(a - b).max()))
    assert most == steps


def test_deviations_are_those_from_the_median():
    cells = np.random.default_rng(1).integers(0, 1000, 100)
    for length, step, costs in deviations(cells):
        for place, cost in enumerate(costs):
            window = cells[place * step : place * step + length]
            assert cost == np.abs(window - np.median(window)).sum()
        assert len(costs) == (100 - length) // step + 1


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_the_partition_is_the_least_of_all(size):
    random = np.random.default_rng(size)
    for _ in range(20):
        costs = [(n, s, random.integers(-20, 60, len(c))) for n, s, c in deviations(np.zeros(size, dtype=np.int64))]
        found = least_partition(costs, size).tolist()
        every = partitions(costs, size)
        assert {tuple(ends): cost for ends, cost in every}[tuple(found)] == min(cost for _, cost in every)


def test_ties_go_to_one_partition_in_a_fixed_order():
    costs = [(1, 1, np.zeros(4, dtype=np.int64)), (2, 1, np.zeros(3, dtype=np.int64)), (4, 1, np.zeros(1, np.int64))]
    assert least_partition(costs, 4).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("relation", "touched"), [("add_remove", 1), ("replace_one", 2)])
@pytest.mark.parametrize(("size", "fine"), [(2, 1), (3, 1), (2, 2)])
def test_the_partition_is_private_to_the_last_digit(relation, touched, size, fine):
    """The law of the partition, summed over all values of the noise, on all small histograms and their neighbours."""
    epsilon = Fraction(2 * touched)
    scale = fine * float(noise_scale(epsilon, touched))
    steps = LAWS if size == 3 else 4 * fine * LAWS
    law = np.exp(-np.arange(steps) / scale) * -math.expm1(-1 / scale)

    def laws(cells):
        exact = deviations(np.array(cells))
        flat = fine * np.concatenate([costs for _, _, costs in exact]) + 3
        noises = np.stack(np.meshgrid(*[np.arange(steps)] * len(flat), indexing="ij"), axis=-1).reshape(-1, len(flat))
        weights = law[noises].prod(axis=1)
        noisy = flat - noises
        if size == 2:
            options = {(0, 1, 2): noisy[:, 0] + noisy[:, 1], (0, 2): noisy[:, 2]}
        else:
            options = {
                (0, 1, 2, 3): noisy[:, :3].sum(axis=1),
                (0, 2, 3): noisy[:, 3] + noisy[:, 2],
                (0, 1, 3): noisy[:, 0] + noisy[:, 4],
            }
        chosen = np.argmin(np.stack(list(options.values())), axis=0)  # in the order of the recursion: short ones first
        sample = np.linspace(0, len(noises) - 1, 200).astype(int)
        splits = np.cumsum([len(costs) for _, _, costs in exact])[:-1]
        for row in sample:
            lists = zip(exact, np.split(noisy[row], splits), strict=True)
            ends = least_partition([(n, s, values) for (n, s, _), values in lists], size)
            assert tuple(ends.tolist()) == list(options)[chosen[row]]
        return np.bincount(chosen, weights=weights, minlength=len(options))

    doubt = 1 - law.sum() ** (3 if size == 2 else 5)
    known = {}
    worst = 0.0
    for cells in itertools.product(range(3), repeat=size):
        for other in neighbours(cells, relation):
            for each in (cells, other):
                if each not in known:
                    known[each] = laws(each)
            for a, b in ((cells, other), (other, cells)):
                assert (known[a] <= math.exp(epsilon) * known[b] + doubt * math.exp(epsilon) + 1e-12).all()
                worst = max(worst, float(np.log(known[a] / known[b]).max()))
    assert worst > 0.3  # neighbours do differ: the test can fail


def test_noise_lowers_costs_and_is_never_negative():
    cells = np.arange(64)
    for (_, _, exact), (_, _, noisy) in zip(
        deviations(cells), noisy_costs(cells, Fraction(20), Fraction(7)), strict=True
    ):
        assert (noisy <= FINE * (exact + 7)).all()
    assert noise_scale(Fraction(1, 2), 1) == 4
    assert noise_scale(Fraction(1, 2), 2) == 8


def test_costs_of_full_cells_are_exact_at_every_length():
    cells = np.zeros(1 << 15, dtype=np.int64)
    cells[::2] = LARGEST
    charged, tiny = Fraction(1, 3 * FINE), Fraction(1, 10**6)
    for length, _, costs in noisy_costs(cells, tiny, charged):  # noise of this scale is 0
        assert set(costs.tolist()) == {FINE * LARGEST * (length // 2) + 1}


def test_a_bucket_may_cost_less_than_a_record():
    plan = DAWA(shape=(64,), epsilon=10**5, relation="add_remove")
    for cells in (np.arange(64) % 2, np.repeat([3, 4, 3, 3], 16), np.arange(64)):
        ends = plan.buckets(plan.read(cells))
        assert all(len(set(bucket.tolist())) == 1 for bucket in np.split(cells, ends[1:-1]))


def test_scales_beyond_sixty_four_bits_are_drawn():
    ends = DAWA(shape=(8,), epsilon=Fraction(1, 10**30), relation="add_remove").release(np.arange(8))
    assert np.isfinite(ends).all()


def test_even_stretches_become_buckets():
    plan = DAWA(shape=(64,), epsilon=20, relation="add_remove", caution=4)
    ends = plan.buckets(plan.read(np.repeat([500, 0, 900, 900], 16)))
    assert {16, 32} <= set(ends.tolist())
    assert len(ends) < 20
