"""Slow, independent arithmetic for privacy losses: strategies, enumeration, quadrature and 200-bit balls."""

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from flint import arb, ctx, fmpq
from hypothesis import strategies as st
from scipy import integrate

from discreet.accounting import PrivacyLoss

rationals = st.fractions(min_value=0, max_value=20, max_denominator=10**6)
positives = st.fractions(min_value=Fraction(1, 1000), max_value=20, max_denominator=10**6)
numbers = rationals | st.floats(0, 20).filter(lambda x: x == 0 or x > 1e-140)
wholes = st.integers(0, 20)

singles = st.one_of(
    st.builds(PrivacyLoss.pure, numbers),
    st.builds(PrivacyLoss.approximate, numbers, st.fractions(0, 1, max_denominator=10**9)),
    st.builds(PrivacyLoss.zcdp, numbers),
    st.builds(PrivacyLoss.gaussian, numbers),
    st.builds(PrivacyLoss.laplace, numbers),
    st.builds(lambda d, s: PrivacyLoss.discrete_laplace(sensitivity=d, scale=s), wholes, positives),
    st.builds(
        lambda d, s, one: PrivacyLoss.discrete_gaussian(squared_sensitivity=d, sigma_squared=s, scalar=one),
        wholes,
        positives,
        st.booleans(),
    ),
    st.builds(PrivacyLoss.randomized_response, numbers, st.integers(2, 9)),
)
"""Every kind of loss."""

losses = st.lists(st.tuples(singles, st.integers(1, 5)), max_size=4).map(
    lambda parts: sum((count * loss for loss, count in parts), PrivacyLoss())
)


def responses(*epsilons):
    """Return the laws of independent binary randomised responses to yes and to no, output by output."""
    truths = [1 / (1 + math.exp(-e)) for e in epsilons]
    laws = []
    for answer in (0, 1):
        law = [
            math.prod(t if out == answer else 1 - t for t, out in zip(truths, outs, strict=True))
            for outs in product((0, 1), repeat=len(truths))
        ]
        laws.append(np.array(law))
    return laws


def divergence(p, q, epsilon):
    """Return the hockey-stick divergence of finite laws, the larger of both directions."""
    return max(math.fsum(np.maximum(a - math.exp(epsilon) * b, 0).tolist()) for a, b in ((p, q), (q, p)))


def renyi(log_p, log_q, alpha, edges):
    """Return the Renyi divergence of densities by quadrature between the edges."""

    def integrand(x):
        return math.exp(alpha * log_p(x) + (1 - alpha) * log_q(x))

    parts = [integrate.quad(integrand, a, b, epsabs=0, epsrel=1e-11, limit=500)[0] for a, b in pairwise(edges)]
    return math.log(math.fsum(parts)) / (alpha - 1)


def in_balls(formula):
    """Evaluate a formula at 200 bits."""
    before = ctx.prec
    try:
        ctx.prec = 200
        return formula()
    finally:
        ctx.prec = before


def ball(x):
    exact = Fraction(x)
    return arb(fmpq(exact.numerator, exact.denominator))
