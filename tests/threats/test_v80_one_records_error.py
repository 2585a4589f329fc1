"""An error about one record is raised in fixed words.

A label out of range, an assert in a data set or a record of another shape made torch or the data set raise an error of
its own: which one it was, and often the value, was shown to whoever ran the training.

Defence: while private records are looked at, whatever fails becomes one error of fixed words with no other behind it,
this library's own refusals among them; the details go to the curator's log, and the step stays charged. Made-up records
go through a loop first, and errors on those are shown as they are, unless their form is that of a private record.
Source: Found by using this library: a label out of range, a data set that asserts.
"""

import logging

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.overrides import _get_current_function_mode_stack

from discreet.accounting import Budget
from discreet.errors import InvalidParameter, ReleaseFailed
from discreet.learn.sgd import private, train
from discreet.learn.sgd.failures import FORM

SECRET = 7_654_321


class Asserting(torch.utils.data.Dataset):
    """Records of which one fails in a way of its own."""

    def __init__(self, how):
        self.how = how

    def __len__(self):
        return 8

    def __getitem__(self, place):
        if place == 5 and self.how == "assert":
            raise AssertionError(f"the record of {SECRET} is broken")
        if place == 5 and self.how == "value":
            raise ValueError(SECRET)
        width = 4 if place == 5 and self.how == "shape" else 3
        return torch.zeros(width), place % 2


class Asking(nn.Module):
    """A model that refuses an input in Python."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x):
        if float(x.max()) > 100:
            raise ValueError(f"too large: {float(x.max())}")
        return self.layer(x)


def label(value):
    y = torch.zeros(8, dtype=torch.long)
    y[5] = value
    return torch.zeros(8, 3), y


def words(value):
    x = torch.zeros(8, 2, dtype=torch.long)
    x[5, 1] = value
    return x, torch.zeros(8, dtype=torch.long)


class Reading(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(6, 3), nn.Linear(3, 2)

    def forward(self, x):
        return self.out(self.words(x).mean(1))


def large():
    x = torch.zeros(8, 3)
    x[5] = SECRET
    return x, torch.zeros(8, dtype=torch.long)


CASES = {
    "label": (lambda: nn.Linear(3, 2), lambda: label(SECRET)),
    "negative label": (lambda: nn.Linear(3, 2), lambda: label(-SECRET)),
    "word": (Reading, lambda: words(SECRET)),
    "assert": (lambda: nn.Linear(3, 2), lambda: Asserting("assert")),
    "value": (lambda: nn.Linear(3, 2), lambda: Asserting("value")),
    "shape": (lambda: nn.Linear(3, 2), lambda: Asserting("shape")),
}


def begun(name, **options):
    build, data = CASES[name]
    model = build()
    given = {"records": 8, "batch": 8, "steps": 2, "noise_multiplier": 1, "sampling": "passes"} | options
    return private(model, torch.optim.SGD(model.parameters(), lr=0.1), data(), **given)


def own_loop(parts):
    for x, y in parts.batches:
        functional.cross_entropy(parts.model(x), y).backward()
        parts.optimizer.step()


def by_train(parts):
    train(parts, nn.CrossEntropyLoss())


def error_of(run, parts):
    try:
        run(parts)
    except Exception as error:
        return error
    raise AssertionError("nothing failed")


def shows_nothing(error):
    return (
        type(error) is ReleaseFailed
        and str(error) == str(ReleaseFailed())
        and error.__cause__ is None
        and error.__context__ is None
        and error.args == ReleaseFailed().args
    )


@pytest.mark.parametrize("run", [own_loop, by_train])
@pytest.mark.parametrize("name", CASES)
def test_one_error_of_fixed_words(name, run, caplog, capsys):
    parts = begun(name)
    with caplog.at_level(logging.ERROR, "discreet.curator"):
        assert shows_nothing(error_of(run, parts))
    assert any(record.exc_info for record in caplog.records)
    assert parts.run.started == 1
    assert parts.run.finished == 0
    assert parts.run.loss == parts.run.plan.loss_after(1)
    captured = capsys.readouterr()
    assert str(SECRET) not in captured.out + captured.err


@pytest.mark.parametrize("run", [own_loop, by_train])
def test_without_a_look_too(run):
    for name in CASES:
        assert shows_nothing(error_of(run, begun(name, probe=False)))


def test_what_a_model_raises_in_python_is_hidden_by_train():
    model, options = Asking(), {"records": 8, "batch": 8, "steps": 1, "noise_multiplier": 1, "sampling": "passes"}
    parts = private(model, torch.optim.SGD(model.parameters(), lr=0.1), large(), **options)
    assert shows_nothing(error_of(by_train, parts))


def test_the_charge_is_kept():
    account = Budget(epsilon=9, delta=1e-5, filter="renyi").open()
    parts = begun("label", account=account)
    spent = account.odometer()
    error_of(by_train, parts)
    assert account.odometer() == spent
    assert spent[0] > 0


def test_errors_on_made_up_records_are_shown():
    model = nn.Linear(4, 2)  # of another width than the records
    parts = private(
        model, torch.optim.SGD(model.parameters(), lr=0.1), label(0), records=8, batch=8, steps=1, noise_multiplier=1
    )
    for run in (own_loop, by_train):
        assert "cannot be multiplied" in str(error_of(run, parts))
    assert parts.run.started == 0


def test_torch_is_as_ever_outside_of_a_loop():
    parts = begun("label", steps=1)
    error_of(own_loop, parts)
    assert not _get_current_function_mode_stack()
    batches = iter(begun("assert", probe=False, sampling="poisson", batch=1, records=10**6).batches)
    next(batches)
    with pytest.raises(ReleaseFailed):
        functional.cross_entropy(torch.zeros(1, 2), torch.tensor([SECRET]))
    batches.close()
    with pytest.raises(IndexError):
        functional.cross_entropy(torch.zeros(1, 2), torch.tensor([SECRET]))


def test_after_a_step_errors_are_shown_again():
    parts = begun("label", probe=False, steps=1)
    parts.batches.sampler.draw = lambda step: torch.arange(4).numpy()
    for x, y in parts.batches:
        functional.cross_entropy(parts.model(x), y).backward()
        parts.optimizer.step()
        with pytest.raises(RuntimeError, match="shapes"):
            torch.zeros(2, 3) @ torch.zeros(4, 2)


def test_torchs_own_words_are_caught():
    """What was done before: the error is torch's, and holds the label."""
    x, y = label(SECRET)
    with pytest.raises(IndexError, match=str(SECRET)) as caught:
        functional.cross_entropy(nn.Linear(3, 2)(x), y)
    assert not shows_nothing(caught.value)
    hidden = ReleaseFailed()
    hidden.__context__ = IndexError(SECRET)
    assert not shows_nothing(hidden)


def left_out(parts):
    """Records are selected by a mask, so that a layer gets fewer than there are in the batch."""
    for x, y in parts.batches:
        keep = y != -100
        functional.cross_entropy(parts.model(x[keep]), y[keep]).backward()
        parts.optimizer.step()


def skipped(parts):
    for x, y in parts.batches:
        found = functional.cross_entropy(parts.model(x), y)
        if float(x.max()) > 100:
            continue
        found.backward()
        parts.optimizer.step()


def without_backward(parts):
    for x, y in parts.batches:
        found = functional.cross_entropy(parts.model(x), y)
        if float(x.max()) < 100:
            found.backward()
        parts.optimizer.step()


class Counting(Asking):
    """A buffer is written where there is an outlier."""

    def __init__(self):
        super().__init__()
        self.register_buffer("outliers", torch.zeros(()))

    def forward(self, x):
        if float(x.max()) > 100:
            self.outliers.add_(1)
        return self.layer(x)


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x, other=None):
        return x * self.scale if other is None else x * self.scale * other


class Calling(Asking):
    """A layer is called in another way where there is an outlier."""

    def __init__(self):
        super().__init__()
        self.scaled = Scaled()

    def forward(self, x):
        return self.layer(self.scaled(x, torch.ones(3)) if float(x.max()) > 100 else self.scaled(x))


OWN_WORDS = {
    "selected rows": (lambda: nn.Linear(3, 2), lambda: label(-100), left_out),
    "a step left out": (lambda: nn.Linear(3, 2), large, skipped),
    "no backward pass": (lambda: nn.Linear(3, 2), large, without_backward),
    "a buffer": (Counting, large, own_loop),
    "a buffer, by train": (Counting, large, by_train),
    "a way of calling": (Calling, large, own_loop),
    "a way of calling, by train": (Calling, large, by_train),
}


@pytest.mark.parametrize("name", OWN_WORDS)
def test_this_librarys_own_words_about_a_batch_are_hidden(name, caplog):
    build, data, run = OWN_WORDS[name]
    model, options = build(), {"records": 8, "batch": 8, "steps": 1, "noise_multiplier": 1, "sampling": "passes"}
    parts = private(model, torch.optim.SGD(model.parameters(), lr=0.1), data(), **options)
    with caplog.at_level(logging.ERROR, "discreet.curator"):
        assert shows_nothing(error_of(run, parts))
    assert any(record.exc_info for record in caplog.records)
    assert parts.run.started == 1


def test_mistakes_that_no_record_makes_keep_their_words():
    parts = begun("label", probe=False)
    with pytest.raises(InvalidParameter, match="no batch"):
        parts.optimizer.step()
    with pytest.raises(InvalidParameter, match="closure"):
        parts.optimizer.step(lambda: 0.0)


class Wide(torch.utils.data.Dataset):
    """Records whose first is as wide, and of as many numbers for its label, as it likes."""

    def __init__(self, width, kind=torch.float32):
        self.width, self.kind = width, kind

    def __len__(self):
        return 8

    def __getitem__(self, place):
        return torch.zeros(self.width if place == 0 else 3, dtype=self.kind), place % 2


def of_form(data, **options):
    model = nn.Linear(3, 2)
    given = {"records": 8, "batch": 8, "steps": 1, "noise_multiplier": 1} | options
    return private(model, torch.optim.SGD(model.parameters(), lr=0.1), data, **given)


@pytest.mark.parametrize("run", [own_loop, by_train])
def test_errors_on_made_up_records_tell_nothing_of_the_first_records_form(run, caplog):
    found = []
    for data in (Wide(17), Wide(4711), Wide(3, torch.float64)):
        with caplog.at_level(logging.ERROR, "discreet.curator"):
            found.append(error_of(run, of_form(data)))
    assert {(type(error), str(error)) for error in found} == {(InvalidParameter, FORM)}
    assert all(error.__cause__ is None and error.__context__ is None for error in found)
    assert any("4711" in str(record.exc_info[1]) for record in caplog.records)


@pytest.mark.parametrize("run", [own_loop, by_train])
def test_an_example_of_another_form_is_refused_without_telling_the_records_form(run):
    example = torch.rand(4, 3), torch.tensor([0, 1, 0, 1])
    found = [error_of(run, of_form(Wide(width), example=example)) for width in (17, 4711)]
    assert len({str(error) for error in found}) == 1
    assert "form of the records" in str(found[0])


def test_errors_on_an_example_are_shown():
    wide = of_form(Wide(17), example=(torch.rand(4, 17), torch.tensor([0, 1, 0, 1])))
    assert "cannot be multiplied" in str(error_of(own_loop, wide))
