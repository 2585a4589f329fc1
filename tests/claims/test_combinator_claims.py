"""Mechanisms made of mechanisms: the joint law of all outputs is no further apart than the combined loss."""

import math

import numpy as np
import pytest
from claims_reference import (
    attained,
    cells,
    discrete_gaussian,
    geometric,
    kept,
    laplace_survival,
    largest_loss,
    processed,
    product,
    response,
    steps,
)

from discreet.accounting import PrivacyLoss
from discreet.errors import NoTheorem
from discreet.mechanisms import (
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    RandomizedResponse,
    clamped,
    compose,
    group,
    parallel,
    repeat,
    then,
)
from discreet.sensitivity import Count, Mean, Sum

REACH = 40


def both(law, size, shift=1, reach=REACH):
    return law(size, 0, reach), law(size, shift, reach)


# --- compose and repeat ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scales", [(1, 1), (1, 2), (0.5, 1, 2)])
def test_composed_counts_keep_their_claim(scales):
    loss = compose(*(Geometric(sensitivity=1, scale=s) for s in scales)).loss
    p, q = (product(*(geometric(s, shift, REACH) for s in scales)) for shift in (0, 1))
    assert kept(loss, p, q, steps(sum(1 / s for s in scales)))


def test_the_check_catches_a_composition_charged_once():
    p, q = (product(*(geometric(1, shift, REACH) for _ in range(2))) for shift in (0, 1))
    assert not kept(Geometric(sensitivity=1, scale=1).loss, p, q, steps(1))


def test_different_noises_compose():
    loss = compose(
        *[
            m.of(Count(), relation="add_remove")
            for m in (Geometric(sensitivity=1, scale=1), DiscreteGaussian(sensitivity=1, sigma=2))
        ]
    ).loss
    p, q = (product(geometric(1, s, REACH), discrete_gaussian(2, s, REACH)) for s in (0, 1))
    assert kept(loss, p, q, steps(2))
    assert not kept(PrivacyLoss.gaussian(mu=0.5), p, q, steps(2))


@pytest.mark.parametrize(("times", "epsilon"), [(2, 1), (5, 0.5), (9, 0.1)])
def test_repeated_randomised_response_is_exact(times, epsilon):
    truth = 1 / (1 + math.exp(-epsilon))
    loss = repeat(RandomizedResponse(epsilon=epsilon), times).loss
    p, q = (product(*[response(truth, 2, answer)] * times) for answer in (0, 1))
    assert attained(loss, p, q, steps(times * epsilon)[:-2])


@pytest.mark.parametrize("times", [2, 3])
def test_repeated_counts_keep_their_claim(times):
    loss = repeat(Geometric(sensitivity=1, scale=2), times).loss
    p, q = (product(*[geometric(2, shift, REACH)] * times) for shift in (0, 1))
    assert kept(loss, p, q, steps(times / 2))
    assert not kept((times - 1) * Geometric(sensitivity=1, scale=2).loss, p, q, steps(times / 2))


def test_repeated_gaussians_are_one_gaussian():
    assert repeat(Gaussian(sensitivity=1, sigma=4), 16).loss == Gaussian(sensitivity=1, sigma=1).loss


def test_mechanisms_for_different_sensitivities_do_not_compose():
    with pytest.raises(NoTheorem):
        compose(Geometric(sensitivity=1, epsilon=1), Geometric(sensitivity=2, epsilon=1))
    with pytest.raises(NoTheorem):
        compose(Exponential(epsilon=1), Exponential(epsilon=1, monotone=True))


# --- parallel ----------------------------------------------------------------------------------------------------


def heads(scale, relation="add_remove"):
    return Geometric(sensitivity=1, scale=scale).of(Count(), relation=relation)


@pytest.mark.parametrize("scales", [(1, 1), (1, 2), (0.5, 3)])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_parts_keep_their_claim(scales, relation):
    loss = parallel(dict(enumerate(map(heads, scales))), by=len, relation=relation).loss
    moves = [(1, 0), (0, 1)] if relation == "add_remove" else [(1, -1), (-1, 1)]
    empty = product(*(geometric(s, 0, REACH) for s in scales))
    for move in moves:
        moved = product(*(geometric(s, m, REACH) for s, m in zip(scales, move, strict=True)))
        assert kept(loss, empty, moved, steps(sum(1 / s for s in scales)))


def test_the_check_catches_moves_between_parts_charged_as_one():
    naive = parallel({0: heads(1), 1: heads(1)}, by=len, relation="add_remove").loss
    stay, move = (product(geometric(1, m, REACH), geometric(1, -m, REACH)) for m in (0, 1))
    assert not kept(naive, stay, move, steps(1))


def test_the_check_catches_changes_inside_a_part_charged_as_a_sum_over_parts():
    """A sum of values -1 and 1 with Laplace noise of scale 1: replacing -1 by 1 shifts it by 2, whatever B costs."""
    part = {
        "A": Laplace(sensitivity=1, epsilon=1).of(Sum(bounds=(-1, 1)), relation="add_remove"),
        "B": Laplace(sensitivity=1, epsilon=0.1).of(Sum(bounds=(-1, 1)), relation="add_remove"),
    }
    loss = parallel(part, by=str, relation="replace_one").loss
    before, after = (cells(laplace_survival, 1, value, 1 / 8, 200) for value in (-1, 1))
    assert kept(loss, before, after, steps(2))
    assert not kept(PrivacyLoss.pure(1.1), before, after, steps(1.1))
    assert largest_loss(before, after) == pytest.approx(2)


@pytest.mark.parametrize(
    "part",
    [
        Geometric(sensitivity=1, epsilon=1),
        heads(1, "replace_one"),
        Laplace(sensitivity=1, epsilon=1).of(Mean(bounds=(0, 1), size=1), relation="replace_one"),
    ],
)
def test_parts_whose_size_is_public_are_refused(part):
    with pytest.raises(NoTheorem):
        parallel({"a": part}, by=len, relation="replace_one")


def test_parallel_sends_each_record_to_its_part_alone():
    parts = {kind: Geometric(sensitivity=1, epsilon=1000).of(Count(), relation="add_remove") for kind in "ab"}
    released = parallel(parts, by=lambda word: word[0], relation="add_remove").release(["ax", "ay", "bx", "cx"])
    assert released == {"a": 2, "b": 1}


# --- group, then and clamped -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 5])
def test_groups_shift_further(size):
    mechanism = group(Geometric(sensitivity=1, scale=3), size)
    p, q = both(geometric, 3, size, 200)
    assert attained(mechanism.loss, p, q, steps(size / 3))
    if size > 1:
        assert not kept(group(mechanism.mechanism, size - 1).loss, p, q, steps(size / 3))
    p, q = both(discrete_gaussian, 3, size, 150)
    loss = group(DiscreteGaussian(sensitivity=1, sigma=3), size).loss
    assert kept(loss, p, q, steps(size / 3))


@pytest.mark.parametrize("function", [lambda y: y % 2, abs, lambda y: y > 0, lambda y: min(max(y, 0), 3)])
def test_post_processing_costs_nothing(function):
    mechanism = then(Geometric(sensitivity=1, scale=2), function)
    outputs = [function(y) for y in range(-100, 101)]
    for value in range(-2, 3):
        p, q = (processed(geometric(2, v, 100), outputs) for v in (value, value + 1))
        assert kept(mechanism.loss, p, q, steps(0.5))


def test_the_check_catches_processing_that_looks_at_the_data():
    seen = np.array([0.0, -math.inf]), np.array([-math.inf, 0.0])
    assert not kept(Geometric(sensitivity=1, scale=2).loss, *seen, [0.5])


@pytest.mark.parametrize("low", [-1, 0, 0.5])
def test_clamped_outputs_stay_inside_and_cost_nothing(low, repeatable):
    mechanism = clamped(Geometric(sensitivity=1, scale=2), low, 4)
    assert mechanism.loss == Geometric(sensitivity=1, scale=2).loss
    released = [mechanism.release(2) for _ in range(200)]
    assert min(released) == low
    assert max(released) == 4
    assert all(isinstance(y, int) for y in released if y == int(y))
    array = clamped(Laplace(sensitivity=1, scale=2), low, 4).release(np.zeros(50))
    assert ((low <= array) & (array <= 4)).all()
