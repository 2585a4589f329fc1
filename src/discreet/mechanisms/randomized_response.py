"""Randomised response: privacy before the data is collected.

Warner, JASA 1965, for the idea; Kairouz, Oh and Viswanath, NeurIPS 2014, for its optimality. The coin's probability is
irrational and tossed exactly all the same.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from flint import arb

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidInput, InvalidParameter
from discreet.exact import Real, ball, positive, show
from discreet.mechanisms.estimate import Estimate, from_share
from discreet.mechanisms.faces import Faces, entrywise
from discreet.mechanisms.interface import Records
from discreet.mechanisms.scale import store
from discreet.noise import uniform_below
from discreet.noise.coins import coins_of
from discreet.sensitivity.reals import array_of

__all__ = ["Answers", "RandomizedResponse", "read_answers"]

Answers = int | npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RandomizedResponse(Faces):
    """Each respondent tells the truth with probability ``e^epsilon / (e^epsilon + k - 1)``, else another answer.

    Satisfies ``epsilon``-DP for every respondent, who may change the answer at will. Answers are coded 0, ..., k - 1.

    >>> survey = RandomizedResponse(epsilon=1)
    >>> answers = survey.release(np.repeat([0, 1], [700, 300]))
    >>> survey.estimate(answers, answer=1).standard_error
    0.03...
    """

    epsilon: Real
    categories: int = 2

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")
        store(self, epsilon=self.epsilon)
        if type(self.categories) is not int or not 2 <= self.categories < 2**63:
            raise InvalidParameter(f"categories must be a whole number from 2 to 2^63 - 1, got {self.categories!r}.")

    def __repr__(self) -> str:
        return f"RandomizedResponse(epsilon={show(self.epsilon)}, categories={self.categories})"

    @property
    def domain(self) -> Records:
        """One respondent's answer may be replaced by another."""
        return Records(relation="replace_one", bounds=(0, self.categories - 1))

    @property
    def loss(self) -> PrivacyLoss:
        """That of randomised response itself."""
        return PrivacyLoss.randomized_response(self.epsilon, self.categories).under("replace_one")

    @property
    def truth(self) -> float:
        """The probability of a true answer."""
        return 1 / (1 + (self.categories - 1) * math.exp(-float(self.epsilon)))

    @property
    def other(self) -> float:
        """The probability of each untrue answer."""
        return 1 / (math.exp(min(float(self.epsilon), 700.0)) + self.categories - 1)

    def release(self, answers: Answers, /) -> Answers:
        """Return randomised answers, one for each true one."""
        codes = read_answers(answers, self.categories)
        truthful = coins_of(self._truth, codes.size).reshape(codes.shape)
        drawn = np.asarray(uniform_below(self.categories - 1, size=codes.size), dtype=np.int64).reshape(codes.shape)
        others = drawn + (drawn >= codes)
        out = np.where(truthful, codes, others)
        return out if isinstance(answers, np.ndarray | list | tuple) else int(out)

    def estimate(self, answers: npt.ArrayLike, *, answer: int = 1, confidence: float = 0.95) -> Estimate:
        """Return the unbiased estimate of the share of respondents whose true answer is ``answer``."""
        codes = read_answers(answers, self.categories)
        return from_share(codes == answer, self.truth, self.other, confidence)

    draws = entrywise

    def log_probability(self, answer: int, output: int, /) -> float:
        """Return the log of the probability of an output."""
        return math.log(self.truth if answer == output else self.other)

    def worst_case(self) -> tuple[int, int]:
        """Any two different answers."""
        return 0, 1

    def _truth(self) -> arb:
        return 1 / (1 + (self.categories - 1) * (-ball(self.epsilon)).exp())


def read_answers(answers: npt.ArrayLike, categories: int) -> npt.NDArray[np.int64]:
    """Return answer codes, refusing anything that is not one."""
    try:
        codes = array_of(answers)
    except ValueError:
        raise InvalidInput("answers must be one whole number, or an array of them with rows of equal length.") from None
    if codes.dtype.kind == "b":
        codes = codes.astype(np.int64)
    if codes.size and (codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= categories):
        raise InvalidInput(f"answers must be whole numbers from 0 to {categories - 1}.")
    return codes.astype(np.int64)
