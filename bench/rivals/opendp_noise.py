"""Nanoseconds per exact sample in OpenDP; run by ``bench/noise.py`` in the rivals' environment, prints JSON."""

import json
import sys
import time
from importlib.metadata import version

import opendp.prelude as odp

SCALE = 10.0
ROUNDS = 3


def nanoseconds(mechanism: object, zeros: list[object]) -> float:
    """Return the least time per sample over some rounds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        mechanism(zeros)
        times.append(time.perf_counter() - start)
    return min(times) / len(zeros) * 1e9


def main(count: int) -> None:
    """Measure and print."""
    odp.enable_features("contrib")
    real, whole = odp.vector_domain(odp.atom_domain(T=float, nan=False)), odp.vector_domain(odp.atom_domain(T=int))
    laplace, gaussian = odp.m.make_laplace, odp.m.make_gaussian
    result = {
        "integer Laplace": nanoseconds(laplace(whole, odp.l1_distance(T=int), scale=SCALE), [0] * count),
        "integer Gaussian": nanoseconds(gaussian(whole, odp.l2_distance(T=float), scale=SCALE), [0] * count),
        "float-grid Laplace": nanoseconds(laplace(real, odp.l1_distance(T=float), scale=SCALE), [0.0] * count),
    }
    print(json.dumps({"name": f"OpenDP {version('opendp')}", "nanoseconds": result}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
