"""Trees of boxes, by enumeration of all trees over a few cells and of all small data sets."""

import math
from itertools import product

import numpy as np
import pytest
from claims_reference import geometric, hockey_stick, largest_loss

from discreet.mechanisms.priv_tree import PrivTree, path_loss

RELATIONS = ["add_remove", "replace_one"]


def trees(depth):
    """Return all trees over cells, as the set of nodes (depth, place) that are split."""
    return [
        frozenset(nodes)
        for choice in product((False, True), repeat=2**depth - 1)
        if closed(nodes := {node for node, split in zip(all_nodes(depth), choice, strict=True) if split})
    ]


def all_nodes(depth):
    return [(d, place) for d in range(depth) for place in range(2**d)]


def closed(nodes):
    return all(d == 0 or (d - 1, place // 2) in nodes for d, place in nodes)


def chance(scale, decay, threshold, count, depth):
    """Return the probability of a split from the definition: noise of a known law on a score, and a comparison."""
    reach = 400
    score = max(threshold - decay, count - depth * decay)
    z = np.arange(-reach, reach + 1)
    weights = np.exp(-np.abs(z) / scale)
    law = weights / weights.sum()
    return float(law[score + z > threshold].sum()), float(law[score + z <= threshold].sum())


class Definition:
    """The law of the tree alone."""

    def __init__(self, scale, decay, threshold, depth):
        self.parameters, self.depth = (scale, decay, threshold), depth
        self.trees, self.known = trees(depth), {}

    def law(self, cells):
        """Return the log-probabilities of all trees."""
        logs = []
        for tree in self.trees:
            total = 0.0
            for d, place in all_nodes(self.depth):
                if d and (d - 1, place // 2) not in tree:
                    continue  # was never looked at
                width = 2 ** (self.depth - d)
                total += self.split(sum(cells[place * width : (place + 1) * width]), d)[(d, place) not in tree]
            logs.append(total)
        return np.array(logs)

    def split(self, count, depth):
        if (count, depth) not in self.known:
            self.known[count, depth] = [math.log(p) for p in chance(*self.parameters, count, depth)]
        return self.known[count, depth]


def neighbours(cells, relation):
    here = [i for i, n in enumerate(cells) if n]
    for i in here if relation == "replace_one" else [None]:
        for j in range(len(cells)):
            other = list(cells)
            other[j] += 1
            if i is not None:
                other[i] -= 1
            yield tuple(other)


def worst(law, data, relation):
    return max(largest_loss(law(cells), law(other)) for cells in data for other in neighbours(cells, relation))


def data_sets(depth, decay):
    """Return counts of cells around the scores at which something happens."""
    counts = sorted({0, 1, decay, decay + 1, 2 * decay, 2 * decay + 1, 3 * decay + 1})
    return (
        list(product(counts, repeat=2**depth))
        if depth < 3
        else [
            tuple(spots.get(i, 0) for i in range(8))
            for a, b, c in product(counts, repeat=3)
            for spots in ({0: a, 3: b, 4: c}, {0: a, 1: b, 2: c})
        ]
    )


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize(("scale", "decay"), [(1.0, 1), (2.5, 2), (0.4, 1), (3.0, 5)])
def test_every_tree_keeps_the_bound_and_one_attains_it(scale, decay, depth, relation):
    made = Definition(scale, decay, 0, depth)
    bound = path_loss(scale, decay, depth, moved=relation == "replace_one")
    found = worst(made.law, data_sets(depth, decay), relation)
    assert found <= bound * (1 + 1e-9)
    if (relation, depth) != ("replace_one", 1):  # there nothing changes at all
        assert found == pytest.approx(bound, rel=1e-9)


def test_probabilities_add_up():
    made = Definition(2.0, 2, 0, 3)
    assert len(made.trees) == 26
    for cells in data_sets(3, 2)[::50]:
        assert np.exp(made.law(cells)).sum() == pytest.approx(1)


def test_scores_that_do_not_fall_cost_more_with_every_level():
    """Without a decay the noise would have to grow with the depth."""
    plain = Definition(2.0, 0, 0, 3)
    found = worst(plain.law, data_sets(3, 1), "add_remove")
    assert found > path_loss(2.0, 1, 3) * 1.05
    assert found == pytest.approx(3 / 2.0, rel=1e-9)


def test_noise_for_one_level_is_too_little():
    made = Definition(1 / 1.0, 1, 0, 3)  # a scale of 1 / epsilon
    assert worst(made.law, data_sets(3, 1), "add_remove") > 2.0 * (1 - 1e-9) > 1.0


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", [1, 4])
def test_splits_and_counts_together(epsilon, relation):
    """One level, with the noisy counts of the leaves."""
    made = PrivTree(bounds=((0, 1),), epsilon=epsilon, relation=relation, depth=1)
    leaves, reach = float(made.leaves.scale), 60

    def law(cells):
        split, kept = (math.log(p) for p in chance(made.scale, made.decay, 0, sum(cells), 0))
        both = np.add.outer(geometric(leaves, cells[0], reach), geometric(leaves, cells[1], reach)).ravel()
        return np.append(kept + geometric(leaves, sum(cells), reach), split + both)

    for cells in product((0, 1, 3), repeat=2):
        for other in neighbours(cells, relation):
            p, q = law(cells), law(other)
            for e in (0.25 * epsilon, 0.5 * epsilon, 0.9 * epsilon, epsilon):
                assert max(hockey_stick(p, q, e), hockey_stick(q, p, e)) <= made.loss.delta(e) * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_the_chance_that_is_told_is_that_of_the_definition(relation, depth):
    made = PrivTree(bounds=((0, 1),), epsilon=2, relation=relation, depth=depth, threshold=3)
    for count, level in product(range(0, 30, 3), range(depth)):
        exact = chance(made.scale, made.decay, 3, count, level)[0]
        assert made.split_probability(count, level) == pytest.approx(exact, rel=1e-9)
    assert made.split_probability(10**6, depth) == 0


def test_scale_is_the_least_that_fits():
    for relation, depth in product(RELATIONS, (2, 3)):
        made = PrivTree(bounds=((0, 1),), epsilon=2, relation=relation, depth=depth)
        moved = relation == "replace_one"
        assert path_loss(made.scale, made.decay, depth, moved=moved) <= 1
        assert path_loss(made.scale * 0.999, made.decay, depth, moved=moved) > 1
