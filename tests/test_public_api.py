"""The public face: which names there are, and how light the import is."""

import subprocess
import sys

import discreet

NAMES = """
    STAT Account Answer BoundedCount Bounds Budget BudgetExceeded Column DiscreetError DiscreteGaussian Exponential
    Forecast Gaussian Geometric InvalidInput InvalidParameter Laplace LargeDeltaWarning Ledger LedgerError MissingExtra
    NoTheorem NoisyMax NotDurableWarning NotPrivateWarning PermuteAndFlip Person PrivacyLoss Quantile Query RandomRecord
    RandomizedResponse RelationMismatch ReleaseFailed Request Row Schema Session Table UnboundedSensitivity
    UnknownKind Values Warner YesBiased __version__ audit calibrate clamped col compose correlation count
    count_distinct covariance crossover group lit max mean median min noise_multiplier parallel quantile quantiles
    repeat routes stddev sum synthesize then top_k variance when
""".split()  # noqa: SIM905 - names read better than a column of strings

HEAVY = (
    *("alembic", "altair", "duckdb", "jinja2", "pandas", "pyarrow", "pydantic", "pyspark", "pytest", "rich", "scipy"),
    *("sklearn", "sqlalchemy", "sqlglot", "torch", "typer", "vl_convert", "yaml"),
)


def test_the_list_is_held():
    assert discreet.__all__ == NAMES
    assert all(hasattr(discreet, name) for name in NAMES)


def test_importing_loads_nothing_heavy():
    code = "import sys, discreet; print(' '.join(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not set(HEAVY) & set(loaded)


def test_learning_is_reached_by_its_name_and_loaded_late():
    code = "import sys, discreet as d; d.learn.ERM; assert 'torch' not in sys.modules; print(d.learn.private.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "private"
