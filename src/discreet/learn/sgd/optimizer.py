"""An optimizer whose gradients are noisy sums of clipped ones."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, SupportsIndex

from torch import Tensor
from torch.optim import Optimizer

from discreet.errors import InvalidParameter
from discreet.learn.sgd.failures import in_fixed_words
from discreet.learn.sgd.run import Run

__all__ = ["PrivateOptimizer"]


class PrivateOptimizer(Optimizer):
    """Any torch optimizer, run on noisy gradients.

    ``step`` belongs to one physical batch. It clips and adds up; with the last physical batch of a step it adds noise
    and lets the inner optimizer move the parameters. Schedulers take it as they take any optimizer; ``moved`` tells
    whether the last call moved the parameters.
    """

    def __init__(self, inner: Optimizer, run: Run) -> None:
        listed = {parameter for group in inner.param_groups for parameter in group["params"]}
        if missing := [name for parameter, name in run.book.names.items() if parameter not in listed]:
            raise InvalidParameter(
                f"the optimizer does not hold {missing[0]}, which asks for a gradient. Build it on model.parameters(), "
                "or call requires_grad_(False) on what shall stay as it is."
            )
        if any(p.requires_grad and p not in run.book.names for p in listed):
            raise InvalidParameter(
                "the optimizer holds a parameter that is not the model's; its gradient is not clipped."
            )
        self.inner, self.run, self.moved = inner, run, False
        self._optimizer_step_pre_hooks = inner._optimizer_step_pre_hooks  # noqa: SLF001
        self._optimizer_step_post_hooks = inner._optimizer_step_post_hooks  # noqa: SLF001

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:  # noqa: ANN401
        return self.run.__reduce_ex__(protocol)

    @property
    def param_groups(self) -> list[dict[str, Any]]:  # type: ignore[override]
        """Those of the inner optimizer."""
        return self.inner.param_groups

    @property
    def state(self) -> "defaultdict[Tensor, Any]":  # type: ignore[override]
        """That of the inner optimizer."""
        return self.inner.state

    @property
    def defaults(self) -> dict[str, Any]:  # type: ignore[override]
        """Those of the inner optimizer."""
        return self.inner.defaults

    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Clip and add up; with the last physical batch of a step, add noise and move the parameters."""
        if closure is not None:
            raise InvalidParameter("a closure looks at the batch again, which is not accounted for. Step without one.")
        self.moved = False
        if self.run.mask is None:
            raise InvalidParameter(
                "there is no batch to step on. Take one from the batches, run one backward pass, then step once."
            )
        if self._add() if self.run.probing else in_fixed_words(self._add):
            self.finish()

    def _add(self) -> bool:
        """Clip and add up what belongs to the batch; tell whether the step is complete."""
        if any(
            p.grad is not None and p not in self.run.book.names for group in self.param_groups for p in group["params"]
        ):
            raise InvalidParameter(
                "a parameter that is no part of this private training has a gradient, which is not clipped. Call "
                "requires_grad_(False) and zero_grad() on what shall stay as it is."
            )
        return self.run.add()

    def finish(self, sure: Callable[[], bool] = lambda: True) -> bool:
        """Add noise to the sums of a complete step and move the parameters, if ``sure`` says that they may be used."""
        self.moved = self.run.release(sure)
        if self.moved:
            self.inner.step()
        return self.moved

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget gradients, as the inner optimizer does."""
        self.inner.zero_grad(set_to_none)

    def state_dict(self) -> dict[str, Any]:
        """That of the inner optimizer."""
        return self.inner.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load it into the inner optimizer."""
        self.inner.load_state_dict(state_dict)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Refused: the book was opened for the parameters that were there."""
        raise InvalidParameter("parameters cannot be added to a private training under way; add them before.")

    def __repr__(self) -> str:
        return f"PrivateOptimizer({self.inner!r})"
