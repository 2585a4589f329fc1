"""Records are read as data, never run.

A pickle is a program: loading one runs what its author wrote, and so does a YAML loader with Python tags, an
``eval`` of a repr, or a checkpoint that hides a pickle. Losses travel as JSON with known kinds and known fields, and
no module of the package imports anything that could run what it reads.

Defence: JSON with known kinds and known fields; no module imports anything that could run what it reads.
Source: CWE-502.
"""

import ast
import json
import pickle
from pathlib import Path

import pytest

import discreet
from discreet.accounting import PrivacyLoss
from discreet.errors import UnknownKind

SOURCES = sorted(Path(discreet.__file__).parent.rglob("*.py"))
MODULES = {
    "pickle",
    "_pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "marshal",
    "shelve",
    "yaml",
    "torch",
    "jsonpickle",
}
CALLS = {"eval", "exec", "compile", "__import__"}
ATTRIBUTES = {"read_pickle", "to_pickle", "allow_pickle"}


class Bomb:
    """Its pickle calls a function when it is loaded."""

    gone_off = False

    def __reduce__(self):
        return go_off, ()


def go_off():
    Bomb.gone_off = True


def runs_what_it_reads(source):
    """Return the names by which a module could run what it reads; yaml may read plainly, or tell its events."""
    found = set()
    tree = ast.parse(source)
    used = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and getattr(n.value, "id", "") == "yaml"}
    safe = used and {name for name in used if not name.endswith(("Event", "Error"))} <= {"safe_load"}
    safe = safe or (used and "yaml.parse(self.text, Loader=yaml.SafeLoader)" in source and "construct" not in source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names} & (MODULES - {"yaml"} if safe else MODULES)
        elif isinstance(node, ast.ImportFrom):
            found |= {(node.module or "").split(".")[0]} & MODULES
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found |= {node.func.id} & CALLS
        elif isinstance(node, ast.Attribute):
            found |= {node.attr} & ATTRIBUTES
        elif isinstance(node, ast.keyword) and not _says_no(node):
            found |= {node.arg} & ATTRIBUTES
    return found


def _says_no(node):
    """``allow_pickle=False`` is how numpy is told not to."""
    return isinstance(node.value, ast.Constant) and node.value.value is False


def pickles():
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.dumps(Bomb(), protocol)
        yield pickle.dumps(PrivacyLoss.laplace(1).to_json(), protocol)


@pytest.mark.parametrize("text", [*pickles(), *(p.decode("latin-1") for p in pickles())])
def test_pickles_are_refused_and_not_loaded(text):
    Bomb.gone_off = False
    with pytest.raises(UnknownKind):
        PrivacyLoss.from_json(text)
    assert not Bomb.gone_off


@pytest.mark.parametrize(
    "text",
    [
        repr(PrivacyLoss.laplace(1)),
        "__import__('os').getcwd()",
        "!!python/object/apply:os.getcwd []",
        json.dumps({"py/object": "tests.Bomb"}),
        json.dumps(
            {"record": "privacy-loss", "version": 1, "relation": None, "terms": [{"kind": "__class__", "count": 1}]}
        ),
        json.dumps(
            {
                "record": "privacy-loss",
                "version": 1,
                "relation": None,
                "terms": [{"kind": "laplace", "epsilon": "1", "count": 1, "__class__": "x"}],
            }
        ),
    ],
)
def test_programs_are_refused(text):
    with pytest.raises(UnknownKind):
        PrivacyLoss.from_json(text)


def test_no_module_can_run_what_it_reads():
    assert len(SOURCES) > 50
    guilty = {str(path): found for path in SOURCES if (found := runs_what_it_reads(path.read_text(encoding="utf-8")))}
    assert not guilty


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from joblib import load",
        "import marshal as data",
        "from yaml import load",
        "import yaml\nyaml.load(text)",
        "import yaml\nyaml.safe_load(text)\nyaml.unsafe_load(text)",
        "def f(x):\n    return eval(x)",
        "numpy.load(path, allow_pickle=True)",
        "pandas.read_pickle(path)",
    ],
)
def test_the_check_catches_modules_that_can(source):
    assert runs_what_it_reads(source)


def test_the_check_catches_a_loader_that_runs_pickles():
    Bomb.gone_off = False
    pickle.loads(pickle.dumps(Bomb()))
    assert Bomb.gone_off
