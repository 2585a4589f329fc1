"""The two principles: right verdicts on algorithms that have them, and on some that do not."""

import warnings

import numpy as np
import pytest

from discreet import InvalidParameter
from discreet.bench import Algorithm, algorithms, check_consistency, check_exchangeability, generated
from discreet.bench.checks import Consistency, Exchangeability
from discreet.errors import NotPrivateWarning
from discreet.testing import seeded


@pytest.fixture(autouse=True)
def repeatable(request):
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(request.node.name):
        yield


class Made(Algorithm):
    """An algorithm from a function of a histogram and epsilon."""

    def __init__(self, release):
        for key, value in {"name": "made", "kind": None, "dimensions": (1,), "consistent": True}.items():
            object.__setattr__(self, key, value)
        object.__setattr__(self, "given", release)

    def make(self, sizes, workload, epsilon, relation):
        release = self.given
        return type("Estimator", (), {"release": lambda self, histogram: release(histogram, epsilon)})()


LINE, PLANE = generated("mixture", (64,)), generated("clusters", (8, 8))
CASES = [(algorithm.name, dimensions) for algorithm in algorithms() for dimensions in algorithm.dimensions]


@pytest.mark.parametrize(("name", "dimensions"), CASES, ids=[f"{name}, {d}-D" for name, d in CASES])
def test_consistency_is_as_expected(name, dimensions):
    (algorithm,) = algorithms([name])
    found = check_consistency(algorithm, LINE if dimensions == 1 else PLANE, trials=2)
    assert found.verdict == ("consistent" if algorithm.consistent else "inconsistent"), str(found)
    assert not found.surprising


@pytest.mark.parametrize("name", ["identity", "uniform", "hb"])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_exchangeability_holds(name, relation):
    (algorithm,) = algorithms([name])
    found = check_exchangeability(algorithm, LINE, relation=relation)
    assert found.verdict == "holds", str(found)


def test_exchangeability_fails_where_noise_does_not_follow_epsilon():
    draw = np.random.default_rng(0)
    found = check_exchangeability(Made(lambda x, epsilon: x + draw.normal(0, 5, x.shape)), LINE)
    assert found.verdict == "fails"
    assert found.ratio == pytest.approx(0.1, rel=0.5)


def test_after_the_deadline_it_is_left_undecided():
    draw = np.random.default_rng(0)
    wild = Made(lambda x, epsilon: x + draw.standard_cauchy() / epsilon)
    assert check_exchangeability(wild, LINE, deadline=0.001).verdict == "undecided"
    found = check_exchangeability(wild, LINE, trials=50)
    assert found.verdict == "undecided"


def test_no_error_at_all_is_exchangeable():
    assert check_exchangeability(Made(lambda x, epsilon: x), LINE).verdict == "holds"
    late = Made(lambda x, epsilon: x + (epsilon < 0.1))
    assert check_exchangeability(late, LINE).verdict == "fails"


def test_an_error_that_comes_to_rest_is_inconsistent():
    stuck = check_consistency(Made(lambda x, epsilon: x + 20 / min(epsilon, 50) * (np.arange(64) % 7)), LINE)
    assert stuck.verdict == "inconsistent"
    assert stuck.surprising
    assert "inconsistent" in str(stuck)
    falling = Consistency(algorithm="a", epsilons=(1.0, 10.0), errors=(0.9, 0.3), expected=True)
    assert (falling.verdict, falling.surprising) == ("undecided", False)


def test_verdicts_follow_the_interval():
    made = [
        Exchangeability(algorithm="a", errors=(1.0, 1.0), ratio=1.0, interval=interval).verdict
        for interval in [(0.9, 1.1), (0.7, 1.1), (0.5, 0.8), (1.3, 2.0), (0.9, 1.3)]
    ]
    assert made == ["holds", "undecided", "fails", "fails", "undecided"]


def test_refuses():
    (identity,) = algorithms(["identity"])
    with pytest.raises(InvalidParameter, match="even"):
        check_consistency(identity, generated("zipf", (1,)))
    with pytest.raises(InvalidParameter, match="rise"):
        check_consistency(identity, LINE, epsilons=(10, 1))
    with pytest.raises(InvalidParameter, match="trials"):
        check_exchangeability(identity, LINE, trials=1)
    with pytest.raises(InvalidParameter, match="factor"):
        check_exchangeability(identity, LINE, factor=1)
