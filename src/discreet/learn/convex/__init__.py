"""Private empirical risk minimisation for linear models, one method per file.

>>> from discreet.learn.convex import Logistic, ObjectivePerturbation, Rows
>>> fit = ObjectivePerturbation(rows=Rows(features=2, norm=1, intercept=1), loss_function=Logistic(), epsilon=1,
...                             delta=1e-5, relation="add_remove", strength=5)
>>> fit.release(([[0.6, 0.8], [0.0, -1.0]], [1, -1])).shape
(3,)
"""

from discreet.learn.convex.erm import ERM, L2, L1Ball
from discreet.learn.convex.frank_wolfe import FrankWolfe
from discreet.learn.convex.gradient_descent import GradientDescent
from discreet.learn.convex.losses import Huber, HuberHinge, Logistic, Loss
from discreet.learn.convex.model import Fit
from discreet.learn.convex.moments import Moments
from discreet.learn.convex.objective_perturbation import ObjectivePerturbation
from discreet.learn.convex.output_perturbation import OutputPerturbation
from discreet.learn.convex.rows import Rows
from discreet.learn.convex.softmax import Softmax

__all__ = [
    "ERM",
    "L2",
    "Fit",
    "FrankWolfe",
    "GradientDescent",
    "Huber",
    "HuberHinge",
    "L1Ball",
    "Logistic",
    "Loss",
    "Moments",
    "ObjectivePerturbation",
    "OutputPerturbation",
    "Rows",
    "Softmax",
]
