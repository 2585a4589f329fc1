"""Least squares over the spine against the normal equations of all measurements, written down densely."""

import numpy as np
import pytest

from discreet.errors import InvalidParameter
from discreet.synthetic.hierarchy import Cells, Hierarchy, Spine, bases, estimation
from discreet.synthetic.hierarchy.bases import Contrasts, Each, Vectors, contrasts
from discreet.synthetic.hierarchy.estimation import ByCoordinates
from discreet.synthetic.hierarchy.matrices import ByMatrices

RAGGED = Spine(
    levels=("a", "b", "c"),
    leaves=(("r", 0, 0), ("r", 0, 1), ("r", 1, 0), ("r", 1, 1), ("r", 1, 2), ("r", 2, 0), ("r", 3, 0), ("r", 3, 1)),
)
FOREST = Spine(levels=("a", "b"), leaves=((0, 0), (1, 0), (0, 1), (1, 1), (1, 2)))
FLAT = Spine(levels=("a",), leaves=((0,), (1,)))
WHOLE = Cells(attributes={"x": (0, 1), "y": (0, 1, 2)})
HOLES = Cells(
    attributes={"x": (0, 1), "y": (0, 1, 2), "z": (0, 1)}, rules={"r": lambda c: c["x"] + c["y"] + c["z"] != 3}
)
SAME = {"total": 1, "x": 2, "all": 1}
UNLIKE = {"a": {"total": 5, "all": 1}, "b": {"x": 3, "all": 1}, "c": {"total": 1, "y": 2, "all": 3}}
COARSE = {"a": {"all": 1}, "b": {"x": 1}, "c": {"total": 1, "y": 1}}


def make(spine, cells, shares):
    queries = {"total": (), "x": ("x",), "y": ("y",), "all": cells.names}
    given = shares if set(shares) & set(spine.levels) else dict.fromkeys(spine.levels, shares)
    given = {level: by_query for level, by_query in given.items() if level in spine.levels}
    return Hierarchy(spine=spine, cells=cells, queries=queries, rho=2, relation="add_remove", shares=given)


def rows_of(hierarchy, level, attributes):
    """Return the matrix that turns the counts of leaves and cells into a table on a level."""
    spine, cells = hierarchy.spine, hierarchy.cells
    nodes, depth = list(spine.nodes(level)), spine.depth(level) + 1
    up = np.array([[path[:depth] == node for path in spine.leaves] for node in nodes], dtype=float)
    labels = cells.labels(attributes)
    return np.kron(up, (labels[None, :] == np.arange(labels.max() + 1)[:, None]).astype(float))


def dense(hierarchy, noisy):
    rows = np.vstack([rows_of(hierarchy, m.level, m.attributes) for m in hierarchy.measurements])
    precision = np.concatenate(
        [np.full(y.size, 1 / m.sigma**2) for m, y in zip(hierarchy.measurements, noisy, strict=True)]
    )
    cover = np.linalg.pinv(rows.T @ (precision[:, None] * rows), rcond=1e-11, hermitian=True)
    return cover @ (rows.T @ (precision * np.concatenate([y.reshape(-1) for y in noisy]))), cover, rows


def told(hierarchy, noisy):
    cells, spine = hierarchy.cells, hierarchy.spine
    sums = [np.zeros((len(spine.nodes(level)), cells.count)) for level in spine.levels]
    for m, y in zip(hierarchy.measurements, noisy, strict=True):
        sums[spine.depth(m.level)] += y[:, cells.labels(m.attributes)] / m.sigma**2
    return sums


CASES = [
    (RAGGED, WHOLE, SAME, ByCoordinates, Contrasts),
    (RAGGED, WHOLE, UNLIKE, ByCoordinates, Contrasts),
    (RAGGED, WHOLE, COARSE, ByCoordinates, Contrasts),
    (FOREST, WHOLE, UNLIKE, ByCoordinates, Contrasts),
    (FLAT, WHOLE, {"total": 3, "all": 1}, ByCoordinates, Contrasts),
    (RAGGED, HOLES, SAME, ByCoordinates, Vectors),
    (RAGGED, HOLES, {"all": 1}, ByCoordinates, Each),
    (RAGGED, HOLES, UNLIKE, ByMatrices, None),
    (RAGGED, HOLES, COARSE, ByMatrices, None),
    (FOREST, HOLES, UNLIKE, ByMatrices, None),
    (FOREST, HOLES, {"a": {"all": 1}, "b": {"x": 1}}, ByMatrices, None),
]


@pytest.mark.parametrize(("spine", "cells", "shares", "kind", "basis"), CASES, ids=range(len(CASES)))
def test_equals_the_normal_equations(spine, cells, shares, kind, basis):
    hierarchy = make(spine, cells, shares)
    passes = hierarchy._estimation()
    assert type(passes) is kind
    assert basis is None or type(passes.basis) is basis
    random = np.random.default_rng(1)
    noisy = [
        random.normal(20, 9, (len(spine.nodes(m.level)), cells.labels(m.attributes).max() + 1))
        for m in hierarchy.measurements
    ]
    values = passes.estimates(told(hierarchy, noisy))
    expected, cover, rows = dense(hierarchy, noisy)
    known = cover @ np.linalg.pinv(cover, rcond=1e-11, hermitian=True)
    # What is measured somewhere is told, and its estimate unique; what is not is shared evenly, as by pinv.
    assert rows @ values[-1].reshape(-1) == pytest.approx(rows @ expected, abs=1e-7)
    for depth, level in enumerate(spine.levels):
        sums = rows_of(hierarchy, level, cells.names) @ values[-1].reshape(-1)
        assert values[depth].reshape(-1) == pytest.approx(sums, abs=1e-7)
        for attributes in hierarchy.queries.values():
            table = rows_of(hierarchy, level, attributes)
            estimable = np.allclose(table @ known, table, atol=1e-7)
            variance = passes.variance(depth, attributes)
            if estimable:
                assert table @ values[-1].reshape(-1) == pytest.approx(table @ expected, abs=1e-7)
                assert variance == pytest.approx(np.diag(table @ cover @ table.T).mean(), rel=1e-7)
            else:
                assert np.isinf(variance)


@pytest.mark.parametrize(("spine", "cells", "shares", "kind", "basis"), CASES, ids=range(len(CASES)))
def test_the_metric_and_its_inverse_agree(spine, cells, shares, kind, basis):
    passes = make(spine, cells, shares)._estimation()
    rows = np.random.default_rng(2).normal(size=(3, cells.count))
    for depth in range(len(spine.levels)):
        times, solver, typical = passes.metric(depth)
        assert typical > 0
        assert times(solver(0.7)(rows)) + 0.7 * solver(0.7)(rows) == pytest.approx(rows, abs=1e-8)
        assert np.all((times(rows) * rows).sum(axis=1) >= -1e-9)


def test_a_forgotten_level_would_be_seen(monkeypatch):
    """The comparison above is sharp: with the parents' measurements left out, estimates differ."""
    hierarchy = make(RAGGED, WHOLE, SAME)
    random = np.random.default_rng(1)
    noisy = [
        random.normal(20, 9, (len(RAGGED.nodes(m.level)), WHOLE.labels(m.attributes).max() + 1))
        for m in hierarchy.measurements
    ]
    right, wrong = told(hierarchy, noisy), told(hierarchy, noisy)
    wrong[0][:] = 0
    passes = hierarchy._estimation()
    assert not np.allclose(passes.estimates(right)[-1], passes.estimates(wrong)[-1], atol=1e-3)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_contrasts_are_orthonormal(size):
    matrix = contrasts(size)
    assert matrix @ matrix.T == pytest.approx(np.eye(size), abs=1e-12)
    assert matrix[0] == pytest.approx(np.full(size, size**-0.5), abs=1e-12)


def test_bases_are_orthonormal_and_know_their_tables():
    random = np.random.default_rng(0)
    for basis in (Contrasts(WHOLE), Each(HOLES), Vectors(HOLES, np.linalg.qr(random.normal(size=(9, 9)))[0])):
        rows = random.normal(size=(4, basis.cells.count))
        assert basis.backward(basis.forward(rows)) == pytest.approx(rows, abs=1e-12)
        assert (basis.forward(rows) ** 2).sum() == pytest.approx((rows**2).sum())
        factors = random.uniform(1, 2, basis.cells.count)
        assert basis.scaled(factors)(rows) == pytest.approx(basis.backward(basis.forward(rows) * factors), abs=1e-12)
        units = basis.backward(np.eye(basis.cells.count))
        for attributes in ((), ("x",), ("y",), basis.cells.names):
            tables = bases.table_sums(units, basis.cells.labels(attributes))
            assert basis.spectrum(attributes) == pytest.approx((tables**2).sum(axis=1), abs=1e-12)


def test_matrices_that_are_too_wide_are_refused(monkeypatch):
    monkeypatch.setattr(estimation, "WIDEST", 10)
    with pytest.raises(InvalidParameter, match="in the same way on every level"):
        make(RAGGED, HOLES, UNLIKE).standard_errors()
