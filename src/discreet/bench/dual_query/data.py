"""The data of the DualQuery experiments: two public tables with their published bins, and random biased bits.

Gaboardi, Gallego Arias, Hsu, Roth and Wu (ICML 2014). Every attribute becomes as many binary ones as it has bins: 235
in Adult and 396 in KDD99. Without the files, tables of the same shape are generated: a few hundred kinds of records,
each with slips, so that attributes depend on each other.
"""

import bz2
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from discreet.datasets.size import whole
from discreet.errors import InvalidInput, InvalidParameter
from discreet.synthetic.coded import Tallied
from discreet.synthetic.dual_query import Packed, Queries

__all__ = ["Table", "biased_columns", "generated_table", "read_table", "table_named"]

Int64 = npt.NDArray[np.int64]

ADULT = (
    *((20, 100.0), (8, 7.0), (20, 1.6e6), (16, 15.0), (10, 100.0), (7, 6.0), (14, 13.0), (60, 5.0), (5, 4.0)),
    *((2, 1.0), (10, 1e5), (10, 5e3), (10, 100.0), (41, 40.0), (2, 1.0)),
)
KDD99 = (
    *((20, 6e4), (3, 2.0), (65, 65.0), (11, 10.0), (20, 7e8), (20, 6e6), (2, 1.0), (4, 3.0), (4, 3.0), (10, 30.0)),
    *((6, 5.0), (2, 1.0), (10, 900.0), (2, 1.0), (3, 2.0), (5, 1e3), (5, 30.0), (3, 2.0), (5, 10.0)),
    *((2, 1.0), (2, 1.0), (2, 1.0), (10, 600.0), (10, 600.0), *((10, 1.0),) * 7, *((10, 255.0),) * 2),
    *((10, 1.0),) * 8,
)
"""Bins of each column, and the value at the end of the last."""

TABLES = {"adult": (ADULT, "adult.clean", 30_162), "kdd99": (KDD99, "kdd99.clean.bz2", 494_021)}
KINDS = 400
SLIPS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """Coded records with what is public about them."""

    name: str
    sizes: tuple[int, ...]
    tally: Tallied
    records: int


def table_named(name: str, folder: Path | None = None) -> Table:
    """Return ``adult`` or ``kdd99`` from a folder or from ``dualquery`` in $DISCREET_DATA, or else generated.

    What is generated says so in its name.
    """
    if name not in TABLES:
        raise InvalidParameter(f"the tables are {' and '.join(TABLES)}, got {name!r}.")
    if folder is None and os.environ.get("DISCREET_DATA"):
        folder = Path(os.environ["DISCREET_DATA"], "dualquery")
    if folder is not None and (folder / TABLES[name][1]).is_file():
        return read_table(name, folder / TABLES[name][1])
    return generated_table(name)


def read_table(name: str, path: Path) -> Table:
    """Return a table from its file of numbers with commas between."""
    bins = TABLES[name][0]
    try:
        with bz2.open(path, "rt") if path.suffix == ".bz2" else path.open() as file:
            raw = np.loadtxt((line.strip().rstrip(".") for line in file), delimiter=",", usecols=range(len(bins)))
    except (OSError, ValueError, EOFError):
        raise InvalidInput(f"{path} is no file of the {name} table: numbers with commas between.") from None
    sizes = np.array([size for size, _ in bins])
    codes = np.clip((raw * sizes / np.array([end for _, end in bins])).astype(np.int64), 0, sizes - 1)
    return _table(name, sizes, codes)


def generated_table(name: str, *, records: int | None = None) -> Table:
    """Return a table of the shape of a published one; the same in every run.

    >>> generated_table("adult", records=100).records
    100
    """
    bins, _, persons = TABLES[name]
    count = whole(persons if records is None else records, "records", 1)
    generator = np.random.default_rng(len(bins))
    sizes = np.array([size for size, _ in bins])
    kinds = (generator.beta(0.6, 2.0, (KINDS, len(bins))) * sizes).astype(np.int64)
    weights = generator.dirichlet(np.full(KINDS, 0.1))
    codes = kinds[generator.choice(KINDS, count, p=weights)]
    slips = generator.random(codes.shape) < SLIPS
    other = (generator.beta(0.6, 2.0, codes.shape) * sizes).astype(np.int64)
    return _table(f"{name}, generated", sizes, np.minimum(np.where(slips, other, codes), sizes - 1))


def biased_columns(queries: Queries, records: int, *, seed: int = 0) -> Packed:
    """Return random bits, those of each attribute with a bias of its own; only columns that are asked for are made.

    >>> biased_columns(Queries(sizes=(2,) * 9, attributes=[[3]], values=[[1]]), 1000).records
    1000
    """

    def column(attribute: int, _value: int) -> npt.NDArray[np.uint8]:
        generator = np.random.default_rng([seed, attribute])
        share = int(generator.random() * 256)
        return np.packbits(generator.integers(0, 256, records, dtype=np.uint8) < share, bitorder="little")

    return Packed.from_columns(queries, records, column)


def _table(name: str, sizes: Int64, codes: Int64) -> Table:
    keys = np.ascontiguousarray(codes.astype(np.uint8)).view(f"V{codes.shape[1]}").reshape(-1)
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    tally = Tallied(codes[first], counts.astype(np.int64))
    return Table(name=name, sizes=tuple(sizes.tolist()), tally=tally, records=len(codes))
