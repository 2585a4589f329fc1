"""diffprivlib under our auditor; run by ``bench/rivals_audit.py`` in its environment, prints JSON.

Rounded outputs are post-processing: they can only hide a leak, and keep the bits of floats out of the other cases.
"""

import numpy as np
from audit_case import Case, PrivacyLoss, main
from diffprivlib import mechanisms, tools

PURE = PrivacyLoss.pure(1)
FLOATS = (
    "diffprivlib issues 19 and 94; Haney et al., Precision-based attacks and interval refining, 2022 (arXiv 2207.13793)"
)
SAMPLER = "the sampler is there to prevent reconstruction attacks on limited float precision"
RELATION = "replace one, size public"
NO_RELATION = "names no neighbouring relation; the noise in the code fits this one"


def records(*values: float) -> np.ndarray:
    """Return data."""
    return np.array(values, dtype=float)


def mean(data: np.ndarray) -> float:
    """Release a mean with bounds, rounded."""
    return round(float(tools.mean(data, epsilon=1, bounds=(0, 1))), 6)


def total(data: np.ndarray) -> float:
    """Release a sum with bounds, rounded."""
    return round(float(tools.sum(data, epsilon=1, bounds=(0, 1))), 6)


def wrapping(data: np.ndarray) -> int:
    """Release a sum in 32 bits."""
    return int(tools.sum(data, epsilon=1, bounds=(0, 2**30), dtype=np.int32))


def cases() -> list[Case]:
    """Return what is public, and what should hold."""
    laplace = mechanisms.Laplace(epsilon=1, sensitivity=1)
    gaussian = mechanisms.GaussianAnalytic(epsilon=1, delta=1e-5, sensitivity=1)
    geometric = mechanisms.Geometric(epsilon=1, sensitivity=1)
    pair, values = "0 and 1", "two values, one sensitivity apart"
    halves = [0.5] * 9
    return [
        Case(
            name="Laplace, all bits",
            release=laplace.randomise,
            neighbours=(0.0, 1.0),
            claims=PURE,
            relation=values,
            pair=pair,
            says=SAMPLER,
            known=FLOATS,
        ),
        Case(
            name="Laplace, rounded to 6 digits",
            release=lambda value: round(laplace.randomise(value), 6),
            neighbours=(0.0, 1.0),
            claims=PURE,
            relation=values,
            pair=pair,
            says="epsilon-DP",
        ),
        Case(
            name="GaussianAnalytic, all bits",
            release=gaussian.randomise,
            neighbours=(0.0, 1.0),
            claims=PrivacyLoss.approximate(1, 1e-5),
            relation=values,
            pair=pair,
            says=SAMPLER,
            known=FLOATS,
        ),
        Case(
            name="Geometric",
            release=geometric.randomise,
            neighbours=(0, 1),
            claims=PURE,
            relation=values,
            pair=pair,
            says="epsilon-DP",
        ),
        Case(
            name="mean with bounds",
            release=mean,
            neighbours=(records(0, 0, 0), records(0, 0, 1)),
            claims=PURE,
            relation=RELATION,
            pair="[0, 0, 0] and [0, 0, 1], rounded to 6 digits",
            says=NO_RELATION,
        ),
        Case(
            name="mean without bounds",
            release=lambda data: round(float(tools.mean(data, epsilon=1)), 6),
            neighbours=(records(0.1, 0.2, 0.3), records(0.1, 0.2, 0.9)),
            claims=PURE,
            relation=RELATION,
            pair="[0.1, 0.2, 0.3] and [0.1, 0.2, 0.9], rounded to 6 digits",
            says="a PrivacyLeakWarning says that bounds are taken from the data and leak: no claim is broken",
            known="its own PrivacyLeakWarning",
        ),
        Case(
            name="sum with bounds",
            release=total,
            neighbours=(records(*halves, 0), records(*halves, 1)),
            claims=PURE,
            relation=RELATION,
            pair="nine halves and 0, nine halves and 1, rounded to 6 digits",
            says=NO_RELATION,
        ),
        Case(
            name="mean with a NaN",
            release=mean,
            neighbours=(records(*halves, 0.5), records(*halves, np.nan)),
            claims=PURE,
            relation=RELATION,
            pair="ten halves, one of them replaced by NaN",
            says="nothing about NaN in mean; nanmean ignores them",
            known="diffprivlib issue 80, by its maintainer",
        ),
        Case(
            name="sum with a NaN",
            release=total,
            neighbours=(records(*halves, 0.5), records(*halves, np.nan)),
            claims=PURE,
            relation=RELATION,
            pair="ten halves, one of them replaced by NaN",
            says="nothing about NaN in sum; nansum ignores them",
            known="diffprivlib issue 80, by its maintainer",
        ),
        Case(
            name="sum with dtype int32",
            release=wrapping,
            neighbours=(np.array([2**30, 2**30 - 1], dtype=np.int32), np.array([2**30, 2**30], dtype=np.int32)),
            claims=PURE,
            relation=RELATION,
            pair="[2^30, 2^30 - 1] and [2^30, 2^30]: the second sum wraps around",
            says="dtype is the type of the accumulator, as in numpy",
            known="Casacuberta et al., Widespread Underestimation of Sensitivity, CCS 2022 (arXiv 2207.10635), "
            "on sums of finite integers",
        ),
        Case(
            name="histogram with range",
            release=lambda data: tuple(int(n) for n in tools.histogram(data, epsilon=1, bins=2, range=(0, 1))[0]),
            neighbours=(records(0.2, 0.2, 0.8), records(0.2, 0.2, 0.8, 0.8)),
            claims=PURE,
            relation="add or remove one",
            pair="three records and a fourth",
            says=NO_RELATION,
        ),
    ]


if __name__ == "__main__":
    main("diffprivlib", cases())
