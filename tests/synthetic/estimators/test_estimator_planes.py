"""What the three estimators of planes share: the cost of every release, budgets, edges, refusals, principles."""

import math
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest

from discreet import InvalidInput, InvalidParameter, RelationMismatch
from discreet.errors import NotPrivateWarning
from discreet.mechanisms import Geometric
from discreet.synthetic import estimators
from discreet.synthetic.estimators.adaptive_grid import AdaptiveGrid
from discreet.synthetic.estimators.estimator import LARGEST
from discreet.synthetic.estimators.quad_tree import QuadTree
from discreet.synthetic.estimators.uniform_grid import UniformGrid
from discreet.testing import check_mechanism, conformance, seeded

KINDS = [QuadTree, UniformGrid, AdaptiveGrid]
RELATIONS = ["add_remove", "replace_one"]

each = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
related = pytest.mark.parametrize("relation", RELATIONS)


@pytest.fixture
def repeatable(request):
    """Draw the noise of a test from a source seeded by the test's name, so that it passes always or never."""
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded(request.node.name):
        yield


class Replay:
    """Stands in for the noise: records what is measured, and gives outputs that were drawn on other data."""

    def __init__(self, monkeypatch):
        self.honest = Geometric.release
        self.seen, self.outputs = [], None
        replay = self

        def release(noise, value):
            replay.seen.append((noise, np.array(value, dtype=object).reshape(-1)))
            if replay.outputs is not None:
                return replay.outputs[len(replay.seen) - 1]
            made = replay.honest(noise, value)
            replay.kept.append(made)
            return made

        monkeypatch.setattr(Geometric, "release", release)

    def draw(self, mechanism, data):
        self.seen, self.outputs, self.kept = [], None, []
        mechanism.release(data)
        return self.seen, self.kept

    def again(self, mechanism, data, outputs):
        self.seen, self.outputs = [], outputs
        mechanism.release(data)
        return self.seen


def neighbours(data, relation):
    """Yield all histograms that one record makes of another."""
    cells = list(np.ndindex(data.shape))
    for cell in cells:
        if data[cell]:
            fewer = data.copy()
            fewer[cell] -= 1
            if relation == "add_remove":
                yield fewer
            else:
                for other in cells:
                    if other != cell:
                        moved = fewer.copy()
                        moved[other] += 1
                        yield moved


@each
@related
def test_no_output_costs_more_than_epsilon_on_any_neighbour(kind, relation, monkeypatch, repeatable):
    """The loss of a release is exact: outputs drawn on one histogram are held against what its neighbour measures."""
    replay = Replay(monkeypatch)
    worst = Fraction(0)
    for shape, epsilon, height in [((3, 4), Fraction(2), 1), ((2, 2), Fraction(1, 3), 2), ((4, 1), Fraction(8), 3)]:
        special = {"height": height} if kind is QuadTree else {}
        mechanism = kind(shape=shape, epsilon=epsilon, relation=relation, **special)
        data = np.random.default_rng(5).integers(0, 30, shape)
        data[0, 0] = LARGEST  # a full cell, and one that is more than full
        data[-1, -1] = LARGEST + 1
        for other in neighbours(data, relation):
            before, outputs = replay.draw(mechanism, data)
            after = replay.again(mechanism, other, outputs)
            assert len(before) == len(after) == len(mechanism.parts)
            cost = Fraction(0)
            for part, (noise, one), (same, two) in zip(mechanism.parts, before, after, strict=True):
                assert noise == same == part
                moved = int(np.abs(one - two).sum())
                assert moved <= noise.sensitivity
                cost += Fraction(moved) / Fraction(noise.scale)
            assert cost <= epsilon
            worst = max(worst, cost / epsilon)
    assert worst == 1


@each
@related
@pytest.mark.parametrize("epsilon", [Fraction(1, 7), 0.1, 5])
def test_shares_add_up_to_epsilon(kind, relation, epsilon):
    mechanism = kind(shape=(9, 5), epsilon=epsilon, relation=relation)
    assert sum(Fraction(part.epsilon) for part in mechanism.parts) == Fraction(epsilon)
    assert mechanism.loss.is_pure
    assert mechanism.loss.relation == relation
    assert float(epsilon) * (1 - 1e-12) <= mechanism.loss.epsilon() <= float(epsilon) * (1 + 1e-12)


@each
@related
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (6, 1), (3, 7), (16, 16)])
def test_every_shape_and_every_size_of_counts(kind, relation, shape):
    mechanism = kind(shape=shape, epsilon=1, relation=relation)
    zeros = np.zeros(shape, dtype=np.int64)
    one = zeros.copy()
    one[-1, 0] = 7
    for data in (zeros, one, zeros + LARGEST, zeros.astype(object) + 10**30):
        estimate = mechanism.release(data)
        assert estimate.shape == shape
        assert estimate.dtype == np.float64
        assert np.isfinite(estimate).all()
    assert mechanism.release(one.reshape(-1)).shape == shape
    assert mechanism.release(one.tolist()).shape == shape


@each
@related
def test_the_error_vanishes_as_epsilon_grows(kind, relation):
    data = np.random.default_rng(0).integers(0, 50, (12, 20))
    mechanism = kind(shape=data.shape, epsilon=10**6, relation=relation)
    assert np.allclose(mechanism.release(data), data, atol=1e-3)


@each
@related
def test_scale_and_epsilon_can_be_exchanged(kind, relation, repeatable):
    """Ten times the records at a tenth of epsilon give ten times the error."""
    data = np.random.default_rng(1).poisson(8, (16, 16))
    errors = []
    for factor in (1, 10):
        mechanism = kind(shape=data.shape, epsilon=Fraction(1, 5 * factor), relation=relation)
        draws = [np.linalg.norm(mechanism.release(factor * data) / factor - data) for _ in range(400)]
        errors.append(np.array(draws))
    spread = math.sqrt(sum(each.var() / len(each) / each.mean() ** 2 for each in errors))
    assert abs(math.log(errors[0].mean() / errors[1].mean())) < 0.03 + 7 * spread
    assert spread < 0.02


@each
@related
def test_conforms(kind, relation, monkeypatch):
    names = type("Names", (), {**vars(conformance.mechanisms), **{kind.__name__: kind for kind in KINDS}})
    monkeypatch.setattr(conformance, "mechanisms", names)
    mechanism = kind(shape=(4, 4), epsilon=0.5, relation=relation)
    done = check_mechanism(mechanism)
    assert {"interface", "frozen", "keyword-only", "loss"} <= set(done.passed)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert eval(repr(mechanism), {kind.__name__: kind, "Fraction": Fraction}) == mechanism
    one, other = mechanism.worst_case()
    assert any((found == other).all() for found in neighbours(one, relation))
    assert getattr(estimators, kind.__name__) is kind


@each
@pytest.mark.parametrize(
    "wrong",
    [
        {"shape": (4,)},
        {"shape": (2, 2, 2)},
        {"shape": (0, 4)},
        {"shape": (2.5, 4)},
        {"shape": (1 << 12, 1 << 12)},
        {"epsilon": 0},
        {"epsilon": math.nan},
        {"relation": "swap"},
    ],
    ids=str,
)
def test_refuses_what_makes_no_sense(kind, wrong):
    with pytest.raises((InvalidParameter, RelationMismatch)):
        kind(**{"shape": (4, 4), "epsilon": 1, "relation": "add_remove"} | wrong)


@each
def test_refuses_other_histograms_without_telling_data(kind):
    mechanism = kind(shape=(2, 3), epsilon=1, relation="add_remove")
    for data in ([[1, 2], [3, 99]], [[0.5] * 3] * 2, [[1, 2, 3], [4, 98765]], "98765", [[None] * 3] * 2):
        with pytest.raises(InvalidInput) as refusal:
            mechanism.release(data)
        assert "98765" not in str(refusal.value)
        assert "99" not in str(refusal.value)


def test_neighbours_are_all():
    found = {tuple(other.reshape(-1)) for other in neighbours(np.array([[1, 0], [2, 0]]), "replace_one")}
    assert len(found) == 6
    assert all(sum(other) == 3 for other in found)
    assert len(list(neighbours(np.array([[1, 0], [2, 0]]), "add_remove"))) == 2
