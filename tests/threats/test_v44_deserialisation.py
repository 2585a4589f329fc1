"""Records are read as data, never run.

A pickle is a program: loading one runs what its author wrote, and so does a YAML loader with Python tags, an
``eval`` of a repr, or a checkpoint that hides a pickle. Losses travel as JSON with known kinds and known fields, models
as plain tensors, and no module of the package uses anything that could run what it reads.

Defence: JSON with known kinds and known fields, and safetensors with a digest for checkpoints of a training; no module
imports or calls anything that could run what it reads.
Source: CWE-502.
"""

import ast
import hashlib
import io
import json
import pickle
from pathlib import Path

import pytest
import torch
from torch import nn

import discreet
from discreet.accounting import PrivacyLoss
from discreet.errors import UnknownKind
from discreet.learn import sgd

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
    "jsonpickle",
}
CALLS = {"eval", "exec", "compile", "__import__"}
ATTRIBUTES = {"read_pickle", "to_pickle", "allow_pickle"}
OF_TORCH = {"load", "save", "hub", "package", "jit", "serialization"}
"""Parts of torch that read or write pickles; the rest of it is arithmetic."""


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
            found |= {a.name for a in node.names if a.name.startswith("torch.") and set(a.name.split(".")) & OF_TORCH}
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".")
            found |= {module[0]} & MODULES
            if module[0] == "torch":
                found |= ({a.name for a in node.names} | set(module)) & OF_TORCH
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found |= {node.func.id} & CALLS
        elif isinstance(node, ast.Attribute):
            found |= {node.attr} & ATTRIBUTES
            if isinstance(node.value, ast.Name) and node.value.id in ("torch", "_torch"):
                found |= {node.attr} & OF_TORCH
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
        "import torch\ntorch.load(path)",
        "import torch\ntorch.load(path, weights_only=True)",
        "from torch import load",
        "from torch.serialization import load as read",
        "import torch.jit",
        "import torch\ntorch.hub.load(name)",
    ],
)
def test_the_check_catches_modules_that_can(source):
    assert runs_what_it_reads(source)


def training():
    model = nn.Linear(3, 1)
    optimizer = torch.optim.Adam(model.parameters())
    data = torch.zeros(8, 3), torch.zeros(8, 1)
    return sgd.private(model, optimizer, data, records=8, batch=4, steps=2, noise_multiplier=1)


def hidden(kind):
    """Return a bomb as a plain pickle, and as torch writes it."""
    if kind == "pickle":
        return pickle.dumps(Bomb())
    file = io.BytesIO()
    torch.save({"weight": Bomb()}, file)
    return file.getvalue()


def resumed(folder):
    sgd.resume(training(), folder)


def careless(folder):
    """Read every file of a checkpoint the way most people do."""
    for name in ("model", "optimizer", "secret"):
        try:
            torch.load(io.BytesIO((folder / f"{name}.safetensors").read_bytes()), weights_only=False)
        except Exception:
            continue


def goes_off(folder, name, bad, read, *, sealed):
    """Hide a bomb in a checkpoint, with a digest that fits or not, read it, and tell whether the bomb went off."""
    sgd.save(training(), folder)
    if name == "training":
        (folder / "training.json").write_bytes(bad)
    else:
        (folder / f"{name}.safetensors").write_bytes(bad)
        told = json.loads((folder / "training.json").read_text())
        if sealed:
            told["digests"][name] = hashlib.sha256(bad).hexdigest()
        (folder / "training.json").write_text(json.dumps(told))
    Bomb.gone_off = False
    read(folder)
    return Bomb.gone_off


@pytest.mark.parametrize("sealed", [True, False], ids=["its digest fits", "its digest does not"])
@pytest.mark.parametrize("kind", ["pickle", "torch"])
@pytest.mark.parametrize("name", ["model", "optimizer", "secret", "training"])
def test_a_pickle_in_a_checkpoint_is_refused_and_not_loaded(tmp_path, name, kind, sealed):
    def read(folder):
        with pytest.raises(UnknownKind):
            resumed(folder)

    assert not goes_off(tmp_path, name, hidden(kind), read, sealed=sealed)


@pytest.mark.parametrize("kind", ["pickle", "torch"])
def test_the_check_catches_a_checkpoint_that_is_loaded_as_usual(tmp_path, kind):
    assert goes_off(tmp_path, "model", hidden(kind), careless, sealed=True)


def test_the_check_catches_a_loader_that_runs_pickles():
    Bomb.gone_off = False
    pickle.loads(pickle.dumps(Bomb()))
    assert Bomb.gone_off
