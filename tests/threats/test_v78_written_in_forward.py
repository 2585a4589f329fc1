"""What a model keeps of its inputs is refused, wherever and however it is written.

What a forward pass writes into a model is released with it, without a clip and without noise. Buffers were watched by
their version, which counts what torch writes. An ActNorm wrote its parameters and so published the mean of the first
batch; a codebook was moved through ``.data`` or through numpy; running averages, memory banks and states of LSTMs lay
in plain attributes and lists.

Defence: passes over made-up records, before private ones are seen and again every so many steps, compare the values of
all that can be reached from a model and a loss; every step compares versions and places.
Source: Found by using this library: ActNorm, VQ-VAE, memory banks, stateful recurrent networks.
"""

import logging

import pytest
import torch
from torch import nn

from discreet.errors import InvalidParameter, ReleaseFailed
from discreet.learn.sgd import private, train
from discreet.learn.sgd.state import digest
from discreet.learn.sgd.watch import Watch

BANK = []


class ActNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift, self.ready = nn.Parameter(torch.zeros(3)), False

    def forward(self, x):
        if not self.ready:
            with torch.no_grad():
                self.shift.copy_(-x.mean(0))
            self.ready = True
        return x + self.shift


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("book", torch.zeros(3))
        self.free = nn.Parameter(torch.zeros(3), requires_grad=False)
        self.kept, self.bank, self.table, self.mean = None, [], {}, 0.0
        self.later = torch.zeros(3)
        self.counts = torch.zeros(3).numpy()

    def forward(self, x):
        self.keep(x.detach())
        return x


class Data(Base):
    def keep(self, x):
        self.book.data.add_(x.mean(0))


class Swapped(Base):
    def keep(self, x):
        self.book.data = x.mean(0)


class Numpy(Base):
    def keep(self, x):
        self.book.numpy()[:] += x.mean(0).numpy()


class Frozen(Base):
    def keep(self, x):
        self.free.data.add_(x.mean(0))


class Attribute(Base):
    def keep(self, x):
        self.kept = x.mean(0)


class InPlace(Base):
    def keep(self, x):
        self.later.data.mul_(0.9).add_(x.mean(0))


class Bank(Base):
    def keep(self, x):
        self.bank.append(x.mean(0))


class Ring(Base):
    def __init__(self):
        super().__init__()
        self.bank = [torch.zeros(3)]

    def keep(self, x):
        self.bank[0] = x.mean(0)


class Table(Base):
    def keep(self, x):
        self.table["mean"] = x.mean(0)


class Number(Base):
    def keep(self, x):
        self.mean = 0.9 * self.mean + 0.1 * float(x.mean())


class Array(Base):
    def keep(self, x):
        self.counts += x.mean(0).numpy()


class OfClass(Base):
    seen = []  # noqa: RUF012  it is what is under test

    def keep(self, x):
        self.seen.append(float(x.sum()))


class OfModule(Base):
    def keep(self, x):
        BANK.append(float(x.sum()))


class Size(Base):
    def keep(self, x):
        self.mean = len(x)


KEEPING = [Data, Swapped, Numpy, Frozen, Attribute, InPlace, Bank, Ring, Table, Number, Array, OfClass, OfModule, Size]


class State(nn.Module):
    """An LSTM that goes on where the batch before ended."""

    def __init__(self):
        super().__init__()
        self.inside, self.out, self.state = nn.LSTM(3, 3, batch_first=True), nn.Linear(3, 1), None

    def forward(self, x):
        state = self.state if self.state is not None and self.state[0].shape[1] == len(x) else None
        found, self.state = self.inside(x[:, None], state)
        return self.out(found[:, 0])


def begun(model, *, probe=True, steps=2):
    data = torch.randn(16, 3), torch.randn(16, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return private(
        model, optimizer, data, records=16, batch=16, steps=steps, noise_multiplier=1, sampling="passes", probe=probe
    )


def refused_before_any_record(model, **options):
    parts = begun(model, **options)
    with pytest.raises(InvalidParameter, match="was changed by"):
        train(parts, nn.MSELoss())
    assert parts.run.started == 0


@pytest.mark.parametrize("kind", [*KEEPING, ActNorm])
def test_what_is_kept_of_inputs_is_refused(kind):
    refused_before_any_record(nn.Sequential(kind(), nn.Linear(3, 1)))


def test_a_state_of_the_batch_before_is_refused():
    refused_before_any_record(State())


def test_a_hook_that_keeps_outputs_is_refused():
    model, kept = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1)), []
    model[0].register_forward_hook(lambda _, __, found: kept.append(found.detach()))
    refused_before_any_record(model)


def test_a_loss_that_keeps_outputs_is_refused():
    class Centred(nn.MSELoss):
        def forward(self, found, wanted):
            self.last = found.detach().mean()
            return super().forward(found, wanted)

    parts = begun(nn.Linear(3, 1))
    with pytest.raises(InvalidParameter, match=r"the loss\.last"):
        train(parts, Centred())


@pytest.mark.parametrize("kind", [Swapped, Attribute, Bank, Ring, Table])
def test_what_begins_later_is_seen_in_the_step_itself(kind, caplog):
    """After the first look, with no other one due: in fixed words, as it may depend on records."""
    model = nn.Sequential(kind(), nn.Linear(3, 1))
    keep, model[0].keep = model[0].keep, lambda x: None
    parts = begun(model, steps=8)

    def later(run):
        if run.finished == 5:
            model[0].keep = keep

    with caplog.at_level(logging.ERROR, "discreet.curator"), pytest.raises(ReleaseFailed):
        train(parts, nn.MSELoss(), after=later)
    assert "was changed by" in str(caplog.records[-1].exc_info[1])
    assert parts.run.finished == 5


@pytest.mark.parametrize("kind", [Data, Numpy, InPlace, Number])
def test_what_begins_later_is_seen_at_the_next_look(kind):
    model = nn.Sequential(kind(), nn.Linear(3, 1))
    keep, model[0].keep = model[0].keep, lambda x: None
    parts = begun(model, steps=20)

    def later(run):
        if run.finished == 5:
            model[0].keep = keep

    with pytest.raises(InvalidParameter, match="was changed by"):
        train(parts, nn.MSELoss(), after=later)
    assert parts.run.finished <= 8


class Harmless(nn.Module):
    """Counts its passes, and makes a mask when it first needs one."""

    def __init__(self):
        super().__init__()
        self.passes, self.mask, self.layer = 0, None, nn.Linear(3, 1)

    def forward(self, x):
        self.passes += 1
        if self.mask is None:
            self.mask = torch.ones(x.shape[1])
        return self.layer(x * self.mask)


def test_what_does_not_depend_on_records_is_no_harm():
    model = Harmless()
    assert train(begun(model, steps=3), nn.MSELoss()).finished == 3
    assert model.passes == 3  # those with made-up records left nothing behind


def test_an_actnorm_that_was_set_on_made_up_inputs_is_accepted():
    model = nn.Sequential(ActNorm(), nn.Linear(3, 1))
    model(torch.rand(8, 3))
    assert train(begun(model), nn.MSELoss()).finished == 2


def test_versions_alone_are_caught():
    """What was done before: a codebook that is moved through numpy or .data shows no new version; its values do."""
    for kind in (Data, Numpy):
        model = nn.Sequential(kind(), nn.Linear(3, 1))
        before, watch = digest(model[0].book), Watch(model)
        watch.open()
        model(torch.rand(8, 3))
        assert watch.changed() is None
        assert digest(model[0].book) != before
