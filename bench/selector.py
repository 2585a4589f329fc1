"""Does the choice from public facts come close to the best estimator? On DPBench's arrays, beside all of them.

    python bench/selector.py [--data FOLDER] [--trials 20] [--epsilon 0.1] [--questions ranges]

Seven histograms of 4,096 cells and three of 64 x 64 (summed from 256 x 256), 2,000 random ranges, epsilon 0.1, with as
many persons as they have. For each array: the best of all implemented algorithms, the error of the one that the
selector chooses from the domain, epsilon and nothing else, and their ratio. The goal is at most 1.05 on 6 of 10.
"""

import argparse
import os
import sys
from pathlib import Path

from discreet.bench import algorithms, read_sources, run
from discreet.synthetic.estimators import choose

GOAL, WITHIN = 6, 1.05
NAMES = {"ShrunkTree": "shrunk tree", "Uniform": "uniform"}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DISCREET_DATA", "")) / "dpbench")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--epsilon", type=float, default=0.1)
    parser.add_argument("--questions", default="ranges")
    parser.add_argument("--deadline", type=float, default=None)
    options = parser.parse_args()
    if not options.data.is_dir():
        print(f"skipped: there is no folder {options.data}. Set DISCREET_DATA, or say --data.")
        return 0
    sources = [
        source if len(source.sizes) == 1 else source.coarsened((64, 64)) for source in read_sources(options.data)
    ]
    result = run(
        algorithms(),
        sources,
        scales=[None],
        epsilons=[options.epsilon],
        questions=options.questions,
        trials=options.trials,
        deadline=options.deadline,
    )
    close = 0
    print(f"{'array':<24}{'best':<16}{'error':>12}  {'chosen':<14}{'error':>12}{'ratio':>8}")
    for setting in result.settings:
        found, best = result.at(setting), result.best(setting)
        chosen = choose(setting.sizes, epsilon=options.epsilon, relation="add_remove").estimator
        own = found[NAMES.get(type(chosen).__name__, type(chosen).__name__.lower())]
        ratio = own.mean / best.mean
        close += ratio <= WITHIN
        first = f"{setting.data:<24}{best.algorithm:<16}{best.mean:>12.4g}"
        print(f"{first}  {own.algorithm:<14}{own.mean:>12.4g}{ratio:>8.3f}")
    print(f"within {WITHIN}: {close} of {len(result.settings)} (goal {GOAL}: {'met' if close >= GOAL else 'missed'})")
    settings = f"epsilon {options.epsilon}, add_remove, {options.questions}, {options.trials} trials"
    print(f"complete: {result.complete}; {settings}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
