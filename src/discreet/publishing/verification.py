"""Verification: a stranger computes the guarantee again, and sees whether a certificate says the same everywhere.

Everything that a certificate says twice is compared: the unit and what each answer was made with, the noise in words
and the terms of the losses, the numbers and the tables beside it, stated errors and their noise, and the file of the
curator. What is said once, how far a sum may be moved, what the budget is, and the fields in
``discreet.publishing.stated.STATED``, stays the curator's word.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from hashlib import sha256
from math import ceil, floor
from pathlib import Path
from typing import Any

from discreet.accounting import PrivacyLoss
from discreet.errors import DiscreetError
from discreet.publishing.certificate import Certificate, Certified
from discreet.publishing.entry import Entry
from discreet.publishing.folder import COPY, REPORT, TABLES, digest_of, plain_bytes
from discreet.publishing.histogram import Histogram
from discreet.publishing.registry import derived_entry
from discreet.publishing.stated import problem_of_delta, problem_of_errors
from discreet.publishing.synthesize import RECORDS
from discreet.publishing.told import Told, terms_of
from discreet.publishing.told_spread import SPREAD
from discreet.session.digits import above
from discreet.session.frames import arrow_table, csv_bytes

__all__ = ["Finding", "findings"]

SLACK = 1e-9
"""What rounding may take from an epsilon that was claimed."""

LARGEST_COPY = 4_000_000
LARGEST_TABLE = 1 << 30


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
    for one in certificate.releases:
        yield _found(f"{one.name}: its unit, query, noise and loss agree", partial(Told(one, certificate.unit).problem))
        yield _found(f"{one.name}: every stated error is that of its noise", partial(problem_of_errors, one))
        yield _found(f"{one.name}: its delta is within the budget", partial(problem_of_delta, one, certificate))
    yield _total(certificate)
    yield from _each(certificate)
    yield _budget(certificate)
    yield _noise(certificate)
    yield _found("the entry for a registry follows from the rest", partial(_other_registry, certificate))
    yield _found("every table, the report and the file are listed", partial(_unlisted, certificate))
    for one in certificate.releases:
        yield _found(f"{one.name}: the answer is what {one.name}.csv holds", partial(_other_csv, one))
        if len(_named(one)) > 1:
            yield _found(f"{one.name}: its rows are what {one.name}{RECORDS}.csv holds", partial(_other_rows, one))
    if folder is not None:
        yield from _files(certificate, folder)
        yield from _tables(certificate, folder)
        yield _copy(certificate, folder)


def _found(what: str, problem: Callable[[], str]) -> Finding:
    """Return what a check says: it holds where there is no problem. What cannot even be computed does not hold."""
    try:
        wrong = problem()
    except (
        *(DiscreetError, ArithmeticError, ValueError, TypeError, KeyError, AttributeError, RecursionError),
        *(IndexError, MemoryError),
    ):
        wrong = "it cannot be computed"
    return Finding(what, not wrong, wrong or "the same")


# Losses ------------------------------------------------------------------------------------------------------


def _parts(certificate: Certificate) -> Finding:
    what = "the losses of the releases add up to the whole"
    parts = PrivacyLoss.total([one.loss for one in certificate.releases]) if certificate.releases else None
    same = parts is not None and terms_of(parts) == terms_of(certificate.loss)
    return Finding(what, same, f"{len(certificate.releases)} releases" if same else "the whole is another loss")


def _answers(certificate: Certificate) -> Finding:
    wrong = [one.name for one in certificate.releases if terms_of(one.answer.loss) != terms_of(one.loss)]
    return Finding(
        "every answer was made at the loss that is stated for it", not wrong, ", ".join(wrong) or "the same in each"
    )


def _relation(certificate: Certificate) -> Finding:
    losses = [certificate.loss, *(loss for one in certificate.releases for loss in (one.loss, one.answer.loss))]
    found = {loss.relation or "none" for loss in losses}
    holds = found == {certificate.unit.relation}
    return Finding("all losses speak of the same neighbours", holds, ", ".join(sorted(found)))


def _total(certificate: Certificate) -> Finding:
    what = f"epsilon {above(certificate.epsilon)} at delta {above(certificate.delta)} covers the whole"
    return _covers(what, certificate.loss, certificate.epsilon, certificate.delta)


def _each(certificate: Certificate) -> Iterator[Finding]:
    for one in certificate.releases:
        what = f"{one.name}: epsilon {above(one.epsilon)} at delta {above(one.delta)} covers it"
        if one.delta in (0, certificate.delta):
            yield _covers(what, one.loss, one.epsilon, one.delta)
        else:
            yield Finding(what, False, "its delta is not that of the whole")


def _covers(what: str, loss: PrivacyLoss, epsilon: float, delta: float) -> Finding:
    try:
        found = loss.epsilon(delta)
    except (DiscreetError, ArithmeticError, ValueError) as error:
        return Finding(what, False, str(error))
    return Finding(what, found <= epsilon * (1 + SLACK), f"computed again: {above(found, 6)}")


def _budget(certificate: Certificate) -> Finding:
    budget = certificate.budget
    what = f"it stays within the budget of the data set, epsilon {above(float(budget.epsilon))}"
    if Fraction(certificate.delta) > Fraction(budget.delta):
        return Finding(what, False, f"its delta is above that of the budget, {above(float(budget.delta))}")
    try:
        needed = certificate.loss.delta(Fraction(budget.epsilon))
    except (DiscreetError, ArithmeticError, ValueError) as error:
        return Finding(what, False, str(error))
    return Finding(what, Fraction(needed) <= Fraction(budget.delta), f"needs delta {above(needed)} there")


def _noise(certificate: Certificate) -> Finding:
    words = "drawn from the secure source" if certificate.private else "made for a test: NOT PRIVATE"
    return Finding("the release says that its noise cannot be repeated", certificate.private, words)


# What else is said twice ----------------------------------------------------------------------------------------


def _other_registry(certificate: Certificate) -> str:
    derived = derived_entry(
        title=certificate.title,
        dataset=certificate.dataset,
        unit=certificate.unit,
        filter_name=str(certificate.budget.filter),
        answers={one.name: one.answer for one in certificate.releases},
        epsilon=certificate.epsilon,
        delta=certificate.delta,
    )
    same = json.loads(json.dumps(derived)) == json.loads(json.dumps(dict(certificate.registry)))
    return "" if same else "it says something else"


def _unlisted(certificate: Certificate) -> str:
    wanted = {
        one.name: {f"{name}.{ending}" for name in _named(one) for ending in TABLES} for one in certificate.releases
    }
    listed = all(set(one.files) == wanted[one.name] for one in certificate.releases)
    if not listed or set(certificate.files) != {REPORT, COPY}:
        return "files are missing from the list, or are not of this release"
    return "" if certificate.ledger.dataset == certificate.dataset else "the charge is in another account"


def _named(one: Certified) -> tuple[str, ...]:
    """Return the names of the files of a release: synthetic rows are there by themselves, too."""
    return (one.name, f"{one.name}{RECORDS}") if one.answer.parameters.get("together") == "synthesis" else (one.name,)


def _other_rows(one: Certified) -> str:
    from discreet.session.synthesis.counted import rows_of

    same = sha256(rows_of(one.answer).to_csv_bytes()).hexdigest() == one.files.get(f"{one.name}{RECORDS}.csv")
    return "" if same else "the file that is listed holds other rows"


def _other_csv(one: Certified) -> str:
    same = sha256(csv_bytes(one.answer)).hexdigest() == one.files.get(f"{one.name}.csv")
    return "" if same else "the file that is listed holds something else"


# Files beside the certificate -----------------------------------------------------------------------------------


def _listed(certificate: Certificate) -> Mapping[str, str]:
    return {name: value for one in certificate.releases for name, value in one.files.items()} | dict(certificate.files)


def _files(certificate: Certificate, folder: Path) -> Iterator[Finding]:
    for name, value in _listed(certificate).items():
        what = f"{name} is the file that was written"
        try:
            found = digest_of(folder / name)
        except (FileNotFoundError, NotADirectoryError):
            yield Finding(what, None, "not beside the certificate")
        except OSError as error:
            yield Finding(what, False, error.strerror or str(error))
        else:
            yield Finding(what, found == value, "SHA-256 agrees" if found == value else "it was changed")


def _tables(certificate: Certificate, folder: Path) -> Iterator[Finding]:
    """Compare tables in Parquet with the answers, where pyarrow is installed."""
    for one in certificate.releases:
        what = f"{one.name}: the answer is what {one.name}.parquet holds"
        try:
            same = _same_table(one, plain_bytes(folder / f"{one.name}.parquet", LARGEST_TABLE))
        except (OSError, ImportError):
            yield Finding(what, None, "not checked: no file, or no pyarrow")
        except Exception:  # a file of a stranger may break its reader in any way
            yield Finding(what, False, "it cannot be read")
        else:
            yield Finding(what, same, "the same" if same else "it holds something else")


def _same_table(one: Certified, data: bytes) -> bool:
    from pyarrow import BufferReader, parquet

    file, wanted = parquet.ParquetFile(BufferReader(data)), arrow_table(one.answer)
    if file.metadata.num_rows != len(one.answer) or not file.schema_arrow.equals(wanted.schema, check_metadata=True):
        return False
    return bool(file.read().equals(wanted))


def _copy(certificate: Certificate, folder: Path) -> Finding:
    """Compare the certificate with the curator's file, if it is there unchanged; its table is never opened."""
    what = f"{COPY} declares what was released"
    try:
        data = plain_bytes(folder / COPY, LARGEST_COPY)
    except OSError:
        return Finding(what, None, "not beside the certificate")
    if sha256(data).hexdigest() != certificate.files.get(COPY):
        return Finding(what, None, "it is not the file that was written")
    return _found(what, partial(_other_declaration, certificate, folder / COPY, data))


def _other_declaration(certificate: Certificate, place: Path, data: bytes) -> str:
    from discreet.publishing.reading import read_release

    file = read_release(place, data.decode("utf-8-sig")).file
    table, budget = file.dataset, file.budget.budget
    wanted = [
        (" ".join(entry.sql(table.name, file.bounds).split()), entry.name, entry.heading, entry.level or file.level)
        for entry in file.releases
    ]
    released = [(" ".join(one.query.split()), one.name, one.title, one.answer.level) for one in certificate.releases]
    pairs = {
        "the title": (file.title, certificate.title),
        "the data set": (
            (table.name, table.version, table.size),
            (certificate.dataset, certificate.version, certificate.size),
        ),
        "the unit": (file.protected, certificate.unit),
        "the budget": (
            (budget.epsilon, budget.delta, budget.filter),
            (certificate.budget.epsilon, certificate.budget.delta, certificate.budget.filter),
        ),
        "the releases": ([(*one[:3], float(one[3])) for one in wanted], released),
        "the bounds of a grid": (True, all(map(partial(_within, file.bounds), file.releases, certificate.releases))),
    }
    for name, (declared, stated) in pairs.items():
        if declared != stated:
            return f"{name} in it: another"
    return "the delta in it: less" if certificate.delta > file.delta else ""


def _within(bounds: Mapping[str, tuple[Fraction, Fraction]], entry: Entry, one: Certified) -> bool:
    """Whether a grid lies between the bounds of its columns; the first whole number beyond them ends one of these."""
    made: dict[str, Any] = one.answer.parameters
    if not isinstance(entry, Histogram) or made.get("together") not in SPREAD:
        return True
    for name, ends in made["bounds"].items():
        low, high = bounds[name]
        whole = all(type(end) is int for end in ends)
        if ends != ([ceil(low), floor(high) + 1] if whole else [float(low), float(high)]):
            return False
    return True
