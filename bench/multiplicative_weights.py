"""Multiplicative weights beside noise on every answer: error by records, questions, rounds and epsilon.

    python bench/multiplicative_weights.py [--quick] [--pictures docs/explanation]

Everything is measured, on generated records, at (epsilon, delta) = (1, 1e-6) unless said. Questions are random
conjunctions of three conditions on twelve yes-or-no attributes that follow each other. The error is the largest over
all questions, as a part of all records, in the mean of some conversations. Promised is what ``PMW.error`` says for the
least alpha that it can promise anything for; the weights that are measured are planned with few updates and with an
alpha four times the noise of their comparisons, which promises nothing.
"""

import argparse
import math
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.errors import InvalidParameter
from discreet.mechanisms import DiscreteGaussian, Geometric
from discreet.plots import Axis, Curve, curves, svg
from discreet.synthetic import Prefix
from discreet.synthetic.budgets import largest_rho
from discreet.synthetic.multiplicative import MWEM, PMW, Table
from discreet.synthetic.small_databases import SmallDatabases

Int64 = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Question = dict[int, int]

ATTRIBUTES = 12
BUDGET = (1.0, 1e-6)
UPDATES = 40
DIRECT = 300


def chain(records: int, attributes: int, values: int, generator: np.random.Generator) -> Int64:
    """Return records in which each attribute mostly follows the one before it."""
    columns = [np.minimum(generator.geometric(0.6, records) - 1, values - 1)]
    for _ in range(attributes - 1):
        follows = generator.random(records) < 0.7
        columns.append(np.where(follows, columns[-1], generator.integers(0, values, records)))
    return np.stack(columns, axis=1).astype(np.int64)


def conjunctions(count: int, generator: np.random.Generator) -> list[Question]:
    """Return random conditions on three attributes."""
    found = []
    for _ in range(count):
        places = generator.choice(ATTRIBUTES, 3, replace=False)
        found.append({int(i): int(v) for i, v in zip(sorted(places), generator.integers(0, 2, 3), strict=True)})
    return found


def truths(data: Int64, questions: Sequence[Question]) -> Floats:
    """Return the exact answers."""
    tables: dict[tuple[int, ...], Int64] = {}
    answers = []
    for one in questions:
        key = tuple(one)
        if key not in tables:
            tables[key] = np.bincount(data[:, key] @ np.array([4, 2, 1]), minlength=8)
        answers.append(float(tables[key][list(one.values()) @ np.array([4, 2, 1])]))
    return np.array(answers)


def practical(records: int, questions: int, *, direct: int) -> PMW:
    """Return weights with few updates, and an alpha four times the noise of their comparisons."""
    settings = {"sizes": (2,) * ATTRIBUTES, "size": records, "relation": "replace_one", "updates": UPDATES}
    rho = largest_rho(lambda r: PMW(alpha=0.5, rho=r, direct=direct, **settings).loss, *BUDGET)  # type: ignore[arg-type]
    plan = PMW(alpha=0.5, rho=rho, direct=direct, **settings)  # type: ignore[arg-type]
    noise = plan.gate.error(0.05, queries=2 * questions) / (1 << 16)
    alpha = min(1.0, max(1e-4, 4 * noise / records))
    return PMW(alpha=alpha, rho=rho, direct=direct, **settings)  # type: ignore[arg-type]


def promised(records: int, questions: int) -> float:
    """Return what theory promises, as a part of all records."""
    rho = largest_rho(PrivacyLoss.zcdp, *BUDGET)
    try:
        plan = PMW.for_queries(
            questions, sizes=(2,) * ATTRIBUTES, size=records, relation="replace_one", rho=rho, cells=1 << 12
        )
    except InvalidParameter:
        return math.inf
    return plan.error(queries=questions) / records


def conversation(plan: PMW, data: Int64, questions: Sequence[Question], exact: Floats, *, tables: bool) -> float:
    """Return the largest error of all replies; with ``tables`` each question is read off a table that is asked for."""
    talk = plan.open(data)
    told = []
    for one in questions:
        reply = np.asarray(talk.answer(Table(tuple(one)) if tables else one).value)
        told.append(float(reply[tuple(one.values())] if tables else reply))
    return float(np.abs(np.array(told) - exact).max()) / len(data)


def independent(exact: Floats, records: int) -> tuple[float, float]:
    """Return the largest error with Laplace noise, at epsilon 1, and with Gaussian noise on every answer."""
    laplace = Geometric(sensitivity=1, epsilon=1 / exact.size)
    rho = largest_rho(lambda r: PrivacyLoss.zcdp(r), *BUDGET)
    gaussian = DiscreteGaussian(sensitivity=1, sigma=math.sqrt(exact.size / (2 * rho)))
    whole = exact.astype(np.int64)
    errors = [float(np.abs(noise.release(whole) - whole).max()) / records for noise in (laplace, gaussian)]
    return errors[0], errors[1]


Row = dict[str, float]


def questions_row(records: int, questions: int, repeats: int) -> Row:
    """Measure one number of records and questions."""
    generator = np.random.default_rng()
    rows: list[Row] = []
    for _ in range(repeats):
        data = chain(records, ATTRIBUTES, 2, generator)
        asked = conjunctions(questions, generator)
        exact = truths(data, asked)
        laplace, gaussian = independent(exact, records)
        alone, bypassed = (practical(records, questions, direct=direct) for direct in (0, DIRECT))
        told = {
            "PMW": conversation(alone, data, asked, exact, tables=False),
            "PMW, bypassed": conversation(bypassed, data, asked, exact, tables=False),
            "PMW, tables": conversation(alone, data, asked, exact, tables=True),
        }
        rows.append({"Laplace": laplace, "Gaussian": gaussian, **told})
    means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    return {**means, "PMW, promised": promised(records, questions)}


def mwem_error(rounds: int, epsilon: float, data: Int64, repeats: int) -> float:
    """Return the mean L1 distance of all pairs, as a part of all records."""
    sizes = (4,) * data.shape[1]
    pairs = list(combinations(range(len(sizes)), 2))
    exact = {(i, j): np.bincount(data[:, i] * 4 + data[:, j], minlength=16).reshape(4, 4) for i, j in pairs}
    plan = MWEM.for_budget(epsilon, BUDGET[1], sizes=sizes, relation="add_remove", rounds=rounds)
    found = []
    for _ in range(repeats):
        model = plan.release(data)
        found.append(np.mean([np.abs(model.marginal(p) / model.total - exact[p] / len(data)).sum() for p in pairs]))
    return float(np.mean(found))


def small_row(records: int, repeats: int) -> Row:
    """Compare small data sets with noise on every answer, for all prefixes of eight cells, at epsilon 1."""
    generator = np.random.default_rng()
    small = SmallDatabases(workload=Prefix(size=8), records=8, size=records, epsilon=1, relation="replace_one")
    errors: dict[str, list[float]] = {"small data sets": [], "Laplace": []}
    for _ in range(repeats):
        data = np.bincount(np.minimum(generator.geometric(0.4, records) - 1, 7), minlength=8)
        exact = np.cumsum(data)
        told = np.cumsum(small.release(data)) * records / small.records
        errors["small data sets"].append(float(np.abs(told - exact).max()) / records)
        noisy = Geometric(sensitivity=1, epsilon=1 / 8).release(exact)
        errors["Laplace"].append(float(np.abs(noisy - exact).max()) / records)
    means = {name: float(np.mean(found)) for name, found in errors.items()}
    return {**means, "small, promised": small.error(0.05) / records}


def shown(title: str, first: str, rows: dict[int, Row]) -> None:
    """Print one table."""
    names = list(next(iter(rows.values())))
    print(f"\n{title}\n\n| {first} | " + " | ".join(names) + " |\n|---:|" + "---:|" * len(names))
    for key, row in rows.items():
        print(f"| {key:,} | " + " | ".join("-" if math.isinf(x) else f"{x:.4f}" for x in row.values()) + " |")


def drawn(rows: dict[int, Row], x: str, title: str, subtitle: str, strong: str) -> str:
    """Return a picture of one table."""
    names = list(next(iter(rows.values())))
    kept = {name: [(key, row[name]) for key, row in rows.items() if row[name] <= 2] for name in names}
    lines = [
        Curve(
            name=name,
            xs=[float(a) for a, _ in points],
            ys=[b for _, b in points],
            strong=name == strong,
            dashed="promised" in name,
        )
        for name, points in kept.items()
        if points
    ]
    axes = Axis(title=x, log=True), Axis(title="largest error" if strong == "PMW, tables" else "error", log=True)
    return svg(curves(lines, *axes, title=title, subtitle=subtitle).properties(background="white"))


def timed(function: Callable[[], Row], name: str) -> Row:
    """Run one setting and say how long it took."""
    start = time.process_time()
    row = function()
    print(f"  {name}: {time.process_time() - start:.1f} s of processor time", flush=True)
    return row


def main() -> None:
    """Measure, print, and draw if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer settings and one conversation of each")
    parser.add_argument("--pictures", type=Path, help="folder for two pictures")
    options = parser.parse_args()
    quick = options.quick
    repeats = 1 if quick else 2
    sizes = (10_000, 100_000) if quick else (3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
    counts = (100, 1_000) if quick else (100, 300, 1_000, 3_000, 10_000, 30_000)
    rounds = (1, 8) if quick else (1, 2, 4, 8, 16, 32, 64)
    by_size = {n: timed(lambda n=n: questions_row(n, 1000, repeats), f"{n:,} records") for n in sizes}
    by_count = {
        k: timed(lambda k=k: questions_row(100_000, k, repeats if k < 10_000 else 1), f"{k:,} questions")
        for k in counts
    }
    data = chain(20_000, 8, 4, np.random.default_rng())
    by_rounds = {
        t: timed(
            lambda t=t: {f"epsilon {e:g}": mwem_error(t, e, data, repeats) for e in (0.1, 0.3, 1.0, 3.0)}, f"{t} rounds"
        )
        for t in rounds
    }
    by_small = {n: timed(lambda n=n: small_row(n, 10 * repeats), f"{n:,} records") for n in (30, 100, 300, 1_000)}
    shown("1,000 questions, by the number of records: largest error", "records", by_size)
    shown("100,000 records, by the number of questions: largest error", "questions", by_count)
    shown("MWEM, 20,000 records of 8 attributes with 4 values: mean L1 distance of all pairs", "rounds", by_rounds)
    shown("All prefixes of 8 cells at epsilon 1: largest error", "records", by_small)
    if options.pictures:
        text = drawn(
            by_count,
            "questions",
            "Weights pay for lessons, noise pays for questions",
            "100,000 records, 4,096 combinations, (1, 1e-6)-DP; Laplace noise at epsilon 1",
            "PMW, tables",
        )
        (options.pictures / "multiplicative_weights.svg").write_text(text, encoding="utf-8")
        text = drawn(
            by_rounds,
            "rounds",
            "More rounds teach more, and more noisily",
            "MWEM, 20,000 records of 8 attributes with 4 values, delta 1e-6",
            "epsilon 1",
        )
        (options.pictures / "mwem_rounds.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
