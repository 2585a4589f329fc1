"""What is foretold: no row is read for it, errors and costs are those of the release, and warnings come in time."""

from fractions import Fraction
from itertools import pairwise

import pytest
from publishing_reference import FILE, corrupted

from discreet.accounting import PrivacyLoss
from discreet.ledger import Ledger
from discreet.publishing.foresight import foresee, probed, total_epsilon
from discreet.publishing.preview_page import render_preview
from discreet.publishing.probe import Probe, charge_of
from discreet.publishing.reading import read_release
from discreet.publishing.simulation import simulate
from discreet.testing import seeded


def foreseen(text=FILE, **options):
    return foresee(read_release("release.yaml", text), **options)


def test_no_row_is_read(folder):
    before = foreseen(pictures=False)
    corrupted(folder / "visits.parquet")
    after = foreseen(pictures=True)
    assert [one.forecast for one in after.releases] == [one.forecast for one in before.releases]
    assert not list(folder.glob("ledger*"))


def test_everything_is_one_composition(folder):
    found = foreseen()
    parts = [one.forecast for one in found.releases]
    assert found.loss == PrivacyLoss.total([one.loss for one in parts])
    assert found.epsilon <= 0.5
    assert sum(one.epsilon for one in parts) > 0.55  # together they cost less than their sum
    assert found.delta <= 5e-8


def test_parts_are_as_declared(folder):
    first, *others = [one.forecast.epsilon for one in foreseen().releases]
    assert [first / one for one in others] == pytest.approx([2.0] * 3)


def test_an_accuracy_is_kept(folder):
    text = FILE.replace("    spend: 40%\n", "    error: {n: 400}\n    group_size: 100000\n")
    column = foreseen(text).releases[0].forecast["n"]
    assert 380 < column.error <= 400


def test_the_frontier_passes_through_the_plan(folder):
    for one in foreseen(pictures=True).releases:
        middle = one.frontier.epsilons.index(one.frontier.chosen)
        for name, errors in one.frontier.errors.items():
            assert errors[middle] == one.forecast[name].error
            assert all(a >= b for a, b in pairwise(errors))


@pytest.mark.parametrize(
    ("there", "instead", "phrase"),
    [
        ("size: 2000", "size: 20", "more than all 20 people"),
        ("size: 2000", "size: 2000", "2,000 people in 3 groups are about 667 in each"),
        ("delta: 1e-7", "delta: 1e-3", "delta 0.001 is not far below one over 2,000 people"),
        ("spend: {epsilon: 0.5}\n", "", "this spends everything that is left"),
        ("max: 500}", "max: 1000000}", "half of what its bounds allow or more"),
    ],
)
def test_warnings(folder, there, instead, phrase):
    assert any(phrase in warning for warning in foreseen(FILE.replace(there, instead)).warnings)


def test_nothing_is_said_where_all_is_well(folder):
    text = FILE.replace("size: 2000", "size: 500000").replace("    sql: |", "    group_size: 1000000\n    sql: |")
    text = text.replace("    where:", "    group_size: 1000000\n    where:")
    assert foreseen(text).warnings == ()


def test_a_budget_that_is_spent_is_seen_without_changing_the_ledger(folder):
    with Ledger("ledger.sqlite") as ledger:
        account = ledger.account("visits", budget=read_release("release.yaml").file.budget.budget)
        account.spend(PrivacyLoss.zcdp(account.remaining.amount))
        count = len(ledger.entries("visits"))
    found = foreseen()
    assert not found.standing.fits
    assert any("the budget is not enough" in warning for warning in found.warnings)
    with Ledger("ledger.sqlite") as ledger:
        assert len(ledger.entries("visits")) == count


def test_which_part_of_the_budget_is_short_is_said(folder):
    text = FILE.replace("    group_by: [kind]\n    columns", "    group_by: [city]\n    columns")
    with Ledger("ledger.sqlite") as ledger:
        account = ledger.account("visits", budget=read_release("release.yaml").file.budget.budget)
        account.spend(PrivacyLoss.approximate(Fraction(1, 1000), account.remaining.failure))
    found = foreseen(text)
    assert found.standing.short == {"failure"}
    (said,) = [warning for warning in found.warnings if "the budget is not enough" in warning]
    assert "kept for releases with a delta of their own nothing is left" in said
    assert "Write a smaller delta under spend" in said


@pytest.mark.parametrize(
    ("size", "written", "rows"),
    [("size: 300", "", 100), ("size: 300", "    group_size: 500\n", 500), ("size: 30000", "", 1000)],
)
def test_errors_of_means_are_told_for_groups_as_large_as_declared(folder, size, written, rows):
    text = FILE.replace("size: 2000", size).replace("    spend: 40%\n", f"    spend: 40%\n{written}")
    found = foreseen(text).releases[0]
    note = found.forecast["spend"].error_note
    assert note.startswith(f"in a group of {rows:,} rows")
    assert ("300 people spread evenly" in note) is (rows == 100)
    assert found.plan.settings.group_size == rows


def test_a_corrected_size_is_the_same_release(folder):
    prints = set()
    for size in ("size: 300", "size: 400"):
        with probed(read_release("release.yaml", FILE.replace("size: 2000", size))) as joined:
            prints.add(tuple(request.fingerprint for request in joined.requests))
    assert len(prints) == 1


def test_a_promised_error_holds_in_groups_as_large_as_declared(folder):
    epsilons = []
    for size in ("size: 900", "size: 3000000"):
        text = FILE.replace("size: 2000", size).replace("    spend: 40%", "    error: {spend: 120}")
        text = text.replace("budget: {epsilon: 1,", "budget: {epsilon: 9,").replace("spend: {epsilon: 0.5}\n", "")
        epsilons.append(foreseen(text).releases[0].forecast.epsilon)
    assert epsilons[0] > 2 * epsilons[1]


@pytest.mark.parametrize(("there", "instead"), [("visits.parquet", "other.parquet"), ("kinds.csv", "sorts.csv")])
def test_another_source_is_another_release(folder, there, instead):
    (folder / "other.parquet").write_bytes((folder / "visits.parquet").read_bytes())
    for name in ("kinds.csv", "sorts.csv"):
        (folder / name).write_text("kind,sort\nmeal,food\n")
    text = FILE + "public: {kinds: kinds.csv}\n"
    prints = [foreseen(one).charge.purpose.fingerprint for one in (text, text, text.replace(there, instead))]
    assert prints[0] == prints[1] != prints[2]


def test_another_budget_than_the_ledger_has_is_seen(folder):
    with Ledger("ledger.sqlite") as ledger:
        ledger.account("visits", budget=read_release("release.yaml").file.budget.budget)
    found = foreseen(FILE.replace("epsilon: 1,", "epsilon: 3,"))
    assert any("Write budget: {epsilon: 1, delta: 1e-7, filter: zcdp}" in warning for warning in found.warnings)


def test_a_probe_stops_before_the_data(folder):
    corrupted(folder / "visits.parquet")
    with probed(read_release("release.yaml")) as joined:
        charge = charge_of(joined.session, joined.requests, joined.epsilon, joined.delta, last=False)
        again = charge_of(joined.session, joined.requests, joined.epsilon, joined.delta, last=False)
    assert isinstance(joined.session.account, Probe)
    assert not joined.session.account.spent.amount
    assert charge.purpose.fingerprint == again.purpose.fingerprint
    assert charge.loss.delta(Fraction(1, 2)) <= 5e-8


def test_a_stated_delta_is_never_more_than_the_exact_one():
    loss = PrivacyLoss.gaussian(mu=Fraction(1, 5))
    epsilon, delta = total_epsilon(loss, Fraction(1, 10**7) / 3, Fraction(1))
    assert Fraction(delta) <= Fraction(1, 10**7) / 3
    assert loss.epsilon(delta) <= epsilon
    assert total_epsilon(PrivacyLoss.laplace(1), Fraction(1, 10), Fraction(1)) == (1.0, 0.0)


@pytest.mark.filterwarnings("ignore::discreet.errors.NotPrivateWarning")
def test_simulated_releases_are_noise_of_the_plan_around_an_invented_table(folder):
    found = foreseen().releases
    with seeded(7):
        shown = {one.column: one for release in found[:1] for one in simulate(release.plan, 2000)}
    assert shown["n"].truth == 2000
    assert shown["spend"].truth == pytest.approx(250)
    assert len(set(shown["n"].values)) > 10
    assert all(
        high - low == 2 * found[0].forecast["n"].error
        for low, high in zip(shown["n"].lows, shown["n"].highs, strict=True)
    )
    with seeded(7):
        quantiles = simulate(found[3].plan, 2000)
    assert [one.truth for one in quantiles] == pytest.approx([125, 250, 375])
    assert all(one.covered >= 15 for one in (*shown.values(), *quantiles))  # with this seed


def test_noise_is_drawn_anew_each_time(folder):
    plan = foreseen().releases[0].plan
    assert simulate(plan, 1000)[0].values != simulate(plan, 1000)[0].values


def test_the_page_shows_pictures_and_says_what_is_made_up(folder):
    page = render_preview(foreseen(FILE.replace("clinics", "<script>alert(1)</script>"), pictures=True))
    assert "<script" not in page
    assert page.count("<svg") == 9  # a frontier for each column, and one picture of simulations for each release
    assert "no data was read" in page
    assert "made-up truth" in page
    assert "canary" not in page
    assert "All 3 declared groups are shown" in page
    assert "built-in method" not in page


def test_a_group_that_is_private_is_told_in_words(folder):
    text = FILE.replace("group_by: [kind]", "group_by: [city]")
    release = foreseen(text).releases[1]
    assert release.plan.selection is not None
    assert release.group == 1000


def test_what_is_told_stays_within_what_may_be_spent(folder):
    text = FILE.replace("spend: {epsilon: 0.5}", "spend: {epsilon: 0.9}")
    for budget in ("{epsilon: 1, delta: 1e-7, filter: basic}", "{epsilon: 1, delta: 1e-7}"):
        found = foreseen(text.replace("budget: {epsilon: 1, delta: 1e-7}", f"budget: {budget}"))
        assert found.epsilon <= 0.9 * (1 + 1e-12)


def test_pure_losses_that_only_hold_with_a_delta_are_told_at_it():
    loss = 40 * PrivacyLoss.laplace(Fraction(1, 40))
    assert total_epsilon(loss, Fraction(1, 10**6), Fraction(1)) == (1.0, 0.0)
    epsilon, delta = total_epsilon(loss, Fraction(1, 10**6), Fraction(9, 10))
    assert epsilon <= 0.9
    assert delta <= 1e-6
