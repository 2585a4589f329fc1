"""What is audited of our own: every mechanism, and theorems of the accounting turned into releases.

A theorem about sampling or shuffling has no mechanism that runs it. Here it gets one, small enough to be drawn a
million times: if the theorem were wrong, or had been applied to the wrong relation, its release would show it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from discreet import mechanisms
from discreet.accounting import PrivacyLoss
from discreet.sensitivity import Count, Mean, Sum

__all__ = ["Entry", "our_mechanisms", "our_theorems"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A private computation and how it is attacked."""

    name: str
    release: Any
    claims: PrivacyLoss
    neighbours: tuple[tuple[Any, Any], ...]
    batch: Callable[[Any, int], Any] | None = None


def our_mechanisms() -> tuple[Entry, ...]:
    """Return every mechanism, on the neighbours that it names itself."""
    scalars: dict[str, Any] = {
        "geometric": mechanisms.Geometric(sensitivity=1, epsilon=1),
        "geometric, sensitivity 3": mechanisms.Geometric(sensitivity=3, epsilon=Fraction(1, 2)),
        "laplace": mechanisms.Laplace(sensitivity=1, epsilon=1),
        "laplace on a coarse grid": mechanisms.Laplace(sensitivity=Fraction(1, 3), scale=Fraction(1, 3), grid=0.25),
        "laplace, large answers": mechanisms.Laplace(sensitivity=2**40, epsilon=1),
        "gaussian": mechanisms.Gaussian(sensitivity=1, sigma=1),
        "gaussian for a budget": mechanisms.Gaussian(sensitivity=1, epsilon=1, delta=1e-3),
        "discrete gaussian": mechanisms.DiscreteGaussian(sensitivity=1, sigma=1),
        "randomised response": mechanisms.RandomizedResponse(epsilon=1),
        "randomised response, five answers": mechanisms.RandomizedResponse(epsilon=1, categories=5),
        "warner": mechanisms.Warner(truth=0.75),
        "yes-biased": mechanisms.YesBiased(),
    }
    others: dict[str, Any] = {
        "bounded count": mechanisms.BoundedCount(size=5, epsilon=1),
        "exponential": mechanisms.Exponential(epsilon=1),
        "exponential, monotone": mechanisms.Exponential(epsilon=1, monotone=True),
        "permute and flip": mechanisms.PermuteAndFlip(epsilon=1),
        "noisy max": mechanisms.NoisyMax(epsilon=1, noise="laplace"),
        "noisy max, gumbel": mechanisms.NoisyMax(epsilon=1, noise="gumbel"),
        "noisy max, exponential": mechanisms.NoisyMax(epsilon=1, noise="exponential"),
        "quantile": mechanisms.Quantile(bounds=(0, 10), epsilon=1, relation="add_remove", grid=0.25),
        "quantile, replaced": mechanisms.Quantile(bounds=(0, 10), epsilon=1, relation="replace_one", grid=0.25),
        "random record": mechanisms.RandomRecord(size=4),
    }
    whole: dict[str, Any] = {
        "grid quantile": mechanisms.GridQuantile(bounds=(0, 20), epsilon=1, relation="add_remove"),
        "grid quantile, replaced": mechanisms.GridQuantile(bounds=(0, 20), epsilon=1, relation="replace_one", unit=3),
        "top three": mechanisms.TopK(k=3, epsilon=1),
        "top two, monotone": mechanisms.TopK(k=2, epsilon=1, monotone=True),
    }
    lifted: dict[str, Any] = {
        "count of records": (
            mechanisms.Geometric(sensitivity=1, epsilon=1).of(Count(), relation="add_remove"),
            (([0, 0], [0]), ([], [0])),
        ),
        "sum of records": (
            mechanisms.Laplace(sensitivity=1, epsilon=1).of(Sum(bounds=(0, 1)), relation="add_remove"),
            (([0.5, 1], [0.5]), ([], [1]), ([0.5, 0.1, 0.2], [0.5, 0.1])),
        ),
        "mean of records": (
            mechanisms.Laplace(sensitivity=Fraction(1, 4), epsilon=1).of(
                Mean(bounds=(0, 1), size=4), relation="replace_one"
            ),
            (([0, 0, 0, 0], [0, 0, 0, 1]),),
        ),
        "statistical query": (
            mechanisms.STAT(query=_fraction, size=4, epsilon=1),
            (([0, 0, 0, 0], [0, 0, 0, 1]),),
        ),
    }
    return (
        *(Entry(name, m, m.loss, (m.worst_case(),)) for name, m in (scalars | others).items()),
        *(Entry(name, m, m.loss, (m.worst_case(),)) for name, m in whole.items()),
        *(Entry(name, m, m.loss, pairs) for name, (m, pairs) in lifted.items()),
        *_selections_of_groups(),
        *_trees(),
    )


def _selections_of_groups() -> Iterator[Entry]:
    """Yield selections of groups, each on groups that vanish and on groups near its threshold."""
    delta = Fraction(1, 50)
    for name, m in {
        "optimal selection": mechanisms.OptimalSelection(epsilon=1, delta=delta),
        "optimal selection, three groups": mechanisms.OptimalSelection(epsilon=2, delta=delta, groups=3),
        "optimal selection, replaced": mechanisms.OptimalSelection(epsilon=1, delta=delta, relation="replace_one"),
        "laplace threshold": mechanisms.LaplaceThreshold(epsilon=1, delta=delta),
        "laplace threshold, two groups": mechanisms.LaplaceThreshold(epsilon=1, delta=delta, groups=2),
        "gaussian threshold": mechanisms.GaussianThreshold(sigma=1, delta=delta),
        "gaussian threshold, two groups": mechanisms.GaussianThreshold(epsilon=1, delta=delta, groups=2),
    }.items():
        near = [m.threshold] * m.groups, [m.threshold - 1] * m.groups
        pair = near if m.relation == "add_remove" else (near[0] + near[1], near[1] + near[0])
        yield Entry(name, m, m.loss, (m.worst_case(), pair), partial(_many_selections, m))


def _many_selections(mechanism: Any, counts: list[int], draws: int) -> Any:  # noqa: ANN401 - arrays
    return mechanism.keep(np.tile(counts, draws)).reshape(draws, len(counts))


def _trees() -> Iterator[Entry]:
    """Yield noisy trees, each with all of its nodes as output."""
    for name, m in {
        "quantile tree": mechanisms.QuantileTree(branching=2, levels=2, epsilon=1, relation="add_remove"),
        "quantile tree, replaced": mechanisms.QuantileTree(branching=2, levels=2, rho=0.5, relation="replace_one"),
    }.items():
        one, other = np.array([1, 0, 0, 0]), np.array([0, 0, 0, 1 if m.relation == "replace_one" else 0])
        yield Entry(name, m, m.loss, ((one, other),), partial(_many_trees, m))


def _many_trees(mechanism: Any, leaves: Any, draws: int) -> Any:  # noqa: ANN401 - arrays
    return np.concatenate(mechanism.release(np.tile(leaves, (draws, 1))).nodes, axis=1)


def _fraction(record: float) -> float:
    return float(record)


def our_theorems() -> tuple[Entry, ...]:
    """Return theorems as releases: each is a claim of the accounting about a small, exact mechanism."""
    count, sigma = mechanisms.Geometric(sensitivity=1, epsilon=2), mechanisms.Gaussian(sensitivity=1, sigma=1)
    answer, coins = mechanisms.RandomizedResponse(epsilon=2), np.random.default_rng()
    users = 12

    def poisson(people: int, draws: int) -> Any:  # noqa: ANN401 - an array
        return count.release(coins.binomial(people, 0.3, draws))

    def poisson_steps(people: int, draws: int) -> Any:  # noqa: ANN401 - an array
        return np.asarray(sigma.release(coins.binomial(people, 0.3, 3 * draws))).reshape(draws, 3)

    def one_of_two(bits: list[int], draws: int) -> Any:  # noqa: ANN401 - an array
        return count.release(np.array(bits)[coins.integers(0, 2, draws)])

    def shuffled(bits: list[int], draws: int) -> Any:  # noqa: ANN401 - an array
        return np.asarray(answer.release(np.tile(bits, draws))).reshape(draws, users).sum(axis=1)

    def two_answers(value: int, draws: int) -> Any:  # noqa: ANN401 - an array
        return np.stack([count.release(np.full(draws, value)), count.release(np.full(draws, -value))], axis=1)

    everybody = [0] * users
    sampled = PrivacyLoss.discrete_laplace(sensitivity=1, scale=Fraction(1, 2))
    return (
        _theorem("a Poisson sample", poisson, (0, 1), count.loss.sampled(Fraction(3, 10))),
        _theorem("three Poisson samples", poisson_steps, (0, 1), 3 * sigma.loss.sampled(Fraction(3, 10))),
        _theorem(
            "a sample without replacement",
            one_of_two,
            ([0, 0], [0, 1]),
            sampled.sampled(Fraction(1, 2), scheme="without_replacement"),
        ),
        _theorem("shuffled responses", shuffled, (everybody, [1, *everybody[1:]]), PrivacyLoss.shuffled(2, users)),
        _theorem("a group of two", count.draws, (0, 2), count.loss.group(2)),
        _theorem("two answers composed", two_answers, (0, 1), 2 * count.loss),
    )


def _theorem(name: str, batch: Callable[[Any, int], Any], pair: tuple[Any, Any], claims: PrivacyLoss) -> Entry:
    return Entry(name, lambda data: batch(data, 1)[0], claims, (pair,), batch)
