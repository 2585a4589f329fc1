"""The census job on invented people: seconds for each phase, and error on each level beside independent noise.

    python bench/hierarchy.py [--leaves 1000] [--rho 1] [--invariants] [--unlike]

About 500 cells of age, sex, race, origin and household role, less what edit rules exclude, in a spine of four levels.
There are two rivals: every table of every level as it is measured, with the same budget, so that nothing agrees; and
all of rho on the cells of the leaves, summed up. Errors are mean absolute differences from the truth, which only a
benchmark may look at.
"""

import argparse
import time

import numpy as np
import numpy.typing as npt

from discreet import DiscreteGaussian
from discreet.synthetic.hierarchy import Cells, Hierarchy, Spine

AGES = tuple(range(0, 90, 10))
ROLES = ("householder", "spouse", "child", "other")
QUERIES: dict[str, tuple[str, ...]] = {
    "total": (),
    "sex, age": ("sex", "age"),
    "race, origin": ("race", "origin"),
    "all": ("age", "sex", "race", "origin", "role"),
}
UNLIKE = [(1, 1, 1, 1), (3, 1, 1, 1), (3, 2, 1, 1), (4, 2, 2, 1)]
RACES = ("a", "b", "c", "d")

Integers = npt.NDArray[np.int64]


def make_cells() -> Cells:
    """Return the cells that the edit rules leave."""
    return Cells(
        attributes={"age": AGES, "sex": ("f", "m"), "race": RACES, "origin": ("x", "y"), "role": ROLES},
        rules={
            "householders and spouses are grown up": lambda c: c["age"] >= 10 or c["role"] in ("child", "other"),
            "no child of the householder is above 70": lambda c: c["age"] < 70 or c["role"] != "child",
        },
    )


def make_spine(leaves: int) -> Spine:
    """Return four levels: counties of ten tracts of ten blocks, as many as are needed."""
    return Spine(
        levels=("state", "county", "tract", "block"),
        leaves=tuple(("state", i // 100, i // 10, i) for i in range(leaves)),
    )


def make_people(cells: Cells, leaves: int, generator: np.random.Generator) -> Integers:
    """Return counts by leaf and cell: leaves of very different size and taste, most cells empty or small."""
    taste = generator.dirichlet(np.full(cells.count, 0.3))
    counts = np.zeros((leaves, *cells.shape), dtype=np.int64)
    for leaf in range(leaves):
        own = generator.dirichlet(200 * taste + 1e-3)
        counts[leaf][cells.allowed] = generator.multinomial(int(generator.lognormal(5, 1)), own)
    return counts


def tables(counts: Integers, cells: Cells, attributes: tuple[str, ...]) -> npt.NDArray[np.float64]:
    """Return the table of every row of cells."""
    labels = cells.labels(attributes)
    sums = np.zeros((len(counts), int(labels.max()) + 1))
    np.add.at(sums.T, labels, counts.T)
    return sums


def main() -> None:
    """Make people, publish them, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--leaves", type=int, default=1000)
    parser.add_argument("--unlike", action="store_true", help="share the budget differently on different levels")
    parser.add_argument("--rho", type=float, default=1.0)
    parser.add_argument(
        "--invariants", action="store_true", help="publish the number of persons of every tract exactly"
    )
    options = parser.parse_args()
    cells, spine = make_cells(), make_spine(options.leaves)
    people = make_people(cells, options.leaves, np.random.default_rng())
    census = Hierarchy(
        spine=spine,
        cells=cells,
        queries=QUERIES,
        rho=options.rho,
        relation="replace_one" if options.invariants else "add_remove",
        shares={level: dict(zip(QUERIES, UNLIKE[i], strict=True)) for i, level in enumerate(spine.levels)}
        if options.unlike
        else None,
        invariants={"tract": ()} if options.invariants else {},
    )
    print(f"{options.leaves:,} leaves x {cells.count} cells, {people.sum():,} persons, rho {options.rho:g}\n")
    spent: dict[str, float] = {}
    start = last = time.perf_counter()

    def progress(phase: str, _done: int, _total: int) -> None:
        nonlocal last
        now = time.perf_counter()
        spent[phase] = spent.get(phase, 0.0) + now - last
        last = now

    release = census.release(people, progress=progress)
    whole = time.perf_counter() - start
    for phase, seconds in spent.items():
        print(f"{phase:<10}{seconds:8.1f} s")
    print(f"{'in all':<10}{whole:8.1f} s\n")
    truth = people[:, cells.allowed]
    sigma = (1 / (2 * options.rho)) ** 0.5
    simple = DiscreteGaussian(sensitivity=1, sigma=sigma).release(truth)
    noise = {(m.level, m.query): m.sigma * (2 / np.pi) ** 0.5 for m in census.measurements}
    print(f"{'level':<10}{'table':<16}{'mean error':>12}{'predicted *':>14}{'each alone':>14}{'leaves alone':>14}")
    for level in spine.levels:
        depth = spine.depth(level) + 1
        place = {path: i for i, path in enumerate(spine.nodes(level))}
        node = np.array([place[path[:depth]] for path in spine.leaves])
        sums = [np.zeros((len(place), cells.count), dtype=np.int64) for _ in range(2)]
        for total, leaves in zip(sums, (truth, simple), strict=True):
            np.add.at(total, node, leaves)
        for name, attributes in QUERIES.items():
            true = tables(sums[0], cells, attributes)
            error = np.abs(tables(release.counts[level], cells, attributes) - true).mean()
            rival = np.abs(tables(sums[1], cells, attributes) - true).mean()
            predicted = release.standard_errors[level][name] * (2 / np.pi) ** 0.5
            alone = noise[level, name]
            print(f"{level:<10}{name:<16}{error:>12.2f}{predicted:>14.2f}{alone:>14.2f}{rival:>14.2f}")
    print("\n* of the least-squares estimate, before it is made non-negative and whole")


if __name__ == "__main__":
    main()
