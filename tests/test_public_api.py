"""The public face: which names there are, and how light the import is."""

import subprocess
import sys

import discreet

NAMES = """
    STAT Account BoundedCount Budget BudgetExceeded DiscreetError DiscreteGaussian Exponential Gaussian Geometric
    InvalidInput InvalidParameter Laplace MissingExtra NoTheorem NoisyMax NotPrivateWarning PermuteAndFlip Person
    PrivacyLoss Quantile RandomRecord RandomizedResponse RelationMismatch Row UnboundedSensitivity UnknownKind Warner
    YesBiased __version__ audit calibrate clamped compose crossover group noise_multiplier parallel repeat routes then
""".split()  # noqa: SIM905 - names read better than a column of strings

HEAVY = ("altair", "jinja2", "pandas", "pytest", "rich", "scipy", "typer", "vl_convert")


def test_the_list_is_held():
    assert discreet.__all__ == NAMES
    assert all(hasattr(discreet, name) for name in NAMES)


def test_importing_loads_nothing_heavy():
    code = "import sys, discreet; print(' '.join(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not set(HEAVY) & set(loaded)
