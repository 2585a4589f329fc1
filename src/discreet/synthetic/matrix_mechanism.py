"""The matrix mechanism: measure a strategy, answer a workload.

Li, Miklau, Hay, McGregor and Rastogi, "The Matrix Mechanism: Optimizing Linear Counting Queries Under Differential
Privacy", VLDB Journal 2015. Noise is added to the answers of a strategy A, calibrated to how far one record moves them;
the histogram is estimated from these by least squares, and the workload W answered from the estimate. The expected
total squared error is the variance of the noise times ``trace(W.T W (A.T A)^+)``, known before any data.

A strategy is a whole matrix over a denominator, and measured is the whole one: exact numbers under exact noise.
"""

import html
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter, NoTheorem
from discreet.exact import Real, ball, positive, show, up
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian, lattice, squared_whole
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.interface import Records
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.scale import store
from discreet.noise.fast import Floats
from discreet.synthetic.operators.marginals import Marginals
from discreet.synthetic.operators.operator import Change, Operator
from discreet.synthetic.operators.whole import clamped
from discreet.synthetic.records import check_records
from discreet.synthetic.strategies.expected import Expected
from discreet.synthetic.strategies.variances import answer_variances, total_variance
from discreet.units import Relation, check_relation

__all__ = ["Answers", "MatrixMechanism", "calibrated_noise", "charged", "noise_variance", "norm_of"]

Noise = Geometric | Laplace | DiscreteGaussian | Gaussian
Int64 = npt.NDArray[np.int64]

WHOLE_LIMIT = 1 << 62
REAL_LIMIT = 1 << 53
SMALLEST_LIMIT = 1 << 16
"""A strategy must leave room for counts of at least this size."""

WIDE = 1e6
"""Geometric noise of a larger scale has the variance of Laplace noise, to twelve digits."""

CHECKED = 512
"""Cells up to which a strategy that does not determine the answers is refused at once; above, ``error`` refuses it."""

ROUNDS = 200
"""Steps of the non-negative reconstruction: a fixed number, so that no time depends on data."""


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The answers of a workload, the histogram they all agree with, and how uncertain they are."""

    mechanism: "MatrixMechanism"
    measured: Floats
    """The noisy answers of the strategy."""
    estimate: Floats
    """The histogram estimated from them."""

    @property
    def values(self) -> Floats:
        """The answers of the workload."""
        return np.asarray(self.mechanism.workload.matvec(self.estimate), dtype=np.float64)

    @property
    def deviations(self) -> Floats:
        """The standard deviation of each answer; it does not depend on data."""
        return self.mechanism.error().deviations

    def __repr__(self) -> str:
        return f"<{self.mechanism.workload.shape[0]} answers by {self.mechanism!r}>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MatrixMechanism(Faces):
    """Answer linear queries of a histogram by way of a strategy.

    Satisfies ``epsilon``-DP by Laplace noise, ``rho``-zCDP or (epsilon, delta)-DP by Gaussian noise, whenever each
    record adds 1 to one cell and neighbours differ by one record in the sense of ``relation``. Noise is discrete, on
    whole numbers, or continuous on a public grid: ``discrete`` chooses, see ``calibrated_noise``. Counts beyond
    ``largest_count`` are clamped to it, whatever their size; a record that moves into or out of a cell that is full
    then changes one cell alone, and the noise is for that as well: see ``charged``. Where neighbours differ by a person
    who has up to ``records`` records, in one cell or several, the noise is so many times as large. With ``partial`` a
    record may be counted nowhere, so that under replace_one, too, how many are counted is secret. With ``nonnegative``
    the estimated histogram has no cell below 0, which costs nothing, and no error is promised.

    >>> from discreet.synthetic.operators import Identity, Prefix
    >>> sums = MatrixMechanism(workload=Prefix(size=4), strategy=Identity(size=4), epsilon=1, relation="add_remove",
    ...                        discrete=False)
    >>> round(sums.error().total, 6), sums.error().deviations.round(3).tolist()
    (20.0, [1.414, 2.0, 2.449, 2.828])
    >>> sums.release([10, 0, 3, 5]).values.shape
    (4,)
    """

    workload: Operator
    strategy: Operator
    relation: Relation
    epsilon: Real | None = None
    delta: Real | None = None
    rho: Real | None = None
    discrete: bool | None = None
    nonnegative: bool = False
    records: int = 1
    partial: bool = False
    noise: Noise = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_relation(self.relation)
        given: tuple[Any, ...] = (self.workload, self.strategy)
        if not all(isinstance(operator, Operator) for operator in given):
            raise InvalidParameter("workload and strategy are operators: Prefix(size=...), Explicit(matrix=...), ...")
        if self.workload.shape[1] != self.strategy.shape[1]:
            raise InvalidParameter(
                f"the workload is on {self.workload.shape[1]} cells and the strategy on {self.strategy.shape[1]}; they "
                "must agree."
            )
        chosen: dict[str, Any] = {
            "discrete": self.discrete,
            "nonnegative": self.nonnegative,
            "partial": self.partial,
        }
        for name, value in chosen.items():
            if not isinstance(value, bool) and not (value is None and name == "discrete"):
                raise InvalidParameter(f"{name} must be True or False, got {type(value).__name__}.")
        store(self, epsilon=self.epsilon, delta=self.delta, rho=self.rho, records=check_records(self.records))
        noise = calibrated_noise(
            self.strategy,
            self.relation,
            self.discrete,
            epsilon=self.epsilon,
            delta=self.delta,
            rho=self.rho,
            records=self.records,
            partial=self.partial,
        )
        object.__setattr__(self, "noise", noise)
        if not self.strategy.determines_cells and self._cheap():
            total_variance(self.workload, self.strategy)  # refuses a strategy that does not determine the answers
        if self.largest_count < SMALLEST_LIMIT:
            raise InvalidParameter(
                "the entries of this strategy have too many digits for exact sums; round them to fewer."
            )

    def __repr__(self) -> str:
        given = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
        said = "".join(f", {name}={show(value)}" for name, value in given.items() if value is not None)
        said += "" if self.discrete is None else f", discrete={self.discrete}"
        said += ", nonnegative=True" if self.nonnegative else ""
        said += "" if self.records == 1 else f", records={self.records}"
        said += ", partial=True" if self.partial else ""
        return (
            f"MatrixMechanism(workload={self.workload!r}, strategy={self.strategy!r}, relation={self.relation!r}{said})"
        )

    @property
    def domain(self) -> Records:
        """Histograms of records."""
        return Records(relation=self.relation)

    @property
    def sensitivity(self) -> Change:
        """How far one record moves what is measured, in the norm of the noise; a person moves it by all of hers."""
        return charged(self.strategy, norm_of(self.noise), self.relation, partial=self.partial)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the noise."""
        return self.noise.loss.under(self.relation)

    @property
    def largest_count(self) -> int:
        """The count that a cell is clamped to, so that every sum is exact."""
        limit = WHOLE_LIMIT if isinstance(self.noise, Geometric | DiscreteGaussian) else REAL_LIMIT
        return limit // self.strategy.reach

    @property
    def unit_variance(self) -> float:
        """The variance of the noise on each answer of the strategy."""
        return noise_variance(self.noise) / self.strategy.denominator**2

    def release(self, histogram: npt.ArrayLike, /) -> Answers:
        """Return the noisy answers of a histogram, whole numbers in the order of the cells."""
        exact = self.strategy.whole_matvec(self._counts(histogram))
        if isinstance(self.noise, Geometric | DiscreteGaussian):
            noisy = self.noise.release(exact).astype(np.float64)
        else:
            noisy = self.noise.release(exact.astype(np.float64))
        measured = noisy / self.strategy.denominator
        estimate = self.strategy.solve(measured)
        if self.nonnegative:
            estimate = _nonnegative(self.strategy, measured, estimate)
        return Answers(self, measured, estimate)

    def error(self) -> Expected:
        """Return the expected total squared error and the standard deviation of each answer, before any data.

        Both are exact for the least squares estimate, which is linear and unbiased.
        """
        if self.nonnegative:
            raise NoTheorem(
                "the error of a non-negative estimate depends on the data. Read that of the same mechanism with "
                "nonnegative=False, which has the same cost."
            )
        variances = answer_variances(self.workload, self.strategy) * self.unit_variance
        return Expected(float(variances.sum()), np.sqrt(variances))

    def total_error(self) -> float:
        """Return the expected total squared error of least squares alone, without that of each answer."""
        return total_variance(self.workload, self.strategy) * self.unit_variance

    def worst_case(self) -> tuple[Int64, Int64]:
        """A record in the cell that moves the strategy most, which is gone; or in two cells that are furthest apart."""
        cells, p = self.strategy.shape[1], norm_of(self.noise)
        one, other = np.zeros(cells, dtype=np.int64), np.zeros(cells, dtype=np.int64)
        if self.relation == "replace_one":
            here, there = self.strategy.furthest_cells(p)
            one[here] = other[there] = 1
        else:
            one[int(np.argmax(self.strategy.column_norms(p)))] = 1
        return one * self.records, other * self.records

    def _repr_html_(self) -> str:
        said = "no error is promised" if self.nonnegative else f"expected squared error {self.total_error():.6g}"
        return f"<div><code>{html.escape(repr(self))}</code><br>{said}; noise {html.escape(repr(self.noise))}</div>"

    def _cheap(self) -> bool:
        """Whether the expected error is quick to evaluate."""
        if isinstance(self.workload, Marginals) and isinstance(self.strategy, Marginals):
            return self.workload.sizes == self.strategy.sizes
        return self.strategy.shape[1] <= CHECKED

    def _counts(self, histogram: npt.ArrayLike) -> Int64:
        cells, most = self.strategy.shape[1], self.largest_count
        refusal = f"a histogram here has {cells} whole counts, one for each cell."
        counts = clamped(histogram, -most, most, otherwise=refusal)
        if counts.size != cells:
            raise InvalidInput(refusal)
        return counts.reshape(-1)


def charged(strategy: Operator, p: int, relation: Relation, *, partial: bool = False) -> Change:
    """Return how far one record moves a strategy on counts that are clamped.

    Under replace_one a record leaves one cell and comes into another, but for cells that are full: there it may change
    one of both, so that the largest column counts as well, if it is larger than the distance of any two. A strategy
    whose columns are all alike measures what is public, and its change is 0; unless a record may be counted nowhere
    (``partial``).

    >>> from discreet.synthetic.operators import Prefix
    >>> Prefix(size=4).change(1, relation="replace_one").power, charged(Prefix(size=4), 1, "replace_one").power
    (Fraction(3, 1), Fraction(4, 1))
    """
    moved = strategy.change(p, relation=relation)
    if relation == "add_remove" or not (moved.power or partial):
        return moved
    return max(moved, strategy.change(p, relation="add_remove"), key=lambda change: change.power)


def calibrated_noise(
    strategy: Operator,
    relation: Relation,
    discrete: bool | None = None,
    *,
    epsilon: Real | None = None,
    delta: Real | None = None,
    rho: Real | None = None,
    records: int = 1,
    partial: bool = False,
) -> Noise:
    """Return the noise for the whole matrix of a strategy: Laplace for epsilon alone, Gaussian otherwise.

    If not said, it is discrete where the strategy is whole; but for a delta, to which the continuous law is calibrated
    much faster. Counts may be clamped: see ``charged``.

    >>> from discreet.synthetic.operators import Identity
    >>> calibrated_noise(Identity(size=4), "replace_one", True, epsilon=1)
    Geometric(sensitivity=2, epsilon=1)
    """
    if (rho is None) == (epsilon is None) or (delta is not None and epsilon is None):
        raise InvalidParameter("give epsilon=, or epsilon= and delta=, or rho=: how much noise shall there be?")
    p = 1 if rho is None and delta is None else 2
    if discrete is None:
        discrete = strategy.denominator == 1 and delta is None
    power = charged(strategy, p, relation, partial=partial).power * (strategy.denominator * records) ** p
    if not power:
        raise InvalidParameter(
            f"nothing that this strategy measures changes between {relation} neighbours: it is public, without noise."
        )
    if epsilon is not None and delta is None:
        if discrete:
            return Geometric(sensitivity=int(power), epsilon=epsilon)
        return Laplace(sensitivity=power, epsilon=epsilon)
    norm = up(lambda: ball(power).sqrt())
    kind: type[DiscreteGaussian | Gaussian] = DiscreteGaussian if discrete else Gaussian
    if rho is not None:
        square = (squared_whole(norm) if discrete else Fraction(norm) ** 2) / (2 * positive(rho, "rho"))
        return kind(sensitivity=norm, sigma=up(lambda: ball(square).sqrt()))
    assert epsilon is not None  # noqa: S101 - one of both was given
    assert delta is not None  # noqa: S101
    return kind.for_budget(epsilon, delta, sensitivity=norm)


def noise_variance(noise: Noise) -> float:
    """Return the variance of noise, infinite beyond floats; rounding to a grid adds a twelfth of its square.

    >>> noise_variance(Laplace(sensitivity=1, epsilon=1, grid=1 / 4)) - 2
    0.005208333333333...
    >>> round(noise_variance(Geometric(sensitivity=1, epsilon=1)), 6)
    1.841347
    """
    if isinstance(noise, Geometric):
        scale = _float(noise.scale)
        if scale > WIDE:
            return 2 * scale * scale  # less a sixth
        return 1 / (2 * math.sinh(1 / scale / 2) ** 2) if scale * 700 > 1 else 0.0
    if isinstance(noise, DiscreteGaussian):
        sigma = _float(noise.sigma)
        if sigma > 3:
            return sigma * sigma
        law = lattice(sigma)
        return float(2 * np.sum(law * np.arange(len(law)) ** 2))
    grid = _float(Fraction(noise.grid) ** 2 / 12)
    deviation = noise.scale if isinstance(noise, Laplace) else noise.sigma
    return _float((2 if isinstance(noise, Laplace) else 1) * Fraction(deviation) ** 2) + grid


def _float(value: Real) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def norm_of(noise: Noise) -> int:
    """Return the norm in which noise counts: 1 for Laplace, 2 for Gaussian.

    >>> norm_of(Geometric(sensitivity=1, epsilon=1))
    1
    """
    return 1 if isinstance(noise, Geometric | Laplace) else 2


def _nonnegative(strategy: Operator, measured: Floats, start: Floats) -> Floats:
    """Return a histogram without negative cells near the measurements, by accelerated projected gradients."""
    step = 1.0 / _largest_eigenvalue(strategy)
    x = np.maximum(start, 0.0)
    ahead, weight = x, 1.0
    for _ in range(ROUNDS):
        slope = strategy.rmatvec(strategy.matvec(ahead) - measured)
        new = np.maximum(ahead - step * slope, 0.0)
        following = (1 + math.sqrt(1 + 4 * weight**2)) / 2
        ahead, x, weight = new + (weight - 1) / following * (new - x), new, following
    return x


def _largest_eigenvalue(strategy: Operator) -> float:
    """Return a bound on the largest eigenvalue of ``A.T A``: largest column sum times largest row sum."""
    return strategy.largest_column(1) * strategy.reach / strategy.denominator**2
