"""Private learning: linear models, classical estimators with scikit-learn's interface, and training on PyTorch.

Names are looked up when they are used: ``import discreet.learn`` loads neither scikit-learn nor torch.

>>> from discreet.learn import ERM, L2, Logistic, Rows
>>> erm = ERM(rows=Rows(features=3, norm=1), loss_function=Logistic(), regularizer=L2(5), relation="add_remove",
...           epsilon=1, delta=1e-5)
>>> erm.loss.epsilon(1e-5) <= 1
True
"""

from importlib import import_module
from typing import Any

PLACES = {
    "convex": ("ERM", "Huber", "HuberHinge", "L1Ball", "L2", "Logistic", "Moments", "Rows", "Softmax"),
    "estimators": (
        *("DecisionTreeClassifier", "GaussianNB", "KMeans", "LinearRegression", "LinearSVC", "LogisticRegression"),
        *("PCA", "RandomForestClassifier", "Ridge", "StandardScaler", "cross_validate"),
    ),
    "scattering": ("Scattering",),
    "sgd": ("Training", "private", "train"),
}
"""Which part holds which names."""

ROOMS = {name: part for part, names in PLACES.items() for name in names}

__all__ = sorted(ROOMS)  # noqa: PLE0605 - a test holds the list


def __getattr__(name: str) -> Any:  # noqa: ANN401  what is optional is imported when it is asked for
    if name in ROOMS:
        return getattr(import_module(f"discreet.learn.{ROOMS[name]}"), name)
    raise AttributeError(f"discreet.learn has no {name}")


def __dir__() -> list[str]:
    return list(__all__)
