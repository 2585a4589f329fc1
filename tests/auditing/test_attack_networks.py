"""A network that learns its people by heart is found out, and its private twin keeps the bound."""

import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from discreet.auditing.attacks import networks  # noqa: E402
from discreet.auditing.attacks.networks import attack_network, people  # noqa: E402
from discreet.auditing.attacks.rates import GRID  # noqa: E402
from discreet.errors import InvalidParameter, MissingExtra, NotPrivateWarning  # noqa: E402
from discreet.testing import seeded  # noqa: E402

torch.set_num_threads(1)
RATES = (0.001, 0.01, 0.1)
pytestmark = pytest.mark.xdist_group("networks")  # what they look at is made once


@pytest.fixture(scope="module")
def found():
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("networks"):
        return attack_network(records=400, shadows=16, generator=np.random.default_rng(1))


def test_a_network_remembers(found):
    assert found.attacks["LiRA online"].at(0.01).low > found.bound[GRID.index(0.01)]
    assert found.attacks["LiRA online"].balanced_accuracy > 0.56
    assert found.accuracy > found.usual + 0.2


def keeps_the_bound(found):
    """Check every attack on the twin: the bound lies in or above its interval."""
    return all(roc.at(rate).low <= found.bound[GRID.index(rate)] for roc in found.protected.values() for rate in RATES)


def test_the_private_twin_keeps_the_bound_and_still_predicts(found):
    assert keeps_the_bound(found)
    assert found.protected_accuracy > found.usual + 0.2


def test_a_twin_that_is_trained_as_usual_is_caught(found):
    assert not keeps_the_bound(replace(found, protected=found.attacks))


def test_the_user_keeps_the_state_of_torchs_generator():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    networks._network(people(100), np.arange(50), None, 1)
    assert torch.equal(torch.rand(3), expected)


def test_scores_are_logits_of_the_true_class(monkeypatch):
    monkeypatch.setattr(networks, "STEPS", 5)
    town = people(100)
    model = networks._network(town, np.arange(100), None, 1)
    chance = torch.sigmoid(model(torch.from_numpy(town.features)))[:, 0].double().detach().numpy()
    right, scores = np.where(town.labels == 1, chance, 1 - chance), networks._scores(model, town)
    kept = (right > 1e-3) & (right < 1 - 1e-3)
    assert kept.sum() > 10
    assert np.allclose(scores[kept], np.log(right[kept] / (1 - right[kept])), atol=1e-2)


def test_what_is_said(found):
    assert "LiRA" in str(found)
    assert "epsilon 1" in found.protection
    assert found.plot().to_dict()


def test_refusals(monkeypatch):
    with pytest.raises(InvalidParameter):
        attack_network(records=10)
    with pytest.raises(InvalidParameter):
        attack_network(epsilon=0)
    for name in [name for name in sys.modules if name.startswith("discreet.learn.sgd")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"pip install 'discreet\[learn\]'"):
        attack_network(records=100)
