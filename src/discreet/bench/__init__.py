"""Which algorithm is best for a histogram: shapes, scales and domains apart, one measure of error, checks of principle.

>>> from discreet.bench import algorithms, generated, run
>>> found = run(algorithms(["identity"]), [generated("zipf", (128,))], scales=[1000, 100_000], trials=2)
>>> found.best(found.settings[0]).algorithm
'identity'
"""

from discreet.bench.algorithms import ALGORITHMS, Algorithm, algorithms
from discreet.bench.checks import Consistency, Exchangeability, check_consistency, check_exchangeability
from discreet.bench.measured import Measured, Setting, scaled_error
from discreet.bench.ranges import Ranges
from discreet.bench.result import Result
from discreet.bench.run import run
from discreet.bench.shapes import generated, generated_names
from discreet.bench.source import Source, read_sources
from discreet.bench.workloads import WORKLOADS, workload

__all__ = [
    "ALGORITHMS",
    "WORKLOADS",
    "Algorithm",
    "Consistency",
    "Exchangeability",
    "Measured",
    "Ranges",
    "Result",
    "Setting",
    "Source",
    "algorithms",
    "check_consistency",
    "check_exchangeability",
    "generated",
    "generated_names",
    "read_sources",
    "run",
    "scaled_error",
    "workload",
]
