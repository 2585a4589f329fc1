import pytest

from discreet import (
    Gaussian,
    Geometric,
    InvalidInput,
    InvalidParameter,
    Laplace,
    NoTheorem,
    PrivacyLoss,
    RelationMismatch,
    clamped,
    compose,
    group,
    parallel,
    repeat,
    then,
)
from discreet.sensitivity import Count, Histogram, Mean

COUNT = Geometric(sensitivity=1, epsilon=0.5)
HEADS = COUNT.of(Count(), relation="add_remove")


def test_losses_add_and_releases_come_in_order():
    mean = Laplace(sensitivity=0.1, epsilon=1).of(Mean(bounds=(0, 1), size=10), relation="replace_one")
    heads = COUNT.of(Count(), relation="replace_one")
    both = compose(heads, mean)
    assert both.loss.epsilon() == 1.5
    assert [type(x) for x in both.release([0.5] * 10)] == [int, float]


def test_only_mechanisms_on_one_input_compose():
    with pytest.raises(NoTheorem, match="same input"):
        compose(COUNT, Gaussian(sensitivity=1, sigma=1))
    with pytest.raises(NoTheorem, match="same input"):
        compose(HEADS, COUNT.of(Count(), relation="replace_one"))
    with pytest.raises(InvalidParameter):
        compose()


def test_repetition_draws_fresh_noise():
    assert len(set(repeat(Geometric(sensitivity=1, epsilon=1e-6), 20).release(0))) > 10
    for times in (0, -1, 1.5, True):
        with pytest.raises(InvalidParameter):
            repeat(COUNT, times)


@pytest.mark.parametrize(("relation", "epsilon"), [("add_remove", 0.5), ("replace_one", 1.0)])
def test_parts_are_charged_by_their_relation(relation, epsilon):
    parts = parallel({"a": HEADS, "b": HEADS}, by=lambda word: word[0], relation=relation)
    assert parts.loss.epsilon() == epsilon
    assert parts.loss.relation == relation
    assert set(parts.release(["alpha", "beta", "gamma"])) == {"a", "b"}
    assert set(parts.release([])) == {"a", "b"}


def test_parts_with_a_public_size_are_not_covered():
    sized = Laplace(sensitivity=1, epsilon=1).of(Mean(bounds=(0, 1), size=1), relation="replace_one")
    for part in (sized, COUNT, COUNT.of(Count(), relation="replace_one")):
        with pytest.raises(NoTheorem, match="add_remove"):
            parallel({"a": part}, by=len, relation="add_remove")


def test_parts_of_different_losses_need_pure_ones():
    normal = Gaussian(sensitivity=1, sigma=1).of(Count(), relation="add_remove")
    with pytest.raises(NoTheorem):
        _ = parallel({"a": HEADS, "b": normal}, by=len, relation="add_remove").loss
    assert parallel({"a": normal, "b": normal}, by=len, relation="replace_one").loss == PrivacyLoss.gaussian(
        mu=2
    ).under("replace_one")


def test_groups_widen_the_claim_and_nothing_else():
    assert group(COUNT, 3).loss == Geometric(sensitivity=3, scale=2).loss
    assert isinstance(group(COUNT, 3).release(5), int)


def test_post_processing_is_free():
    assert then(COUNT, abs).loss == COUNT.loss == COUNT.then(abs).loss
    assert COUNT.then(abs).release(-(10**9)) > 0
    assert COUNT.clamped(0, 5).release(10**6) == 5
    assert clamped(Laplace(sensitivity=1, epsilon=1), 0, 1).release([5.0, -1e9]).tolist() == [1.0, 0.0]
    with pytest.raises(InvalidParameter):
        clamped(COUNT, 5, 0)
    with pytest.raises(InvalidInput):
        COUNT.then(str).clamped(0, 1).release(3)


def test_a_query_states_its_sensitivity_and_is_checked():
    with pytest.raises(InvalidParameter, match="Write sensitivity=2"):
        COUNT.of(Histogram(bins=("a", "b")), relation="replace_one")
    with pytest.raises(RelationMismatch):
        COUNT.of(Count(), relation="neighbours")
    with pytest.raises(InvalidParameter, match="already takes records"):
        HEADS.of(Count(), relation="add_remove")
    assert COUNT.of(len, relation="add_remove").loss.relation == "add_remove"
    assert HEADS.error(0.05) == COUNT.error(0.05)


def test_a_sensitivity_that_is_a_number_is_not_passed_over():
    def query(records):
        return 100 * len(records)

    query.sensitivity = 100
    with pytest.raises(InvalidParameter, match="as a method"):
        COUNT.of(query, relation="add_remove")
    query.sensitivity = lambda p, *, relation: 100
    with pytest.raises(InvalidParameter, match="Write sensitivity=100"):
        COUNT.of(query, relation="add_remove")
    del query.sensitivity
    assert COUNT.of(query, relation="add_remove").loss == HEADS.loss
