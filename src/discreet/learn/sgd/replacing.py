"""Models without batch norms: each is replaced by a norm of every example by itself."""

from typing import TypeVar

from torch import nn

__all__ = ["without_batch_norm"]

M = TypeVar("M", bound=nn.Module)

GROUPS = 32


def without_batch_norm(model: M) -> M:
    """Replace every batch norm of a model, in place, by a group norm with the same scale and shift, and return it.

    A batch norm divides an example by what all others of the batch are like, so that no one's part can be bounded; a
    group norm looks at one example alone (Wu and He, "Group Normalization", ECCV 2018).

    >>> without_batch_norm(nn.Sequential(nn.Conv2d(3, 64, 3), nn.BatchNorm2d(64)))[1].num_groups
    32
    """
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.modules.batchnorm._BatchNorm):  # noqa: SLF001
                setattr(module, name, _group_norm(child))
    return model


def _group_norm(norm: nn.modules.batchnorm._BatchNorm) -> nn.GroupNorm:
    channels = norm.num_features
    groups = max(k for k in range(1, min(GROUPS, channels) + 1) if channels % k == 0)
    made = nn.GroupNorm(groups, channels, eps=norm.eps, affine=norm.affine)
    if norm.affine:
        made.weight, made.bias = norm.weight, norm.bias
    return made
