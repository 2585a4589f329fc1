"""One report of several syntheses beside the real records."""

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from discreet.errors import InvalidParameter
from discreet.utility.association import Associations, associations
from discreet.utility.prediction import Prediction, predict_all
from discreet.utility.tables import NOTE, Data, tables_of
from discreet.utility.workload_error import WorkloadError, workload_error

__all__ = ["UtilityReport", "compare"]


@dataclass(frozen=True, slots=True, eq=False)
class UtilityReport:
    """Every synthesis by name: errors of tables, lost and made-up associations, and what can be learnt from it."""

    errors: Mapping[str, WorkloadError]
    associations: Mapping[str, Associations]
    predictions: Mapping[str, Prediction]
    """Empty if no target was named."""
    note: str = NOTE

    @property
    def lines(self) -> tuple[tuple[str, ...], ...]:
        """The report as a table of words, its head first."""
        head = ("synthesis", "mean L1", "worst L1", "association", "worst pair")
        rows = [head + (("accuracy", "real data", "majority") if self.predictions else ())]
        for name, error in self.errors.items():
            seen = self.associations[name]
            numbers = [error.mean, error.worst, seen.mean, seen.worst]
            if self.predictions:
                found = self.predictions[name]
                numbers += [found.synthetic, found.real, found.majority]
            rows.append((name, *(f"{number:.4f}" for number in numbers)))
        return tuple(rows)

    def __str__(self) -> str:
        widths = [max(len(line[place]) for line in self.lines) for place in range(len(self.lines[0]))]
        lines = [
            "  ".join(
                word.ljust(width) if place == 0 else word.rjust(width)
                for place, (word, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in self.lines
        ]
        return "\n".join([*lines, self.note])

    def _repr_html_(self) -> str:
        head, *rows = self.lines
        cells = "".join(f"<th scope='col'>{html.escape(word)}</th>" for word in head)
        body = "".join(
            f"<tr><th scope='row'>{html.escape(row[0])}</th>{''.join(f'<td>{word}</td>' for word in row[1:])}</tr>"
            for row in rows
        )
        return (
            f"<table><caption>{html.escape(self.note)}</caption><thead><tr>{cells}</tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )


def compare(
    real: Data,
    synthetic_by_name: Mapping[str, Data],
    sizes: tuple[int, ...],
    target: int | None = None,
    workload: Iterable[tuple[int, ...]] | None = None,
) -> UtilityReport:
    """Return how several syntheses, records or models, compare with the real records. Not private.

    >>> print(compare([[0, 0], [1, 1]] * 20, {"same": [[0, 0], [1, 1]]}, sizes=(2, 2)))
    synthesis  mean L1  worst L1  association  worst pair
    same        0.0000    0.0000       0.0000      0.0000
    Compared with the real records, without noise: NOT private. ...
    """
    if not synthetic_by_name:
        raise InvalidParameter("there is nothing to compare: give one synthesis or more, by name.")
    sets = None if workload is None else tuple(workload)
    truth = tables_of(real, sizes)
    made = {name: tables_of(data, sizes) for name, data in synthetic_by_name.items()}
    return UtilityReport(
        {name: workload_error(truth, data, sizes=sizes, workload=sets) for name, data in made.items()},
        {name: associations(truth, data, sizes=sizes) for name, data in made.items()},
        {} if target is None else predict_all(real, synthetic_by_name, sizes=sizes, target=target),
    )
