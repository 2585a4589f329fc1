"""Theorems refuse what they do not cover, and parameters that mean nothing."""

import math

import pytest

from discreet.accounting import theorems as th
from discreet.errors import InvalidParameter, NoTheorem, RelationMismatch


@pytest.mark.parametrize(
    "call",
    [
        lambda: th.basic_composition(-1),
        lambda: th.basic_composition([1, 2], [0, 0, 0]),
        lambda: th.basic_composition(1, count=-1),
        lambda: th.basic_composition("1"),
        lambda: th.basic_composition(1, 2),
        lambda: th.advanced_composition(1, slack=0),
        lambda: th.sharper_composition(math.nan, slack=0.1),
        lambda: th.heterogeneous_composition(1, slack=1),
        lambda: th.optimal_composition(1, count=0),
        lambda: th.optimal_epsilon(1, count=2.5, total_delta=0.1),
        lambda: th.zcdp_epsilon(-1, 0.1),
        lambda: th.zcdp_epsilon_classical(1, 0),
        lambda: th.mironov_conversion(1, 1, 0.1),
        lambda: th.renyi_epsilon(lambda order: order, 0.1, orders=[]),
        lambda: th.renyi_epsilon(lambda order: order, 0.1, conversion="best"),
        lambda: th.gdp_epsilon(1, 0),
        lambda: th.group_privacy(1, size=0),
        lambda: th.group_privacy(1, size=2, form="best"),
        lambda: th.response_epsilon(1, 0.1, categories=1),
        lambda: th.poisson_sampling(1, rate=1.5, relation="add_remove"),
        lambda: th.poisson_sampling_replace_one(add_remove=1, replace_one=(1, 0), rate=0.1),
        lambda: th.sampling_without_replacement(1, size=3, population=2, relation="replace_one"),
        lambda: th.without_replacement_renyi(2, lambda j: j, size=3, population=2, relation="replace_one"),
        lambda: th.without_replacement_renyi(2, lambda j: -j, size=1, population=2, relation="replace_one"),
        lambda: th.without_replacement_renyi(2, lambda j: j, size=1, population=2, relation="replace_one", most=-1),
        lambda: th.sampled_gaussian_renyi(1, rate=0.1, noise_multiplier=1, relation="add_remove"),
        lambda: th.sampled_gaussian_renyi(2, rate=0.1, noise_multiplier=0, relation="add_remove"),
        lambda: th.shuffling(1, 0, reports=100, relation="replace_one"),
        lambda: th.sampled_gaussian_limit(rate=0.1, noise_multiplier=1, steps=0),
    ],
)
def test_parameters_that_mean_nothing_are_refused(call):
    with pytest.raises(InvalidParameter):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda relation: th.poisson_sampling(1, rate=0.1, relation=relation),
        lambda relation: th.poisson_renyi(2, lambda j: j, rate=0.1, relation=relation),
        lambda relation: th.sampled_gaussian_renyi(2, rate=0.1, noise_multiplier=1, relation=relation),
        lambda relation: th.sgd_step_in_batch(noise_multiplier=1, delta=0.1, relation=relation),
        lambda relation: th.sgd_training(
            noise_multiplier=1, rate=0.1, steps=2, delta=0.1, slack=0.1, relation=relation
        ),
    ],
)
def test_theorems_about_adding_refuse_replacing(call):
    call("add_remove")
    for relation in ("replace_one", None, "both"):
        with pytest.raises(RelationMismatch):
            call(relation)


@pytest.mark.parametrize(
    "call",
    [
        lambda relation: th.sampling_without_replacement(1, size=1, population=2, relation=relation),
        lambda relation: th.sampling_with_replacement(1, size=1, population=2, relation=relation),
        lambda relation: th.without_replacement_renyi(2, lambda j: j, size=1, population=2, relation=relation),
        lambda relation: th.shuffling(0.1, 0.1, reports=1000, relation=relation),
    ],
)
def test_theorems_about_replacing_refuse_adding(call):
    call("replace_one")
    for relation in ("add_remove", None, "both"):
        with pytest.raises(RelationMismatch):
            call(relation)


@pytest.mark.parametrize(
    "call",
    [
        lambda: th.poisson_renyi(2.5, lambda j: j, rate=0.1, relation="add_remove"),
        lambda: th.without_replacement_renyi(1, lambda j: j, size=1, population=2, relation="replace_one"),
        lambda: th.optimal_composition(0.1, count=10**6),
        lambda: th.shuffling(5, 1e-6, reports=100, relation="replace_one"),
    ],
)
def test_what_no_theorem_covers_is_refused(call):
    with pytest.raises(NoTheorem):
        call()


def test_infinite_curves_stay_infinite():
    options = {"size": 1, "population": 10, "relation": "replace_one"}
    assert th.without_replacement_renyi(3, lambda _: math.inf, **options) == math.inf
    assert th.poisson_renyi(3, lambda _: math.inf, rate=0.1, relation="add_remove") == math.inf
    assert th.poisson_renyi(3, lambda _: math.inf, rate=0, relation="add_remove") == 0
    assert th.without_replacement_renyi(3, lambda _: 0, **options) == 0


def test_nothing_composes_to_nothing():
    assert th.basic_composition([]) == (0, 0)
    assert th.advanced_composition([], slack=0.5) == (0, 0.5)
    assert th.gdp_composition([]) == 0
    assert th.pure_limit([]).mu == 0
