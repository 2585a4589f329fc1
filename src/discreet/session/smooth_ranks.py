"""Quantiles with noise that fits the data: by smooth sensitivity, and by propose-test-release.

A unit that is replaced in a table of one group changes that group alone, by one unit in the place of another, and the
bounds of ``discreet.sensitivity.smooth.weighted`` are taken for that. Where there are groups to choose from, it may
leave some and enter others, so each group is protected from one unit more or less, as the other ranks are.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.exact import ball, up
from discreet.mechanisms.smooth_interval import SmoothInterval
from discreet.mechanisms.smooth_quantile import SmoothQuantile
from discreet.mechanisms.tested_quantile import TestedQuantile
from discreet.session.columns import Ranked
from discreet.session.estimates import Estimates
from discreet.tables.measures import UNIT
from discreet.units import Relation

__all__ = ["Proposed", "Smooth", "over_groups"]

Histogram = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]

VALUE = Fraction(2, 3)
"""The part of epsilon that is for the value; the rest tells how large its noise was."""

SMOOTHNESS = 8
"""Noise is fitted to an eighth of its epsilon: a little larger than it could be, with a much narrower interval."""


def over_groups(groups: int, loss: PrivacyLoss, relation: Relation) -> PrivacyLoss:
    """Return the loss of a mechanism that runs on every group, from that of one group and one unit more or less."""
    total = groups * loss.under("add_remove")
    wide = total if relation == "add_remove" else total.group(2)
    return PrivacyLoss(wide.terms, relation, wide.grouped, wide.reduced)


@dataclass(frozen=True, slots=True)
class _Fitted:
    """What both have in common: quantiles, each of which has its part of epsilon, in groups of which each has its own.

    ``single`` says that there is one group by construction.
    """

    column: Ranked
    epsilon: Fraction
    groups: int
    rows: int
    relation: Relation
    level: float
    single: bool

    @property
    def _direct(self) -> bool:
        return self.single and self.relation == "replace_one"

    @property
    def _share(self) -> Fraction:
        """The epsilon of one quantile of one group."""
        times = len(self.column.options) * self.groups
        return self.epsilon / (times * (2 if self.relation == "replace_one" and not self._direct else 1))

    @property
    def _relation(self) -> Relation:
        return "replace_one" if self._direct else "add_remove"

    def _whole(self, one: PrivacyLoss) -> PrivacyLoss:
        """Return the loss of all quantiles, from that of one."""
        all_of_a_group = len(self.column.options) * one
        return all_of_a_group if self._direct else over_groups(self.groups, all_of_a_group, self.relation)

    def _estimates(self, found: list[tuple[int | None, int | None, int | None]]) -> Estimates:
        column = self.column
        value = tuple(None if step is None else column.value(step) for _, step, _ in found)
        ends = [(None, None) if low is None or high is None else column.ends(low, high) for low, _, high in found]
        return Estimates(
            value=value, low=tuple(low for low, _ in ends), high=tuple(high for _, high in ends), method=str(self)
        )


@dataclass(frozen=True, slots=True)
class Smooth(_Fitted):
    """Quantiles by smooth sensitivity, each between ends that tell privately how large its noise was."""

    def mechanism(self, probability: Fraction) -> SmoothInterval:
        """Return the mechanism of one quantile of one group, of which a unit has at most ``rows`` rows."""
        epsilon = self._share * VALUE
        quantile = SmoothQuantile(
            bounds=(self.column.grid.lowest, self.column.grid.highest),
            epsilon=epsilon,
            relation=self._relation,
            probability=probability,
            unit=UNIT * self.rows,
            beta=epsilon / SMOOTHNESS,
        )
        return SmoothInterval(quantile=quantile, epsilon=self._share - epsilon, level=Fraction(self.level))

    @property
    def loss(self) -> PrivacyLoss:
        """One value and one interval for each quantile of each group that a unit touches."""
        return self._whole(self.mechanism(self.column.options[0]).loss)

    def release(self, histograms: list[Histogram], /) -> dict[str, Estimates]:
        """Add noise in every group."""
        return {
            name: self._estimates(list(self.mechanism(probability).releases(histograms)))
            for name, probability in zip(self.column.names, self.column.options, strict=True)
        }

    def note(self) -> str:
        """Say that nothing can be promised."""
        return "depends on how close the data lie; the interval will tell"

    def __str__(self) -> str:
        return "smooth sensitivity"


@dataclass(frozen=True, slots=True)
class Proposed(_Fitted):
    """Quantiles by propose-test-release: where a group does not bear the bound there is no value."""

    delta: Fraction

    def mechanism(self, probability: Fraction) -> TestedQuantile:
        """Return the mechanism of one quantile of one group, of which a unit has at most ``rows`` rows."""
        return TestedQuantile(
            bounds=(self.column.grid.lowest, self.column.grid.highest),
            epsilon=self._share,
            delta=self._failure,
            relation=self._relation,
            probability=probability,
            unit=UNIT * self.rows,
        )

    @property
    def _failure(self) -> Fraction:
        """The delta of one quantile of one group, such that all of them stay within that of the column."""
        times = Fraction(len(self.column.options) * self.groups)
        if self.relation == "replace_one" and not self._direct:
            times *= Fraction(up(lambda: 1 + ball(self._share).exp()))
        return self.delta * (1 - Fraction(1, 2**40)) / times  # the delta of two units is rounded up

    @property
    def loss(self) -> PrivacyLoss:
        """Epsilon and delta for each quantile of each group that a unit touches."""
        return self._whole(self.mechanism(self.column.options[0]).loss)

    def release(self, histograms: list[Histogram], /) -> dict[str, Estimates]:
        """Test and release every group."""
        made = {}
        for name, probability in zip(self.column.names, self.column.options, strict=True):
            mechanism = self.mechanism(probability)
            off, (lowest, highest) = self._off(mechanism), mechanism.bounds
            made[name] = self._estimates(
                [
                    (None, None, None)
                    if value is None
                    else (max(lowest, value - off), value, min(highest, value + off))
                    for value in mechanism.releases(histograms)
                ]
            )
        return made

    def _off(self, mechanism: TestedQuantile) -> int:
        """Return how far a value may be off: by its noise, and by the bound if it is taken elsewhere between rows.

        Where the bound holds, a row more or less moves the quantile by no more, so the rows on both sides of the rank
        are no further apart.
        """
        return mechanism.error(1 - Fraction(self.level)) + mechanism.bound

    def note(self) -> str:
        """Say how far off a value will be, if there is one."""
        off = float(self._off(self.mechanism(self.column.options[0])) * self.column.grid.step)
        return f"within {_short(off)}, or no value"

    def __str__(self) -> str:
        return "propose-test-release"


def _short(value: float) -> str:
    return f"{math.ceil(value):,}" if value >= 100 else f"{value:.3g}"
