from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from discreet.errors import InvalidParameter
from discreet.mechanisms import Geometric, KnownBins, parallel
from discreet.sensitivity import Count, Histogram
from discreet.synthetic.hierarchy import Cells, Spine
from discreet.units.labels import check_labels

COUNTED = Geometric(sensitivity=1, epsilon=1).of(Count(), relation="add_remove")
MAKE = {
    "bins": lambda label: KnownBins(labels=("a", label), epsilon=1, relation="add_remove"),
    "bins of a query": lambda label: Histogram(bins=("a", label)),
    "attributes": lambda label: Cells(attributes={"x": ("a", label)}),
    "areas": lambda label: Spine(levels=("one", "two"), leaves=(("a", "b"), ("a", label))),
    "parts": lambda label: parallel({"a": COUNTED, label: COUNTED}, by=str, relation="add_remove"),
}


@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize(
    "label",
    [np.nan, np.float32("nan"), Decimal("NaN"), pd.NaT, pd.NA, ("b", np.nan), ("b", (1, np.nan)), frozenset({np.nan})],
    ids=repr,
)
def test_a_label_that_is_not_equal_to_itself_is_refused(make, label):
    with pytest.raises(InvalidParameter, match="equal to themselves"):
        MAKE[make](label)


@pytest.mark.parametrize("make", MAKE)
def test_others_are_not(make):
    for label in (None, 1.5, float("inf"), ("b", (1, None)), frozenset({1})):
        MAKE[make](label)
    check_labels([], "labels")
