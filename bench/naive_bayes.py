"""Private naive Bayes on three data sets of scikit-learn: mean accuracy on a third left out, as epsilon rises.

    python bench/naive_bayes.py [--splits 20]

Bounds are the extremes of each column (0 and 16 for digits), as anybody might declare who knows how the data were
made; ``*`` marks a mean that lies more than two standard errors of the difference below that of the epsilon before.
"""

import argparse
import math

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.naive_bayes import GaussianNB as Plain

from discreet.learn import GaussianNB

EPSILONS = (0.1, 0.3, 1, 3, 10, 100)
SETS = {"breast cancer": load_breast_cancer, "digits": load_digits, "wine": load_wine}


def accuracies(name: str, splits: int) -> tuple[npt.NDArray[np.float64], float]:
    """Return the accuracy on each split, a row for each epsilon, and the mean accuracy without privacy."""
    table, labels = SETS[name](return_X_y=True)
    low, high = table.min(axis=0), table.max(axis=0)
    bounds = (0, 16) if name == "digits" else (low, np.where(high > low, high, low + 1))
    rng, third = np.random.default_rng(5), len(labels) // 3
    found, plain = np.empty((len(EPSILONS), splits)), np.empty(splits)
    for split in range(splits):
        order = rng.permutation(len(labels))
        out, rest = order[:third], order[third:]
        plain[split] = Plain().fit(table[rest], labels[rest]).score(table[out], labels[out])
        for place, epsilon in enumerate(EPSILONS):
            model = GaussianNB(epsilon=epsilon, bounds=bounds, classes=np.unique(labels))
            found[place, split] = model.fit(table[rest], labels[rest]).score(table[out], labels[out])
    return found, float(plain.mean())


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=20)
    splits = parser.parse_args().splits
    print(f"{'epsilon':14s}" + "".join(f"{epsilon:>16g}" for epsilon in EPSILONS) + "   without privacy")
    for name in SETS:
        found, plain = accuracies(name, splits)
        means, errors = found.mean(axis=1), found.std(axis=1, ddof=1) / math.sqrt(splits)
        cells = []
        for place, (mean, error) in enumerate(zip(means, errors, strict=True)):
            fell = place and means[place - 1] - mean > 2 * math.hypot(error, errors[place - 1])
            cells.append(f"{mean:.3f} +- {error:.3f}{'*' if fell else ' '}")
        print(f"{name:14s}" + "".join(f"{cell:>16s}" for cell in cells) + f"{plain:>10.3f}")


if __name__ == "__main__":
    main()
