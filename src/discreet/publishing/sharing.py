"""How the releases of a file share what it spends.

Parts in percent are of what the file spends; releases that say nothing share the rest equally. Since everything is
declared at once, the whole is one composition, and what that saves goes to those that share. Next to a release that
asks for an error, whose cost is found out last, parts are taken at their word: that much epsilon and no more.
"""

from collections.abc import Sequence
from fractions import Fraction

from discreet.publishing.entry import Entry
from discreet.publishing.file import ReleaseFile
from discreet.publishing.spending import Amount
from discreet.session import Request

__all__ = ["requests_of"]


def requests_of(file: ReleaseFile, groups: Sequence[float | None] = ()) -> tuple[list[Request], Fraction]:
    """Return what the session is asked for, and the epsilon of the whole.

    ``groups`` are the rows in the groups of each release, by what is declared. They matter to releases that ask for an
    error; others stay the same request, answered before, when somebody corrects the declared size.
    """
    solved = any(entry.error is not None for entry in file.releases)
    parts = [_part(entry, file.total) for entry in file.releases]
    said = sum((part for part in parts if part is not None), Fraction(0))
    open_ones = sum(part is None and entry.error is None for part, entry in zip(parts, file.releases, strict=True))
    rest = (1 - said) / open_ones if open_ones else Fraction(0)
    requests = []
    sizes = groups or [None] * len(parts)
    for entry, part, size in zip(file.releases, parts, sizes, strict=True):
        epsilon = None
        if isinstance(entry.spend, Amount) or (solved and part is not None):
            epsilon = (part or Fraction(0)) * file.total
        weight = part or (rest if entry.error is None else Fraction(1, len(parts)))
        requests.append(
            entry.request(
                file.dataset.name,
                file.bounds,
                file.level,
                epsilon=epsilon,
                weight=weight,
                group=size if entry.error else None,
            )
        )
    everything = solved or open_ones
    return requests, file.total * (1 if everything else said)


def _part(entry: Entry, total: Fraction) -> Fraction | None:
    if isinstance(entry.spend, Amount):
        return entry.spend.epsilon / total
    return entry.spend
