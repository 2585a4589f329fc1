"""Moments of the privacy loss, and its moment generating function.

``E e^(t L)`` over outputs of P is ``exp(t D_(t+1))``, with D the Renyi divergence of P from Q: the accountant of Abadi
et al., CCS 2016, is this function. It multiplies under composition, and raw moments ``E L^k`` combine by the binomial
theorem. Everything is that of the pair that dominates, first law against second: with a record against without it.

These are *values to numerical accuracy*, a part in a million or better, and no certified bounds: use ``delta``,
``renyi`` and ``tail`` to promise something.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.accounting.composition import Counted, _set_failures_aside
from discreet.accounting.numerical import Atoms, GaussianPair, LaplacePair, Pair, Sampled
from discreet.accounting.numerical.pairs import Floats
from discreet.accounting.terms import Gaussian, Term
from discreet.accounting.terms.finite_pair import Revealing
from discreet.errors import NoTheorem

__all__ = ["mgf_of", "moments_of"]

CELLS = 200_000
"""Cells of the lattice on which a pair of an unknown kind is integrated: their width enters by its square."""


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """Losses, and the logarithms of the weights that P and Q give them, for which sums are expectations."""

    losses: Floats
    log_p: Floats
    log_q: Floats


def mgf_of(terms: tuple[Counted, ...], t: Fraction) -> float:
    """Return ``E e^(t L)``; infinite where it is.

    >>> mgf_of(((Gaussian(Fraction(1)), 1),), Fraction(2)) == math.exp(3)
    True
    """
    if not t:
        return 1.0
    failure, rest = _set_failures_aside(terms)
    if failure and t > 0:
        return math.inf
    total = math.fsum(count * _log_mgf(term, t) for term, count in rest)
    if failure:
        total += math.log(1 - failure) if failure < 1 else -math.inf
    return math.exp(total) if total < 709.78 else math.inf


def moments_of(terms: tuple[Counted, ...], highest: int) -> tuple[float, ...]:
    """Return ``E L, E L^2, ...`` up to the highest; infinite where an output gives everything away.

    >>> moments_of(((Gaussian(Fraction(1)), 1),), 3)
    (0.5, 1.25, 1.625)
    """
    failure, rest = _set_failures_aside(terms)
    if failure:
        return (math.inf,) * highest
    whole = [1.0] + [0.0] * highest
    for term, count in rest:
        whole = _added(whole, _repeated(_moments(term, highest), count))
    return tuple(whole[1:])


def _log_mgf(term: Term, t: Fraction) -> float:
    if isinstance(term, Gaussian):
        return float(term.mu_squared * t * (t + 1) / 2)
    pair, power = _pair(term), float(t)
    if isinstance(pair, Revealing):
        if pair.first and t > 0:
            return math.inf
        pair = pair.common
    nodes = _nodes(pair, abs(power))
    exponents = power * nodes.losses
    if float(np.max(np.abs(exponents))) < 0.5:
        total = float(np.exp(nodes.log_p).sum())
        return math.log(total) + math.log1p(float(np.exp(nodes.log_p) @ np.expm1(exponents)) / total)
    exponents = exponents + nodes.log_p
    top = float(exponents.max())
    return top + math.log(float(np.exp(exponents - top).sum()))


def _moments(term: Term, highest: int) -> list[float]:
    """Return ``E L^k`` for k from 0."""
    if isinstance(term, Gaussian):  # a normal law of mean m / 2 and variance m
        m = [Fraction(1), term.mu_squared / 2]
        for k in range(2, highest + 1):
            m.append(term.mu_squared / 2 * m[-1] + (k - 1) * term.mu_squared * m[-2])
        return [float(value) for value in m[: highest + 1]]
    pair = _pair(term)
    if isinstance(pair, Revealing):
        if pair.first:
            return [1.0] + [math.inf] * highest
        nodes, symmetric = _nodes(pair.common, 0.0), False
    else:
        nodes, symmetric = _nodes(pair, 0.0), pair.reversed() is pair
    losses, p = nodes.losses, np.exp(nodes.log_p)
    if symmetric:  # pairs of losses l and -l, of weights p and p e^-l: no difference of large numbers remains
        above = losses > 0
        half, weights = losses[above], p[above]
        both = (1 + np.exp(-half), -np.expm1(-half))  # for even powers, for odd ones
        return [1.0] + [float(weights @ (half**k * both[k % 2])) for k in range(1, highest + 1)]
    return [1.0] + [float(p @ losses**k) for k in range(1, highest + 1)]


def _added(a: list[float], b: list[float]) -> list[float]:
    """Return the moments of the sum of two independent losses."""
    return [math.fsum(math.comb(n, k) * a[k] * b[n - k] for k in range(n + 1)) for n in range(len(a))]


def _repeated(moments: list[float], count: int) -> list[float]:
    found = [1.0] + [0.0] * (len(moments) - 1)
    while count:
        if count & 1:
            found = _added(found, moments)
        count >>= 1
        moments = _added(moments, moments) if count else moments
    return found


def _pair(term: Term) -> Pair:
    pair = term.pair()
    if pair is None:
        raise NoTheorem(
            f"a {term.kind} loss names no single pair of laws, so its loss has no law to take moments of. "
            "Use renyi(alpha), or name the noise."
        )
    return pair


def _nodes(pair: Pair, tilt: float) -> Nodes:
    """Return nodes and weights that integrate powers of the loss, and ``e^(t L)`` for t up to the tilt."""
    match pair:
        case GaussianPair(mu=mu):  # the trapezoidal rule, which is exact to the last bits for analytic functions
            reach, width = 40 + min(tilt * mu, 1e4), min(0.02, 0.3 / mu)
            last = math.ceil(reach / width)
            z = np.arange(-last, last + 1, dtype=np.float64) * width
            losses: Floats = np.asarray(mu * z + mu**2 / 2, dtype=np.float64)
            log_p = -(z**2) / 2 + math.log(width / math.sqrt(2 * math.pi))
            return Nodes(losses, log_p, log_p - losses)
        case LaplacePair(epsilon=e):  # Gauss and Legendre between the two ends, which have mass
            x, w = np.polynomial.legendre.leggauss(40)
            panels = min(10_000, math.ceil((tilt + 1) * e / 8))
            edges = np.linspace(-e, e, panels + 1)
            half = e / panels
            inner = ((edges[:-1] + edges[1:]) / 2)[:, None] + half * x
            log_w = np.log(half * w / 4) + 0 * inner
            losses = np.concatenate([[-e], inner.ravel(), [e]])
            log_p = np.concatenate([[-e - math.log(2)], ((inner - e) / 2 + log_w).ravel(), [-math.log(2)]])
            return Nodes(losses, log_p, log_p - losses)
        case Atoms(losses=losses, p=p, q=q):
            with np.errstate(divide="ignore"):
                return Nodes(losses, np.log(p), np.log(q))
        case Sampled(base=base, rate=rate, removed=removed):
            inner_nodes = _nodes(base, tilt)
            plain = inner_nodes.losses
            near = np.log1p(rate * np.expm1(np.minimum(plain, 700)))
            losses = np.where(plain < 700, near, plain + math.log(rate))
            mixed = inner_nodes.log_q + losses
            if removed:
                return Nodes(losses, mixed, inner_nodes.log_q)
            return Nodes(-losses, inner_nodes.log_q, mixed)
    if isinstance(pair, Revealing):
        raise NoTheorem("moments of a sample whose outputs may give everything away are not computed here.")
    return _lattice(pair)


def _lattice(pair: Pair) -> Nodes:
    """Cut the losses into cells, each at the loss that its masses have."""
    low, high = pair.span(1e-20)
    edges = np.linspace(low, high, CELLS + 1)
    (p, q), (p_at, q_at) = pair.cells(edges), pair.atoms(edges)
    p, q = np.concatenate([p, p_at]), np.concatenate([q, q_at])
    kept = (p > 0) & (q > 0)
    log_p, log_q = np.log(p[kept]), np.log(q[kept])
    return Nodes(log_p - log_q, log_p, log_q)
