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

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet._version import __version__
from discreet.accounting import Account, Budget, PrivacyLoss, calibrate, noise_multiplier, routes
from discreet.auditing.audit import audit
from discreet.errors import (
    BudgetExceeded,
    DiscreetError,
    InvalidInput,
    InvalidParameter,
    LargeDeltaWarning,
    LedgerError,
    MissingExtra,
    NotDurableWarning,
    NoTheorem,
    NotPrivateWarning,
    RelationMismatch,
    ReleaseFailed,
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
from discreet.session import Answer, Forecast, Request, Session, Table
from discreet.session.synthesis.door import synthesize
from discreet.tables import (
    Bounds,
    Column,
    Query,
    Schema,
    Values,
    col,
    correlation,
    count,
    count_distinct,
    covariance,
    lit,
    max,
    mean,
    median,
    min,
    quantile,
    quantiles,
    stddev,
    sum,
    top_k,
    variance,
    when,
)
from discreet.units import Person, Row

if TYPE_CHECKING:
    from discreet.ledger import Ledger

__all__ = [
    "STAT",
    "Account",
    "Answer",
    "BoundedCount",
    "Bounds",
    "Budget",
    "BudgetExceeded",
    "Column",
    "DiscreetError",
    "DiscreteGaussian",
    "Exponential",
    "Forecast",
    "Gaussian",
    "Geometric",
    "InvalidInput",
    "InvalidParameter",
    "Laplace",
    "LargeDeltaWarning",
    "Ledger",
    "LedgerError",
    "MissingExtra",
    "NoTheorem",
    "NoisyMax",
    "NotDurableWarning",
    "NotPrivateWarning",
    "PermuteAndFlip",
    "Person",
    "PrivacyLoss",
    "Quantile",
    "Query",
    "RandomRecord",
    "RandomizedResponse",
    "RelationMismatch",
    "ReleaseFailed",
    "Request",
    "Row",
    "Schema",
    "Session",
    "Table",
    "UnboundedSensitivity",
    "UnknownKind",
    "Values",
    "Warner",
    "YesBiased",
    "__version__",
    "audit",
    "calibrate",
    "clamped",
    "col",
    "compose",
    "correlation",
    "count",
    "count_distinct",
    "covariance",
    "crossover",
    "group",
    "lit",
    "max",
    "mean",
    "median",
    "min",
    "noise_multiplier",
    "parallel",
    "quantile",
    "quantiles",
    "repeat",
    "routes",
    "stddev",
    "sum",
    "synthesize",
    "then",
    "top_k",
    "variance",
    "when",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  a ledger's database is optional, and slow to import
    if name == "Ledger":
        return import_module("discreet.ledger").Ledger
    if name == "learn":
        return import_module("discreet.learn")
    raise AttributeError(f"discreet has no {name}")
