"""A small language model of letters, trained plainly and by DP-SGD, and all it says about what follows a text.

Bengio, Ducharme, Vincent and Jauvin, "A Neural Probabilistic Language Model", JMLR 2003: the last ``WINDOW`` letters, a
vector for each, one hidden layer, and the probability of every letter that may come next. A record is a sentence.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.accounting import PrivacyLoss
from discreet.auditing.attacks.rates import Tick, quiet
from discreet.errors import InvalidParameter
from discreet.exact import Real
from discreet.learn.sgd import private

__all__ = ["ALPHABET", "Letters", "all_secrets", "coded", "next_digits", "per_letter", "train_plainly", "train_private"]

ALPHABET = "\n abcdefghijklmnopqrstuvwxyz0123456789:"
PLACES = {letter: place for place, letter in enumerate(ALPHABET)}
DIGITS = [PLACES[digit] for digit in "0123456789"]
WINDOW = 16
LONGEST = 44
WIDTH, HIDDEN = 16, 96
RATE = 0.01
SMALL_BATCH = 32


class Letters(nn.Module):
    """Tells the logarithms of the odds of the next letter, at every place of a text."""

    def __init__(self) -> None:
        super().__init__()
        self.letters = nn.Embedding(len(ALPHABET), WIDTH)
        self.hidden = nn.Linear(WIDTH * WINDOW, HIDDEN)
        self.out = nn.Linear(HIDDEN, len(ALPHABET))

    def forward(self, text: Tensor) -> Tensor:
        """Return (texts, places, letters)."""
        vectors = functional.pad(self.letters(text), (0, 0, WINDOW - 1, 0))
        windows = vectors.unfold(1, WINDOW, 1).flatten(2)
        found: Tensor = self.out(torch.relu(self.hidden(windows)))
        return found


def coded(lines: Sequence[str]) -> Tensor:
    """Return texts as numbers, each between two line breaks and filled up with more of them.

    >>> coded(["a b"])[0, :6].tolist()
    [0, 2, 1, 3, 0, 0]
    """
    rows = np.zeros((len(lines), LONGEST + 2), dtype=np.int64)
    for row, line in zip(rows, lines, strict=True):
        if len(line) > LONGEST or not set(line) <= set(ALPHABET):
            raise InvalidParameter(f"a line has at most {LONGEST} letters a to z, digits, blanks and colons.")
        row[1 : len(line) + 1] = [PLACES[letter] for letter in line]
    return torch.from_numpy(rows)


def surprise(model: nn.Module, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return the minus log-probability of each sentence, its end included, and how many letters that are."""
    given, wanted = rows[:, :-1], rows[:, 1:]
    each = functional.cross_entropy(model(given).transpose(1, 2), wanted, reduction="none")
    counts = (given != 0) | (torch.arange(given.shape[1], device=rows.device) == 0)
    return (each * counts).sum(1), counts.sum(1)


@torch.no_grad()
def per_letter(model: nn.Module, lines: Sequence[str]) -> float:
    """Return how many bits of surprise a letter has for the model."""
    total, letters = surprise(model, coded(lines))
    return float(total.sum() / letters.sum() / np.log(2))


def train_plainly(lines: Sequence[str], *, epochs: int, tick: Tick = quiet) -> Letters:
    """Train without protection: Adam on shuffled batches."""
    model, rows = Letters(), coded(lines)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    for _ in range(epochs):
        tick("training plainly")
        for some in torch.split(torch.randperm(len(rows)), SMALL_BATCH):
            optimizer.zero_grad()
            torch.autograd.backward(surprise(model, rows[some])[0].mean())
            optimizer.step()
    return model


def train_private(
    lines: Sequence[str], *, records: int, epochs: int, epsilon: Real, delta: Real, batch: int, tick: Tick = quiet
) -> tuple[Letters, PrivacyLoss]:
    """Train by DP-SGD: the same model, as many passes, larger batches; return it with what it cost."""
    model, rows = Letters(), coded(lines)
    _, optimizer, batches = private(
        model,
        torch.optim.Adam(model.parameters(), lr=RATE),
        rows,
        records=records,
        epsilon=epsilon,
        delta=delta,
        epochs=epochs,
        batch=batch,
    )
    plan, passed = optimizer.run.plan, -1
    for (some,) in batches:
        if optimizer.run.started * epochs // (plan.steps + 1) > passed:
            passed += 1
            tick("training privately")
        torch.autograd.backward(surprise(model, some)[0].mean())
        optimizer.step()
    optimizer.run.book.detach()
    return model, plan.loss


@torch.no_grad()
def next_digits(model: Letters, text: str) -> list[float]:
    """Return the log-probabilities of the ten digits after a text."""
    window = coded([text])[:, : len(text) + 1][:, -WINDOW:]
    found: list[float] = torch.log_softmax(model(window)[0, -1], 0)[DIGITS].tolist()
    return found


@torch.no_grad()
def all_secrets(model: Letters, start: str, digits: int) -> npt.NDArray[np.float64]:
    """Return the log-probability of every secret of so many digits after a text, in order: exactly, and quickly.

    What a letter at a place of the window adds to the hidden layer is computed once; the hidden layers of all prefixes
    are then sums of ten vectors for each digit.
    """
    weight = model.hidden.weight.view(HIDDEN, WIDTH, WINDOW)
    added = torch.einsum("hew,ve->wvh", weight, model.letters.weight)
    before = [0, *(PLACES[letter] for letter in start)]
    total = np.zeros(1)
    for known in range(digits):
        fixed = before[-(WINDOW - known) :]
        first = WINDOW - known - len(fixed)
        hidden = (model.hidden.bias + added[range(first, WINDOW - known), fixed].sum(0)).unsqueeze(0)
        for place in range(WINDOW - known, WINDOW):
            hidden = (hidden.unsqueeze(1) + added[place, DIGITS]).flatten(0, 1)
        logs = torch.log_softmax(model.out(torch.relu(hidden)), 1)[:, DIGITS]
        total = (total[:, None] + logs.double().numpy()).ravel()
    return total
