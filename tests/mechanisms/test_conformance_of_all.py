"""Every mechanism we ship keeps the contract that we ask of others."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

import discreet.mechanisms
import discreet.mechanisms.partition
from discreet import (
    STAT,
    BoundedCount,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    Quantile,
    RandomizedResponse,
    RandomRecord,
    Warner,
    YesBiased,
)
from discreet.mechanisms import (
    GaussianThreshold,
    GridQuantile,
    LaplaceThreshold,
    OptimalSelection,
    QuantileTree,
    TopK,
)
from discreet.testing import check_mechanism

MECHANISMS = [
    (Geometric(sensitivity=1, epsilon=0.5), None),
    (Geometric(sensitivity=3, scale=Fraction(7, 3)), None),
    (Laplace(sensitivity=1, epsilon=0.5), None),
    (Laplace(sensitivity=Fraction(1, 3), scale=2, grid=0.25), None),
    (Gaussian(sensitivity=1, epsilon=1, delta=1e-5), None),
    (Gaussian(sensitivity=2, sigma=5), None),
    (DiscreteGaussian(sensitivity=1, sigma=4), None),
    (DiscreteGaussian(sensitivity=1, epsilon=1, delta=1e-5), None),
    (Exponential(epsilon=1), None),
    (Exponential(epsilon=1, sensitivity=2, monotone=True), None),
    (BoundedCount(size=5, epsilon=1), None),
    (PermuteAndFlip(epsilon=1), None),
    (NoisyMax(epsilon=1, noise="laplace"), None),
    (Quantile(bounds=(0, 10), epsilon=1, relation="add_remove", grid=0.25), [k / 4 for k in range(41)]),
    (
        Quantile(bounds=(0.1, 9.9), epsilon=1, relation="replace_one", grid=0.25, probability=0.3),
        [0.1, *(k / 4 for k in range(1, 40)), 9.9],
    ),
    (RandomizedResponse(epsilon=1), None),
    (RandomizedResponse(epsilon=2, categories=5), None),
    (Warner(truth=0.75), None),
    (Warner(truth=Fraction(1, 3)), None),
    (YesBiased(), None),
    (STAT(query=abs, size=10, epsilon=1), None),
    (RandomRecord(size=4), [0, 1]),
    (OptimalSelection(epsilon=1, delta=0.05), [(), (0,)]),
    (LaplaceThreshold(epsilon=1, delta=0.05), [(), (0,)]),
    (GaussianThreshold(sigma=1, delta=0.05), [(), (0,)]),
    (GridQuantile(bounds=(0, 10), epsilon=1, relation="add_remove"), range(11)),
    (QuantileTree(branching=2, levels=2, epsilon=1, relation="add_remove"), None),
    (TopK(k=1, epsilon=1), [(0,), (1,)]),
]


@pytest.mark.parametrize(("mechanism", "outputs"), MECHANISMS, ids=lambda value: repr(value)[:60])
def test_keeps_the_contract(mechanism, outputs, monkeypatch):
    monkeypatch.setattr(discreet.mechanisms.partition, "BLOCK", 64)  # thousands of small releases
    done = check_mechanism(mechanism, outputs=outputs)
    assert {"interface", "frozen", "keyword-only", "loss"} <= set(done.passed)
    if hasattr(mechanism, "log_probability"):
        assert {"claim", "law"} <= set(done.passed)


ELSEWHERE = {
    "BoundedLocal": "test_bounded_local.py",
    "CandidateQuantile": "test_candidate_quantile.py",
    "InverseSensitivity": "test_inverse_sensitivity.py",
    "KnownBins": "test_histogram.py",
    "Mode": "test_stability.py",
    "PrivTree": "test_priv_tree.py",
    "ProposeTestRelease": "test_propose_test_release.py",
    "SampleAndAggregate": "test_sample_and_aggregate.py",
    "SmoothInterval": "test_smooth_quantile.py",
    "SmoothNoise": "admissible/test_smooth_noise.py",
    "SmoothQuantile": "test_smooth_quantile.py",
    "StabilityHistogram": "test_stability_histogram.py",
    "StableValue": "test_stability.py",
    "TestedQuantile": "test_tested_quantile.py",
    "TreeCDF": "test_tree_cdf.py",
}
"""Mechanisms that need neighbours of their own, and where they keep the contract."""


def test_no_mechanism_is_left_out():
    """A class with a release and a loss of its own that is exported must appear above."""
    shipped = {
        cls
        for name in discreet.mechanisms.__all__
        if isinstance(cls := getattr(discreet.mechanisms, name), type) and hasattr(cls, "release")
    } - {discreet.mechanisms.Mechanism, discreet.mechanisms.Lifted}
    assert {cls.__name__ for cls in shipped} == {type(mechanism).__name__ for mechanism, _ in MECHANISMS} | set(
        ELSEWHERE
    )


@pytest.mark.parametrize(("name", "file"), ELSEWHERE.items())
def test_the_others_are_checked_where_it_is_said(name, file):
    text = Path(__file__).parent.joinpath(file).read_text(encoding="utf-8")
    assert re.search(rf"\b{name}\(", text)
    assert "check_mechanism(" in text
