"""Recurrent layers through their linears: the input weights act on a whole sequence, the others at each step.

Torch's own recurrent kernels give no gradients of their gates, so while a batch is open the recurrence is run here.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.errors import InvalidParameter
from discreet.learn.sgd.book import Book
from discreet.learn.sgd.layers.linear import tapped_linear

__all__ = ["recurrent"]

State = tuple[Tensor, ...]


def recurrent(book: Book, module: nn.Module) -> Callable[..., Any]:
    """Return the forward function of an RNN, LSTM or GRU that keeps book."""
    assert isinstance(module, nn.RNN | nn.LSTM | nn.GRU)  # noqa: S101 - chosen by its type
    if module.proj_size:
        raise InvalidParameter("an LSTM with proj_size is not covered. Put a linear layer after it instead.")
    sides = 2 if module.bidirectional else 1
    paired = isinstance(module, nn.LSTM)

    def forward(x: Any, start: Any = None) -> Any:  # noqa: ANN401  sequences, packed or not; a state or a pair of them
        if not isinstance(x, Tensor) or x.dim() != 3:
            raise InvalidParameter("a recurrent layer takes a tensor of sequences; pad them to one length.")
        x = x if module.batch_first else x.transpose(0, 1)
        book.check(x, module)
        shape = (module.num_layers * sides, x.shape[0], module.hidden_size)
        if start is None:
            start = (x.new_zeros(shape), x.new_zeros(shape)) if paired else x.new_zeros(shape)
        states = start if paired else (start,)
        ends: list[State] = []
        for layer in range(module.num_layers):
            if layer and module.dropout:
                x = functional.dropout(x, module.dropout, module.training)
            outputs = []
            for side in range(sides):
                place = layer * sides + side
                found, end = _direction(book, module, x, layer, side, tuple(s[place] for s in states))
                outputs.append(found)
                ends.append(end)
            x = torch.cat(outputs, 2)
        final = tuple(torch.stack(part) for part in zip(*ends, strict=True))
        return x if module.batch_first else x.transpose(0, 1), final if paired else final[0]

    return forward


def _direction(book: Book, module: nn.RNNBase, x: Tensor, layer: int, side: int, state: State) -> tuple[Tensor, State]:
    """Run one layer in one direction; x holds (examples, steps, features)."""
    ending = f"l{layer}" + ("_reverse" if side else "")
    weight, hidden = getattr(module, f"weight_ih_{ending}"), getattr(module, f"weight_hh_{ending}")
    biases = [getattr(module, f"bias_{part}_{ending}", None) if module.bias else None for part in ("ih", "hh")]
    inputs = tapped_linear(book, x, weight, biases[0])
    steps: list[Tensor] = []
    order = range(x.shape[1])
    for t in reversed(order) if side else order:
        gates = tapped_linear(book, state[0], hidden, biases[1])
        state = _cell(module, inputs[:, t], gates, state)
        steps.append(state[0])
    if side:
        steps.reverse()
    return torch.stack(steps, 1), state


def _cell(module: nn.RNNBase, inputs: Tensor, gates: Tensor, state: State) -> State:
    if isinstance(module, nn.LSTM):
        i, f, g, o = (inputs + gates).chunk(4, 1)
        cell = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(cell), cell
    if isinstance(module, nn.GRU):
        (ri, zi, ni), (rh, zh, nh) = inputs.chunk(3, 1), gates.chunk(3, 1)
        update = torch.sigmoid(zi + zh)
        new = torch.tanh(ni + torch.sigmoid(ri + rh) * nh)
        return ((1 - update) * new + update * state[0],)
    kind: Any = getattr(module, "nonlinearity", "tanh")
    return (torch.tanh(inputs + gates) if kind == "tanh" else torch.relu(inputs + gates),)
