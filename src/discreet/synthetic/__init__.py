"""Many answers from one histogram: workloads, strategies and the matrix mechanism; consistency and streams.

>>> from discreet.synthetic import MatrixMechanism, Prefix, best_strategy
>>> work = Prefix(size=64)
>>> plan = MatrixMechanism(workload=work, strategy=best_strategy(work, epsilon=1, relation="add_remove"), epsilon=1,
...                        relation="add_remove")
>>> plan.loss.epsilon()
1.0
"""

from discreet.synthetic.comparison import Comparison, best_strategy, compare
from discreet.synthetic.consistency import Constraints
from discreet.synthetic.from_histogram import FromHistogram, Microdata
from discreet.synthetic.hierarchy import Cells, Hierarchy, Spine
from discreet.synthetic.matrix_mechanism import Answers, MatrixMechanism
from discreet.synthetic.operators import (
    AllRanges,
    Explicit,
    Identity,
    Kronecker,
    Marginals,
    Operator,
    Prefix,
    Total,
    Union,
)
from discreet.synthetic.strategies import (
    Haar,
    Hierarchical,
    NoisyMarginals,
    ResidualPlanner,
    SquareRoot,
    best_hierarchy,
    kronecker_identities,
    p_identity,
    weighted_marginals,
)
from discreet.synthetic.streaming import RunningTotal, Stream

__all__ = [
    "AllRanges",
    "Answers",
    "Cells",
    "Comparison",
    "Constraints",
    "Explicit",
    "FromHistogram",
    "Haar",
    "Hierarchical",
    "Hierarchy",
    "Identity",
    "Kronecker",
    "Marginals",
    "MatrixMechanism",
    "Microdata",
    "NoisyMarginals",
    "Operator",
    "Prefix",
    "ResidualPlanner",
    "RunningTotal",
    "Spine",
    "SquareRoot",
    "Stream",
    "Total",
    "Union",
    "best_hierarchy",
    "best_strategy",
    "compare",
    "kronecker_identities",
    "p_identity",
    "weighted_marginals",
]
