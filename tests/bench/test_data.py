"""Shapes, scales, domains and workloads: what a benchmark is made of."""

import math

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter
from discreet.bench import WORKLOADS, Source, generated, generated_names, read_sources, workload

DOMAINS = [(1024,), (1,), (100,), (64, 64), (16, 8)]


@pytest.mark.parametrize("sizes", DOMAINS, ids=str)
def test_every_shape_on_every_domain(sizes):
    for name in generated_names(len(sizes)):
        source = generated(name, sizes)
        weights = np.asarray(source.weights)
        assert weights.shape == source.sizes == sizes
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1)
        assert (np.asarray(generated(name, sizes).weights) == weights).all()


def test_shapes_differ_from_each_other():
    for sizes in ((1024,), (64, 64)):
        shapes = [np.asarray(generated(name, sizes).weights) for name in generated_names(len(sizes))]
        apart = [np.abs(a - b).sum() / 2 for i, a in enumerate(shapes) for b in shapes[:i]]
        assert min(apart) > 0.2
    empty = np.mean(np.asarray(generated("spikes", (1024,)).weights) == 0)
    assert empty > 0.94


def test_draws_have_the_scale_the_shape_and_the_seed():
    source = generated("mixture", (256,))
    drawn = source.draw(100_000, seed=2)
    assert drawn.sum() == 100_000
    assert drawn.dtype == np.int64
    assert (drawn == source.draw(100_000, seed=2)).all()
    assert (drawn != source.draw(100_000, seed=3)).any()
    assert (drawn != generated("zipf", (256,)).draw(100_000, seed=2)).any()
    expected = 100_000 * np.asarray(source.weights)
    assert (np.abs(drawn - expected) < 7 * np.sqrt(expected) + 12).all()


def test_coarsening_adds_equal_blocks():
    fine = Source.of("counts", np.arange(48).reshape(6, 8))
    coarse = fine.coarsened((3, 2))
    expected = [
        [sum(8 * i + j for i in (2 * a, 2 * a + 1) for j in range(4 * b, 4 * b + 4)) for b in (0, 1)] for a in range(3)
    ]
    assert np.allclose(np.asarray(coarse.weights) * 1128, expected)
    assert coarse.persons == fine.persons == 1128
    assert "3 x 2" in repr(coarse)
    for sizes in ((4, 2), (6,), (12, 8), (0, 2)):
        with pytest.raises(InvalidParameter, match="equal blocks"):
            fine.coarsened(sizes)


@pytest.mark.parametrize(
    "weights", [[], [0, 0], [1, -1], [1, math.nan], [math.inf], ["a"], [[[1]]], 3, [True, False]], ids=str
)
def test_refuses_what_is_no_shape(weights):
    with pytest.raises(InvalidInput, match="'odd'"):
        Source(name="odd", weights=weights)


@pytest.mark.parametrize("scale", [0, -5, 1.5, True, 10**13])
def test_refuses_what_is_no_scale(scale):
    with pytest.raises(InvalidParameter, match="scale"):
        generated("zipf", (4,)).draw(scale)


def test_reads_arrays(tmp_path):
    np.save(tmp_path / "ONE.npy", np.array([1, 2, 3]))
    np.save(tmp_path / "two_2_2.npy", np.array([[1.0, 0.0], [2.0, 4.0]]))
    found = read_sources(tmp_path)
    assert [(source.name, source.sizes, source.persons) for source in found] == [("ONE", (3,), 6), ("two", (2, 2), 7)]
    assert read_sources(tmp_path / "ONE.npy")[0].name == "ONE"


def test_refuses_files_that_are_no_arrays(tmp_path):
    with pytest.raises(InvalidInput, match="holds no"):
        read_sources(tmp_path)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_sources(tmp_path / "missing.npy")
    (tmp_path / "text.npy").write_text("not an array")
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_sources(tmp_path / "text.npy")
    np.save(tmp_path / "pickled.npy", np.array([{"a": 1}], dtype=object))
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_sources(tmp_path / "pickled.npy")
    np.savez(tmp_path / "several.npz", a=np.ones(2))
    with pytest.raises(InvalidInput, match="several"):
        read_sources(tmp_path / "several.npz")
    (tmp_path / "empty.npy").touch()
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_sources(tmp_path / "empty.npy")


@pytest.mark.parametrize("sizes", [(6,), (3, 4)], ids=str)
def test_workloads_ask_what_their_names_say(sizes):
    cells = math.prod(sizes)
    x = np.random.default_rng(0).integers(0, 9, sizes)
    whole = [workload(name, sizes, queries=30).matvec(x.reshape(-1)) for name in ("all ranges", "prefixes", "cells")]
    assert len(whole[0]) == math.prod(side * (side + 1) // 2 for side in sizes)
    assert whole[1][-1] == x.sum()
    assert (whole[2] == x.reshape(-1)).all()
    ranges = workload("ranges", sizes, queries=30)
    assert ranges.shape == (30, cells)
    assert set(ranges.matvec(x.reshape(-1)).tolist()) <= set(whole[0].tolist())
    if len(sizes) == 2:
        assert workload("marginals", sizes).matvec(x.reshape(-1)).tolist() == [*x.sum(axis=1), *x.sum(axis=0)]


def test_refuses_what_cannot_be_asked():
    with pytest.raises(InvalidParameter, match=", ".join(WORKLOADS)):
        workload("everything", (4,))
    with pytest.raises(InvalidParameter, match="line has none"):
        workload("marginals", (4,))
    with pytest.raises(InvalidParameter, match="line or a plane"):
        workload("cells", (2, 2, 2))
    with pytest.raises(InvalidParameter, match="smaller domain"):
        workload("all ranges", (256, 256))
    with pytest.raises(InvalidParameter, match="dimension"):
        generated("clusters", (4,))
