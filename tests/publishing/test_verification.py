"""A certificate that was forged is found, whatever was changed; every certificate that is true holds."""

import json
import os
import shutil

import pyarrow.parquet as pq
import pytest
from publishing_reference import FILE, table

from discreet.accounting import PrivacyLoss
from discreet.publishing.certificate import Certificate
from discreet.publishing.folder import prepared
from discreet.publishing.foresight import foresee
from discreet.publishing.reading import read_release
from discreet.publishing.releasing import publish
from discreet.publishing.verification import findings


def made(place, text):
    place.mkdir(exist_ok=True)
    pq.write_table(table(), place / "visits.parquet")
    (place / "release.yaml").write_text(text, encoding="utf-8")
    source = read_release(place / "release.yaml")
    publish(source, foresee(source), prepared(place / "out", text, [one.name for one in source.file.releases]))
    return place / "out"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """A release that was made once."""
    return made(tmp_path_factory.mktemp("verification"), FILE)


def wrong(text, folder=None):
    return {one.what for one in findings(Certificate.from_json(text), folder) if one.holds is False}


def forged(out, change, folder=None):
    record = json.loads((out / "release.json").read_text(encoding="utf-8"))
    change(record)
    return wrong(json.dumps(record), folder)


def restated(record):
    """Compute every epsilon and the whole again, as somebody would who forges with care."""
    losses = []
    for one in record["releases"]:
        one["answer"]["loss"] = one["loss"]
        losses.append(PrivacyLoss.from_json(json.dumps(one["loss"])))
        one["epsilon"] = losses[-1].epsilon(one["delta"])
    whole = PrivacyLoss.total(losses)
    record["loss"], record["epsilon"] = json.loads(whole.to_json()), whole.epsilon(record["delta"])
    record["registry"]["parameters"] = {"epsilon": record["epsilon"], "delta": record["delta"]}


def no_loss(record, terms):
    for one in record["releases"]:
        one["loss"]["terms"] = terms
    restated(record)


def smaller_sensitivities(record):
    for one in record["releases"]:
        for term in one["loss"]["terms"]:
            for name, part in (("squared_sensitivity", 75), ("sensitivity", 15)):
                if name in term:
                    term[name] = max(1, term[name] // part)
    restated(record)


def more_noise(record):
    for term in record["releases"][0]["loss"]["terms"]:
        term["sigma_squared"] = f"{10**12}"
    restated(record)


@pytest.mark.parametrize(
    "change",
    [
        lambda record: no_loss(record, []),
        lambda record: no_loss(record, [{"kind": "pure", "epsilon": "0", "count": 1}]),
        smaller_sensitivities,
        more_noise,
    ],
)
def test_a_loss_that_is_not_that_of_the_noise_is_found(out, change):
    found = forged(out, change)
    for name in ("by_kind",) if change is more_noise else ("by_kind", "by_kind_fields", "ages", "amounts"):
        assert f"{name}: its unit, query, noise and loss agree" in found
    assert not any("covers" in one for one in found)


@pytest.mark.parametrize(
    "unit",
    [
        {"kind": "person", "column": "user_id", "groups": 1, "rows": 1, "relation": "add_remove"},
        {"kind": "person", "column": "user_id", "groups": 3, "rows": 50, "relation": "add_remove"},
        {"kind": "person", "column": "user_id", "groups": 2, "rows": 5, "relation": "add_remove"},
        {"kind": "row", "relation": "add_remove", "size": None},
    ],
)
def test_another_unit_is_found(out, unit):
    assert "by_kind: its unit, query, noise and loss agree" in forged(out, lambda record: record.update(unit=unit))


def in_answer(name, value):
    return lambda record: record["releases"][0]["answer"]["parameters"].update({name: value})


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record["releases"][0].update(query="SELECT COUNT(*) AS n FROM visits"),
        in_answer("query", "SELECT COUNT(*) AS n FROM visits"),
        in_answer("groups", 1),
        in_answer("rows", 1),
        in_answer("unit", "rows"),
        in_answer("relation", "replace_one"),
        in_answer("epsilon", 0.01),
        in_answer("threshold", 20),
        in_answer("keys", "public: 2 declared"),
        in_answer("noise", {}),
        in_answer("noise", {"m_0": "no noise: public"}),
        lambda record: record["releases"][0]["answer"]["columns"][0].update(method="exact"),
        lambda record: record["releases"][0]["answer"]["parameters"].clear(),
    ],
)
def test_an_answer_that_contradicts_its_release_is_found(out, change):
    assert "by_kind: its unit, query, noise and loss agree" in forged(out, change)


def test_another_value_is_found_without_any_file(out):
    def change(record):
        record["releases"][0]["answer"]["columns"][0]["value"][0] += 1

    told = {"by_kind: the answer is what by_kind.csv holds", "by_kind: every stated error is that of its noise"}
    assert forged(out, change) == told
    assert "by_kind: the answer is what by_kind.parquet holds" in forged(out, change, out)


def test_other_words_about_an_answer_are_found(out):
    def change(record):
        record["releases"][0]["answer"]["notes"] = ["These numbers are exact."]

    assert forged(out, change, out) == {"by_kind: the answer is what by_kind.parquet holds"}


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.update(registry={}),
        lambda record: record["registry"].update(private=False),
        lambda record: record["registry"]["parameters"].update(epsilon=0.0001),
        lambda record: record["registry"]["contribution_bounding"].update(rows_per_group=1),
    ],
)
def test_another_registry_is_found(out, change):
    assert forged(out, change) == {"the entry for a registry follows from the rest"}


def test_files_that_are_not_listed_are_missed(out):
    def change(record):
        record["files"] = {}
        for one in record["releases"]:
            one["files"] = {}

    assert "every table, the report and the file are listed" in forged(out, change)


def test_a_charge_in_another_account_is_found(out):
    found = forged(out, lambda record: record["ledger"].update(dataset="other"))
    assert found == {"every table, the report and the file are listed"}


def fewer_releases(record):
    record["releases"].pop()
    record["registry"]["mechanisms"].pop()
    restated(record)


def another_title(record):
    record["title"] = record["registry"]["name"] = "Visits to hospitals"


@pytest.mark.parametrize(
    "change",
    [
        fewer_releases,
        another_title,
        lambda record: record["budget"].update(epsilon="100"),
        lambda record: record["budget"].update(delta="0.9"),
        lambda record: record["dataset"].update(size=2_000_000),
        lambda record: record["dataset"].update(version="2"),
        lambda record: record["releases"][0].update(title="Everything"),
    ],
)
def test_what_the_file_of_the_curator_does_not_say_is_found(out, change):
    assert forged(out, change) == set()
    assert forged(out, change, out) == {"release.yaml declares what was released"}


def test_an_epsilon_at_a_delta_that_is_no_exception_is_found(out):
    found = forged(out, lambda record: record.update(epsilon=0, delta=0.5))
    assert "it stays within the budget of the data set, epsilon 1" in found


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_plain_file_is_refused_at_once(out, tmp_path, kind):
    place = tmp_path / "copy"
    shutil.copytree(out, place)
    (place / "ages.csv").unlink()
    if kind == "pipe":
        os.mkfifo(place / "ages.csv")
    elif kind == "device":
        (place / "ages.csv").symlink_to("/dev/zero")
    else:
        (place / "ages.csv").mkdir()
    assert "ages.csv is the file that was written" in forged(out, lambda record: None, place)


HONEST = """\
title: Visits
dataset: {{name: visits, source: visits.parquet}}
unit: {unit}
columns:
  amount: {{min: -40, max: 500}}
  age: {{min: 0, max: 120}}
  kind: {{values: [meal, shop, trip]}}
budget: {budget}
spend: {{epsilon: 1}}
releases:
  - table: a
    sql: SELECT kind, COUNT(*) AS n, COUNT(DISTINCT age) AS d, SUM(age) AS s, AVG(amount) AS m FROM visits GROUP BY kind
  - table: b
    sql: SELECT COUNT(*) AS n, VARIANCE(amount) AS v, MEDIAN(age) AS q FROM visits
  - table: c
    sql: SELECT kind, MAX(age) AS q, COUNT(*) AS n FROM visits GROUP BY kind HAVING n > 5 ORDER BY n DESC LIMIT 2
"""
PRIVATE = """\
  - table: d
    sql: SELECT city, COUNT(*) AS n FROM visits GROUP BY city
"""


@pytest.mark.parametrize("budget", ["{epsilon: 20}", "{epsilon: 20, delta: 1e-6}"])
@pytest.mark.parametrize(
    "unit",
    [
        "{person: user_id, groups: 2, rows: 3}",
        "{person: user_id, groups: 5, rows: 1, relation: replace_one}",
        "row",
        "{row: replace_one, size: 600}",
    ],
)
def test_every_true_certificate_holds(tmp_path, unit, budget):
    text = HONEST.format(unit=unit, budget=budget)
    if "delta" in budget:
        text = text.replace("budget: {epsilon: 20, delta: 1e-6}", "budget: {epsilon: 20, delta: 1e-6, filter: basic}")
        text += PRIVATE
    folder = made(tmp_path / "here", text)
    found = list(findings(Certificate.from_json((folder / "release.json").read_text(encoding="utf-8")), folder))
    assert [(one.what, one.seen) for one in found if not one.holds] == []
