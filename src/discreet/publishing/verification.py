"""Verification: a stranger computes the guarantee again, from the losses in a certificate alone."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from discreet.accounting import PrivacyLoss
from discreet.errors import DiscreetError
from discreet.publishing.certificate import Certificate
from discreet.publishing.folder import digest_of
from discreet.session.digits import above

__all__ = ["Finding", "findings"]

SLACK = 1e-9
"""What rounding may take from an epsilon that was claimed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked: whether it holds (None: could not be checked), and what was seen."""

    what: str
    holds: bool | None
    seen: str


def findings(certificate: Certificate, folder: Path | None = None) -> Iterator[Finding]:
    """Yield everything that can be checked about a certificate, and about the files beside it."""
    yield _parts(certificate)
    yield _answers(certificate)
    yield _relation(certificate)
    yield _total(certificate)
    yield from _each(certificate)
    yield _budget(certificate)
    yield _noise(certificate)
    if folder is not None:
        yield from _files(certificate, folder)


def _parts(certificate: Certificate) -> Finding:
    what = "the losses of the releases add up to the whole"
    parts = PrivacyLoss.total([one.loss for one in certificate.releases]) if certificate.releases else None
    same = parts is not None and _terms(parts) == _terms(certificate.loss)
    return Finding(what, same, f"{len(certificate.releases)} releases" if same else "the whole is another loss")


def _terms(loss: PrivacyLoss) -> Counter[object]:
    found: Counter[object] = Counter()
    for term, count in loss.terms:
        found[term] += count
    return found


def _answers(certificate: Certificate) -> Finding:
    wrong = [one.name for one in certificate.releases if _terms(one.answer.loss) != _terms(one.loss)]
    return Finding(
        "every answer was made at the loss that is stated for it", not wrong, ", ".join(wrong) or "the same in each"
    )


def _relation(certificate: Certificate) -> Finding:
    found = {certificate.loss.relation, *(one.loss.relation for one in certificate.releases)} - {None}
    holds = found <= {certificate.unit.relation}
    return Finding("all losses speak of the same neighbours", holds, ", ".join(sorted(map(str, found))) or "any")


def _total(certificate: Certificate) -> Finding:
    what = f"epsilon {above(certificate.epsilon)} at delta {above(certificate.delta)} covers the whole"
    return _covers(what, certificate.loss, certificate.epsilon, certificate.delta)


def _each(certificate: Certificate) -> Iterator[Finding]:
    for one in certificate.releases:
        what = f"{one.name}: epsilon {above(one.epsilon)} at delta {above(one.delta)} covers it"
        yield _covers(what, one.loss, one.epsilon, one.delta)


def _covers(what: str, loss: PrivacyLoss, epsilon: float, delta: float) -> Finding:
    try:
        found = loss.epsilon(delta)
    except DiscreetError as error:
        return Finding(what, False, str(error))
    return Finding(what, found <= epsilon * (1 + SLACK), f"computed again: {above(found, 6)}")


def _budget(certificate: Certificate) -> Finding:
    budget = certificate.budget
    needed = certificate.loss.delta(Fraction(budget.epsilon))
    what = f"it stays within the budget of the data set, epsilon {above(float(budget.epsilon))}"
    return Finding(what, Fraction(needed) <= Fraction(budget.delta), f"needs delta {above(needed)} there")


def _noise(certificate: Certificate) -> Finding:
    words = "drawn from the secure source" if certificate.private else "made for a test: NOT PRIVATE"
    return Finding("the release says that its noise cannot be repeated", certificate.private, words)


def _files(certificate: Certificate, folder: Path) -> Iterator[Finding]:
    wanted = {name: value for one in certificate.releases for name, value in one.files.items()} | dict(
        certificate.files
    )
    for name, value in wanted.items():
        what = f"{name} is the file that was written"
        try:
            found = digest_of(folder / name)
        except OSError:
            yield Finding(what, None, "not beside the certificate")
        else:
            yield Finding(what, found == value, "SHA-256 agrees" if found == value else "it was changed")
