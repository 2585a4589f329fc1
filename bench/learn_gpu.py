"""Private training on an accelerator: a step's time and peak memory beside a plain step's, and Opacus's if it is there.

    python bench/learn_gpu.py [--only mlp wrn transformer] [--json out.json]

It needs torch with CUDA, numpy, scipy, python-flint and cryptography, and this repository (``PYTHONPATH=src:bench``).
Each row is the median of some steps on a batch that stays the same, in fp32 with tf32 products. "secure" is a step of
``train``, whose passes are recorded as a CUDA graph; "padded" is the same on a batch filled up to the rows that one
drawn by coins has room for; "no noise" is the same without its noise, and "own loop" one of a loop that calls model and
optimizer by itself. "plain, recorded" shows what recording does for plain training.
"""

import argparse
import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from learn_models import Model, mlp, private_step, step_seconds, transformer, wide_resnet

SIZES: dict[str, tuple[Callable[[int], Model], int]] = {
    "mlp": (mlp, 4096),
    "wrn": (wide_resnet, 512),
    "transformer": (transformer, 64),
}


def plain_step(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> Callable[[], None]:
    """Return one step of plain training."""
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def recorded_step(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> Callable[[], None]:
    """Return one step of plain training whose passes are a CUDA graph."""
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for _ in range(3):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        nn.functional.cross_entropy(model(x), y).backward()

    def step() -> None:
        graph.replay()
        optimizer.step()

    return step


def opacus_step(model: nn.Module, x: torch.Tensor, y: torch.Tensor, mode: str) -> Callable[[], None]:
    """Return one step of Opacus, with gradients of single examples by hooks or by ghost norms."""
    from opacus.grad_sample import wrap_model
    from opacus.optimizers import DPOptimizer
    from opacus.optimizers.optimizer_fast_gradient_clipping import DPOptimizerFastGradientClipping
    from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping

    options: dict[str, Any] = {"noise_multiplier": 1.0, "max_grad_norm": 1.0, "expected_batch_size": len(x)}
    inner = torch.optim.SGD(model.parameters(), lr=1e-4)
    if mode == "ghost":
        wrapped = wrap_model(model, grad_sample_mode="ghost", max_grad_norm=1.0, use_ghost_clipping=True)
        optimizer: Any = DPOptimizerFastGradientClipping(inner, **options)
        criterion: Any = DPLossFastGradientClipping(wrapped, optimizer, nn.CrossEntropyLoss(), "mean")
    else:
        wrapped = wrap_model(model, grad_sample_mode=mode)
        optimizer, criterion = DPOptimizer(inner, **options), nn.CrossEntropyLoss()

    def step() -> None:
        optimizer.zero_grad()
        criterion(wrapped(x), y).backward()
        optimizer.step()

    return step


def measured(build: Callable[[], Callable[[], None]], rounds: int) -> tuple[float, float] | None:
    """Return milliseconds and GiB of a step; None if memory does not suffice."""
    gc.collect()
    torch._C._cuda_clearCublasWorkspaces()  # noqa: SLF001  what the row before kept for its products is not this one's
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    try:
        seconds = step_seconds(build(), rounds=rounds)
    except torch.cuda.OutOfMemoryError:
        return None
    return seconds * 1e3, torch.cuda.max_memory_allocated() / 2**30


def rows_of(name: str, rounds: int) -> dict[str, tuple[float, float] | None]:
    """Measure all ways of training one model."""
    make, batch = SIZES[name]

    def on_device() -> Model:
        model, x, y = make(batch)
        return model.cuda(), x.cuda(), y.cuda()

    ways: dict[str, Callable[[], Callable[[], None]]] = {
        "plain": lambda: plain_step(*on_device()),
        "plain, recorded": lambda: recorded_step(*on_device()),
        "discreet, no noise": lambda: private_step(*on_device(), noise="none"),
        "discreet, secure": lambda: private_step(*on_device()),
        "discreet, secure, padded": lambda: private_step(*on_device(), padded=True),
        "discreet, secure, own loop": lambda: private_step(*on_device(), recorded=False),
    }
    try:
        import opacus  # noqa: F401

        for mode in ("hooks", "ghost", "functorch"):
            ways[f"opacus, {mode}"] = lambda mode=mode: opacus_step(*on_device(), mode)
    except ImportError:
        print("Opacus is not installed here: its rows stay empty.", file=sys.stderr)
    found = {}
    for way, build in ways.items():
        found[way] = measured(build, rounds)
        shown = "out of memory" if found[way] is None else "{:9.2f} ms {:6.2f} GiB".format(*found[way])
        base = found["plain"]
        ratio = "" if found[way] is None or base is None else f"  x{found[way][0] / base[0]:.2f}"
        print(f"{name:12s} {way:26s} {shown}{ratio}", flush=True)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("torch sees no CUDA device here; bench/learn_cpu.py needs none.")
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    print(torch.__version__, torch.cuda.get_device_name())
    table = {name: rows_of(name, asked.rounds) for name in asked.only}
    if asked.json is not None:
        asked.json.write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
