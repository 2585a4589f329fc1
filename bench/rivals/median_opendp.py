"""Private medians by OpenDP; run by ``bench/smooth.py`` in the rivals' environment, prints JSON.

Its quantile chooses among candidates that the caller names, by the exponential mechanism: all whole numbers within the
bounds, or, where there are more than a thousand, a thousand evenly spread ones.
"""

import json
import sys
from importlib.metadata import version

import numpy as np
import opendp.prelude as odp

MOST = 1001


def medians(data: np.ndarray, bounds: tuple[float, float], epsilon: float, repeats: int) -> list[float]:
    """Return so many releases for one record replaced: at symmetric distance 2, with the size public."""
    low, high = bounds
    width = round(high - low)
    candidates = np.linspace(low, high, min(width, MOST - 1) + 1).tolist()
    space = (
        odp.vector_domain(odp.atom_domain(bounds=bounds, T=float, nan=False), size=data.size),
        odp.symmetric_distance(),
    )
    score = space >> odp.t.then_quantile_score_candidates(candidates, 0.5)

    def choice(scale: float) -> odp.Measurement:
        return score >> odp.m.then_noisy_max(odp.max_divergence(), scale, negate=True)

    release = choice(odp.binary_search_param(choice, d_in=2, d_out=epsilon, bounds=(0.0, 1e9)))
    rows = np.clip(data, low, high).astype(float)
    return [candidates[release(rows)] for _ in range(repeats)]


def main(jobs: list[dict[str, object]]) -> None:
    """Run all jobs of a file."""
    odp.enable_features("contrib")
    found = [
        medians(np.load(str(job["data"])), tuple(job["bounds"]), float(job["epsilon"]), int(job["repeats"]))  # type: ignore[arg-type]
        for job in jobs
    ]
    print(json.dumps({"name": f"OpenDP {version('opendp')}", "releases": found}))


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123
        main(json.load(file))
