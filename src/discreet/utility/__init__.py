"""How good synthetic records are, judged by the real ones. NOT private: for the curator's eyes alone.

Everything here reads the real records without any noise. What it says must not be published, and must not decide what
is published: choosing among syntheses by it would tell of the records without being charged. Every result says so in
its ``note``.

>>> from discreet.utility import compare
>>> real = [[0, 0], [1, 1]] * 50
>>> report = compare(real, {"half": [[0, 0], [1, 1]] * 10, "mixed": [[0, 1], [1, 0]] * 10}, sizes=(2, 2))
>>> report.errors["half"].mean, report.errors["mixed"].mean
(0.0, 2.0)
"""

from discreet.utility.association import Associations, associations, cramers_v
from discreet.utility.classifiers import LogisticRegression, NaiveBayes
from discreet.utility.comparing import UtilityReport, compare
from discreet.utility.prediction import Prediction, predict
from discreet.utility.tables import NOTE
from discreet.utility.workload_error import WorkloadError, workload_error

__all__ = [
    "NOTE",
    "Associations",
    "LogisticRegression",
    "NaiveBayes",
    "Prediction",
    "UtilityReport",
    "WorkloadError",
    "associations",
    "compare",
    "cramers_v",
    "predict",
    "workload_error",
]
