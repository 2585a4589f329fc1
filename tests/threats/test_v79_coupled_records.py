"""Records that touch each other in a model, a hook, a loop or a loss are refused.

A clip bounds what one record adds to a sum, if nobody else's part moves with it. Statistics over the batch move all of
them: ``functional.batch_norm(training=True)`` let one record move the sum by 5.3 times the clip, ``h - h.mean(0)`` by
22 times, and a cross entropy whose class weights are normalised over the batch by 27 times.

Defence: some rows of made-up batches are perturbed, with their labels and weights, in the very loop that private rows
will go through, with the same random numbers: inputs and output gradients of all other rows must stay as they were. It
is done before private rows are seen and again every so many steps. The same records in batches of two sizes must get
the same gradients, where the same was drawn for them. It is a probe and no proof.
Source: Found by using this library: normalisation written as a function, weighted and contrastive losses, mixup.
"""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from discreet.errors import InvalidParameter
from discreet.learn.sgd import private, train
from discreet.learn.sgd import run as runs
from discreet.learn.sgd.noise import Begun

CLASSES = 10


class Between(nn.Module):
    """Two layers with a function between them."""

    def __init__(self, function):
        super().__init__()
        self.first, self.last, self.function = nn.Linear(4, 6), nn.Linear(6, CLASSES), function

    def forward(self, x):
        return self.last(self.function(self.first(x)))


COUPLED = {
    "batch norm": lambda h: functional.batch_norm(h, None, None, training=True),
    "centred": lambda h: h - h.mean(0),
    "largest": lambda h: h / h.abs().amax(0),
    "attention over the batch": lambda h: torch.softmax(h @ h.T, 1) @ h,
    "turned round": lambda h: h.flip(0),
    "a path that depends on the batch": lambda h: h if h.sum() > 0 else h.tanh(),
}
ALONE = {
    "nothing": lambda h: h,
    "centred by itself": lambda h: h - h.mean(1, keepdim=True),
    "dropout": lambda h: functional.dropout(h, 0.5),
    "numpy's noise": lambda h: h + torch.from_numpy(np.random.normal(size=h.shape)).float(),  # noqa: NPY002
    "layer norm": lambda h: functional.layer_norm(h, (6,)),
}


def begun(model, data=None, **options):
    torch.manual_seed(0)
    data = data or (torch.randn(16, 4), torch.randint(0, CLASSES, (16,)))
    given = {"records": 16, "batch": 16, "steps": 2, "noise_multiplier": 1, "sampling": "passes"} | options
    return private(model, torch.optim.SGD(model.parameters(), lr=0.1), data, **given)


def looped(parts, loss):
    for batch in parts.batches:
        loss(parts.model, *batch).backward()
        parts.optimizer.step()
    return parts.run.finished


def refused(parts, loss=lambda model, x, y: functional.cross_entropy(model(x), y)):
    with pytest.raises(InvalidParameter, match="touch each other"):
        looped(parts, loss)
    assert parts.run.started == 0


@pytest.mark.parametrize("name", [name for name in COUPLED if not name.startswith("a path")])
@pytest.mark.parametrize("seed", range(3))
def test_models_that_mix_records_are_refused(name, seed):
    torch.manual_seed(seed)
    refused(begun(Between(COUPLED[name])))


def test_a_hook_that_mixes_records_is_refused():
    model = Between(torch.tanh)
    model.first.register_forward_hook(lambda _, __, h: h - h.mean(0))
    refused(begun(model))


@pytest.mark.parametrize("special", range(CLASSES))
def test_class_weights_normalised_over_the_batch_are_refused(special):
    weights = torch.ones(CLASSES)
    weights[special] = 1.5
    refused(begun(Between(torch.tanh)), lambda model, x, y: functional.cross_entropy(model(x), y, weight=weights))


def weighted(model, x, y, w):
    each = functional.cross_entropy(model(x), y, reduction="none")
    return (w * each).sum() / w.sum()


def test_weights_of_records_normalised_over_the_batch_are_refused():
    data = torch.randn(16, 4), torch.randint(0, CLASSES, (16,)), torch.rand(16)
    refused(begun(Between(torch.tanh), data), weighted)


def contrastive(model, x, y):
    found = functional.normalize(model(x), dim=1)
    return functional.cross_entropy(found @ functional.normalize(y, dim=1).T, torch.arange(len(x)))


def test_contrastive_losses_are_refused():
    refused(begun(Between(torch.tanh), (torch.randn(16, 4), torch.randn(16, CLASSES))), contrastive)


def mixed_up(model, x, y):
    order, share = torch.randperm(len(x)), 0.3
    found = model(share * x + (1 - share) * x[order])
    return share * functional.cross_entropy(found, y) + (1 - share) * functional.cross_entropy(found, y[order])


def test_mixup_is_refused():
    refused(begun(Between(torch.tanh)), mixed_up)


def test_a_path_that_depends_on_the_batch_is_refused():
    class Path(Between):
        def forward(self, x):
            h = self.first(x)
            return self.last(self.last(h)[:, :6] if x.sum() > 16.5 else h)

    refused_in_words = r"touch each other|depends on what is in a batch"
    with pytest.raises(InvalidParameter, match=refused_in_words):
        looped(begun(Path(torch.tanh)), lambda model, x, y: functional.cross_entropy(model(x), y))


def test_positions_without_a_class_are_seen_in_an_example():
    """A mean over what has a class divides by how many have one in the whole batch."""

    def loss(model, x, y):
        return functional.cross_entropy(model(x), y)

    example = torch.rand(6, 4), torch.tensor([0, 1, -100, 3, -100, 5])
    assert looped(begun(Between(torch.tanh)), loss) == 2
    refused(begun(Between(torch.tanh), example=example), loss)


@pytest.mark.parametrize("name", ALONE)
def test_what_looks_at_one_record_is_accepted(name):
    def loss(model, x, y):
        return functional.cross_entropy(model(x), y)

    assert looped(begun(Between(ALONE[name]), steps=9), loss) == 9


@pytest.mark.parametrize("loss", [nn.MSELoss(), nn.BCEWithLogitsLoss(), nn.L1Loss(), nn.PoissonNLLLoss()])
def test_losses_of_numbers_take_made_up_ones(loss):
    assert train(begun(nn.Linear(4, 1), (torch.randn(16, 4), torch.rand(16, 1))), loss).finished == 2


@pytest.mark.parametrize("loss", [nn.CrossEntropyLoss(weight=torch.rand(CLASSES)), nn.CrossEntropyLoss()])
def test_train_takes_a_weighted_cross_entropy_apart(loss):
    assert train(begun(Between(torch.tanh)), loss).finished == 2


def test_coupling_that_begins_later_is_refused():
    model = Between(torch.tanh)
    parts = begun(model, steps=40)

    def later(run):
        if run.finished == 9:
            model.function = COUPLED["centred"]

    with pytest.raises(InvalidParameter, match="touch each other"):
        train(parts, nn.CrossEntropyLoss(), after=later)
    assert parts.run.finished == 16


def test_random_numbers_of_ones_own_cannot_be_told_from_coupling():
    own = np.random.default_rng(3)
    model = Between(lambda h: h + torch.from_numpy(own.normal(size=h.shape)).float())
    assert looped(begun(model), lambda model, x, y: functional.cross_entropy(model(x), y)) == 2  # the model holds it

    hidden = iter(lambda: torch.from_numpy(own.normal(size=4)).float(), None)
    with pytest.raises(InvalidParameter, match="generators"):
        looped(begun(Between(torch.tanh)), lambda model, x, y: functional.cross_entropy(model(x + next(hidden)), y))


def test_where_nothing_can_be_seen_an_example_is_asked_for():
    with pytest.raises(InvalidParameter, match="example="):
        looped(begun(Between(torch.tanh)), lambda model, x, y: 0 * model(x).sum())


def test_examples_have_the_form_of_the_data():
    with pytest.raises(InvalidParameter, match="form of the records"):
        looped(begun(Between(torch.tanh), example=(torch.rand(6, 3), torch.zeros(6).long())), None)
    with pytest.raises(InvalidParameter, match="at least two"):
        begun(Between(torch.tanh), example=(torch.rand(1, 4), torch.zeros(1).long()))


def test_random_numbers_go_on_as_if_nobody_had_looked():
    found = []
    for probe in (True, False):
        parts = begun(Between(ALONE["dropout"]), probe=probe, steps=1)
        torch.manual_seed(5)
        for x, y in parts.batches:
            functional.cross_entropy(parts.model(x), y).backward()
            parts.optimizer.step()
        found.append(torch.rand(3))
    assert torch.equal(*found)


def test_without_the_look_coupling_is_caught_in_the_sums(monkeypatch):
    """What was done before: nothing looked at other rows, and one record moved the sum by many times the clip."""
    seen = []
    monkeypatch.setattr(runs, "begin", lambda total, *rest: seen.append(total.clone()) or Begun(total * rest[-1]))
    x, y = torch.randn(17, 4), torch.randint(0, CLASSES, (17,))
    x[16] = 100.0
    for present in (16, 17):
        torch.manual_seed(2)
        parts = begun(Between(COUPLED["centred"]), (x[:present], y[:present]), probe=False, steps=1, clip=0.1)
        looped(parts, lambda model, x, y: functional.cross_entropy(model(x), y))
    assert float((seen[0] - seen[1]).norm()) > 2 * 0.1


def counts(power):
    def loss(model, x, y):
        return (model(x) * len(x) ** power).square().mean()

    return loss


COUNTED = {
    "sum": lambda model, x, y: (0.008 * (model(x) - y[:, None])).sum(),
    "sum over a constant": lambda model, x, y: (model(x) - y[:, None]).square().sum() / 16,
    "times the rows": counts(1),
    "times a root of the rows": counts(0.5),
    "a layer for many": lambda model, x, y: model.last(model.first(x)).mean() if len(x) > 6 else model.first(x).mean(),
    "stratified": lambda model, x, y: (
        model(x) * torch.sin(6 * (torch.rand(1) + torch.arange(len(x)) / len(x)))[:, None]
    ).mean(),
}


@pytest.mark.parametrize("between", ["nothing", "dropout", "numpy's global coin"])
@pytest.mark.parametrize("name", COUNTED)
def test_gradients_that_follow_the_number_of_records_are_refused(name, between):
    function = ALONE.get(between) or (lambda h: h if np.random.rand() < 0.5 else 2 * h)  # noqa: NPY002
    parts = begun(Between(function))
    with pytest.raises(InvalidParameter, match=r"how many records.*reduction='sum'"):
        looped(parts, COUNTED[name])
    assert parts.run.started == 0


def test_a_mean_is_refused_where_a_sum_is_to_be():
    def loss(model, x, y):
        return functional.cross_entropy(model(x), y)

    with pytest.raises(InvalidParameter, match=r"how many records.*take the sum"):
        looped(begun(Between(torch.tanh), reduction="sum"), loss)
    assert looped(begun(Between(torch.tanh), reduction="sum"), COUNTED["sum"]) == 2


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: torch.randn(len(x), 4),
        lambda x: torch.randn((len(x), 4)),
        lambda x: torch.randint(0, 9, (len(x), 1)),
        torch.randn_like,
        lambda x: torch.rand(4),
        lambda x: torch.rand(3 * len(x), 4).view(len(x), 3, 4).mean(1),
        lambda x: torch.empty_like(x).normal_(),
        lambda x: torch.bernoulli(torch.full_like(x, 0.3)),
        lambda x: torch.from_numpy(np.random.default_rng(0).random((len(x), 4))).float(),
        lambda x: torch.randn(len(x), 4, generator=torch.Generator().manual_seed(3)),
    ],
)
def test_random_numbers_of_each_record_are_accepted(draw):
    def loss(model, x, y):
        return functional.cross_entropy(model(x + draw(x)), y)

    assert looped(begun(Between(ALONE["dropout"])), loss) == 2


def test_a_coupling_by_the_number_is_caught_in_the_sums(monkeypatch):
    """What was done before: all looks had one number of rows, and one more record moved the parts of all others."""
    seen = []
    monkeypatch.setattr(runs, "begin", lambda total, *rest: seen.append(total.clone()) or Begun(total * rest[-1]))
    x, y = torch.full((17, 4), 0.5), torch.zeros(17, 1)
    for present in (16, 17):
        torch.manual_seed(2)
        parts = begun(nn.Linear(4, 1), (x, y), probe=False, steps=1, clip=0.5)
        parts.batches.sampler.draw = lambda step, present=present: np.arange(present)
        looped(parts, lambda model, x, y: (0.02 * (model(x) - y)).sum())
    assert float((seen[0] - seen[1]).norm()) > 1.5 * 0.5
