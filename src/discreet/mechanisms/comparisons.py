"""A conversation that compares noisy answers with a noisy threshold; see ``discreet.mechanisms.sparse_vector``.

Its one threshold has one noise, which must serve one stream of replies. So it cannot be copied or pickled, a process
that was forked does not go on with it, threads take turns, and a question cannot ask it another question.
"""

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np
import numpy.typing as npt

from discreet.errors import BudgetExceeded, InvalidParameter, NoTheorem
from discreet.exact import log2_floor
from discreet.mechanisms.quietly import quietly
from discreet.noise.fast import Floats
from discreet.process import check_process, process
from discreet.sensitivity.reals import real

if TYPE_CHECKING:
    from discreet.mechanisms.sparse_vector import SparseVector

__all__ = ["FAR", "Comparisons", "Replies", "Reply", "floor_of"]

FAR = 1 << 60
"""Answers beyond so many steps count as so many, which no sensitivity can notice."""
CHUNK = 1 << 16
LARGEST = 2**63 - 1
LOG10 = math.log10(2)
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Reply:
    """Whether an answer is above the threshold and, if it is and that was asked for, by how much, and its value.

    >>> bool(Reply(above=True, gap=3.0)), bool(Reply(above=False))
    (True, False)
    """

    above: bool
    gap: float | None = None
    value: float | None = None

    def __bool__(self) -> bool:
        return self.above


@dataclass(frozen=True, slots=True, eq=False)
class Replies:
    """The replies to many questions; gaps and values are NaN where they were not given."""

    above: npt.NDArray[np.bool_]
    gaps: Floats
    values: Floats

    def __len__(self) -> int:
        return self.above.size


class Comparisons:
    """A running conversation. It is as secret as the data it holds; only what it replies may be shown.

    A question must do nothing but compute its answer: what it keeps, prints or changes, and how long it takes, is not
    hidden. Whatever it raises is a failure, which nobody sees, except for KeyboardInterrupt, which passes.
    """

    __slots__ = ("_asking", "_data", "_grid", "_left", "_limit", "_process", "_scales", "_turn", "_values", "plan")

    def __init__(self, plan: "SparseVector", data: Any) -> None:  # noqa: ANN401 - what questions are about
        self.plan, self._data, self._left = plan, data, plan.above
        self._scales, self._values, self._grid = plan.scales, plan.value_noise, plan.grid
        self._limit, self._turn = self._noisy_threshold(), threading.Lock()
        self._process, self._asking = process(), 0

    @property
    def exhausted(self) -> bool:
        """Whether so many answers were above the threshold that nothing more will be answered."""
        return self._left == 0

    def answer(self, query: Callable[[Any], Any], /) -> Reply:
        """Ask for a number; where the question fails, or its answer is no number, that number is 0."""
        replies = self.answers(lambda data: [query(data)], 1)
        gap, value = float(replies.gaps[0]), float(replies.values[0])
        told = (None if math.isnan(x) else x for x in (gap, value))
        return Reply(bool(replies.above[0]), *told)

    def answers(self, queries: Callable[[Any], Any], count: int, /) -> Replies:
        """Ask for a vector of ``count`` numbers at once; what is missing counts as 0, what is too much is dropped.

        Only those up to the last that the conversation answers are replied to.
        """
        if type(count) is not int or count < 0:
            raise InvalidParameter(f"count must be a whole number of at least 0, got {count!r}.")
        self._check_open()
        above, (gaps, values), start = np.zeros(count, dtype=np.bool_), np.full((2, count), np.nan), 0
        with self._turn:  # two threads must not share what one of them may ask
            self._check_open()
            self._asking = threading.get_ident()
            try:
                steps = _asked(queries, self._data, count, self._grid)
            finally:
                self._asking = 0
            self._check_open()  # a question may fork as well
            while start < count and self._left:
                part = slice(start, start + CHUNK)
                start += self._compare(steps[part], above[part], gaps[part], values[part])
        return Replies(above[:start], gaps[:start], values[:start])

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a conversation cannot be copied or pickled: each copy would answer as if it were the only one."
        )

    def _check_open(self) -> None:
        check_process(self._process, "the conversation", "Open another one here, which costs as much again.")
        if self._asking == threading.get_ident():
            raise NoTheorem(
                "a question must not ask the conversation that it is a question of: which questions are asked may "
                "depend on earlier replies, and never on data."
            )
        if self.exhausted:
            raise BudgetExceeded(
                f"the conversation is over: {self.plan.above} answers were above the threshold. Open another one, "
                "which costs as much again, or plan with a larger above=."
            )

    def _compare(self, steps: Int64, above: npt.NDArray[np.bool_], gaps: Floats, values: Floats) -> int:
        """Compare answers until the last that may be above the threshold; return how many were compared."""
        plan, step = self.plan, float(self._grid)
        noisy = steps + _near(plan.draw(self._scales[1], steps.size))
        position = 0
        while position < steps.size and self._left:
            hits = np.flatnonzero(noisy[position:] >= self._limit)[: 1 if plan.restart else self._left] + position
            above[hits] = True
            if plan.gap:
                gaps[hits] = (noisy[hits] - self._limit) * step
            if self._values is not None:
                values[hits] = self._values.release(steps[hits]) * step
            self._left -= hits.size
            last = hits.size and (plan.restart or not self._left)
            position = int(hits[-1]) + 1 if last else steps.size
            if plan.restart and hits.size:
                self._limit = self._noisy_threshold()
        return position

    def _noisy_threshold(self) -> int:
        return self.plan.target + int(_near(self.plan.draw(self._scales[0], 1))[0])


def floor_of(number: Fraction) -> int:
    """Return the nearest whole number, halves rounded up: what is k apart stays at most k apart for whole k.

    >>> [floor_of(Fraction(x)) for x in (0.5, 1.5, -0.5)]
    [1, 2, 0]
    """
    return math.floor(number + Fraction(1, 2))


def _asked(queries: Callable[[Any], Any], data: Any, count: int, grid: Fraction) -> Int64:  # noqa: ANN401
    """Return as many answers as were promised, in steps, whatever the questions do and return.

    >>> _asked(lambda data: [len(data), "many"], "abc", 3, Fraction(1)).tolist()
    [3, 0, 0]
    """
    found = quietly(lambda: _steps(_vector(queries(data), count), grid), otherwise=np.zeros(0, dtype=np.int64))
    out = np.zeros(count, dtype=np.int64)
    out[: found.size] = found
    return out


def _vector(given: Any, count: int) -> npt.NDArray[np.generic] | list[object]:  # noqa: ANN401 - what was returned
    """Return at most ``count`` answers: an array if numpy gave plain numbers, and a list of anything else."""
    if not isinstance(given, np.ndarray):
        return list(islice(iter(given), count))
    flat: npt.NDArray[np.generic] = np.asarray(np.ma.filled(given, 0)).reshape(-1)[:count]
    if flat.dtype.kind in "biuf" and flat.itemsize <= 8:
        return flat.astype(np.int64) if flat.dtype == np.bool_ else flat
    return cast("list[object]", flat.tolist())


def _number(value: Any) -> Fraction | Decimal | float:  # noqa: ANN401
    """Return an exact number, or an infinite one, or 0 for what is none."""
    try:
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.tolist()
        if isinstance(value, Decimal):
            if value.is_finite():
                return value
            return 0.0 if value.is_nan() else math.copysign(math.inf, value)
        if isinstance(value, np.longdouble):
            return Fraction(*value.as_integer_ratio()) if np.isfinite(value) else _number(float(value))
        found = real(value)
    except Exception:
        return 0.0
    return 0.0 if found != found else found


def _steps(answers: npt.NDArray[np.generic] | list[object], grid: Fraction) -> Int64:
    """Return answers as whole numbers of steps, halves rounded up, at most ``FAR`` of them; exactly.

    >>> _steps(np.array([2**62 + 1, -3, 7]), Fraction(2)).tolist(), _steps(np.array([0.3, -0.5]), Fraction(1)).tolist()
    ([1152921504606846976, -1, 4], [0, 0])
    """
    if isinstance(answers, list):
        return np.array([_step(_number(x), grid) for x in answers], dtype=np.int64)
    if answers.dtype.kind == "u" and answers.dtype.itemsize == 8 and (answers > np.uint64(LARGEST)).any():
        return _steps(cast("list[object]", answers.tolist()), grid)
    if answers.dtype.kind in "iu":
        return _whole_steps(answers, log2_floor(grid))
    with np.errstate(all="ignore"):
        scaled = np.ldexp(np.nan_to_num(answers.astype(np.float64), posinf=np.inf, neginf=-np.inf), -log2_floor(grid))
    scaled = np.clip(scaled, -FAR, FAR)
    floors = np.floor(scaled)
    return (floors + (scaled - floors >= 0.5)).astype(np.int64)


def _whole_steps(answers: npt.NDArray[np.generic], exponent: int) -> Int64:
    """Return whole answers in steps of a power of two, by shifts: large ones do not fit a float."""
    whole: Int64 = answers.astype(np.int64)
    if exponent > 0:  # cut off before 1 is added, which would not fit where it is the largest of all
        halves: Int64 = (np.clip(whole >> min(exponent - 1, 63), -2 * FAR, 2 * FAR) + 1) >> 1
        return halves
    most, shift = FAR >> min(-exponent, 60), min(-exponent, 60)
    return np.clip(whole, -most, most) << shift


def _step(answer: Fraction | Decimal | float, grid: Fraction) -> int:
    """Return an answer in steps; a Decimal is made a fraction only where that is of moderate size.

    >>> [_step(Decimal(x), Fraction(1)) for x in ("9007199254740993", "0.5", "1e999999", "-1e999999", "1e-999999")]
    [9007199254740993, 1, 1152921504606846976, -1152921504606846976, 0]
    """
    if isinstance(answer, Decimal):
        size, exponent = answer.adjusted(), log2_floor(grid)
        if not answer or size < (exponent - 2) * LOG10 - 1:  # below half a step
            return 0
        if size > (exponent + 61) * LOG10 + 1:
            return -FAR if answer.is_signed() else FAR
    elif isinstance(answer, float) and math.isinf(answer):
        return FAR if answer > 0 else -FAR
    return min(max(floor_of(Fraction(answer) / grid), -FAR), FAR)


def _near(noise: object) -> Int64:
    """Return noise as 64-bit numbers, cut off where no noise will ever be."""
    cut: Int64 = np.clip(np.asarray(noise), -2 * FAR, 2 * FAR).astype(np.int64)
    return cut
