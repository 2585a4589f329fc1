"""Sample and aggregate: every partition of every small data set, with the law of the aggregate from its definition."""

import math
from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from claims_reference import cells, kept, laplace_survival, quantile_cells
from scipy.stats import chi2

from discreet.accounting import PrivacyLoss
from discreet.mechanisms.sample_and_aggregate import SampleAndAggregate

EDGES = (0, 0.25, 0.5, 1)
VALUES = (0, 0.25, 1)
BLOCKS = 3


def spoil(rows):
    """A function that nobody knows the sensitivity of: it fails on the empty block, and wildly on others."""
    if not rows:
        raise ValueError("no rows")
    return max(rows) if 1 not in rows else 0.5 if len(rows) == 1 else math.inf


def answer(rows):
    try:
        found = spoil(rows)
    except ValueError:
        return 0
    return found if math.isfinite(found) else 0


def partitions(n, relation):
    """All ways to put n records into blocks, each as likely as the others."""
    if relation == "add_remove":
        return list(product(range(BLOCKS), repeat=n))
    sizes = [part.size for part in np.array_split(np.arange(n), BLOCKS)]
    found = [{}]
    for block, size in enumerate(sizes):
        found = [
            place | dict.fromkeys(chosen, block)
            for place in found
            for chosen in combinations([i for i in range(n) if i not in place], size)
        ]
    return [tuple(place[i] for i in range(n)) for place in found]


def median_law(answers, epsilon):
    return quantile_cells(answers, EDGES, epsilon / 2, 0.5)


def mean_law(answers, epsilon):
    return cells(laplace_survival, 1 / BLOCKS / epsilon, sum(answers) / BLOCKS, 1 / 16, 100)


AGGREGATES = {"median": median_law, "mean": mean_law}


def law(data, relation, epsilon, aggregate, place=None):
    """The law of the release, over all partitions that there may be."""
    ways = partitions(len(data), relation) if place is None else [place(data)]
    answers = Counter(
        tuple(answer([x for x, b in zip(data, way, strict=True) if b == block]) for block in range(BLOCKS))
        for way in ways
    )
    shares = [count / len(ways) for count in answers.values()]
    return np.log(np.dot(shares, [np.exp(AGGREGATES[aggregate](found, epsilon)) for found in answers]))


def neighbours(relation):
    for n in range(1, 5):
        for data in product(VALUES, repeat=n):
            if relation == "replace_one":
                yield from ((data, (*data[:-1], new)) for new in VALUES)
            else:
                yield data, data[:-1]


def all_kept(claim, relation, epsilon, aggregate, place=None):
    return all(
        kept(claim, *(law(data, relation, epsilon, aggregate, place) for data in pair), (0, epsilon / 2, epsilon))
        for pair in neighbours(relation)
    )


CLAIMS = {"median": PrivacyLoss.bounded_range(2), "mean": PrivacyLoss.laplace(2)}


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_every_small_neighbour_keeps_the_claim(relation, aggregate):
    made = SampleAndAggregate(
        function=spoil, blocks=BLOCKS, bounds=(0, 1), relation=relation, epsilon=2, aggregate=aggregate
    )
    assert made.loss == CLAIMS[aggregate].under(relation)
    assert all_kept(made.loss, relation, 2, aggregate)


def by_last(data):
    """The last record decides whether all come together."""
    return tuple((min(i, BLOCKS - 1) if data[-1] else BLOCKS - 1) for i in range(len(data)))


def test_the_check_catches_blocks_that_depend_on_the_data():
    assert not all_kept(CLAIMS["mean"], "replace_one", 2, "mean", by_last)


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_blocks_are_drawn_evenly(relation, repeatable):
    made = SampleAndAggregate(function=len, blocks=BLOCKS, bounds=(0, 1), relation=relation, epsilon=1)
    draws, ways = 4000, partitions(4, relation)
    seen = Counter()
    for _ in range(draws):
        parts = made._spread(list(range(4)))
        seen[tuple(next(b for b, part in enumerate(parts) if i in part) for i in range(4))] += 1
    assert set(seen) <= set(ways)
    expected = draws / len(ways)
    assert chi2.sf(sum((seen[way] - expected) ** 2 / expected for way in ways), len(ways) - 1) > 1e-9


def test_copies_are_a_group():
    made = SampleAndAggregate(function=len, blocks=4, bounds=(0, 1), relation="add_remove", epsilon=1, copies=5)
    assert made.aggregation.loss.epsilon() == pytest.approx(0.2)
    assert made.loss.epsilon() == pytest.approx(1)
