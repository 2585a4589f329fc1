"""Where the histograms of a benchmark come from: a shape, a scale and a domain, each chosen apart from the others.

Hay, Machanavajjhala, Miklau, Chen and Zhang, "Principled Evaluation of Differentially Private Algorithms using
DPBench", SIGMOD 2016: the error of an algorithm depends on how many persons there are (scale), how they are spread
(shape) and into how many cells (domain). So a shape is coarsened to the domain and persons are drawn from it. All this
is public; the same seed gives the same histogram.
"""

import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from discreet.datasets.size import whole
from discreet.errors import InvalidInput, InvalidParameter

__all__ = ["Source", "read_sources"]

Floats = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

MOST_PERSONS = 10**12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Source:
    """A shape: how persons are spread over the cells of a line or a plane, as ``weights`` of any positive sum.

    >>> steps = Source(name="steps", weights=[1, 1, 4, 2])
    >>> steps.coarsened((2,)).weights
    array([0.25, 0.75])
    >>> int(steps.draw(1000, seed=1).sum())
    1000
    """

    name: str
    weights: npt.ArrayLike
    persons: int | None = None
    """How many persons the shape was taken from, where it is a histogram of real ones."""

    def __post_init__(self) -> None:
        given = np.asarray(self.weights)
        if given.dtype.kind not in "iuf" or given.ndim not in (1, 2) or not given.size:
            raise InvalidInput(f"the shape {self.name!r} must be an array of numbers with one or two dimensions.")
        weights = given.astype(np.float64)
        if not np.isfinite(weights).all() or (weights < 0).any() or not weights.sum() > 0:
            raise InvalidInput(f"the shape {self.name!r} must have no weight below 0, and one above 0.")
        weights = weights / weights.sum()
        weights.setflags(write=False)
        object.__setattr__(self, "weights", weights)

    def __repr__(self) -> str:
        return f"<shape {self.name!r} on {' x '.join(map(str, self.sizes))} cells>"

    @classmethod
    def of(cls, name: str, histogram: npt.ArrayLike) -> Self:
        """Return the shape of a histogram of persons."""
        source = cls(name=name, weights=histogram)
        return replace(source, persons=round(float(np.sum(histogram, dtype=np.float64))))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many cells there are on each axis."""
        return np.shape(self.weights)

    def coarsened(self, sizes: tuple[int, ...]) -> "Source":
        """Return the same shape on fewer cells, each the sum of a block; blocks are equal."""
        fits = len(sizes) == len(self.sizes) and all(
            side >= 1 and old % side == 0 for side, old in zip(sizes, self.sizes, strict=True)
        )
        if not fits:
            raise InvalidParameter(
                f"the shape {self.name!r} has {' x '.join(map(str, self.sizes))} cells, which equal blocks cannot make "
                f"{' x '.join(map(str, sizes))} of. Take a domain that divides each side."
            )
        pairs = [part for side, old in zip(sizes, self.sizes, strict=True) for part in (side, old // side)]
        axes = tuple(range(1, 2 * len(sizes), 2))
        coarse = np.asarray(self.weights).reshape(pairs).sum(axis=axes)
        return Source(name=self.name, weights=coarse, persons=self.persons)

    def draw(self, scale: int, *, seed: int = 0) -> Int64:
        """Return a histogram of ``scale`` persons, each drawn from the shape."""
        if whole(scale, "a scale", 1) > MOST_PERSONS:
            raise InvalidParameter(f"a scale is a whole number of persons from 1 to {MOST_PERSONS}, got {scale!r}.")
        generator = np.random.default_rng([seed, zlib.crc32(self.name.encode()), scale, *self.sizes])
        drawn = generator.multinomial(scale, np.asarray(self.weights).reshape(-1))
        return np.asarray(drawn, dtype=np.int64).reshape(self.sizes)


def read_sources(path: Path) -> list[Source]:
    """Return the shapes of a folder of ``.npy`` arrays, or of one such file, by name.

    An array is a histogram of one or two dimensions. Others, and pickled objects, are refused.
    """
    files = sorted(path.glob("*.npy")) if path.is_dir() else [path]
    if not files:
        raise InvalidInput(f"{path} holds no .npy file. Name a folder of arrays, one histogram in each.")
    sources = []
    for file in files:
        try:
            array = np.load(file, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is no array of numbers"
            raise InvalidInput(f"{file} cannot be read: {reason}.") from None
        if not isinstance(array, np.ndarray):
            raise InvalidInput(f"{file} holds several arrays; a shape is one .npy array.")
        sources.append(Source.of(_plain(file.stem), array))
    return sources


def _plain(stem: str) -> str:
    """Return the name of a file without the numbers of its cells.

    >>> _plain("checkin_256_256"), _plain("Adult_2D_256_256"), _plain("HEPTH")
    ('checkin', 'Adult_2D', 'HEPTH')
    """
    words = stem.split("_")
    while len(words) > 1 and words[-1].isdigit():
        words.pop()
    return "_".join(words)
