"""What mechanisms say of their own laws: right output by output, and one in total."""

import math

import numpy as np
import pytest
from claims_reference import (
    cells,
    discrete_gaussian,
    gaussian_survival,
    geometric,
    laplace_survival,
    permute_and_flip,
    processed,
    quantile_cells,
    response,
    softmax,
)

from discreet.mechanisms import (
    BoundedCount,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    PermuteAndFlip,
    Quantile,
    RandomizedResponse,
    Warner,
    YesBiased,
)

SCORES = [3, 1, 0, 3]
WHOLE = np.arange(-300, 301)


def rows():
    """Yield a name, a mechanism, an input, all outputs that matter and their log-probabilities."""
    for scale in (0.4, 1, 3):
        yield f"geometric {scale}", Geometric(sensitivity=1, scale=scale), 2, WHOLE, geometric(scale, 2, 300)
        law = discrete_gaussian(scale, 2, 300)
        yield f"discrete gaussian {scale}", DiscreteGaussian(sensitivity=1, sigma=scale), 2, WHOLE, law
        for grid in (1, 0.5, 8):
            points = WHOLE * grid
            law = cells(laplace_survival, scale, 0.3, grid, 300)
            yield f"laplace {scale} {grid}", Laplace(sensitivity=1, scale=scale, grid=grid), 0.3, points, law
            if grid < 8:
                reach = WHOLE[np.abs(points) < 30 * scale]
                law = cells(gaussian_survival, scale, 0.3, grid, reach[-1])
                yield (
                    f"gaussian {scale} {grid}",
                    Gaussian(sensitivity=1, sigma=scale, grid=grid),
                    0.3,
                    reach * grid,
                    law,
                )
    yield "exponential", Exponential(epsilon=1), SCORES, range(4), softmax(SCORES, 0.5)
    yield "monotone", Exponential(epsilon=1, monotone=True), SCORES, range(4), softmax(SCORES, 1)
    yield "permute and flip", PermuteAndFlip(epsilon=1), SCORES, range(4), permute_and_flip(SCORES, 0.5)
    yield "bounded count", BoundedCount(size=5, epsilon=1), 9, range(6), softmax(range(6), 0.5)
    for k in (2, 5):
        truth = math.e / (math.e + k - 1)
        yield f"response {k}", RandomizedResponse(epsilon=1, categories=k), 1, range(k), response(truth, k, 1)
    yield "warner", Warner(truth=0.2), 1, range(2), response(0.2, 2, 1)
    yield "yes-biased no", YesBiased(forced=0.3), 0, range(2), np.log([0.7, 0.3])
    yield "yes-biased yes", YesBiased(forced=0.3), 1, range(2), np.array([-math.inf, 0])


ROWS = list(rows())


@pytest.mark.parametrize(("mechanism", "x", "outputs", "law"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_log_probabilities_are_those_of_the_definition(mechanism, x, outputs, law):
    said = np.array([mechanism.log_probability(x, y) for y in outputs])
    assert np.allclose(said, law, rtol=1e-10, atol=1e-10)
    assert math.isclose(np.exp(said).sum(), 1, rel_tol=1e-9)
    first, last = outputs[0], outputs[-1]
    assert mechanism.loss_at(last, x, x) == 0 or math.isnan(mechanism.loss_at(first, x, x))


@pytest.mark.parametrize("make", [Geometric, DiscreteGaussian, Laplace, Gaussian])
def test_coordinates_are_independent(make):
    mechanism = make(sensitivity=1, **{"scale" if make in (Geometric, Laplace) else "sigma": 2})
    together = mechanism.log_probability(np.array([1, 2, 3]), np.array([4, 0, 3]))
    assert together == pytest.approx(sum(mechanism.log_probability(x, y) for x, y in ((1, 4), (2, 0), (3, 3))))


@pytest.mark.parametrize("grid", [2.0**-40, 2.0**-20, 2.0**12])
def test_laplace_cells_stay_accurate_on_any_grid(grid):
    mechanism = Laplace(sensitivity=1, scale=1, grid=grid)
    half = grid / 2
    assert mechanism.log_probability(0, 0) == pytest.approx(math.log(-math.expm1(-half)), rel=1e-13)
    far = 3 * grid
    wanted = half - far + math.log(-math.expm1(-grid) / 2)
    assert mechanism.log_probability(0, far) == pytest.approx(wanted, rel=1e-13)


@pytest.mark.parametrize("make", [Exponential, PermuteAndFlip])
def test_hopeless_candidates_have_a_log_probability_too(make):
    assert make(epsilon=1).log_probability([0, -10_000], 1) == pytest.approx(-5000, abs=1)
    assert make(epsilon=1).log_probability([0, -10_000], 0) == pytest.approx(0, abs=1e-12)


def test_huge_counts_are_told_apart():
    assert Geometric(sensitivity=1, scale=1).loss_at(2**80, 2**80, 2**80 + 1) == pytest.approx(1)


@pytest.mark.parametrize("data", [(), (0.25,), (0.3, 0.3), (0, 0.7, 1), (0.4, 0.41, 0.42)])
@pytest.mark.parametrize("probability", [0.5, 0.2])
def test_quantiles_on_the_grid_collect_the_density_around_each_point(data, probability):
    mechanism = Quantile(bounds=(0, 1), epsilon=3, relation="replace_one", probability=probability, grid=1 / 8)
    points = np.arange(9) / 8
    edges = np.unique([0, *(points[1:] - 1 / 16), 1, *data])
    law = quantile_cells(data, edges, 1.5, probability)
    nearest = np.rint((edges[1:] + edges[:-1]) / 2 * 8)
    said = [mechanism.log_probability(data, float(y)) for y in points]
    assert np.allclose(said, processed(law, nearest), rtol=0, atol=1e-12)
