"""The synthesizers that a session knows: one line each. All measure counts of coded rows and return a model.

Which one is taken where nobody says is decided by public facts alone: how many columns and combinations there are, and
whether there are a delta and a deadline. It is the same for every data set.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from typing import Any

import numpy as np

from discreet.errors import InvalidParameter
from discreet.mechanisms import Geometric
from discreet.session.joint import Budgeted

__all__ = ["METHODS", "Method", "available", "choose", "deviations", "made", "modelled"]

Progress = Callable[[str, int, int], None]

FEW = 1024
"""So many combinations are counted one by one: with more, tables of a few columns each are more accurate."""

QUICK = 10.0
"""With fewer seconds than this the quick method is taken."""

TWO = 1 << 16
"""So many combinations of two columns are one table, which tells everything about them."""


@dataclass(frozen=True, slots=True)
class Method:
    """A synthesizer: where it is, what it does in words, and in which attribute it keeps the noise of single columns.

    ``pure`` ones can do without a delta.
    """

    module: str
    name: str
    told: str
    noise: str
    pure: bool = False

    @property
    def mechanism(self) -> Any:  # noqa: ANN401  a class of the room of synthesizers
        """The class itself, imported when it is needed."""
        return getattr(import_module(self.module), self.name)


METHODS: Mapping[str, Method] = {
    "table": Method("discreet.synthetic.full_table", "FullTable", "one table of everything", "noise", pure=True),
    "independent": Method(
        "discreet.synthetic.independent", "Independent", "columns independent of each other", "noise"
    ),
    "tree": Method("discreet.synthetic.spanning_tree", "SpanningTree", "a tree of pairs chosen privately", "singles"),
    "adaptive": Method("discreet.synthetic.aim", "AdaptiveTables", "tables chosen one after the other", "singles"),
    "bayes": Method(
        "discreet.synthetic.priv_bayes", "PrivBayes", "a Bayesian network chosen privately", "singles", pure=True
    ),
}
"""Synthesizers by the name under which they are asked for."""


@lru_cache
def available() -> tuple[str, ...]:
    """Return the names of the synthesizers that this version has."""
    return tuple(name for name, one in METHODS.items() if find_spec(one.module) is not None)


def choose(sizes: Sequence[int], cost: Budgeted, asked: str, seconds: float | None = None) -> tuple[str, str]:
    """Return a method and why it is taken, from public facts alone.

    >>> from fractions import Fraction
    >>> rho = Budgeted("add_remove", 1, rho=Fraction(1, 100))
    >>> choose([2, 3], rho, "auto")
    ('table', 'there are only 6 combinations: all of them are counted')
    """
    cells = math.prod(sizes)
    if asked != "auto":
        if asked not in available():
            raise InvalidParameter(f"method is auto or one of {', '.join(available())}, got {asked!r}.")
        if cost.rho is None and not METHODS[asked].pure:
            raise InvalidParameter(
                f"method {asked} has Gaussian noise, which needs a delta: open the session with dp.Budget(epsilon, "
                "delta)."
            )
        return asked, "it was asked for"
    if cost.rho is None and cells > FEW and "bayes" in available():
        return "bayes", "there is no delta, and a Bayesian network can be chosen and measured without"
    if cost.rho is None:
        return "table", "there is no delta: all combinations are counted, with geometric noise"
    if cells <= FEW or (len(sizes) <= 2 and cells <= TWO):
        return "table", f"there are only {cells:,} combinations: all of them are counted"
    told = f"{len(sizes)} columns have {_many(cells)} combinations"
    if "adaptive" in available() and (seconds is None or seconds >= QUICK):
        return "adaptive", f"{told}: tables that a model gets wrong are measured, one after the other"
    return "tree", f"{told}: the pairs that tell most are measured, which takes seconds"


def _many(cells: int) -> str:
    return f"{cells:,}" if cells < 10**7 else f"about 10^{len(str(cells)) - 1}"


def made(name: str, sizes: Sequence[int], cost: Budgeted, **more: object) -> Any:  # noqa: ANN401  a synthesizer
    """Return the synthesizer of a name; what it has no field for it is not given."""
    mechanism = METHODS[name].mechanism
    known = {one.name for one in fields(mechanism)}
    amount = {"rho": cost.rho} if cost.rho is not None else {"epsilon": cost.epsilon}
    given = {key: value for key, value in more.items() if key in known and value}
    if "weights" in known:  # what a release costs must not depend on how many values it finds
        given["weights"] = (1,) * len(sizes)
    return mechanism(sizes=tuple(sizes), relation=cost.relation, records=cost.records, **amount, **given)


def modelled(mechanism: Any, tally: object, *, seconds: float | None, progress: Progress) -> tuple[Any, list[Any]]:  # noqa: ANN401
    """Return the model of a tally, and the noisy tables that it was fitted to, as far as the synthesizer tells them."""
    if hasattr(mechanism, "measured"):
        told = list(mechanism.measured(tally, progress=progress))
        return _fitted(mechanism, told, seconds), told
    known = signature(mechanism.release).parameters
    options = {name: value for name, value in (("seconds", seconds), ("progress", progress)) if name in known}
    model = mechanism.release(tally, **options)
    return model, list(getattr(model, "measurements", None) or ())


def _fitted(mechanism: Any, told: list[Any], seconds: float | None) -> Any:  # noqa: ANN401
    """Return the model of noisy tables, by the synthesizer's own fit if it has one."""
    if hasattr(mechanism, "fitted"):
        return mechanism.fitted(told)
    from discreet.synthetic.graphical.estimation import fit
    from discreet.synthetic.graphical.tree_fit import fit_tree

    zeros = getattr(mechanism, "zeros", None)
    if not zeros:
        return fit_tree(mechanism.sizes, told)
    return fit(
        mechanism.sizes, told, zeros=zeros, deadline=None if seconds is None else time.monotonic() + seconds
    ).model


def deviations(name: str, mechanism: Any) -> list[float]:  # noqa: ANN401
    """Return the standard deviation of the counts of each column by itself, known before any data.

    Where only the table of everything is measured, that of a sum over all other columns.
    """
    if name == "table":
        cells = math.prod(mechanism.sizes)
        return [mechanism.deviation * math.sqrt(cells / size) for size in mechanism.sizes]
    if name == "adaptive":
        sigmas = [float(one.sigma) for one in mechanism.singles]
        places = {i: place for place, i in enumerate(mechanism.known.kept)}
        found = []
        for i in range(len(mechanism.sizes)):
            source, values = (mechanism.determined or {}).get(i, (i, None))
            cells = 1 if values is None else int(np.bincount(values).max())
            found.append(sigmas[places[source]] * math.sqrt(cells))
        return found
    noise = getattr(mechanism, METHODS[name].noise, None)
    if isinstance(noise, Geometric):
        return [math.sqrt(2) * float(noise.scale)] * len(mechanism.sizes)
    sigma = getattr(noise, "sigma", None)
    return [] if sigma is None else [float(sigma)] * len(mechanism.sizes)
