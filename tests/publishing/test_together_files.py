"""Workloads, sums and hierarchies in a file: previewed, released, verified, and found out where they are forged."""

import csv
import json
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.publishing.certificate import Certificate
from discreet.publishing.folder import prepared
from discreet.publishing.foresight import foresee
from discreet.publishing.reading import read_release
from discreet.publishing.releasing import publish
from discreet.publishing.verification import findings

AREAS = {"Oslo": "N", "Bergen": "N", "Ulm": "D"}

FILE = """\
title: People by area
dataset: {name: people, source: people.parquet, size: 3000}
public: {areas: areas.csv}
unit: {row: replace_one}
columns:
  state: {values: [N, D]}
  city: {values: [Oslo, Bergen, Ulm]}
  sex: {values: [f, m]}
  role: {values: [spouse, other]}
  age: {min: 0, max: 100}
budget: {epsilon: 2, delta: 1e-9}
releases:
  - workload: pairs
    columns: {sex: sex, role: role, age_group: "BIN(age, 0, 15, 65, 100)"}
    groupings: [[sex, role], [sex, age_group], []]
  - histogram: ages
    column: age
    width: 10
    sums: ranges
  - hierarchy: areas
    levels: [state, city]
    columns: {sex: sex, role: role, age_group: "BIN(age, 0, 15, 65, 100)"}
    tables: [[], [sex], [sex, role, age_group]]
    exact: {state: []}
    rules: ["role <> 'spouse' OR age_group <> '[0, 15)'"]
    areas: areas
"""


def rows(count=3000):
    cities = [list(AREAS)[i % 7 % 3] for i in range(count)]
    ages = [i * 37 % 101 for i in range(count)]
    return {
        "state": [AREAS[city] for city in cities],
        "city": cities,
        "sex": ["fm"[i % 2] for i in range(count)],
        "role": ["spouse" if age >= 18 and i % 3 else "other" for i, age in enumerate(ages)],
        "age": ages,
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("together")
    pq.write_table(pa.table(rows()), folder / "people.parquet")
    listed = "\n".join(f"{state},{city}" for city, state in AREAS.items())
    (folder / "areas.csv").write_text(f"state,city\n{listed}\n")
    (folder / "release.yaml").write_text(FILE)
    source = read_release(folder / "release.yaml")
    foresight = foresee(source, pictures=True)
    publish(source, foresight, prepared(folder / "out", FILE, [one.name for one in source.file.releases]))
    return folder, foresight


def record(place):
    return json.loads((place[0] / "out" / "release.json").read_text(encoding="utf-8"))


def wrong(told, folder=None):
    found = findings(Certificate.from_json(json.dumps(told)), folder)
    return [one.what for one in found if one.holds is False]


def test_everything_about_the_certificate_holds(place):
    assert wrong(record(place), place[0] / "out") == []


def test_the_preview_tells_what_is_outside_the_guarantee(place):
    assert any("outside the guarantee" in caution for caution in place[1].cautions)
    report = (place[0] / "out" / "report.html").read_text(encoding="utf-8")
    assert "agree on the numbers which are published exactly" in report
    assert all(one.frontier is not None and one.simulated for one in place[1].releases)


def test_whole_counts_add_up_and_exact_ones_are_true(place):
    with (place[0] / "out" / "areas.csv").open() as file:
        table = list(csv.DictReader(file))
    states = {row["state"]: int(row["n"]) for row in table if row["state"] and not row["city"] and not row["sex"]}
    truth = rows()["state"]
    assert states == {state: truth.count(state) for state in ("N", "D")}
    leaves = [row for row in table if row["city"] and row["age_group"]]
    assert sum(int(row["n"]) for row in leaves) == len(truth)
    assert not any(row["role"] == "spouse" and row["age_group"] == "[0, 15)" for row in leaves)


def narrower(told):
    for column in told["releases"][0]["answer"]["columns"]:
        column["low"] = [value + 1.0 for value in column["low"]]


def fewer_sets(told):
    told["releases"][0]["answer"]["parameters"]["sets"].pop()


def smaller_keys(told):
    told["releases"][1]["answer"]["parameters"]["sizes"]["age_bin"] = 5


def another_noise(told):
    told["releases"][1]["answer"]["parameters"]["noise"]["m_0"] = "integer Laplace noise, scale 3"


def less_sensitivity(told):
    for term in told["releases"][2]["loss"]["terms"]:
        old = Fraction(term["sigma_squared"])
        term["squared_sensitivity"], term["sigma_squared"] = 1, str(old * Fraction(1, int(term["squared_sensitivity"])))


def no_width(told):
    for column in told["releases"][2]["answer"]["columns"]:
        column["low"] = column["high"] = [float(value) for value in column["value"]]


def far_off(told):
    for column in told["releases"][0]["answer"]["columns"]:
        column["value"] = [value + 10.0**6 for value in column["value"]]


def other_rows(told):
    """Each interval as wide as that of another bin."""
    for column in told["releases"][1]["answer"]["columns"]:
        middle = column["value"]
        widths = [(high - low) / 2 for low, high in zip(column["low"], column["high"], strict=True)]
        column["low"] = [value - min(widths) for value in middle]
        column["high"] = [value + min(widths) for value in middle]


def large_and_narrow(told):
    for column in told["releases"][1]["answer"]["columns"]:
        column["value"] = column["low"] = column["high"] = [2.0e8 for _ in column["value"]]


def enormous(told):
    told["releases"][0]["answer"]["parameters"]["sizes"]["sex"] = 3 * 10**9


def other_rules(told):
    told["releases"][2]["answer"]["parameters"]["rules"] = []


def more_rho(told):
    told["releases"][2]["answer"]["parameters"]["epsilon"] *= 0.5


@pytest.mark.parametrize(
    "change",
    [
        *(narrower, fewer_sets, smaller_keys, another_noise, more_rho, less_sensitivity, no_width, far_off),
        *(other_rows, large_and_narrow, enormous, other_rules),
    ],
    ids=lambda change: change.__name__,
)
def test_forged_words_are_found(place, change):
    told = record(place)
    change(told)
    assert any("its unit, query, noise and loss agree" in what for what in wrong(told))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("city: {values: [Oslo, Bergen, Ulm]}", "city: str", "declared|delta|values"),
        ("areas: areas\n", "areas: nowhere\n", "no table"),
        ('rules: ["role', 'rules: ["roll', "roll|column"),
        ("delta: 1e-9", "delta: 0", "Gaussian|delta"),
        ("{row: replace_one}", "row", "add_remove|replace_one"),
    ],
)
def test_mistakes_are_told_in_the_words_of_the_file(place, old, new, words):
    from discreet.publishing.mistake import Mistake, Mistakes

    assert old in FILE
    (place[0] / "wrong.yaml").write_text(FILE.replace(old, new))
    with pytest.raises((Mistake, Mistakes), match=words) as found:
        foresee(read_release(place[0] / "wrong.yaml"))
    assert "wrong.yaml" in str(found.value)
