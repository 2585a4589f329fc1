"""A distribution over a product domain that is learned by multiplying weights.

Freund and Schapire, "A Decision-Theoretic Generalization of On-Line Learning", Journal of Computer and System Sciences
1997. Weights are 1 in the beginning, and each lesson multiplies them by a function of some attributes. Attributes that
never met in a lesson are independent, so one table is kept for each block of attributes that did, and blocks are joined
when a lesson is about several. Where a block would grow too large, the lessons themselves are kept, added up by their
attributes, and what they make of the whole is worked out when it is asked for, by messages in a tree of cliques
(Lauritzen and Spiegelhalter, Journal of the Royal Statistical Society B 1988). All of it is kept as logarithms.

There may be *nobody*: one more element, for the places that no record takes where the number of records is only
bounded. Every question is 0 on it.
"""

import math
from collections.abc import Iterator, Mapping

import numpy as np

from discreet.errors import InvalidInput
from discreet.noise.fast import Floats
from discreet.synthetic.graphical.factor import Attributes, broadcast, log_sum
from discreet.synthetic.graphical.junction_tree import junction_tree, model_cells
from discreet.synthetic.graphical.model import GraphicalModel

__all__ = ["Weights"]


class Weights:
    """Weights over all combinations of attributes, and perhaps nobody, together a distribution.

    >>> even = Weights((2, 2), cells=4)
    >>> even.multiply((0,), np.log([1.0, 3.0]))
    >>> even.table((0, 1)).round(9).tolist()
    [[0.125, 0.125], [0.375, 0.375]]
    """

    __slots__ = ("_blocks", "_lessons", "_model", "_scale", "_shares", "cells", "nobody", "sizes")

    def __init__(self, sizes: tuple[int, ...], *, cells: int, nobody: bool = False) -> None:
        self.sizes, self.cells, self.nobody = sizes, cells, nobody
        self._blocks: dict[Attributes, Floats] | None = {(i,): np.zeros(size) for i, size in enumerate(sizes)}
        self._lessons: dict[Attributes, Floats] = {}
        self._shares: dict[Attributes, tuple[Floats, float]] = {}
        self._model: GraphicalModel | None = None
        self._scale = 0.0  # the log of the sum of all weights, once there are no blocks

    @property
    def blocks(self) -> tuple[Attributes, ...] | None:
        """The attributes that met, block by block, if they are kept as blocks."""
        return None if self._blocks is None else tuple(self._blocks)

    @property
    def possible(self) -> bool:
        """Whether every block that is kept has a combination that is not impossible."""
        return all(bool(np.isfinite(logs.max())) for logs in (self._blocks or {}).values())

    @property
    def lessons(self) -> Mapping[Attributes, Floats]:
        """The sums of all exponents so far, by their attributes."""
        return self._lessons

    @property
    def somebody(self) -> float:
        """The probability of all combinations together: 1, unless there is nobody."""
        if not self.nobody:
            return 1.0
        scale = self._scale if self._blocks is None else self._sum()
        return 1 / (1 + math.exp(-scale)) if scale > -700 else 0.0

    def fits(self, attributes: Attributes) -> bool:
        """Tell whether a lesson about these attributes can be kept."""
        blocked = self._blocks is not None and self._cells_with(attributes) <= self.cells
        return blocked or self._fits_tree(attributes)

    def table(self, attributes: Attributes) -> Floats:
        """Return the probabilities by some attributes, one axis for each in the order of their numbers."""
        if self._blocks is None:
            return np.asarray(self._whole().marginal(attributes) * self.somebody, dtype=np.float64)
        out: Floats = np.full((1,) * len(attributes), self.somebody)
        for block in self._touched(attributes):
            kept = tuple(i for i in block if i in attributes)
            gone = tuple(axis for axis, i in enumerate(block) if i not in attributes)
            part = self._share(block)[0].sum(axis=gone) if gone else self._share(block)[0]
            out = out * broadcast(part, kept, attributes)
        return out

    def multiply(self, attributes: Attributes, exponents: Floats) -> None:
        """Multiply the weights by the exponential of a table; minus infinity makes combinations impossible."""
        blocked = self._blocks is not None and self._cells_with(attributes) <= self.cells
        if not blocked and not self._fits_tree(attributes):
            raise InvalidInput(
                f"a lesson about these attributes joins too many others: the weights would have more than "
                f"{self.cells:,} entries."
            )
        if not blocked:
            self._grow(attributes, exponents)
        if len(attributes) < len(self.sizes) or self._blocks is None:
            before = self._lessons.get(attributes)
            self._lessons[attributes] = exponents if before is None else before + exponents
        self._model = None
        if self._blocks is None:
            return
        joined = self._joined(attributes)
        logs: Floats = broadcast(exponents, attributes, joined)
        for block in list(self._touched(attributes)):
            logs = logs + broadcast(self._blocks.pop(block), block, joined)
            self._shares.pop(block, None)
        self._blocks[joined] = logs if logs.shape == self._shape(joined) else logs + np.zeros(self._shape(joined))

    def learned(self, lessons: Mapping[Attributes, Floats]) -> None:
        """Forget everything and keep these lessons, however large their blocks would be."""
        if self.nobody:
            raise InvalidInput("lessons can be replaced only where all places are somebody's.")
        self._blocks, self._shares, self._model, self._lessons = None, {}, None, dict(lessons)

    def copy(self) -> "Weights":
        """Return the same weights; tables are never changed in place."""
        other = Weights(self.sizes, cells=self.cells, nobody=self.nobody)
        other._blocks = None if self._blocks is None else dict(self._blocks)
        other._lessons, other._shares = dict(self._lessons), dict(self._shares)
        other._model, other._scale = self._model, self._scale
        return other

    def model(self, total: float) -> GraphicalModel:
        """Return the distribution, nobody left out, as a model of so many records."""
        if self._blocks is None:
            made = self._whole()
            return GraphicalModel(made.tree, made.potentials, total)
        tree = junction_tree(self.sizes, self._blocks)
        return GraphicalModel(tree, [self._blocks[clique] for clique in tree.cliques], total)

    def _whole(self) -> GraphicalModel:
        """Return all lessons as a model."""
        if self._model is None:
            tree = junction_tree(self.sizes, self._lessons)
            potentials = [np.zeros(self._shape(clique)) for clique in tree.cliques]
            for attributes, table in self._lessons.items():
                home = tree.home(attributes)
                assert home is not None  # noqa: S101  the tree was made for these
                potentials[home] = potentials[home] + broadcast(table, attributes, tree.cliques[home])
            self._model = GraphicalModel(tree, potentials, 1.0)
        return self._model

    def _grow(self, attributes: Attributes, exponents: Floats) -> None:
        """Keep lessons alone from now on, and what a lesson does to the sum of all weights."""
        if self.nobody:
            before, shares = self.somebody, self.table(attributes)
            scale = self._scale if self._blocks is None else self._sum()
            with np.errstate(divide="ignore"):
                logs = np.log(shares / before) + exponents if before else exponents
            self._scale = scale + float(log_sum(logs, tuple(range(logs.ndim))))
        self._blocks, self._shares = None, {}

    def _sum(self) -> float:
        assert self._blocks is not None  # noqa: S101
        return math.fsum(self._share(block)[1] for block in self._blocks)

    def _share(self, block: Attributes) -> tuple[Floats, float]:
        """Return the probabilities of a block, and the log of the sum of its weights."""
        assert self._blocks is not None  # noqa: S101
        if block not in self._shares:
            logs = self._blocks[block]
            whole = float(log_sum(logs, tuple(range(logs.ndim))))
            shares = np.exp(logs - whole)
            self._shares[block] = shares / shares.sum(), whole
        return self._shares[block]

    def _touched(self, attributes: Attributes) -> Iterator[Attributes]:
        assert self._blocks is not None  # noqa: S101
        return (block for block in self._blocks if any(i in attributes for i in block))

    def _joined(self, attributes: Attributes) -> Attributes:
        return tuple(sorted({i for block in self._touched(attributes) for i in block}))

    def _shape(self, attributes: Attributes) -> tuple[int, ...]:
        return tuple(self.sizes[i] for i in attributes)

    def _fits_tree(self, attributes: Attributes) -> bool:
        return model_cells(self.sizes, [*self._lessons, attributes]) <= self.cells

    def _cells_with(self, attributes: Attributes) -> int:
        """Return how many weights all blocks have once these attributes have met."""
        joined = set(self._joined(attributes))
        others = [block for block in self._blocks or () if block and not joined & set(block)]
        return sum(math.prod(self._shape(block)) for block in (tuple(joined), *others) if block)
