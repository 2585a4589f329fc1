"""Fulton county's public-use microdata: invariants and structural zeros hold exactly in every run."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from discreet.synthetic.hierarchy import Cells, Hierarchy, Spine

AGES = (15, 25, 35, 45, 55, 65, 75)
RUNS = 3


@pytest.fixture(scope="module")
def fulton():
    folder = os.environ.get("DISCREET_DATA")
    file = Path(folder or "", "fulton", "FultonPUMS5full.csv")
    if not folder or not file.exists():
        pytest.skip("needs the real data that DISCREET_DATA points to")
    with file.open() as lines:
        rows = list(csv.DictReader(lines))
    whole = {name: np.array([int(float(row[name])) for row in rows]) for name in rows[0] if name != "income"}
    whole["age"] = np.array(AGES)[np.clip((whole["age"] - 15) // 10, 0, len(AGES) - 1)]
    return whole


SPINE = Spine.from_columns({"state": [13] * 7, "fips": [13121] * 7, "puma": [1101, 1102, 1103, 1104, 1105, 1106, 1107]})
CELLS = Cells(
    attributes={
        "age": AGES,
        "sex": (0, 1),
        "black": (0, 1),
        "latino": (0, 1),
        "married": (0, 1),
        "divorced": (0, 1),
    },
    rules={"nobody is married and divorced": lambda c: not (c["married"] and c["divorced"])},
)
QUERIES = {"total": (), "age, sex": ("age", "sex"), "race": ("black", "latino"), "all": CELLS.names}


def test_fulton_is_published_with_all_promises_kept(fulton):
    census = Hierarchy(
        spine=SPINE,
        cells=CELLS,
        queries=QUERIES,
        rho=0.1,
        relation="replace_one",
        invariants={"state": ("sex",), "puma": ()},
    )
    truth = census._histogram(fulton)
    for _ in range(RUNS):
        release = census.release(fulton)
        leaves = release.counts["puma"]
        assert leaves.min() >= 0
        assert np.array_equal(leaves.sum(axis=1), truth.sum(axis=1))
        women = np.array(CELLS.values("sex")) == 1
        assert release.counts["state"][:, women].sum() == truth[:, women].sum()
        assert np.array_equal(release.counts["state"][0], leaves.sum(axis=0))
        rows = release.microdata()
        assert not np.any((rows["married"] == 1) & (rows["divorced"] == 1))
        assert len(rows["age"]) == truth.sum()
        error = np.abs(leaves.sum(axis=0) - truth.sum(axis=0)).mean()
        assert error < 2 * release.standard_errors["state"]["all"]
