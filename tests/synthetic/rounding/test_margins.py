"""Tables whose rows, columns and groups keep their sums, exactly, in every run."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidParameter
from discreet.synthetic.rounding import margins, round_margins

SEEDS = st.integers(0, 2**32)


def some_table(random, groups=1):
    """Return a real table whose sums are those of a hidden whole table, with those sums."""
    rows, columns = int(random.integers(2, 7)), int(random.integers(groups, 12))
    mixed = [random.poisson(random.uniform(0.2, 4), (rows, columns)) for _ in range(3)]
    group = np.concatenate([np.arange(groups), random.integers(0, groups, columns - groups)])
    whole = mixed[0]
    real = whole.astype(float)
    for _ in range(15):  # moving along cycles keeps all sums
        (i, j), (k, m) = random.integers(0, rows, 2), random.integers(0, columns, 2)
        if i == j or k == m or group[k] != group[m]:
            continue
        step = random.uniform(0, min(real[i, k], real[j, m]))
        real[i, k] -= step
        real[j, m] -= step
        real[i, m] += step
        real[j, k] += step
    across = np.zeros((rows, groups), dtype=np.int64)
    np.add.at(across.T, group, whole.T)
    return real, across, whole.sum(axis=0), group


def sums(table, labels, count):
    result = np.zeros((len(table), count), dtype=table.dtype)
    np.add.at(result.T, labels, table.T)
    return result


@settings(max_examples=40)
@given(SEEDS, st.integers(1, 3))
def test_all_sums_are_kept_and_entries_go_to_floor_or_ceiling(seed, groups):
    real, across, down, group = some_table(np.random.default_rng(seed), groups)
    whole = round_margins(real, rows=across, columns=down, groups=group)
    assert np.array_equal(whole.sum(axis=0), down)
    assert np.array_equal(sums(whole, group, groups), across)
    assert whole.min() >= 0
    assert np.abs(whole - real).max() < 1 + 1e-6


@settings(max_examples=40)
@given(SEEDS)
def test_tables_that_only_nearly_have_the_sums_get_them(seed):
    random = np.random.default_rng(seed)
    real, across, down, group = some_table(random, 2)
    noisy = np.maximum(real + random.normal(0, 2, real.shape), 0)
    for deadline in (None, 0.0):
        whole = round_margins(noisy, rows=across, columns=down, groups=group, deadline=deadline)
        assert np.array_equal(whole.sum(axis=0), down)
        assert np.array_equal(sums(whole, group, 2), across)
        assert whole.min() >= 0


@settings(max_examples=40)
@given(SEEDS)
def test_nested_sums_are_kept_up_to_rounding(seed):
    real, _, down, group = some_table(np.random.default_rng(seed), 3)
    real = real * np.random.default_rng(seed + 1).uniform(0, 1, len(real))[:, None]
    real = real * (down / np.maximum(real.sum(axis=0), 1e-9))
    if not np.allclose(real.sum(axis=0), down):
        return
    coarse = group // 2
    whole = round_margins(real, columns=down, nested=[group, coarse])
    assert np.array_equal(whole.sum(axis=0), down)
    for labels in (group, coarse, np.zeros_like(group)):
        gap = sums(whole.astype(float), labels, 3) - sums(real, labels, 3)
        assert np.abs(gap).max() < 1 + 1e-6


def test_the_distance_is_the_least():
    random = np.random.default_rng(8)
    for _ in range(10):
        real = random.dirichlet(np.ones(2), 3).T  # two rows, three columns that sum to 1
        whole = round_margins(real, columns=[1, 1, 1])
        total = real.sum(axis=1)
        options = []
        for picks in itertools.product([0, 1], repeat=3):
            table = np.zeros((2, 3))
            table[list(picks), range(3)] = 1
            if np.all(np.abs(table.sum(axis=1) - total) < 1):
                options.append(np.abs(table - real).sum())
        assert np.abs(whole - real).sum() == pytest.approx(min(options), abs=1e-9)


def test_time_up_gives_a_table_too(monkeypatch):
    monkeypatch.setattr(margins, "_flow", lambda *_: pytest.fail("there was no time for a program"))
    random = np.random.default_rng(2)
    real, across, down, group = some_table(random, 3)
    whole = round_margins(real, rows=across, columns=down, groups=group, deadline=time.monotonic() - 1)
    assert np.array_equal(whole.sum(axis=0), down)
    assert np.array_equal(sums(whole, group, 3), across)
    assert np.array_equal(round_margins(real, columns=down, deadline=0.0).sum(axis=0), down)


def test_a_solver_that_lies_is_not_believed(monkeypatch):
    """Sums are counted after every program; a wrong table is thrown away and the corner fills in."""

    def liar(*_, **settings):
        size = settings["A_eq"].shape[1]
        return type("Result", (), {"status": 0, "x": np.zeros(size)})()

    monkeypatch.setattr(margins.optimize, "linprog", liar)
    whole = round_margins([[0.5, 0.5], [0.5, 0.5]], columns=[1, 1], rows=[1, 1])
    assert whole.sum(axis=0).tolist() == whole.sum(axis=1).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ([[1.0]], {"columns": [1, 2]}),
        ([[1.0]], {"columns": [1.5]}),
        ([[-1.0]], {"columns": [1]}),
        ([[np.nan]], {"columns": [1]}),
        ([[1.0]], {"columns": [-1]}),
        ([[1.0]], {"columns": [1], "rows": [2]}),
        ([[1.0]], {"columns": [1], "rows": [[1, 0]], "groups": [2]}),
        ([[1.0]], {"columns": [1], "rows": [0.5]}),
    ],
)
def test_sums_that_disagree_are_refused(values, options):
    with pytest.raises(InvalidParameter):
        round_margins(values, **options)


def test_sums_of_unsigned_numbers_are_the_same_sums():
    sums = np.array([2**60, 3], dtype=np.uint64)
    table = round_margins([[2.0**60, 0.5], [0.5, 2.5]], columns=sums, rows=sums)
    assert [sum(column) for column in table.T.tolist()] == [sum(row) for row in table.tolist()] == [2**60, 3]
    with pytest.raises(InvalidParameter):
        round_margins([[2.0**60, 1.0]], columns=sums, rows=np.array([2**60 + 4], dtype=np.uint64))


@pytest.mark.parametrize(
    ("values", "columns", "rows"),
    [([[1e19]], [1], None), ([[1.0]], [2**63 - 1], None), ([[1.0], [1.0]], [0], [2**63 - 1, 2**63 - 1])],
)
def test_numbers_whose_sums_64_bits_do_not_hold_are_refused(values, columns, rows):
    with pytest.raises(InvalidParameter):
        round_margins(values, columns=columns, rows=rows)
