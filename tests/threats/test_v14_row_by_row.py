"""A step that is taken to work record by record must do so.

Category codes that are numbered by first appearance look like a function of each value, but one record at the top of
the table renumbers all others. So do ranks, differences to the record before, and scaling by a maximum. Whoever
accounts for them as for a function of one record understates the sensitivity by the size of the data.

Defence: functions of the analyst are called with one record at a time and see nothing else, and what the library
does with records is the same for a whole as for its parts.
Source: OpenDP issue 2944.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import PrivacyLoss
from discreet.mechanisms import STAT, Records, parallel
from discreet.sensitivity import Count, Counts, Histogram, Sum

KEYS = ["red", "blond", "", "Red", None, 3]
rows = st.lists(st.sampled_from(KEYS), max_size=8)


@dataclass(frozen=True, kw_only=True)
class Echo:
    """Not private at all: it shows which records reached a part."""

    domain = Records(relation="add_remove")
    loss = PrivacyLoss.pure(1)

    def release(self, records):
        return list(records)


def parts(data):
    split = parallel({key: Echo() for key in KEYS[:4]}, by=lambda x: x, relation="add_remove").release(data)
    return [split[key] for key in KEYS[:4]]


def first_appearance(data):
    codes = {}
    return [[codes.setdefault(row, len(codes)) for row in data]]


def adds_up(step, a, b):
    """Tell whether a step does to two parts, put together, what it does to the whole."""
    whole, left, right = step(a + b), step(a), step(b)
    return all(w == x + y for w, x, y in zip(whole, left, right, strict=True))


STEPS = {
    "count": lambda data: [Count(where=lambda x: x == "red")(data)],
    "counts": lambda data: Counts(wheres=(lambda x: x is None, lambda x: x != "red"))(data).tolist(),
    "histogram": lambda data: Histogram(bins=("red", 3, None))(data).tolist(),
    "sum": lambda data: [Sum(bounds=(0, 2.5))([len(str(x)) for x in data])],
    "parallel": parts,
}


@pytest.mark.parametrize("name", STEPS)
@given(a=rows, b=rows)
def test_a_whole_is_the_sum_of_its_parts(name, a, b):
    assert adds_up(STEPS[name], a, b)


def test_the_check_catches_codes_by_first_appearance():
    assert not adds_up(first_appearance, ["blond"], ["red", "blond"])
    assert not adds_up(lambda data: [np.unique(data, return_inverse=True)[1].tolist()], ["red"], ["blond"])


@pytest.mark.parametrize("container", [list, tuple, iter, lambda data: np.array(data, dtype=object)])
def test_functions_see_one_record_at_a_time(container):
    seen = []

    def look(*arguments):
        seen.append(arguments)
        return 0

    for run in (
        Count(where=look),
        Histogram(bins=(1,), by=look),
        STAT(query=look, size=2, epsilon=1).release,
        parallel({1: Echo()}, by=look, relation="add_remove").release,
    ):
        seen.clear()
        run(container(["red", "blond"]))
        assert seen == [("red",), ("blond",)]
