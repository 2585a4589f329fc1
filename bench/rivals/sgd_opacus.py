"""A step of Opacus beside a plain one: JSON of {name: [milliseconds, milliseconds of the plain step]}."""

import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from opacus.grad_sample import wrap_model
from opacus.optimizers import DPOptimizer
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from learn_models import cnn, mlp

ROUNDS = {"mlp": 3, "cnn": 15}


def step_of(model: nn.Module, optimizer: Any, x: torch.Tensor, y: torch.Tensor) -> Callable[[], None]:
    """Return one step of training."""

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def milliseconds(step: Callable[[], None], rounds: int) -> float:
    """Return the median time of a step."""
    step()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def main() -> None:
    """Measure both models."""
    torch.set_num_threads(1)
    batch = int(sys.argv[1])
    found = {}
    for name, build in (("cnn", cnn), ("mlp", mlp)):
        model, x, y = build(batch)
        plain = milliseconds(step_of(model, torch.optim.SGD(model.parameters(), lr=1e-4), x, y), ROUNDS[name])
        model, x, y = build(batch)
        inner = torch.optim.SGD(model.parameters(), lr=1e-4)
        wrapped = wrap_model(model, grad_sample_mode="hooks")
        private = DPOptimizer(inner, noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=batch)
        try:
            found[f"{name}, opacus"] = [milliseconds(step_of(wrapped, private, x, y), ROUNDS[name]), plain]
        except (RuntimeError, MemoryError) as error:
            print(error, file=sys.stderr)
    print(json.dumps(found))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
