"""Where SGD and DP-SGD go, step by step, on a loss of two parameters: real runs, for a picture.

Abadi et al., "Deep Learning with Differential Privacy", CCS 2016, as ``private`` and ``PrivateOptimizer`` run it. The
problem is least squares on generated points with two correlated columns: its loss is a long valley that can be drawn.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from discreet.exact import Real
from discreet.learn.sgd.plan import Training
from discreet.learn.sgd.private import private

__all__ = ["Trajectories", "trajectories"]

Floats = npt.NDArray[np.float64]

START, TRUTH = (-1.5, 1.75), (1.0, 0.5)
RATE = 0.3
GRID = 41
SHOWN = 6
ACROSS, UP = (-2.0, 2.25), (-1.25, 2.5)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trajectories:
    """The parameters after each step: (runs, steps + 1, 2) for both ways; one pair is the start."""

    features: Floats
    targets: Floats
    plain: Floats
    private: Floats
    epsilon: float
    delta: float
    clip: float
    batch: int

    def loss(self, weights: Floats) -> Floats:
        """Return the mean squared error of pairs of weights."""
        moments = self.features.T @ self.features / len(self.targets)
        away = weights - self.lowest
        found: Floats = self._least + np.einsum("...i,ij,...j->...", away, moments, away)
        return found

    @property
    def lowest(self) -> Floats:
        """The weights of least loss."""
        return np.linalg.lstsq(self.features, self.targets, rcond=None)[0].astype(np.float64)

    @property
    def _least(self) -> float:
        return float(np.square(self.targets - self.features @ self.lowest).mean())

    def ellipse(self) -> Floats:
        """Return the ellipse that holds 95 of 100 ends, were the ends of the private runs normally distributed."""
        ends = self.private[:, -1]
        root = np.linalg.cholesky(np.cov(ends.T) + 1e-12 * np.eye(2))
        angles = np.linspace(0, 2 * np.pi, 72, endpoint=False)
        circle = np.stack([np.cos(angles), np.sin(angles)], 1) * np.sqrt(-2 * np.log(0.05))
        found: Floats = ends.mean(0) + circle @ root.T
        return found

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw both ways side by side on the contour lines of the loss."""
        from discreet.plots import Landscape, Paths, trajectories

        xs, ys = np.linspace(*ACROSS, GRID), np.linspace(*UP, GRID)
        heights = self.loss(np.stack(np.meshgrid(xs, ys), -1))
        below = Landscape(
            xs=xs.tolist(),
            ys=ys.tolist(),
            heights=heights.tolist(),
            levels=[self._least + float(level) for level in np.geomspace(0.05, 14, 9)],
            lowest=(float(self.lowest[0]), float(self.lowest[1])),
        )
        steps, runs = self.private.shape[1] - 1, len(self.private)
        few = min(runs, SHOWN)
        shown = [
            Paths(name="SGD", paths=[_pairs(path) for path in self.plain[:1]]),
            Paths(
                name=f"DP-SGD, epsilon {self.epsilon:g}",
                paths=[_pairs(path) for path in self.private[:few]],
                ring=_pairs(self.ellipse()) if runs > 2 else (),
            ),
        ]
        return trajectories(
            below,
            shown,
            title="The same descent, without and with privacy",
            subtitle=f"{steps} steps on {len(self.targets):,} records, batches of {self.batch}; right: clip "
            f"{self.clip:g}, delta {self.delta:g}, {few} of {runs} runs; the ellipse holds 95% of the ends",
            axes=("first weight", "second weight"),
        )


def trajectories(
    *,
    epsilon: Real = 1,
    delta: Real = 1e-5,
    records: int = 120,
    batch: int = 30,
    steps: int = 80,
    clip: float = 1.0,
    repeats: int = 40,
) -> Trajectories:
    """Fit two weights by SGD, and by DP-SGD several times; all begin at the same place, on the same generated records.

    >>> found = trajectories(records=100, batch=20, steps=3, repeats=2)
    >>> found.private.shape, found.plain.shape
    ((2, 4, 2), (1, 4, 2))
    """
    chance = np.random.default_rng(7)
    features = chance.normal(size=(records, 2)) @ np.array([[1.0, 0.75], [0.0, 0.66]])
    targets = features @ np.array(TRUTH) + 0.5 * chance.normal(size=records)
    x, y = torch.from_numpy(features).float(), torch.from_numpy(targets).float().unsqueeze(1)

    sizes: dict[str, Any] = {"records": records, "steps": steps, "batch": batch, "clip": clip}
    noise = Training.calibrated(epsilon=epsilon, delta=delta, **sizes).noise_multiplier

    def downhill(given: Any, model: nn.Linear, optimizer: Any) -> Floats:  # noqa: ANN401  batches, any optimizer
        places = [model.weight.detach()[0].clone()]
        for inputs, wanted in given:
            optimizer.zero_grad()
            torch.autograd.backward(nn.functional.mse_loss(model(inputs), wanted) / 2)
            optimizer.step()
            if getattr(optimizer, "moved", True):
                places.append(model.weight.detach()[0].clone())
        return torch.stack(places).double().numpy()

    def fresh() -> tuple[nn.Linear, torch.optim.Optimizer]:
        model = nn.Linear(2, 1, bias=False)
        model.weight.data[:] = torch.tensor([START])
        return model, torch.optim.SGD(model.parameters(), lr=RATE)

    def shuffled() -> Any:  # noqa: ANN401
        for _ in range(steps):
            some = torch.from_numpy(chance.choice(records, batch, replace=False))
            yield x[some], y[some]

    def protected() -> Floats:
        model, optimizer = fresh()
        parts = private(model, optimizer, (x, y), noise_multiplier=noise, **sizes)
        return downhill(parts.batches, model, parts.optimizer)

    return Trajectories(
        features=features,
        targets=targets,
        plain=downhill(shuffled(), *fresh())[None],
        private=np.stack([protected() for _ in range(repeats)]),
        epsilon=float(epsilon),
        delta=float(delta),
        clip=float(clip),
        batch=batch,
    )


def _pairs(path: Floats) -> list[tuple[float, float]]:
    return [(float(a), float(b)) for a, b in path]
