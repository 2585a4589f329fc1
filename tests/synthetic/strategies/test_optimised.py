import numpy as np
import pytest

from discreet import InvalidParameter
from discreet.synthetic.operators import AllRanges, Identity, Kronecker, Marginals, Prefix, Total, Union
from discreet.synthetic.strategies import (
    Haar,
    best_hierarchy,
    kronecker_identities,
    optimised,
    p_identity,
    total_variance,
)


def error(workload, strategy, p):
    return float(strategy.change(p, relation="add_remove").power) ** (2 / p) * total_variance(workload, strategy)


@pytest.mark.parametrize("p", [1, 2])
def test_the_gradient_is_that_of_the_error(p):
    rng = np.random.default_rng(0)
    extra, gram = rng.random((2, 7)), AllRanges(size=7).gram()
    value, gradient = optimised._objective(extra, gram, p)
    strategy = np.concatenate([np.eye(7), extra]) / optimised._norms(extra, p)
    assert value == pytest.approx(np.trace(gram @ np.linalg.inv(strategy.T @ strategy)), rel=1e-10)
    for place in range(extra.size):
        step = np.zeros(extra.size)
        step[place] = 1e-6
        moved = [optimised._objective(extra + s * step.reshape(extra.shape), gram, p)[0] for s in (1, -1)]
        assert gradient.reshape(-1)[place] == pytest.approx((moved[0] - moved[1]) / 2e-6, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("workload", [Prefix(size=64), AllRanges(size=64)])
@pytest.mark.parametrize("p", [1, 2])
def test_what_is_found_beats_what_is_known(workload, p):
    found = error(workload, p_identity(workload, p=p), p)
    for other in (Identity(size=64), Haar(size=64), best_hierarchy(workload, p=p)):
        assert found < error(workload, other, p)


def test_the_sensitivity_is_that_of_what_was_rounded():
    found = p_identity(Prefix(size=20))
    matrix = found.dense()
    assert float(found.sensitivity(1, relation="add_remove")) == np.abs(matrix).sum(axis=0).max()
    assert 0.99 < np.abs(matrix).sum(axis=0).max() < 1.01
    assert found == p_identity(Prefix(size=20))


def test_the_identity_stays_where_it_is_best():
    assert p_identity(Identity(size=8)).dense().tolist() == np.eye(8).tolist()


@pytest.mark.parametrize("p", [1, 2])
def test_products(p):
    work = Kronecker(of=(Prefix(size=16), AllRanges(size=8)))
    found = kronecker_identities(work, p=p)
    assert [factor.shape[1] for factor in found.factors] == [16, 8]
    assert error(work, found, p) < error(work, Kronecker(of=(Identity(size=16), Identity(size=8))), p)
    single = [p_identity(factor, p=p) for factor in work.factors]
    assert error(work, found, p) == pytest.approx(error(work, Kronecker(of=single), p), rel=0.02)


def test_unions_of_products():
    work = Union(of=(Kronecker(of=(Prefix(size=16), Total(size=8))), Kronecker(of=(Total(size=16), AllRanges(size=8)))))
    found = kronecker_identities(work)
    assert error(work, found, 1) < error(work, Kronecker(of=(Identity(size=16), Identity(size=8))), 1)
    tables = Marginals.of_order((8, 4, 6), 1)
    assert error(tables, kronecker_identities(tables), 1) <= error(
        tables, Kronecker(of=tuple(Identity(size=size) for size in (8, 4, 6))), 1
    )


def test_parameters_are_checked():
    for make in (
        lambda: p_identity(Prefix(size=2000)),
        lambda: p_identity(Prefix(size=4), p=3),
        lambda: p_identity(Prefix(size=4), rows=0),
        lambda: kronecker_identities(Union(of=(Prefix(size=4), Kronecker(of=(Prefix(size=2), Prefix(size=2)))))),
    ):
        with pytest.raises(InvalidParameter):
            make()
