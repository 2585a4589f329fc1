"""Functions with a backward pass of their own, called with types."""

from typing import Any

import torch
from torch import Tensor

__all__ = ["applied"]


def applied(function: type[torch.autograd.Function], *args: Any) -> Tensor:  # noqa: ANN401  whatever it takes
    """Return what a function gives, which is a tensor whose backward pass comes by it."""
    found: Tensor = function.apply(*args)  # type: ignore[no-untyped-call]
    return found
