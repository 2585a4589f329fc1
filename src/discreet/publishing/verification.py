"""Verification: a stranger computes the guarantee again, and sees whether a certificate says the same everywhere.

Everything that a certificate says twice is compared: the unit and what each answer was made with, the noise in words
and the terms of the losses, the numbers and the tables beside it, and the file of the curator. What is said once, how
far a sum may be moved and what the budget is, stays the curator's word.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from discreet.accounting import PrivacyLoss
from discreet.accounting.filters import Zcdp
from discreet.accounting.terms import Approximate, BoundedRange, DiscreteGaussian, DiscreteLaplace, Pure
from discreet.accounting.terms.base import Term
from discreet.errors import DiscreetError
from discreet.publishing.certificate import Certificate, Certified
from discreet.publishing.folder import COPY, REPORT, TABLES, digest_of, plain_bytes
from discreet.publishing.registry import derived_entry
from discreet.session.columns import TREE
from discreet.session.digits import above
from discreet.session.frames import arrow_table, csv_bytes
from discreet.session.noise import Noise, Reach
from discreet.tables.measures import UNIT
from discreet.units import Person, Row

__all__ = ["Finding", "findings"]

SLACK = 1e-9
"""What rounding may take from an epsilon that was claimed."""

NEAR = 1e-3
"""How far the epsilon that an answer was planned with may be from what its terms add up to."""

DECLARED = re.compile(r"public: ([0-9,]+) declared")
NOISE = re.compile(r"(integer Laplace noise, scale|discrete Gaussian noise, sigma) ([0-9.,e+-]{1,30})")
TREE_TOLD = "tree of noisy counts"
CHOICES = ("exponential mechanism", "exponential mechanism, one after another")
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
        yield _found(
            f"{one.name}: its unit, query, noise and loss agree", partial(_Told(one, certificate.unit).problem)
        )
    yield _total(certificate)
    yield from _each(certificate)
    yield _budget(certificate)
    yield _noise(certificate)
    yield _found("the entry for a registry follows from the rest", partial(_other_registry, certificate))
    yield _found("every table, the report and the file are listed", partial(_unlisted, certificate))
    for one in certificate.releases:
        yield _found(f"{one.name}: the answer is what {one.name}.csv holds", partial(_other_csv, one))
    if folder is not None:
        yield from _files(certificate, folder)
        yield from _tables(certificate, folder)
        yield _copy(certificate, folder)


def _found(what: str, problem: Callable[[], str]) -> Finding:
    """Return what a check says: it holds where there is no problem. What cannot even be computed does not hold."""
    try:
        wrong = problem()
    except (DiscreetError, ArithmeticError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        wrong = "it cannot be computed"
    return Finding(what, not wrong, wrong or "the same")


# Losses ------------------------------------------------------------------------------------------------------


def _parts(certificate: Certificate) -> Finding:
    what = "the losses of the releases add up to the whole"
    parts = PrivacyLoss.total([one.loss for one in certificate.releases]) if certificate.releases else None
    same = parts is not None and _terms(parts) == _terms(certificate.loss)
    return Finding(what, same, f"{len(certificate.releases)} releases" if same else "the whole is another loss")


def _terms(loss: PrivacyLoss) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for term, count in loss.terms:
        found[term] += count
    return found


def _answers(certificate: Certificate) -> Finding:
    wrong = [one.name for one in certificate.releases if _terms(one.answer.loss) != _terms(one.loss)]
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


# What an answer says about itself -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Told:
    """One release, beside the unit that is protected: the words of its answer against the terms of its loss."""

    one: Certified
    unit: Row | Person

    @property
    def parameters(self) -> dict[str, Any]:
        return self.one.answer.parameters

    def problem(self) -> str:
        """Return the first thing that does not agree, or nothing."""
        return self._unit() or self._groups() or self._words() or self._loss()

    def _unit(self) -> str:
        made, unit = self.parameters, self.unit
        persons = isinstance(unit, Person)
        if made["query"] != self.one.query:
            return "the answer is of another query"
        if (made["unit"], made["relation"]) != ("persons" if persons else "rows", unit.relation):
            return "the answer protects another unit"
        if made["rows"] != (unit.rows if isinstance(unit, Person) else 1):
            return "the answer counts another number of rows"
        return ""

    @property
    def declared(self) -> int | None:
        """How many groups there are by declaration; None where they are private."""
        keys = self.parameters["keys"]
        if not self.one.answer.keys:
            return 1 if keys == "" else 0
        found = DECLARED.fullmatch(keys)
        return int(found[1].replace(",", "")) if found else None

    def _groups(self) -> str:
        made, declared, answer = self.parameters, self.declared, self.one.answer
        most = self.unit.groups if isinstance(self.unit, Person) and answer.keys else 1
        if most is None or made["groups"] != (most if declared is None else min(most, declared)):
            return "the answer counts persons in another number of groups"
        if declared is not None:
            fits = made["threshold"] is None and len(answer) <= declared
            return "" if fits else "there are more groups than declared"
        told = f"private: a group is shown when about {made['threshold']:,} {made['unit']} or more are in it"
        return "" if made["keys"] == told else "the threshold of the groups is another"

    def _words(self) -> str:
        """Compare the method of every column with the noise that the answer lists."""
        listed, unit = set(self.parameters["noise"].values()), self.unit
        size_is_public = isinstance(unit, Row) and unit.size is not None and not self.one.answer.keys
        for name, column in self.one.answer.columns.items():
            known = column.method in (TREE_TOLD, *CHOICES) or set(column.method.split("; ")) <= listed
            if not known and not (size_is_public and not column.method):
                return f"the noise of {name} is not listed"
        return ""

    def _loss(self) -> str:
        """Find a term for every noise; what is left is of quantiles, top lists and the choice of groups."""
        left = _terms(self.one.loss)
        for words in self.parameters["noise"].values():
            term = self._term_of(words, left)
            if term is None:
                return "the loss has no term for its noise"
            left[term] -= 1
            left += Counter()
        return self._counts() or self._rest(left) or self._adds_up(left)

    def _term_of(self, words: str, left: Counter[Any]) -> Any:  # noqa: ANN401  a term or None
        counts = [term for term in left if self._is_count(term, words, self.rows, 1)]
        sums = [term for term in left if self._is_sum(term, words)]
        return next(iter([*counts, *sorted(sums, key=self._is_tree)]), None)

    @property
    def rows(self) -> int:
        """The rows of a unit that count."""
        return int(self.parameters["rows"])

    def _is_count(self, term: Term, words: str, *changes: int) -> bool:
        """Return whether a term is noise in these words on something that a unit changes by so much in each group."""
        reaches = [self._reach(change) for change in changes]
        if isinstance(term, DiscreteGaussian):
            within = term.squared_sensitivity in [reach.squared for reach in reaches]
        else:
            within = isinstance(term, DiscreteLaplace) and term.sensitivity in [reach.first for reach in reaches]
        return within and _told(term) == words

    def _reach(self, change: int) -> Reach:
        return Reach(self.parameters["groups"], 0, change, self.unit.relation, not self.one.answer.keys)

    def _is_sum(self, term: Term, words: str) -> bool:
        """Return whether a term is noise in these words on a sum: whole steps in each row, a power of two each."""
        groups, parsed = self.parameters["groups"], NOISE.fullmatch(words)
        told = None if parsed is None else float(parsed[2].replace(",", ""))
        if not told or _told(term)[:8] != words[:8]:
            return False
        twice = self.unit.relation == "replace_one" and bool(self.one.answer.keys)
        if isinstance(term, DiscreteGaussian):
            size = math.sqrt(float(term.sigma_squared))
            steps, rest = divmod(term.squared_sensitivity, groups * self.rows**2)
            square = _is_square(steps) or (twice and steps % 2 == 0 and _is_square(steps // 2))
            whole = steps > 0 and rest == 0 and square
        else:
            size = float(term.scale)  # type: ignore[attr-defined]
            whole = term.sensitivity > 0 and term.sensitivity % (groups * self.rows) == 0  # type: ignore[attr-defined]
        step = math.log2(told / size)
        return whole and abs(step - round(step)) < 0.01  # three digits are told

    def _is_tree(self, term: Term) -> bool:
        wide = 2 if self.unit.relation == "replace_one" else 1
        return isinstance(term, DiscreteLaplace) and term.sensitivity == wide * UNIT * self.rows * TREE[1]

    def _counts(self) -> str:
        """See that every count of the query has the noise that the bounds of the unit ask for."""
        terms = _terms(self.one.loss)
        columns = {name.casefold(): column for name, column in self.one.answer.columns.items()}
        for name, changes in _counted(self.one.query, self.unit, self.rows).items():
            column = columns.get(name.casefold())
            if column is None:
                return f"the query has a column {name}, and the answer has none"
            if column.method and not any(self._is_count(term, column.method, *changes) for term in terms):
                return f"the noise of {name} is not that of a count"
        return ""

    def _rest(self, left: Counter[Any]) -> str:
        methods = {column.method for column in self.one.answer.columns.values()}
        groups = self.parameters["groups"]
        trees = sum(count for term, count in left.items() if self._is_tree(term))
        chosen = sum(count for term, count in left.items() if isinstance(term, BoundedRange))
        if TREE_TOLD in methods and (not trees or trees % groups):
            return "the loss has no term for its quantiles"
        if methods & set(CHOICES) and (not chosen or chosen % groups):
            return "the loss has no term for its choices"
        others = sum(left.values()) - trees * (TREE_TOLD in methods) - chosen * bool(methods & set(CHOICES))
        if self.declared is None:
            return "" if others else "the loss has no term for the choice of groups"
        return "the loss has terms that nothing is told of" if others else ""

    def _adds_up(self, left: Counter[Any]) -> str:
        """Compare the epsilon that the answer was planned with, at its delta, with what its terms add up to."""
        epsilon, delta = self.parameters["epsilon"], self.parameters["delta"]
        terms = _terms(self.one.loss)
        if not terms or (set(terms) == {Pure(Fraction(0))} and not self.parameters["noise"]):
            return "" if not any(column.method for column in self.one.answer.columns.values()) else "it has no loss"
        if any(isinstance(term, DiscreteGaussian) for term in left):  # groups are chosen by Gaussian noise as well
            return "" if self.one.loss.epsilon(delta) <= epsilon * (1 + NEAR) else "the loss is above its epsilon"
        rho = sum(count * Fraction(term.rho) for term, count in terms.items() if isinstance(term, DiscreteGaussian))
        plain = sum(count * _plain(term) for term, count in terms.items())
        rest = Fraction(epsilon) - plain
        if not rho:
            return "" if abs(rest) <= NEAR * epsilon else "the terms of the loss give another epsilon"
        failures = 1 - math.prod((1 - _failure(term)) ** count for term, count in terms.items())
        part = rho / Zcdp.reaching(rest, Fraction(delta) - failures).limit
        least = Fraction(1, 2) if any(_failure(term) and not _plain(term) for term in left) else 1 - Fraction(NEAR)
        near = least <= part <= 1 + Fraction(NEAR)  # a threshold may fail less often than it was given leave to
        return "" if near else "the terms of the loss give another epsilon"


def _told(term: Term) -> str:
    reach = Reach(1, 0, 1, "add_remove")
    if isinstance(term, DiscreteGaussian):
        return str(Noise("gaussian", reach, Fraction(term.sigma_squared)))
    return str(Noise("laplace", reach, Fraction(term.scale))) if isinstance(term, DiscreteLaplace) else ""


def _plain(term: Term) -> Fraction:
    """Return the epsilon of a term that has one by itself."""
    if isinstance(term, DiscreteLaplace):
        return term.sensitivity / Fraction(term.scale)
    return Fraction(term.epsilon) if isinstance(term, Approximate | BoundedRange | Pure) else Fraction(0)


def _failure(term: Term) -> Fraction:
    return Fraction(term.failure) if isinstance(term, Approximate) else Fraction(0)


def _is_square(number: int) -> bool:
    return math.isqrt(number) ** 2 == number


def _counted(query: str, unit: Row | Person, rows: int) -> dict[str, tuple[int, ...]]:
    """Return the columns of a query that count, each with what one unit may change it by in a group."""
    from sqlglot import exp

    from discreet.tables.sql.aggregates import default_name
    from discreet.tables.sql.dialect import tree
    from discreet.tables.sql.options import options
    from discreet.tables.sql.words import words

    select = tree(options(words(query))[1], query)
    plain = not select.args.get("with_") and not list(select.find_all(exp.Subquery))
    found: dict[str, tuple[int, ...]] = {}
    for item in select.expressions:
        node = item.this if isinstance(item, exp.Alias) else item
        name = item.alias if isinstance(item, exp.Alias) else None
        inner = node
        while isinstance(inner, exp.Filter | exp.Paren):
            inner = inner.this
        if not isinstance(inner, exp.Anonymous) or str(inner.this).upper() != "COUNT" or not inner.expressions:
            continue
        changes: tuple[int, ...] = (rows,)
        if isinstance(inner.expressions[0], exp.Distinct):
            (value,) = inner.expressions[0].expressions
            person = isinstance(unit, Person) and isinstance(value, exp.Column) and value.name == unit.key
            changes = (1, rows) if person or not plain else (rows,)
        found[name or default_name(node)] = changes
    return found


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
    wanted = {one.name: {f"{one.name}.{ending}" for ending in TABLES} for one in certificate.releases}
    listed = all(set(one.files) == wanted[one.name] for one in certificate.releases)
    if not listed or set(certificate.files) != {REPORT, COPY}:
        return "files are missing from the list, or are not of this release"
    return "" if certificate.ledger.dataset == certificate.dataset else "the charge is in another account"


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
    }
    for name, (declared, stated) in pairs.items():
        if declared != stated:
            return f"{name} in it: another"
    return "the delta in it: less" if certificate.delta > file.delta else ""
