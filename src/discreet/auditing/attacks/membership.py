"""Published means of many attributes tell who is in the data.

Homer et al., PLoS Genetics 2008: allele frequencies of a study, published because they are averages of many people,
show whether a given person took part. Each of many attributes says a little, and the attacker adds. Dwork, Smith,
Steinke, Ullman and Vadhan, "Robust Traceability from Trace Amounts", FOCS 2015, prove that this inner product works
against every release that is too accurate; here it meets one that is not.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.auditing.attacks.outcome import Outcome
from discreet.auditing.attacks.rates import GRID, Roc, most_power, roc_of, roc_picture
from discreet.errors import InvalidParameter
from discreet.exact import Real, ball, up
from discreet.mechanisms import Gaussian

__all__ = ["Tracing", "trace_means", "trace_scores"]

Floats = npt.NDArray[np.float64]


def trace_scores(records: Floats, means: Floats, reference: Floats) -> Floats:
    """Return how much each record leans to the side of the published means, seen from a public reference.

    This is the inner product ``<record - reference, means - reference>`` of Dwork et al. 2015.

    >>> trace_scores(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.7, 0.4]), np.array([0.5, 0.5])).round(3).tolist()
    [0.15, -0.15]
    """
    found: Floats = ((records - reference) * (means - reference)).sum(axis=-1)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracing(Outcome):
    """How well membership is told from exact means and from means with Gaussian noise, and what privacy allows.

    ``bound`` is the curve of this noise; ``weaker_bound`` what (epsilon, delta) alone says. ``noise`` is its standard
    deviation in each mean, to be compared with ``sampling_error``, the one that the means have anyway.
    """

    people: int
    attributes: int
    epsilon: float
    delta: float
    noise: float
    sampling_error: float
    exact: Roc
    protected: Roc
    bound: tuple[float, ...]
    weaker_bound: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """What the attack found."""
        return (
            f"From the exact means of {self.attributes:,} attributes of {self.people} people, {self.exact.at(0.01)} of "
            "the members are found while 1% of the others are accused."
        )

    @property
    def protection(self) -> str:
        """What is left of it with noise."""
        return (
            f"With Gaussian noise for epsilon {self.epsilon:g} and delta {self.delta:g} it is "
            f"{self.protected.at(0.01)}; no test can find more than {self.bound[GRID.index(0.01)]:.1%}. The noise is "
            f"{self.noise / self.sampling_error:.2g} times the sampling error that the means have anyway."
        )

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw members found against others accused."""
        return roc_picture(
            [("exact means", self.exact), ("discreet", self.protected)],
            (f"bound, epsilon {self.epsilon:g}", self.bound),
            title="Who is in the data? Ask the means",
            subtitle=f"{self.attributes:,} attributes of {self.people} people; {self.exact.members:,} tests each",
            strong="discreet",
        )


def trace_means(
    people: int = 100,
    attributes: int = 1000,
    *,
    epsilon: Real = 1,
    delta: Real = 1e-5,
    trials: int = 4000,
    generator: np.random.Generator | None = None,
) -> Tracing:
    """Publish the means of yes-or-no attributes, and test people against them.

    In each trial the others are drawn afresh and one person either takes part or is replaced by somebody else, which is
    what replace_one neighbours are; so trials are independent and the confidence intervals hold. The attacker knows the
    frequencies in the population, which makes the test as strong as Homer's reference sample would at best. The noise
    is Gaussian for an L2 sensitivity of ``sqrt(attributes) / people``.

    >>> found = trace_means(50, 400, trials=200, generator=np.random.default_rng(1))
    >>> found.exact.at(0.1).value > 0.75 > 0.4 > found.protected.at(0.1).value
    True
    """
    if people < 2 or attributes < 1 or trials < 10:
        raise InvalidParameter("tracing needs at least 2 people, 1 attribute and 10 trials.")
    chance = np.random.default_rng() if generator is None else generator
    size = up(lambda: ball(attributes).sqrt() / people)
    mechanism = Gaussian.for_budget(epsilon, delta, sensitivity=size)
    reference = chance.uniform(0.05, 0.95, attributes)
    scores: dict[str, list[Floats]] = {"exact": [], "noisy": []}
    for inside in (True, False):
        others = chance.binomial(people - 1, reference, (trials, attributes))
        person = (chance.random((trials, attributes)) < reference).astype(np.float64)
        present = person if inside else (chance.random((trials, attributes)) < reference).astype(np.float64)
        means = (others + present) / people
        scores["exact"].append(trace_scores(person, means, reference))
        scores["noisy"].append(trace_scores(person, mechanism.release(means), reference))
    loss = mechanism.loss
    return Tracing(
        people=people,
        attributes=attributes,
        epsilon=float(epsilon),
        delta=float(delta),
        noise=float(mechanism.sigma),
        sampling_error=math.sqrt(float((reference * (1 - reference)).mean()) / people),
        exact=roc_of(*scores["exact"]),
        protected=roc_of(*scores["noisy"]),
        bound=most_power(loss),
        weaker_bound=most_power(type(loss).approximate(epsilon, delta)),
    )
