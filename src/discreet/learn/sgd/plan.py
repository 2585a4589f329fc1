"""The plan of a private training: one frozen value that sampler, clipping, noise and accounting all read.

Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar and Zhang, "Deep Learning with Differential Privacy", CCS 2016. In each
step every record takes part by a coin of its own, its gradient is clipped to a norm, Gaussian noise is added to the
sum, and the sum is divided by the *expected* batch size: the true one is private. Nothing in a plan comes from data;
the number of records is what its owner declares in public, and stays the same when a person joins or leaves.
"""

import json
import math
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, Literal, Self, get_args

from discreet.accounting import PrivacyLoss, calibrate
from discreet.accounting.theorems.strategy import strategy_sensitivity
from discreet.errors import InvalidParameter, NoTheorem, UnknownKind
from discreet.exact import Real, finite, positive, probability
from discreet.learn.sgd.strategy import Strategy, coefficients

__all__ = ["Clipping", "Noise", "Sampling", "Training"]

Sampling = Literal["poisson", "passes"]
Clipping = Literal["flat", "per_layer", "adaptive"]
Noise = Literal["secure", "insecure_fast"]

ROUNDING = Fraction(1, 60)
"""Room for blocks of 256 rows in single precision; see ``discreet.learn.sgd.rounding``."""
VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """Clip the gradient of each record, add Gaussian noise to their sum, and step, ``steps`` times.

    Satisfies ``loss`` under add_remove whenever the training loss of a batch is a sum or a mean of one term for each
    record, and nothing but the noisy sums, the model and the optimizer made from them is released.

    ``noise_multiplier`` is the noise of a sum in units of ``clip``. What float arithmetic may add to the sensitivity is
    declared as ``rounding``, a share of ``clip`` by which the noise is enlarged; see ``discreet.learn.sgd.rounding``.

    - ``sampling="poisson"``: each record is in each batch with probability ``batch / records``.
    - ``sampling="passes"``: each record is in one batch of every pass, drawn uniformly; nothing is amplified.
    - ``strategy``: noise that is correlated over steps, for passes alone; see ``discreet.learn.sgd.strategy``.

    >>> plan = Training(records=60_000, batch=256, steps=14_062, noise_multiplier=1.1)
    >>> round(plan.loss.epsilon(delta=1e-5), 3)
    2.382
    """

    records: int
    batch: int
    steps: int
    noise_multiplier: float
    clip: float = 1.0
    sampling: Sampling = "poisson"
    clipping: Clipping = "flat"
    quantile: float = 0.5
    strategy: Strategy = "independent"
    bands: int = 16
    rounding: float = float(ROUNDING)
    noise: Noise = "secure"

    def __post_init__(self) -> None:
        for name in ("records", "batch", "steps", "bands"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise InvalidParameter(f"{name} must be a whole number of at least 1, got {value!r}.")
        for name in ("noise_multiplier", "clip", "rounding"):
            object.__setattr__(self, name, float(positive(getattr(self, name), name)))
        object.__setattr__(self, "quantile", float(probability(self.quantile, "quantile")))
        if self.batch > self.records:
            raise InvalidParameter(f"batch must be at most records, got {self.batch} of {self.records}.")
        for name, kinds in (
            ("sampling", Sampling),
            ("clipping", Clipping),
            ("strategy", Strategy),
            ("noise", Noise),
        ):
            if getattr(self, name) not in get_args(kinds):
                known = ", ".join(map(repr, get_args(kinds)))
                raise InvalidParameter(f"{name} must be one of {known}, got {getattr(self, name)!r}.")
        if self.strategy != "independent" and self.sampling != "passes":
            raise NoTheorem(
                "noise that is correlated over steps is accounted for where each record takes part once in a pass, not "
                "for Poisson samples. Write sampling='passes', or leave strategy='independent'."
            )
        if self.strategy != "independent" and self.clipping == "adaptive":
            raise NoTheorem("noise that is correlated over steps needs one clip for all of them, not an adaptive one.")

    @classmethod
    def calibrated(
        cls,
        *,
        records: int,
        epsilon: Real,
        delta: Real,
        epochs: Real | None = None,
        steps: int | None = None,
        batch: int | None = None,
        **options: Any,  # noqa: ANN401  the other fields of a plan
    ) -> Self:
        """Return the plan of least noise that is (epsilon, delta)-DP after ``epochs`` times the records, or ``steps``.

        >>> plan = Training.calibrated(records=60_000, epochs=15, epsilon=3, delta=1e-5, batch=256)
        >>> plan.steps, round(plan.noise_multiplier, 3), plan.loss.epsilon(1e-5) <= 3
        (3516, 0.728, True)
        """
        e, d = positive(epsilon, "epsilon"), probability(delta, "delta")
        size = usual_batch(records) if batch is None else batch
        if (epochs is None) == (steps is None):
            raise InvalidParameter("say how long to train: either epochs= or steps=.")
        if epochs is not None:
            steps = steps_for(records, size, epochs, options.get("sampling", "poisson"))
        start = cls(
            records=records,
            batch=size,
            steps=steps or 0,
            noise_multiplier=1e-3,
            **options,
        )
        found = calibrate(lambda z: replace(start, noise_multiplier=z).ideal_loss, e, d)
        return replace(start, noise_multiplier=found)

    @property
    def rate(self) -> Fraction:
        """The probability that a record is in a Poisson batch."""
        return Fraction(self.batch, self.records)

    @property
    def per_pass(self) -> int:
        """The number of steps in which about all records have had their turn."""
        return -(-self.records // self.batch)

    @property
    def epochs(self) -> float:
        """How often a record takes part, on average."""
        return float(self.steps * self.rate) if self.sampling == "poisson" else self.steps / self.per_pass

    @property
    def loss(self) -> PrivacyLoss:
        """What the whole training costs, known before any data is seen."""
        return self.loss_after(self.steps)

    def loss_after(self, steps: int) -> PrivacyLoss:
        """Return what the first steps cost; with insecure noise everything may be lost, at every epsilon."""
        found = self._ideal(steps)
        if self.noise != "secure" and steps:
            found = found + PrivacyLoss.approximate(0, 1)
        return found

    @property
    def ideal_loss(self) -> PrivacyLoss:
        """What the training would cost if its noise were drawn in secret from the law it names."""
        return self._ideal(self.steps)

    def _ideal(self, steps: int) -> PrivacyLoss:
        if type(steps) is not int or not 0 <= steps <= self.steps:
            raise InvalidParameter(f"this plan has {self.steps} steps, and was asked about {steps!r}.")
        z = Fraction(self.noise_multiplier)
        if not steps:
            return PrivacyLoss(relation="add_remove")
        if self.sampling == "poisson":
            return steps * PrivacyLoss.gaussian(mu=1 / z).sampled(self.rate)
        passes = -(-steps // self.per_pass)
        if self.strategy == "independent":
            return (passes * PrivacyLoss.gaussian(mu=1 / z)).under("add_remove")
        if self.strategy == "tree":
            return (passes * PrivacyLoss.tree(self.per_pass, z)).under("add_remove")
        law = coefficients(self.strategy, steps, self.bands)
        columns = [[0.0] * (k * self.per_pass) + list(law[: steps - k * self.per_pass]) for k in range(passes)]
        together = strategy_sensitivity([list(row) for row in zip(*columns, strict=True)], epoch=1)
        return PrivacyLoss.gaussian(mu_squared=(Fraction(together) / z) ** 2).under("add_remove")

    @property
    def count_sigma(self) -> float:
        """The noise of the count behind an adaptive clip, of which one record changes a half."""
        return max(self.batch / 20, self.noise_multiplier)

    @property
    def sum_multiplier(self) -> float:
        """The noise of the clipped sum in units of the clip: more than ``noise_multiplier`` if a count is released too.

        Both releases together are one Gaussian of ``noise_multiplier``, as their squared ratios add up to its own.
        """
        if self.clipping != "adaptive":
            return self.noise_multiplier
        left = 1 / Fraction(self.noise_multiplier) ** 2 - 1 / (2 * Fraction(self.count_sigma)) ** 2
        return math.nextafter(math.sqrt(1 / left) * (1 + 1e-12), math.inf)

    def to_json(self) -> str:
        """Return the plan as JSON; what was said of the data is its declared size alone."""
        return json.dumps({"record": "sgd-training", "version": VERSION, **asdict(self)})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what ``to_json`` wrote; anything else is refused.

        >>> plan = Training(records=1000, batch=10, steps=50, noise_multiplier=1)
        >>> Training.from_json(plan.to_json()) == plan
        True
        """
        try:
            read = json.loads(text)
            record, version = read.pop("record"), read.pop("version")
        except (ValueError, KeyError, AttributeError, TypeError):
            raise UnknownKind("this is no plan of a training; it was not read.") from None
        if record != "sgd-training" or version != VERSION or set(read) != set(cls.__slots__):
            raise UnknownKind("this plan of a training is not one that this version knows; it was not read.")
        return cls(**read)


def usual_batch(records: int) -> int:
    """Return a batch for so many records: the power of two about four times their root.

    >>> usual_batch(60_000)
    1024
    """
    if type(records) is not int or records < 1:
        raise InvalidParameter(f"records must be a whole number of at least 1, got {records!r}.")
    size: int = 2 ** round(math.log2(4 * math.sqrt(records)))
    return min(records, size)


def steps_for(records: int, batch: int, epochs: Real, sampling: str) -> int:
    """Return the steps in which every record takes part ``epochs`` times on average.

    >>> steps_for(60_000, 256, 15, "poisson"), steps_for(60_000, 256, 15, "passes")
    (3516, 3525)
    """
    times = finite(epochs, "epochs")
    if times <= 0:
        raise InvalidParameter("epochs must be above 0.")
    if sampling == "poisson":
        return max(1, math.ceil(times * records / batch))
    if times.denominator != 1:
        raise InvalidParameter("passes are whole: epochs must be a whole number with sampling='passes'.")
    return int(times) * -(-records // batch)
