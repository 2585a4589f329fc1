"""What is audited of noise that follows the data, of tests before releases, and of conversations.

Each on neighbours at a cliff, where the value or the size of its noise changes as much as it can, and each with an
output that an audit can count: a refusal is a number far away, a conversation is the list of its replies.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from discreet import mechanisms
from discreet.auditing.entries import Entry
from discreet.mechanisms import admissible
from discreet.sensitivity.smooth import Median, TrimmedMean

__all__ = ["our_dialogues", "our_fitted"]

REFUSED = -1000.0
CLIFFS = (([0, 0, 0, 6, 6], [0, 0, 0, 0, 6]), ([0, 0, 0, 6, 6], [0, 0, 6, 6, 6]), ([3] * 5, [3, 3, 3, 3, 6]))
"""The same median beside two sensitivities; a median that jumps; and data that are all alike but one."""


def our_fitted() -> tuple[Entry, ...]:
    """Return everything with noise that is fitted to data, or with a test before its release."""
    from discreet.sensitivity.graphs import Triangles  # it brings scipy: not before it is asked for

    noises: dict[str, Any] = {
        "power law": admissible.PowerLaw(epsilon=1, beta=0.25),
        "Cauchy": admissible.Cauchy(epsilon=1, beta=0.5),
        "Student t": admissible.StudentT(epsilon=1, beta=0.2),
        "polynomial": admissible.Polynomial(epsilon=1, beta=0.2),
        "Laplace": admissible.Laplace(epsilon=1, delta=0.01, beta=0.2),
        "Gaussian": admissible.Gaussian(epsilon=1, delta=0.01, beta=0.1),
        "Laplace-log-normal": admissible.LaplaceLogNormal(rho=0.5, beta=0.3),
        "uniform-log-normal": admissible.UniformLogNormal(rho=0.5, beta=0.3),
    }
    median = Median(bounds=(0, 6))
    return (
        *(
            _smooth(f"smooth median, {name}", mechanisms.SmoothNoise(function=median, noise=noise, grid=0.25), CLIFFS)
            for name, noise in noises.items()
        ),
        _smooth(
            "smooth trimmed mean",
            mechanisms.SmoothNoise(
                function=TrimmedMean(trim=1, bounds=(0, 6)), noise=admissible.PowerLaw(epsilon=1, beta=0.25), grid=0.25
            ),
            CLIFFS,
        ),
        _smooth(
            "smooth triangles",
            mechanisms.SmoothNoise(
                function=Triangles(vertices=5), noise=admissible.PowerLaw(epsilon=1, beta=0.25), grid=0.25
            ),
            (([(0, 1), (1, 2), (0, 3), (3, 2)], [(0, 1), (1, 2), (0, 3), (3, 2), (0, 2)]),),
        ),
        *_quantiles(),
        *_tested(median),
    )


def _quantiles() -> Iterator[Entry]:
    for relation in ("add_remove", "replace_one"):
        one, other = ([0, 20], [3, 2]), ([0, 20], [3, 3] if relation == "add_remove" else [2, 3])
        smooth = mechanisms.SmoothQuantile(bounds=(0, 20), epsilon=1, relation=relation)
        yield _entry(f"smooth quantile, {relation}", smooth, ((one, other), smooth.worst_case()))
        interval = mechanisms.SmoothInterval(quantile=smooth, epsilon=1)
        yield _counted(f"smooth interval, {relation}", interval, ((one, other),), np.asarray)
        tested = mechanisms.TestedQuantile(bounds=(0, 20), epsilon=2, delta=0.02, bound=4, relation=relation)
        yield _counted(f"tested quantile, {relation}", tested, ((one, other), tested.worst_case()), _or_refused)
        among = mechanisms.CandidateQuantile(candidates=range(7), epsilon=1, relation=relation)
        yield _entry(f"quantile among candidates, {relation}", among, (among.worst_case(),))
    inverse = mechanisms.InverseSensitivity(bounds=(0, 6), epsilon=1, grid=1)
    yield _entry("inverse sensitivity", inverse, (inverse.worst_case(), *CLIFFS))


def _tested(median: Median) -> Iterator[Entry]:
    from discreet.sensitivity.graphs import Triangles

    tested = mechanisms.ProposeTestRelease(function=median, bound=2, epsilon=2, delta=0.02, grid=0.25)
    yield _counted("propose-test-release", tested, CLIFFS, _value_or_refused)
    edges = [(0, 1), (1, 2), (0, 3), (3, 2)]
    bounded = mechanisms.BoundedLocal(function=Triangles(vertices=5), sensitivity=1, epsilon=2, delta=0.02, grid=0.25)
    yield _counted("bounded local sensitivity", bounded, ((edges, [*edges, (0, 2)]),), _pair)
    for relation in ("add_remove", "replace_one"):
        mode = mechanisms.Mode(epsilon=1, delta=0.02, relation=relation)
        yield _counted(f"mode, {relation}", mode, (mode.worst_case(),), _value_or_refused)
    stable = mechanisms.StableValue(value=_any_six, distance=_sixes, epsilon=1, delta=0.02, relation="replace_one")
    yield _counted("stable value", stable, (([6, 6, 0], [6, 0, 0]), ([6, 0, 0], [0, 0, 0])), _value_or_refused)
    blocks = mechanisms.SampleAndAggregate(
        function=max, blocks=3, bounds=(0, 1), relation="replace_one", aggregate="mean", epsilon=1
    )
    yield _entry("sample and aggregate", blocks, (([0.0, 0.0, 0.0], [0.0, 0.0, 1.0]),))


def _any_six(rows: list[int]) -> bool:
    return 6 in rows


def _sixes(rows: list[int]) -> int:
    """Return how many records must be replaced so that there is another answer: all sixes, or any record."""
    return max(1, rows.count(6))


def our_dialogues() -> tuple[Entry, ...]:
    """Return conversations, each as one release: all replies to a stream of questions."""
    calm, busy = (0,) * 10 + (1,), (1,) * 10 + (0,)
    found = []
    for name, settings in {
        "sparse vector": {},
        "sparse vector, three": {"above": 3},
        "sparse vector, exponential": {"noise": "exponential"},
        "sparse vector, gap": {"gap": True},
        "sparse vector, restarted": {"above": 2, "restart": True},
        "sparse vector, values": {"values_epsilon": 1},
    }.items():
        plan = mechanisms.SparseVector(threshold=1, epsilon=1, relation="replace_one", whole=True, **settings)  # type: ignore[arg-type]
        found.append(Entry(name, partial(_replies, plan), plan.loss, ((calm, busy), ((0,) * 12, (1,) * 12))))
    return tuple(found)


def _replies(plan: mechanisms.SparseVector, answers: tuple[int, ...]) -> Any:  # noqa: ANN401 - an array
    """Return what was said to each question: 2 above, 1 below, 0 not asked any more; and gaps and values, summed."""
    replies = plan.open(answers).answers(lambda data: list(data), len(answers))
    told = np.zeros(len(answers) + 1)
    told[: len(replies)] = 1 + replies.above
    told[-1] = np.nansum(replies.gaps) + np.nansum(replies.values)
    return told


def _entry(name: str, mechanism: Any, pairs: tuple[tuple[Any, Any], ...]) -> Entry:  # noqa: ANN401
    return Entry(name, mechanism, mechanism.loss, pairs)


def _smooth(name: str, mechanism: mechanisms.SmoothNoise, pairs: tuple[tuple[Any, Any], ...]) -> Entry:
    return Entry(name, mechanism, mechanism.loss, pairs, partial(_many, mechanism))


def _many(mechanism: mechanisms.SmoothNoise, data: Any, draws: int) -> Any:  # noqa: ANN401 - an array
    """Return many releases of one data set, looked at once: each number gets noise of its own."""
    seen, noise = mechanism.function.at(data), mechanism.noise
    values = np.full(draws, float(seen.value))
    low, high = (float(end) for end in mechanism.function.range)
    return np.clip(noise.draw(values, seen.smooth(noise.beta), grid=mechanism.grid), low, high)


def _counted(
    name: str,
    mechanism: Any,  # noqa: ANN401
    pairs: tuple[tuple[Any, Any], ...],
    count: Callable[[Any], Any],
) -> Entry:
    return Entry(name, mechanism.then(count), mechanism.loss, pairs)


def _or_refused(output: int | None) -> float:
    return REFUSED if output is None else float(output)


def _value_or_refused(outcome: mechanisms.Outcome[Any]) -> float:
    return float(outcome.value) if outcome.passed and outcome.value is not None else REFUSED


def _pair(fitted: mechanisms.Fitted) -> Any:  # noqa: ANN401 - an array
    return np.array([fitted.value, fitted.bound])
