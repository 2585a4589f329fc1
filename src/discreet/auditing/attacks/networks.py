"""LiRA against a small neural network, trained as usual and trained by DP-SGD.

Carlini, Chien, Nasr, Song, Terzis and Tramer, "Membership Inference Attacks From First Principles", S&P 2022. The score
of a person is the logit of the probability that the network gives to the true class, which is about normal over
trainings; see ``discreet.auditing.attacks.shadow``. The protected twin is the same network on the same people, trained
by ``discreet.learn.private`` (Abadi et al., CCS 2016): whatever the attack, its power is then bounded by the trade-off
curve of the plan.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from discreet.auditing.attacks.outcome import Outcome
from discreet.auditing.attacks.rates import GRID, Roc, Tick, most_power, quiet, roc_picture
from discreet.auditing.attacks.shadow import ATTACKS, Shadows, attack_model, draw_shadows
from discreet.datasets import population
from discreet.errors import InvalidParameter
from discreet.exact import Real, positive, probability

if TYPE_CHECKING:
    from discreet.learn.sgd import Training

__all__ = ["Memorising", "People", "attack_network", "people"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

HIDDEN, STEPS, RATE = 128, 200, 0.03
"""A network wide enough to learn its people by heart, and how long it may."""
BATCHES, EPOCHS, PRIVATE_RATE = 5, 8, 0.03
MIDDLE = 17_500
"""An income that about half of the town exceeds."""
WORDS = ("sex", "region", "education", "employment", "smoker", "chronic_condition")
LARGEST = {"age": 100.0, "household_size": 10.0, "commute_minutes": 120.0}
"""Public bounds by which numbers are scaled."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class People:
    """People as numbers between 0 and 1, and whether each earns more than ``MIDDLE``."""

    features: npt.NDArray[np.float32]
    labels: Integers


def people(records: int) -> People:
    """Return people of the invented town.

    >>> people(100).features.shape[0], set(people(100).labels.tolist())
    (100, {0, 1})
    """
    town = population(records)
    columns = [town[name] / largest for name, largest in LARGEST.items()]
    for name in WORDS:
        columns += [town[name] == word for word in sorted(set(population(2000)[name].tolist()))]
    return People(
        features=np.stack(columns, axis=1).astype(np.float32), labels=(town["income"] > MIDDLE).astype(np.int64)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Memorising(Outcome):
    """How well each attack finds the training records of a network, and of its private twin.

    ``accuracy`` is the share of people outside the training data whose income class is predicted rightly; ``usual``
    what always saying the same achieves.
    """

    records: int
    shadows: int
    epsilon: float
    delta: float
    accuracy: float
    protected_accuracy: float
    usual: float
    attacks: dict[str, Roc]
    protected: dict[str, Roc]
    bound: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """What the attack found."""
        best = max(self.attacks, key=lambda name: self.attacks[name].at(0.01).value)
        roc = self.attacks[best]
        return (
            f"A network trained on half of {self.records:,} people is right about {self.accuracy:.1%} of the others. "
            f"{best} finds {roc.at(0.01)} of its training records at 1% false positives, {roc.at(0.001)} at 0.1%; "
            f"balanced accuracy {roc.balanced_accuracy:.1%}."
        )

    @property
    def protection(self) -> str:
        """What is left of it in the private twin."""
        best = max(self.protected, key=lambda name: self.protected[name].at(0.01).value)
        roc, allowed = self.protected[best], [self.bound[GRID.index(rate)] for rate in (0.01, 0.001)]
        return (
            f"Trained with epsilon {self.epsilon:g} and delta {self.delta:g} the same network is right about "
            f"{self.protected_accuracy:.1%} (always saying the same: {self.usual:.1%}), and the best attack, {best}, "
            f"finds {roc.at(0.01)} and {roc.at(0.001)}. Nobody can expect more than {allowed[0]:.2%} and "
            f"{allowed[1]:.2%}."
        )

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw members found against others accused."""
        best = "LiRA online"
        return roc_picture(
            [*self.attacks.items(), (f"{best}, discreet", self.protected[best])],
            (f"bound, epsilon {self.epsilon:g}", self.bound),
            title="Was this person in the training data of the network?",
            subtitle=f"{HIDDEN} hidden units, trained on half of {self.records:,} people, {self.shadows} networks",
            strong=f"{best}, discreet",
        )


def attack_network(
    *,
    records: int = 800,
    shadows: int = 32,
    epsilon: Real = 1,
    delta: Real = 1e-5,
    generator: np.random.Generator | None = None,
    tick: Tick = quiet,
) -> Memorising:
    """Train a network on half of the invented town, and find out on which half; once as usual and once privately.

    A network sees each person by a coin of its own, so the number that it sees is private; the plan of the private
    training declares half of ``records``, whoever comes.
    """
    if records < 100:
        raise InvalidParameter(f"at least 100 records are needed, got {records}.")
    e, d = positive(epsilon, "epsilon"), probability(delta, "delta")
    from discreet.learn.sgd import Training  # heavy: not before it is asked for

    chance, town, half = np.random.default_rng() if generator is None else generator, people(records), records // 2
    plan = Training.calibrated(records=half, epsilon=e, delta=d, epochs=EPOCHS, batch=max(1, half // BATCHES))

    def drawn(private_plan: "Training | None") -> Shadows:
        def trained(data: People, members: Integers) -> Any:  # noqa: ANN401  a network
            return _network(data, members, private_plan, int(chance.integers(2**62)))

        return draw_shadows(town, trained, _scores, town.labels, models=shadows, generator=chance, tick=tick)

    found, right = [], []
    for chosen in (None, plan):
        seen = drawn(chosen)
        tick("attacking")
        found.append({name: attack_model(seen, name) for name in ATTACKS})
        right.append(float((seen.scores > 0)[~seen.members].mean()))
    return Memorising(
        records=records,
        shadows=shadows,
        epsilon=float(e),
        delta=float(d),
        accuracy=right[0],
        protected_accuracy=right[1],
        usual=float(max(town.labels.mean(), 1 - town.labels.mean())),
        attacks=found[0],
        protected=found[1],
        bound=most_power(plan.loss),
    )


def _network(data: People, members: Integers, plan: "Training | None", seed: int) -> Any:  # noqa: ANN401  a network
    """Return a network that has seen the members; the seed decides where it begins, never its noise."""
    import torch
    from torch import nn

    from discreet.learn.sgd import private, train

    x = torch.from_numpy(data.features[members])
    y = torch.from_numpy(data.labels[members, None].astype(np.float32))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(x.shape[1], HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE if plan is None else PRIVATE_RATE)
    if plan is not None:
        settings = {name: getattr(plan, name) for name in ("records", "batch", "steps", "noise_multiplier")}
        train(private(model, optimizer, (x, y), **settings), criterion)
        return model
    for _ in range(STEPS):
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    return model


def _scores(model: Any, data: People) -> Floats:  # noqa: ANN401  a network
    """Return the logit of the probability of each person's true class."""
    import torch

    with torch.no_grad():
        found = model(torch.from_numpy(data.features))[:, 0].double().numpy()
    return np.asarray(found * (2 * data.labels - 1), dtype=np.float64)
