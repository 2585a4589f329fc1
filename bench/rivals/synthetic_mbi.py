"""MST and AIM on mbi; run by ``bench/synthetic.py`` in an environment of their own, prints JSON.

mbi is an engine of inference alone: the two loops around it are written here after the papers (McKenna, Miklau and
Sheldon, Journal of Privacy and Confidentiality 2021; McKenna, Mullins, Sheldon and Miklau, VLDB 2022), with noise from
numpy. Rounds end when the time is over, and what was fitted by then is judged.
"""

import itertools
import json
import math
import resource
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version

warnings.filterwarnings("ignore")

import jax  # noqa: E402

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_enable_compilation_cache", False)

import mbi  # noqa: E402
import numpy as np  # noqa: E402
from mbi.junction_tree import hypothetical_model_size  # noqa: E402

Attributes = tuple[int, ...]
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Ints = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
Released = tuple[Callable[[Attributes], Floats], int, bool]

RARE = 3.0
STEPS = 1000
MEGABYTES = 12.0
"""The largest model of AIM; that of ours has 1.5 million entries, as many megabytes."""


class Data:
    """Coded records, and their tables."""

    def __init__(self, codes: Ints, sizes: tuple[int, ...]) -> None:
        self.codes, self.sizes, self.rng = codes, sizes, np.random.default_rng()
        self.names = [f"a{i:02d}" for i in range(len(sizes))]
        self.domain = mbi.Domain(self.names, sizes)

    def table(self, attributes: Attributes) -> Floats:
        """Return the exact counts by some attributes, flat."""
        place = np.zeros(len(self.codes), dtype=np.int64)
        for i in attributes:
            place = place * self.sizes[i] + self.codes[:, i]
        return np.bincount(place, minlength=math.prod(self.sizes[i] for i in attributes)).astype(float)

    def clique(self, attributes: Attributes) -> tuple[str, ...]:
        """Return attributes by their names."""
        return tuple(self.names[i] for i in attributes)

    def measured(self, attributes: Attributes, sigma: float) -> mbi.LinearMeasurement:
        """Return a noisy table."""
        exact = self.table(attributes)
        noisy = exact + self.rng.normal(0, sigma, exact.size)
        return mbi.LinearMeasurement(noisy, self.clique(attributes), stddev=sigma)

    def expected(self, model: mbi.MarkovRandomField, attributes: Attributes) -> Floats:
        """Return what a model expects of a table, flat."""
        return np.asarray(model.project(self.clique(attributes)).datavector())

    def chosen(self, scores: list[float], epsilon: float, sensitivity: float) -> int:
        """Choose by the exponential mechanism."""
        logs = 0.5 * epsilon * np.array(scores) / sensitivity
        return int(np.argmax(logs + self.rng.gumbel(size=logs.size)))


def mst(data: Data, rho: float, _: float) -> Released:
    """Return the answers of MST, how many pairs were measured, and that it was not cut short."""
    count = len(data.sizes)
    sigma = math.sqrt(3 * count / (2 * rho))
    first = [data.measured((i,), sigma) for i in range(count)]
    places = []
    for one in first:
        rare = np.asarray(one.noisy_measurement) < RARE * sigma
        places.append(np.where(rare, (~rare).sum(), np.cumsum(~rare) - 1))
    codes = np.stack([place[data.codes[:, i]] for i, place in enumerate(places)], axis=1)
    small = Data(codes, tuple(int(place.max()) + 1 for place in places))
    told = []
    shares = []
    for i, (one, place) in enumerate(zip(first, places, strict=True)):
        noisy = np.asarray(one.noisy_measurement)
        sums = np.bincount(place, weights=noisy, minlength=small.sizes[i])
        told.append(mbi.LinearMeasurement(sums, small.clique((i,)), stddev=sigma))
        weight = np.maximum(noisy, 0) + sigma / 10
        shares.append(weight / np.bincount(place, weights=weight)[place])
    model = mbi.estimation.MirrorDescent().estimate(small.domain, told, iters=STEPS)
    pairs = list(itertools.combinations(range(count), 2))
    scores = {pair: np.abs(small.table(pair) - small.expected(model, pair)).sum() for pair in pairs}
    part, epsilon = list(range(count)), math.sqrt(8 * rho / 3 / (count - 1))
    for _ in range(count - 1):
        open_ones = [pair for pair in pairs if part[pair[0]] != part[pair[1]]]
        pair = open_ones[small.chosen([scores[one] for one in open_ones], epsilon, 1)]
        part = [part[pair[0]] if one == part[pair[1]] else one for one in part]
        told.append(small.measured(pair, math.sqrt(3 * (count - 1) / (2 * rho))))
    model = mbi.estimation.MirrorDescent().estimate(small.domain, told, iters=STEPS)

    def answer(attributes: Attributes) -> Floats:
        table = small.expected(model, attributes).reshape([small.sizes[i] for i in attributes])
        for axis, i in enumerate(attributes):
            shape = [1] * len(attributes)
            shape[axis] = -1
            table = np.take(table, places[i], axis=axis) * shares[i].reshape(shape)
        return table.reshape(-1)

    return answer, count - 1, True


def aim(data: Data, rho: float, deadline: float) -> Released:
    """Return the answers of AIM, how many rounds were done, and whether these were all."""
    count = len(data.sizes)
    candidates = [one for size in (1, 2, 3) for one in itertools.combinations(range(count), size)]
    often = math.comb(count - 1, min(3, count) - 1)
    weights = {one: often * len(one) for one in candidates}
    rounds = 16 * count
    sigma, epsilon = math.sqrt(rounds / (2 * 0.9 * rho)), math.sqrt(8 * 0.1 * rho / rounds)
    told = [data.measured((i,), sigma) for i in range(count)]
    spent = count / (2 * sigma**2)
    engine = mbi.estimation.MirrorDescent()
    model = engine.estimate(data.domain, told, iters=STEPS)
    done, last = 0, False
    while not last and time.monotonic() < deadline:
        if rho - spent < 2 * (0.5 / sigma**2 + epsilon**2 / 8):
            sigma, epsilon = math.sqrt(1 / (2 * 0.9 * (rho - spent))), math.sqrt(8 * 0.1 * (rho - spent))
            last = True
        spent += 0.5 / sigma**2 + epsilon**2 / 8
        cliques = [one.clique for one in told]
        limit = MEGABYTES * spent / rho
        open_ones = [
            one for one in candidates if hypothetical_model_size(data.domain, [*cliques, data.clique(one)]) <= limit
        ] or [(i,) for i in range(count)]
        scores = []
        for one in open_ones:
            if time.monotonic() >= deadline:
                return partial(data.expected, model), done, False
            exact = data.table(one)
            away = np.abs(exact - data.expected(model, one)).sum()
            scores.append(weights[one] * (away - math.sqrt(2 / math.pi) * sigma * exact.size))
        chosen = open_ones[data.chosen(scores, epsilon, max(weights.values()))]
        before = data.expected(model, chosen)
        told.append(data.measured(chosen, sigma))
        model = engine.estimate(data.domain, told, iters=STEPS, warm_start=model)
        done += 1
        moved = np.abs(data.expected(model, chosen) - before).sum()
        if moved <= math.sqrt(2 / math.pi) * sigma * before.size:
            sigma, epsilon = sigma / 2, epsilon * 2
    return partial(data.expected, model), done, last


def main(path: str, method: str, rho: float, seconds: float) -> None:
    """Release once and print how well."""
    with np.load(path) as file:
        data = Data(file["codes"], tuple(int(size) for size in file["sizes"]))
    start = time.monotonic()
    answer, rounds, whole = {"mst": mst, "aim": aim}[method](data, rho, start + seconds)
    took = time.monotonic() - start
    triples = itertools.combinations(range(len(data.sizes)), 3)
    errors = []
    for one in triples:
        exact, found = data.table(one), answer(one)
        errors.append(float(np.abs(exact / exact.sum() - found / found.sum()).sum()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    told = {"name": f"mbi {version('mbi')}", "error": float(np.mean(errors)), "seconds": took, "megabytes": peak}
    print(json.dumps(told | {"rounds": rounds, "whole": whole}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]))
