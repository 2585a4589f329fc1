"""Scores of canaries from the gradients that a private training releases, for an attacker who sees every step.

Nasr, Hayes, Steinke, Balle, Tramer, Jagielski, Carlini and Terzis, "Tight Auditing of Differentially Private Machine
Learning", USENIX Security 2023; Andrew, Kairouz, Oh, Oprea, McMahan and Suriyakumar, ICLR 2024. The released gradient
of a step has a large inner product with a canary's own gradient if the canary took part. Canaries whose gradients are
orthogonal, one direction each (Dirac canaries), do not hide one another.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.func import functional_call, grad, vmap

from discreet.errors import InvalidParameter
from discreet.learn.sgd.private import Private

__all__ = ["dirac", "gradient_scores"]

Floats = npt.NDArray[np.float64]
Criterion = Callable[[Tensor, Tensor], Tensor]


def dirac(count: int, width: int | None = None, strength: float = 1.0) -> Tensor:
    """Return inputs with one entry each, all different: their gradients in a first linear layer are orthogonal.

    >>> dirac(2, 3, strength=5.0).tolist()
    [[5.0, 0.0, 0.0], [0.0, 5.0, 0.0]]
    """
    columns = count if width is None else width
    if columns < count:
        raise InvalidParameter(f"{count} directions do not fit into {columns} columns.")
    return strength * torch.eye(count, columns)


def gradient_scores(parts: Private, criterion: Criterion, canaries: Sequence[Tensor]) -> Floats:
    """Run a training and return for each canary how much of its direction is in what was released.

    ``canaries`` are inputs and targets, as in the data. The score is the sum over steps of the inner product of the
    released gradient with the canary's own at that model, scaled to norm 1; who took part is never looked at.

    >>> model = torch.nn.Linear(20, 1, bias=False)
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    >>> from discreet.learn.sgd import private
    >>> data = dirac(20)[:10], torch.zeros(10, 1)
    >>> parts = private(model, optimizer, data, records=10, batch=10, steps=1, noise_multiplier=0.01)
    >>> found = gradient_scores(parts, lambda outputs, targets: outputs.mean(), (dirac(20), torch.zeros(20, 1)))
    >>> bool(found[:10].min() > found[10:].max())
    True
    """
    model, names = parts.model, parts.run.book.names
    device = next(iter(names)).device
    inputs, targets = (part.to(device) for part in canaries)

    def loss(parameters: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        return criterion(functional_call(model, parameters, (x[None],)), y[None])

    each = vmap(grad(loss), in_dims=(None, 0, 0), randomness="same")

    def directions() -> dict[str, Tensor]:
        current = {name: parameter.detach() for parameter, name in names.items()}
        found: dict[str, Tensor] = each(current, inputs, targets)
        squares = torch.stack([part.flatten(1).square().sum(1) for part in found.values()]).sum(0)
        norms = squares.sqrt().clamp(min=1e-30)
        return {name: part.flatten(1) / norms[:, None] for name, part in found.items()}

    model.train()
    scores, own = torch.zeros(len(inputs), dtype=torch.float64), directions()
    for batch in parts.batches:
        x, y = batch
        criterion(model(x), y).backward()  # type: ignore[no-untyped-call]
        parts.optimizer.step()
        if parts.optimizer.moved:
            with torch.no_grad():
                scores += sum(_products(own[name], parameter) for parameter, name in names.items())
            own = directions()
    return np.asarray(scores.numpy())


def _products(own: Tensor, parameter: Any) -> Tensor:  # noqa: ANN401  a parameter with its released gradient
    released: Tensor = parameter.grad.flatten()
    return (own @ released).to("cpu", torch.float64)
