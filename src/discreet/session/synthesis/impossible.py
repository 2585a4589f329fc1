"""A model without what is impossible, where its synthesizer did not know of it.

What is left is the model given that the impossible did not happen: post-processing of what was released. Where that
needs tables that are too large the model stays as it is, and only rows are without the impossible.
"""

import numpy as np

from discreet.errors import InvalidParameter
from discreet.noise.fast import Floats
from discreet.session.synthesis.rules import Masks
from discreet.synthetic.graphical import GraphicalModel, junction_tree
from discreet.synthetic.graphical.factor import broadcast
from discreet.synthetic.network import Network

__all__ = ["without"]

MOST_CELLS = 1 << 22


def without(model: GraphicalModel | Network, zeros: Masks) -> GraphicalModel | Network:
    """Return a model in which masked combinations have no records.

    >>> tree = junction_tree((2, 2), [(0,), (1,)])
    >>> model = GraphicalModel(tree, [np.log([1.0, 1.0]), np.log([1.0, 3.0])], 80.0)
    >>> without(model, {(0, 1): np.array([[True, False], [False, False]])}).marginal((0, 1)).round(6).tolist()
    [[0.0, 34.285714], [11.428571, 34.285714]]
    """
    whole = model.graphical(most=MOST_CELLS) if isinstance(model, Network) else model
    if whole is None or not zeros:
        return model
    tree = junction_tree(whole.sizes, [*whole.tree.cliques, *zeros])
    if tree.cells > MOST_CELLS:
        return model
    tables: list[Floats] = [np.zeros(tuple(tree.sizes[i] for i in clique)) for clique in tree.cliques]
    given = list(zip(whole.tree.cliques, whole.potentials, strict=True))
    given += [(attributes, np.where(mask, -np.inf, 0.0)) for attributes, mask in zeros.items()]
    for attributes, logs in given:
        home = tree.home(attributes)
        assert home is not None  # noqa: S101  the tree was made for these
        tables[home] = tables[home] + broadcast(np.asarray(logs, dtype=np.float64), attributes, tree.cliques[home])
    try:
        return GraphicalModel(tree, tables, whole.total)
    except InvalidParameter:  # what the model holds possible is all impossible
        return model
