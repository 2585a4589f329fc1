"""The slowest accounting calls over a grid of every kind of loss and extreme parameters, in CPU seconds of one thread.

    python bench/accounting_extremes.py [--share 0.1] [--limit 30] [--slowest 25] [--only gaussian]

A service answers whatever parameters it is sent, so no call may take long: the goal is 2 seconds. Each call runs in a
process of its own with nothing cached, and is stopped at the limit. Beside the slowest the widest bounds are printed,
and every call whose lower bound lies above its upper one: there must be none. ``--share`` takes a part of the grid,
chosen at random but repeatably; 1 takes all of it.
"""

import argparse
import math
import os
import pickle
import random
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet import PrivacyLoss, calibrate

GOAL = 2.0
COUNTS = (1, 3, 100, 10**4, 10**6, 10**9)
RATES = (None, 0.999, 0.01, 1e-3, 1e-9)
DELTAS = (1e-30, 1e-12, 1e-6, 0.1)
EPSILONS = (1e-3, 1, 30)

SIZES = (1e-9, 1e-5, 1e-2, 1, 10, 50, 1000)
"""Epsilons, or shifts in standard deviations."""


@dataclass(frozen=True)
class Call:
    """A question, in words and as a function."""

    words: str
    ask: Callable[[], Any]


def singles() -> Iterator[tuple[str, Callable[[], PrivacyLoss]]]:
    """Yield every kind of loss with ordinary and extreme parameters."""
    for size in SIZES:
        yield f"gaussian({size:g})", lambda s=size: PrivacyLoss.gaussian(mu=s)
        yield f"laplace({size:g})", lambda s=size: PrivacyLoss.laplace(s)
        yield f"pure({size:g})", lambda s=size: PrivacyLoss.pure(s)
        yield f"bounded_range({size:g})", lambda s=size: PrivacyLoss.bounded_range(s)
        yield f"zcdp({size:g})", lambda s=size: PrivacyLoss.zcdp(s)
        yield f"approximate({size:g}, 1e-12)", lambda s=size: PrivacyLoss.approximate(s, 1e-12)
        yield f"renyi_curve({size:g})", lambda s=size: PrivacyLoss.renyi_curve([(2, s), (8, 4 * s), (32, 20 * s)])
        for categories in (2, 3, 10**6):
            yield (
                f"randomized_response({size:g}, {categories})",
                lambda s=size, c=categories: PrivacyLoss.randomized_response(s, c),
            )
        for users in (1, 100, 10**4, 10**8):
            yield f"shuffled({size:g}, {users})", lambda s=size, u=users: PrivacyLoss.shuffled(s, u)
        for group in (2, 20):
            yield (
                f"gaussian({size:g}).sampled(0.01).group({group})",
                lambda s=size, g=group: PrivacyLoss.gaussian(mu=s).sampled(0.01).group(g, one_way=True),
            )
            yield (
                f"laplace({size:g}).sampled(0.01).group({group})",
                lambda s=size, g=group: PrivacyLoss.laplace(s).sampled(0.01).group(g),
            )
        yield (
            f"gaussian({size:g}), symmetric sample",
            lambda s=size: PrivacyLoss.gaussian(mu=s).sampled(0.01, scheme="symmetric"),
        )
        yield (
            f"gaussian({size:g}), cut batches",
            lambda s=size: PrivacyLoss.gaussian(mu=s).sampled(0.01, most=300, records=10**4),
        )
        yield (
            f"one_of(laplace({size:g}), gaussian({size:g}))",
            lambda s=size: PrivacyLoss.one_of([0.5, 0.5], [PrivacyLoss.laplace(s), PrivacyLoss.gaussian(mu=s)]),
        )
        yield (
            f"laplace({size:g}) + gaussian({size:g}) + pure({size:g})",
            lambda s=size: PrivacyLoss.laplace(s) + PrivacyLoss.gaussian(mu=s) + PrivacyLoss.pure(s),
        )
        yield (
            f"laplace({size:g}) + gaussian({1 / size:g})",
            lambda s=size: PrivacyLoss.laplace(s) + PrivacyLoss.gaussian(mu=1 / s),
        )
        yield (
            f"pair at ratio e^{min(size, 50):g}",
            lambda s=size: PrivacyLoss.from_pair(*_two_laws(min(s, 50.0))),
        )
    for sensitivity in (1, 30, 10**4, 10**6, 10**9):
        for part in (1e-6, 1e-2, 1, 10, 300):
            scale = Fraction(sensitivity) / Fraction(part)
            yield (
                f"discrete_laplace({sensitivity}, scale {float(scale):g})",
                lambda s=sensitivity, t=scale: PrivacyLoss.discrete_laplace(sensitivity=s, scale=t),
            )
    for square in (1, 9, 100, 10**6):
        for sigma_squared in (Fraction(1, 1000), Fraction(1, 10), 1, 10**4, 10**8, 10**14):
            for scalar in (False, True):
                yield (
                    f"discrete_gaussian({square}, {float(sigma_squared):g}{', scalar' * scalar})",
                    lambda s=square, v=sigma_squared, one=scalar: PrivacyLoss.discrete_gaussian(
                        squared_sensitivity=s, sigma_squared=v, scalar=one
                    ),
                )
    yield "pair that reveals", lambda: PrivacyLoss.from_pair([0.5, 0.5, 0], [0, 0.25, 0.75])
    yield "overflow", lambda: PrivacyLoss.pure(1) + PrivacyLoss.overflow(1e-9)
    yield "pair of 1000 outcomes", lambda: PrivacyLoss.from_pair(*_long_laws(1000))


def _two_laws(size: float) -> tuple[list[float], list[float]]:
    small = 1 / (1 + math.exp(size))
    return [1 - small, small], [small, 1 - small]


def _long_laws(count: int) -> tuple[list[Fraction], list[Fraction]]:
    generator = random.Random(3)
    laws = []
    for _ in range(2):
        weights = [generator.randrange(1, 1000) for _ in range(count)]
        laws.append([Fraction(weight, sum(weights)) for weight in weights])
    return laws[0], laws[1]


def calls() -> Iterator[Call]:
    """Yield the questions."""
    for name, make in singles():
        for rate in RATES:
            if rate is not None and ("sample" in name or " + " in name or "overflow" in name or "batches" in name):
                continue
            for count in COUNTS:
                whole = f"{count} * {name}" + ("" if rate is None else f".sampled({rate:g})")

                def loss(make: Callable[[], PrivacyLoss] = make, q: float | None = rate, k: int = count) -> PrivacyLoss:
                    return k * (make() if q is None else make().sampled(q))

                for delta in DELTAS:
                    yield Call(f"({whole}).bounds({delta:g})", lambda f=loss, d=delta: f().bounds(d))
                for epsilon in EPSILONS:
                    yield Call(f"({whole}).delta({epsilon:g})", lambda f=loss, e=epsilon: f().delta(e))
    for epsilon in (1e-6, 0.01, 1, 30, 100, 300, 1000):
        for delta in (1e-30, 1e-12, 1e-6):
            for name, family in FAMILIES.items():
                for count in (1, 1000, 10**6):
                    yield Call(
                        f"calibrate({count} * {name}, {epsilon:g}, {delta:g})",
                        lambda f=family, k=count, e=epsilon, d=delta: calibrate(lambda noise: k * f(noise), e, d),
                    )


FAMILIES: dict[str, Callable[[float], PrivacyLoss]] = {
    "gaussian": lambda noise: PrivacyLoss.gaussian(mu=1 / noise),
    "gaussian sampled at 0.01": lambda noise: PrivacyLoss.gaussian(mu=1 / noise).sampled(0.01),
    "gaussian sampled at 1e-6": lambda noise: PrivacyLoss.gaussian(mu=1 / noise).sampled(1e-6),
    "laplace": lambda noise: PrivacyLoss.laplace(1 / noise),
    "laplace sampled at 0.01": lambda noise: PrivacyLoss.laplace(1 / noise).sampled(0.01),
    "discrete_laplace": lambda noise: PrivacyLoss.discrete_laplace(sensitivity=1, scale=noise),
    "discrete_gaussian": lambda noise: PrivacyLoss.discrete_gaussian(
        squared_sensitivity=1, sigma_squared=Fraction(noise) ** 2
    ),
}


def measured(call: Call, limit: int) -> tuple[float, Any]:
    """Return the CPU seconds of a call in a process of its own, and what it returned; None if it was stopped."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        start = time.process_time()
        try:
            found = call.ask()
        except Exception as error:
            found = f"{type(error).__name__}: {error}"[:100]
        os.write(theirs, pickle.dumps((time.process_time() - start, found)))
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(answer) if answer else (float(limit), None)


def main() -> None:
    """Ask, and print the slowest, the widest and the wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=0.02, help="part of the grid")
    parser.add_argument("--limit", type=int, default=20, help="CPU seconds after which a call is stopped")
    parser.add_argument("--slowest", type=int, default=25, help="how many to print")
    parser.add_argument("--only", default="", help="part of the words of the calls to make")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    PrivacyLoss.gaussian(mu=1).sampled(0.01).__mul__(100).bounds(1e-6)  # what is imported late is no part of a call
    generator = random.Random(options.seed)
    chosen = [call for call in calls() if options.only in call.words and generator.random() < options.share]
    rows = sorted(((*measured(call, options.limit), call.words) for call in chosen), key=lambda row: -row[0])
    late = sum(seconds > GOAL for seconds, _, _ in rows)
    print(f"{len(rows)} calls, {late} above {GOAL:g} CPU seconds, median {rows[len(rows) // 2][0] * 1e3:.1f} ms\n")
    for seconds, found, words in rows[: options.slowest]:
        print(f"{seconds:9.3f} s  {words:<80} {'stopped' if found is None else found}")
    both = [(found, words) for _, found, words in rows if isinstance(found, tuple)]
    gaps = [
        ((high - low) / high if math.isfinite(high) else math.inf, low, high, words)
        for (low, high), words in both
        if high
    ]
    gaps.sort(key=lambda row: -row[0])
    print(f"\n{sum(gap <= 1e-4 for gap, *_ in gaps)} of {len(gaps)} pairs of bounds within 1e-4; the widest:\n")
    for gap, low, high, words in gaps[: options.slowest]:
        print(f"{gap:9.1e}  {words:<80} {low:.8g} to {high:.8g}")
    wrong = [words for (low, high), words in both if not low <= high]
    print(f"\nlower bounds above upper ones: {wrong or 'none'}")


if __name__ == "__main__":
    main()
