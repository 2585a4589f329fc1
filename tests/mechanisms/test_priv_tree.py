import math
import warnings

import numpy as np
import pytest

from discreet.errors import InvalidInput, InvalidParameter, NotPrivateWarning
from discreet.mechanisms.boxes import Boxes, morton, unmorton
from discreet.mechanisms.priv_tree import PrivTree, path_loss
from discreet.testing import check_mechanism, seeded

RELATIONS = ["add_remove", "replace_one"]
LINE = ((0, 1),)
SQUARE = ((0, 1), (-2, 2))


@pytest.fixture(autouse=True)
def same_noise(request):
    """Draw the noise of a test from a source seeded by the test's name, so that it passes always or never."""
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(request.node.name):
        yield


@pytest.mark.parametrize("relation", RELATIONS)
def test_keeps_the_contract(relation):
    done = check_mechanism(PrivTree(bounds=LINE, epsilon=1, relation=relation, depth=3))
    assert {"interface", "frozen", "keyword-only", "repr", "loss"} <= set(done.passed)


# --- how much noise ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
@pytest.mark.parametrize("epsilon", [0.01, 1, 20])
@pytest.mark.parametrize("relation", RELATIONS)
def test_there_is_less_noise_than_in_the_paper(dimensions, epsilon, relation):
    made = PrivTree(bounds=((0, 1),) * dimensions, epsilon=epsilon, relation=relation)
    beta = made.fanout
    papers = (2 * beta - 1) / (beta - 1) / (epsilon / 2) * (2 if relation == "replace_one" else 1)
    assert made.scale < papers
    assert made.decay >= made.scale * math.log(beta)
    assert path_loss(made.scale, made.decay, made.depth, moved=relation == "replace_one") <= epsilon / 2
    assert made.loss.epsilon() == pytest.approx(epsilon)


def test_depth_costs_nothing_beyond_a_series():
    assert path_loss(2, 2, 1) == pytest.approx(1 / 2)
    assert path_loss(2, 2, 2) == pytest.approx(1)
    assert path_loss(2, 2, 10) == pytest.approx(path_loss(2, 2, 60), rel=0.01)
    assert path_loss(2, 2, 60) < (2 + 1 / (math.e - 1)) / 2
    assert path_loss(2, 2, 10, moved=True) == pytest.approx(path_loss(2, 2, 9) + 1 / 2)
    assert path_loss(2, 2, 1, moved=True) == pytest.approx(1 / 2)


# --- what comes out ------------------------------------------------------------------------------------------------


def fills(made, bounds):
    """Tell whether boxes fill the whole without overlap, by their volumes and by random points."""
    volume = (made.high - made.low).prod(axis=1).sum()
    points = np.random.default_rng(5).uniform([a for a, _ in bounds], [b for _, b in bounds], (200, len(bounds)))
    inside = ((made.low <= points[:, None]) & (points[:, None] < made.high)).all(axis=2).sum(axis=1)
    return math.isclose(volume, math.prod(b - a for a, b in bounds), rel_tol=1e-9) and (inside == 1).all()


@pytest.mark.parametrize("bounds", [LINE, SQUARE, ((0, 1),) * 3, ((-1, 1),) * 4], ids=range(4))
@pytest.mark.parametrize("relation", RELATIONS)
def test_boxes_fill_the_whole(bounds, relation):
    made = PrivTree(bounds=bounds, epsilon=2, relation=relation)
    rng = np.random.default_rng(1)
    points = rng.normal(0.3, 0.05, (3000, len(bounds)))
    found = made.release(points)
    assert fills(found, bounds)
    assert abs(found.total - 3000) < 60 * math.sqrt(len(found))
    assert found.counts.min() >= 0
    assert found.counts.sum() == pytest.approx(found.total)
    assert found.cdf([b for _, b in bounds]) == pytest.approx(1)
    assert found.cdf([a for a, _ in bounds]) == 0
    assert fills(made.release(np.empty((0, len(bounds)))), bounds)


def test_exact_where_there_is_no_noise():
    made = PrivTree(bounds=((0, 8),), epsilon=2000, relation="add_remove", depth=3, threshold=1)
    found = made.release([0.5, 0.7, 0.9, 0.2, 6.1, 7.9])
    # decay 1: the root has 6 > 1, its left half 4 - 1 > 1, its right half 2 - 1, then 4 - 2 > 1
    assert found.low.ravel().tolist() == [0, 1, 2, 4]
    assert found.noisy.tolist() == [4, 0, 0, 2]
    assert found.cdf(1) == pytest.approx(4 / 6)
    assert found.cdf(6) == pytest.approx(5 / 6)


def test_bins_are_small_where_people_are():
    made = PrivTree(bounds=SQUARE, epsilon=1, relation="replace_one")
    crowd = np.random.default_rng(2).normal([0.5, 1.0], 0.01, (50_000, 2))
    found = made.release(crowd)
    near = (np.abs(found.low - [0.5, 1.0]) < 0.02).all(axis=1)
    assert found.depths[near].mean() > found.depths[~near].mean() + 2
    exact = np.mean((crowd <= [0.505, 1.005]).all(axis=1))
    assert found.cdf([0.505, 1.005]) == pytest.approx(exact, abs=0.03)


def test_the_order_of_the_data_leaves_no_trace():
    made = PrivTree(bounds=SQUARE, epsilon=2000, relation="add_remove", depth=5)
    points = np.random.default_rng(3).uniform(0, 1, (500, 2))
    a, b = made.release(points), made.release(points[::-1])
    for name in ("depths", "places", "noisy"):
        assert np.array_equal(getattr(a, name), getattr(b, name))
    assert np.array_equal(np.lexsort((a.places << (2 * (5 - a.depths)),)), np.arange(len(a)))


def test_nothing_is_refused_for_what_it_holds():
    made = PrivTree(bounds=LINE, epsilon=2000, relation="add_remove", depth=2, threshold=1)
    odd = made.release([math.nan, math.inf, -math.inf, 1e308, -5.0, 0.6])
    assert odd.noisy.sum() == 6
    assert made.release(np.array([0, 1, 2**63], dtype=np.uint64)).noisy.sum() == 3
    for records in (["a", 0.9], [[0.1, 0.2], 0.9], [[1], [2, 3]], [None, 10**400], [object(), "0.9"]):
        assert made.release(records).noisy.sum() == 2
    for wrong in (3.0, np.zeros((2, 2)), np.zeros((2, 2, 2)), {0.1, 0.2}, "ab"):
        with pytest.raises(InvalidInput):
            made.release(wrong)


def test_a_record_that_is_no_point_is_at_the_lower_ends():
    made = PrivTree(bounds=SQUARE, epsilon=2000, relation="replace_one", depth=2)
    good = [(0.9, 1.9)] * 5
    for odd in (None, "ab", (0.9,), (math.nan, None), 7, {"x": 1, "y": 2, "z": 3}, np.array([1.0, 2.0, 3.0])):
        found = made.release([*good, odd])
        assert (found.noisy[0], found.noisy.sum()) == (1, 6)
    assert made.release([*good, (math.nan, 1.9)]).noisy.sum() == 6


@pytest.mark.slow
def test_ten_million_points():
    for bounds in (((-6, 6),), ((-6, 6),) * 2):
        made = PrivTree(bounds=bounds, epsilon=1, relation="add_remove")
        points = np.random.default_rng(0).normal(size=(10_000_000, len(bounds)))
        found = made.release(points)
        assert abs(found.total - 1e7) < 60 * math.sqrt(len(found))


def exceeds(made, people, depth):
    """Return the probability that score and noise are above the threshold, summed from the law of the noise."""
    z = np.arange(-math.ceil(60 * made.scale), math.ceil(60 * made.scale) + 1)
    law = np.exp(-np.abs(z) / made.scale)
    score = max(made.threshold - made.decay, people - depth * made.decay)
    return float(law[score + z > made.threshold].sum() / law.sum())


@pytest.mark.parametrize("threshold", [0, 5])
@pytest.mark.parametrize("relation", RELATIONS)
def test_splits_are_as_likely_as_the_law_says(relation, threshold):
    """The root and its left half, in which everybody is; by Hoeffding's inequality a false alarm is below 1e-10."""
    made = PrivTree(bounds=LINE, epsilon=1, relation=relation, depth=2, threshold=threshold)
    runs = 4000
    reach = math.sqrt(math.log(2e10) / (2 * runs))
    for people in (0, threshold, threshold + made.decay, threshold + 3 * made.decay):
        found = [made.release(np.full(people, 0.2)).depths for _ in range(runs)]
        root, left = exceeds(made, people, 0), exceeds(made, people, 1)
        assert made.split_probability(people, 0) == pytest.approx(root)
        assert made.split_probability(people, 1) == pytest.approx(left)
        assert sum(len(depths) > 1 for depths in found) / runs == pytest.approx(root, abs=reach)
        assert sum(depths[0] == 2 for depths in found) / runs == pytest.approx(root * left, abs=reach)


@pytest.mark.parametrize("depth", [52, 53, 54, 57, 60])
def test_everybody_is_counted_however_deep(depth):
    for threshold in (0, 50):
        made = PrivTree(bounds=LINE, epsilon=2000, relation="replace_one", depth=depth, threshold=threshold)
        for x in (0.0, 0.5, 1 - 2.0**-53, 1.0, 7.0):
            found = made.release(np.full(100, x))
            assert found.noisy.sum() == 100
            assert found.noisy.max() == 100
            assert found.cdf(1.0) == pytest.approx(1)
            assert found.cdf(0.75) == pytest.approx(1.0 if x <= 0.5 else 0.0, abs=1e-9)


def test_boxes_smaller_than_numbers_are_told_of():
    """Bounds so close that a box has its lower end at its upper one."""
    made = PrivTree(bounds=((1e9, 1e9 + 1e-6),), epsilon=2000, relation="add_remove", depth=20)
    found = made.release(np.full(100, 1e9))
    assert found.cdf(1e9 + 1e-6) == pytest.approx(1)
    assert not math.isnan(found.cdf(1e9))


def most_moved(made, one, other):
    """Return the largest log-ratio of a tree's probability on two data sets, over all trees, from the recursion."""

    def of(depth, place, codes):
        rest = (made.depth - depth) * made.dimensions
        return exceeds(made, int(((codes >> rest) == place).sum()), depth)

    def value(depth, place, a, b):
        if depth == made.depth or (rest := (made.depth - depth) * made.dimensions) < 0:
            return 0.0
        if ((a >> rest) == place).sum() == ((b >> rest) == place).sum() and depth:
            return 0.0
        p, q = of(depth, place, a), of(depth, place, b)
        ends = {place * made.fanout, place * made.fanout + made.fanout - 1}  # where people are
        onward = math.log(p / q) + sum(value(depth + 1, end, a, b) for end in ends)
        return max(math.log((1 - p) / (1 - q)), onward)

    a, b = made._codes(one), made._codes(other)
    return max(value(0, 0, a, b), value(0, 0, b, a))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("dimensions", "depth"), [(1, 2), (1, 5), (2, 4)])
def test_the_worst_neighbours_attain_what_splits_cost(relation, dimensions, depth):
    made = PrivTree(bounds=((0, 1),) * dimensions, epsilon=1, relation=relation, depth=depth)
    one, other = made.worst_case()
    assert len(one) - len(other) == (1 if relation == "add_remove" else 0)
    claimed = path_loss(made.scale, made.decay, depth, moved=relation == "replace_one")
    assert most_moved(made, one, other) == pytest.approx(claimed, rel=1e-3)


def test_the_error_is_that_of_noisy_counts():
    """A bound on 1 in 20 that fails in more than 60 of 300 has a probability below 1e-9."""
    made = PrivTree(bounds=((0, 1),) * 3, epsilon=1, relation="add_remove")
    failures = 0
    for _ in range(300):
        found = made.release(np.full((5000, 3), 0.3))
        failures += bool(abs(int(found.noisy.max()) - 5000) > made.error(0.05))
    assert failures <= 60


# --- boxes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dimensions", "bits"), [(1, 40), (2, 30), (3, 20), (4, 15), (2, 3)])
def test_interleaved_bits_come_back(dimensions, bits):
    cells = np.random.default_rng(4).integers(0, 2**bits, (1000, dimensions))
    codes = morton(cells, bits)
    assert np.array_equal(unmorton(codes, dimensions, bits), cells)
    assert codes.max() < 2 ** (bits * dimensions)


def test_counts_that_are_all_negative():
    boxes = Boxes(((0.0, 1.0),), np.array([1, 1]), np.array([0, 1]), np.array([-3, -1]))
    assert (boxes.total, boxes.counts.tolist(), boxes.cdf(0.5), len(boxes)) == (0.0, [0.0, 0.0], 0.0, 2)
    with pytest.raises(InvalidInput, match="1 coordinates"):
        boxes.cdf([0.1, 0.2])


@pytest.mark.parametrize("noisy", [[5, -2, 3, 0], [-1, 10], [1], [0, 0, 7], [4, -1, -1, -1]], ids=range(5))
def test_counts_are_the_closest_ones(noisy):
    """By the conditions of the projection: what stays above 0 was lowered by the same, the rest by no more."""
    made = Boxes(((0.0, 1.0),), np.full(len(noisy), 2), np.arange(len(noisy)), np.array(noisy))
    moved = np.array(noisy) - made.counts
    assert made.counts.sum() == pytest.approx(max(0, sum(noisy)))
    above = made.counts > 0
    assert np.ptp(moved[above]) < 1e-9
    assert (moved[~above] <= moved[above].max() + 1e-9).all()


@pytest.mark.parametrize(
    "given",
    [
        {"epsilon": 0},
        {"share": 1},
        {"share": 0},
        {"depth": 0},
        {"depth": 61},
        {"depth": 2.5},
        {"threshold": 0.5},
        {"threshold": -1},
        {"bounds": ()},
        {"bounds": ((0, 0),)},
        {"bounds": ((1, 0),)},
        {"bounds": ((0, 1),) * 5},
        {"bounds": (0, 1)},
        {"bounds": ((0, math.inf),)},
        {"epsilon": 1e-30},
    ],
    ids=range(15),
)
def test_what_cannot_be(given):
    with pytest.raises(InvalidParameter):
        PrivTree(**({"bounds": LINE, "epsilon": 1, "relation": "add_remove"} | given))


def test_counted_cells_are_the_same_as_points():
    """With hardly any noise, cells that somebody else has counted make the boxes that their points make."""
    rng = np.random.default_rng(6)
    tree = PrivTree(bounds=((0, 16), (0, 16)), epsilon=10_000, relation="add_remove", depth=4)
    cells = rng.integers(0, 16, (300, 2)) // np.array([1, 3])
    listed, counts = np.unique(cells, axis=0, return_counts=True)
    order = rng.permutation(len(listed))
    ours, theirs = tree.reveal(listed[order], counts[order]), tree.release(cells + 0.5)
    assert ours.depths.tolist() == theirs.depths.tolist()
    assert ours.places.tolist() == theirs.places.tolist()
    assert ours.noisy.tolist() == theirs.noisy.tolist()
    twice = tree.reveal(np.repeat(cells, 1, axis=0), np.ones(300, dtype=np.int64))
    assert twice.noisy.tolist() == theirs.noisy.tolist()
    with pytest.raises(InvalidInput, match="one count for each"):
        tree.reveal(listed, counts[1:])
