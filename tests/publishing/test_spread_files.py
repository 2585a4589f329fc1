"""Adaptive bins, counts below edges, private groups and deadlines in a file: released, verified, forged."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.publishing.certificate import Certificate
from discreet.publishing.folder import prepared
from discreet.publishing.foresight import foresee
from discreet.publishing.mistake import Mistake, Mistakes
from discreet.publishing.reading import read_release
from discreet.publishing.releasing import publish
from discreet.publishing.verification import findings

FILE = """\
title: Incomes
dataset: {name: people, source: people.parquet, size: 3000}
unit: {person: user, groups: 6, rows: 1}
columns:
  income: {min: 0, max: 100000}
  age: {min: 0, max: 100}
  word: str
  state: {values: [N, D]}
  city: {values: [Oslo, Ulm]}
budget: {epsilon: 4, delta: 1e-6, filter: FILTER}
releases:
  - histogram: incomes
    column: income
    bins: adaptive
  - histogram: plane
    column: income
    second: age
    bins: adaptive
  - histogram: ages
    column: age
    sums: cdf
  - table: words
    sql: SELECT word, COUNT(*) AS n FROM people GROUP BY word
  - hierarchy: areas
    levels: [state, city]
    tables: [[]]
    deadline: 60
"""


def rows(count=3000):
    rng = np.random.default_rng(8)
    cities = rng.choice(["Oslo", "Ulm"], count)
    return {
        "user": [i // 3 for i in range(count)],
        "income": rng.lognormal(10, 0.6, count).tolist(),
        "age": rng.integers(18, 90, count).tolist(),
        "word": [f"w{min(int(k), 12)}" if i % 50 else f"own{i}" for i, k in enumerate(rng.geometric(0.4, count))],
        "state": ["N" if city == "Oslo" else "D" for city in cities],
        "city": cities.tolist(),
    }


@pytest.fixture(scope="module", params=["zcdp"])
def place(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("spread")
    pq.write_table(pa.table(rows()), folder / "people.parquet")
    text = FILE.replace("FILTER", request.param)
    (folder / "release.yaml").write_text(text)
    source = read_release(folder / "release.yaml")
    foresight, shown = foresee(source), []
    out = prepared(folder / "out", text, [one.name for one in source.file.releases])
    publish(source, foresight, out, lambda words, share: shown.append((words, share)))
    return folder, foresight, shown


def record(place):
    return json.loads((place[0] / "out" / "release.json").read_text(encoding="utf-8"))


def wrong(told, folder=None):
    found = findings(Certificate.from_json(json.dumps(told)), folder)
    return [one.what for one in found if one.holds is False]


def test_everything_about_the_certificate_holds(place):
    assert wrong(record(place), place[0] / "out") == []


def test_words_are_chosen_by_the_noise_of_their_counts(place):
    foreseen = next(one for one in place[1].releases if one.entry.name == "words")
    assert any("One Gaussian noise" in note for note in foreseen.plan.notes)
    told = record(place)["releases"][3]["answer"]["parameters"]
    assert told["selection"] == "by the noise of the counts"


def test_bins_are_columns_of_numbers(place):
    with (place[0] / "out" / "incomes.csv").open() as file:
        bins = list(csv.DictReader(file))
    assert [float(row["income_from"]) for row in bins[1:]] == [float(row["income_to"]) for row in bins[:-1]]
    edges = pq.read_table(place[0] / "out" / "ages.parquet").column("age_below").to_pylist()
    assert edges == list(range(1, 102))


def test_the_bar_is_shown_how_far_it_is(place):
    phases = {words for words, _ in place[2]}
    assert {"round", "writing the files"} <= phases
    assert place[1].source.file.releases[4].request("people", {}, 0.95, epsilon=None, weight=1).deadline == 60


def narrower(answer):
    for column in answer["columns"]:
        column["low"] = [value + 1 for value in column["low"]]


def other_noise(answer):
    (name,) = answer["parameters"]["noise"]
    answer["parameters"]["noise"][name] = "integer Laplace noise, scale 1"


def smaller_epsilon(answer):
    answer["parameters"]["epsilon"] *= 0.5


def more_groups(answer):
    answer["parameters"]["groups"] = 1


def other_size(answer):
    if "sizes" in answer["parameters"]:
        answer["parameters"]["sizes"] = dict.fromkeys(answer["parameters"]["sizes"], 2)
    else:
        answer["parameters"]["threshold"] -= 5


def outside(answer):
    if "sizes" in answer["parameters"]:
        answer["keys"][-1]["values"][0] = 10**7
    else:
        answer["parameters"]["keys"] = "public: 12 declared"


@pytest.mark.parametrize("change", [narrower, other_noise, smaller_epsilon, more_groups, other_size, outside])
@pytest.mark.parametrize("release", range(4))
def test_forged_words_are_found(place, release, change):
    told = record(place)
    change(told["releases"][release]["answer"])
    assert any("its unit, query, noise and loss agree" in what for what in wrong(told))


@pytest.mark.parametrize("release", range(4))
def test_a_forged_loss_is_found(place, release):
    told = record(place)
    mine, other = told["releases"][release], told["releases"][(release + 2) % 4]
    mine["loss"] = mine["answer"]["loss"] = other["loss"]
    assert any("its unit, query, noise and loss agree" in what for what in wrong(told))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("bins: adaptive\n  - histogram: plane", "bins: adaptive\n    width: 5\n  - histogram: plane", "stands alone"),
        ("bins: adaptive\n  - histogram: plane", "bins: dynamic\n  - histogram: plane", "bins|adaptive"),
        ("    sums: cdf", "    sums: cdf\n    by: [city]", "stands alone"),
        ("    second: age\n    bins: adaptive", "    second: age\n    width: 10", "adaptive bins"),
        ("  income: {min: 0, max: 100000}\n", "", "bounds"),
        ("    deadline: 60", "    deadline: -1", "deadline|above 0|positive"),
    ],
)
def test_mistakes_are_told_in_the_words_of_the_file(tmp_path, old, new, words):
    pq.write_table(pa.table(rows(60)), tmp_path / "people.parquet")
    assert old in FILE
    (tmp_path / "wrong.yaml").write_text(FILE.replace(old, new).replace("FILTER", "zcdp"))
    with pytest.raises((Mistake, Mistakes), match=words) as found:
        foresee(read_release(tmp_path / "wrong.yaml"))
    assert "wrong.yaml" in str(found.value)
