"""Each density against formulas other than its own: survival, inverse, the slack between them, quantiles."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb
from noise_reference import DENSITIES, EDGES, ball, floor, precisely, sure

from discreet.errors import InvalidParameter
from discreet.noise.densities import Gaussian, Polynomial, PowerLaw, Racing, StudentT, gaussian
from discreet.noise.fast import BELIEVED

each = pytest.mark.parametrize(("density", "survival"), DENSITIES, ids=lambda x: repr(x) if hasattr(x, "slack") else "")


def cells(count=60):
    """Return believed cells, evenly spread in size towards 0 and towards 1."""
    rng = np.random.default_rng(5)
    low = [int(2**e) for e in rng.uniform(46, 63, count)]
    high = [2**63 - 1 - int(2**e) for e in rng.uniform(0, 62, count)]
    return [m for m in low + high + EDGES if BELIEVED <= m < 2**63]


def escapes(density, survival):
    """Count the cells that hold a number whose inverse lies beyond the slack around the float inverse."""
    believed = np.array(cells(), dtype=np.uint64)
    with np.errstate(all="ignore"):
        z = density.inverse(believed.astype(float) * 2.0**-63)
        slack = np.broadcast_to(density.slack(z), z.shape)
    count = 0
    with precisely(400):
        for m, middle, radius in zip(believed.tolist(), z.tolist(), slack.tolist(), strict=True):
            if not np.isfinite(radius):
                continue
            low, high = arb(middle) - arb(radius), arb(middle) + arb(radius)
            count += sure(arb(m), survival(high) * 2**63)
            if not density.symmetric or low > 0:
                count += sure(survival(low) * 2**63, arb(m + 1))
    return count


@each
def test_the_slack_covers_every_believed_cell(density, survival):
    assert escapes(density, survival) == 0


@each
def test_survival_in_other_words(density, survival):
    with precisely(300):
        for z in (2.0**-70, 1e-5, 0.01, 0.3, 0.999, 1, 1.001, 2, 7, 40, 1e6):
            gap = density.survival(arb(z)) - survival(arb(z))
            assert gap.overlaps(arb(0))
            assert gap.rad() < 2.0**-200


@each
def test_the_inverse_is_close_enough_to_be_useful(density, survival):
    """Nearly all cells must be believable on a grid of a millionth, or samples would be slow."""
    with np.errstate(divide="ignore"):
        z = density.inverse(np.linspace(0.001, 0.999, 500))
    assert np.all(density.slack(z) < (1 + np.abs(z)) * 2.0**-33)


@pytest.mark.parametrize(("density", "survival"), [(d, s) for d, s in DENSITIES if isinstance(d, Racing)])
def test_quantiles_invert_survival(density, survival):
    with precisely(200):
        for v in (1e-30, 1e-5, 0.4, 0.9, 1 - 2.0**-53):
            gap = survival(density.quantile(arb(v))) - arb(v)
            assert gap.overlaps(arb(0))
            assert gap.rad() < 2.0**-100


@pytest.mark.parametrize("gamma", [28, 30.1, 40, 64])
def test_polynomial_close_to_zero(gamma):
    """Where ``z^gamma`` underflows, the inverse once stuck at the smallest float's root, 1.6e-5 for gamma = 64."""
    v = 1 - 2.0 ** -np.arange(10, 53)
    z = Polynomial(gamma).inverse(v)
    assert np.all(np.diff(z) < 0)
    assert z == pytest.approx((1 - v) * (np.pi / gamma) / np.sin(np.pi / gamma), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("density", [Polynomial(3), Polynomial(64), StudentT(3), StudentT(1000)])
def test_survival_stays_quick_and_tight_next_to_zero(density):
    with precisely(200):
        for exponent in (-50, -300, -2000):
            value = density.survival(arb(2) ** exponent)
            assert value > 0.999
            assert value.rad() < 2.0**-100


def test_a_normal_quantile_that_cannot_be_trusted_is_never_believed(monkeypatch):
    gaussian._trusted.cache_clear()
    import scipy.special

    ndtri = scipy.special.ndtri
    monkeypatch.setattr(scipy.special, "ndtri", lambda p: ndtri(p) * (1 + 1e-12))
    try:
        assert Gaussian().slack(np.zeros(1)) == np.inf
    finally:
        gaussian._trusted.cache_clear()
    monkeypatch.undo()
    assert Gaussian().slack(np.zeros(1)) < 1e-12


def test_a_careless_slack_would_be_noticed():
    for density, survival in DENSITIES[:4]:

        class Careless(type(density)):
            __slots__ = ()

            def slack(self, z):
                return np.abs(z) * 2.0**-52

        assert escapes(Careless(), survival) > 10


@pytest.mark.parametrize(
    ("law", "name", "bad"),
    [
        (law, name, bad)
        for law, name, outside in [
            (Polynomial, "gamma", [1, 1.09, 65]),
            (PowerLaw, "exponent", [1, 1.09]),
            (StudentT, "degrees", [0.5, 1001]),
        ]
        for bad in [*outside, 0, -3, np.nan, np.inf, "3", None, True, 10**400]
    ],
)
def test_parameters_outside_are_refused(law, name, bad):
    with pytest.raises(InvalidParameter, match=name):
        law(bad)


@pytest.mark.parametrize("density", [d for d, _ in DENSITIES])
def test_the_law_is_whole(density):
    """Survival falls from 1 to 0."""
    with precisely(200):
        values = [density.survival(ball(Fraction(k, 7))) for k in range(0 if density.symmetric else -70, 70)]
        assert all(not later > earlier for earlier, later in pairwise(values))
        assert floor(values[0] * 2**20 + 0.5) == 2**20
        assert density.survival(arb(2) ** 500) < 0.01 or density == PowerLaw(Fraction(11, 10))
