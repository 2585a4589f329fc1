"""The sparse vector technique and the ways it went wrong.

Lyu, Su and Li, "Understanding the Sparse Vector Technique for Differential Privacy", VLDB 2017, compare six published
versions, four of which are not private. Inputs are the true answers of a stream of queries that change by at most 1
each; outputs say of each whether it is above the threshold (1), below (0) or not asked any more (-1).
"""

from functools import partial

import numpy as np
import numpy.typing as npt

from discreet.accounting import PrivacyLoss
from discreet.auditing.zoo.specimen import Floats, Specimen, lattice, many

__all__ = ["BROKEN", "CORRECT"]

Answers = tuple[float, ...]
Bits = npt.NDArray[np.int8]

ROWS = 4096
ONE = PrivacyLoss.pure(1)


def sparse(
    answers: Answers,
    n: int,
    rng: np.random.Generator,
    *,
    threshold: float = 0,
    on_threshold: float,
    on_query: float,
    most: int | None = None,
    shared: bool = False,
) -> Bits:
    """Compare each answer plus noise with the threshold plus noise drawn once; stop after ``most`` above it.

    ``on_threshold`` and ``on_query`` are Laplace scales; with ``shared`` one draw serves all queries.
    """
    q, out = np.asarray(answers), np.empty((n, len(answers)), dtype=np.int8)
    for start in range(0, n, ROWS):
        rows = min(ROWS, n - start)
        noise = rng.laplace(0, on_query, (rows, 1 if shared else q.size)) if on_query else np.zeros((rows, 1))
        noise -= rng.laplace(threshold, on_threshold, (rows, 1))
        out[start : start + rows] = q + noise >= 0
    return out if most is None else stopped(out, most)


def stopped(above: Bits, most: int) -> Bits:
    """Return the stream cut after as many ones."""
    seen = np.cumsum(above, axis=1, dtype=np.int32) - above
    above[seen >= most] = -1
    return above


def restarted(answers: Answers, n: int, rng: np.random.Generator, *, scale: float) -> Bits:
    """Draw a new noisy threshold after each answer above it, without limit, all at the price of one."""
    out = np.empty((n, len(answers)), dtype=np.int8)
    limit = rng.laplace(0, scale, n)
    for position, answer in enumerate(answers):
        above = answer + rng.laplace(0, 2 * scale, n) >= limit
        out[:, position] = above
        limit = np.where(above, rng.laplace(0, scale, n), limit)
    return out


def restarted_once(answers: Answers, rng: np.random.Generator, *, scale: float) -> tuple[int, ...]:
    """Do the same for one stream."""
    limits = iter(rng.laplace(0, scale, len(answers) + 1).tolist())
    limit, out = next(limits), []
    for answer, noise in zip(answers, rng.laplace(0, 2 * scale, len(answers)).tolist(), strict=True):
        above = answer + noise >= limit
        limit = next(limits) if above else limit
        out.append(int(above))
    return tuple(out)


def with_value(answers: Answers, n: int, rng: np.random.Generator, *, noisy: bool) -> Floats:
    """Return the position of the first answer above the threshold and its value: the one tested, or the raw one."""
    q = np.asarray(answers)
    tested = q + rng.laplace(0, 2, (n, q.size))
    above = tested >= rng.laplace(0, 2, (n, 1))
    first = np.where(above.any(axis=1), above.argmax(axis=1), -1)
    value = lattice(tested[np.arange(n), first]) if noisy else q[first]
    return np.column_stack((first.astype(np.float64), np.where(first >= 0, value, 0)))


LYU = "Lyu, Su and Li, Understanding the Sparse Vector Technique for Differential Privacy, VLDB 2017"


def halves(length: int) -> tuple[Answers, Answers]:
    """Return equal answers, and neighbours whose first half moves up while the second moves down."""
    half = length // 2
    return (0,) * length, (1,) * half + (-1,) * half


CROSSED = ((0, 1), (1, 0))

BROKEN = (
    many(
        partial(sparse, on_threshold=2, on_query=0),
        name="sparse-no-query-noise",
        mistake="Only the threshold is noisy: answers on both sides of it fix the order of the exact ones.",
        paper=f"{LYU}, algorithm 5",
        claims=ONE,
        neighbours=CROSSED,
        relation="replace_one",
    ),
    many(
        partial(sparse, on_threshold=2, on_query=4, shared=True),
        name="sparse-shared-query-noise",
        mistake="One draw of noise serves all queries, so that it cancels between them.",
        paper=LYU,
        claims=ONE,
        neighbours=CROSSED,
        relation="replace_one",
    ),
    *(
        many(
            partial(sparse, on_threshold=2, on_query=2),
            name=f"sparse-no-cutoff-{length}",
            mistake=f"Any number of answers above the threshold is given at the price of one, here of {length}.",
            paper=f"{LYU}, algorithm 6",
            claims=ONE,
            neighbours=halves(length),
            relation="replace_one",
        )
        for length in (50, 100, 200)
    ),
    many(
        partial(sparse, on_threshold=4, on_query=4 / 3, most=20),
        name="sparse-noise-without-cutoff-factor",
        mistake="Twenty answers above the threshold are allowed and the query noise is for one.",
        paper=f"{LYU}, algorithm 4",
        claims=ONE,
        neighbours=halves(20),
        relation="replace_one",
    ),
    Specimen(
        run=partial(restarted_once, scale=2),
        batch=partial(restarted, scale=2),
        name="sparse-restarted-for-free",
        mistake="After each answer above the threshold the noise is drawn anew at the scale of the whole budget.",
        paper=f"{LYU}, algorithm 2 without its factor c",
        claims=ONE,
        neighbours=((0,) * 60, (1, -1) * 30),
        relation="replace_one",
    ),
    many(
        partial(sparse, threshold=1, on_threshold=1 / 0.3, on_query=1 / 0.7, most=1),
        name="sparse-monotone-noise",
        mistake="The smaller noise that counts under add_remove may have is used where answers move both ways.",
        paper=f"{LYU}, section 4.3",
        claims=ONE,
        neighbours=halves(10),
        relation="replace_one",
    ),
    many(
        partial(with_value, noisy=True),
        name="sparse-releases-tested-value",
        mistake="The noisy answer that passed the test is released: it tells how low the noisy threshold was.",
        paper=f"{LYU}, algorithm 3",
        claims=ONE,
        neighbours=((0,) * 50, (1,) * 50),
        relation="add_remove",
    ),
    many(
        partial(with_value, noisy=False),
        name="sparse-releases-raw-value",
        mistake="The first answer above the threshold is released as it is.",
        paper=LYU,
        claims=ONE,
        neighbours=((2, 2, 5), (3, 3, 6)),
        relation="add_remove",
    ),
)

CORRECT = (
    many(
        partial(sparse, on_threshold=2, on_query=4, most=1),
        name="sparse-above-threshold",
        mistake="",
        paper=f"{LYU}, algorithm 1",
        claims=ONE,
        neighbours=halves(50),
        relation="replace_one",
    ),
    many(
        partial(sparse, on_threshold=2, on_query=20, most=5),
        name="sparse-five-above",
        mistake="",
        paper=f"{LYU}, algorithm 1",
        claims=ONE,
        neighbours=halves(10),
        relation="replace_one",
    ),
    many(
        partial(sparse, threshold=1, on_threshold=1 / 0.3, on_query=1 / 0.7, most=1),
        name="sparse-monotone",
        mistake="",
        paper=f"{LYU}, section 4.3",
        claims=ONE,
        neighbours=((0,) * 10, (1,) * 10),
        relation="add_remove",
    ),
)
