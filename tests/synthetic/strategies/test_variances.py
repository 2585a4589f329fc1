import itertools

import numpy as np
import pytest

from discreet import InvalidParameter
from discreet.synthetic.operators import AllRanges, Explicit, Identity, Kronecker, Marginals, Prefix, Total, Union
from discreet.synthetic.strategies import Haar, Hierarchical, answer_variances, table_variances, total_variance

FLAT = [
    Identity(size=6),
    Prefix(size=6),
    AllRanges(size=6),
    Hierarchical(size=6, branching=2),
    Hierarchical(size=6, branching=3, root=False),
    Haar(size=6),
    Union(of=(Total(size=6), Identity(size=6)), weights=(3, 1)),
    Kronecker(of=(Prefix(size=2), Identity(size=3))),
    Marginals(sizes=(2, 3), of=((0, 1), (0,)), weights=(1, 2)),
    Explicit(matrix=np.vstack([np.eye(6), np.ones(6)])),
]
WORK = [
    *FLAT,
    Total(size=6),
    Marginals(sizes=(2, 3), of=((0,), (1,)), weights=(2, 5)),
    Kronecker(of=(Total(size=2), AllRanges(size=3))),
]


@pytest.mark.parametrize(("workload", "strategy"), list(itertools.product(WORK, FLAT)))
def test_variances_are_those_of_the_matrices(workload, strategy):
    work, measured = workload.dense().astype(float), strategy.dense().astype(float)
    expected = np.diagonal(work @ np.linalg.inv(measured.T @ measured) @ work.T)
    assert answer_variances(workload, strategy) == pytest.approx(expected, abs=1e-9)
    assert total_variance(workload, strategy) == pytest.approx(expected.sum(), rel=1e-9)


def test_marginals_of_a_domain_that_nobody_can_write_out():
    sizes = (10,) * 12
    pairs = Marginals.of_order(sizes, 2)
    small = Marginals.of_order((5, 4, 3), 2)
    assert answer_variances(small, small) == pytest.approx(
        np.concatenate([part.variances(small.covariance()) for _, part in small.parts]), rel=1e-9
    )
    assert len(set(np.round(table_variances(pairs, pairs), 12))) == 1
    product = Kronecker(of=tuple(Identity(size=10) for _ in sizes))
    assert total_variance(pairs, product) == pytest.approx(len(pairs.of) * 10**12)


@pytest.mark.parametrize(
    ("workload", "strategy"),
    [
        (Prefix(size=4), Total(size=4)),
        (Identity(size=3), Explicit(matrix=[[1, 0, 0], [0, 1, 0]])),
        (Identity(size=3), Explicit(matrix=[[1, -1, 0], [0, 1, -1], [1, 0, -1]])),
        (Marginals(sizes=(2, 3), of=((0, 1),)), Marginals(sizes=(2, 3), of=((0,), (1,)))),
        (Kronecker(of=(Identity(size=2), Identity(size=2))), Kronecker(of=(Total(size=2), Identity(size=2)))),
        (Prefix(size=4), Identity(size=5)),
    ],
)
def test_a_strategy_that_does_not_determine_the_answers_is_refused(workload, strategy):
    for ask in (answer_variances, total_variance):
        with pytest.raises(InvalidParameter):
            ask(workload, strategy)


def test_a_strategy_of_few_queries_that_suffice():
    work = Explicit(matrix=[[1, 1, 0, 0], [0, 0, 1, 1]])
    assert answer_variances(work, work) == pytest.approx([1, 1])
    assert total_variance(Total(size=4), work) == pytest.approx(2)
