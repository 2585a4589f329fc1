"""The file means what it says: exact numbers, units, budgets, and kinds that become queries."""

import json
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest

from discreet.accounting import Budget
from discreet.publishing.kinds import KINDS
from discreet.publishing.mistake import Mistakes
from discreet.publishing.reading import read_release
from discreet.publishing.schema import schema_text
from discreet.publishing.sharing import requests_of
from discreet.units import Person, Row

HEAD = """\
title: A
dataset: {name: visits, source: visits.parquet}
unit: row
columns:
  age: {min: 0, max: 95}
"""


def read(text, head=HEAD):
    return read_release("release.yaml", head + text).file


def with_releases(*entries, budget="budget: {epsilon: 1}"):
    return read(f"{budget}\nreleases:\n" + "".join(f"  - {entry}\n" for entry in entries))


COUNT = "{table: a, sql: SELECT COUNT(*) AS n FROM visits}"
PREFIXES = (
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(sums = 'prefixes') BIN(age, 0, 9, 99) AS age_bin, COUNT(*) AS n "
    "FROM visits GROUP BY BIN(age, 0, 9, 99)"
)
TREE_ENTRY = (
    "{hierarchy: h, levels: [city], columns: [kind], tables: [[], [kind]], exact: {'*': [], city: [kind]}, "
    'rules: ["kind <> 1"], shares: [[1, 2], [3, 0.5]]}'
)
TREE = (
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(method = 'hierarchy', exact = '*; city: kind', rules = 'kind <> 1', "
    "shares = '1 2; 3 0.5') city, kind, COUNT(*) AS n FROM visits GROUP BY ROLLUP (city), GROUPING SETS ((), (kind))"
)


def test_a_tenth_is_a_tenth():
    file = with_releases(COUNT, budget="budget: {epsilon: 0.1, delta: 1e-7}")
    assert file.budget.budget == Budget(Fraction(1, 10), Fraction(1, 10**7))
    assert Fraction(file.budget.budget.epsilon) != Fraction(0.1)


def test_units():
    body = f"budget: {{epsilon: 1}}\nreleases: [{COUNT}]\n"
    units = {
        "row": Row(),
        "{row: replace_one, size: 20}": Row(relation="replace_one", size=20),
        "{person: id, groups: 3, rows: 5}": Person("id", groups=3, rows=5),
        "{person: id, groups: 3, rows: 5, relation: replace_one}": Person(
            "id", groups=3, rows=5, relation="replace_one"
        ),
    }
    for written, unit in units.items():
        assert read(body, HEAD.replace("unit: row", f"unit: {written}")).protected == unit


def test_texts_are_taken_as_they_are_written():
    head = HEAD.replace("source: visits.parquet", "source: visits.parquet, version: 1.10")
    assert read(f"budget: {{epsilon: 1}}\nreleases: [{COUNT}]\n", head).dataset.version == "1.10"
    head = HEAD.replace("source: visits.parquet", "source: visits.parquet, version: 2026-01-01")
    assert read(f"budget: {{epsilon: 1}}\nreleases: [{COUNT}]\n", head).dataset.version == "2026-01-01"


def test_columns_become_a_schema():
    head = HEAD + "  city: {values: [Oslo, no, 5]}\n"
    with pytest.raises(Mistakes, match="of one type"):
        read(f"budget: {{epsilon: 1}}\nreleases: [{COUNT}]\n", head)
    head = HEAD + "  city: {values: [Oslo, no]}\n  day: date\n  rating: {min: 0.1, max: 0.3, nulls: 0.2}\n"
    schema = read(f"budget: {{epsilon: 1}}\nreleases: [{COUNT}]\n", head).schema_of_table
    assert schema["city"].values == ("Oslo", "no")
    assert schema["day"].type == "date"
    assert schema["rating"].bounds == (Fraction(1, 10), Fraction(3, 10))
    assert schema["rating"].nulls == 0.2


@pytest.mark.parametrize(
    ("entry", "sql"),
    [
        (COUNT, "SELECT COUNT(*) AS n FROM visits"),
        (
            "{table: a, columns: {n: COUNT(*)}, group_by: [city, order], where: age > 3}",
            'SELECT city, "order", COUNT(*) AS n FROM visits WHERE (age > 3) GROUP BY city, "order"',
        ),
        (
            "{table: a, columns: {n: COUNT(*)}, group_by: {month: MONTH(day)}}",
            "SELECT MONTH(day) AS month, COUNT(*) AS n FROM visits GROUP BY MONTH(day)",
        ),
        (
            "{histogram: a, column: age, bins: [0, 0.1, 120]}",
            "SELECT BIN(age, 0, 0.1, 120) AS age_bin, COUNT(*) AS n FROM visits GROUP BY BIN(age, 0, 0.1, 120)",
        ),
        (
            "{histogram: a, column: age, width: 50}",
            "SELECT BIN(age, 0, 50, 95) AS age_bin, COUNT(*) AS n FROM visits GROUP BY BIN(age, 0, 50, 95)",
        ),
        (
            "{histogram: a, column: age, width: 47.5, by: [k]}",
            "SELECT k, BIN(age, 0, 47.5, 95) AS age_bin, COUNT(*) AS n FROM visits GROUP BY k, BIN(age, 0, 47.5, 95)",
        ),
        (
            "{quantiles: a, column: age, at: [0.1, 0.5], by: [city], where: age > 0}",
            "SELECT city, QUANTILE_CONT(age, [0.1, 0.5]) AS age FROM visits WHERE (age > 0) GROUP BY city",
        ),
        ("{quantiles: a, column: age, at: [0.5]}", "SELECT QUANTILE_CONT(age, 0.5) AS age FROM visits"),
        (
            "{quantiles: a, column: age, at: [0.5], method: smooth}",
            "SELECT QUANTILE_CONT(age, 0.5, 'smooth') AS age FROM visits",
        ),
        (
            "{workload: w, columns: [kind, city], groupings: [[kind, city], [kind], []]}",
            "SELECT kind, city, COUNT(*) AS n FROM visits GROUP BY GROUPING SETS ((kind, city), (kind), ())",
        ),
        (
            "{workload: w, columns: {k: kind, c: city}, groupings: 1, where: age > 3}",
            "SELECT kind AS k, city AS c, COUNT(*) AS n FROM visits WHERE (age > 3) GROUP BY GROUPING SETS ((k), (c))",
        ),
        ("{histogram: h, column: age, bins: [0, 9, 99], sums: prefixes}", PREFIXES),
        (TREE_ENTRY, TREE),
    ],
)
def test_kinds_become_queries(entry, sql):
    file = with_releases(entry)
    assert file.releases[0].sql("visits", file.bounds) == sql


def test_the_registry_is_by_the_word_that_an_entry_starts_with():
    assert list(KINDS) == ["table", "histogram", "quantiles", "workload", "hierarchy", "synthesize"]
    assert all(kind in made.model_fields for kind, made in KINDS.items())


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{workload: w, columns: [kind], groupings: [[city]]}", "none of the columns"),
        ("{workload: w, columns: [kind, city], groupings: [[city]]}", "no grouping is by kind"),
        ("{workload: w, columns: [kind], groupings: 2}", "at most all"),
        ("{workload: w, columns: [kind], groupings: city}", "lists of columns"),
        ("{workload: w, columns: [kind], groupings: [city]}", "list of columns"),
        ("{hierarchy: h, levels: [city], tables: 1}", "listed"),
        ("{hierarchy: h, levels: [city], tables: [[kind]]}", "none of the columns"),
        ("{hierarchy: h, levels: [city], columns: [kind], tables: [[]]}", "no table is by kind"),
        ("{hierarchy: h, levels: [city], columns: [city], tables: [[city]]}", "level already"),
        ("{hierarchy: h, levels: [city], tables: [[]], exact: {kind: []}}", "no level"),
        ("{hierarchy: h, levels: [city], tables: [[]], exact: {city: [kind]}}", "none of the columns"),
        ("{hierarchy: h, levels: [city], tables: [[]], rules: ['a = 1; b = 2']}", "semicolon"),
        ("{hierarchy: h, levels: [city], tables: [[]], shares: [[1]]}", "shares have a row"),
    ],
)
def test_what_is_wrong_with_groups_that_are_answered_together(entry, words):
    with pytest.raises(Mistakes, match=words):
        with_releases(entry)


def parts(*spends, budget="budget: {epsilon: 1}"):
    entries = [
        f"{{table: t{i}, sql: SELECT COUNT(*) AS n FROM visits{f', {spend}' if spend else ''}}}"
        for i, spend in enumerate(spends)
    ]
    requests, epsilon = requests_of(with_releases(*entries, budget=budget))
    return [(one.epsilon, one.weight) for one in requests], epsilon


def test_releases_share_what_is_left_equally():
    shared, epsilon = parts("spend: 40%", "", "")
    assert shared == [(None, Fraction(2, 5)), (None, Fraction(3, 10)), (None, Fraction(3, 10))]
    assert epsilon == 1


def test_what_nobody_takes_is_not_spent():
    shared, epsilon = parts("spend: 40%", "spend: 20%")
    assert [weight for _, weight in shared] == [Fraction(2, 5), Fraction(1, 5)]
    assert epsilon == Fraction(3, 5)


def test_an_epsilon_is_taken_at_its_word():
    shared, epsilon = parts("spend: {epsilon: 0.1}", "", budget="budget: {epsilon: 1}\nspend: {epsilon: 0.4}")
    assert shared == [(Fraction(1, 10), Fraction(1, 4)), (None, Fraction(3, 4))]
    assert epsilon == Fraction(2, 5)


def test_beside_an_error_parts_are_taken_at_their_word():
    shared, epsilon = parts("error: {n: 60}", "spend: 50%", "")
    assert [epsilon for epsilon, _ in shared] == [None, Fraction(1, 2), None]
    assert epsilon == 1


def test_delta_is_shared_with_epsilon_unless_said():
    budget = "budget: {epsilon: 1, delta: 1e-6}\n"
    assert with_releases(COUNT, budget=budget + "spend: {epsilon: 0.25}").delta == Fraction(1, 4 * 10**6)
    assert with_releases(COUNT, budget=budget + "spend: {epsilon: 0.25, delta: 1e-8}").delta == Fraction(1, 10**8)
    assert with_releases(COUNT, budget=budget).delta == Fraction(1, 10**6)


def test_the_schema_in_the_docs_is_the_one_that_check_prints():
    page = Path(__file__).parents[2] / "docs" / "release.schema.json"
    assert page.read_text(encoding="utf-8") == schema_text()
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text()))


def test_every_field_is_explained_and_has_an_example():
    definitions = json.loads(schema_text())
    for part in (definitions, *definitions["$defs"].values()):
        for name, field in part.get("properties", {}).items():
            assert field.get("description"), name
            assert field.get("examples"), name


def test_examples_of_the_schema_are_valid_themselves():
    schema = json.loads(schema_text())
    checked = 0
    for part in (schema, *schema["$defs"].values()):
        for field in part.get("properties", {}).values():
            check = jsonschema.Draft202012Validator({**field, "$defs": schema["$defs"]})
            for example in field["examples"]:
                check.validate(example)
                checked += 1
    assert checked >= 30
