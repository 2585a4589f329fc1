"""Private medians by diffprivlib; run by ``bench/smooth.py`` in the rivals' environment, prints JSON."""

import json
import sys
from importlib.metadata import version

import numpy as np
from diffprivlib import tools


def main(jobs: list[dict[str, object]]) -> None:
    """Run all jobs of a file; a release that fails is None."""
    found = []
    for job in jobs:
        data, bounds = np.load(str(job["data"])).astype(float), tuple(job["bounds"])  # type: ignore[arg-type]
        found.append([release(data, bounds, float(job["epsilon"])) for _ in range(int(job["repeats"]))])  # type: ignore[arg-type,call-overload]
    print(json.dumps({"name": f"diffprivlib {version('diffprivlib')}", "releases": found}))


def release(data: np.ndarray, bounds: tuple[float, ...], epsilon: float) -> float | None:
    """Return one release, or None where the library raises an error: its weights overflow for many records."""
    try:
        return float(tools.median(data, epsilon=epsilon, bounds=bounds))
    except (ValueError, RuntimeError, OverflowError):
        return None


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123
        main(json.load(file))
