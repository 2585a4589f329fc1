"""Certificates of quantiles by smooth sensitivity and by propose-test-release: true ones hold, forged ones do not."""

import json

import pyarrow.parquet as pq
import pytest
from publishing_reference import table

from discreet.accounting import PrivacyLoss
from discreet.publishing.certificate import Certificate
from discreet.publishing.folder import prepared
from discreet.publishing.foresight import foresee
from discreet.publishing.reading import read_release
from discreet.publishing.releasing import publish
from discreet.publishing.verification import findings

UNITS = ["{person: user_id, groups: 5, rows: 2, relation: replace_one}", "row"]
TEXT = """\
title: Visits
dataset: {{name: visits, source: visits.parquet}}
unit: {unit}
columns:
  amount: {{min: -40, max: 500, step: 0.5}}
  age: {{min: 0, max: 120}}
  kind: {{values: [meal, shop, trip]}}
budget: {{epsilon: 20, delta: 1e-6, filter: basic}}
spend: {{epsilon: 4}}
releases:
  - quantiles: a
    column: age
    at: [0.25, 0.5]
    method: smooth
    by: [kind]
  - table: b
    sql: SELECT COUNT(*) AS n, MEDIAN(age, 'ptr') AS q, MEDIAN(age, 'smooth') AS s, MEDIAN(age) AS e FROM visits
  - table: c
    sql: SELECT city, MEDIAN(amount, 'ptr') AS q, COUNT(*) AS n FROM visits GROUP BY city
"""


def made(place, text):
    place.mkdir(exist_ok=True)
    pq.write_table(table(), place / "visits.parquet")
    (place / "release.yaml").write_text(text, encoding="utf-8")
    source = read_release(place / "release.yaml")
    publish(source, foresee(source), prepared(place / "out", text, [one.name for one in source.file.releases]))
    return place / "out"


def broken(text, folder=None):
    return [one.what for one in findings(Certificate.from_json(text), folder) if not one.holds]


@pytest.mark.parametrize("unit", UNITS)
def test_true_certificates_hold_and_forged_ones_do_not(tmp_path, unit):
    folder = made(tmp_path / "here", TEXT.format(unit=unit))
    text = (folder / "release.json").read_text(encoding="utf-8")
    assert broken(text, folder) == []
    for place, kind in ((0, "pure"), (0, "laplace"), (1, "approximate"), (2, "approximate")):
        record = json.loads(text)
        _without(record, place, kind)
        assert broken(json.dumps(record)), (place, kind)


def _without(record, place, kind):
    """Take a kind of loss out of a release, and compute every epsilon and the whole again."""
    losses = []
    for i, one in enumerate(record["releases"]):
        if i == place:
            one["loss"]["terms"] = [term for term in one["loss"]["terms"] if term["kind"] != kind]
        one["answer"]["loss"] = one["loss"]
        losses.append(PrivacyLoss.from_json(json.dumps(one["loss"])))
        one["epsilon"] = losses[-1].epsilon(one["delta"])
    whole = PrivacyLoss.total(losses)
    record["loss"], record["epsilon"] = json.loads(whole.to_json()), whole.epsilon(record["delta"])
    record["registry"]["parameters"] = {"epsilon": record["epsilon"], "delta": record["delta"]}
