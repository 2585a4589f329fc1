"""The look at every step: which tensors a model holds, how often each was written to, and where it lies.

Versions count what torch writes, and places tell what is put in anew; both cost next to nothing. What is written past
them, through ``.data`` or numpy, is found by values, which probes compare.
"""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from discreet.learn.sgd.state import CONTAINERS, PLAIN, extras, kept

__all__ = ["Watch", "mark"]

Mark = tuple[int, int, int]


class Watch:
    """A watch over one model, from ``open`` until it is asked what has ``changed``.

    With ``roots`` it sees all that can be reached from them, but for names that are ``made`` anew from parameters in
    every pass; without, parameters and buffers.
    """

    def __init__(
        self, model: nn.Module, roots: Mapping[str, object] | None = None, made: frozenset[str] = frozenset()
    ) -> None:
        self.model, self.roots = model, roots
        self.made = {name[:end] for name in made for end in range(1, len(name) + 1) if name[end:][:1] in ("", "[", ".")}
        self._tensors: dict[str, Tensor] = {}
        self._holders: list[tuple[str, Any, tuple[str, ...] | None]] = []
        self._known: dict[int, set[str]] = {}
        self._before: list[tuple[int, ...]] | None = None
        self._marks: list[Mark] = []

    def open(self) -> None:
        """Note how all is now."""
        if self._before is None or self._held() != self._before:
            self._look()
            self._before = self._held()
        self._marks = [mark(tensor) for tensor in self._tensors.values()]

    def changed(self) -> str | None:
        """Return what is no longer as it was when the watch was opened."""
        for name, tensor, marked in zip(self._tensors, self._tensors.values(), self._marks, strict=True):
            if mark(tensor) != marked:
                return name
        held = self._held()
        for (name, holder, keys), now, before in zip(self._holders, held, self._before or held, strict=True):
            if now == before:
                continue
            if keys is None:
                return name
            start = f"{name}." if name else ""
            places = [key for key, a, b in zip(keys, now[1:], before[1:], strict=True) if a != b]
            new = [key for key in holder if key not in self._known[id(holder)] and start + key not in self.made]
            if places or new:
                return f"{start}{(places or new)[0]}"
        return None

    def _look(self) -> None:
        """Find what is to be watched."""
        self._holders, self._known = [], {}
        for name, module in self.model.named_modules():
            for own in (module._parameters, module._buffers):  # noqa: SLF001
                self._holders.append((name, own, tuple(own)))
                self._known[id(own)] = set(own)
            if self.roots is not None:
                start = f"{name}." if name else ""
                watched = [
                    key
                    for key, value in extras(module).items()
                    if (value is None or not isinstance(value, PLAIN)) and start + key not in self.made
                ]
                self._holders.append((name, vars(module), tuple(watched)))
                self._known[id(vars(module))] = set(vars(module))
                for key in watched:
                    value = vars(module)[key]
                    if isinstance(value, CONTAINERS):
                        self._holders.append((start + key, value, None))
        if self.roots is None:
            held = (*self.model.named_parameters(), *self.model.named_buffers())
            self._tensors = dict(held)
            return
        self._tensors = {name: tensor for name, tensor in kept(self.roots).tensors.items() if name not in self.made}

    def _held(self) -> list[tuple[int, ...]]:
        """Return what holders hold, by identity, and how much."""
        found = []
        for _, holder, keys in self._holders:
            if keys is not None:
                held = [holder.get(key) for key in keys]
            else:
                values = holder.values() if isinstance(holder, dict) else holder
                held = [value for value in values if isinstance(value, Tensor)]
            found.append((len(holder), *map(id, held)))
        return found


def mark(tensor: Tensor) -> Mark:
    """Return which tensor this is, how often it was written to, and where it lies.

    >>> import torch
    >>> x = torch.zeros(3)
    >>> before = mark(x)
    >>> mark(x) == before, mark(x.add_(1)) == before
    (True, False)
    """
    try:
        return id(tensor), 0 if tensor.is_inference() else tensor._version, tensor.data_ptr()  # noqa: SLF001
    except RuntimeError:  # sparse and other kinds lie at no one place
        return id(tensor), tensor._version, 0  # noqa: SLF001
