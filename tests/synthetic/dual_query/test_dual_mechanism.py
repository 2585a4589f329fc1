"""DualQuery: its law on tiny domains against the definition and its claims, and what it does with data of any kind."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.errors import InvalidInput
from discreet.synthetic.coded import Tallied
from discreet.synthetic.dual_query import DualQuery, Packed, Queries, Search, Transcript, all_marginals, packed
from discreet.synthetic.dual_query.draws import signed_log_probabilities
from discreet.synthetic.dual_query.mechanism import scores_after

PAIR = Queries(sizes=(2, 2), attributes=[[0, 1], [1, 0]], values=[[1, 1], [1, 0]])
DOMAIN = np.array(list(itertools.product(range(2), range(2))))
QUICK = Search(starts=1, moves=0)
BIT = Queries(sizes=(2,), attributes=[[0]], values=[[1]])


def best_record(draw):
    """A deterministic best response to signed draws, over the whole domain."""
    held = PAIR.holds(DOMAIN).astype(int)
    worth = sum(held[:, j] if not c else 1 - held[:, j] for j, c in draw)
    return DOMAIN[int(np.argmax(worth))]


def law(records, plan):
    """The probability of every sequence of draws, from weights that are multiplied as the paper says."""
    shares = np.array([PAIR.holds([r])[0] for r in records]).sum(axis=0) / plan.size if records else np.zeros(2)
    signed = np.concatenate([shares, 1 - shares])
    candidates = list(itertools.product(range(2), (False, True)))
    draws = list(itertools.product(candidates, repeat=plan.samples))
    found = {}

    def play(sequence, weights, chance):
        if len(sequence) == plan.rounds:
            found[sequence] = chance
            return
        probabilities = weights / weights.sum()
        for draw in draws:
            factor = math.prod(probabilities[j + 2 * c] for j, c in draw)
            answer = PAIR.holds([best_record(draw)])[0]
            told = np.concatenate([answer, 1 - answer])
            play((*sequence, draw), weights * np.exp(float(plan.eta) * (signed - told)), chance * factor)

    play((), np.ones(4), 1.0)
    return np.array(list(found.values())), list(found)


def neighbours(relation, size):
    for records in itertools.combinations_with_replacement(DOMAIN.tolist(), size):
        for place in range(size if len(set(map(tuple, records))) > 1 else 1):
            rest = [*records[:place], *records[place + 1 :]]
            if relation == "add_remove":
                yield list(records), rest
            else:
                yield from ((list(records), [*rest, other]) for other in DOMAIN.tolist())


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize(("rounds", "samples"), [(2, 1), (3, 1), (2, 2)])
def test_no_sequence_of_draws_tells_more_than_is_claimed(relation, rounds, samples):
    plan = DualQuery(queries=PAIR, size=2, rounds=rounds, samples=samples, eta=0.7, relation=relation)
    pure, rho = plan.loss.epsilon(), plan.loss.rho
    assert pure == pytest.approx(0.7 * rounds * (rounds - 1) * samples / 2)
    claims = {epsilon: plan.loss.delta(epsilon) for epsilon in (0.1, 0.3, pure / 2)}
    worst, known = 0.0, {}
    for sides in neighbours(relation, 2):
        for side in sides:
            if str(sorted(side)) not in known:
                known[str(sorted(side))] = law(side, plan)[0]
        p, q = (known[str(sorted(side))] for side in sides)
        ratio = np.log(p / q)
        worst = max(worst, np.abs(ratio).max())
        for alpha in (1.5, 2.0, 8.0, 40.0):
            divergence = math.log((p * np.exp((alpha - 1) * ratio)).sum()) / (alpha - 1)
            assert divergence <= rho * alpha * (1 + 1e-9)
        for epsilon, delta in claims.items():
            assert np.maximum(p - math.exp(epsilon) * q, 0).sum() <= delta + 1e-12
    assert 0.3 * pure < worst <= pure * (1 + 1e-9)


def test_two_records_of_a_person_cost_twice_as_much_in_a_draw():
    plan = DualQuery(queries=PAIR, size=2, rounds=2, samples=1, eta=0.7, relation="replace_one", records=2)
    ends = [DOMAIN.tolist()[i] for i in (0, 3)]
    p, q = (law([end] * 2, plan)[0] for end in ends)
    alone = DualQuery(queries=PAIR, size=2, rounds=2, samples=1, eta=0.7, relation="replace_one")
    assert alone.loss.epsilon() < np.abs(np.log(p / q)).max() <= plan.loss.epsilon()


def test_the_weights_of_a_round_are_those_of_the_definition():
    plan = DualQuery(queries=PAIR, size=3, rounds=3, samples=1, eta=0.7, relation="replace_one")
    records = [[1, 1], [0, 1], [0, 1]]
    chances, sequences = law(records, plan)
    counts = plan.counts(records)
    assert counts.tolist() == [1, 2]
    for chance, sequence in zip(chances, sequences, strict=True):
        held, total = np.zeros(2, dtype=np.int64), 0.0
        for done, draw in enumerate(sequence):
            scores = scores_after(counts, held, done, plan.size)
            logs = signed_log_probabilities(scores, Fraction(plan.eta) / plan.size)
            total += logs[int(draw[0][1]), draw[0][0]]
            held += PAIR.of_record(best_record(draw))
        assert math.exp(total) == pytest.approx(chance, rel=1e-9)


def test_worked_updates():
    """Three of ten satisfy the query; the first record does, the second does not."""
    first = scores_after(np.array([3]), np.array([1]), 1, 10)
    second = scores_after(np.array([3]), np.array([1]), 2, 10)
    assert (first.tolist(), second.tolist()) == ([-7], [-4])
    chance = np.exp(signed_log_probabilities(second, Fraction(1, 10)))[:, 0]
    assert chance[0] == pytest.approx(math.exp(-0.4) / (math.exp(-0.4) + math.exp(0.4)))


@pytest.mark.parametrize("records", [[], [[1]], [[1], [1], [0]]], ids=str)
def test_a_release_follows_its_exact_law(records):
    """With one binary attribute and one draw the best record is what was drawn, so that the law is known."""
    plan = DualQuery(queries=BIT, size=3, rounds=3, samples=1, eta=1.5, relation="add_remove", search=QUICK)
    yes = sum(row[0] for row in records) / 3
    expected = []
    for sequence in itertools.product((0, 1), repeat=3):
        chance, exponent = 1.0, 0.0
        for value in sequence:
            up = 1 / (1 + math.exp(-2 * 1.5 * exponent))
            chance *= up if value else 1 - up
            exponent += yes - value
        expected.append(chance)
    draws = 500
    seen = np.zeros(8)
    for _ in range(draws):
        a, b, c = plan.release(records).codes[:, 0].tolist()
        seen[4 * a + 2 * b + c] += 1
    assert chisquare(seen, np.array(expected) * draws).pvalue > 1e-9


def correlated(count):
    generator = np.random.default_rng(5)
    first = generator.integers(0, 2, (count, 1))
    slips = generator.random((count, 3)) < 0.1
    return (np.repeat(first, 3, axis=1) ^ slips).astype(np.int64)


def test_the_largest_error_falls_with_more_rounds():
    queries = all_marginals((2, 2, 2), 3)
    data = correlated(2000)
    truth = queries.holds(data).mean(axis=0)
    errors = []
    for rounds in (2, 12, 150):
        plan = DualQuery(
            queries=queries, size=2000, rounds=rounds, samples=60, eta=0.3, relation="replace_one", search=QUICK
        )
        tries = [np.abs(plan.release(data).answer(queries) - truth).max() for _ in range(3)]
        errors.append(np.mean(tries))
    assert errors[2] < 0.08 < errors[1] < errors[0]


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize(
    "data",
    [
        [],
        np.zeros((0, 2), dtype=np.int64),
        [[1, 1]],
        [[0, 1]] * 50,
        [[99, -5], [None, "x"], 7, [0.5, math.nan], [True]],
        np.array([[np.nan, 1.0], [np.inf, 0.0]]),
        Tallied(np.array([[1, 1]]), np.array([1 << 40])),
        Tallied(np.array([[1, 1], [0, 0]]), np.array([0, 0])),
    ],
    ids=["nothing", "no rows", "one", "alike", "anything", "not finite", "huge count", "counts of 0"],
)
def test_any_data_give_records_of_the_domain(data, relation):
    plan = DualQuery(queries=PAIR, size=10, rounds=4, samples=3, eta=1, relation=relation)
    made = plan.release(data)
    assert made.codes.shape == (4, 2)
    assert set(np.unique(made.codes)) <= {0, 1}
    assert made.complete
    assert plan.counts(data).max() <= 10  # whatever the number of records, none counts beyond the public size
    assert made.marginal((0, 1)).sum() == pytest.approx(10)


def test_all_ways_to_hand_over_records_agree():
    queries = all_marginals((2, 3), 2)
    rows = np.random.default_rng(3).integers(0, [2, 3], (5000, 2))
    plan = DualQuery(queries=queries, size=5000, rounds=2, samples=2, eta=1, relation="replace_one")
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    tally = Tallied(distinct, counts)
    expected = queries.holds(rows).sum(axis=0)
    for given in (rows, rows.tolist(), tally, packed(tally, queries)):
        assert np.array_equal(plan.counts(given), expected)
    other = Queries(sizes=(2, 3), attributes=[[1]], values=[[2]])
    with pytest.raises(InvalidInput, match="other queries"):
        plan.counts(packed(tally, other))
    assert isinstance(packed(tally, queries), Packed)
    with pytest.raises(InvalidInput, match="whole count"):
        plan.reveal(expected[:2])


def test_a_run_goes_on_from_its_transcript_with_what_was_released_alone():
    queries = all_marginals((2, 2, 2), 2)
    data = correlated(400)
    plan = DualQuery(queries=queries, size=400, rounds=60, samples=40, eta=0.5, relation="replace_one")
    stopped = plan.release(data, seconds=1e-9)
    assert not stopped.complete
    assert 1 <= len(stopped) < 60
    text = stopped.transcript.to_json()
    made = plan.release(data, resume=Transcript.from_json(text))
    assert made.complete
    assert len(made) == 60
    assert np.array_equal(made.codes[: len(stopped)], stopped.codes)
    assert np.abs(made.answer(queries) - queries.holds(data).mean(axis=0)).max() < 0.25
    again = plan.release(data, resume=made.transcript)
    assert np.array_equal(again.codes, made.codes)
    other = DualQuery(queries=queries, size=401, rounds=60, samples=40, eta=0.5, relation="replace_one")
    with pytest.raises(InvalidInput, match="another plan"):
        other.release(data, resume=made.transcript)
    outside = Transcript(plan.fingerprint, np.full((1, 3), 2, dtype=np.int32))
    with pytest.raises(InvalidInput, match="value of each attribute"):
        plan.release(data, resume=outside)


def test_a_resumed_run_follows_the_law_of_the_rounds_that_are_left():
    """Two records of 0 while all of the data are 1: the third record is a known coin."""
    plan = DualQuery(queries=BIT, size=2, rounds=3, samples=1, eta=1, relation="replace_one", search=QUICK)
    begun = Transcript(plan.fingerprint, np.zeros((2, 1), dtype=np.int32))
    ones = sum(int(plan.release([[1], [1]], resume=begun).codes[2, 0]) for _ in range(600))
    assert abs(ones / 600 - 1 / (1 + math.exp(-4))) < 0.04


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"kind": "discreet.dual-query.transcript", "version": 2}', "null", '"x"'], ids=repr
)
def test_what_is_no_transcript_is_refused(text):
    with pytest.raises(InvalidInput, match="transcript"):
        Transcript.from_json(text)


def test_a_transcript_that_was_cut_or_made_longer_is_refused():
    text = Transcript("p", np.zeros((3, 2), dtype=np.int32)).to_json()
    for other in (
        text.replace("[3, 2]", "[2, 2]"),
        text.replace("[3, 2]", "[4, 2]"),
        text.replace("[3, 2]", "[-3, -2]"),
    ):
        with pytest.raises(InvalidInput, match="transcript"):
            Transcript.from_json(other)


def test_progress_is_told_round_by_round():
    told = []
    plan = DualQuery(queries=BIT, size=5, rounds=3, samples=1, eta=1, relation="add_remove")
    plan.release([[1]], progress=lambda *words: told.append(words))
    assert told == [("rounds", 1, 3), ("rounds", 2, 3), ("rounds", 3, 3)]


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("records", [1, 3])
def test_the_worst_case_is_a_pair_of_neighbours(relation, records):
    plan = DualQuery(queries=PAIR, size=7, rounds=2, samples=1, eta=1, relation=relation, records=records)
    one, other = plan.worst_case()
    assert one.counts.sum() == 7
    assert other.counts.sum() == (7 - records if relation == "add_remove" else 7)
    assert np.abs(plan.counts(one) - plan.counts(other)).max() <= records
    assert np.isfinite(plan.release(other).answer(PAIR)).all()


def test_how_hard_is_searched_changes_no_law_of_a_draw_and_no_plan():
    plain = DualQuery(queries=BIT, size=5, rounds=3, samples=1, eta=1, relation="add_remove")
    hard = DualQuery(
        queries=BIT, size=5, rounds=3, samples=1, eta=1, relation="add_remove", search=Search(starts=9, moves=0)
    )
    assert plain == hard
    assert plain.fingerprint == hard.fingerprint
    assert plain.loss == hard.loss
