"""Records of classes that raise, warn or end the program, wherever they are looked at: nobody hears of them."""

import subprocess
import sys
import warnings
from fractions import Fraction

import pytest

from discreet.mechanisms import STAT, Geometric, InverseSensitivity, KnownBins, Mode, StabilityHistogram, parallel
from discreet.mechanisms.candidate_quantile import CandidateQuantile
from discreet.sensitivity import Count, Histogram
from discreet.sensitivity.graphs import Triangles
from discreet.sensitivity.smooth import (
    Constant,
    Lipschitz,
    Median,
    PopulationVariance,
    TheilSen,
    TrimmedMean,
    WeightedQuantile,
)
from discreet.synthetic.hierarchy import Cells, Hierarchy, Spine

SECRET = "a value"


def fails(kind):
    def method(*_):
        warnings.warn(SECRET, stacklevel=1)
        raise kind(SECRET)

    return method


def hostile(kind):
    """Return a value of each class that fails in one place, by an exception of a kind."""
    meta = type("Meta", (type,), {"__hash__": fails(kind), "__eq__": fails(kind)})
    odd = Fraction(1, 2)
    odd._numerator = type("Number", (), {"__int__": fails(kind)})()
    return {
        "hash": type("Hash", (), {"__hash__": fails(kind)})(),
        "equality": type("Equality", (), {"__hash__": lambda _: hash("a"), "__eq__": fails(kind)})(),
        "class": type("Class", (), {"__class__": property(fails(kind))})(),
        "metaclass": meta("OfMeta", (), {})(),
        "float": type("Float", (float,), {"__float__": fails(kind)})(2),
        "integer": type("Integer", (int,), {"numerator": property(fails(kind)), "__hash__": fails(kind)})(2),
        "fraction": odd,
        "list": type("List", (list,), {"__iter__": fails(kind), "__len__": fails(kind)})([1]),
        "tuple": type("Tuple", (tuple,), {"__iter__": fails(kind), "__hash__": fails(kind)})((1, 2)),
        "set": type("Set", (frozenset,), {"__iter__": fails(kind), "__hash__": fails(kind)})([1]),
    }


def mean(records):
    return Fraction(sum(map(Fraction, records)), max(len(records), 1))


mean.sensitivity = lambda p=1, *, relation: 1
ADD, REPLACE = {"relation": "add_remove"}, {"relation": "replace_one"}
CELLS = Cells(attributes={"s": (0, 1)})
AREAS = Hierarchy(spine=Spine(levels=("a",), leaves=(("x",),)), cells=CELLS, queries={"t": ("s",)}, rho=1, **ADD)
COUNTED = Geometric(sensitivity=1, epsilon=1).of(Count(), relation="add_remove")
READERS = {
    "known bins": lambda one: KnownBins(labels=(1, 2, "a"), epsilon=1, **ADD).counts([1, one, "a"]).sum() >= 2,
    "several bins": lambda one: KnownBins(labels=(1, "a"), epsilon=1, bins=2, **ADD).counts([[1, one], one])[0] >= 1,
    "stability histogram": lambda one: StabilityHistogram(epsilon=1, delta=0.1, bins=2, **ADD).release([1, one, [one]]),
    "mode": lambda one: Mode(epsilon=1, delta=1e-6, **ADD).release([1, one]),
    "inverse sensitivity": lambda one: InverseSensitivity(bounds=(0, 9), epsilon=1).release([1.5, one]),
    "candidates": lambda one: CandidateQuantile(candidates=(1, 2), epsilon=1, **ADD).release([1, one]),
    "median": lambda one: Median(bounds=(0, 9)).at([1, one]).local(),
    "trimmed mean": lambda one: TrimmedMean(trim=0, bounds=(0, 9)).at([1, one]).local(),
    "variance": lambda one: PopulationVariance(bounds=(0, 9)).at([1, one]).local(),
    "slope": lambda one: TheilSen(bounds=(0, 9)).at([(1, 2), (one, 3), one]).local(),
    "weighted quantile": lambda one: WeightedQuantile(bounds=(0, 9), **ADD).at(([1, one], [one, 1])).local(),
    "triangles": lambda one: Triangles(vertices=4).at([(0, 1), (one, 2), one]).local(),
    "constant": lambda one: Constant(query=mean, relation="replace_one", range=(0, 1)).at([1, one]).local(),
    "areas": lambda one: AREAS.measure({"a": ["x", one, "x"], "s": [one, 0, 1]}),
    "query": lambda one: STAT(query=lambda x: x + 0.5, size=2, epsilon=1).release([0.5, one]),
    "count": lambda one: Count(where=lambda x: x + 0 == 1)([1, one]) >= 1,
    "bins of a query": lambda one: Histogram(bins=(1, "a"))([1, one, "a"]).sum() >= 2,
    "parts": lambda one: parallel({"a": COUNTED}, by=lambda x: x, relation="add_remove").release(["a", one]),
}  # fmt: skip


@pytest.mark.parametrize("kind", [RuntimeError, SystemExit, GeneratorExit])
@pytest.mark.parametrize("place", hostile(RuntimeError))
@pytest.mark.parametrize("reader", READERS)
def test_nothing_is_heard_of_a_record(reader, place, kind):
    record = hostile(kind)[place]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert READERS[reader](record) is not False
    assert not [warning for warning in told if str(warning.message) == SECRET]


def test_a_person_may_interrupt():
    record = hostile(KeyboardInterrupt)["hash"]
    for reader in ("known bins", "areas", "bins of a query"):
        with pytest.raises(KeyboardInterrupt):
            READERS[reader](record)


def test_bytes_beside_texts_are_no_error():
    """Python can be told to take their comparison for one."""
    code = """
import numpy as np
from discreet.mechanisms import KnownBins
from discreet.synthetic.hierarchy.spine import codes_of
bins = KnownBins(labels=("a", "b"), epsilon=1, relation="add_remove")
print(bins.counts(["a", b"a", b"c"]), bins.counts(np.array([b"a", b"b"])), codes_of([b"a"], ("a", "b")))
"""
    found = subprocess.run([sys.executable, "-bb", "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[1 0] [0 0] [-1]"


def test_a_map_that_fails_gives_the_least_of_its_range():
    steps = Lipschitz(function=Median(bounds=(0, 10)), map=lambda m: 1 / (m - 5), constant=1, range=(2, 5))
    assert steps.at([5, 5, 5]).value == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in (ValueError, SystemExit):
            assert (
                Lipschitz(function=Median(bounds=(0, 10)), map=fails(kind), constant=1, range=(2, 5)).at([1]).value == 2
            )
    with pytest.raises(KeyboardInterrupt):
        Lipschitz(function=Median(bounds=(0, 10)), map=fails(KeyboardInterrupt), constant=1, range=(2, 5)).at([1])


def test_one_record_among_many_plain_ones_leaves_the_others_as_they_are():
    """Whatever it is, it counts as the lower bound, and the others as without it."""
    for record in hostile(RuntimeError).values():
        assert Median(bounds=(0, 9)).at([5, 6, record]).value == Median(bounds=(0, 9)).at([5, 6, 0]).value
