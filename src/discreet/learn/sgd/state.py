"""What a model keeps beside its layers' work: all tensors and values that can be reached from it.

A model may keep something of its inputs in buffers, in parameters that it writes itself, in plain attributes, lists,
dictionaries, closures of hooks, attributes of its classes and variables of their modules. All of that may be released
with the model, and none of it is clipped. What lies elsewhere, as in a file, is not seen.
"""

import functools
import hashlib
import math
import random
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from discreet.errors import InvalidParameter

__all__ = ["CONTAINERS", "PLAIN", "Kept", "digest", "extras", "kept"]

PLAIN = (int, float, complex, str, bytes, type(None), torch.dtype, torch.device, Enum, range)
CONTAINERS = (list, dict, deque, set)
OURS = frozenset(nn.Module().__dict__) | {"forward"}
HOOKS = tuple(name for name in nn.Module().__dict__ if name.endswith("hooks"))
MOST = 1_000_000
"""Things that are looked at in one model; of more it is not known what they keep."""
CHUNK = 1 << 24

Generator = torch.Generator | np.random.Generator | random.Random


@dataclass(slots=True)
class Kept:
    """What was found, by name; ``owned`` are parameters and buffers, ``undo`` puts back what holders held."""

    tensors: dict[str, Tensor] = field(default_factory=dict)
    arrays: dict[str, Any] = field(default_factory=dict)
    values: dict[str, object] = field(default_factory=dict)
    owned: set[str] = field(default_factory=set)
    generators: list[Generator] = field(default_factory=list)
    undo: list[Callable[[], None]] = field(default_factory=list)

    def restore(self) -> None:
        """Put back what attributes, lists, dictionaries and variables held; what was written into tensors stays."""
        for back in self.undo:
            back()

    def digests(self, *, owned: bool) -> dict[str, object]:
        """Return the values of parameters and buffers, or of all other tensors and arrays, as digests."""
        done: dict[int, object] = {}
        found: dict[str, object] = {}
        for name, tensor in self.tensors.items():
            if (name in self.owned) == owned:
                if id(tensor) not in done:
                    done[id(tensor)] = digest(tensor)
                found[name] = done[id(tensor)]
        if not owned:
            for name, array in self.arrays.items():
                found[name] = (array.shape, array.dtype.str, hashlib.blake2b(array.tobytes()).digest())
        return found


def kept(roots: Mapping[str, object]) -> Kept:
    """Return all that can be reached from what is named.

    >>> layer = nn.Linear(2, 1)
    >>> layer.seen = [torch.zeros(1), 3]
    >>> found = kept({"": layer})
    >>> sorted(found.tensors), found.values["seen[1]"]
    (['bias', 'seen[0]', 'weight'], 3)
    """
    found = Kept()
    waiting: list[tuple[str, object]] = list(roots.items())
    seen: dict[int, object] = {}
    while waiting:
        name, thing = waiting.pop()
        if isinstance(thing, Tensor):
            found.tensors[name] = thing
            waiting += [(f"{name}.{key}", value) for key, value in getattr(thing, "__dict__", {}).items()]
        elif isinstance(thing, PLAIN):
            found.values[name] = "nan" if isinstance(thing, float) and math.isnan(thing) else thing
        elif isinstance(thing, np.generic | bytearray):
            found.values[name] = thing.tobytes() if isinstance(thing, np.generic) else bytes(thing)
        elif isinstance(thing, np.ndarray) and thing.dtype != object:
            found.arrays[name] = thing
        elif id(thing) not in seen:
            seen[id(thing)] = thing
            waiting += _within(name, thing, found)
        if len(seen) + len(found.values) > MOST:
            raise InvalidParameter(
                f"the model holds more than {MOST:,} things, so that it cannot be told what it keeps of its inputs. "
                "Take out what is no part of it, such as data."
            )
    return found


def extras(module: nn.Module) -> dict[str, object]:
    """Return the attributes of a module that are neither parameters, buffers, children nor torch's own."""
    return {key: value for key, value in vars(module).items() if key not in OURS}


def _within(name: str, thing: Any, found: Kept) -> Iterator[tuple[str, object]]:  # noqa: ANN401  anything
    """Yield what something holds, and note how to put it back."""
    if isinstance(thing, nn.Module):
        yield from _of_module(name, thing, found)
    elif isinstance(thing, torch.Generator | np.random.Generator | random.Random):
        found.generators.append(thing)
    elif isinstance(thing, Mapping | list | tuple | deque | set | frozenset):
        yield from _of_container(name, thing, found)
    elif isinstance(thing, types.FunctionType):
        yield from _of_function(name, thing, found)
    elif isinstance(thing, types.MethodType):
        yield from ((name, part) for part in (thing.__func__, thing.__self__))
    elif isinstance(thing, functools.partial):
        yield from ((name, part) for part in (thing.func, thing.args, thing.keywords))
    elif isinstance(thing, type | types.ModuleType) or type(thing).__module__.startswith("discreet."):
        return
    else:
        if hasattr(thing, "__dict__"):
            found.undo.append(_put_back(vars(thing), dict(vars(thing)), frozenset()))
            yield from ((f"{name}.{key}", value) for key, value in vars(thing).items())
        for kind in type(thing).__mro__:
            slots = vars(kind).get("__slots__", ())
            for slot in (slots,) if isinstance(slots, str) else slots:
                if isinstance(slot, str) and hasattr(thing, slot) and not slot.startswith("__"):
                    yield f"{name}.{slot}", getattr(thing, slot)


def _of_module(name: str, module: nn.Module, found: Kept) -> Iterator[tuple[str, object]]:
    start = f"{name}." if name else ""
    for own in (module.named_parameters(recurse=False), module.named_buffers(recurse=False)):
        for key, tensor in own:
            found.owned.add(start + key)
            yield start + key, tensor
    for key, child in module.named_children():
        yield start + key, child
    found.undo.append(_put_back(vars(module), extras(module), OURS))
    yield from ((start + key, value) for key, value in extras(module).items())
    for hooks in HOOKS:
        yield from ((f"{start}{hooks}", hook) for hook in (getattr(module, hooks, None) or {}).values())
    for kind in type(module).__mro__:
        if kind.__module__.partition(".")[0] in ("torch", "builtins", "discreet", "typing"):
            continue
        for key, value in vars(kind).items():
            if key.startswith("__") and not isinstance(value, types.FunctionType):
                continue
            if isinstance(value, (Tensor, np.ndarray, types.FunctionType, *CONTAINERS)):
                yield start + key, value


def _of_container(name: str, held: Any, found: Kept) -> Iterator[tuple[str, object]]:  # noqa: ANN401
    values = list(held.values()) if isinstance(held, Mapping) else list(held)
    if isinstance(held, dict):
        found.undo.append(_put_back(held, dict(held), frozenset()))
    elif isinstance(held, list | deque | set):
        found.undo.append(_refilled(held, list(held)))
    if all(isinstance(value, PLAIN) for value in values):  # one comparison for all, however many
        found.values[name] = (type(held).__name__, dict(held) if isinstance(held, Mapping) else values)
        return
    found.values[f"the length of {name}"] = len(values)
    keys = held if isinstance(held, Mapping) else range(len(values))
    for key, value in zip(keys, values, strict=True):
        yield f"{name}[{key!r}]" if isinstance(key, PLAIN) else f"{name}[...]", value


def _of_function(name: str, function: types.FunctionType, found: Kept) -> Iterator[tuple[str, object]]:
    if str(function.__module__).partition(".")[0] in ("torch", "discreet"):
        return
    for variable, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:  # not filled yet
            continue
        found.undo.append(functools.partial(setattr, cell, "cell_contents", value))
        yield f"{variable} of {name}", value
    yield from ((f"a default of {name}", value) for value in function.__defaults__ or ())
    yield from ((f"a default of {name}", value) for value in (function.__kwdefaults__ or {}).values())
    yield from ((f"{name}.{key}", value) for key, value in vars(function).items())
    there = function.__globals__
    for variable in function.__code__.co_names:
        if isinstance(there.get(variable), (Tensor, np.ndarray, int, float, *CONTAINERS)):
            found.undo.append(functools.partial(there.__setitem__, variable, there[variable]))
            yield variable, there[variable]


def _put_back(holder: dict[Any, Any], held: dict[Any, Any], untouched: frozenset[str]) -> Callable[[], None]:
    def back() -> None:
        for key in [key for key in holder if key not in held and key not in untouched]:
            del holder[key]
        for key, value in held.items():
            if key not in holder or holder[key] is not value:
                holder[key] = value

    return back


def _refilled(holder: Any, held: list[Any]) -> Callable[[], None]:  # noqa: ANN401  a list, deque or set
    def back() -> None:
        if len(holder) != len(held) or any(a is not b for a, b in zip(holder, held, strict=True)):
            holder.clear()
            (holder.update if isinstance(holder, set) else holder.extend)(held)

    return back


@torch.no_grad()
def digest(tensor: Tensor) -> object:
    """Return something that is the same for the same values, type and shape, and otherwise almost never.

    >>> digest(torch.zeros(3)) == digest(torch.zeros(3)), digest(torch.zeros(3)) == digest(torch.ones(3))
    (True, False)
    """
    values = tensor.detach()
    if values.is_meta:
        return tuple(values.shape)
    if values.layout != torch.strided:
        values = values.coalesce() if values.layout == torch.sparse_coo else values.to_sparse_coo().coalesce()  # type: ignore[no-untyped-call]
        return digest(values.indices()), digest(values.values()), tuple(values.shape)
    if values.is_quantized:
        values = values.int_repr()
    flat = values.resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)
    start = tuple(values.shape), values.dtype
    if not flat.is_cuda:
        return *start, hashlib.blake2b(flat.cpu().numpy().data).digest()
    sums = []
    for part in torch.split(flat, CHUNK):
        wide = part.to(torch.int64)
        sums += [wide.sum(), (wide * (torch.arange(len(wide), device=wide.device) % 65_521 + 1)).sum()]
    return *start, tuple(torch.stack(sums).tolist()) if sums else ()
