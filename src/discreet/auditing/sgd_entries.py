"""What is audited of private training: all gradients that a tiny model is shown, with one record more or less.

The gradient of the loss is the record itself, longer than the clip, so every step shows as much of it as it may.
"""

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from discreet.auditing.entries import Entry

__all__ = ["our_trainings"]


def our_trainings() -> tuple[Entry, ...]:
    """Return trainings of a few steps: every way to clip Poisson batches, and passes with correlated noise."""
    return tuple(_entries())


def _entries() -> Iterator[Entry]:
    import torch  # heavy: not before it is asked for

    from discreet.learn.sgd import Training

    sampled: dict[str, Any] = {"records": 2, "batch": 1, "steps": 2, "noise_multiplier": 1}
    passes: dict[str, Any] = {"records": 2, "batch": 1, "steps": 2, "noise_multiplier": 2, "sampling": "passes"}
    plans: dict[str, dict[str, Any]] = {
        "sampled": sampled,
        "clipped by layer": {**sampled, "clipping": "per_layer", "clip": 0.1},
        "adaptive clip": {**sampled, "clipping": "adaptive"},
        "passes, tree": {**passes, "strategy": "tree"},
        "passes, banded": {**passes, "strategy": "banded", "bands": 2},
    }
    there = torch.tensor([[3.0, 4.0]])
    for name, options in plans.items():
        plan = Training(**options)
        yield Entry(f"training, {name}", partial(_gradients, plan), plan.loss, ((there, there[:0]),))


def _gradients(plan: Any, rows: Any) -> Any:  # noqa: ANN401 - a plan, tensors and an array
    """Return the released gradients of all steps, and the clip after the last."""
    import torch
    from torch import nn

    from discreet.learn.sgd import private

    model = nn.Sequential(nn.Linear(2, 1, bias=False), nn.Linear(1, 1, bias=False))
    for parameter in model.parameters():
        nn.init.ones_(parameter)
    settings = {name: value for name, value in asdict(plan).items() if name != "rounding"}
    parts = private(model, torch.optim.SGD(model.parameters(), lr=0.1), (rows,), **settings)
    seen: list[float] = []
    for (x,) in parts.batches:
        model(x).mean().backward()
        parts.optimizer.step()
        seen += [float(g) for p in model.parameters() if p.grad is not None for g in p.grad.flatten()]
    return np.array([*seen, parts.run.clip])
