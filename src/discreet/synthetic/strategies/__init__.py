"""What to measure so that a workload is answered with least error.

Every strategy is an operator with a least squares solution, closed where that is known; which one is best is decided
by public information alone.

>>> from discreet.synthetic.operators import Prefix
>>> round(9 * 2 * total_variance(Prefix(size=4), Hierarchical(size=4, branching=2)), 4)
46.2857
"""

from discreet.synthetic.strategies.haar import Haar
from discreet.synthetic.strategies.hierarchical import Hierarchical, best_hierarchy
from discreet.synthetic.strategies.optimised import kronecker_identities, p_identity
from discreet.synthetic.strategies.residual_planner import NoisyMarginals, ResidualPlanner
from discreet.synthetic.strategies.square_root import SquareRoot
from discreet.synthetic.strategies.variances import answer_variances, table_variances, total_variance
from discreet.synthetic.strategies.weighted_marginals import weighted_marginals

__all__ = [
    "Haar",
    "Hierarchical",
    "NoisyMarginals",
    "ResidualPlanner",
    "SquareRoot",
    "answer_variances",
    "best_hierarchy",
    "kronecker_identities",
    "p_identity",
    "table_variances",
    "total_variance",
    "weighted_marginals",
]
