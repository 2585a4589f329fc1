"""Layers that keep book, one file for each kind, and what is refused with what to take instead."""

from torch import Tensor, nn

from discreet.errors import InvalidParameter
from discreet.learn.sgd.book import Layer
from discreet.learn.sgd.layers.convolution import convolution
from discreet.learn.sgd.layers.embedding import embedding
from discreet.learn.sgd.layers.linear import linear
from discreet.learn.sgd.layers.other import other
from discreet.learn.sgd.layers.recurrent import recurrent
from discreet.learn.sgd.layers.scale import group_norm, instance_norm, layer_norm, rms_norm

__all__ = ["KNOWN", "is_known", "layer_for", "refuse"]

KNOWN: dict[type[nn.Module], Layer] = {
    nn.Linear: linear,
    nn.modules.linear.NonDynamicallyQuantizableLinear: linear,
    nn.Conv1d: convolution,
    nn.Conv2d: convolution,
    nn.Conv3d: convolution,
    nn.Embedding: embedding,
    nn.LayerNorm: layer_norm,
    nn.RMSNorm: rms_norm,
    nn.GroupNorm: group_norm,
    nn.InstanceNorm1d: instance_norm,
    nn.InstanceNorm2d: instance_norm,
    nn.InstanceNorm3d: instance_norm,
    nn.RNN: recurrent,
    nn.LSTM: recurrent,
    nn.GRU: recurrent,
}


def is_known(module: nn.Module) -> bool:
    """Tell whether a module is a layer of exactly a type that keeps book by itself, and works as that type does.

    It does not if it was given another forward function, or if a weight is made of other parameters before each pass,
    as by ``torch.nn.utils.weight_norm`` and ``prune``.
    """
    if type(module) not in KNOWN:
        return False
    own = vars(module).get("forward")
    if own is not None and getattr(own, "__func__", None) is not type(module).forward:
        return False
    if any(isinstance(value, Tensor) for value in vars(module).values()):
        return False
    return all(name.startswith(("weight", "bias")) for name in module._parameters)  # noqa: SLF001


def layer_for(module: nn.Module) -> Layer:
    """Return what makes the forward function of a module."""
    return KNOWN[type(module)] if is_known(module) else other


def refuse(model: nn.Module) -> None:
    """Refuse what mixes the examples of a batch, or keeps something of them beside its parameters."""
    for name, module in model.named_modules():
        where = name or "the model"
        if isinstance(module, nn.modules.batchnorm._BatchNorm):  # noqa: SLF001
            raise InvalidParameter(
                f"{where} is a {type(module).__name__}, which mixes the examples of a batch, so that no one's part can "
                "be bounded. Replace it by a norm of each example by itself: discreet.learn.sgd.without_batch_norm("
                f"model), or nn.GroupNorm(min(32, {module.num_features}), {module.num_features})."
            )
        if isinstance(module, nn.modules.instancenorm._InstanceNorm) and module.track_running_stats:  # noqa: SLF001
            raise InvalidParameter(
                f"{where} keeps running statistics of its inputs, which are released with the model and are not "
                "clipped. Build it with track_running_stats=False."
            )
        if isinstance(module, nn.Embedding | nn.EmbeddingBag) and (module.max_norm or module.scale_grad_by_freq):
            raise InvalidParameter(
                f"{where} has max_norm or scale_grad_by_freq, by which what is in a batch changes the table without "
                "noise. Build it without them."
            )
        if isinstance(module, nn.MultiheadAttention) and not module.batch_first:
            raise InvalidParameter(
                f"{where} takes positions first and examples second, and would mix examples where it is given them "
                "first. Build it with batch_first=True."
            )
        if any(nn.parameter.is_lazy(parameter) for parameter in module.parameters(recurse=False)):
            raise InvalidParameter(f"{where} does not know its shape yet. Run the model once on made-up inputs first.")
