"""The three experiments of the DualQuery paper, each with its baselines."""

import math
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from discreet.bench.dual_query.baselines import independent_noise, product_of_singles
from discreet.bench.dual_query.data import Table, biased_columns
from discreet.bench.dual_query.result import Experiment, Measured
from discreet.datasets.size import whole
from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.synthetic.dual_query import DualQuery, Packed, Queries, packed, random_queries

__all__ = ["against_attributes", "against_epsilon", "against_queries"]

Progress = Callable[[str, float], None]
Int64 = npt.NDArray[np.int64]

OURS, NOISE, PRODUCT = "DualQuery", "noise on each answer", "independent attributes"


@dataclass(slots=True)
class _Bench:
    """Rows so far, and when to stop."""

    delta: float
    repeats: int
    progress: Progress
    end: float
    steps: int
    rows: list[Measured] = field(default_factory=list)
    done: int = 0
    complete: bool = True

    def measure(self, table: Packed, queries: Queries, size: int, epsilon: float, at: float, began: float) -> None:
        """Add a row for each method; ``began`` is the processor time when the queries were drawn."""
        if time.monotonic() > self.end and self.rows:
            self.complete = False
            return
        plan = DualQuery.for_budget(epsilon, self.delta, queries=queries, size=size, relation="replace_one")
        counts = plan.counts(table)
        reading = time.process_time() - began

        def played(name: str, done: int, of: int) -> None:
            self.progress(f"{name} at {at:g}", (self.done + done / of) / self.steps)

        def ours() -> Floats:
            return plan.reveal(counts, progress=played).answer(queries)

        truth = counts / size
        shape = f"T={plan.rounds}, s={plan.samples}, eta={float(plan.eta):.3g}"
        self._add(OURS, at, ours, truth, reading, shape)
        self._add(NOISE, at, lambda: independent_noise(counts, size, epsilon, self.delta), truth, reading)
        self._add(PRODUCT, at, lambda: product_of_singles(table, queries, size, epsilon, self.delta), truth, reading)

    def _add(
        self, name: str, at: float, make: Callable[[], Floats], truth: Floats, reading: float, plan: str = ""
    ) -> None:
        largest, mean, spent = [], [], []
        for _ in range(self.repeats):
            start = time.process_time()
            gaps = np.abs(make() - truth)
            spent.append(time.process_time() - start)
            largest.append(float(gaps.max()))
            mean.append(float(gaps.mean()))
            if name == OURS:
                self.done += 1
            if time.monotonic() > self.end:
                self.complete = self.complete and len(largest) == self.repeats
                break
        self.rows.append(
            Measured(
                method=name,
                at=at,
                largest=tuple(largest),
                mean=tuple(mean),
                seconds=reading + float(np.mean(spent)),
                memory=peak_memory(),
                plan=plan,
            )
        )

    def experiment(self, kind: str, data: str, records: int, words: str) -> Experiment:
        return Experiment(
            kind=kind, data=data, records=records, words=words, rows=tuple(self.rows), complete=self.complete
        )


def against_epsilon(
    table: Table,
    *,
    epsilons: Sequence[float] = (1, 2, 3, 4, 5),
    delta: float = 1e-3,
    queries: int = 500_000,
    repeats: int = 5,
    progress: Progress | None = None,
    deadline: float | None = None,
) -> Experiment:
    """Measure the largest error of three-way marginals as epsilon grows."""
    bench = _made(delta, repeats, progress, deadline, len(epsilons))
    began = time.process_time()
    asked = random_queries(table.sizes, queries)
    columns = packed(table.tally, asked)
    drawn = time.process_time() - began
    for epsilon in epsilons:
        bench.measure(columns, asked, table.records, epsilon, float(epsilon), time.process_time() - drawn)
    words = f"{queries:,} three-way marginals, {table.records:,} records, delta {delta:g}"
    return bench.experiment("epsilon", table.name, table.records, words)


def against_queries(
    table: Table,
    *,
    counts: Sequence[int] = (10_000, 100_000, 500_000, 1_000_000, 2_000_000),
    epsilon: float = 1.0,
    delta: float = 1e-3,
    repeats: int = 2,
    progress: Progress | None = None,
    deadline: float | None = None,
) -> Experiment:
    """Measure the largest error and the time as there are more queries."""
    bench = _made(delta, repeats, progress, deadline, len(counts))
    for count in counts:
        began = time.process_time()
        asked = random_queries(table.sizes, count)
        bench.measure(packed(table.tally, asked), asked, table.records, epsilon, float(count), began)
    words = f"three-way marginals, {table.records:,} records, epsilon {epsilon:g}, delta {delta:g}"
    return bench.experiment("queries", table.name, table.records, words)


def against_attributes(
    *,
    attributes: Sequence[int] = (50, 500, 4_000, 32_000, 512_000),
    records: int = 100_000,
    queries: int = 100_000,
    epsilon: float = 1.0,
    delta: float = 1e-3,
    repeats: int = 2,
    progress: Progress | None = None,
    deadline: float | None = None,
) -> Experiment:
    """Measure the largest error and the time as there are more attributes, on random biased bits.

    >>> found = against_attributes(attributes=[5], records=500, queries=40, repeats=2)
    >>> found.methods
    ('DualQuery', 'noise on each answer', 'independent attributes')
    """
    bench = _made(delta, repeats, progress, deadline, len(attributes))
    for count in attributes:
        began = time.process_time()
        asked = random_queries((2,) * whole(count, "attributes", 3), queries)
        bench.measure(biased_columns(asked, records), asked, records, epsilon, float(count), began)
    words = f"{queries:,} three-way marginals, {records:,} records, epsilon {epsilon:g}, delta {delta:g}"
    return bench.experiment("attributes", "random biased bits", records, words)


def peak_memory() -> int:
    """Return the most bytes that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _made(delta: float, repeats: int, progress: Progress | None, deadline: float | None, settings: int) -> _Bench:
    if not settings:
        raise InvalidParameter("an experiment needs at least one setting.")
    end = math.inf if deadline is None else time.monotonic() + deadline
    steps = settings * whole(repeats, "repeats", 1)
    return _Bench(delta, repeats, progress or (lambda _words, _share: None), end, steps)
