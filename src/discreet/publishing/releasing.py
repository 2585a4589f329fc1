"""The release itself: one charge for everything, then the look at the data, then files that anybody can verify."""

import getpass
import logging
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path

from discreet._version import __version__
from discreet.accounting import PrivacyLoss
from discreet.errors import BudgetExceeded, DiscreetError, InvalidInput, LedgerError, MissingExtra
from discreet.publishing.book import entry_of, existing, lines_of
from discreet.publishing.certificate import Certificate, Certified, Charged
from discreet.publishing.folder import CERTIFICATE, COPY, REPORT, TABLES, digest_of, filled
from discreet.publishing.foresight import Foresight, probed, total_epsilon
from discreet.publishing.marker import check_marker, write_marker
from discreet.publishing.opening import opened
from discreet.publishing.reading import Source
from discreet.publishing.registry import registry_entry
from discreet.report.publication import Line, Publication, Published, render_publication
from discreet.session import Answer
from discreet.session.progress import Bar

__all__ = ["Outcome", "Unwritten", "admissible", "publish", "readable"]

LOG = logging.getLogger("discreet.curator")

NEEDED = {"altair": "plots", "vl_convert": "plots", "jinja2": "report", "pyarrow": "tables"}
"""What writes a report and tables, by the extra that brings it."""


class Unwritten(DiscreetError):
    """The release was charged and is stored in the ledger, and its files could not be written."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was released, and where it lies."""

    folder: Path
    files: tuple[str, ...]
    answers: tuple[Answer, ...]
    epsilon: float
    delta: float
    spent: float
    entry: int
    stored: bool
    notes: tuple[str, ...]


def admissible(source: Source, foresight: Foresight) -> None:
    """Refuse what the ledger, the marker or the budget would refuse, before anybody is asked."""
    if foresight.standing.problem:
        raise LedgerError(foresight.standing.problem)
    with existing(source.beside(source.file.ledger)) as ledger:
        check_marker(source, None if ledger is None else ledger.id)
    if foresight.standing.stored is None and not foresight.standing.fits:
        raise BudgetExceeded(
            f"the budget of {source.file.dataset.name} is not enough for this. Nothing was spent and nothing is "
            "released. discreet preview shows what it would cost; write less under spend, ask for less accuracy, or, "
            "for a budget that nothing was spent from, leave spend out to use it up at once."
        )


def readable(source: Source) -> bool:
    """Whether every value of the table can be read, also by the queries of the file; the curator's log says which not.

    The answer is for the curator alone: whoever releases without being asked must go on whatever it is.
    """
    with probed(source) as joined:
        try:
            joined.session.verify([replace(one, epsilon=Fraction(1), error=None) for one in joined.requests])
        except InvalidInput:
            return False
    return True


def publish(source: Source, foresight: Foresight, folder: Path, progress: Bar | None = None) -> Outcome:
    """Charge everything as one entry, look, and write the folder; ``progress`` shows how far the look is."""
    from discreet.ledger import Ledger

    _ready()
    file = source.file
    name, budget = file.dataset.name, file.budget.budget
    anchor = None if file.anchor is None else source.beside(file.anchor)
    with Ledger(source.beside(file.ledger), anchor=anchor) as ledger:
        check_marker(source, ledger.id)
        account = ledger.account(name, budget=budget, who=_who())
        with opened(source, account, progress) as joined:
            answers = joined.session.plan(
                joined.requests,
                epsilon=joined.epsilon,
                delta=joined.delta,
                why=file.title[:500],
                last=file.takes_all,
            )
        note = write_marker(source, ledger.id)
        entry = entry_of(ledger, name, foresight.charge.purpose)
        if entry is None:
            raise LedgerError("the charge of this release cannot be found in the ledger. Do not publish it.")
        charged = Charged(id=ledger.id, dataset=name, entry=entry.number, hash=entry.hash)
        spent = min(1.0, float(account.spent.amount / account.rule.limit))
        lines = lines_of(ledger, name, account.rule.currency, entry.number)
    made = _Made(source, tuple(answers), foresight.cautions, charged, entry.time[:10], spent, lines)
    if progress is not None:
        progress("writing the files", 1.0)
    files = made.written(folder)
    stored = all(answer.stored for answer in answers)
    notes = (note,) if note else ()
    return Outcome(folder, files, tuple(answers), made.epsilon[0], made.epsilon[1], spent, charged.entry, stored, notes)


def _ready() -> None:
    """See that everything is installed that is needed after the charge."""
    for module, extra in NEEDED.items():
        try:
            import_module(module)
        except ImportError:
            raise MissingExtra(module, extra) from None


def _who() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "curator"


class _Made:
    """A release that is charged, and how it is written down."""

    def __init__(
        self,
        source: Source,
        answers: tuple[Answer, ...],
        cautions: tuple[str, ...],
        charged: Charged,
        date: str,
        spent: float,
        lines: tuple[Line, ...],
    ) -> None:
        self.source, self.answers, self.cautions, self.charged = source, answers, cautions, charged
        self.date, self.spent, self.lines = date, spent, lines
        self.loss = PrivacyLoss.total([answer.loss for answer in answers])
        self.epsilon = total_epsilon(self.loss, source.file.delta, source.file.total)

    def written(self, folder: Path) -> tuple[str, ...]:
        """Write everything; if that fails, say that nothing is lost."""
        reason: object = None
        try:
            with filled(folder) as beside:
                self._fill(beside)
                return tuple(sorted(one.name for one in beside.iterdir()))
        except OSError as error:
            reason = error.strerror or error
        except Exception:
            LOG.exception("the files of a release could not be made")
            reason = "the log discreet.curator says why"
        raise Unwritten(
            f"the release is charged and stored in the ledger, but {folder} could not be written ({reason}). Run the "
            "same command again with a folder that can be: it costs nothing more."
        )

    def _fill(self, folder: Path) -> None:
        from pyarrow import parquet

        from discreet.session.synthesis.counted import is_synthetic, rows_of

        publication = self._publication()
        for table in publication.tables:
            table.answer.to_csv(folder / table.files[0])
            parquet.write_table(table.answer.to_arrow(), folder / table.files[1])
            if is_synthetic(table.answer):
                rows = rows_of(table.answer)
                (folder / table.files[2]).write_bytes(rows.to_csv_bytes())
                parquet.write_table(rows.to_arrow(), folder / table.files[3])
        (folder / REPORT).write_text(render_publication(publication), encoding="utf-8")
        (folder / COPY).write_bytes(self.source.marked.text.encode())
        (folder / CERTIFICATE).write_text(self._certificate(publication, folder).to_json(), encoding="utf-8")

    def _publication(self) -> Publication:
        file = self.source.file
        return Publication(
            title=file.title,
            description=file.description or "",
            date=self.date,
            dataset=file.dataset.name,
            version=file.dataset.version,
            size=file.dataset.size,
            unit=file.protected,
            loss=self.loss,
            epsilon=self.epsilon[0],
            delta=self.epsilon[1],
            budget=file.budget.budget,
            spent=self.spent,
            tables=tuple(
                Published(
                    name=one.name,
                    title=one.heading,
                    question=str(answer.parameters["query"]),
                    answer=answer,
                    files=tuple(f"{name}.{ending}" for name in one.file_names for ending in TABLES),
                )
                for one, answer in zip(file.releases, self.answers, strict=True)
            ),
            warnings=self.cautions,
            ledger=self.charged.id,
            entries=self.lines,
            reproduce=f"discreet release {COPY} -o out/",
            private=all(answer.private for answer in self.answers),
        )

    def _certificate(self, publication: Publication, folder: Path) -> Certificate:
        return Certificate(
            made_with=f"discreet {__version__}",
            title=publication.title,
            date=publication.date,
            dataset=publication.dataset,
            version=publication.version,
            size=publication.size,
            unit=publication.unit,
            budget=publication.budget,
            loss=publication.loss,
            epsilon=publication.epsilon,
            delta=publication.delta,
            releases=tuple(_certified(table, publication.delta, folder) for table in publication.tables),
            ledger=self.charged,
            files={name: digest_of(folder / name) for name in (REPORT, COPY)},
            registry=registry_entry(self.source.file, self.answers, publication.epsilon, publication.delta),
        )


def _certified(table: Published, whole: float, folder: Path) -> Certified:
    """Return one release of a certificate; its epsilon is told at the delta of the whole."""
    delta = 0.0 if table.answer.loss.is_pure else whole
    return Certified(
        name=table.name,
        title=table.title,
        query=table.question,
        answer=table.answer,
        loss=table.answer.loss,
        epsilon=table.answer.loss.epsilon(delta),
        delta=delta,
        files={name: digest_of(folder / name) for name in table.files},
    )
