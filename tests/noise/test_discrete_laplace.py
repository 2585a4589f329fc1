import importlib
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from noise_reference import (
    ALARM,
    EDGES,
    MORE,
    Passing,
    Scripted,
    around,
    ball,
    drawing_from,
    fit,
    floor,
    geometric_cdf,
    integer_edges,
    laplace_cdf,
    laplace_of,
    precisely,
    residues_are_even,
    signed,
    signs_ignore_sizes,
    sure,
    tail,
    uniform,
)
from scipy import stats

from discreet.noise import coins, discrete_laplace, fast, geometric
from discreet.noise.bits import source
from discreet.noise.shapes import INT64

laplace_module = importlib.import_module("discreet.noise.discrete_laplace")

FAST = [1e-6, 0.05, 0.5, 1, Fraction(1, 3), Fraction(22, 7), 10, 1e4, 2**24 - 1, 2**24]
SPLIT = [np.nextafter(2.0**24, np.inf), 2**24 + 1, 1e9, Fraction(10**16, 7), 1e15, 2**57]
BIG = [2**57 + 32, Fraction(10**30, 3), 2**900]
SCALES = FAST + SPLIT + BIG


def enough(scale):
    return 1500 if scale > 2**57 else 100_000


@pytest.mark.usefixtures("deterministic")
@pytest.mark.parametrize("scale", SCALES, ids=str)
class TestLaw:
    def test_laplace(self, scale):
        z = discrete_laplace(scale, size=enough(scale))
        check_laplace(z, scale)

    def test_geometric(self, scale):
        g = geometric(scale, size=enough(scale))
        assert min(g) >= 0
        assert fit(g, geometric_cdf(scale), integer_edges(scale, stats.expon.ppf)) > ALARM
        k = max(1, int(scale * 9))
        assert tail(g, k, np.exp(-k / float(scale))) > ALARM


def check_laplace(z, scale):
    assert fit(z, laplace_cdf(scale), integer_edges(scale, stats.laplace.ppf)) > ALARM
    assert signs_ignore_sizes(z) > ALARM
    for times in (3, 8):
        k = max(1, int(scale * times))
        assert tail(z, k, 2 * np.exp(-k / float(scale)) / (1 + np.exp(-1 / float(scale)))) > ALARM
    if scale >= 1e4:
        assert residues_are_even(z) > ALARM


@pytest.mark.slow
@pytest.mark.usefixtures("deterministic")
@pytest.mark.parametrize("scale", FAST + SPLIT, ids=str)
def test_ten_million_draws(scale):
    check_laplace(discrete_laplace(scale, size=10_000_000), scale)


@pytest.mark.usefixtures("deterministic")
@pytest.mark.parametrize("scales", [FAST, FAST + SPLIT, [0.5, 10, 2**60]], ids=["fast", "split", "big"])
def test_each_element_has_its_own_scale(scales):
    rows = 1000 if max(scales) > 2**57 else 5_000
    z = discrete_laplace(np.array([Fraction(s) for s in scales]), size=(rows, len(scales)))
    for column, scale in zip(z.T, scales, strict=True):
        check_laplace(column, scale)


@pytest.mark.usefixtures("deterministic")
@pytest.mark.parametrize("scale", [0.5, 10, 2**24])
def test_the_deep_tail_has_the_right_law(scale):
    """Words with 17 leading zeros are never believed; given them, |Z| is a geometric variable further out."""
    with drawing_from(Passing(source(), lambda words: words >> np.uint64(17))):
        z = np.abs(discrete_laplace(scale, size=3000)).astype(float)
    s = float(scale)

    def cdf(k):
        """``1 - P[V < 2 a^(k+1) / (1 + a) | V < 2^-17]``."""
        return 1 - np.minimum(1, np.exp(17 * np.log(2) + np.log(2 / (1 + np.exp(-1 / s))) - (np.floor(k) + 1) / s))

    assert fit(z, cdf, np.floor(s * (12 + np.arange(400) / 40))) > ALARM


def hard_words(scale, ks):
    """Return words whose cells touch the boundary between k - 1 and k."""
    s = ball(Fraction(scale))
    cells = [c for k in ks for c in around(2 * (-k / s).exp() / (1 + (-1 / s).exp()), 63)]
    return signed(cells + EDGES)


def ladder(scale):
    """Return values of k from next to zero to the far tail."""
    return sorted(
        {max(1, int(x * float(scale)) + j) for x in (0, 0.1, 0.7, 1, 2, 5, 11, 11.7, 12, 30) for j in (0, 1, 2)}
    )


HARD = [Fraction(1, 50), 0.3, 1, Fraction(22, 7), 10, 1e4, Fraction(2**24) - Fraction(1, 3), 2**24]


def wrong_answers(scale):
    """Count the samples that differ from the reference, drawn together and one by one."""
    with precisely():
        words = hard_words(scale, ladder(scale))
        truth = [laplace_of(w, scale) for w in words]
    with drawing_from(Scripted(words)):
        together = discrete_laplace(scale, size=len(words)).tolist()
    apart = []
    for word in words:
        with drawing_from(Scripted([word])):
            apart.append(discrete_laplace(scale))
    with drawing_from(Scripted(words)):
        by_element = discrete_laplace([Fraction(scale)] * len(words)).tolist()
    return sum(len(set(answers)) > 1 for answers in zip(truth, together, apart, by_element, strict=True))


@pytest.mark.parametrize("scale", HARD, ids=str)
def test_hard_words_are_decided_right(scale):
    assert wrong_answers(scale) == 0


@pytest.mark.parametrize("scale", [1, 2**24])
def test_without_slack_the_comparison_would_notice(scale, monkeypatch):
    monkeypatch.setattr(laplace_module, "SLACK", 0.0)
    assert wrong_answers(scale) > 0


def test_a_wrong_logarithm_would_be_noticed(monkeypatch):
    log = np.log
    monkeypatch.setattr(np, "log", lambda x, out=None: np.multiply(log(x), 1 + 1e-12, out=out))
    assert wrong_answers(1e4) > 5


def test_believing_short_words_would_be_noticed(monkeypatch):
    monkeypatch.setattr(laplace_module, "BELIEVED", 1)
    monkeypatch.setattr(laplace_module, "SLACK", 1e-30)
    assert wrong_answers(10) > 5


@pytest.mark.parametrize("scale", [0.3, 2**24])
def test_with_infinite_slack_balls_decide_everything(scale, monkeypatch):
    for module in (laplace_module, coins):
        monkeypatch.setattr(module, "SLACK", np.inf)
    assert wrong_answers(scale) == 0


def test_random_words():
    words = np.random.default_rng(1).integers(0, 2**64, 2000, dtype=np.uint64)
    for scale in (Fraction(1, 3), 100, 2**24 - 1):
        with precisely(200):
            truth = [laplace_of(int(w), scale) for w in words]
        with drawing_from(Scripted(words)):
            assert discrete_laplace(scale, size=2000).tolist() == truth


def low_bits(scale):
    return max(0, int(np.frexp(float(scale))[1]) - 21) if scale > 2**24 else 0


def geometric_of(word, scale, low):
    """Return the geometric sample of a word for the high digits and given low digits."""
    bits = low_bits(scale)
    return (floor(-ball(Fraction(scale) / 2**bits) * uniform(word >> 1, 63).log()) << bits) + low


@pytest.mark.parametrize("scale", [0.3, 2**24, 2**24 + 1, Fraction(10**16, 7), 2**57], ids=str)
def test_hard_high_digits(scale):
    bits = low_bits(scale)
    with precisely():
        ks = [1, 2, 3, 1000, 2**20, 2**22, 2**24] if scale > 1 else [1, 2, 3]
        boundaries = [(-ball(k * 2**bits / Fraction(scale))).exp() for k in ks]
        words = signed([c for b in boundaries for c in around(b, 63)] + EDGES)
        truth = [geometric_of(w, scale, MORE >> (64 - bits)) for w in words]
    with drawing_from(Scripted(words)):
        assert geometric(scale, size=len(words)).tolist() == truth
    for word, answer in zip(words, truth, strict=True):
        with drawing_from(Scripted([word])):
            assert geometric([scale])[0] == answer


def wrong_low_digits(scale):
    """Count wrong answers of the coin that accepts low digits."""
    bits, wrong = low_bits(scale), 0
    for low in (1, 5, 2 ** (bits - 1) + 1, 2**bits - 1):
        with precisely():
            p = (-ball(low / Fraction(scale))).exp()
            for coin in around(p, 64):
                kept = sure(uniform(coin, 64), p)
                truth = geometric_of(2**63, scale, low if kept else MORE >> (64 - bits))
                with drawing_from(Scripted([2**63, low << (64 - bits), coin])):
                    wrong += geometric(scale) != truth
    return wrong


@pytest.mark.parametrize("scale", [2**24 + 1, Fraction(10**16, 7), 1e15, 2**57], ids=str)
def test_hard_low_digits(scale):
    assert wrong_low_digits(scale) == 0


def test_low_digits_without_slack_would_be_noticed(monkeypatch):
    monkeypatch.setattr(coins, "SLACK", -1.0)
    assert wrong_low_digits(Fraction(10**16, 7)) > 3


@pytest.mark.parametrize("scale", [2**57 + 32, 10**40, Fraction(10**30, 3)], ids=str)
def test_hard_words_of_huge_scales(scale):
    bits = int(scale).bit_length() - 21
    low = (sum(MORE << 64 * i for i in range(9)) & ((1 << 64 * -(-bits // 64)) - 1)) >> (-bits % 64)
    with precisely():
        for k in (1, 2, 10**5, 2**21, 2**25):
            for word in around((-ball(k * 2**bits / Fraction(scale))).exp(), 64):
                truth = (floor(-ball(scale / Fraction(2**bits)) * uniform(word, 64).log()) << bits) + low
                with drawing_from(Scripted([word])):
                    assert geometric(scale) == truth


@pytest.mark.usefixtures("deterministic")
@pytest.mark.parametrize("scale", [2**57, np.nextafter(2.0**57, np.inf), 2**60, 2**70, 10**300], ids=str)
def test_samples_never_wrap(scale):
    z = discrete_laplace(scale, size=200)
    assert z.dtype == (np.int64 if scale <= 2**57 else object)
    assert all(type(x) is int for x in z.tolist())
    assert np.median(np.abs(z.astype(float))) == pytest.approx(float(scale) * np.log(2), rel=0.6)
    assert type(discrete_laplace(scale)) is int


def test_a_sample_beyond_64_bits_becomes_a_python_integer():
    """A uniform below exp(-64) at scale 2^57: the array changes its type rather than wrap."""
    with drawing_from(Scripted([2**63, 0, 2**63, 0, 0, 2**63])):
        g = geometric(2**57, size=3)
    assert g.dtype == object
    assert all(type(x) is int for x in g)
    assert g[1] not in INT64
    with precisely():
        v = arb(0.6) / 2**191
        assert abs(g[1] / 2**57 + float(v.log())) < 1


def test_chunks_of_both_kinds_are_joined(monkeypatch):
    monkeypatch.setattr(laplace_module, "CHUNK", 2)
    with drawing_from(Scripted([2**63, 2**63, MORE, MORE, MORE, MORE, 0, 2**63, 0, 0])):
        g = geometric(2**57, size=5)
    assert g.dtype == object
    assert [x in INT64 for x in g] == [True, True, False, True, True]


def test_wide_enough_for_chunks():
    z = discrete_laplace(1e9, size=3 * fast.CHUNK + 1)
    assert z.shape == (3 * fast.CHUNK + 1,)
    assert np.unique(z).size > 0.99 * z.size
