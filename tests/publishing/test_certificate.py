"""The certificate says everything exactly, reads nothing else, and every change to it is found."""

import json
import shutil
from dataclasses import replace
from fractions import Fraction

import pyarrow.parquet as pq
import pytest
from publishing_reference import FILE, table

from discreet.accounting import PrivacyLoss
from discreet.errors import UnknownKind
from discreet.publishing.certificate import Certificate
from discreet.publishing.folder import prepared
from discreet.publishing.foresight import foresee
from discreet.publishing.reading import read_release
from discreet.publishing.releasing import publish
from discreet.publishing.verification import findings


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """A release that was made once."""
    place = tmp_path_factory.mktemp("certificate")
    pq.write_table(table(), place / "visits.parquet")
    (place / "release.yaml").write_text(FILE, encoding="utf-8")
    source = read_release(place / "release.yaml")
    publish(source, foresee(source), prepared(place / "out", FILE, ["by_kind"]))
    return place / "out"


@pytest.fixture
def text(out):
    return (out / "release.json").read_text(encoding="utf-8")


def wrong(certificate, folder=None):
    return [one.what for one in findings(certificate, folder) if one.holds is False]


def test_it_comes_back(text):
    read = Certificate.from_json(text)
    assert read.to_json() == text
    assert Fraction(read.budget.delta) == Fraction(1, 10**7)
    assert read.private


def test_it_holds(text, out):
    found = list(findings(Certificate.from_json(text), out))
    assert all(one.holds for one in found)
    assert sum("is the file that was written" in one.what for one in found) == 10


def test_it_holds_without_its_files(text, tmp_path):
    found = list(findings(Certificate.from_json(text), tmp_path / "elsewhere"))
    assert {one.holds for one in found if "is the file" in one.what} == {None}
    assert not wrong(Certificate.from_json(text), tmp_path / "elsewhere")


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.update(kind="release"),
        lambda record: record.update(version=2),
        lambda record: record.update(version=True),
        lambda record: record.update(more=1),
        lambda record: record.pop("loss"),
        lambda record: record["loss"].update(version=7),
        lambda record: record["unit"].update(kind="household"),
        lambda record: record["unit"].update(rows=0),
        lambda record: record.update(relation="replace_one"),
        lambda record: record["dataset"].update(owner="x"),
        lambda record: record["budget"].update(epsilon="a lot"),
        lambda record: record["budget"].update(epsilon="1/0"),
        lambda record: record["budget"].update(epsilon=1),
        lambda record: record.update(epsilon="0.1"),
        lambda record: record.update(epsilon=-1),
        lambda record: record.update(releases={}),
        lambda record: record["releases"][0].pop("answer"),
        lambda record: record["releases"][0]["answer"].update(version=9),
        lambda record: record["releases"][0].update(files={"../../etc/passwd": "0" * 64}),
        lambda record: record["releases"][0].update(files={"a.csv": "short"}),
        lambda record: record.update(files={"/etc/passwd": "0" * 64}),
        lambda record: record["ledger"].update(entry="3"),
        lambda record: record["ledger"].update(hash=""),
        lambda record: record.update(date="yesterday"),
        lambda record: record.update(title="\ud800"),
        lambda record: record.update(epsilon=10**400),
        lambda record: record["dataset"].update(size=10**400),
        lambda record: record["budget"].update(epsilon="1e9999999"),
        lambda record: record["budget"].update(epsilon=" 1_0 "),
        lambda record: record["budget"].update(filter=["zcdp"]),
        lambda record: record["releases"][0].update(name=record["releases"][1]["name"]),
        lambda record: record["releases"][0]["files"].update({"ages.csv": "0" * 64}),
        lambda record: record["releases"][0]["files"].update({"report.html": "0" * 64}),
    ],
)
def test_anything_else_is_refused(text, change):
    record = json.loads(text)
    change(record)
    with pytest.raises(UnknownKind):
        Certificate.from_json(json.dumps(record))


@pytest.mark.parametrize("text_", ["", "[]", "{", "null", '{"kind": "publication"}', "[" * 10_000])
def test_what_is_no_certificate_is_refused(text_):
    with pytest.raises(UnknownKind):
        Certificate.from_json(text_)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"kind": "person"', '"kind": "person", "kind": "person"'),
        ('"title": "Visits', '"title": "Visits to nobody", "title": "Visits'),
        ('"delta": 5e-08', '"delta": 1e999'),
        ('"delta": 5e-08', '"delta": NaN'),
    ],
)
def test_what_two_readers_could_read_in_two_ways_is_refused(text, old, new):
    assert old in text
    with pytest.raises(UnknownKind):
        Certificate.from_json(text.replace(old, new, 1))


def test_a_smaller_epsilon_does_not_hold(text):
    read = Certificate.from_json(text)
    assert "epsilon 0.495 at delta 5e-8 covers the whole" in wrong(replace(read, epsilon=read.epsilon * 0.99))


def test_a_smaller_delta_does_not_hold(text):
    read = Certificate.from_json(text)
    assert wrong(replace(read, delta=read.delta / 2))


def test_a_release_that_is_left_out_is_missed(text):
    read = Certificate.from_json(text)
    assert "the losses of the releases add up to the whole" in wrong(replace(read, releases=read.releases[:-1]))


def test_a_loss_that_was_made_smaller_is_found(text):
    read = Certificate.from_json(text)
    first = replace(read.releases[0], loss=PrivacyLoss.laplace(0.001).under("add_remove"))
    changed = wrong(replace(read, releases=(first, *read.releases[1:])))
    assert changed == [
        "the losses of the releases add up to the whole",
        "every answer was made at the loss that is stated for it",
        "by_kind: its unit, query, noise and loss agree",
        "by_kind: every stated error is that of its noise",
    ]


def test_a_budget_that_is_too_small_is_found(text):
    read = Certificate.from_json(text)
    assert wrong(replace(read, budget=replace(read.budget, epsilon=Fraction(1, 10)))) == [
        "it stays within the budget of the data set, epsilon 0.1"
    ]


def test_another_relation_is_found(text):
    read = Certificate.from_json(text)
    assert "all losses speak of the same neighbours" in wrong(
        replace(read, unit=replace(read.unit, relation="replace_one"))
    )


def test_noise_of_a_test_is_found(text):
    read = Certificate.from_json(text)
    first = replace(read.releases[0], answer=replace(read.releases[0].answer, private=False))
    assert "the release says that its noise cannot be repeated" in wrong(
        replace(read, releases=(first, *read.releases[1:]))
    )


def test_a_changed_file_is_found(text, out, tmp_path):
    shutil.copytree(out, tmp_path / "copy")
    with (tmp_path / "copy" / "ages.csv").open("a") as file:
        file.write("\n")
    assert wrong(Certificate.from_json(text), tmp_path / "copy") == ["ages.csv is the file that was written"]


def test_the_entry_for_a_registry(text):
    registry = json.loads(text)["registry"]
    assert registry["unit"] == "a person, by user_id"
    assert registry["relation"] == "add_remove"
    assert registry["private"] is True
    assert registry["contribution_bounding"]["rows_per_group"] == 5
    assert [one["release"] for one in registry["mechanisms"]] == ["by_kind", "by_kind_fields", "ages", "amounts"]
    assert "discrete Gaussian noise" in registry["mechanisms"][0]["columns"]["n"]


def test_no_value_of_the_data_is_in_it(text):
    assert "canary" not in text
