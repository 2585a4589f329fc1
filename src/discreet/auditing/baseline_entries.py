"""The plain synthesizers, each on a person whose records are gone, or have moved: what is audited of their models.

What is looked at are the noisy tables that the model was made of: all that it tells is made of these.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from discreet.auditing.entries import Entry

__all__ = ["our_baselines"]

SIZES = (2, 2)


def our_baselines() -> tuple[Entry, ...]:
    """Return the synthesizers that need no search, under both relations, with one record of a person and with two."""
    return tuple(_entries())


def _entries() -> Iterator[Entry]:
    from discreet.synthetic.independent import Independent  # these bring scipy: not before they are asked for
    from discreet.synthetic.priv_bayes import PrivBayes

    useful = 0.01  # so that the pair is measured however little is known of it
    made: tuple[Any, ...] = (
        Independent(sizes=SIZES, rho=1, relation="add_remove"),
        Independent(sizes=SIZES, rho=1, relation="replace_one", records=2),
        PrivBayes(sizes=SIZES, epsilon=2, relation="replace_one", theta=useful),
        PrivBayes(sizes=SIZES, rho=1, relation="add_remove", records=2, theta=useful),
    )
    for one in made:
        name = f"synthesizer {type(one).__name__}, {one.relation}, {one.records} of a person"
        yield Entry(name, partial(_tables, one), one.loss, (one.worst_case(), _crowd(one)))


def _crowd(synthesizer: Any) -> tuple[Any, Any]:  # noqa: ANN401 - a synthesizer, and arrays
    """Return the worst case among others, so that no table is empty on either side."""
    one, other = synthesizer.worst_case()
    others = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    return np.vstack([others, one]), np.vstack([others, other])


def _tables(synthesizer: Any, records: Any) -> Any:  # noqa: ANN401 - a synthesizer, and arrays
    model = synthesizer.release(records)
    return np.concatenate([one.counts.reshape(-1) for one in model.measurements])
