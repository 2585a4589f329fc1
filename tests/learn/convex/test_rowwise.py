"""A record contributes the same whoever else is there: no result of a row depends on other rows, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.learn.convex import FrankWolfe, GradientDescent, HuberHinge, Logistic, Rows, Softmax
from discreet.learn.convex.rowwise import by_columns, products, squared_distances, squared_lengths
from discreet.testing import check_mechanism


@given(st.integers(0, 2**32 - 1), st.integers(1, 70), st.integers(1, 40))
def test_results_depend_on_the_row_alone(seed, n, d):
    rng = np.random.default_rng(seed)
    rows, w, points = rng.normal(size=(n, d)), rng.normal(size=(d, 3)), rng.normal(size=(4, d))
    cut = slice(int(rng.integers(0, n)), None)
    for function in (squared_lengths, lambda x: products(x, w), lambda x: squared_distances(x, points)):
        whole = function(rows)
        assert np.array_equal(whole[cut], function(rows[cut]))
        assert np.array_equal(whole, function(by_columns(rows)))


@given(st.integers(0, 2**32 - 1), st.integers(2, 70))
def test_slopes_depend_on_the_record_alone(seed, n):
    rng = np.random.default_rng(seed)
    cut = slice(int(rng.integers(0, n)), None)
    for loss, predictions in (
        (Logistic(), 4 * rng.normal(size=n)),
        (HuberHinge(), 2 * rng.normal(size=n)),
        (Softmax(3), 3 * rng.normal(size=(n, 3))),
    ):
        targets = rng.integers(0, 2, n) * 2.0 - 1 if predictions.ndim == 1 else rng.integers(0, 3, n).astype(float)
        assert np.array_equal(loss.slope(predictions, targets)[cut], loss.slope(predictions[cut], targets[cut]))


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_a_record_adds_exactly_its_own_gradient(relation):
    rng = np.random.default_rng(9)
    fit = GradientDescent(
        rows=Rows(features=5, norm=2, intercept=0.5),
        loss_function=Logistic(),
        relation=relation,
        epsilon=1,
        delta=1e-5,
    )
    table, targets, w = rng.normal(size=(300, 5)), np.sign(rng.normal(size=300)), rng.normal(size=(6, 1)) * 3
    whole, rest, one = (
        fit._sum(fit.read(table[part], targets[part]), w) for part in (slice(None), slice(1, None), slice(1))
    )
    assert (whole == rest + one).all()
    assert sum(int(x) ** 2 for x in one[:, 0]) <= (fit.lipschitz * 2**40) ** 2


def test_methods_keep_the_contract_of_mechanisms():
    shared = {"loss_function": Logistic(), "relation": "add_remove", "epsilon": 1, "size": 10}
    for fit in (
        GradientDescent(rows=Rows(features=1, norm=10), delta=0.01, steps=2, **shared),
        FrankWolfe(rows=Rows(features=1, norm=10, shape="box"), steps=2, **shared),
    ):
        assert {"interface", "frozen", "keyword-only", "repr", "loss"} <= set(check_mechanism(fit).passed)
