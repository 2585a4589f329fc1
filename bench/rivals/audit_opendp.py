"""OpenDP under our auditor; run by ``bench/rivals_audit.py`` in its environment, prints JSON."""

import math
from collections.abc import Callable
from typing import Any

import opendp.prelude as odp
from audit_case import Case, Check, PrivacyLoss, main

PROVEN = "the claim is what its privacy map returns"


def many(measurement: Any) -> dict[str, Callable[..., Any]]:
    """Return how to draw one value, and many at once."""
    return {
        "release": lambda value: measurement([value])[0],
        "batch": lambda value, count: measurement([value] * count),
    }


def tree() -> tuple[bool, str]:
    """Compare what the map of a b-ary tree claims with what it does."""
    made = odp.t.make_b_ary_tree(
        odp.vector_domain(odp.atom_domain(T=int), size=16), odp.l2_distance(T=int), leaf_count=16, branching_factor=16
    )
    claimed, seen = made.map(4), math.dist(made([0] * 16), made([1] * 16))
    return seen <= claimed, f"inputs at L2 distance 4: outputs claimed within {claimed}, and {seen:.2f} apart"


def cases() -> list[Case | Check]:
    """Return what should hold, and what is public."""
    odp.enable_features("contrib")
    real, whole = odp.vector_domain(odp.atom_domain(T=float, nan=False)), odp.vector_domain(odp.atom_domain(T=int))
    laplace = odp.m.make_laplace(real, odp.l1_distance(T=float), scale=1.0)
    integer = odp.m.make_laplace(whole, odp.l1_distance(T=int), scale=1.0)
    gaussian = odp.m.make_gaussian(real, odp.l2_distance(T=float), scale=1.0)
    space = real, odp.symmetric_distance()
    count = space >> odp.t.then_count() >> odp.m.then_laplace(1.0)
    summed = space >> odp.t.then_clamp((0.0, 1.0)) >> odp.t.then_sum() >> odp.m.then_laplace(1.0)
    mu = math.sqrt(2 * gaussian.map(1.0))
    values = {"relation": "two values, one sensitivity apart", "pair": "0 and 1, all bits", "says": PROVEN}
    records = {"relation": "add or remove one", "says": PROVEN}
    halves = [0.5] * 9
    return [
        Case(
            name="laplace on floats",
            neighbours=(0.0, 1.0),
            claims=PrivacyLoss.pure(laplace.map(1.0)),
            **many(laplace),
            **values,
        ),
        Case(
            name="laplace on integers",
            neighbours=(0, 1),
            claims=PrivacyLoss.pure(integer.map(1)),
            **many(integer),
            **values,
        ),
        Case(
            name="gaussian on floats",
            neighbours=(0.0, 1.0),
            claims=PrivacyLoss.gaussian(mu=mu),
            **many(gaussian),
            **values,
        ),
        Case(
            name="count",
            release=count,
            neighbours=(halves, [*halves, 0.5]),
            claims=PrivacyLoss.pure(count.map(1)),
            pair="nine records and a tenth",
            **records,
        ),
        Case(
            name="clamped float sum",
            release=summed,
            neighbours=(halves, [*halves, 1.0]),
            claims=PrivacyLoss.pure(summed.map(1)),
            pair="nine halves, and a 1 more, all bits",
            **records,
        ),
        Case(
            name="clamped float sum of no records",
            release=summed,
            neighbours=([], [1.0]),
            claims=PrivacyLoss.pure(summed.map(1)),
            pair="[] and [1], all bits",
            **records,
        ),
        Check(
            name="map of a b-ary tree",
            compute=tree,
            relation="L2 distance of the leaves",
            pair="sixteen zeros and sixteen ones",
            says="its stability map; computed, not sampled",
            known="OpenDP issue 2924",
        ),
    ]


if __name__ == "__main__":
    main("opendp", cases())
