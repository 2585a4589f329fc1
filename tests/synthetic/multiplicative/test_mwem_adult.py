"""MWEM on the Adult data: three-way tables from pairs that it chose itself."""

import csv
import itertools
import json
import os
from pathlib import Path

import numpy as np
import pytest

from discreet.synthetic.multiplicative import MWEM


@pytest.mark.slow
def test_three_way_tables_of_adult():
    folder = Path(os.environ.get("DISCREET_DATA") or "missing", "adult")
    if not (folder / "adult-discrete.csv").exists():
        pytest.skip("needs the real data that DISCREET_DATA points to")
    with (folder / "adult-discrete.csv").open(encoding="utf-8") as file:
        names, *listed = csv.reader(file)
    largest = json.loads((folder / "adult-domain.json").read_text(encoding="utf-8"))
    kept = [i for i, name in enumerate(names) if name in largest]
    rows = np.array(listed, dtype=np.int64)[:, kept]
    sizes = tuple(int(largest[names[i]]) for i in kept)
    model = MWEM.for_budget(1, 1e-9, sizes=sizes, relation="add_remove").release(rows)
    errors = []
    for triple in list(itertools.combinations(range(len(sizes)), 3))[::5]:
        exact = np.zeros(tuple(sizes[i] for i in triple))
        np.add.at(exact, tuple(np.minimum(rows[:, i], sizes[i] - 1) for i in triple), 1)
        errors.append(np.abs(model.marginal(triple) / model.total - exact / len(rows)).sum())
    assert np.mean(errors) < 0.2
