"""A synthetic copy in a file: previewed, released, verified, told in the report, and found out where it is forged."""

import csv
import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.ledger import Ledger
from discreet.publishing.certificate import Certificate
from discreet.publishing.folder import prepared
from discreet.publishing.foresight import foresee
from discreet.publishing.mistake import Mistakes
from discreet.publishing.reading import read_release
from discreet.publishing.releasing import publish
from discreet.publishing.verification import findings

FILE = """\
title: A synthetic copy of people
dataset: {name: people, source: people.parquet, size: 1500}
unit: {person: id, groups: 1, rows: 2}
columns:
  sex: {values: [f, m]}
  city: {values: [Oslo, Ulm, Zürich ≥ 東京]}
  role: {values: [spouse, other]}
  age: {min: 0, max: 99}
budget: {epsilon: 2, delta: 1e-9}
releases:
  - table: by_city
    sql: SELECT city, COUNT(*) AS n FROM people GROUP BY city
    spend: 20%
  - synthesize: copy
    columns: {sex: {}, role: {nulls: false}, age: {bins: 5}, city: {}}
    rules: ["role <> 'spouse' OR age >= 18"]
    method: independent
    rows: 700
"""


def names(source):
    return [name for one in source.file.releases for name in one.file_names]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("synthesize")
    rng = np.random.default_rng(2)
    age = rng.integers(0, 100, 1500)
    table = {
        "id": np.arange(1500),
        "sex": rng.choice(["f", "m"], 1500).tolist(),
        "city": rng.choice(["Oslo", "Ulm", "Zürich ≥ 東京"], 1500).tolist(),
        "role": ["spouse" if one >= 18 and i % 3 else "other" for i, one in enumerate(age)],
        "age": age,
    }
    pq.write_table(pa.table(table), folder / "people.parquet")
    (folder / "release.yaml").write_text(FILE, encoding="utf-8")
    source = read_release(folder / "release.yaml")
    foresight = foresee(source)
    outcome = publish(source, foresight, prepared(folder / "out", FILE, names(source)))
    return folder, foresight, outcome


def record(place):
    return json.loads((place[0] / "out" / "release.json").read_text(encoding="utf-8"))


def wrong(told, folder=None):
    return [one.what for one in findings(Certificate.from_json(json.dumps(told)), folder) if one.holds is False]


def test_everything_about_the_certificate_holds(place):
    assert wrong(record(place), place[0] / "out") == []


def test_the_ledger_has_the_loss_of_everything(place):
    folder, _, outcome = place
    with Ledger(folder / "ledger.sqlite") as ledger:
        account = ledger.account("people")
        (charge,) = [one for one in ledger.entries("people") if one.kind == "charge"]
        assert charge.number == outcome.entry
        certificate = Certificate.from_json(json.dumps(record(place)))
        assert (
            certificate.loss.terms
            == sum((one.answer.loss for one in certificate.releases[1:]), certificate.releases[0].loss).terms
        )
        assert account.spent.amount > 0
        ledger.verify()


def test_rows_are_as_many_as_asked_and_none_breaks_a_rule(place):
    with (place[0] / "out" / "copy_records.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 700
    assert not [row for row in rows if row["role"] == "spouse" and row["age"] and int(row["age"]) < 18]
    assert {row["city"] for row in rows} >= {"Oslo", "Ulm", "Zürich ≥ 東京"}
    table = pq.read_table(place[0] / "out" / "copy_records.parquet")
    assert table.num_rows == 700
    assert table.schema.field("age").type == pa.int64()
    told = ["" if one is None else str(one) for one in table["age"].to_pylist()]
    assert told == [row["age"] for row in rows]


def test_the_report_draws_what_was_released(place):
    report = (place[0] / "out" / "report.html").read_text(encoding="utf-8")
    assert "How many synthetic rows have each value" in report
    assert "Whiskers are the noisy counts that were measured" in report
    assert "Cramér" in report
    assert "<script" not in report
    assert "copy_records.csv" in report


def test_the_preview_says_method_and_noise(place):
    told = place[1].releases[1].forecast
    assert told.columns[0].error > 0
    assert told.columns[0].error_note == "in counts of one column"
    assert any("Method independent: it was asked for" in note for note in told.notes)


def test_the_same_file_is_answered_from_the_ledger(place, tmp_path):
    folder, _, outcome = place
    source = read_release(folder / "release.yaml")
    again = foresee(source)
    assert again.standing.stored == outcome.entry
    second = publish(source, again, prepared(tmp_path / "out", FILE, names(source)))
    assert second.stored
    for name in ("copy.csv", "copy_records.csv", "copy_records.parquet"):
        assert (tmp_path / "out" / name).read_bytes() == (folder / "out" / name).read_bytes()


def copy_of(told):
    return told["releases"][1]


def parameters(told):
    return copy_of(told)["answer"]["parameters"]


def less_noise(told):
    """Forge the loss everywhere it is said."""
    loss = copy_of(told)["loss"]
    old = json.dumps(loss)
    sigma = max(re.findall(r"[0-9]+/[0-9]+", old), key=len)
    forged = json.loads(json.dumps(told).replace(sigma, "1/4"))
    told.clear()
    told.update(forged)


def single_numbers(told):
    """Forge what the noise is added to, everywhere it is said, and the epsilon that follows from it."""
    before = Certificate.from_json(json.dumps(told))
    forged = json.loads(json.dumps(told).replace('"scalar": false', '"scalar": true'))
    told.clear()
    told.update(forged)
    after = Certificate.from_json(json.dumps(told))
    one, other = before.releases[1], after.releases[1]
    copy_of(told)["epsilon"] = other.loss.epsilon(other.delta)
    assert copy_of(told)["epsilon"] < 0.97 * one.loss.epsilon(one.delta)


def smaller_epsilon(told):
    parameters(told)["epsilon"] /= 2


def another_method(told):
    parameters(told)["method"] = "tree"


def more_rows_of_a_person(told):
    parameters(told)["rows"] = 1


def an_interval(told):
    column = copy_of(told)["answer"]["columns"][0]
    column["low"][0], column["high"][0] = 0, 9


def another_count(told):
    copy_of(told)["answer"]["columns"][0]["value"][0] += 1


def a_row_that_breaks_the_rule(told):
    keys = {one["name"]: one["values"] for one in copy_of(told)["answer"]["keys"]}
    place = next(i for i, role in enumerate(keys["role"]) if role == "other" and keys["age"][i] == "[0, 20)")
    parameters(told)["rules"] = ["role <> 'other' OR age >= 20"]
    assert keys["role"][place] == "other"


@pytest.mark.parametrize(
    "forge",
    [
        less_noise,
        single_numbers,
        smaller_epsilon,
        another_method,
        more_rows_of_a_person,
        an_interval,
        another_count,
        a_row_that_breaks_the_rule,
    ],
    ids=lambda one: one.__name__,
)
def test_forged_copies_are_found_out(place, forge):
    told = record(place)
    forge(told)
    assert [what for what in wrong(told) if what.startswith("copy:")]


def mistakes(place, written):
    folder = place[0]
    text = FILE.replace("    method: independent\n    rows: 700\n", written)
    try:
        from discreet.publishing.foresight import probed

        with probed(read_release(folder / "release.yaml", text)):
            return []
    except Mistakes as error:
        return [one.wrong for one in error.found]


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("    method: magic\n", "method is one of"),
        ("    rows: 0\n", "at least 1"),
        ("    groupings: 2\n", "are listed"),
        ("    groupings: [[name, sex]]\n", "none of the columns"),
        ("    error: {n: 3}\n", "no error can be promised"),
        ("    follows: {land: {by: city, values: {Oslo: N}}}\n", "none of the columns"),
        ("    where: age >\n", ""),
    ],
)
def test_mistakes_are_told_in_words_of_the_file(place, written, words):
    found = mistakes(place, written)
    assert found
    assert any(words in one for one in found)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("[sex, nobody]", "no column nobody"),
        ("{age: {quantiles: 4}}", "nothing is found privately"),
        ("{age: {bins: 0}}", "whole number from 1"),
        ("{sex: {bins: 3}}", "bins are for numbers"),
        ("3", "columns are named"),
    ],
)
def test_columns_that_cannot_be_copied_are_refused(place, columns, words):
    folder = place[0]
    text = FILE.replace("{sex: {}, role: {nulls: false}, age: {bins: 5}, city: {}}", columns).replace(
        "    rules: [\"role <> 'spouse' OR age >= 18\"]\n", ""
    )
    from discreet.publishing.foresight import probed

    with pytest.raises(Mistakes) as error, probed(read_release(folder / "release.yaml", text)):
        pass
    assert any(words in one.wrong for one in error.value.found)


def test_two_releases_cannot_have_the_same_files(place):
    text = FILE.replace("table: by_city", "table: copy_records")
    with pytest.raises(Mistakes, match="the same"):
        read_release(place[0] / "release.yaml", text)
