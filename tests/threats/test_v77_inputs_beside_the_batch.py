"""A layer whose input does not follow the batch is refused, whatever its size.

The gradient of such a layer has no part for each example, so that nothing can be clipped. A table of positions that is
read by ``positions(torch.arange(T))`` was taken for one that has examples along its first dimension as soon as a batch
had T of them: one record then moved the sum by 98.6 times the clip at T = 256, and epsilon was stated as 2.39.

Defence: passes over made-up records of two numbers, before private ones are seen, tell which inputs follow the batch; a
layer that takes none along its first dimension is refused by name, with the change to make. What is accepted is
measured by leaving one record out.
Source: Found by using this library: positions of a transformer, and the relative bias of T5.
"""

import pytest
import torch
from torch import nn

from discreet.errors import InvalidParameter
from discreet.learn.sgd import private, train
from discreet.learn.sgd import run as runs
from discreet.learn.sgd.noise import Begun

CLIP, ROWS = 0.5, 16
WIDTH = 4


class Positions(nn.Module):
    """Words and places; places are read once for all examples, or once for each."""

    def __init__(self, steps, each):
        super().__init__()
        self.words, self.places = nn.Embedding(6, WIDTH), nn.Embedding(steps, WIDTH)
        self.out, self.steps, self.each = nn.Linear(WIDTH, 2), steps, each

    def forward(self, x):
        index = torch.arange(self.steps)
        index = index.expand(len(x), -1) if self.each else index
        return self.out(torch.tanh(self.words(x) + self.places(index))).mean(1)


class RelativeBias(nn.Module):
    """Attention with a learnt bias for each distance, as in T5."""

    def __init__(self, steps, each):
        super().__init__()
        self.words, self.bias = nn.Embedding(6, WIDTH), nn.Embedding(2 * steps, 1)
        self.out, self.steps, self.each = nn.Linear(WIDTH, 2), steps, each

    def forward(self, x):
        places = torch.arange(self.steps)
        distance = places[:, None] - places[None, :] + self.steps
        distance = distance.expand(len(x), -1, -1) if self.each else distance
        found = self.words(x)
        scores = found @ found.transpose(1, 2) + self.bias(distance).squeeze(-1)
        return self.out(torch.softmax(scores, 2) @ found).mean(1)


class FromBuffer(nn.Module):
    """A grid of positions that a linear layer makes features of."""

    def __init__(self, steps, each):
        super().__init__()
        self.words, self.grid, self.each = nn.Embedding(6, WIDTH), nn.Linear(1, WIDTH), each
        self.register_buffer("places", torch.linspace(-3, 3, steps)[:, None])
        self.out = nn.Linear(WIDTH, 2)

    def forward(self, x):
        places = self.places.expand(len(x), -1, -1) if self.each else self.places
        return self.out(torch.tanh(self.words(x) + self.grid(places))).mean(1)


class Queries(nn.Module):
    """Learnt queries that are given to every example."""

    def __init__(self, steps, each):
        super().__init__()
        self.words, self.inside = nn.Embedding(6, WIDTH), Asking(steps)

    def forward(self, x):
        return self.inside(self.words(x))


class Asking(nn.Module):
    def __init__(self, steps):
        super().__init__()
        self.queries, self.out = nn.Parameter(torch.randn(steps, WIDTH)), nn.Linear(WIDTH, 2)

    def forward(self, x):
        queries = self.queries.expand(len(x), -1, -1)
        return self.out(torch.softmax(queries @ x.transpose(1, 2), 2) @ x).mean(1)


class Scaled(nn.Module):
    """A module of its own kind, with a matrix beside the examples that has as many rows as there are positions."""

    def __init__(self, steps, each):
        super().__init__()
        self.words, self.inside, self.each = nn.Embedding(6, WIDTH), Mixing(), each
        self.register_buffer("matrix", torch.randn(steps, steps))

    def forward(self, x):
        return self.inside(self.words(x), self.matrix)


class Mixing(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.out = nn.Parameter(torch.ones(WIDTH)), nn.Linear(WIDTH, 2)

    def forward(self, x, matrix):
        return self.out(matrix @ (x * self.scale)).mean(1)


@pytest.fixture
def no_noise(monkeypatch):
    """See the sums themselves: what is under test is what noise is added to."""
    seen = []
    monkeypatch.setattr(runs, "begin", lambda total, *rest: seen.append(total.clone()) or Begun(total * rest[-1]))
    return seen


def summed(build, steps, rows, seen, *, probe=True):
    """Return the clipped sum over some rows, of one step of a training that all take part in."""
    torch.manual_seed(1)
    model = build(steps)
    data = torch.randint(0, 6, (ROWS + 1, steps)), torch.randint(0, 2, (ROWS + 1,))
    parts = private(
        model,
        torch.optim.SGD(model.parameters(), lr=0.0),
        tuple(part[rows] for part in data),
        records=ROWS,
        batch=ROWS,
        steps=1,
        sampling="passes",
        noise_multiplier=1,
        clip=CLIP,
        probe=probe,
    )
    seen.clear()
    for x, y in parts.batches:
        nn.functional.cross_entropy(model(x), y).backward()
        parts.optimizer.step()
    return seen[0].double()


def sensitivity(build, steps, seen, **options):
    """Return the most by which leaving one of the records out moves the sum, in units of the clip."""
    whole = summed(build, steps, list(range(ROWS)), seen, **options)
    lefts = (summed(build, steps, [i for i in range(ROWS) if i != out], seen, **options) for out in (0, 7, 15))
    return max(float((whole - left).norm()) for left in lefts) / CLIP


@pytest.mark.parametrize("steps", [ROWS, 8, 5, 11])
@pytest.mark.parametrize("kind", [Positions, RelativeBias, FromBuffer])
def test_inputs_beside_the_batch_are_refused(kind, steps, no_noise):
    name = {Positions: "places", RelativeBias: "bias", FromBuffer: "grid"}[kind]
    with pytest.raises(InvalidParameter, match=rf"{name} \((Embedding|Linear)\).*expand\(len\(x\)"):
        summed(lambda n: kind(n, each=False), steps, list(range(ROWS)), no_noise)
    assert no_noise == []


@pytest.mark.parametrize("steps", [ROWS, 8, 11])
@pytest.mark.parametrize("kind", [Positions, RelativeBias, FromBuffer, Queries, Scaled])
def test_no_record_moves_what_is_accepted_by_more_than_the_clip(kind, steps, no_noise):
    found = sensitivity(lambda n: kind(n, each=True), steps, no_noise)
    assert 0 < found <= 1 + 1 / 60


def test_an_input_that_changes_along_another_dimension_is_refused(no_noise):
    class Turned(nn.Module):
        def __init__(self, steps):
            super().__init__()
            self.words, self.inside = nn.Embedding(6, WIDTH), Both()

        def forward(self, x):
            found = self.words(x)
            return self.inside(found, found.transpose(0, 1))

    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale, self.out = nn.Parameter(torch.ones(WIDTH)), nn.Linear(WIDTH, 2)

        def forward(self, x, turned):
            return self.out(x * self.scale + turned.transpose(0, 1)).mean(1)

    with pytest.raises(InvalidParameter, match=r"inside \(Both\).*not along its first"):
        summed(Turned, ROWS, list(range(ROWS)), no_noise)


def test_comparing_sizes_alone_is_caught(no_noise):
    """What was done before: an input that has the size of the batch is taken for one that follows it."""
    x, y = torch.zeros(ROWS, ROWS, dtype=torch.long), torch.zeros(ROWS, 2)
    y[7] = 1e4
    for each in (False, True):
        for rows in (range(ROWS), [i for i in range(ROWS) if i != 7]):
            torch.manual_seed(1)
            model = Positions(ROWS, each)
            parts = private(
                model,
                torch.optim.SGD(model.parameters(), lr=0.0),
                (x[list(rows)], y[list(rows)]),
                records=ROWS,
                batch=ROWS,
                steps=1,
                sampling="passes",
                noise_multiplier=1,
                clip=CLIP,
                probe=False,
            )
            train(parts, nn.MSELoss())
    flawed, mended = (float((no_noise[k].double() - no_noise[k + 1].double()).norm()) / CLIP for k in (0, 2))
    assert flawed > 2
    assert mended <= 1 + 1 / 60
