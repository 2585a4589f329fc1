"""Losses on a random sample of the data: which theorem covers which way of sampling, and which neighbours.

Amplification is about one release on one sample that is drawn anew and kept secret. Two releases of the same sample are
one mechanism on it, whose amplified loss is not twice the amplified loss of one; so a sum is refused.
"""

from collections.abc import Callable
from fractions import Fraction

from discreet.accounting import terms as kinds
from discreet.accounting.loss import PrivacyLoss
from discreet.accounting.terms.overflow import binomial_tail
from discreet.accounting.terms.symmetric import amplified
from discreet.accounting.theorems.guarantee import whole
from discreet.accounting.theorems.sampling import sampling_with_replacement
from discreet.errors import InvalidParameter, NoTheorem, RelationMismatch
from discreet.exact import Real, finite, probability
from discreet.units import Relation, check_relation

__all__ = ["on_sample"]


def on_sample(
    loss: PrivacyLoss,
    rate: Real | None,
    *,
    scheme: str,
    relation: str | None,
    size: int | None,
    records: int | None,
    most: int | None,
    epsilon: Real | None,
) -> PrivacyLoss:
    """Return the loss of the same release on a sample; see ``PrivacyLoss.sampled``."""
    known: dict[str, Callable[[], PrivacyLoss]] = {
        "poisson": lambda: _poisson(loss, _share(rate, size, records), relation, most, records),
        "without_replacement": lambda: _without_replacement(loss, _share(rate, size, records), relation),
        "with_replacement": lambda: _with_replacement(loss, rate, relation, size, records, epsilon),
        "symmetric": lambda: _symmetric(loss, _share(rate, size, records), loss.relation),
    }
    if scheme not in known:
        raise InvalidParameter(f"scheme must be one of {', '.join(map(repr, known))}, got {scheme!r}.")
    if most is not None and scheme != "poisson":
        raise InvalidParameter("most= cuts Poisson batches; the other schemes draw a fixed number of records.")
    if epsilon is not None and scheme != "with_replacement":
        raise InvalidParameter("epsilon= is for with_replacement, whose theorem is stated at one epsilon.")
    if size is not None and scheme == "poisson":
        raise InvalidParameter("a Poisson sample has no fixed size; give the rate, or scheme='without_replacement'.")
    if loss.grouped:
        raise NoTheorem(
            "this loss is about groups, and a sample draws their members one by one. Sample first, then group: "
            "loss.sampled(rate).group(size)."
        )
    return known[scheme]()


def _poisson(
    loss: PrivacyLoss, rate: Fraction, relation: str | None, most: int | None, records: int | None
) -> PrivacyLoss:
    wanted = "add_remove" if relation is None else check_relation(relation)
    if loss.relation == "replace_one":
        raise RelationMismatch(
            "Poisson sampling is stated for add_remove neighbours; this loss is about replace_one. If it holds under "
            "both relations leave .under() out and write sampled(rate, relation='replace_one')."
        )
    if wanted == "replace_one":
        if most is not None:
            raise NoTheorem("cut batches are accounted for under add_remove alone.")
        # The loss must hold under both relations; one that is known under add_remove does for groups of two.
        base = loss.group(2) if loss.relation == "add_remove" else loss
        reduced = base.reduced or loss.relation == "add_remove"
        return _symmetric(PrivacyLoss(base.terms, reduced=reduced), rate, "replace_one")
    if not loss.terms:
        return loss.under("add_remove")
    term = _single(loss)
    if isinstance(term, kinds.Sampled):
        rate, term = rate * term.rate, term.base
    if isinstance(term, kinds.SampledSymmetric):
        raise NoTheorem("this loss is already one of a sample; multiply the rates of a single scheme instead.")
    if isinstance(term, kinds.Approximate) and term.failure:
        found: kinds.Term = _approximate(term, rate)
    elif isinstance(term, kinds.GaussianMixture):
        found = term if rate == 1 else term.sampled(rate)
    else:
        found = term if rate == 1 else kinds.Sampled(term, rate)
    parts: list[tuple[kinds.Term, int]] = [(found, 1)]
    if most is not None:
        parts.append((kinds.Overflow(_overflow(rate, most, records)), 1))
    elif records is not None:
        raise InvalidParameter("records= goes with most=, the largest batch.")
    return PrivacyLoss(tuple(parts), "add_remove", reduced=loss.reduced or isinstance(term, kinds.Approximate))


def _without_replacement(loss: PrivacyLoss, rate: Fraction, relation: str | None) -> PrivacyLoss:
    if "add_remove" in (loss.relation, relation):
        raise RelationMismatch(
            "without replacement the number of records is public, so this is about replace_one; state the loss for a "
            "record that is replaced, with the sensitivity under that relation, or sample by Poisson coins."
        )
    return _symmetric(loss, rate, "replace_one")


def _symmetric(loss: PrivacyLoss, rate: Fraction, relation: Relation | None) -> PrivacyLoss:
    if not loss.terms:
        return PrivacyLoss(relation=relation)
    term = _single(loss)
    if isinstance(term, kinds.Sampled | kinds.SampledSymmetric | kinds.GaussianMixture):
        raise NoTheorem("a sample of a sample is covered for Poisson coins alone; draw once, at the smaller rate.")
    if isinstance(term, kinds.Approximate) and term.failure:
        return PrivacyLoss(((_approximate(term, rate), 1),), relation, reduced=True)
    found = term if rate == 1 else kinds.SampledSymmetric(term, rate)
    return PrivacyLoss(((found, 1),), relation, reduced=loss.reduced)


def _with_replacement(
    loss: PrivacyLoss,
    rate: Real | None,
    relation: str | None,
    size: int | None,
    records: int | None,
    epsilon: Real | None,
) -> PrivacyLoss:
    if size is None or records is None or rate is not None:
        raise InvalidParameter("with replacement the sample is given by size= and records=, not by a rate.")
    if "add_remove" in (loss.relation, relation):
        raise RelationMismatch("with replacement the number of records is public, so this is about replace_one.")
    drawn, of = whole(size, "size"), whole(records, "records")
    if not loss.terms:
        return loss.under("replace_one")
    term = _single(loss)
    known = term.epsilon if isinstance(term, kinds.Approximate) else term.pure
    at = known if epsilon is None else finite(epsilon, "epsilon")
    if at is None:
        raise NoTheorem(
            "sampling with replacement is covered at one epsilon of the base, and this loss has none of its own: say "
            "which, as sampled(scheme='with_replacement', size=m, records=n, epsilon=1)."
        )
    found = sampling_with_replacement(
        at,
        term.delta(at),
        size=drawn,
        population=of,
        relation="replace_one",
        group_delta=lambda k: term.group(k).delta(at),
    )
    whole_loss = PrivacyLoss.approximate(found.epsilon, found.delta)
    return PrivacyLoss(whole_loss.terms, "replace_one", reduced=True)


def _single(loss: PrivacyLoss) -> kinds.Term:
    if len(loss.terms) != 1 or loss.terms[0][1] != 1:
        raise NoTheorem(
            "sampling amplifies one release on one fresh sample. Write k * loss.sampled(rate) for k releases, each "
            "on a sample of its own."
        )
    term = loss.terms[0][0]
    if isinstance(term, kinds.Concentrated):
        raise NoTheorem("zCDP alone does not say how a release behaves on a sample; name the noise, as gaussian(mu).")
    if isinstance(term, kinds.Overflow):
        raise NoTheorem("a batch that is cut is a sample already.")
    return term


def _approximate(term: kinds.Approximate, rate: Fraction) -> kinds.Approximate:
    return kinds.Approximate(amplified(term.epsilon, rate) or Fraction(0), rate * term.failure)


def _share(rate: Real | None, size: int | None, records: int | None) -> Fraction:
    """Return the sampling rate, given as such or as so many of so many."""
    if rate is not None:
        if size is not None:
            raise InvalidParameter("give either a rate or size= and records=.")
        return probability(rate, "rate", one=True)
    if size is None or records is None:
        raise InvalidParameter("say how much is sampled: a rate, or size= and records=.")
    drawn, of = whole(size, "size"), whole(records, "records")
    if drawn > of:
        raise InvalidParameter(f"size must be at most records, got {drawn} of {of}.")
    return Fraction(drawn, of)


def _overflow(rate: Fraction, most: int, records: int | None) -> Fraction:
    if records is None:
        raise InvalidParameter("most= needs records=, the number of records: it decides how often a batch is cut.")
    # A neighbour may have one record more.
    return binomial_tail(whole(records, "records", least=0) + 1, rate, whole(most, "most", least=0))
