"""Generated data to learn and test with: deterministic, bundled as code, nothing to download."""

from discreet.datasets.population import population

__all__ = ["population"]
