"""Private estimators with scikit-learn's interface; ``fit`` is one release, and ``loss_`` says what it cost."""

from discreet.errors import MissingExtra

try:
    import sklearn.base  # noqa: F401
except ImportError:
    raise MissingExtra("scikit-learn", "learn") from None

from discreet.learn.estimators.bayes import GaussianNB
from discreet.learn.estimators.centres import KMeans
from discreet.learn.estimators.components import PCA
from discreet.learn.estimators.cross_validation import Scores, cross_validate
from discreet.learn.estimators.linear import LinearSVC, LogisticRegression
from discreet.learn.estimators.private import Private
from discreet.learn.estimators.regression import LinearRegression, Ridge
from discreet.learn.estimators.scaler import StandardScaler
from discreet.learn.estimators.trees import DecisionTreeClassifier, RandomForestClassifier

__all__ = [
    "PCA",
    "DecisionTreeClassifier",
    "GaussianNB",
    "KMeans",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "Private",
    "RandomForestClassifier",
    "Ridge",
    "Scores",
    "StandardScaler",
    "cross_validate",
]
