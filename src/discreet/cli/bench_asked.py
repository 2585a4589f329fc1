"""What is asked of a benchmark on the command line: lists of numbers, shapes and domains, read and checked."""

import math
import os
import re
from pathlib import Path

from discreet.bench import Source, generated, generated_names, read_sources
from discreet.bench.shapes import LINES, PLANES
from discreet.errors import InvalidParameter

__all__ = ["number", "sources_of", "split", "whole_number"]

Sizes = tuple[int, ...]

SIZES: dict[int, Sizes] = {1: (1024,), 2: (64, 64)}
"""The domain of generated shapes, if none is named."""


def split(text: str) -> list[str]:
    """Return the words of a list with commas between.

    >>> split("1e3, 1e5,")
    ['1e3', '1e5']
    """
    return [word.strip() for word in text.split(",") if word.strip()]


def number(word: str, name: str) -> float:
    """Return a number above 0.

    >>> number("0.1", "epsilon")
    0.1
    """
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise InvalidParameter(f"{name} must be a number above 0, got {word!r}.")
    return value


def whole_number(word: str, name: str) -> int:
    """Return a whole number above 0, which may be written with an exponent.

    >>> whole_number("1e5", "a scale")
    100000
    """
    value = number(word, name)
    if value != int(value):
        raise InvalidParameter(f"{name} must be a whole number, such as 100000 or 1e5, got {word!r}.")
    return int(value)


def _domains(text: str | None) -> dict[int, Sizes]:
    """Return the domain for each number of dimensions."""
    found: dict[int, Sizes] = {}
    for word in split(text or ""):
        if not re.fullmatch(r"[1-9]\d{0,6}(x[1-9]\d{0,6})?", word):
            raise InvalidParameter(f"a domain is written as 4096 or 64x64, got {word!r}.")
        sizes = tuple(int(side) for side in word.split("x"))
        if len(sizes) in found:
            raise InvalidParameter("name one domain for lines and one for planes, such as 4096,64x64.")
        found[len(sizes)] = sizes
    return found


def sources_of(text: str, domain: str | None) -> list[Source]:
    """Return the shapes that are named, on the domains that are."""
    domains = _domains(domain)
    listed = [source for word in split(text) for source in _named(word, domains)]
    found = [source for source in listed if not domains or len(source.sizes) in domains]
    if not found:
        raise InvalidParameter(
            "there is no shape to measure on: --data names none"
            + (" with as many dimensions as --domain." if listed else ".")
        )
    return [source.coarsened(domains[len(source.sizes)]) if domains else source for source in found]


def _named(word: str, domains: dict[int, Sizes]) -> list[Source]:
    sizes = SIZES | domains
    if word in ("1d", "2d"):
        dimensions = int(word[0])
        return [generated(name, sizes[dimensions]) for name in generated_names(dimensions)]
    if word == "dpbench":
        return read_sources(_dpbench())
    if Path(word).exists():
        return read_sources(Path(word))
    fitting = [d for d, table in ((1, LINES), (2, PLANES)) if word in table and (not domains or d in domains)]
    if not fitting:
        raise InvalidParameter(
            f"{word!r} is no shape here, and no folder or file. Take 1d, 2d, dpbench, a path of .npy arrays, or one of "
            f"{', '.join(dict.fromkeys([*LINES, *PLANES]))}."
        )
    return [generated(word, sizes[fitting[0]])]


def _dpbench() -> Path:
    folder = Path(os.environ.get("DISCREET_DATA", ""), "dpbench")
    if not os.environ.get("DISCREET_DATA") or not folder.is_dir():
        raise InvalidParameter(
            "--data dpbench reads the arrays of DPBench from the folder dpbench in $DISCREET_DATA, and there is none. "
            "Set DISCREET_DATA, or name a folder of .npy arrays."
        )
    return folder
