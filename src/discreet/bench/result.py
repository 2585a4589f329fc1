"""What a benchmark found: rows of errors, as a table, as JSON, as pictures."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from discreet import plots
from discreet.bench.measured import Measured, Setting, geometric_mean, worse
from discreet.errors import InvalidInput, InvalidParameter

__all__ = ["Result"]

FORMAT = "discreet.bench.histograms/1"
ALPHA = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The errors of algorithms in settings, and whether all that was asked for was measured.

    The errors are scaled averages per query: see ``scaled_error``.
    """

    workload: str
    relation: str
    trials: int
    rows: tuple[Measured, ...]
    complete: bool = True
    notes: tuple[str, ...] = ()
    """What was left out, and why."""

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The names of all algorithms, in the order they were measured."""
        return tuple(dict.fromkeys(row.algorithm for row in self.rows))

    @property
    def settings(self) -> tuple[Setting, ...]:
        """All settings, in the order they were measured."""
        return tuple(dict.fromkeys(row.setting for row in self.rows))

    @property
    def domains(self) -> tuple[tuple[int, ...], ...]:
        """The sizes of all domains."""
        return tuple(dict.fromkeys(setting.sizes for setting in self.settings))

    def on(self, sizes: tuple[int, ...]) -> "Result":
        """Return what was measured on one domain."""
        return replace(self, rows=tuple(row for row in self.rows if row.setting.sizes == sizes))

    def at(self, setting: Setting) -> dict[str, Measured]:
        """Return the rows of one setting by algorithm, the least error first."""
        found = sorted((row for row in self.rows if row.setting == setting), key=lambda row: row.mean)
        return {row.algorithm: row for row in found}

    def best(self, setting: Setting) -> Measured:
        """Return the row of least mean error."""
        return next(iter(self.at(setting).values()))

    def competitive(self, setting: Setting) -> tuple[str, ...]:
        """Return the algorithms that are not shown to be worse than the best.

        By Welch's t-test at level 0.05, divided by the number of comparisons (Bonferroni), as DPBench does.
        """
        rows = list(self.at(setting).values())
        level = ALPHA / max(1, len(rows) - 1)
        return tuple(row.algorithm for row in rows if not worse(row, rows[0], level))

    def regret(self, settings: Sequence[Setting] | None = None) -> dict[str, float]:
        """Return how much larger the error of each algorithm is than that of the best of each setting, least first.

        The geometric mean over the settings it was measured in. Whoever could choose with the data in sight has 1.
        """
        ratios: dict[str, list[float]] = {}
        for setting in self.settings if settings is None else settings:
            rows = self.at(setting)
            least = min(row.mean for row in rows.values())
            for name, row in rows.items():
                ratios.setdefault(name, []).append(_ratio(row.mean, least))
        means = {name: geometric_mean(found) for name, found in ratios.items()}
        return dict(sorted(means.items(), key=lambda item: item[1]))

    def table(self, *, percentile: bool = False) -> tuple[list[str], list[list[str]]]:
        """Return the head and the rows of a table: one row for each setting, one column for each algorithm.

        The best of a setting, and all that are not shown to be worse, have an asterisk.
        """
        head = ["data", "cells", "scale", "epsilon", *self.algorithms]
        lines = []
        for setting in self.settings:
            rows, good = self.at(setting), self.competitive(setting)
            cells = []
            for name in self.algorithms:
                row = rows.get(name)
                value = "" if row is None else _number(row.high if percentile else row.mean)
                cells.append(value + ("*" if name in good else ""))
            sizes = "x".join(map(str, setting.sizes))
            lines.append([setting.data, sizes, _whole(setting.scale), f"{setting.epsilon:g}", *cells])
        return head, lines

    def __str__(self) -> str:
        head, lines = self.table()
        widths = [max(len(row[i]) for row in [head, *lines]) for i in range(len(head))]
        shown = [
            "  ".join(
                cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in [head, *lines]
        ]
        return "\n".join([*shown, *self.remarks()])

    def remarks(self) -> list[str]:
        """Return what a reader of the table must know."""
        asked = " or ".join(dict.fromkeys(f"{setting.queries:,}" for setting in self.settings))
        measure = (
            f"Scaled error per query, over {self.trials} release(s) each; {asked} queries ({self.workload}) under "
            f"{self.relation}. An asterisk: the best, and all that are not shown to be worse."
        )
        said = [measure]
        if not self.complete:
            least = min((len(row.errors) for row in self.rows), default=0)
            said.append(
                f"The time was over before all was measured: some means are of {least} release(s) or are missing."
            )
        return [*said, *self.notes]

    def to_json(self) -> str:
        """Return everything as JSON, with the error of each release."""
        record = {
            "format": FORMAT,
            "workload": self.workload,
            "relation": self.relation,
            "trials": self.trials,
            "complete": self.complete,
            "notes": list(self.notes),
            "rows": [_record(row) for row in self.rows],
        }
        return json.dumps(record, indent=1)

    @classmethod
    def from_json(cls, text: str) -> "Result":
        """Return a result that was written by ``to_json``."""
        try:
            record = json.loads(text)
            if record["format"] != FORMAT:
                raise InvalidInput(f"a benchmark of histograms has the format {FORMAT!r}.")
            return cls(
                workload=str(record["workload"]),
                relation=str(record["relation"]),
                trials=int(record["trials"]),
                complete=bool(record["complete"]),
                notes=tuple(map(str, record["notes"])),
                rows=tuple(_row(each) for each in record["rows"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(
                f"this is no benchmark of histograms as to_json writes it ({type(error).__name__})."
            ) from None

    def plot(self, data: str | None = None, *, epsilon: float | None = None) -> Any:  # noqa: ANN401  an altair chart
        """Draw the error of each algorithm against the scale, for one shape or in the geometric mean over all.

        It is shown as the root of the mean square error of a query, in persons: the scaled error times the scale and
        the root of the number of queries. That of an algorithm which does not look at the data is then a level line. In
        the mean, only algorithms appear that were measured on every shape.
        """
        chosen = self._chosen(data, epsilon)
        scales = sorted({setting.scale for setting in chosen})
        lines = []
        for name in self.algorithms:
            found = [[self.at(s)[name] for s in chosen if s.scale == scale and name in self.at(s)] for scale in scales]
            if [len(rows) for rows in found] == [sum(s.scale == scale for s in chosen) for scale in scales]:
                errors = [geometric_mean([row.persons for row in rows]) for rows in found]
                lines.append(plots.ErrorLine(name=name, scales=scales, errors=errors))
        where = f"on {data}" if data else f"in the geometric mean over {len({s.data for s in chosen})} shapes"
        return plots.error_against_scale(
            lines,
            title=f"Error against the number of persons, {where}",
            subtitle=f"epsilon {chosen[0].epsilon:g}, {self.workload}, {_cells(chosen)} cells; lower is better",
        )

    def heat_map(self, *, scale: int | None = None, epsilon: float | None = None) -> Any:  # noqa: ANN401
        """Draw how many times larger each error is than the best, by algorithm and shape."""
        chosen = [s for s in self._chosen(None, epsilon) if scale is None or s.scale == scale]
        if not chosen:
            raise InvalidParameter(f"nothing was measured at the scale {scale}.")
        scales = sorted({s.scale for s in chosen})
        grid, columns = [], []
        regret = self.regret(chosen)
        for setting in chosen:
            columns.append(f"{setting.data}, {_whole(setting.scale)}" if len(scales) > 1 else setting.data)
            rows = self.at(setting)
            least = min(row.mean for row in rows.values())
            grid.append([_ratio(rows[name].mean, least) if name in rows else math.nan for name in regret])
        at = f"{_whole(scales[0])} persons" if len(scales) == 1 else "each number of persons"
        return plots.ratio_map(
            list(regret),
            columns,
            [list(column) for column in zip(*grid, strict=True)],
            title="How many times the least error",
            subtitle=f"{at}, epsilon {chosen[0].epsilon:g}, {self.workload}; the algorithm of least regret on top",
        )

    def _chosen(self, data: str | None, epsilon: float | None) -> list[Setting]:
        first = self.settings[0].epsilon if self.settings and epsilon is None else epsilon
        chosen = [s for s in self.settings if s.epsilon == first and data in (None, s.data)]
        if not chosen:
            raise InvalidParameter("nothing was measured on this shape at this epsilon; see settings.")
        return chosen


def _ratio(value: float, least: float) -> float:
    return value / least if least > 0 else (1.0 if value == 0 else math.inf)


def _cells(settings: list[Setting]) -> str:
    return ", ".join(dict.fromkeys(" x ".join(map(str, s.sizes)) for s in settings))


def _number(value: float) -> str:
    return f"{value:.3g}"


def _whole(value: int) -> str:
    """Return a large number as it is read fastest.

    >>> _whole(10**7), _whole(347414)
    ('1e7', '347,414')
    """
    digits = str(value)
    return f"1e{len(digits) - 1}" if value >= 1000 and digits == "1" + "0" * (len(digits) - 1) else f"{value:,}"


def _record(row: Measured) -> dict[str, Any]:
    low, high = row.interval
    return {
        "algorithm": row.algorithm,
        "data": row.setting.data,
        "sizes": list(row.setting.sizes),
        "scale": row.setting.scale,
        "epsilon": row.setting.epsilon,
        "queries": row.setting.queries,
        "mean": row.mean,
        "interval": [low, high] if math.isfinite(low) else None,
        "percentile95": row.high,
        "seconds": row.seconds,
        "errors": list(row.errors),
    }


def _row(record: dict[str, Any]) -> Measured:
    setting = Setting(
        data=str(record["data"]),
        sizes=tuple(int(side) for side in record["sizes"]),
        scale=int(record["scale"]),
        epsilon=float(record["epsilon"]),
        queries=int(record["queries"]),
    )
    errors = tuple(float(error) for error in record["errors"])
    if not errors or not all(math.isfinite(error) and error >= 0 for error in errors):
        raise ValueError
    return Measured(
        algorithm=str(record["algorithm"]), setting=setting, errors=errors, seconds=float(record["seconds"])
    )
