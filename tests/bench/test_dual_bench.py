"""The DualQuery experiments on small data: baselines against their definitions, results that keep what they say."""

import os
from pathlib import Path

import numpy as np
import pytest

from discreet.accounting import PrivacyLoss
from discreet.bench.dual_query import (
    Experiment,
    Measured,
    against_attributes,
    against_epsilon,
    against_queries,
    biased_columns,
    generated_table,
    read_table,
    table_named,
)
from discreet.bench.dual_query.baselines import affordable_mu, independent_noise, product_of_singles
from discreet.bench.dual_query.data import ADULT, KDD99
from discreet.errors import InvalidInput, InvalidParameter
from discreet.synthetic.coded import Tallied
from discreet.synthetic.dual_query import all_marginals, packed, random_queries

FOLDER = Path(os.environ.get("DISCREET_DATA", ""), "dualquery")


def test_the_tables_have_the_published_number_of_binary_attributes():
    assert sum(size for size, _ in ADULT) == 235
    assert sum(size for size, _ in KDD99) == 396


@pytest.mark.skipif(not (FOLDER / "adult.clean").is_file(), reason="needs dualquery/adult.clean in $DISCREET_DATA")
def test_the_real_table():
    table = table_named("adult")
    assert (table.name, table.records, sum(table.sizes)) == ("adult", 30_162, 235)
    assert table.tally.counts.sum() == 30_162


def test_a_generated_table_has_attributes_that_depend_on_each_other(tmp_path):
    table = table_named("adult", tmp_path)
    assert table.name == "adult, generated"
    assert table.tally.counts.sum() == 30_162
    small = generated_table("kdd99", records=500)
    assert len(small.sizes) == 41
    assert (small.tally.codes < np.array(small.sizes)).all()


def test_files_that_are_no_tables(tmp_path):
    file = tmp_path / "adult.clean"
    file.write_text("a,b,c\n")
    with pytest.raises(InvalidInput, match=r"adult\.clean is no file"):
        read_table("adult", file)
    with pytest.raises(InvalidParameter, match="adult and kdd99"):
        table_named("netflix")


def test_noise_on_each_answer_is_as_large_as_its_loss_says():
    counts = np.full(4000, 50_000)
    gaps = (independent_noise(counts, 100_000, 1.0, 1e-3) - 0.5) * 100_000
    mu = affordable_mu(1.0, 1e-3)
    assert PrivacyLoss.gaussian(mu).epsilon(1e-3) <= 1.0 < PrivacyLoss.gaussian(1.01 * mu).epsilon(1e-3)
    assert np.std(gaps) == pytest.approx(np.sqrt(4000) / mu, rel=0.08)


@pytest.mark.parametrize("kind", ["marginal", "parity"])
def test_independent_attributes_are_answered_right_by_their_product(kind):
    generator = np.random.default_rng(4)
    codes = (generator.random((40_000, 4)) < [0.1, 0.5, 0.8, 0.3]).astype(np.int64)
    queries = random_queries((2,) * 4, 30, ways=3, kind=kind)
    table = packed(Tallied(codes, np.ones(40_000, dtype=np.int64)), queries)
    found = product_of_singles(table, queries, 40_000, 10.0, 1e-3)
    assert np.abs(found - table.answers(queries) / 40_000).max() < 0.02


def test_biased_bits_are_the_same_whichever_queries_read_them():
    first, second = all_marginals((2,) * 5, 2), random_queries((2,) * 5, 40, ways=3)
    one, other = (biased_columns(asked, 999) for asked in (first, second))
    shared = {tuple(c): w for c, w in zip(one.columns.tolist(), one.words.tolist(), strict=True)}
    both = zip(other.columns.tolist(), other.words.tolist(), strict=True)
    assert all(shared[tuple(c)] == w for c, w in both)
    shares = np.bitwise_count(one.words).sum(axis=1) / 999
    assert len(set(shares.tolist())) == 5


def test_the_experiments_at_a_small_size():
    table = generated_table("adult", records=3000)
    found = against_epsilon(table, epsilons=(1, 4), queries=300, repeats=2)
    assert [row.at for row in found.of("DualQuery")] == [1, 4]
    assert all(0 < error <= 1 for row in found.rows for error in row.largest)
    more = against_queries(table, counts=(50, 400), repeats=2)
    assert [row.at for row in more.rows[::3]] == [50, 400]
    wide = against_attributes(attributes=(8, 60), records=900, queries=80, repeats=2, deadline=1e-9)
    assert not wide.complete
    assert {row.at for row in wide.rows} == {8.0}
    again = Experiment.from_json(found.to_json())
    assert again == found
    assert "svg" not in found.to_json()


def test_what_is_no_experiment_is_refused():
    for text in ("", "{}", "[]", "null"):
        with pytest.raises(InvalidInput, match="no experiment"):
            Experiment.from_json(text)


def test_one_method_beats_another_only_beyond_both_intervals():
    def row(method, at, largest):
        return Measured(method=method, at=at, largest=largest, mean=largest, seconds=1.0, memory=0)

    rows = (
        row("DualQuery", 1.0, (0.1, 0.11, 0.1)),
        row("other", 1.0, (0.3, 0.31, 0.3)),
        row("DualQuery", 2.0, (0.1, 0.3, 0.2)),
        row("other", 2.0, (0.3, 0.31, 0.3)),
    )
    found = Experiment(kind="epsilon", data="d", records=5, words="w", rows=rows)
    assert found.beats("DualQuery", "other") == [1.0]
    assert found.beats("other", "DualQuery") == []
