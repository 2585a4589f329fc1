"""Two survey designs of the textbooks: Warner's, which is private, and the yes-biased one, which is not."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, probability, show, up
from discreet.mechanisms.estimate import Estimate, from_share
from discreet.mechanisms.faces import Faces, entrywise
from discreet.mechanisms.interface import Records
from discreet.mechanisms.randomized_response import Answers, read_answers
from discreet.mechanisms.scale import store
from discreet.noise import bernoulli

__all__ = ["Warner", "YesBiased"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Warner(Faces):
    """Answer the question with probability ``truth``, its negation otherwise (Warner, JASA 1965).

    Satisfies ``|log(truth / (1 - truth))|``-DP for every respondent; fair-coin randomised response (truth or a coin) is
    ``truth=3/4`` with epsilon log 3.

    >>> Warner(truth=0.75).loss.epsilon()
    1.0986122886681...
    """

    truth: Real

    def __post_init__(self) -> None:
        if probability(self.truth, "truth") == Fraction(1, 2):
            raise InvalidParameter("truth must differ from 1/2: such answers carry no information.")
        store(self, truth=self.truth)

    def __repr__(self) -> str:
        return f"Warner(truth={show(self.truth)})"

    @property
    def domain(self) -> Records:
        """One respondent's answer may be replaced by another."""
        return Records(relation="replace_one", bounds=(0, 1))

    @property
    def loss(self) -> PrivacyLoss:
        """Binary randomised response, its epsilon rounded up."""
        p = max(Fraction(self.truth), 1 - Fraction(self.truth))
        return PrivacyLoss.randomized_response(up(lambda: ball(p / (1 - p)).log())).under("replace_one")

    def release(self, answers: Answers, /) -> Answers:
        """Return randomised answers (0 no, 1 yes), one for each true one."""
        codes = read_answers(answers, 2)
        lies = ~np.asarray(bernoulli(self.truth, size=codes.size)).reshape(codes.shape)
        out = codes ^ lies
        return out if isinstance(answers, np.ndarray | list | tuple) else int(out)

    def estimate(self, answers: npt.ArrayLike, *, confidence: float = 0.95) -> Estimate:
        """Return the unbiased estimate of the share of true yes."""
        p = float(self.truth)
        return from_share(read_answers(answers, 2) == 1, p, 1 - p, confidence)

    draws = entrywise

    def log_probability(self, answer: int, output: int, /) -> float:
        """Return the log of the probability of an output."""
        return math.log(self.truth if answer == output else 1 - self.truth)

    def worst_case(self) -> tuple[int, int]:
        """Yes and no."""
        return 0, 1


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class YesBiased(Faces):
    """Say yes with probability ``forced``, else the truth: often taught, never private in the pure sense.

    A no proves a true no, so no finite epsilon holds. Satisfies exactly ``(0, 1 - forced)``-DP, and no smaller delta at
    any epsilon: with ``forced = 1/2`` that is (0, 1/2).

    >>> YesBiased().loss.epsilon(), YesBiased().loss.delta(100)
    (inf, 0.5)
    """

    forced: Real = Fraction(1, 2)

    def __post_init__(self) -> None:
        probability(self.forced, "forced")
        store(self, forced=self.forced)

    def __repr__(self) -> str:
        return f"YesBiased(forced={show(self.forced)})"

    @property
    def domain(self) -> Records:
        """One respondent's answer may be replaced by another."""
        return Records(relation="replace_one", bounds=(0, 1))

    @property
    def loss(self) -> PrivacyLoss:
        """All or nothing: a no gives the answer away."""
        return PrivacyLoss.approximate(0, 1 - Fraction(self.forced)).under("replace_one")

    def release(self, answers: Answers, /) -> Answers:
        """Return the answers (0 no, 1 yes), some of them turned into yes."""
        codes = read_answers(answers, 2)
        out = codes | np.asarray(bernoulli(self.forced, size=codes.size)).reshape(codes.shape)
        return out if isinstance(answers, np.ndarray | list | tuple) else int(out)

    def estimate(self, answers: npt.ArrayLike, *, confidence: float = 0.95) -> Estimate:
        """Return the unbiased estimate of the share of true yes."""
        return from_share(read_answers(answers, 2) == 1, 1.0, float(self.forced), confidence)

    draws = entrywise

    def log_probability(self, answer: int, output: int, /) -> float:
        """Return the log of the probability of an output; minus infinity for the impossible no."""
        if answer == 1:
            return 0.0 if output == 1 else -math.inf
        return math.log(self.forced if output == 1 else 1 - self.forced)

    def worst_case(self) -> tuple[int, int]:
        """No and yes."""
        return 0, 1
