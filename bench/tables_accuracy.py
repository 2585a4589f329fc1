"""What was promised and what happened: errors over 200 releases of real people.

Run with DISCREET_DATA pointing to the folder that holds fulton/FultonPUMS5full.csv. Prints for each column the error
that the preview promised at 95%, the 95th percentile of the errors observed, and how many intervals missed the truth.
"""

import argparse

import numpy as np
import pyarrow.csv

import discreet as dp
from data import real


def main() -> None:
    """Release, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, default=200)
    parser.add_argument("--epsilon", type=float, default=1.0)
    options = parser.parse_args()
    table = pyarrow.csv.read_csv(real("fulton", "FultonPUMS5full.csv"))
    age, income = (table.column(name).to_numpy().astype(float) for name in ("age", "income"))
    clamped = np.clip(income, 0, 200_000)
    truth = {
        "n": age.size,
        "total": clamped.sum(),
        "age": age.mean(),
        "income": clamped.mean(),
        "spread": clamped.std(),
        "together": np.corrcoef(age, clamped)[0, 1],
        "middle": float(np.quantile(clamped, 0.5, method="inverted_cdf")),
        "oldest": age.max(),
    }
    session = dp.Session(
        table,
        name="fulton",
        schema={"age": dp.Bounds(16, 100), "income": dp.Bounds(0, 200_000)},
        unit=dp.Row(),
        budget=dp.Budget(10_000, 1e-3),
    )
    query = session.query.agg(
        n=dp.count(),
        total=dp.sum("income"),
        age=dp.mean("age"),
        income=dp.mean("income"),
        spread=dp.stddev("income"),
        together=dp.correlation("age", "income"),
        middle=dp.median("income"),
        oldest=dp.max("age"),
    )
    print(f"Fulton PUMS, {age.size:,} people, epsilon {options.epsilon:g} for all columns, {options.releases} releases")
    for noise in ("laplace", "gaussian"):
        settings = {"epsilon": options.epsilon, "noise": noise}
        forecast = session.preview(query, group_size=age.size, **settings)
        rows = [session.release(query, **settings).rows[0] for _ in range(options.releases)]
        print(f"\n{noise:10} {'truth':>15} {'promised':>12} {'observed 95%':>13} {'missed':>8}")
        for name, true in truth.items():
            observed = np.quantile([abs(row[name] - true) for row in rows], 0.95)
            missed = sum(not row[f"{name}_low"] - 1e-6 <= true <= row[f"{name}_high"] + 1e-6 for row in rows)
            promised = forecast[name].error
            told = "-" if promised is None else f"{promised:,.4g}"
            print(f"{name:10} {true:>15,.4f} {told:>12} {observed:>13,.4g} {missed / len(rows):>8.1%}")


if __name__ == "__main__":
    main()
