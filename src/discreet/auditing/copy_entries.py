"""The synthesizer of full tables, on a person whose records are gone, or have moved: its noisy table is audited."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from discreet.auditing.entries import Entry

__all__ = ["our_copies"]

SIZES = (2, 2)


def our_copies() -> tuple[Entry, ...]:
    """Return full tables with either noise, under both relations, with one record of a person and with two."""
    return tuple(_entries())


def _entries() -> Iterator[Entry]:
    from discreet.synthetic.full_table import FullTable  # it brings scipy: not before it is asked for

    made: tuple[Any, ...] = (
        FullTable(sizes=SIZES, epsilon=2, relation="add_remove"),
        FullTable(sizes=SIZES, epsilon=2, relation="replace_one", records=2),
        FullTable(sizes=SIZES, rho=1, relation="add_remove", records=2),
        FullTable(sizes=SIZES, rho=1, relation="replace_one"),
    )
    for one in made:
        noise = "geometric" if one.rho is None else "Gaussian"
        name = f"synthesizer FullTable, {noise}, {one.relation}, {one.records} of a person"
        yield Entry(name, partial(_table, one), one.loss, (one.worst_case(),))


def _table(synthesizer: Any, records: Any) -> Any:  # noqa: ANN401 - a synthesizer, and arrays
    (told,) = synthesizer.measured(records)
    return told.counts.reshape(-1)
