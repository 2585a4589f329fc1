"""What every private estimator does before it looks at data: check what was declared, and charge.

The interface is scikit-learn's: ``fit`` runs one release and learns attributes that end in an underscore, among them
``loss_``, what it cost. Nothing is taken from the data that was not declared or released: not the classes, not the
bounds, not the number of rows under add_remove. Rows that hold anything but finite numbers do not count.
"""

import math
import warnings
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from discreet.accounting import Account, Budget, PrivacyLoss
from discreet.accounting.large_delta import say_large_delta
from discreet.errors import BudgetExceeded, InvalidInput, InvalidParameter, NoTheorem, UnboundedSensitivity
from discreet.learn.convex.rows import as_numbers, single
from discreet.noise.fast import Floats
from discreet.quietly import quietly
from discreet.units.numeric import NUMBERS, check_numeric, declared_kinds

__all__ = ["Private", "declared"]

DEFAULT_SIZE = 1000


class Private(BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """The base of private estimators.

    ``budget`` is an ``Account``, from which each fit is spent and which all clones share, or a ``Budget``, of which
    each estimator that is not a clone of a fitted one opens an account of its own at its first fit. A fit that does not
    fit is refused before it looks.
    """

    budget: Account | Budget | None

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy; an account is shared, as two copies of it would spend the same budget twice."""
        given = self.get_params(deep=False)
        copies = {name: value if name == "budget" else deepcopy(value) for name, value in given.items()}
        made = type(self)(**copies)
        if "_account" in self.__dict__:
            made.__dict__["_account"] = self.__dict__["_account"]
        return made

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn is not typed
        """Noise is drawn anew at each fit, and no parameter could fix it."""
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags

    def charge(self, loss: PrivacyLoss, *others: PrivacyLoss) -> None:
        """Spend a loss, or refuse it; without a budget the caller keeps the books by ``loss_``.

        Of several losses, each proven of the same release, the one is spent of which the account has most left.
        """
        budget = self.budget
        say_large_delta(getattr(self, "delta", 0), getattr(self, "size", None), stacklevel=3)
        if budget is None:
            return
        if isinstance(budget, Budget):
            opened: Account = self.__dict__.setdefault("_account", budget.open())
            opened.spend(_cheapest(opened, (loss, *others)))
        elif isinstance(budget, Account):
            budget.spend(_cheapest(budget, (loss, *others)))
        else:
            raise InvalidParameter(f"budget must be a Budget or an Account, got {type(budget).__name__}.")

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if isinstance(self.budget, Account) or "_account" in state:
            raise TypeError("an estimator with an open account cannot be pickled: two would spend one budget twice.")
        return state

    def columns(self, table: Any, *, fitting: bool = True) -> int:  # noqa: ANN401 - whatever scikit-learn takes
        """Return how many columns a table has; its shape and names are public, and are checked here."""
        if hasattr(table, "toarray"):
            raise InvalidInput("a sparse table cannot be read here. Pass a dense one: X.toarray().")
        array = table if hasattr(table, "shape") else rows_of(table)
        if len(array.shape) != 2:
            raise InvalidInput(
                f"Expected 2D array, got an array of {len(array.shape)} dimensions. Reshape your data: "
                "X.reshape(-1, 1) if it has a single column."
            )
        if getattr(getattr(array, "dtype", None), "kind", "") == "c":
            raise InvalidInput("Complex data not supported: pass real numbers.")
        if not array.shape[1]:
            raise InvalidInput(f"0 feature(s) (shape=({array.shape[0]}, 0)) while a minimum of 1 is required.")
        validate_data(self, array, skip_check_array=True, reset=fitting)
        return int(array.shape[1])

    def given(self, table: Any) -> Floats:  # noqa: ANN401 - whatever scikit-learn takes
        """Return a table to predict for, which is nobody's training data: what is wrong with it is said."""
        check_is_fitted(self)
        checked: Floats = validate_data(self, table, reset=False, dtype=np.float64)
        return checked

    def public_size(self, table: Any, size: int | None, relation: str) -> int:  # noqa: ANN401
        """Return about how many records there are: as declared, or under replace_one, where it is public, as seen."""
        if size is not None:
            return size
        return max(1, len(table)) if relation == "replace_one" else DEFAULT_SIZE


def rows_of(table: Any) -> Any:  # noqa: ANN401 - whatever scikit-learn takes
    """Return a table as an array or a frame whose types hold numbers; a list is read row by row.

    >>> rows_of([[1, 2], [3, "a"], [4]]).tolist()
    [[1.0, 2.0], [3.0, nan], [nan, nan]]
    """
    check_numeric(table)
    if hasattr(table, "shape") and hasattr(table, "__len__"):
        return table
    return np.asarray(table) if hasattr(table, "__array__") else as_numbers(table)


def declared(value: Any, name: str, example: str) -> Any:  # noqa: ANN401 - any parameter
    """Return a parameter that must be declared, or say how."""
    if value is None:
        raise UnboundedSensitivity(f"{name} must be declared, as it may not be read from data. Write {example}.")
    return value


def coded(labels: Any, classes: npt.NDArray[Any], rows: int) -> Floats:  # noqa: ANN401
    """Return for each label its place among the declared classes, and -1 for one that is not among them.

    >>> coded(["a", "c", 1.5], np.array(["a", "b", "c"]), 3).tolist()
    [0.0, 2.0, -1.0]
    """
    if labels is None:
        raise InvalidInput("requires y to be passed, but the target y is None: one label for each row is needed.")
    if hasattr(labels, "__array__"):
        check_labels(labels, classes)
        array = np.asarray(labels)
        if array.ndim == 2 and array.shape[1] == 1:
            say_column()
            array = array[:, 0]
        values = array.tolist() if array.ndim == 1 else None
    else:
        values = [single(value) for value in labels]
    if values is None or len(values) != rows:
        raise InvalidInput("there must be one label for each row.")
    places = {_key(name): place for place, name in enumerate(classes.tolist())}
    return np.array([places.get(_key(value), -1) for value in values], dtype=np.float64)


def check_labels(labels: Any, classes: npt.NDArray[Any]) -> None:  # noqa: ANN401
    """Refuse labels whose declared type can hold none of the classes: no row would count.

    >>> check_labels(np.array(["0", "1"]), np.array([0, 1]))
    Traceback (most recent call last):
    discreet.errors.InvalidInput: the classes are numbers, and the labels are declared to be something else. Convert ...
    """
    kinds = {kind for _, kind in declared_kinds(labels)}
    texts = classes.dtype.kind in "US"
    if classes.dtype.kind in NUMBERS and not kinds <= {*NUMBERS, "O", "c"}:
        raise InvalidInput(
            "the classes are numbers, and the labels are declared to be something else. Convert one of them."
        )
    if texts and kinds & set(NUMBERS):
        raise InvalidInput("the classes are texts, and the labels are declared to be numbers. Convert one of them.")


def say_column() -> None:
    """Tell, as scikit-learn does, that a column stands where a vector was expected: a matter of shape alone."""
    warnings.warn("A column-vector y was passed when a 1d array was expected.", DataConversionWarning, stacklevel=4)


def _key(value: Any) -> Any:  # noqa: ANN401
    """Return a label as it is looked up: equal numbers are one label, and what cannot be looked up is none."""
    return quietly(lambda: (hash(value), value)[1] if value == value else None, otherwise=None)


def _cheapest(account: Account, losses: Sequence[PrivacyLoss]) -> PrivacyLoss:
    """Return the loss that takes the least part of an account's whole; it depends on its rule alone."""
    rule = account.rule

    def part(loss: PrivacyLoss) -> float:
        try:
            cost = account.cost(loss)
        except (BudgetExceeded, NoTheorem):
            return math.inf
        failing = cost.failure / rule.failures if rule.failures else math.inf if cost.failure else 0
        return float(max(cost.amount / rule.limit, failing))

    return min(losses, key=part) if len(losses) > 1 else losses[0]
