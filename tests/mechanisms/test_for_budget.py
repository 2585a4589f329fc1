"""Mechanisms by their budget: they fit it exactly, and a hundred-thousandth less noise does not."""

import pytest

from discreet import DiscreteGaussian, Gaussian, Geometric, InvalidParameter, Laplace

CASES = [
    (Laplace, {"sensitivity": 1}),
    (Laplace, {"sensitivity": 0.3}),
    (Geometric, {"sensitivity": 1}),
    (Geometric, {"sensitivity": 3}),
    (Gaussian, {"sensitivity": 2}),
    (DiscreteGaussian, {"sensitivity": 1}),
    (DiscreteGaussian, {"sensitivity": 3**0.5}),
    (DiscreteGaussian, {"sensitivity": 3, "scalar": True}),
]


@pytest.mark.parametrize(("cls", "settings"), CASES)
@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize("delta", [0, 1e-9, 1e-5, 0.1])
def test_the_budget_is_met_and_hardly_undercut(cls, settings, epsilon, delta):
    if not delta and cls in (Gaussian, DiscreteGaussian):
        with pytest.raises(InvalidParameter, match="delta"):
            cls.for_budget(epsilon, delta, **settings)
        return
    found = cls.for_budget(epsilon, delta, **settings)
    assert found.loss.epsilon(delta) <= epsilon
    name = "sigma" if hasattr(found, "sigma") else "scale"
    less = cls(**settings, **{name: float(getattr(found, name)) * (1 - 1e-5)})
    assert less.loss.epsilon(delta) > epsilon


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [(1, 1e-5, 3.730631635), (0.1, 1e-6, 36.30469042619578), (0.5, 1e-6, 8.057618480725043), (10, 1e-5, 0.4998886197)],
)
def test_the_analytic_sigma(epsilon, delta, sigma):
    assert Gaussian.for_budget(epsilon, delta, sensitivity=1).sigma == pytest.approx(sigma, rel=1e-9)
    assert Gaussian.for_budget(epsilon, delta, sensitivity=3).sigma == pytest.approx(3 * sigma, rel=1e-9)


def test_without_a_delta_epsilon_is_the_budget():
    assert Laplace.for_budget(0.1, sensitivity=2) == Laplace(sensitivity=2, epsilon=0.1)
    assert Geometric.for_budget(0.1, sensitivity=2) == Geometric(sensitivity=2, epsilon=0.1)


@pytest.mark.parametrize("cls", [Gaussian, DiscreteGaussian])
def test_budgets_beyond_all_noise_are_refused_in_words(cls):
    for epsilon, delta in ((1e-20, 1e-20), (1e-300, 1e-290)):
        with pytest.raises(InvalidParameter, match="larger epsilon or delta"):
            cls.for_budget(epsilon, delta, sensitivity=1)
        with pytest.raises(InvalidParameter, match="larger epsilon or delta"):
            cls(sensitivity=1, epsilon=epsilon, delta=delta)


@pytest.mark.parametrize("cls", [Laplace, Geometric, Gaussian, DiscreteGaussian])
def test_nonsense_is_refused(cls):
    for epsilon, delta in ((0, 0.1), (-1, 0.1), ("1", 0.1), (1, 1), (1, -0.1), (1, "0.1")):
        with pytest.raises(InvalidParameter):
            cls.for_budget(epsilon, delta, sensitivity=1)
