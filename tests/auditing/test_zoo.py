"""Every broken specimen breaks its claim on its neighbours, and every correct one keeps it.

Where the law of a specimen is known it is computed, and the sampler is compared with it; elsewhere the probabilities of
an event are bounded from draws. Seeds are fixed, so a test passes always or never; with other seeds one of them would
fail with a chance below 10^-6.
"""

import math
import pickle
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

sys.path.insert(0, str(Path(__file__).parent))

from zoo_kinds import delta
from zoo_laws import LAWS, law_of

from discreet.auditing.zoo import BROKEN, CORRECT

ALL = BROKEN + CORRECT
SIMULATED = {"porous-laplace", "porous-gaussian", "coarser-sum", "sparse-restarted-for-free"}
SEEN_OTHERWISE = {"exception-on-one-record", "slow-on-one-record"}
SURE = 1e-9


def named(specimens, names=None):
    return [pytest.param(s, id=s.name) for s in specimens if names is None or s.name in names]


def specimen(name):
    return next(s for s in ALL if s.name == name)


def outputs(s, x, n, seed):
    rng = np.random.default_rng(seed)
    return s.batch(x, n, rng) if s.batch else np.array([s.run(x, rng) for _ in range(min(n, 5000))])


def bounds(seen, n):
    """Return what a probability lies between, wrongly with a chance of 2e-9 (Clopper and Pearson)."""
    low = stats.beta.ppf(SURE, seen, n - seen + 1) if seen else 0.0
    return float(low), float(stats.beta.isf(SURE, seen + 1, n - seen)) if seen < n else 1.0


def proved(s, event, n, seed):
    """Return a lower bound on ``P - e^epsilon Q`` for an event, the better of both directions."""
    counts = [int(np.count_nonzero(event(outputs(s, x, n, seed + i)))) for i, x in enumerate(s.neighbours)]
    limits = [bounds(count, n) for count in counts]
    return max(a[0] - math.exp(s.epsilon) * b[1] for a, b in (limits, limits[::-1]))


# --- what a specimen is ------------------------------------------------------------------------------------------


def test_there_are_enough_and_names_are_unique():
    assert len(BROKEN) >= 32
    assert len(CORRECT) >= 12
    assert len({s.name for s in ALL}) == len(ALL)
    assert {s.name for s in ALL} - set(LAWS) == SIMULATED | SEEN_OTHERWISE - {"slow-on-one-record"}


@pytest.mark.parametrize("s", named(ALL))
def test_a_specimen_is_described(s):
    assert s.name == s.name.lower().replace(" ", "-")
    assert bool(s.mistake) == (s in BROKEN)
    assert s.mistake == "" or s.mistake.endswith(".")
    assert any(str(year) in s.paper for year in range(1965, 2027))
    assert s.claims.relation in (None, s.relation)
    assert math.isfinite(s.epsilon)


@pytest.mark.parametrize("s", named(ALL))
def test_releases_are_repeatable_and_travel_between_processes(s):
    again = pickle.loads(pickle.dumps(s))
    x = s.neighbours[0]
    assert repr(s.run(x, np.random.default_rng(5))) == repr(again.run(x, np.random.default_rng(5)))
    if s.batch:
        one, other = (list(t.batch(x, 7, np.random.default_rng(5))) for t in (s, again))
        assert len(one) == 7
        assert repr(one) == repr(other)


@pytest.mark.parametrize("s", named(ALL, {s.name for s in ALL if s.batch}))
def test_one_release_is_like_one_of_many(s):
    one = s.run(s.neighbours[0], np.random.default_rng(5))
    many = s.batch(s.neighbours[0], 3, np.random.default_rng(5))
    assert np.shape(one) == np.shape(many[0])
    assert isinstance(one, int | float | tuple | dict)


# --- what is true of it ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("s", named(BROKEN, LAWS.keys() - SEEN_OTHERWISE))
def test_a_broken_specimen_breaks_its_claim(s):
    law = law_of(s)
    assert delta(law.p, law.q, s.epsilon) > s.delta + 5e-4


@pytest.mark.parametrize("s", named([*CORRECT, specimen("slow-on-one-record")]))
def test_a_correct_specimen_keeps_its_claim(s):
    law = law_of(s)
    top = s.epsilon
    for e in (0.1 * top, 0.5 * top, 0.9 * top, top, 1.1 * top):
        assert delta(law.p, law.q, e) <= s.claims.delta(e) * (1 + 1e-9) + 1e-11


@pytest.mark.parametrize("s", named(ALL, LAWS.keys()))
def test_the_sampler_has_the_law(s):
    """By the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart for all codes, and exactly for the event."""
    law = law_of(s)
    worst = [law.p > math.exp(s.epsilon) * law.q, law.q > math.exp(s.epsilon) * law.p]
    for i, (x, masses) in enumerate(zip(s.neighbours, (law.p, law.q), strict=True)):
        assert math.isclose(masses.sum(), 1, abs_tol=1e-9)
        codes = law.code(outputs(s, x, 20_000, 11 + i))
        seen = np.bincount(codes, minlength=masses.size)
        gap = np.abs(np.cumsum(seen) / codes.size - np.cumsum(masses)).max()
        assert gap <= math.sqrt(math.log(2 / SURE) / (2 * codes.size))
        for event in worst:
            low, high = bounds(int(seen[event].sum()), codes.size)
            assert low - 1e-12 <= masses[event].sum() <= high + 1e-12


# --- those seen by simulation ------------------------------------------------------------------------------------


def lowest_bit(x):
    """Return the exponent of the lowest bit set in each double; 0 has none and is said to end above all others."""
    mantissa, exponent = np.frexp(x)
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    return np.where(whole == 0, 2000, exponent - 53 + np.log2(np.maximum(whole & -whole, 1)).astype(int))


@pytest.mark.parametrize("name", ["porous-laplace", "porous-gaussian", "coarser-sum"])
def test_the_lowest_bits_give_the_answer_away(name):
    """Below 2^-53 nothing is left of noise that was added to 1."""
    assert proved(specimen(name), lambda out: lowest_bit(out) < -53, 50_000, 3) > specimen(name).delta + 0.05


def test_the_lattice_hides_the_lowest_bits():
    for name in ("lattice-laplace", "lattice-gaussian"):
        assert all(lowest_bit(outputs(specimen(name), x, 1000, 3)).min() >= -10 for x in (0.0, 1.0))


def test_restarting_for_free_breaks_the_claim():
    def more_above_at_even_places(out):
        return out[:, ::2].sum(axis=1) - out[:, 1::2].sum(axis=1) >= 6

    assert proved(specimen("sparse-restarted-for-free"), more_above_at_even_places, 50_000, 3) > 0.1


def test_one_stream_restarts_as_many_do():
    s = specimen("sparse-restarted-for-free")
    rng = np.random.default_rng(4)
    single = np.array([s.run(s.neighbours[1], rng) for _ in range(4000)]).sum(axis=1)
    assert stats.ks_2samp(single, s.batch(s.neighbours[1], 20_000, rng).sum(axis=1)).pvalue > SURE


def test_poisson_batches_keep_their_claim_for_every_event():
    """By the likelihood ratio, simulated: its expected excess is the delta that is claimed."""
    s, rng, draws = specimen("poisson-batches"), np.random.default_rng(5), 100_000

    def loss(out):
        return np.log(0.9 + 0.1 * np.exp((out - 0.5) / 0.3**2)).sum(axis=1)

    with_one = np.maximum(-np.expm1(s.epsilon - loss(s.batch((1,), draws, rng))), 0).mean()
    without = np.maximum(-np.expm1(s.epsilon + loss(s.batch((), draws, rng))), 0).mean()
    assert max(with_one, without) <= s.delta + math.sqrt(math.log(1 / SURE) / (2 * draws))


# --- those seen otherwise ----------------------------------------------------------------------------------------


def test_one_record_makes_the_query_fail():
    s, rng = specimen("exception-on-one-record"), np.random.default_rng(1)
    assert all(isinstance(s.run(s.neighbours[0], rng), int) for _ in range(100))
    for _ in range(100):
        with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
            s.run(s.neighbours[1], rng)


def test_only_the_time_tells(instructions):
    def medians(s):
        """Return how much work a release is on either neighbour."""
        rng = np.random.default_rng(1)
        return [instructions(lambda data=data: s.run(data, rng)) for data in s.neighbours]

    slow, always = (specimen(name) for name in ("slow-on-one-record", "always-slow"))
    assert [s for s in ALL if s.shows == "duration"] == [slow, always]
    fast, long = medians(slow)
    assert long > 2 * fast
    one, other = medians(always)
    assert max(one, other) < 2 * min(one, other)


@pytest.mark.parametrize("s", named(ALL))
def test_a_specimen_is_fast_enough_to_be_audited(s):
    """A busy machine is given five times as long as 100,000 a second at once and 20,000 singly take."""
    rng, x = np.random.default_rng(1), s.neighbours[0]
    if s.batch:
        assert best(lambda: s.batch(x, 2000, rng)) < 2000 / 20_000
    if s.name != "exception-on-one-record":
        assert best(lambda: [s.run(x, rng) for _ in range(20)]) < 20 / 4_000


def best(action):
    times = []
    for _ in range(5):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)
