"""The report: what it says, and that it says that it is not private."""

import numpy as np
import pytest

from discreet import InvalidParameter
from discreet.synthetic.independent import Independent
from discreet.utility import NOTE, compare

SIZES = (3, 3, 2)


def records(rows):
    rng = np.random.default_rng(7)
    first = rng.integers(0, 3, rows)
    return np.stack([first, first, (first > 1).astype(int)], axis=1)


def test_it_tells_all_syntheses_beside_each_other():
    real = records(800)
    product = Independent(sizes=SIZES, rho=100, relation="add_remove").release(real)
    report = compare(real, {"itself": real, "product": product}, SIZES, target=2)
    assert report.errors["itself"].worst == 0
    assert report.errors["product"].mean > 0.5
    assert report.associations["product"].worst > 0.9
    assert report.predictions["itself"].synthetic == 1
    assert report.predictions["product"].synthetic < 0.8
    assert report.note == NOTE
    lines = str(report).splitlines()
    assert len(lines) == 4
    assert lines[-1] == NOTE
    assert len({len(line) for line in lines[:3]}) == 1
    assert lines[0].split()[-3:] == ["real", "data", "majority"]


def test_html_is_escaped_and_says_the_note():
    report = compare(records(50), {"<b>&": records(20)}, SIZES, workload=[(0,)])
    page = report._repr_html_()
    assert "<b>&" not in page
    assert "&lt;b&gt;&amp;" in page
    assert NOTE in page
    assert "accuracy" not in page


def test_a_workload_may_be_given_once_for_all():
    report = compare(records(50), {"a": records(50), "b": records(50)}, SIZES, workload=iter([(0,), (1, 2)]))
    assert set(report.errors["a"].by_set) == set(report.errors["b"].by_set) == {(0,), (1, 2)}


def test_nothing_to_compare_is_refused():
    with pytest.raises(InvalidParameter):
        compare(records(5), {}, SIZES)
