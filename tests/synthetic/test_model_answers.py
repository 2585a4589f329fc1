"""Error bars of a model's answers: that they cover, that they are not wider than they must be, and what has none."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from discreet import InvalidParameter
from discreet.mechanisms import DiscreteGaussian, Geometric
from discreet.noise import discrete_gaussian
from discreet.synthetic.graphical.measured import Measured
from discreet.synthetic.graphical.tree_fit import fit_tree
from discreet.synthetic.independent import Independent
from discreet.synthetic.model_answers import ModelAnswers, heavy, tail
from discreet.synthetic.network import Conditional, Network
from discreet.synthetic.priv_bayes import PrivBayes

SIZES = (3, 2, 4)


def law(sigma, cells):
    """The probabilities of a sum of discrete Gaussian numbers, by convolution, and their places."""
    z = np.arange(-math.ceil(20 * sigma), math.ceil(20 * sigma) + 1)
    one = np.exp(-(z**2) / (2 * sigma**2))
    total = one = one / one.sum()
    for _ in range(cells - 1):
        total = np.convolve(total, one)
    return total, np.arange(len(total)) - len(total) // 2


@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.1, 2.5, 7.3])
@pytest.mark.parametrize("cells", [1, 2, 5])
@pytest.mark.parametrize("beta", [0.5, 0.05, 1e-6])
def test_a_tail_holds_by_the_law_itself(sigma, cells, beta):
    chances, places = law(sigma, cells)
    assert chances[np.abs(places) > tail(sigma, cells, beta)].sum() <= beta


@pytest.mark.parametrize("scale", [0.2, 1, 7.5])
@pytest.mark.parametrize("cells", [1, 2, 6])
@pytest.mark.parametrize("beta", [0.5, 0.05, 1e-6])
def test_a_tail_of_geometric_noise_holds_by_the_law_itself(scale, cells, beta):
    ratio = math.exp(-1 / scale)
    z = np.arange(-math.ceil(40 * scale), math.ceil(40 * scale) + 1)
    total = one = (1 - ratio) / (1 + ratio) * ratio ** np.abs(z)
    for _ in range(cells - 1):
        total = np.convolve(total, one)
    reach = heavy(math.sqrt(2 * ratio) / (1 - ratio), cells, beta)
    assert total[np.abs(np.arange(len(total)) - len(total) // 2) > reach].sum() <= beta
    if cells == 1:
        assert reach == Geometric(sensitivity=1, scale=scale).error(beta)


def test_a_tail_is_that_of_the_mechanism():
    for sigma in (3, 10, 50.5):
        assert abs(tail(sigma, 1, 0.05) - DiscreteGaussian(sensitivity=1, sigma=sigma).error(0.05)) <= 1


def told_of(exact, sets, sigma):
    tables = []
    for some in sets:
        table = exact.sum(axis=tuple(i for i in range(3) if i not in some))
        tables.append(Measured(some, table + discrete_gaussian(sigma, table.shape), sigma))
    return tables


def test_true_counts_lie_in_their_intervals():
    """Two hundred releases with intervals of 80 percent: fewer misses than a fifth, in all kinds of marginals."""
    exact = np.random.default_rng(3).integers(0, 60, SIZES).astype(float)
    misses = {some: 0 for length in (1, 2, 3) for some in itertools.combinations(range(3), length)}
    runs = 200
    for _ in range(runs):
        told = told_of(exact, [(0,), (1,), (2,), (0, 1), (1, 2), (0,)], 6.0)
        answers = ModelAnswers(fit_tree(SIZES, told), told)
        for some in misses:
            answer = answers.marginal(some, beta=0.2)
            truth = exact.sum(axis=tuple(i for i in range(3) if i not in some))
            misses[some] += int(not answer.low.flat[0] <= truth.flat[0] <= answer.high.flat[0])
            assert (answer.half_widths >= 0).all()
    allowed = stats.binom.ppf(1 - 1e-9, runs, 0.2)
    assert max(misses.values()) <= allowed
    assert misses[0,] > 0  # the intervals of what was measured are not idle


def test_kinds_are_told_apart():
    told = told_of(np.full(SIZES, 20.0), [(0, 1)], 3.0)
    sizes_of_all = ModelAnswers(Independent(sizes=SIZES, rho=1, relation="add_remove").release([[0, 0, 0]]), told)
    assert sizes_of_all.marginal((0,)).kind == "measured"
    assert sizes_of_all.marginal((0, 1)).kind == "measured"
    assert sizes_of_all.marginal((0, 2)).kind == "bounds"
    nothing = sizes_of_all.marginal((2,))
    assert nothing.kind == "not measured"
    assert nothing.low is None
    assert nothing.high is None
    assert nothing.half_widths is None
    assert "model bias unknown" in nothing.note


def test_parts_bound_what_was_not_measured_together():
    """Without noise to speak of, the bounds are those of Frechet."""
    told = [Measured((0,), np.array([30.0, 70.0]), 1e-3), Measured((1,), np.array([20.0, 80.0]), 1e-3)]
    answer = ModelAnswers(fit_tree((2, 2), told), told).marginal((0, 1))
    assert answer.kind == "bounds"
    assert answer.high.tolist() == [[20, 30], [20, 70]]
    assert answer.low.tolist() == [[0, 10], [0, 50]]


def test_a_single_table_costs_half_of_beta_and_a_second_helps():
    one = Measured((0,), np.array([100.0, 100.0]), 10.0)
    other = Measured((0,), np.array([110.0, 110.0]), 10.0)
    alone = ModelAnswers(fit_tree((2,), [one]), [one]).marginal((0,), beta=0.05)
    assert alone.high[0] - 100 == tail(10.0, 1, 0.025)
    both = ModelAnswers(fit_tree((2,), [one, other]), [one, other]).marginal((0,), beta=0.05)
    assert both.low[0] == 110 - tail(10.0, 1, 0.05 / 6)
    assert both.high[0] == alone.high[0]


def test_no_interval_goes_below_zero_and_none_is_turned_around():
    told = [Measured((0,), np.array([-500.0, 3.0]), 1.0), Measured((0,), np.array([500.0, 4.0]), 1.0)]
    answer = ModelAnswers(fit_tree((2,), told), told).marginal((0,))
    assert (answer.low >= 0).all()
    assert (answer.low <= answer.high).all()


def test_a_models_own_measurements_serve():
    data = [[0, 1, 2]] * 300 + [[2, 0, 3]] * 200
    for budget, noise in (({"rho": 5}, "discrete gaussian"), ({"epsilon": 20}, "geometric")):
        model = PrivBayes(sizes=SIZES, relation="add_remove", **budget).release(data)
        answer = ModelAnswers(model, noise=noise).marginal((0,), 1e-6)
        assert answer.kind == "measured"
        assert (answer.low <= [300, 0, 200]).all()
        assert (answer.high >= [300, 0, 200]).all()
        assert answer.half_widths.max() < 120
    with pytest.raises(InvalidParameter, match="noise"):
        ModelAnswers(model, noise="white")


def test_a_network_answers_alike():
    network = Network((2,), (Conditional(0, (), np.array([0.4, 0.6])),), 50.0)
    told = [Measured((0,), np.array([21.0, 29.0]), 2.5)]
    answer = ModelAnswers(network, told).marginal((0,))
    assert answer.values.tolist() == [20.0, 30.0]
    assert answer.kind == "measured"


@pytest.mark.parametrize("wrong", [Measured((0,), np.zeros(5), 1.0), Measured((7,), np.zeros(3), 1.0)], ids=["a", "b"])
def test_tables_of_another_shape_are_refused(wrong):
    model = fit_tree((3,), [Measured((0,), np.ones(3), 1.0)])
    with pytest.raises(InvalidParameter):
        ModelAnswers(model, [wrong])


@pytest.mark.parametrize("beta", [0, 1.5, float("nan")])
def test_odd_probabilities_are_refused(beta):
    told = [Measured((0,), np.ones(3), 1.0)]
    with pytest.raises(InvalidParameter):
        ModelAnswers(fit_tree((3,), told), told).marginal((0,), beta)
