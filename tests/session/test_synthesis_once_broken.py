"""Ways in which a synthetic copy once failed because of what it had found."""

import pyarrow as pa
import pytest
from synthesis_people import session

import discreet as dp


@pytest.mark.parametrize(
    ("values", "kept"),
    [(["a", "x\0y"], ("a",)), ([7, 2**53 + 1], (7,)), ([-(2**63), 7], (7,))],
    ids=["character 0", "large", "least"],
)
def test_found_values_that_no_engine_is_asked_for_are_missing_in_the_copy(values, kept):
    data = pa.table({"x": values * 100, "sex": ["f", "m"] * 100})
    with session(data, unit=dp.Row(), schema={"sex": dp.Values(["f", "m"])}) as opened:
        copy = opened.synthesize(epsilon=50, columns={"x": {"categories": 5}, "sex": None})
    assert copy.codings[0].values == kept
    assert abs(copy.rows()["x"].count(None) - 100) < 20
