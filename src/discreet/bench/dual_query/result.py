"""What the DualQuery experiments found: largest errors with their uncertainty, as JSON and as pictures."""

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from discreet import plots
from discreet.errors import InvalidInput

__all__ = ["Experiment", "Measured"]

FORMAT = "discreet.bench.dual-query/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Errors of several releases by one method in one setting: the largest and the mean over all queries.

    >>> one = Measured(method="a", at=1.0, largest=(0.1, 0.2, 0.3), mean=(0.01,) * 3, seconds=1.0, memory=0)
    >>> [round(end, 3) for end in one.interval]
    [-0.048, 0.448]
    """

    method: str
    at: float
    """Epsilon, the number of queries or the number of attributes."""
    largest: tuple[float, ...]
    mean: tuple[float, ...]
    seconds: float
    """Processor time of a release, with counting, in the mean."""
    memory: int
    """The most bytes that the process has held so far."""
    plan: str = ""

    @property
    def error(self) -> float:
        """The largest error, in the mean over the releases."""
        return float(np.mean(self.largest))

    @property
    def interval(self) -> tuple[float, float]:
        """Where the mean of all possible releases lies, by Student's t at 95 percent."""
        count = len(self.largest)
        if count < 2:
            return -math.inf, math.inf
        reach = float(stdtrit(count - 1, 0.975)) * float(np.std(self.largest, ddof=1)) / math.sqrt(count)
        return self.error - reach, self.error + reach


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One of the three: errors against epsilon, against the number of queries, or against the number of attributes."""

    kind: str
    data: str
    records: int
    words: str
    rows: tuple[Measured, ...]
    complete: bool = True

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of all methods."""
        return tuple(dict.fromkeys(row.method for row in self.rows))

    def of(self, method: str) -> list[Measured]:
        """Return the rows of one method."""
        return [row for row in self.rows if row.method == method]

    def beats(self, method: str, other: str) -> list[float]:
        """Return where the interval of one method lies below that of another."""
        rivals = {row.at: row for row in self.of(other)}
        return [row.at for row in self.of(method) if row.at in rivals and row.interval[1] < rivals[row.at].interval[0]]

    def plot(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw the largest error of each method."""
        return plots.curves(
            [
                plots.Curve(
                    name=name,
                    xs=[row.at for row in self.of(name)],
                    ys=[row.error for row in self.of(name)],
                    strong=name == "DualQuery",
                    dashed=name != "DualQuery",
                )
                for name in self.methods
            ],
            _axis(self.kind),
            plots.Axis(title="largest error of a query", log=True),
            title=f"Largest error against {_words(self.kind)}",
            subtitle=f"{self.data}: {self.words}",
        )

    def plot_seconds(self) -> Any:  # noqa: ANN401  an altair chart
        """Draw the processor time of a release of DualQuery."""
        rows = self.of("DualQuery")
        line = plots.Curve(name="DualQuery", xs=[r.at for r in rows], ys=[r.seconds for r in rows], strong=True)
        return plots.curves(
            [line],
            _axis(self.kind),
            plots.Axis(title="seconds", log=True),
            title=f"Processor time against {_words(self.kind)}",
            subtitle=f"{self.data}: {self.words}",
        )

    def to_json(self) -> str:
        """Return everything as JSON."""
        rows = [
            {
                "method": row.method,
                "at": row.at,
                "largest": list(row.largest),
                "mean": list(row.mean),
                "seconds": row.seconds,
                "memory": row.memory,
                "plan": row.plan,
            }
            for row in self.rows
        ]
        record = {"format": FORMAT, "kind": self.kind, "data": self.data, "records": self.records, "words": self.words}
        return json.dumps({**record, "complete": self.complete, "rows": rows}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> "Experiment":
        """Return an experiment that was written by ``to_json``."""
        try:
            record = json.loads(text)
            if record["format"] != FORMAT:
                raise ValueError
            rows = tuple(
                Measured(
                    method=str(row["method"]),
                    at=float(row["at"]),
                    largest=tuple(map(float, row["largest"])),
                    mean=tuple(map(float, row["mean"])),
                    seconds=float(row["seconds"]),
                    memory=int(row["memory"]),
                    plan=str(row["plan"]),
                )
                for row in record["rows"]
            )
            return cls(
                kind=str(record["kind"]),
                data=str(record["data"]),
                records=int(record["records"]),
                words=str(record["words"]),
                rows=rows,
                complete=bool(record["complete"]),
            )
        except (KeyError, TypeError, ValueError):
            raise InvalidInput(f"this is no experiment of the format {FORMAT!r}, as to_json writes it.") from None


def _words(kind: str) -> str:
    return {"epsilon": "epsilon", "queries": "the number of queries", "attributes": "the number of attributes"}[kind]


def _axis(kind: str) -> plots.Axis:
    return plots.Axis(title=_words(kind).removeprefix("the "), log=kind != "epsilon", power=kind != "epsilon")
