"""The numerical accountant: privacy-loss distributions composed with certified bounds on both sides."""

from discreet.accounting.numerical.curve import Composition
from discreet.accounting.numerical.pairs import Atoms, GaussianPair, LaplacePair, Pair, Sampled

__all__ = ["Atoms", "Composition", "GaussianPair", "LaplacePair", "Pair", "Sampled"]
