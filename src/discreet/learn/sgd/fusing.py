"""Functions of tensors as one kernel on an accelerator, where torch can compile them."""

from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from discreet.learn.sgd.trees import leaves

__all__ = ["fused"]


@cache
def fused(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does the same in one kernel, or the function itself where there is no compiler.

    What is compiled is elementwise. A compiler may make one operation of a product and a sum, which leaves a rounding
    out: every bound on rounding that is relied on holds with that too. What it gives is looked at once, on the first
    arguments, beside what the plain function gives.
    """
    chosen: list[Callable[..., Any]] = []

    def run(*args: Any) -> Any:  # noqa: ANN401  whatever the function takes and gives
        if not chosen:
            chosen.append(_compiled(function, args))
        return chosen[0](*args)

    return run


def _compiled(function: Callable[..., Any], args: tuple[Any, ...]) -> Callable[..., Any]:
    expected = leaves(function(*args))
    try:
        made: Callable[..., Any] = torch.compile(function, dynamic=True)
        found = leaves(made(*args))
    except Exception:  # whatever a compiler may raise, the plain function does the same
        return function
    alike = all(_alike(a, b) for a, b in zip(found, expected, strict=True))
    return made if alike else function


def _alike(found: torch.Tensor, expected: torch.Tensor) -> bool:
    """Tell whether two results are the same, up to what one rounding less may change in a few floats."""
    if not expected.is_floating_point():
        return torch.equal(found, expected)
    return bool(torch.isclose(found, expected, rtol=1e-4).float().mean() > 0.999)
