"""Without bounds there is no sensitivity, and the data must never be asked for them.

Some libraries answered a mean without bounds by taking the smallest and largest value of the data, with a
warning at most (diffprivlib's PrivacyLeakWarning: Holohan, Braghin, Mac Aonghusa and Levacher, Diffprivlib,
2019), or added no noise at all. The scale of the noise then gives away the extremes, and whoever is the
extreme moves the answer by more than it covers. Bounds come first, from public knowledge: Dwork, McSherry,
Nissim and Smith, TCC 2006.

Defence: a query without bounds cannot be built, and the error says what to write.
Source: Dwork, McSherry, Nissim and Smith, TCC 2006, for the bounds; OpenDP SmartNoise issue 317.
"""

from fractions import Fraction

import pytest

from discreet.errors import DiscreetError, UnboundedSensitivity
from discreet.sensitivity import Mean, Sum, Variance, brute_force

SALARIES = [30000, 40000, 50000]


class DataBoundMean:
    """A mean that reads its bounds from the data: what must not exist."""

    def __init__(self, bounds=None, size=3):
        self.bounds = bounds
        self.size = size

    def __call__(self, rows):
        return Fraction(sum(rows), self.size)

    def sensitivity(self, rows):
        return Fraction(max(rows) - min(rows), self.size)


def refuses(build):
    """Tell whether a query without bounds is refused when it is built, before it can see any data."""
    try:
        build()
    except UnboundedSensitivity:
        return True
    return False


BUILDERS = [
    lambda: Sum(),
    lambda: Sum(bounds=None),
    lambda: Sum(grid=1, center=True),
    lambda: Mean(size=3),
    lambda: Mean(bounds=None, size=3),
    lambda: Variance(size=3),
    lambda: Variance(bounds=None, size=3),
]


@pytest.mark.parametrize("build", BUILDERS)
def test_missing_bounds_are_refused_at_once(build):
    assert refuses(build)


def test_the_check_catches_bounds_from_data():
    assert not refuses(DataBoundMean)
    naive = DataBoundMean()
    assert brute_force(naive, [*SALARIES, 9000000], 3, "replace_one") > naive.sensitivity(SALARIES)


@pytest.mark.parametrize("build", BUILDERS)
def test_the_error_says_what_to_write(build):
    with pytest.raises(UnboundedSensitivity, match=r"has no bounds.*Write \w+\(bounds=\(0, 500000\)"):
        build()


@pytest.mark.parametrize("bounds", [(None, None), (0, None), (), ("min", "max"), "auto", True])
@pytest.mark.parametrize(
    "build", [lambda b: Sum(bounds=b), lambda b: Mean(bounds=b, size=3), lambda b: Variance(bounds=b, size=3)]
)
def test_half_bounds_are_refused(build, bounds):
    with pytest.raises(DiscreetError):
        build(bounds)


def test_bounds_never_follow_the_data():
    query = Mean(bounds=(0, 100000), size=3)
    before = query.sensitivity(relation="replace_one")
    assert query([30000, 40000, 9000000]) == Fraction(170000, 3)
    assert query.sensitivity(relation="replace_one") == before
