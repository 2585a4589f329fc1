"""Everything that a certificate states is computed again, or is on a short list of what is the curator's word.

The stated error of a column could be halved and the certificate still verified: its reader was told of half the noise.

Defence: every single field of genuine certificates of every kind is tampered with; each is refused or on the list.
Source: Found by using this library: a stated accuracy that nobody recomputed.
"""

import json
import re
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from discreet.errors import DiscreetError
from discreet.publishing.certificate import Certificate
from discreet.publishing.folder import prepared
from discreet.publishing.foresight import foresee
from discreet.publishing.reading import read_release
from discreet.publishing.releasing import publish
from discreet.publishing.stated import STATED
from discreet.publishing.verification import findings

sys.path.insert(0, str(Path(__file__).parents[1] / "publishing"))
from publishing_reference import FILE, table

KINDS = {
    "tables": FILE.replace("{epsilon: 1, delta: 1e-7}", "{epsilon: 20}").replace("spend: {epsilon: 0.5}", "")
    + """\
  - table: private
    sql: SELECT COUNT(*) AS n, SUM(amount) AS s, VARIANCE(age) AS v, COUNT(DISTINCT age) AS d FROM visits
""",
    "private keys": """\
title: Cities
dataset: {name: visits, source: visits.parquet, size: 2000}
unit: {person: user_id, groups: 3, rows: 5}
columns:
  city: str
  age: {min: 0, max: 120}
budget: {epsilon: 20, delta: 1e-6, filter: basic}
releases:
  - table: cities
    sql: SELECT city, COUNT(*) AS n, AVG(age) AS m FROM visits GROUP BY city
""",
    "together": """\
title: Together
dataset: {name: visits, source: visits.parquet, size: 2000}
unit: {person: user_id, groups: 3, rows: 1}
columns:
  kind: {values: [meal, shop, trip]}
  age: {min: 0, max: 120}
budget: {epsilon: 20, delta: 1e-6}
releases:
  - workload: pairs
    columns: {kind: kind, part: "BIN(age, 0, 40, 80)"}
    groupings: [[kind, part], [kind]]
  - histogram: adaptive
    column: age
    bins: adaptive
  - histogram: cdf
    column: age
    sums: cdf
  - hierarchy: areas
    levels: [kind]
    tables: [[]]
  - synthesize: copy
    columns: {kind: {}, age: {bins: 4}}
    method: independent
    rows: 100
""",
}


@pytest.fixture(scope="module", params=list(KINDS))
def genuine(request, tmp_path_factory):
    """The record of a certificate that was made once."""
    place, text = tmp_path_factory.mktemp("tampering"), KINDS[request.param]
    pq.write_table(table(), place / "visits.parquet")
    (place / "release.yaml").write_text(text, encoding="utf-8")
    source = read_release(place / "release.yaml")
    names = [name for one in source.file.releases for name in one.file_names]
    publish(source, foresee(source), prepared(place / "out", text, names))
    return json.loads((place / "out" / "release.json").read_text(encoding="utf-8"))


def leaves(record, path=()):
    """Yield the path of every field that holds no other."""
    if isinstance(record, dict | list) and record:
        for name, value in record.items() if isinstance(record, dict) else enumerate(record):
            yield from leaves(value, (*path, name))
    else:
        yield path


def tampered(record, path, value):
    changed = json.loads(json.dumps(record))
    place = changed
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return changed


def others(value):
    """Return what somebody might write instead."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value / 2, value * 2 + 1] if isinstance(value, float) else [value // 2, value + 1]
    return [f"{value}x", re.sub(r"\d", "1", value)] if isinstance(value, str) else ["x", 1]


def holds(record):
    """Whether a certificate is believed."""
    try:
        return all(one.holds is not False for one in findings(Certificate.from_json(json.dumps(record))))
    except DiscreetError:
        return False


def believed(record, check=holds):
    """Return the fields, by a pattern, of which a changed value is believed; alike ones are tried at both ends."""
    alike = {}
    for path in leaves(record):
        pattern = ".".join("*" if isinstance(name, int) else name for name in path)
        alike.setdefault((pattern, path[1] if path[0] == "releases" else None), []).append(path)
    found = set()
    for (pattern, _), paths in alike.items():
        for path in dict.fromkeys((paths[0], paths[-1])):
            value = record
            for name in path:
                value = value[name]
            if any(other != value and check(tampered(record, path, other)) for other in others(value)):
                found.add(pattern)
    return found


def listed(name, pattern):
    """Whether a pattern is of a field: a star is one part of the path, and at the end all the rest."""
    parts, wanted = name.split("."), pattern.split(".")
    if wanted[-1] == "*" and len(parts) > len(wanted):
        parts = [*parts[: len(wanted) - 1], "*"]
    return len(parts) == len(wanted) and all(one in ("*", part) for part, one in zip(parts, wanted, strict=True))


def unexpected(found):
    """Return the fields that are on no list."""
    return {name for name in found if not any(listed(name, one) for fields in STATED.values() for one in fields)}


@pytest.mark.slow
def test_every_field_is_recomputed_or_on_the_list(genuine):
    assert holds(genuine)
    assert not unexpected(believed(genuine))


def test_stated_errors_are_recomputed(genuine):
    """The quick part of the above: of every column and both ways."""
    tried = 0
    for path in leaves(genuine):
        if path[-1] == "error" and (value := genuine["releases"][path[1]]["answer"]["columns"][path[4]]["error"]):
            tried += 1
            assert not any(holds(tampered(genuine, path, other)) for other in others(value))
            column = genuine["releases"][path[1]]["answer"]["columns"][path[4]]
            if "COUNT" in str(column) or path[4] == "n":
                assert not holds(tampered(genuine, path, None)), "an error that is left out"
    assert tried


def test_the_numbers_that_matter_are_not_on_the_list():
    """The list is short and stays so: no loss, value, end of an interval, error, method, unit or query is on it."""
    for name in ("value.*", "low.*", "high.*", "error", "method"):
        assert unexpected({f"releases.*.answer.columns.*.{name}"})
    for name in (
        "loss.terms.*.count",
        "epsilon",
        "delta",
        "unit.rows",
        "relation",
        "budget.epsilon",
        "releases.*.query",
    ):
        assert unexpected({name})
    assert sum(map(len, STATED.values())) <= 25


def test_a_verification_that_leaves_errors_out_is_caught(genuine):
    def old(record):
        try:
            found = findings(Certificate.from_json(json.dumps(record)))
            return all(one.holds is not False for one in found if "stated error" not in one.what)
        except DiscreetError:
            return False

    fields = {path: genuine for path in leaves(genuine) if path[-1] == "error"}
    path = next(path for path in fields if genuine["releases"][path[1]]["answer"]["columns"][path[4]]["error"])
    halved = tampered(genuine, path, genuine["releases"][path[1]]["answer"]["columns"][path[4]]["error"] // 2)
    assert old(halved)
    assert not holds(halved)
