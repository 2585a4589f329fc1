"""Private groups that are shown by the noise of their own counts: when, at what cost, and how accurate."""

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

import discreet as dp
from discreet.mechanisms import GaussianThreshold, StabilityHistogram
from discreet.session.noise import Reach
from discreet.session.sparse import JOINTLY, Sparse, sparse_of

WORDS = "SELECT word, COUNT(DISTINCT user) AS n FROM words GROUP BY word"
ROWS = "SELECT word, COUNT(*) AS n FROM words GROUP BY word"


def words(users=3000, each=7, rare=200):
    """Everybody has some of 40 words, the first ones more often, and some have one of their own."""
    rng = np.random.default_rng(4)
    rows = [
        {"user": user, "word": f"w{place}"}
        for user in range(users)
        for place in np.unique(np.minimum(rng.geometric(0.12, each), 40))
    ]
    rows += [{"user": user, "word": f"own {user}"} for user in range(rare)]
    return pa.Table.from_pylist(rows)


def session(data=None, groups=8, rows=1, relation="add_remove", epsilon=10, delta=1e-6, rule="basic"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dp.Session(
            words() if data is None else data,
            name="words",
            schema={"word": "str"},
            unit=dp.Person("user", groups=groups, rows=rows, relation=relation),
            budget=dp.Budget(epsilon=epsilon, delta=delta, filter=rule),
        )


@pytest.mark.parametrize("rule", ["basic", "zcdp"])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("groups", [4, 64])
def test_it_costs_what_was_asked_for_and_is_never_worse(groups, relation, rule):
    with session(groups=groups, relation=relation, rule=rule) as own:
        plan, apart = own.planned(WORDS, epsilon=1), own.planned(WORDS, epsilon=1, keys="optimal")
        assert isinstance(plan.selection, Sparse)
        assert plan.selection.threshold <= apart.selection.threshold
        assert plan.error("m_0", 0.05) <= apart.error("m_0", 0.05)
        assert plan.loss.relation == relation
        assert plan.loss.delta(1.0) <= float(plan.delta) * (1 + 1e-9)
        assert apart.delta <= plan.delta == plan.settings.delta + plan.settings.key_delta
        jointly = rule == "basic" and groups * (2 if relation == "replace_one" else 1) <= JOINTLY
        assert isinstance(plan.selection.mechanism, StabilityHistogram if jointly else GaussianThreshold)
        before = own.account.spent.amount
        answer = own.release(WORDS, epsilon=1)
        assert own.account.spent.amount > before
        assert answer.loss.to_json() == plan.loss.to_json()
        if rule == "zcdp":  # better even with the noise that a count has apart, which alone costs less
            same = GaussianThreshold(
                sigma=apart.noise["m_0"].sigma, delta=apart.settings.key_delta, groups=groups, relation=relation
            )
            assert same.threshold <= apart.selection.threshold
        else:
            assert own._planner.share(plan) == own._planner.share(apart)


def test_the_preview_says_why():
    with session() as own:
        forecast = own.preview(WORDS, epsilon=1)
        apart = own.preview(WORDS, epsilon=1, keys="optimal")
        (why,) = (note for note in forecast.notes if "One Gaussian noise" in note)
        assert f"± {forecast['n'].error:,.0f} instead of ± {apart['n'].error:,.0f}" in why
        assert f"about {forecast.threshold:,} on instead of {apart.threshold:,}" in why
        assert own.spent == 0


@pytest.mark.parametrize(
    ("sql", "settings", "changes"),
    [
        (WORDS, {"keys": "laplace"}, {}),
        (WORDS, {"noise": "laplace"}, {}),
        (WORDS, {"split": {"keys": 3}}, {}),
        (ROWS, {}, {"rows": 2}),
        ("SELECT word, COUNT(DISTINCT user) AS n, COUNT(*) AS m FROM words GROUP BY word", {}, {"rows": 2}),
        ("SELECT word, COUNT(DISTINCT word) AS n FROM words GROUP BY word", {}, {}),
        (WORDS, {}, {"groups": 1}),
    ],
)
def test_otherwise_groups_are_chosen_apart(sql, settings, changes):
    with session(**changes) as own:
        assert not isinstance(own.planned(sql, epsilon=1, **settings).selection, Sparse)


@pytest.mark.parametrize("rule", ["basic", "zcdp"])
def test_groups_have_their_own_counts_and_rare_ones_stay_hidden(rule):
    """Intervals hold as often as they say among groups far above the threshold; false alarm below 1e-9."""
    data = words()
    truth = {}
    for row in data.to_pylist():
        truth[row["word"]] = truth.get(row["word"], 0) + 1
    inside = runs = 0
    with session(data, groups=8, rule=rule, epsilon=60) as own:
        far = own.planned(ROWS, epsilon=1).selection.threshold + 200
        for _ in range(6):
            answer = own.release(ROWS, epsilon=1, level=0.8)
            assert list(answer.keys["word"]) == sorted(answer.keys["word"])
            assert not any(word.startswith("own") for word in answer.keys["word"])
            rows = {row["word"]: row for row in answer}
            for word, count in truth.items():
                if count > far:
                    inside += rows[word]["n_low"] <= count <= rows[word]["n_high"]
                    runs += 1
            assert all(row["n"] > far - 200 for row in rows.values())
    assert runs > 30
    assert inside >= binom.ppf(1e-10, runs, 0.8)


@pytest.mark.parametrize("jointly", [True, False])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_no_pair_of_neighbours_differs_by_more_than_the_loss(jointly, relation):
    """One group per unit, or two where it moves, by brute force over noisy counts of all groups that change."""
    half = Fraction(1, 10**3)
    made = sparse_of(Fraction(1), (half, half), Reach(1, 0, 1, relation), jointly=jointly)
    sigma, threshold = float(made.sigma), made.threshold
    reach = math.ceil(12 * sigma)
    z = np.arange(-reach, reach + 1)
    noise = np.exp(-(z**2) / (2 * sigma**2))
    noise /= noise.sum()
    crowd = threshold + reach + 2

    def law(count):
        """The law of one group: hidden, or one of the noisy counts above the threshold."""
        values = np.zeros(crowd + 2 * reach)
        if count == 0:
            return np.concatenate([[1.0], values])
        shown = count + z > threshold
        np.add.at(values, (count + z - threshold - 1)[shown], noise[shown])
        return np.concatenate([[noise[~shown].sum()], values])

    changes = {"gone": (1, 0), "came": (0, 1), "fewer": (crowd, crowd - 1), "more": (crowd, crowd + 1)}
    if relation == "add_remove":
        pairs = [[changes[name]] for name in changes]
    else:
        pairs = [[changes[a], changes[b]] for a, b in itertools.product(("gone", "fewer"), ("came", "more"))]
    worst = 0.0
    for pair in pairs:
        one, other = np.ones(1), np.ones(1)
        for before, after in pair:
            one, other = np.outer(one, law(before)).ravel(), np.outer(other, law(after)).ravel()
        for epsilon in (0.3, 1.0, 2.0):
            found = np.maximum(one - math.exp(epsilon) * other, 0).sum()
            assert found <= made.loss.delta(epsilon) * (1 + 1e-6)
            worst = max(worst, found / made.loss.delta(epsilon))
    assert worst > 0.1
    assert made.loss.delta(1.0) <= 2e-3


def test_several_queries_are_composed():
    """A loss that was accounted for jointly would not compose with other Gaussian noise."""
    with session(groups=4) as own:
        both = own.plan([WORDS, WORDS], epsilon=1)
        assert all(one.parameters["selection"] == "by the noise of the counts" for one in both)


def test_many_groups_are_read_without_becoming_objects():
    with session(words(2000, 4, rare=2000), groups=5) as own:
        answer = own.release(ROWS, epsilon=1, count_groups=True)
        assert answer.parameters["groups_not_shown"] > 1000
        assert answer.parameters["selection"] == "by the noise of the counts"
