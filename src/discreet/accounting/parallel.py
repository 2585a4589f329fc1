"""Parallel composition: mechanisms on disjoint parts of the data, each with random bits of its own.

The parts must be disjoint by a rule that does not look at the data, and each mechanism must hold its promise under
add_remove on its own part: one that treats the size of its part as public is not covered.

*Adding or removing a record* changes one part, so its profile is at most the largest of the parts (McSherry, SIGMOD
2009). Pairs of laws that are composed are about two data sets in one order, which parts need not keep: a record that
comes may be told as P against Q in one part and as Q against P in another one. So only pairs that are the same in both
orders are covered.

*Replacing a record* takes one out of a part and puts one into a part. With (P, Q) the pair of a part with the record
against the part without it, there are two cases:

- one part: a chain of two neighbours, which ``group(2)`` is about;
- two parts, i and j: ``P_i x Q_j`` against ``Q_i x P_j``, one direction of i beside the opposite direction of j.

What is charged dominates both, so the larger of their two profiles, and is itself the profile of a pair: then it may be
composed and is right whichever case an adaptive choice of parts leads to (Zhu, Dong and Wang, AISTATS 2022). For every
kind but a random choice that is ``group(2)`` itself:

- a chain over which losses, ranges, rho or squared mu add up: Pure, Approximate, RandomizedResponse, BoundedRange,
  Concentrated, Gaussian, and pure pairs of laws. In two parts they add up as well, in any directions;
- a shift of log-concave noise: by k in a single coordinate is what a chain of k steps costs exactly, and two shifts in
  two coordinates are such a chain (``terms.one_of_each``): Laplace, DiscreteLaplace, DiscreteGaussian;
- a sample, Poisson or symmetric: by the coins of both records, at most as many steps as are seen separate the two
  releases, in one part or in two. The bases add up by the lines above.

A random choice is drawn in each part, and two parts are two draws: see ``terms.one_of_each``. What has no group bound
(a list of Renyi divergences, a mixture of shifts, batches that are cut) is refused, and so is any kind not listed here.
"""

from collections.abc import Sequence

from discreet.accounting import terms as kinds
from discreet.accounting.loss import PrivacyLoss
from discreet.accounting.terms.base import within
from discreet.accounting.terms.symmetric import told_alike
from discreet.errors import NoTheorem, RelationMismatch
from discreet.units import check_relation

__all__ = ["parallel"]

COVERED = (
    kinds.Approximate,
    kinds.BoundedRange,
    kinds.Concentrated,
    kinds.DiscreteGaussian,
    kinds.DiscreteLaplace,
    kinds.FinitePair,
    kinds.Gaussian,
    kinds.GaussianMixture,
    kinds.Laplace,
    kinds.OneOf,
    kinds.OneOfEach,
    kinds.Overflow,
    kinds.Pure,
    kinds.RandomizedResponse,
    kinds.RenyiCurve,
    kinds.Sampled,
    kinds.SampledSymmetric,
)
"""Kinds whose groups cost at least as much as the same number of records in different parts, or that have none."""


def parallel(losses: Sequence[PrivacyLoss], *, relation: str) -> PrivacyLoss:
    """Return the loss of mechanisms on disjoint parts, for neighbours of the whole under ``relation``.

    The losses themselves are those under add_remove on each part.

    >>> parts = [PrivacyLoss.laplace(1), PrivacyLoss.laplace(0.1)]
    >>> parallel(parts, relation="add_remove").epsilon(), parallel(parts, relation="replace_one").epsilon()
    (1.0, 2.0)

    A record that moves meets the random choices of two parts:

    >>> choice = PrivacyLoss.one_of([0.75, 0.25], [PrivacyLoss.pure(0.1), PrivacyLoss.pure(50)])
    >>> parallel([choice, choice], relation="replace_one").delta(10) > 0.43
    True
    """
    wanted = check_relation(relation)
    for loss in losses:
        if loss.relation == "replace_one":
            raise RelationMismatch(
                "a loss under replace_one says nothing about a record that leaves its part: state each part's loss "
                "under add_remove."
            )
    parts = [loss.under("add_remove") for loss in losses]
    if not parts:
        return PrivacyLoss(relation=wanted)
    same = all(loss == parts[0] for loss in parts)
    worst = parts[0] if same else PrivacyLoss.pure(max(_pure(loss) for loss in parts))
    grouped = any(loss.grouped for loss in parts)
    _check(worst, grouped)
    if wanted == "add_remove" and len(parts) > 1 and not all(told_alike(term) for term, _ in worst.terms):
        raise NoTheorem(
            "a pair of laws that is not the same in both directions does not say which data set has the record, and "
            "parts may tell it in opposite directions. Give laws that mirror each other, or an epsilon."
        )
    charge = _apart if wanted == "add_remove" else _replaced
    terms = tuple((charge(term), count) for term, count in worst.terms)
    exact = PrivacyLoss(worst.terms, "add_remove") in parts and not any(loss.reduced for loss in parts)
    reduced = not exact or (wanted == "replace_one" and any(_bounded(term) for term, _ in worst.terms))
    return PrivacyLoss(terms, wanted, grouped or wanted == "replace_one", reduced)


def _apart(term: kinds.Term) -> kinds.Term:
    """Return the term with random choices that each part makes for itself: groups may be spread over parts."""
    if isinstance(term, kinds.OneOf):
        return kinds.OneOfEach.of(term)
    if isinstance(term, kinds.Sampled | kinds.SampledSymmetric) and isinstance(term.base, kinds.OneOf):
        return type(term)(kinds.OneOfEach.of(term.base), term.rate)
    return term


def _replaced(term: kinds.Term) -> kinds.Term:
    return kinds.on_two_parts(term) if isinstance(term, kinds.OneOf) else _apart(term).group(2)


def _bounded(term: kinds.Term) -> bool:
    """Tell whether what is charged for a record that is replaced is more than what one part may cost."""
    return isinstance(term, kinds.OneOf) or not kinds.attained_in_groups(term, _replaced(term))


def _check(loss: PrivacyLoss, grouped: bool) -> None:
    for term, _ in loss.terms:
        if any(type(part) not in COVERED for part in within(term)):
            raise NoTheorem(f"parallel composition is not proven for a {term.kind} loss; state an epsilon, or its rho.")
        if grouped and isinstance(term, kinds.OneOf):
            raise NoTheorem(
                "the members of a group may lie in different parts, each of which makes a random choice of its own. "
                "State the parts for one record and group the whole: parallel(parts, relation=...).group(size)."
            )


def _pure(loss: PrivacyLoss) -> float:
    if not loss.is_pure:
        raise NoTheorem(
            "parallel composition of different losses is stated for pure losses. With a delta, give every part the "
            "same loss: PrivacyLoss.approximate(epsilon, delta) with the worst epsilon and delta of the parts."
        )
    return loss.epsilon(0)
