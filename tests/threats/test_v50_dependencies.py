"""A library must not break, or change its meaning, because something beneath it moved.

A privacy library could not be imported any more because it used a private name of another one; two more used packages
that they never declared, or functions that a new release dropped. What fails to import is replaced by something
home-made, and what merely changes is not noticed at all.

Defence: few dependencies, each declared with the least version that works; only public names of them are used; the
versions that are tested together are written down.
Source: Found while installing libraries to compare with.
"""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

import discreet

ROOT = Path(__file__).parents[2]
SOURCES = sorted(Path(discreet.__file__).parent.rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
IMPORTED_AS = {
    "python-flint": "flint",
    "vl-convert-python": "vl_convert",
    "PyYAML": "yaml",
    "pydantic-core": "pydantic_core",
    "scikit-learn": "sklearn",
}
USERS = ("plots", "report", "cli", "attack", "tables", "postgres", "spark", "learn", "ledger", "publish")
CORE = 4


def name_of(requirement):
    return re.match(r"[A-Za-z0-9_.-]+", requirement)[0]


def declared(path=Path()):
    """Return the modules that users get, by the extras that are not for developers.

    A plugin of pytest has pytest. Triton comes with torch where there is a device for it.
    """
    extras = [PROJECT["optional-dependencies"][extra] for extra in USERS]
    names = [name_of(r) for group in (PROJECT["dependencies"], *extras) for r in group]
    more = {"plugin.py": {"pytest"}, "kernels.py": {"triton"}}.get(path.name, set())
    return {IMPORTED_AS.get(name, name) for name in names} | more


def faults(source, known):
    """Return the imports of a module that are not declared, and those of private names of other packages."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            paths = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            paths = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for path in paths:
            top, *rest = path.split(".")
            if top in sys.stdlib_module_names or top == "discreet":
                continue
            if top not in known or any(part.startswith("_") and not part.startswith("__") for part in rest):
                found.add(path)
    return found


def test_only_what_is_declared_and_public_is_imported():
    assert len(SOURCES) > 50
    guilty = {str(path): bad for path in SOURCES if (bad := faults(path.read_text(encoding="utf-8"), declared(path)))}
    assert not guilty


def test_the_core_depends_on_few():
    assert len(PROJECT["dependencies"]) == CORE


@pytest.mark.parametrize("requirement", PROJECT["dependencies"])
def test_every_dependency_has_a_least_version_and_a_tested_one(requirement):
    assert ">=" in requirement
    pinned = {name_of(line).lower() for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line}
    assert name_of(requirement).lower() in pinned


@pytest.mark.parametrize(
    "source",
    [
        "import jax",
        "from statsmodels.api import OLS",
        "from scipy._lib import doccer",
        "from scipy.stats._stats_py import trim1",
        "def f():\n    from numpy import _core",
        "import xxhash as hashes",
    ],
)
def test_the_check_catches_undeclared_and_private_imports(source):
    assert faults(source, declared())


def test_the_check_lets_public_imports_pass():
    assert not faults(
        "import numpy as np\nfrom scipy.special import betaincinv\nfrom __future__ import annotations", declared()
    )
