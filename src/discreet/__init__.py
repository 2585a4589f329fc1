"""discreet: differential privacy that is exact, fast and honest about its error.

Three words carry the library: a *mechanism* says how an answer is made private, a *privacy loss* says at what cost, and
a *session*, which comes with tables, says on whose data.

>>> import discreet as dp
>>> count = dp.Geometric(sensitivity=1, epsilon=0.5)
>>> count.error(0.05)                                       # within +-6 in 19 of 20 releases
6
>>> year = 52 * count.loss + dp.Gaussian(sensitivity=1, sigma=20).loss
>>> year.epsilon(delta=1e-6) < 52 * 0.5                     # composition costs less than the sum
True
"""

from discreet._version import __version__
from discreet.accounting import Account, Budget, PrivacyLoss, calibrate, noise_multiplier, routes
from discreet.auditing import audit
from discreet.errors import (
    BudgetExceeded,
    DiscreetError,
    InvalidInput,
    InvalidParameter,
    MissingExtra,
    NoTheorem,
    NotPrivateWarning,
    RelationMismatch,
    UnboundedSensitivity,
    UnknownKind,
)
from discreet.mechanisms import (
    STAT,
    BoundedCount,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    Quantile,
    RandomizedResponse,
    RandomRecord,
    Warner,
    YesBiased,
    clamped,
    compose,
    crossover,
    group,
    parallel,
    repeat,
    then,
)
from discreet.units import Person, Row

__all__ = [
    "STAT",
    "Account",
    "BoundedCount",
    "Budget",
    "BudgetExceeded",
    "DiscreetError",
    "DiscreteGaussian",
    "Exponential",
    "Gaussian",
    "Geometric",
    "InvalidInput",
    "InvalidParameter",
    "Laplace",
    "MissingExtra",
    "NoTheorem",
    "NoisyMax",
    "NotPrivateWarning",
    "PermuteAndFlip",
    "Person",
    "PrivacyLoss",
    "Quantile",
    "RandomRecord",
    "RandomizedResponse",
    "RelationMismatch",
    "Row",
    "UnboundedSensitivity",
    "UnknownKind",
    "Warner",
    "YesBiased",
    "__version__",
    "audit",
    "calibrate",
    "clamped",
    "compose",
    "crossover",
    "group",
    "noise_multiplier",
    "parallel",
    "repeat",
    "routes",
    "then",
]
