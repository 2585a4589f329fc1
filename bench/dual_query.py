"""The published DualQuery experiments on real data, at full size: python bench/dual_query.py OUTPUT [EXPERIMENT ...].

Reads Adult and KDD99 from $DISCREET_DATA/dualquery. Takes minutes for each experiment, and 4 GB for half a million
attributes.
"""

import sys
from pathlib import Path

from data import real
from discreet.bench.dual_query import against_attributes, against_epsilon, against_queries, table_named
from discreet.cli.bench_dual_telling import show, write

EXPERIMENTS = {
    "adult": lambda: against_epsilon(table_named("adult")),
    "kdd99": lambda: against_epsilon(table_named("kdd99")),
    "queries": lambda: against_queries(table_named("kdd99")),
    "attributes": lambda: against_attributes(),
}


def main() -> None:
    """Run the experiments that are named, or all, and write each into a folder of its own."""
    real("dualquery")
    folder, names = Path(sys.argv[1]), sys.argv[2:] or list(EXPERIMENTS)
    for name in names:
        found = EXPERIMENTS[name]()
        (folder / name).mkdir(parents=True, exist_ok=True)
        show([found], write(folder / name, [found], f"python bench/dual_query.py {folder} {name}"))


if __name__ == "__main__":
    main()
