"""Certificates of trees, counts below edges and groups shown by their noise: honest ones hold, forged ones do not."""

import copy
import json
from hashlib import sha256

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.publishing.certificate import Certificate
from discreet.publishing.folder import prepared
from discreet.publishing.foresight import foresee
from discreet.publishing.reading import read_release
from discreet.publishing.releasing import publish
from discreet.publishing.verification import findings
from discreet.session.frames import csv_bytes

FILE = """\
title: Incomes
dataset: {name: people, source: people.parquet, size: 1500}
unit: {person: user, groups: 6, rows: 5}
columns:
  income: {min: 0.1, max: 70000.7}
  age: {min: 0, max: 100}
  word: str
budget: {epsilon: 8, delta: 1e-6, filter: zcdp}
releases:
  - histogram: incomes
    column: income
    bins: adaptive
  - histogram: plane
    column: income
    second: age
    bins: adaptive
  - histogram: below
    column: income
    sums: cdf
  - table: words
    sql: SELECT word, COUNT(DISTINCT "user") AS n FROM people GROUP BY word
  - table: listed
    sql: SELECT word, COUNT(DISTINCT "user") AS n FROM people GROUP BY word
    count_groups: true
  - histogram: ages
    column: age
    bins: adaptive
"""
NAMES = ("incomes", "plane", "below", "words", "listed", "ages")
AGREE = "its unit, query, noise and loss agree"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder, count, rng = tmp_path_factory.mktemp("forged"), 1500, np.random.default_rng(8)
    data = {
        "user": [i // 3 for i in range(count)],
        "income": rng.lognormal(10, 0.6, count).tolist(),
        "age": rng.integers(18, 90, count).tolist(),
        "word": [f"w{min(int(k), 12)}" for k in rng.geometric(0.4, count)],
    }
    pq.write_table(pa.table(data), folder / "people.parquet")
    (folder / "release.yaml").write_text(FILE)
    source = read_release(folder / "release.yaml")
    out = prepared(folder / "out", FILE, [one.name for one in source.file.releases])
    publish(source, foresee(source), out)
    return out


def wrong(told, folder=None):
    return [one.what for one in findings(Certificate.from_json(json.dumps(told)), folder) if one.holds is False]


def forged(place, name, change):
    """Return a certificate of which one release was changed, and the hash of its table with it."""
    told = copy.deepcopy(json.loads((place / "release.json").read_text(encoding="utf-8")))
    one = told["releases"][NAMES.index(name)]
    change(one)
    again = Certificate.from_json(json.dumps(told)).releases[NAMES.index(name)]
    one["files"][f"{name}.csv"] = sha256(csv_bytes(again.answer)).hexdigest()
    return told


def test_everything_about_the_certificate_holds(place):
    assert wrong(json.loads((place / "release.json").read_text(encoding="utf-8")), place) == []


def moved_end(one):
    one["answer"]["keys"][0]["values"][0] += 0.25


def twice(one):
    """Let the first bin hold the second one, too."""
    ends = one["answer"]["keys"][1]["values"]
    ends[0] = ends[1]


def whole_plane(one):
    """Let the first bin be everything: a box of the tree, in which all others lie."""
    for column, value in zip(one["answer"]["keys"], (0.1, 70000.7, 0, 101), strict=True):
        column["values"][0] = value


def asked(sql):
    def change(one):
        one["query"] = one["answer"]["parameters"]["query"] = sql

    return change


def rare(one):
    """Show a group that has too few members."""
    column = one["answer"]["columns"][0]
    off = column["value"][0] - 1
    for end in ("value", "low", "high"):
        column[end][0] -= off


def certain(one):
    column = one["answer"]["columns"][0]
    column["low"] = column["high"] = column["value"]
    column["error"] = 0


def uncounted(one):
    del one["answer"]["parameters"]["groups_not_shown"]


def counted(one):
    one["answer"]["parameters"]["groups_not_shown"] = 3


TREE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(method = 'tree')"
CDF = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(sums = 'cdf')"
PERSONS = 'HAVING COUNT(DISTINCT "user") > 1'


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("incomes", moved_end),
        ("incomes", twice),
        ("ages", twice),
        ("plane", whole_plane),
        ("incomes", asked("SELECT income, SUM(age) AS n FROM people GROUP BY income")),
        ("incomes", asked(f"{TREE} income, SUM(age) AS n FROM people GROUP BY income")),
        ("below", asked(f"{CDF} age AS other, COUNT(*) AS n FROM people GROUP BY other")),
        ("words", asked(f"SELECT word, COUNT(*) AS n FROM people GROUP BY word {PERSONS}")),
        ("words", asked(f"SELECT word, SUM(income) AS n FROM people GROUP BY word {PERSONS}")),
        ("words", rare),
        ("words", certain),
        ("words", counted),
        ("listed", uncounted),
    ],
)
def test_what_no_release_says_is_found(place, name, change):
    assert f"{name}: {AGREE}" in wrong(forged(place, name, change))


def test_bounds_that_the_file_does_not_declare_are_found(place):
    def larger(one):
        for column in one["answer"]["keys"]:
            column["values"] = [2 * value for value in column["values"]]
        one["answer"]["parameters"]["bounds"] = {"income": [0.2, 140001.4]}

    told = forged(place, "below", larger)
    assert f"below: {AGREE}" not in wrong(told)
    assert "release.yaml declares what was released" in wrong(told, place)
