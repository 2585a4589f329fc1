"""Private training on a CPU: a step's time beside a plain step's, Opacus's in its own environment, and MNIST.

    python bench/learn_cpu.py [--mnist]        # MNIST takes some minutes; the file is found through DISCREET_DATA

Steps are on one thread at batch 256 and stay the same; each figure is the median of some, in wall-clock time. "no
noise" is the step without its noise, which shows what clipping costs; "secure" is the whole step, whose noise for the
next step is drawn by a second thread meanwhile: "CPU" counts both. Other work on the machine disturbs them alike.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from data import real
from environment import in_rivals
from learn_models import Model, cnn, mlp, private_step

BATCH = 256
ROUNDS = 25
REST = 0.15
PINS = ["opacus==1.6.0", "torch>=2.6"]


def plain_step(model: nn.Module, x: Tensor, y: Tensor) -> Callable[[], None]:
    """Return one step of plain training."""
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def milliseconds(steps: dict[str, Callable[[], None]]) -> dict[str, tuple[float, float]]:
    """Return median wall-clock and processor time of several steps, taken in turn so that all see the same machine.

    Before each there is another one of its kind, which draws the noise of the next one, and a rest after it, in which
    noise that is drawn ahead disturbs no step of another kind.
    """
    wall: dict[str, list[float]] = {name: [] for name in steps}
    busy: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(ROUNDS):
        for name, step in steps.items():
            step()
            start, used = time.perf_counter(), time.process_time()
            step()
            wall[name].append(time.perf_counter() - start)
            busy[name].append(time.process_time() - used)
            time.sleep(REST)
    return {name: (1e3 * statistics.median(wall[name]), 1e3 * statistics.median(busy[name])) for name in steps}


def steps_of(build: Callable[[int], Model]) -> dict[str, Callable[[], None]]:
    """Return all ways of training one model, each on a copy of its own."""
    return {
        "plain": plain_step(*build(BATCH)),
        "discreet, no noise": private_step(*build(BATCH), noise="none"),
        "discreet, secure": private_step(*build(BATCH)),
    }


def speed() -> None:
    """Print the times of both models, and Opacus's."""
    for name, build in (("mlp", mlp), ("cnn", cnn)):
        found = milliseconds(steps_of(build))
        plain = found["plain"]
        for way, (wall, busy) in found.items():
            print(
                f"{name:5s} {way:22s} {wall:8.1f} ms x{wall / plain[0]:.2f}   CPU {busy:8.1f} ms x{busy / plain[1]:.2f}"
            )
    rivals = in_rivals("sgd_opacus.py", str(BATCH), pins=PINS, environment="opacus", timeout=900)
    for way, (wall, plain_wall) in (rivals or {}).items():
        print(f"{way:28s} {wall:8.1f} ms x{wall / plain_wall:.2f}")


def mnist(epochs: int, batch: int, rate: float, clip: float) -> None:
    """Train the convolutional network at (3, 1e-5) and print its accuracy on the test set."""
    from discreet.learn.sgd import private

    held = np.load(real("mnist", "mnist.npz"))
    images, tests = (
        (torch.from_numpy(held[name]).float().view(-1, 1, 28, 28) / 255 - 0.1307) / 0.3081
        for name in ("x_train", "x_test")
    )
    labels, answers = (torch.from_numpy(held[name]).long() for name in ("y_train", "y_test"))
    model, _, _ = cnn()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    budget = {"epsilon": 3, "delta": 1e-5}
    parts = private(
        model,
        optimizer,
        (images, labels),
        records=60_000,
        epochs=epochs,
        batch=batch,
        clip=clip,
        progress=True,
        **budget,
    )
    for x, y in parts.batches:
        nn.functional.cross_entropy(model(x), y).backward()
        parts.optimizer.step()
    model.eval()
    with torch.no_grad():
        right = float((model(tests).argmax(1) == answers).float().mean())
    print(f"MNIST: {100 * right:.2f} % at epsilon {parts.run.loss.epsilon(1e-5):.3f}, delta 1e-5")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mnist", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    speed()
    if asked.mnist:
        mnist(epochs=30, batch=1024, rate=1.0, clip=0.1)


if __name__ == "__main__":
    main()
