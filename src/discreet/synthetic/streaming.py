"""Running totals of a stream, told at every step.

Dwork, Naor, Pitassi and Rothblum, "Differential Privacy Under Continual Observation", STOC 2010; Chan, Shi and Song,
"Private and Continual Release of Statistics", ACM TISSEC 2011. A binary tree measures a node as soon as its last step
has come; every total is then a sum of few nodes, and each node is best estimated from all measurements below it
(Honaker, 2015). The square root of the matrix of totals does better with Gaussian noise (Fichtenberger, Henzinger and
Upadhyay, ICML 2023). In both, what is told is a function of the measurements so far.
"""

import html
import math
import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Literal, NoReturn

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import BudgetExceeded, InvalidInput, InvalidParameter
from discreet.exact import Real, show
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import store
from discreet.noise.fast import Floats
from discreet.process import check_process, process
from discreet.synthetic.matrix_mechanism import Noise, calibrated_noise, noise_variance, norm_of
from discreet.synthetic.operators.operator import Array, Operator, positive_size
from discreet.synthetic.operators.whole import clamped
from discreet.synthetic.strategies.expected import Expected
from discreet.synthetic.strategies.square_root import SquareRoot, inverse_series, series
from discreet.units import Relation, check_relation

__all__ = ["CompleteNodes", "RunningTotal", "Stream"]

Factorisation = Literal["tree", "square_root"]

LARGEST = 1 << 31
"""A count of one step is clamped to this, on either side of 0, so that every sum fits into 64 bits."""

MOST_STEPS = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CompleteNodes(Operator):
    """The nodes of a binary tree that are complete within ``size`` steps, in the order in which they become so.

    The steps fall into blocks, one for each binary digit of their number; a step in a block of ``2^k`` is in ``k + 1``
    nodes. Two steps of the first block share its root alone if they are in different halves; two of different blocks
    share nothing.

    >>> CompleteNodes(size=3).matvec([1, 10, 100])
    array([  1,  10,  11, 100])
    """

    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", positive_size(self.size))

    @property
    def shape(self) -> tuple[int, int]:
        """One row for each node."""
        return 2 * self.size - self.size.bit_count(), self.size

    @property
    def reach(self) -> int:
        """The steps of the largest node."""
        return 1 << (self.size.bit_length() - 1)

    @property
    def nonnegative(self) -> bool:
        """Entries are 0 and 1."""
        return True

    @property
    def determines_cells(self) -> bool:
        """Single steps are nodes."""
        return True

    def whole_matvec(self, x: Array, /) -> Array:
        """Return the sums of the nodes."""
        sums = np.concatenate([np.zeros_like(x[:1]), np.cumsum(x, axis=0)])
        low, high = self._ends()
        return np.asarray(sums[high] - sums[low])

    def whole_rmatvec(self, y: Array, /) -> Array:
        """Return, for each step, the sum over the nodes that hold it."""
        steps = np.zeros((self.size + 1, *y.shape[1:]), dtype=y.dtype)
        low, high = self._ends()
        np.add.at(steps, low, y)
        np.add.at(steps, high, -y)
        return np.asarray(np.cumsum(steps[:-1], axis=0))

    def largest_column(self, p: int, /) -> int:
        """That of a step in the first block."""
        return self.size.bit_length()

    def whole_distance(self, p: int, /) -> tuple[int, bool]:
        """Two steps of the first block in different halves, or one of the first block and one of the second."""
        first = self.size.bit_length() - 1
        rest = self.size - (1 << first)
        return max(2 * first, first + 1 + rest.bit_length() if rest else 0), True

    def furthest_cells(self, p: int, /) -> tuple[int, int]:
        """Those two steps: the first one, and the first of the other half or of the second block."""
        first = self.size.bit_length() - 1
        rest = self.size - (1 << first)
        across = rest and first + 1 + rest.bit_length() >= 2 * first
        return 0, (1 << first) if across else (1 << first) // 2

    def _ends(self) -> tuple[Array, Array]:
        nodes = [(t - (1 << height), t) for t in range(1, self.size + 1) for height in _completed(t)]
        return np.array([low for low, _ in nodes]), np.array([high for _, high in nodes])


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunningTotal(Faces):
    """Tell the running total of a stream of counts after each of ``steps`` steps.

    Satisfies ``epsilon``-DP by Laplace noise, on whole numbers for the tree, ``rho``-zCDP or (epsilon, delta)-DP by
    Gaussian noise, for the whole stream, whenever each record adds 1 to one step and neighbours differ by one record in
    the sense of ``relation``, which under replace_one may move to another step. Counts beyond 2^31 on either side of 0
    are clamped, which the noise is for as well.

    >>> visitors = RunningTotal(steps=1000, rho=0.5, relation="add_remove")
    >>> stream = visitors.open()
    >>> isinstance(stream.add(12), float), stream.exhausted
    (True, False)
    >>> visitors.error().largest < RunningTotal(steps=1000, rho=0.5, relation="add_remove", by="tree").error().largest
    True
    """

    steps: int
    relation: Relation
    epsilon: Real | None = None
    delta: Real | None = None
    rho: Real | None = None
    by: Factorisation | None = None
    noise: Noise = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_relation(self.relation)
        object.__setattr__(self, "steps", positive_size(self.steps, "steps"))
        if self.steps > MOST_STEPS:
            raise InvalidParameter(f"a stream has at most {MOST_STEPS} steps; tell totals less often.")
        if self.by not in ("tree", "square_root", None):
            raise InvalidParameter(f"by must be 'tree' or 'square_root', got {self.by!r}.")
        store(self, epsilon=self.epsilon, delta=self.delta, rho=self.rho)
        noise = calibrated_noise(self.strategy, self.relation, epsilon=self.epsilon, delta=self.delta, rho=self.rho)
        object.__setattr__(self, "noise", noise)

    def __repr__(self) -> str:
        given = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
        said = "".join(f", {name}={show(value)}" for name, value in given.items() if value is not None)
        said += "" if self.by is None else f", by={self.by!r}"
        return f"RunningTotal(steps={self.steps}, relation={self.relation!r}{said})"

    @property
    def strategy(self) -> CompleteNodes | SquareRoot:
        """What is measured: by default the tree under Laplace noise, the square root under Gaussian noise."""
        pure = self.rho is None and self.delta is None
        tree = self.by == "tree" or (self.by is None and pure)
        return CompleteNodes(size=self.steps) if tree else SquareRoot(size=self.steps)

    @property
    def domain(self) -> Records:
        """Records, each at one step."""
        return Records(relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the noise of the whole stream."""
        return self.noise.loss.under(self.relation)

    def open(self) -> "Stream":
        """Start a stream."""
        return Stream(self)

    def release(self, counts: npt.ArrayLike, /) -> Floats:
        """Return the totals of a whole stream at once, one for each count."""
        refusal = f"a stream is of up to {self.steps} whole counts, one for each step."
        listed = clamped(counts, -LARGEST, LARGEST, otherwise=refusal)
        if listed.ndim != 1 or len(listed) > self.steps:
            raise InvalidInput(refusal)
        stream = self.open()
        return np.array([stream.add(count) for count in listed.tolist()])

    def error(self) -> Expected:
        """Return the standard deviation of each total, and the expected sum of the squares of all; exact.

        >>> RunningTotal(steps=4, rho=0.5, relation="add_remove", by="tree").error().deviations.round(3).tolist()
        [1.732, 1.414, 2.236, 1.309]
        """
        unit = noise_variance(self.noise) / self.strategy.denominator**2
        if isinstance(self.strategy, SquareRoot):
            variances = unit * np.cumsum(_left_series(self.steps) ** 2)
        else:
            each = [sum(_node_variance(h) for h in _blocks(t)) for t in range(1, self.steps + 1)]
            variances = unit * np.array(each)
        return Expected(float(variances.sum()), np.sqrt(variances))

    def worst_case(self) -> tuple[Array, Array]:
        """A record at the first step, which is gone or, under replace_one, at the one that is measured most apart."""
        one, other = np.zeros(self.steps, dtype=np.int64), np.zeros(self.steps, dtype=np.int64)
        here, there = self.strategy.furthest_cells(norm_of(self.noise))
        one[here] = 1
        if self.relation == "replace_one":
            other[there] = 1
        return one, other

    def _repr_html_(self) -> str:
        said = f"totals have standard deviations up to {self.error().largest:.6g}"
        return f"<div><code>{html.escape(repr(self))}</code><br>{said}</div>"


class Stream:
    """A stream that runs: counts go in one by one, noisy totals come out.

    It was planned for so many steps, and a record in one of them is measured in so many sums. So it cannot be copied or
    pickled, a process that was forked does not go on with it, and threads take turns.
    """

    __slots__ = ("_measure", "_plan", "_process", "_step", "_turn")

    def __init__(self, plan: RunningTotal) -> None:
        self._plan, self._step = plan, 0
        self._measure = _roots(plan) if isinstance(plan.strategy, SquareRoot) else _nodes(plan.noise, plan.steps)
        self._process, self._turn = process(), threading.Lock()
        next(self._measure)

    @property
    def step(self) -> int:
        """How many counts have come."""
        return self._step

    @property
    def exhausted(self) -> bool:
        """Whether all steps have been taken."""
        return self._step >= self._plan.steps

    def add(self, count: int, /) -> float:
        """Take the count of the next step and return the noisy total so far."""
        if isinstance(count, bool) or not isinstance(count, int | np.integer):
            raise InvalidInput(f"a stream takes whole counts, got {type(count).__name__}.")
        self._check_process()  # before the lock, which a thread of the other process may have held
        with self._turn:
            if self.exhausted:
                raise InvalidInput(f"this stream was planned for {self._plan.steps} steps, and all have been taken.")
            self._step += 1
            try:
                return self._measure.send(max(min(int(count), LARGEST), -LARGEST))
            except StopIteration:
                raise BudgetExceeded(
                    "this stream was interrupted while it measured, and cannot go on. Open another one, which costs as "
                    "much again."
                ) from None

    answer = add

    def __reduce__(self) -> NoReturn:
        raise TypeError("a stream cannot be copied or pickled: each copy would go on as if it were the only one.")

    def _check_process(self) -> None:
        check_process(self._process, "the stream", "Open another one here, which costs as much again.")


def _nodes(noise: Noise, steps: int) -> Generator[float, int, None]:
    """Measure the nodes of the tree as they become complete; keep the exact sums and estimates of the open blocks."""
    blocks: list[tuple[int, int, float]] = []  # height, exact sum, estimate
    told = 0.0
    for _ in range(steps):
        height, exact = 0, (yield told)
        estimate = float(noise.release(exact))
        while blocks and blocks[-1][0] == height:
            _, left, guess = blocks.pop()
            exact, below, height = exact + left, estimate + guess, height + 1
            own = _node_variance(height)  # the weight of a measurement of variance 1
            estimate = own * float(noise.release(exact)) + (1 - own) * below
        blocks.append((height, exact, estimate))
        told = math.fsum(estimate for _, _, estimate in blocks)
    yield told


def _roots(plan: RunningTotal) -> Generator[float, int, None]:
    """Measure the square root's rows one by one; each total is the other factor's row of the measurements."""
    kernel, left, denominator = series(plan.steps), _left_series(plan.steps), plan.strategy.denominator
    backward = kernel[::-1].copy()
    counts, measured = np.zeros(plan.steps, dtype=np.int64), np.zeros(plan.steps)
    for t in range(1, plan.steps + 1):
        counts[t - 1] = yield float(left[: t - 1] @ measured[: t - 1][::-1])
        exact = int(backward[plan.steps - t :] @ counts[:t])
        measured[t - 1] = float(plan.noise.release(exact)) / denominator
    yield float(left @ measured[::-1])


def _left_series(steps: int) -> Floats:
    """Return the first column of the other factor: ones divided by the series, as power series."""
    return np.cumsum(inverse_series(steps))


def _completed(t: int) -> range:
    """Return the heights of the nodes that step t completes."""
    return range((t & -t).bit_length())


def _blocks(t: int) -> list[int]:
    """Return the heights of the nodes that make up the first t steps."""
    return [height for height in range(t.bit_length()) if t >> height & 1]


def _node_variance(height: int) -> float:
    """Return the variance of the best estimate of a node from it and all below it, with noise of variance 1.

    ``1 / v(h) = 1 + 1 / (2 v(h - 1))`` and ``v(0) = 1``, so ``v(h) = 2^h / (2^(h + 1) - 1)``.

    >>> [round(_node_variance(h), 4) for h in range(3)]
    [1.0, 0.6667, 0.5714]
    """
    return 2.0**height / (2.0 ** (height + 1) - 1)
