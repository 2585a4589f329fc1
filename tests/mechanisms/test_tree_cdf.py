import math
import warnings
from itertools import product

import numpy as np
import pytest

from discreet.errors import InvalidInput, InvalidParameter, NotPrivateWarning
from discreet.mechanisms import tree_cdf
from discreet.mechanisms.noisy_cdf import NoisyCDF
from discreet.mechanisms.noisy_tree import consistent_weights, log_moment
from discreet.mechanisms.quantile_tree import level_weights
from discreet.mechanisms.tree_cdf import TreeCDF, largest_variance
from discreet.testing import check_mechanism, seeded

RELATIONS = ["add_remove", "replace_one"]


@pytest.fixture(autouse=True)
def same_noise(request):
    """Draw the noise of a test from a source seeded by the test's name, so that it passes always or never."""
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(request.node.name):
        yield


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("given", [{"epsilon": 1}, {"rho": 0.5}], ids=["pure", "concentrated"])
def test_keeps_the_contract(relation, given):
    done = check_mechanism(TreeCDF(bounds=(0, 1), size=8, relation=relation, **given))
    assert {"interface", "frozen", "keyword-only", "repr", "loss"} <= set(done.passed)


# --- least squares, by its matrix ----------------------------------------------------------------------------------


def weights_of(branching, levels, counted):
    """Return the weights of all noise in the sum below each edge, from the normal equations."""
    leaves = branching**levels
    nodes = np.concatenate(level_weights(np.eye(leaves, dtype=np.int64), branching, levels), axis=1).T
    if counted:  # the number of all is known, as if it was measured without noise
        free = np.vstack([np.eye(leaves - 1), -np.ones(leaves - 1)])
        solve = free @ np.linalg.pinv(nodes @ free)
    else:
        solve = np.linalg.pinv(nodes)
    return np.tril(np.ones((leaves + 1, leaves)), -1) @ solve


SHAPES = [(2, 1), (2, 2), (2, 3), (2, 6), (3, 1), (3, 2), (3, 4), (4, 3), (5, 2), (7, 2), (16, 1)]


@pytest.mark.parametrize(("branching", "levels"), SHAPES)
@pytest.mark.parametrize("counted", [False, True])
def test_variances_are_those_of_least_squares(branching, levels, counted):
    weights = weights_of(branching, levels, counted)
    assert largest_variance(branching, levels, counted=counted) == pytest.approx((weights**2).sum(axis=1).max())
    assert np.abs(weights).max() <= 1 + 1e-9


@pytest.mark.parametrize(("branching", "levels"), [(2, 6), (3, 4), (4, 3)])
@pytest.mark.parametrize("counted", [False, True])
def test_looking_at_levels_apart_is_on_the_safe_side(branching, levels, counted, monkeypatch):
    exact = largest_variance(branching, levels, counted=counted)
    for chunk in (branching, branching**2):
        monkeypatch.setattr(tree_cdf, "CHUNK", chunk)
        apart = largest_variance.__wrapped__(branching, levels, counted=counted)
        assert exact <= apart * (1 + 1e-8) < 4 * exact


@pytest.mark.parametrize(("branching", "levels"), [(2, 3), (3, 2)])
@pytest.mark.parametrize("counted", [False, True])
def test_estimates_are_those_of_least_squares(branching, levels, counted):
    """The sums that a release computes, for noise that is given."""
    rng = np.random.default_rng(7)
    leaves = branching**levels
    noise = [rng.normal(size=branching**level) for level in range(1, levels + 1)]
    cells = consistent_weights(tuple(noise))[-1]
    below = np.append(0.0, np.cumsum(cells))
    if counted:
        below -= below[-1] * np.arange(leaves + 1) / leaves
    assert below == pytest.approx(weights_of(branching, levels, counted) @ np.concatenate(noise), abs=1e-9)


def test_moments_of_weighted_noise_are_below_those_of_the_weight_squared():
    h = np.geomspace(1e-3, 0.999, 50)
    for w, scale in product((0.1, 0.5, 0.9), (0.3, 1.0, 20.0)):
        assert (log_moment("laplace", scale, w * h / scale) <= w**2 * log_moment("laplace", scale, h / scale)).all()


# --- errors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("given", [{"epsilon": 1}, {"rho": 0.1}, {"epsilon": 1, "branching": 2}], ids=range(3))
@pytest.mark.parametrize("size", [1, 5, 256])
def test_errors_are_kept_at_all_edges_together(size, given, relation):
    """A bound on 1 in 20 that fails in more than 25 of 100 has a probability below 1e-9."""
    made = TreeCDF(bounds=(0, 1), size=size, relation=relation, **given)
    counts = np.random.default_rng(1).integers(0, 40, size)
    exact, failures = np.append(0, np.cumsum(counts)), 0
    for _ in range(100):
        found = made.reveal(counts).below
        assert (np.diff(found) >= 0).all()
        failures += bool(np.abs(found - exact).max() > made.error(0.05))
    assert failures <= 25


@pytest.mark.parametrize(("size", "branching"), [(2, 2), (1000, 2), (1000, 32), (1 << 16, 16)])
@pytest.mark.parametrize("relation", RELATIONS)
def test_rounding_adds_less_than_one_person(size, branching, relation):
    """As many people as are said, in one cell or in all alike, and so little noise that there is none."""
    made = TreeCDF(bounds=(0, 1), size=size, epsilon=10**6, relation=relation, branching=branching)
    for place in (0, size // 2, slice(None)):
        counts = np.zeros(size, dtype=np.int64)
        counts[place] = 2**48 // size // (size if place == slice(None) else 1)
        assert np.abs(made.reveal(counts).below - np.append(0, np.cumsum(counts))).max() < 1


def test_errors_are_not_far_from_what_is_seen():
    made = TreeCDF(bounds=(0, 1), size=1024, epsilon=1, relation="replace_one")
    counts = np.full(1024, 30)
    seen = sorted(np.abs(made.reveal(counts).below - np.append(0, np.cumsum(counts))).max() for _ in range(40))
    assert seen[35] < made.error(0.1) < 4 * seen[35]
    assert made.error(0.01) > made.error(0.1)


def test_the_best_branching_is_taken():
    for relation, size, given in product(RELATIONS, (16, 1000, 2**16), ({"epsilon": 1}, {"rho": 1})):
        best = TreeCDF(bounds=(0, 1), size=size, relation=relation, **given)
        for branching in (2, 4, 16):
            other = TreeCDF(bounds=(0, 1), size=size, relation=relation, branching=branching, **given)
            assert best.error(0.05) <= other.error(0.05) * 1.1


# --- what comes out ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
def test_exact_where_there_is_no_noise(relation):
    made = TreeCDF(bounds=(0, 10), size=5, epsilon=4000, relation=relation)
    found = made.release([0.5, 1, 3, 9.9, 10, 12, -3, math.nan])
    assert found.below == pytest.approx([0, 4, 5, 5, 5, 8], abs=1e-9)
    assert found.total == pytest.approx(8)
    assert found.cdf(2) == pytest.approx(0.5)
    assert (found.cdf(-1), found.cdf(11)) == (0, pytest.approx(1))
    assert found.quantile(0.5) == pytest.approx(2)
    assert 4 <= found.quantile(5 / 8) <= 8
    assert found.edges.tolist() == [0, 2, 4, 6, 8, 10]


def test_nobody_is_refused_for_what_they_hold():
    made = TreeCDF(bounds=(0, 10), size=5, epsilon=4000, relation="add_remove")
    for odd in (None, "a", "7", b"7", [1, 2], {7}, math.nan, -(10**400), object()):
        assert made.release([9, 9, odd]).below == pytest.approx([0, 1, 1, 1, 1, 3], abs=1e-9)


def test_the_number_of_people_is_known_where_it_is_public():
    made = TreeCDF(bounds=(0, 1), size=64, epsilon=0.1, relation="replace_one")
    assert made.release(np.linspace(0, 1, 777)).total == 777
    assert made.reveal([2**40] * 64).total == 64 * 2**40


def test_bins_of_equal_mass():
    made = TreeCDF(bounds=(0, 100), size=4096, epsilon=1, relation="add_remove")
    values = np.random.default_rng(3).exponential(10, 200_000)
    found = made.release(values)
    edges = found.bins(20)
    assert len(edges) == 21
    assert (edges[0], edges[-1]) == (0, 100)
    held = np.histogram(np.clip(values, 0, 100), edges)[0]
    assert held.max() < 1.2 * held.min()
    assert len(made.release(np.full(10_000, 50.0)).bins(10)) <= 11


def test_nobody():
    made = TreeCDF(bounds=(0, 1), size=16, epsilon=1000, relation="add_remove")
    found = made.release([])
    assert (found.total, found.cdf(0.5)) == (0, 0)
    assert 0 <= found.quantile(0.5) <= 1
    assert found.bins(1).tolist() == [0, 1]


def test_monotone_steps_do_not_add_to_the_largest_error():
    rng = np.random.default_rng(5)
    for _ in range(200):
        exact = np.append(0, np.cumsum(rng.integers(0, 3, 20))).astype(float)
        noisy = exact + rng.normal(0, 3, 21)
        noisy[0] = 0
        for total in (None, exact[-1]):
            found = NoisyCDF.monotone((0.0, 1.0), noisy, total)
            assert np.abs(found.below - exact).max() <= np.abs(noisy - exact).max() + 1e-9
            assert (np.diff(found.below) >= 0).all()


def test_four_million_cells():
    made = TreeCDF(bounds=(0, 1), size=1 << 22, epsilon=1, relation="add_remove")
    found = made.release(np.random.default_rng(0).uniform(0, 1, 1_000_000))
    assert abs(found.quantile(0.5) - 0.5) < 0.01


@pytest.mark.parametrize(
    "given",
    [
        {"epsilon": 0},
        {"rho": 1},
        {"epsilon": None},
        {"size": 0},
        {"size": 2**24 + 1},
        {"size": 1.5},
        {"branching": 1},
        {"branching": 2.5},
        {"bounds": (1, 1)},
        {"bounds": (0, math.inf)},
        {"bounds": 3},
    ],
    ids=range(11),
)
def test_what_cannot_be(given):
    with pytest.raises(InvalidParameter):
        TreeCDF(**({"bounds": (0, 1), "size": 8, "epsilon": 1, "relation": "add_remove"} | given))


def test_what_cannot_be_read():
    made = TreeCDF(bounds=(0, 1), size=4, epsilon=1, relation="add_remove")
    for wrong in (3.0, np.zeros((2, 2)), {0.1}, "ab"):
        with pytest.raises(InvalidInput):
            made.release(wrong)
    for wrong in ([1, 2], [1.5, 0, 0, 0], [[1, 2], [3, 4]]):
        with pytest.raises(InvalidInput):
            made.reveal(wrong)
    found = made.release([0.5])
    with pytest.raises(InvalidInput, match="number"):
        found.cdf(math.nan)
    with pytest.raises(InvalidParameter, match="whole"):
        found.bins(0)
    with pytest.raises(InvalidParameter):
        found.quantile(1.5)
