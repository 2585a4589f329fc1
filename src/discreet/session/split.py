"""How the epsilon of a query is shared among what it measures.

Every column of the answer has the same share unless one says otherwise, and so has the selection of private groups. A
column spreads its share evenly over the measures it needs; a measure that several columns need has a part of each.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.accounting.filters import Zcdp
from discreet.errors import InvalidParameter
from discreet.exact import positive
from discreet.session.columns import Column, Ranked
from discreet.session.noise import Noise, Reach

if TYPE_CHECKING:
    from discreet.session.plan import Settings

__all__ = ["Split"]


class Split:
    """Shares that sum to 1: of each measure, of each column that is chosen from a histogram, and of the keys."""

    def __init__(
        self,
        columns: Sequence[Column | Ranked],
        known: Mapping[str, int],
        *,
        keys_private: bool,
        chosen: Mapping[str, float],
    ) -> None:
        names = [column.name for column in columns] + (["keys"] if keys_private else [])
        if unknown := [name for name in chosen if name not in names]:
            raise InvalidParameter(f"split names {', '.join(unknown)}; this query has {', '.join(names)}.")
        weights = {name: positive(chosen.get(name, 1), f"the share of {name}") for name in names}
        measures: dict[str, Fraction] = {}
        ranks: dict[str, Fraction] = {}
        keys = weights.get("keys", Fraction(0)) if keys_private else Fraction(0)
        for column in columns:
            weight = weights[column.name]
            if isinstance(column, Ranked):
                ranks[column.name] = weight
                continue
            inputs = [name for name in column.inputs if name not in known]
            for name in inputs:
                measures[name] = measures.get(name, Fraction(0)) + weight / len(inputs)
        total = sum(measures.values(), Fraction(0)) + sum(ranks.values(), Fraction(0)) + keys
        self.measures = {name: weight / total for name, weight in measures.items()}
        self.ranks = {name: weight / total for name, weight in ranks.items()}
        self.keys = keys / total if total else Fraction(0)
        self.shown = {name: float(weights[name] / sum(weights.values())) for name in names}

    def additive(self, reaches: Mapping[str, Reach], epsilon: Fraction, settings: "Settings") -> dict[str, Noise]:
        """Return the noise of every count and sum.

        A budget of rho has Gaussian noise, which at equal rho errs less than Laplace noise. A budget of epsilons has
        whichever errs less at the level.
        """
        laplace = {name: Noise.laplace(reach, epsilon * self.measures[name]) for name, reach in reaches.items()}
        if settings.noise == "laplace" or not reaches or (settings.noise == "auto" and not settings.delta):
            return laplace
        if not settings.delta:
            raise InvalidParameter("Gaussian noise needs a delta: open the session with dp.Budget(epsilon, delta).")
        share = sum(self.measures.values(), Fraction(0))
        rho = Zcdp.reaching(epsilon * share, settings.delta).limit
        gaussian = {name: Noise.gaussian(reach, rho * self.measures[name] / share) for name, reach in reaches.items()}
        if settings.noise == "gaussian" or settings.adds_rho:
            return gaussian
        beta = 1 - settings.level
        better = sum(gaussian[name].error(beta) < laplace[name].error(beta) for name in reaches)
        return gaussian if 2 * better > len(reaches) else laplace
