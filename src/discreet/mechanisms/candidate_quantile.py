"""A quantile among candidates: the one to which fewest records would have to move, by permute-and-flip.

Where a few round numbers will do, a list of them is worth more than a fine grid: fewer wrong answers compete. The score
is that of the inverse sensitivity mechanism (Asi and Duchi, NeurIPS 2020), the choice that of McKenna and Sheldon,
"Permute-and-Flip: A New Mechanism for Differentially Private Selection", NeurIPS 2020, which is never worse than the
exponential mechanism.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, finite, positive, show
from discreet.exact import probability as a_probability
from discreet.mechanisms.faces import Faces
from discreet.mechanisms.interface import Records
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.scale import store
from discreet.sensitivity.smooth.sample import sample
from discreet.units import Relation, check_relation

__all__ = ["CandidateQuantile"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CandidateQuantile(Faces):
    """Release the candidate that comes nearest to having a share ``probability`` of the records below it.

    Let L records lie below a candidate and M not above it. Its score is minus the distance of the wanted rank from the
    interval between them: with one record replaced, each of L and M moves by at most 1, and under add_remove a record
    moves ``L - p n`` and ``M - p n`` by at most ``max(p, 1 - p)``. Satisfies ``epsilon``-DP under ``relation``. Under
    replace_one the wanted rank is the ``ceil(p n)``-th record itself, so that the candidate equal to it, and no other,
    scores 0. Records are clamped to the least and greatest candidate; missing ones count as the least.

    >>> hours = CandidateQuantile(candidates=range(0, 101), epsilon=0.5, relation="replace_one")
    >>> hours.release([40] * 300 + [20] * 100 + [60] * 90)
    40.0
    >>> round(hours.error(0.05), 1)             # ranks that may lie between the release and the quantile
    30.4
    """

    candidates: Sequence[Real]
    epsilon: Real
    relation: Relation
    probability: Real = Fraction(1, 2)

    def __post_init__(self) -> None:
        listed = tuple(sorted({float(finite(value, "each candidate")) for value in self.candidates}))
        if len(listed) < 2:
            raise InvalidParameter(f"candidates must be at least two different numbers, got {len(listed)}.")
        positive(self.epsilon, "epsilon")
        a_probability(self.probability, "probability")
        check_relation(self.relation)
        object.__setattr__(self, "candidates", listed)
        store(self, epsilon=self.epsilon, probability=self.probability)

    def __repr__(self) -> str:
        share = "" if Fraction(self.probability) == Fraction(1, 2) else f", probability={show(self.probability)}"
        listed = ", ".join(show(value) for value in self.candidates)
        return (
            f"CandidateQuantile(candidates=({listed}), epsilon={show(self.epsilon)}, relation={self.relation!r}{share})"
        )

    @property
    def domain(self) -> Records:
        """Numbers, clamped to the least and the greatest candidate."""
        return Records(relation=self.relation, bounds=(self.candidates[0], self.candidates[-1]))

    @property
    def loss(self) -> PrivacyLoss:
        """That of permute-and-flip."""
        return self.choice.loss.under(self.relation)

    @property
    def choice(self) -> PermuteAndFlip:
        """What chooses, given how far each score may move."""
        p = Fraction(self.probability)
        return PermuteAndFlip(epsilon=self.epsilon, sensitivity=1 if self.relation == "replace_one" else max(p, 1 - p))

    def release(self, records: Any, /) -> float:  # noqa: ANN401 - any numbers
        """Return one of the candidates."""
        return float(self.candidates[self.choice.release(self._scores(records))])

    def error(self, beta: Real = 0.05) -> float:
        """Return how many ranks the release may lie from the best candidate, with probability ``1 - beta``.

        The bound of the exponential mechanism, which holds here as well.
        """
        choice = self.choice
        rate = Fraction(self.epsilon) / (2 * Fraction(choice.sensitivity))
        return math.log(len(self.candidates) / float(a_probability(beta, "beta"))) / float(rate)

    def log_probability(self, records: Any, output: float, /) -> float:  # noqa: ANN401
        """Return the log of the probability of an output."""
        if output not in self.candidates:
            return -math.inf
        return self.choice.log_probability(self._scores(records), self.candidates.index(output))

    def worst_case(self) -> tuple[list[Real], list[Real]]:
        """Records at both ends, and one of them moved to the other or left out."""
        low, high = self.candidates[0], self.candidates[-1]
        return [low, low, high], ([low, high, high] if self.relation == "replace_one" else [low, high])

    def _scores(self, records: Any) -> npt.NDArray[np.generic] | list[Fraction]:  # noqa: ANN401
        ends = float(self.candidates[0]), float(self.candidates[-1])
        points = sample(records, ends)[1:-1]
        below, upto = (np.searchsorted(points, self.candidates, side=side) for side in ("left", "right"))  # type: ignore[call-overload]
        p, n = Fraction(self.probability), points.size
        if self.relation == "replace_one":
            rank = max(math.ceil(p * n), 1)
            scores: npt.NDArray[np.generic] = -np.maximum(0, np.maximum(below - rank + 1, rank - upto))
            return scores
        aim, whole = p.numerator * n, p.denominator
        off = np.maximum(0, np.maximum(whole * below - aim, aim - whole * upto))
        return [Fraction(-int(x), whole) for x in off]
