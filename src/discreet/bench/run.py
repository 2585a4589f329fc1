"""Run algorithms on shapes, scales and epsilons, and measure how far off they are."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from discreet.bench.algorithms import Algorithm, Releases
from discreet.bench.measured import Measured, Setting, scaled_error
from discreet.bench.result import Result
from discreet.bench.source import Source
from discreet.bench.workloads import workload
from discreet.datasets.size import whole
from discreet.errors import InvalidParameter
from discreet.exact import positive
from discreet.synthetic.operators import Operator
from discreet.units import Relation, check_relation

__all__ = ["run"]

SAMPLES = 5
"""So many histograms are drawn in each setting; releases take turns."""

Progress = Callable[[str, float], None]


def run(
    algorithms: Sequence[Algorithm],
    sources: Sequence[Source],
    *,
    scales: Sequence[int | None],
    epsilons: Sequence[float] = (0.1,),
    questions: str = "ranges",
    queries: int = 2000,
    trials: int = 5,
    relation: Relation = "add_remove",
    seed: int = 0,
    progress: Progress | None = None,
    deadline: float | None = None,
) -> Result:
    """Release every shape at every scale and epsilon with every algorithm that fits, ``trials`` times.

    A scale of None is that of the histogram the shape was taken from. Histograms are drawn from the shapes and are the
    same for the same seed; the noise is never. Rounds go over all settings, so that after ``deadline`` seconds there is
    something of each: the result then says that it is not complete. An algorithm that refuses a domain is left out
    there, with a note.

    >>> from discreet.bench import algorithms, generated
    >>> found = run(algorithms(["identity"]), [generated("steps", (64,))], scales=[1000], trials=3)
    >>> len(found.rows[0].errors), found.complete
    (3, True)
    """
    bench = _Bench(check_relation(relation), questions, queries, seed)
    if not algorithms or not sources or not scales or not epsilons:
        raise InvalidParameter("a benchmark needs at least one algorithm, shape, scale and epsilon.")
    whole(trials, "trials", 1)
    if len({(source.name, source.sizes) for source in sources}) < len(sources):
        raise InvalidParameter("a shape is there twice. Give every shape a name of its own.")
    plan = [
        (algorithm, source, bench.setting(source, scale, epsilon))
        for source in sources
        for scale in dict.fromkeys(_persons(source, scale) for scale in scales)
        for epsilon in dict.fromkeys(float(positive(epsilon, "epsilon")) for epsilon in epsilons)
        for algorithm in algorithms
        if len(source.sizes) in algorithm.dimensions
    ]
    if not plan:
        raise InvalidParameter("none of these algorithms works on these shapes: some are for lines or planes alone.")
    end = math.inf if deadline is None else time.monotonic() + float(positive(deadline, "deadline"))
    done = _rounds(bench, plan, trials, end, progress or (lambda _words, _share: None))
    rows = tuple(
        Measured(
            algorithm=name, setting=setting, errors=tuple(errors), seconds=float(np.mean(bench.seconds[name, setting]))
        )
        for (name, setting), errors in bench.errors.items()
    )
    if not rows:
        raise InvalidParameter(
            "the deadline was over before anything was measured. Give more time."
            if not done
            else "every algorithm refused its domain: " + " ".join(bench.notes)
        )
    return Result(
        workload=questions,
        relation=relation,
        trials=trials,
        rows=rows,
        complete=done,
        notes=tuple(bench.notes),
    )


def _persons(source: Source, scale: int | None) -> int:
    if scale is not None:
        return whole(scale, "a scale", 1)
    if source.persons is None:
        raise InvalidParameter(f"the shape {source.name!r} is generated and has no scale of its own. Say a number.")
    return source.persons


@dataclass(slots=True)
class _Bench:
    """What is kept between releases."""

    relation: Relation
    questions: str
    queries: int
    seed: int
    workloads: dict[tuple[int, ...], Operator] = field(default_factory=dict)
    estimators: dict[tuple[str, tuple[int, ...], float], Releases | None] = field(default_factory=dict)
    errors: dict[tuple[str, Setting], list[float]] = field(default_factory=dict)
    seconds: dict[tuple[str, Setting], list[float]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def workload(self, sizes: tuple[int, ...]) -> Operator:
        if sizes not in self.workloads:
            self.workloads[sizes] = workload(self.questions, sizes, queries=self.queries, seed=self.seed)
        return self.workloads[sizes]

    def setting(self, source: Source, scale: int, epsilon: float) -> Setting:
        queries = self.workload(source.sizes).shape[0]
        return Setting(data=source.name, sizes=source.sizes, scale=scale, epsilon=epsilon, queries=queries)

    def estimator(self, algorithm: Algorithm, setting: Setting) -> Releases | None:
        key = algorithm.name, setting.sizes, setting.epsilon
        if key not in self.estimators:
            asked = self.workload(setting.sizes)
            try:
                self.estimators[key] = algorithm.make(setting.sizes, asked, setting.epsilon, self.relation)
            except InvalidParameter as refusal:
                self.estimators[key] = None
                self.notes.append(f"Without {algorithm.name} on {' x '.join(map(str, setting.sizes))} cells: {refusal}")
        return self.estimators[key]

    def measure(self, algorithm: Algorithm, setting: Setting, exact: npt.NDArray[np.int64]) -> None:
        estimator = self.estimator(algorithm, setting)
        if estimator is None:
            return
        start = time.perf_counter()
        estimate = estimator.release(exact)
        self.seconds.setdefault((algorithm.name, setting), []).append(time.perf_counter() - start)
        error = scaled_error(self.workload(setting.sizes), exact, estimate, setting.scale)
        self.errors.setdefault((algorithm.name, setting), []).append(error)


def _rounds(
    bench: _Bench, plan: Iterable[tuple[Algorithm, Source, Setting]], trials: int, end: float, show: Progress
) -> bool:
    """Measure round by round, and return whether there was time for all."""
    steps = list(plan)
    for trial in range(trials):
        drawn: tuple[tuple[str, tuple[int, ...], int], npt.NDArray[np.int64]] | None = None
        for place, (algorithm, source, setting) in enumerate(steps):
            if time.monotonic() > end:
                return False
            key = source.name, source.sizes, setting.scale
            if drawn is None or drawn[0] != key:
                drawn = key, source.draw(setting.scale, seed=bench.seed * SAMPLES + trial % SAMPLES)
            show(f"{algorithm.name} on {source.name}", (trial * len(steps) + place) / (trials * len(steps)))
            bench.measure(algorithm, setting, drawn[1])
    return True
