"""The arrays of DPBench: what its authors found on planes is found here."""

import os
import warnings
from pathlib import Path

import pytest

from discreet.bench import algorithms, read_sources, run
from discreet.errors import NotPrivateWarning
from discreet.testing import seeded

SCALES = {"ADULTFRANK": 17_665, "HEPTH": 347_414, "INCOME": 20_787_122, "MEDCOST": 9_415, "NETTRACE": 25_714,
          "PATENT": 27_948_226, "SEARCHLOGS": 335_889}  # fmt: skip


@pytest.fixture(scope="module")
def sources():
    folder = Path(os.environ.get("DISCREET_DATA") or "", "dpbench")
    if not os.environ.get("DISCREET_DATA") or not folder.is_dir():
        pytest.skip("needs the real data that DISCREET_DATA points to")
    return read_sources(folder)


def test_all_arrays_are_read(sources):
    lines = {source.name: source.persons for source in sources if source.sizes == (4096,)}
    assert lines == SCALES
    assert {source.name for source in sources if source.sizes == (256, 256)} == {"Adult_2D", "cabspottingS", "checkin"}


def test_data_dependent_grids_win_with_few_persons_and_lose_with_many(sources):
    planes = [source.coarsened((64, 64)) for source in sources if len(source.sizes) == 2]
    pair = algorithms(["adaptive grid", "hb"])
    with warnings.catch_warnings(action="ignore", category=NotPrivateWarning), seeded("planes"):
        found = run(pair, planes, scales=[1000, 10**7], trials=10)
    for setting in found.settings:
        rows = found.at(setting)
        ratio = rows["adaptive grid"].mean / rows["hb"].mean
        assert (ratio < 0.5) if setting.scale == 1000 else (ratio > 1.2), f"{ratio:.3g} in {setting}"
