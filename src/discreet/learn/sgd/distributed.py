"""Training on several processes: each holds records of its own, and noise is added once.

Every process draws coins for its records and clips their gradients. The sums are added up over processes, the first one
adds noise, and all of them get the same noisy gradient. A record is on one process alone.
"""

import torch
from torch import Tensor, distributed

__all__ = ["add_up", "leads", "several", "share_out"]


def several() -> bool:
    """Tell whether this is one of several processes.

    >>> several()
    False
    """
    return distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1


def leads() -> bool:
    """Tell whether this process is the one that adds noise.

    >>> leads()
    True
    """
    return not several() or distributed.get_rank() == 0


def add_up(total: Tensor) -> Tensor:
    """Return the sum over processes, in float64 if there are several."""
    if not several():
        return total
    whole = total.to(torch.float64)
    distributed.all_reduce(whole)
    return whole


def share_out(values: Tensor) -> Tensor:
    """Return what the first process holds."""
    if several():
        distributed.broadcast(values, src=0)
    return values
