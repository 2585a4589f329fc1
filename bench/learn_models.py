"""The models that private training is timed on, and how a step is timed."""

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["Model", "cnn", "mlp", "private_step", "step_seconds", "transformer", "wide_resnet"]

Model = tuple[nn.Module, Tensor, Tensor]


def mlp(batch: int) -> Model:
    """Return a perceptron 784-2048-2048-10."""
    layers = nn.Linear(784, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 10)
    return nn.Sequential(*layers), torch.randn(batch, 784), torch.randint(0, 10, (batch,))


def cnn(batch: int = 0) -> Model:
    """Return the network of Papernot et al. (AAAI 2021) and Tramer and Boneh (ICLR 2021) for MNIST."""
    model = nn.Sequential(
        nn.Conv2d(1, 16, 8, 2, padding=3),
        nn.Tanh(),
        nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, 2),
        nn.Tanh(),
        nn.MaxPool2d(2, 1),
        nn.Flatten(),
        nn.Linear(512, 32),
        nn.Tanh(),
        nn.Linear(32, 10),
    )
    return model, torch.randn(batch, 1, 28, 28), torch.randint(0, 10, (batch,))


class Block(nn.Module):
    """Two convolutions, each after a norm, beside a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.GroupNorm(16, inputs), nn.ReLU(), nn.Conv2d(inputs, outputs, 3, stride, 1))
        self.second = nn.Sequential(nn.GroupNorm(16, outputs), nn.ReLU(), nn.Conv2d(outputs, outputs, 3, 1, 1))
        self.short = nn.Conv2d(inputs, outputs, 1, stride) if inputs != outputs or stride > 1 else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """Add what the convolutions find to what came in."""
        found: Tensor = self.second(self.first(x)) + self.short(x)
        return found


def wide_resnet(batch: int) -> Model:
    """Return WRN-16-4 with group norms, on images of 32 by 32."""
    widths = 16, 64, 128, 256
    blocks = [
        Block(widths[k] if not again else widths[k + 1], widths[k + 1], 2 if k and not again else 1)
        for k in range(3)
        for again in range(2)
    ]
    head = nn.GroupNorm(16, 256), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 10)
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), *blocks, *head)
    return model, torch.randn(batch, 3, 32, 32), torch.randint(0, 10, (batch,))


class Attending(nn.Module):
    """A transformer block before whose parts norms stand."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.mixed, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Attend to earlier positions, then look at each alone."""
        examples, steps, width = x.shape
        q, k, v = self.mixed(self.before(x)).view(examples, steps, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        found = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(found.transpose(1, 2).reshape(examples, steps, width))
        result: Tensor = x + self.wide(x)
        return result


class Language(nn.Module):
    """Twelve blocks between embeddings and a classifier of the whole text."""

    def __init__(self, words: int = 1000, width: int = 768, steps: int = 128, depth: int = 12) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(steps, width)
        self.blocks = nn.Sequential(*(Attending(width, 12) for _ in range(depth)))
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, 10)
        self.steps = steps

    def forward(self, x: Tensor) -> Tensor:
        """Return the scores of ten classes."""
        places = torch.arange(self.steps, device=x.device).repeat(x.shape[0], 1)
        found: Tensor = self.out(self.norm(self.blocks(self.words(x) + self.places(places)))[:, -1])
        return found


def transformer(batch: int, steps: int = 128) -> Model:
    """Return a transformer of 12 layers of width 768."""
    return Language(steps=steps), torch.randint(0, 1000, (batch, steps)), torch.randint(0, 10, (batch,))


def private_step(
    model: nn.Module, x: Tensor, y: Tensor, *, noise: str = "secure", recorded: bool = True, padded: bool = False
) -> Callable[[], None]:
    """Return one step of private training on a batch that is always the same; noise="none" leaves noise out.

    It is a step of ``train``, or with ``recorded=False`` one of a loop of one's own. With ``padded`` the batch is
    filled up to the rows that a batch drawn by coins has room for.
    """
    from discreet.learn.sgd import run as runs
    from discreet.learn.sgd.book import Book
    from discreet.learn.sgd.noise import Begun
    from discreet.learn.sgd.optimizer import PrivateOptimizer
    from discreet.learn.sgd.plan import Training
    from discreet.learn.sgd.private import _sizes
    from discreet.learn.sgd.replay import Replay

    plan = Training(
        records=100 * len(x),
        batch=len(x),
        steps=10**6,
        noise_multiplier=1.0,
        noise="insecure_fast" if noise == "insecure_fast" else "secure",
    )
    run = runs.Run(plan, Book(model))
    optimizer = PrivateOptimizer(torch.optim.SGD(model.parameters(), lr=1e-4), run)
    rows = _sizes(plan, None, x.device)[0] if padded else len(x)
    mask = torch.arange(rows, device=x.device) < len(x)
    x, y = (torch.cat([part, part.new_zeros(rows - len(part), *part.shape[1:])]) for part in (x, y))
    replay = Replay(model, nn.functional.cross_entropy, optimizer)

    def silent(total: Tensor, _sigma: float, _kind: str, _ahead: Any, given: torch.dtype, share: float) -> Begun:
        return Begun((total * share).to(given))

    def step() -> None:
        run.begin()
        run.open(mask, last=True)
        kept = runs.begin
        try:
            if noise == "none":
                runs.begin = silent
            if not recorded or not replay((x, y)):
                nn.functional.cross_entropy(model(x), y).backward()
                optimizer.step()
        finally:
            runs.begin = kept

    return step


def step_seconds(step: Callable[[], None], *, warm: int = 6, rounds: int = 15) -> float:
    """Return the median time of a step, waiting for an accelerator if there is one."""
    wait = torch.cuda.synchronize if torch.cuda.is_available() else lambda: None
    for _ in range(warm):
        step()
    times = []
    for _ in range(rounds):
        wait()
        start = time.perf_counter()
        step()
        wait()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
