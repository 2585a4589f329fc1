"""Saving a training and going on with it later: safetensors and JSON, never a pickle.

    training.json           the plan, how far it is, the optimizer's numbers; as public as the model
    model.safetensors       parameters and buffers
    optimizer.safetensors   the optimizer's tensors
    secret.safetensors      who has had a turn, and exact sums, where the plan keeps any: as private as the data

Each of several processes has a folder of its own in the given one.

A checkpoint that is taken up twice makes two trainings. Each is what its plan says, and what both together cost is the
loss of the steps before it once, and of the steps after it twice.
"""

import hashlib
import json
import os
from collections import deque
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, distributed

from discreet.errors import InvalidParameter, MissingExtra, UnknownKind
from discreet.learn.sgd.distributed import several
from discreet.learn.sgd.plan import Training
from discreet.learn.sgd.private import Private
from discreet.learn.sgd.strategy import Toeplitz, Tree

__all__ = ["resume", "save"]

VERSION = 1
FILES = ("model", "optimizer", "secret")


def save(parts: Private, folder: str | Path) -> None:
    """Write a training that is between two steps into a folder; what is there is replaced, the description last."""
    run = parts.run
    if run.started != run.finished:
        raise InvalidParameter("a training is saved between two steps, after optimizer.step() moved the parameters.")
    home = _of_process(folder)
    home.mkdir(parents=True, exist_ok=True)
    numbers, tensors = _taken_apart(parts.optimizer.inner.state_dict())
    contents = {"model": dict(parts.model.state_dict()), "optimizer": tensors, "secret": _secrets(parts)}
    digests = {name: _write(home / f"{name}.safetensors", contents[name], secret=name == "secret") for name in FILES}
    told = {
        "record": "sgd-checkpoint",
        "version": VERSION,
        "plan": json.loads(run.plan.to_json()),
        "steps": run.finished,
        "clip": run.clip,
        "reduction": run.reduction,
        "moments": [astuple(moment) for moment in run.history],
        "optimizer": numbers,
        "stream": _told(run.stream),
        "digests": digests,
    }
    waiting = home / "training.json.new"
    waiting.write_text(json.dumps(told))
    waiting.replace(home / "training.json")


def resume(parts: Private, folder: str | Path) -> None:
    """Go on where a saved training was: model, optimizer, batches and spending, of the same plan."""
    home, run = _of_process(folder), parts.run
    told = _read(home / "training.json")
    plan = Training.from_json(json.dumps(told["plan"]))
    if plan != run.plan or told["reduction"] != run.reduction:
        raise InvalidParameter("the saved training has another plan. Build the same one, then resume it.")
    if not (type(told["steps"]) is int and 0 <= told["steps"] <= plan.steps and _positive(told["clip"])):
        raise UnknownKind("the saved training is at no step of its plan; nothing was read.")
    if run.started:
        raise InvalidParameter("a training that has begun is not overwritten. Build a new one, then resume into it.")
    contents = {name: _load(home / f"{name}.safetensors", told["digests"][name]) for name in FILES}
    parts.model.load_state_dict(contents["model"])
    parts.optimizer.inner.load_state_dict(_put_together(told["optimizer"], contents["optimizer"]))
    _restore(parts, contents["secret"], told["stream"], told["steps"])
    run.started = run.finished = int(told["steps"])
    run.clip = float(told["clip"])
    run.moments = [(int(s), float(c), torch.tensor(float(n))) for s, c, n in told["moments"]]


def _of_process(folder: str | Path) -> Path:
    """Return the folder of this process: each of several has records, and so secrets, of its own."""
    return Path(folder) / f"process{distributed.get_rank()}" if several() else Path(folder)


def _positive(clip: object) -> bool:
    return isinstance(clip, float) and 0 < clip < float("inf")


def _secrets(parts: Private) -> dict[str, Tensor]:
    stream, places = parts.run.stream, parts.batches.sampler.places
    found: dict[str, Tensor] = {}
    if places is not None:
        found["places"] = torch.from_numpy(np.ascontiguousarray(places))
    if isinstance(stream, Toeplitz):
        found |= {f"sums.{k}": part for k, part in enumerate(stream.sums)}
        found |= {f"released.{k}": part for k, part in enumerate(stream.released)}
    elif isinstance(stream, Tree):
        found |= {f"sums.{k}": part for k, part in stream.sums.items()}
        found |= {f"nodes.{k}": part for k, part in stream.nodes.items()}
        found |= {} if stream.before is None else {"before": stream.before}
    return found


def _restore(parts: Private, secrets: Mapping[str, Tensor], step: int, steps: int) -> None:
    device = next(iter(parts.run.book.names)).device

    def numbered(name: str) -> dict[int, Tensor]:
        keys = sorted((int(key.rpartition(".")[2]), key) for key in secrets if key.startswith(f"{name}."))
        return {k: secrets[key].to(device) for k, key in keys}

    stream, sampler = parts.run.stream, parts.batches.sampler
    if "places" in secrets:
        if secrets["places"].shape != (sampler.present,):
            raise InvalidParameter("the saved training was about other records; it is resumed on those it began with.")
        sampler.places = secrets["places"].numpy()
    elif parts.run.plan.sampling == "passes" and steps:
        raise UnknownKind("the saved training does not say who has had a turn; nothing was read.")
    if isinstance(stream, Toeplitz):
        stream.sums = deque(numbered("sums").values(), maxlen=stream.sums.maxlen)
        stream.released = deque(numbered("released").values(), maxlen=stream.released.maxlen)
    elif isinstance(stream, Tree):
        stream.step, stream.sums, stream.nodes = step, numbered("sums"), numbered("nodes")
        stream.before = secrets["before"].to(device) if "before" in secrets else None


def _told(stream: object) -> int:
    return stream.step if isinstance(stream, Tree) else 0


def _taken_apart(state: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Split an optimizer's state into what JSON holds and tensors by name."""
    tensors: dict[str, Tensor] = {}
    numbers: dict[str, dict[str, Any]] = {}
    for index, values in state["state"].items():
        for name, value in values.items():
            if isinstance(value, Tensor):
                tensors[f"{index}.{name}"] = value
            else:
                numbers.setdefault(str(index), {})[name] = value
    groups = [
        {name: {"tensor": float(value)} if isinstance(value, Tensor) else value for name, value in group.items()}
        for group in state["param_groups"]
    ]
    return {"numbers": numbers, "groups": groups}, tensors


def _put_together(told: dict[str, Any], tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    state: dict[int, dict[str, Any]] = {int(index): dict(values) for index, values in told["numbers"].items()}
    for key, tensor in tensors.items():
        index, _, name = key.partition(".")
        state.setdefault(int(index), {})[name] = tensor
    groups = [
        {
            name: torch.tensor(value["tensor"])
            if isinstance(value, dict)
            else tuple(value)
            if name == "betas"
            else value
            for name, value in group.items()
        }
        for group in told["groups"]
    ]
    return {"state": state, "param_groups": groups}


def _write(path: Path, tensors: Mapping[str, Tensor], *, secret: bool) -> str:
    try:
        from safetensors.torch import save as packed
    except ImportError:
        raise MissingExtra("safetensors", "learn") from None
    data = packed({name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()})
    waiting = path.with_name(f"{path.name}.new")
    handle = os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600 if secret else 0o644)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    waiting.replace(path)
    return hashlib.sha256(data).hexdigest()


def _load(path: Path, digest: str) -> dict[str, Tensor]:
    try:
        from safetensors import SafetensorError
        from safetensors.torch import load
    except ImportError:
        raise MissingExtra("safetensors", "learn") from None
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        raise UnknownKind(f"{path.name} is not what training.json describes; nothing was read.")
    try:
        return load(data)
    except (SafetensorError, ValueError):
        raise UnknownKind(f"{path.name} holds no safetensors; nothing was read.") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_text())
    except (OSError, ValueError):
        raise UnknownKind(f"{path.name} is missing or no JSON; nothing was read.") from None
    names = {
        *("record", "version", "plan", "steps", "clip", "reduction", "moments", "optimizer", "stream", "digests"),
    }
    if (
        not isinstance(told, dict)
        or set(told) != names
        or (told["record"], told["version"]) != ("sgd-checkpoint", VERSION)
    ):
        raise UnknownKind(f"{path.name} is no checkpoint that this version knows; nothing was read.")
    return told
