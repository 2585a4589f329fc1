"""The auditor: it finds what is wrong, it leaves alone what is right, and it says how hard it tried."""

import math
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from discreet import Exponential, Geometric, InvalidParameter, PrivacyLoss
from discreet.auditing import audit, hostile_neighbours
from discreet.auditing.audit import FIRST, _stage
from discreet.auditing.draws import Drawn, Form, Raised, Source
from discreet.auditing.entries import our_theorems
from discreet.auditing.evidence import Claim, chance_above, chance_below, prove
from discreet.auditing.registry import REGISTRY, TIERS, examine, register, registered
from discreet.sensitivity import Count
from discreet.testing import (
    assert_constant,
    assert_order_free,
    assert_private,
    assert_row_by_row,
    assert_sensitivity,
)


def geometric(scale, generator):
    """Return a correct release of whole numbers, many at once."""
    success = -math.expm1(-1 / scale)

    def batch(data, count):
        return data + generator.geometric(success, count) - generator.geometric(success, count)

    return batch


def run(scale, claims, *, seed=0, **options):
    batch = geometric(scale, np.random.default_rng(seed))
    return audit(lambda data: batch(data, 1)[0], claims=claims, neighbours=(0, 1), batch=batch, **options)


# --- evidence ----------------------------------------------------------------------------------------------------


def test_confidence_bounds_hold_exactly():
    """Over all outcomes of n = 40 draws, a bound is wrong with probability at most alpha, for every chance."""
    hits = np.arange(41.0)
    for alpha in (0.05, 1e-3):
        low, high = chance_below(hits, 40, alpha), chance_above(hits, 40, alpha)
        for chance in (0.01, 0.2, 0.5, 0.83, 0.999):
            law = binom.pmf(hits, 40, chance)
            assert law[low > chance].sum() <= alpha
            assert law[high < chance].sum() <= alpha
            assert law[chance_below(hits, 40, 3 * alpha) > chance].sum() <= 3 * alpha


def test_a_claim_is_the_largest_chance_it_allows():
    claim = Claim.of(PrivacyLoss.pure(1))
    q = np.array([0.0, 0.1, 0.2, 0.5])
    assert claim.most(q) == pytest.approx([0, 0.1 * math.e, 0.2 * math.e, 1 - 0.5 / math.e], abs=1e-9)
    gaussian = Claim.of(PrivacyLoss.gaussian(mu=1))
    from scipy.special import ndtr, ndtri

    for chance in (1e-3, 0.05, 0.3):
        exact = float(ndtr(ndtri(chance) + 1))
        assert exact <= gaussian.most(np.array([chance]))[0] <= exact * 1.01 + 1e-4


def test_a_proof_needs_more_than_a_lucky_draw():
    claim = Claim.of(PrivacyLoss.pure(1))
    assert not prove("e", "d", (30, 9), (1000, 1000), claim, 0.0, 1e-4).refutes
    assert prove("e", "d", (300, 9), (1000, 1000), claim, 0.0, 1e-4).refutes
    assert prove("e", "d", (300, 9), (1000, 1000), claim, 0.0, 1e-4).epsilon < math.log(300 / 9)


# --- what it finds -----------------------------------------------------------------------------------------------


def test_five_percent_too_little_noise_is_found():
    found = run(1 / 1.05, PrivacyLoss.pure(1), draws=2_000_000)
    assert found.refuted
    assert 1 < found.epsilon <= 1.05
    assert "REFUTED" in str(found)


def test_a_true_claim_stands_and_the_bound_is_close():
    found = run(1.0, PrivacyLoss.pure(1), draws=1_000_000)
    assert not found.refuted
    assert 0.97 < found.epsilon <= 1
    assert found.slack < 0.04
    assert "not refuted" in str(found)
    assert "percent too little noise is refuted in 9 of 10 such audits" in str(found)


def test_the_power_it_states_is_that_of_its_test():
    """So much too little noise as an audit says it refutes 9 times in 10 is refuted as often, with as many draws."""
    stated = [run(1.0, PrivacyLoss.pure(1), seed=seed, draws=30_000).slack for seed in range(10)]
    assert max(stated) < 1.5 * min(stated)
    refuted = [run(1 / (1 + max(stated)), PrivacyLoss.pure(1), seed=s, draws=30_000).refuted for s in range(10, 50)]
    assert sum(refuted) >= 36


def test_too_little_noise_that_goes_unnoticed_is_not_said_to_be_noticed():
    """Each audit that missed 5 percent too little noise has to say that it notices more than that alone."""
    found = [run(0.95, PrivacyLoss.pure(1), seed=seed, draws=30_000) for seed in range(40)]
    missed = [one for one in found if not one.refuted]
    assert len(missed) >= 20
    assert all(one.slack > 1 / 0.95 - 1 for one in missed)


def test_the_power_is_less_where_a_release_stays_below_its_claim():
    batch = geometric(2.0, np.random.default_rng(3))
    found = audit(lambda d: batch(d, 1)[0], claims=PrivacyLoss.pure(1), neighbours=(0, 1), batch=batch, draws=100_000)
    assert 1 < found.slack < 1.4  # its noise could be half as large


def test_mechanisms_draw_many_at_once_after_a_stage_of_single_releases():
    calls = []

    class Counted(Geometric):
        def release(self, value, /):
            calls.append(np.size(value))
            return super().release(value)

    found = audit(Counted(sensitivity=1, epsilon=1), draws=50_000)
    assert not found.refuted
    assert calls.count(1) == 2 * FIRST
    assert sum(calls) == found.draws
    assert len(calls) - calls.count(1) <= 2 * found.stages
    records = Geometric(sensitivity=1, epsilon=1).of(Count(), relation="add_remove")
    assert set(np.asarray(records.draws([1, 2], 1000)).tolist()) > {1, 2, 3}
    assert records.clamped(0, 2).draws([1, 2], 5) is not None
    assert Exponential(epsilon=1).then(str).draws is None


def test_with_draws_alone_no_clock_is_read(monkeypatch):
    def never(*_):
        raise AssertionError("a clock was read to decide how many draws are made")

    found = audit(Geometric(sensitivity=1, epsilon=1), draws=20_000)
    monkeypatch.setattr(sys.modules["discreet.auditing.audit"], "_first_count", never)
    ticks = iter(range(0, 10**9, 10**6))  # every look at the clock finds eleven days gone
    monkeypatch.setattr(time, "monotonic", lambda: float(next(ticks)))
    again = audit(Geometric(sensitivity=1, epsilon=1), draws=20_000)
    assert (again.draws, again.stages) == (found.draws, found.stages)


def test_gaussian_claims_are_tested_at_every_delta():
    def batch(generator, mu):
        return lambda data, count: np.rint((data * mu + generator.normal(0, 1, count)) * 1024)

    wrong = batch(np.random.default_rng(1), 1.06)
    assert audit(lambda d: wrong(d, 1)[0], claims=PrivacyLoss.gaussian(1), neighbours=(0, 1), batch=wrong).refuted
    right = batch(np.random.default_rng(2), 1.0)
    found = audit(
        lambda d: right(d, 1)[0], claims=PrivacyLoss.gaussian(1), neighbours=(0, 1), batch=right, draws=400_000
    )
    assert not found.refuted
    assert 0.9 < found.mu <= 1
    assert found.slack < 0.1


@pytest.mark.parametrize(
    ("release", "neighbours"),
    [
        (lambda rows: 1 / len(rows), ([1], [])),  # an exception
        (lambda rows: dict.fromkeys(rows, 1), (["a"], ["a", "b"])),  # a key
        (lambda rows: list(rows), ([1, 2], [1])),  # a length
        (lambda rows: float("nan") if rows else 0.0, ([1], [])),  # not a number
        (lambda rows: -0.0 if rows else 0.0, ([1], [])),  # the sign of zero
        (lambda rows: ["no"] * 60 + (["yes"] if rows else ["no"]), ([1], [])),  # the end of a sequence
        (lambda rows: str(len(rows)), ([1], [])),  # a word
    ],
    ids=["exception", "key", "length", "nan", "zero", "sequence", "word"],
)
def test_outputs_of_every_kind(release, neighbours):
    found = audit(release, claims=PrivacyLoss.pure(1), neighbours=neighbours, draws=2000)
    assert found.refuted
    assert found.epsilon > 3


def test_reused_noise_is_found_in_the_differences():
    generator = np.random.default_rng(3)

    def batch(data, count):
        noise = generator.geometric(0.05, count) - generator.geometric(0.05, count)
        return np.stack([data[0] + noise, data[1] + noise], axis=1)

    found = audit(
        lambda data: batch(data, 1)[0], claims=PrivacyLoss.pure(0.2), neighbours=[((0, 0), (0, 1))], batch=batch
    )
    assert found.refuted


class Clocked(Source):
    """A source whose clock is an input of the test: durations are handed to the auditor, not measured."""

    def draw(self, data, count):
        return Drawn(([0] * count, [0] * count), (self.release(data[0], count), self.release(data[1], count)))


def test_what_takes_longer_is_an_output_too():
    generator = np.random.default_rng(4)
    source = Clocked(lambda scale, count: generator.exponential(scale, count), timing=True)
    claim = Claim.of(PrivacyLoss.pure(0.1))
    assert any(proof.refutes for proof in _stage(source, (2.0, 1.0), 20_000, claim, 0.0, 1e-4))


def test_a_drift_of_the_clock_that_both_share_proves_nothing():
    for seed in range(40):
        generator = np.random.default_rng(seed)
        drift = np.repeat(generator.exponential(1, 200), 10)

        def clock(_, count, generator=generator, drift=drift):
            return drift[:count] + 0.01 * generator.random(count)

        proofs = _stage(Clocked(clock, timing=True), (0, 1), 2000, Claim.of(PrivacyLoss.pure(0.1)), 0.0, 1e-4)
        assert not any(proof.refutes for proof in proofs)


# --- what it leaves alone ----------------------------------------------------------------------------------------


RARE = {
    "None": lambda r: None if r.random() < 1 / 2000 else r.integers(2).item(),
    "word": lambda r: "x" if r.random() < 1 / 2000 else r.random(),
    "longer": lambda r: [1, 2, 3] if r.random() < 1 / 2000 else [1, r.integers(2).item()],
    "huge": lambda r: 2**70 if r.random() < 1 / 2000 else int(r.integers(2**58, 2**62)),
}


@pytest.mark.parametrize("output", RARE.values(), ids=RARE)
def test_a_rare_odd_output_does_not_change_how_the_others_are_seen(output):
    """The law is the same on both data sets; once, one odd output made half of such audits refute it."""
    for seed in range(30):
        generator = np.random.default_rng(seed)
        found = audit(
            lambda _, g=generator: output(g),
            claims=PrivacyLoss.pure(0.1),
            neighbours=([1], [1, 2]),
            draws=2000,
        )
        assert not found.refuted, str(found)


def test_later_pieces_are_put_into_the_form_of_the_first(monkeypatch):
    monkeypatch.setattr(sys.modules["discreet.auditing.audit"], "AT_ONCE", 500)
    for seed in range(20):
        generator = np.random.default_rng(seed)

        def batch(_, count, generator=generator):
            made = generator.integers(0, 2, count).tolist()
            if generator.random() < 0.2:
                made[0] = None
            return made

        found = audit(
            lambda d: batch(d, 1)[0],
            claims=PrivacyLoss.pure(0.1),
            neighbours=(0, 1),
            batch=batch,
            draws=2000,
        )
        assert not found.refuted, str(found)


@pytest.mark.parametrize("claim", [PrivacyLoss.pure(12), PrivacyLoss.gaussian(mu=10)], ids=["pure", "gaussian"])
def test_so_few_draws_that_nothing_is_refuted_do_not_boast(claim):
    found = audit(lambda d: d, claims=claim, neighbours=(0, 1), batch=lambda d, n: np.full(n, d), draws=4000)
    assert not found.refuted
    assert found.slack == math.inf
    assert "gross mistake" in str(found)


class Odd:
    def __repr__(self):
        raise RuntimeError

    def __len__(self):
        raise RuntimeError

    def __float__(self):
        raise RuntimeError


class Mute(Exception):
    def __str__(self):
        raise RuntimeError


def mute(_):
    raise Mute


@pytest.mark.parametrize(
    "release",
    [
        lambda d: 10**400,
        lambda d: [10**400, 1],
        lambda d: None if d else 10**5000,
        lambda d: np.array(1.5),
        lambda d: np.ma.masked,
        lambda d: list,
        lambda d: Odd(),
        lambda d: {1: Odd()},
        lambda d: float("inf") if d else -math.inf,
        lambda d: [1.7e308, -1.7e308],
        lambda d: {"a"},
        lambda d: (x for x in [1]),
        lambda d: [0.0] * 500,
        mute,
        lambda d: exit(0),
    ],
)
def test_odd_outputs_do_not_stop_an_audit(release):
    found = audit(release, claims=PrivacyLoss.pure(1), neighbours=([], []), draws=200)
    assert not found.refuted


def test_false_alarms_are_as_rare_as_promised():
    """500 audits of a correct mechanism at alpha 0.05: no more alarms than a binomial law allows."""
    alarms = sum(run(1.0, PrivacyLoss.pure(1), seed=seed, draws=2000, alpha=0.05).refuted for seed in range(500))
    assert alarms <= binom.ppf(1 - 1e-9, 500, 0.05)


@pytest.mark.slow
def test_no_false_alarm_at_the_usual_alpha():
    for seed in range(500):
        assert not run(1.0, PrivacyLoss.pure(1), seed=seed, draws=2000, alpha=1e-4).refuted


# --- what is registered ------------------------------------------------------------------------------------------


def test_every_mechanism_is_registered():
    import discreet.mechanisms

    classes = {
        value
        for name, value in vars(discreet.mechanisms).items()
        if isinstance(value, type) and hasattr(value, "release") and hasattr(value, "loss") and name[0].isupper()
    }
    there = {type(entry.release) for entry in registered()} | {
        type(part) for entry in registered() for part in (getattr(entry.release, "mechanism", None),) if part
    }
    abstract = {"Mechanism", "Processed", "Composed", "Repeated", "Lifted", "Grouped"}
    missing = {cls.__name__ for cls in classes - there} - abstract
    assert not missing, f"register these in discreet.auditing.registry: {sorted(missing)}"


SLOW = ("adaptive tables", "spanning tree", "MWEM on tables")
"""Each of their releases fits a model."""

ENTRIES = [
    pytest.param(entry, id=entry.name, marks=pytest.mark.slow if entry.name.startswith(SLOW) else ())
    for entry in registered()
]


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_releases_something(entry):
    """An entry that always raises could never be refuted."""
    for pair in entry.neighbours:
        for data in pair:
            once = entry.release if callable(entry.release) else entry.release.release
            assert once(data) is not None


@pytest.mark.parametrize("entry", ENTRIES)
def test_no_claim_of_ours_is_refuted(entry):
    """It draws from the secure source; alpha is 1e-9. No clock: as many draws on a busy machine as on an idle one."""
    at_once = entry.batch is not None or getattr(entry.release, "draws", None) is not None
    found = examine(entry, replace(TIERS["fast"], seconds=None, draws=12_000 if at_once else 300))
    assert not found.refuted, str(found)


@pytest.mark.parametrize("entry", our_theorems(), ids=lambda entry: entry.name)
def test_a_theorem_that_claimed_less_would_be_refuted(entry):
    """Nine tenths of the epsilon, or of mu, is too little; the shuffling theorem has slack, and gets half."""
    part = 0.5 if entry.name == "shuffled responses" else 0.9
    whole = entry.claims.epsilon(1e-3)
    less = {"three Poisson samples": 3 * PrivacyLoss.gaussian(mu=1).sampled(0.2)}.get(
        entry.name, PrivacyLoss.approximate(part * whole, entry.claims.delta(whole) / 2)
    )
    found = audit(entry.release, claims=less, neighbours=list(entry.neighbours), batch=entry.batch, draws=2_000_000)
    assert found.refuted, str(found)


def test_registering_from_outside():
    entry = register("a test of ours", Geometric(sensitivity=1, epsilon=1))
    try:
        assert entry in registered()
        with pytest.raises(InvalidParameter, match="registered already"):
            register("a test of ours", Geometric(sensitivity=1, epsilon=1))
    finally:
        del REGISTRY["a test of ours"]
    with pytest.raises(InvalidParameter, match="claim"):
        register("no claim", len)


# --- for others --------------------------------------------------------------------------------------------------


def test_assert_private_fails_with_the_verdict():
    with pytest.raises(AssertionError, match="REFUTED"):
        assert_private(len, claims=PrivacyLoss.pure(1), neighbours=([1, 2], [1]))
    with pytest.raises(InvalidParameter, match="tier"):
        assert_private(len, claims=PrivacyLoss.pure(1), neighbours=([1, 2], [1]), tier="huge")


def test_the_plugin_offers_a_fixture_and_a_tier(pytester_run):
    text = """
    def test_tier(assert_private):
        import os
        assert os.environ["DISCREET_TIER"] == "nightly"
        from discreet import Geometric
        assert not assert_private(Geometric(sensitivity=1, epsilon=1), tier="fast").refuted
    """
    done = pytester_run(text, "--privacy-tier", "nightly")
    assert done.returncode == 0, done.stdout


def test_invariants_catch_what_they_should():
    assert_sensitivity(len, [([1], []), ([1, 2], [1])], sensitivity=1)
    with pytest.raises(AssertionError, match="moves the answer by 2"):
        assert_sensitivity(lambda rows: [sum(rows), sum(rows)], [([1], [])], sensitivity=1)
    assert_sensitivity(lambda rows: [sum(rows), sum(rows)], [([1], [])], sensitivity=1, norm=math.inf)
    with pytest.raises(AssertionError, match="no noise can hide"):
        assert_sensitivity(lambda rows: float("nan"), [([1], [])], sensitivity=1)
    assert_order_free(lambda rows: math.fsum(rows), [1e16, 1.0, -1e16] * 5)
    with pytest.raises(AssertionError, match="another order"):
        assert_order_free(lambda rows: float(np.cumsum(rows)[-1]), [1e16, 1.0, -1e16] * 5)
    with pytest.raises(AssertionError, match="influence each other"):
        assert_row_by_row(lambda rows: [row - min(rows) for row in rows], [1, 2], [5])
    with pytest.raises(AssertionError, match="costs nothing"):
        assert_constant(len, [[1], []])
    with pytest.raises(AssertionError, match="moves the answer by 100"):
        assert_sensitivity(lambda rows: {1: 100 * len(rows), 2: 0}, [([1, 2], [1])], sensitivity=1)
    with pytest.raises(AssertionError, match="which entries"):
        assert_sensitivity(lambda rows: list(rows), [([1, 2], [1])], sensitivity=5)
    with pytest.raises(InvalidParameter, match="norm"):
        assert_sensitivity(len, [([1], [])], sensitivity=1, norm=0.5)
    with pytest.raises(AssertionError, match="another order"):
        assert_order_free(lambda rows: np.array([float(np.cumsum(rows)[-1])]), [0.1, 0.2, 0.3, 0.7] * 5)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_hostile_neighbours_are_neighbours(relation):
    rows = {"amount": (0, 500), "city": ["Ulm", "Bonn"]}
    for name, one, other in hostile_neighbours(rows, relation):
        if relation == "add_remove":
            assert repr(other[: len(one)]) == repr(one), name
            assert len(other) == len(one) + 1
        else:
            assert sum(repr(a) != repr(b) for a, b in zip(one, other, strict=True)) == 1, name
        assert len({id(row) for row in one + other}) == len(one) + len(other)
    people = {**rows, "user": "key"}
    names = set()
    for name, one, other in hostile_neighbours(people, relation):
        names.add(name)
        mine = {user: [repr(r) for r in one if r["user"] == user] for user in {r["user"] for r in one + other}}
        changed = [user for user, had in mine.items() if had != [repr(r) for r in other if r["user"] == user]]
        assert len(changed) == 1, name
    assert {"amount: nan", "city: a rare key", "user: a heavy user"} <= names


def test_descriptions_that_are_none_are_refused():
    for wrong in (3, (5, 0), (0, math.inf), (True, False)):
        with pytest.raises(InvalidParameter, match="described"):
            list(hostile_neighbours({"amount": wrong}))


# --- bad input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"release": 3, "claims": PrivacyLoss.pure(1), "neighbours": (0, 1)}, "mechanism"),
        ({"release": len, "neighbours": ([], [1])}, "claimed"),
        ({"release": len, "claims": 1.0, "neighbours": ([], [1])}, "claimed"),
        ({"release": len, "claims": PrivacyLoss.pure(1)}, "neighbours"),
        ({"release": len, "claims": PrivacyLoss.pure(1), "neighbours": []}, "pair"),
        ({"release": len, "claims": PrivacyLoss.pure(1), "neighbours": ([], [1], [2])}, "pair"),
        ({"release": len, "claims": PrivacyLoss.pure(1), "neighbours": (([], [1]), ([1], [2]))}, "one pair or two"),
        ({"release": len, "claims": PrivacyLoss.pure(1), "neighbours": (iter([]), [1])}, "read only once"),
        ({"release": len, "claims": PrivacyLoss.approximate(1, 1), "neighbours": ([], [1])}, "rules nothing out"),
        ({"release": len, "claims": PrivacyLoss.pure(1), "neighbours": ([], [1]), "batch": lambda d, n: [1]}, "batch"),
        ({"release": len, "claims": PrivacyLoss.pure(1), "neighbours": ([], [1]), "alpha": 0}, "alpha"),
        ({"release": len, "claims": PrivacyLoss.pure(1), "neighbours": ([], [1]), "seconds": -1}, "seconds"),
        ({"release": len, "claims": PrivacyLoss.pure(1), "neighbours": ([], [1]), "draws": 3}, "draws"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    release = arguments.pop("release")
    with pytest.raises(InvalidParameter, match=message):
        audit(release, **arguments)


def test_exceptions_are_outputs_and_do_not_stop_an_audit():
    drawn = Source(lambda x: 1 / x).draw((0, 1), 70)
    assert isinstance(drawn.outputs[0][0], Raised)
    assert Form.of(*drawn.outputs).kind == "anything"
    assert Form.of([1], [2]).put([3, None]).strange.tolist() == [False, True]
