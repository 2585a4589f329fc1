"""Request: a query and everything that may be chosen for its release, all of it public."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields, is_dataclass, replace
from fractions import Fraction
from typing import Literal, TypedDict

from discreet.errors import InvalidParameter
from discreet.exact import Real, finite, positive, probability
from discreet.session.plan import KeySelection, Settings
from discreet.tables.query import Query

__all__ = ["Chosen", "Request", "content"]

NOISES = ("auto", "gaussian", "laplace")
KEYS = ("auto", "gaussian", "laplace", "optimal")


class Chosen(TypedDict, total=False):
    """The settings of a request by keyword."""

    epsilon: Real | None
    delta: Real | None
    error: Mapping[str, float] | None
    level: float
    group_size: float
    split: Mapping[str, float] | None
    noise: Literal["auto", "gaussian", "laplace"]
    keys: KeySelection
    count_groups: bool
    deadline: float | None


@dataclass(frozen=True, slots=True)
class Request:
    """What ``Session.release`` is asked for.

    ``epsilon`` is for the whole query; ``error={"spend": 25}`` asks for the least epsilon that keeps columns within
    errors instead, at ``level`` and in groups of ``group_size`` rows. In a plan of several, a request with neither has
    a share by its ``weight`` of what the others leave. ``split`` gives columns (and ``"keys"``, the choice of private
    groups) other shares than equal ones. ``keys`` says how private groups are chosen: by an optimal selection, or by a
    noisy number and a threshold; "auto" takes the noise of a count for both where that is better, else the optimal one.
    ``count_groups`` also tells, for a twentieth of epsilon, about how many
    private groups were left out. ``deadline`` is for hierarchies: so many seconds after everything was measured, the
    fit is cut short and the best so far is published. What is measured, and what it costs, is the same with it.

    >>> Request("SELECT COUNT(*) AS n FROM visits", error={"n": 60}).level
    0.95
    >>> Request("SELECT COUNT(*) AS n FROM visits", epsilon=1, error={"n": 60})
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: say epsilon or error: one follows from the other.
    """

    query: str | Query
    _: KW_ONLY
    epsilon: Real | None = None
    delta: Real | None = None
    error: Mapping[str, float] | None = None
    weight: Real = 1
    level: float = 0.95
    group_size: float = 1000
    split: Mapping[str, float] | None = None
    noise: Literal["auto", "gaussian", "laplace"] = "auto"
    keys: KeySelection = "auto"
    count_groups: bool = False
    deadline: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.query, str | Query):
            raise InvalidParameter(f"a query is SQL or built from session.query, got {type(self.query).__name__}.")
        if self.epsilon is not None and self.error is not None:
            raise InvalidParameter("say epsilon or error: one follows from the other.")
        if self.epsilon is not None:
            positive(self.epsilon, "epsilon")
        if self.delta is not None and not 0 <= finite(self.delta, "delta") < 1:
            raise InvalidParameter("delta is a probability: 0 at least, and below 1.")
        for name, limit in (self.error or {}).items():
            positive(limit, f"the error of {name}")
        positive(self.weight, "a weight")
        probability(self.level, "level")
        positive(self.group_size, "group_size")
        _choice(self.noise, NOISES, "noise")
        _choice(self.keys, KEYS, "keys")
        if self.deadline is not None and finite(self.deadline, "deadline") < 0:
            raise InvalidParameter("a deadline is a number of seconds: 0 at least.")

    @property
    def is_free(self) -> bool:
        """Whether neither epsilon nor an error is said."""
        return self.epsilon is None and self.error is None

    def settings(self, epsilon: Fraction, *, adds_rho: bool) -> Settings:
        """Return what a plan of this request is made with, its deltas still to be shared out."""
        return Settings(
            epsilon=epsilon,
            delta=Fraction(0),
            key_delta=Fraction(0),
            level=float(self.level),
            group_size=float(self.group_size),
            split=dict(self.split or {}),
            noise=self.noise,
            keys=self.keys,
            adds_rho=adds_rho,
            count_groups=bool(self.count_groups),
            deadline=None if self.deadline is None else float(self.deadline),
        )

    @property
    def fingerprint(self) -> str:
        """The same for two requests that ask for the same, in the same words.

        >>> Request("SELECT 1").fingerprint == Request("SELECT  1").fingerprint
        False
        """
        said = {
            "query": self.query if isinstance(self.query, str) else _told_apart(self.query),
            "epsilon": _exact(self.epsilon),
            "delta": _exact(self.delta),
            "error": None if self.error is None else {name: _exact(limit) for name, limit in self.error.items()},
            "weight": _exact(self.weight),
            "level": _exact(self.level),
            "group_size": _exact(self.group_size),
            "split": None if self.split is None else {name: _exact(part) for name, part in self.split.items()},
            "noise": self.noise,
            "keys": self.keys,
            "count_groups": bool(self.count_groups),
            **({} if self.deadline is None else {"deadline": _exact(self.deadline)}),
        }
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def content(query: Query) -> str:
    """Return everything about a query that decides what is counted, and how: the same for queries that ask the same.

    >>> content(Query("a")) == content(Query("a").limit(3)), content(Query("a")) == content(Query("b"))
    (True, False)
    """
    plain = replace(query, kept=None, order=(), most=None, epsilon=None, delta=None)
    return json.dumps(_told_apart(plain), sort_keys=True)


def _told_apart(value: object) -> object:
    """Return a description as JSON, with the types of all its values: 1 is no True, and a.b may be one name or two."""
    if is_dataclass(value) and not isinstance(value, type):
        parts = [
            (part.name, getattr(value, part.name)) for part in fields(value) if part.name not in ("text", "derived")
        ]
        return [type(value).__name__, *([name, _told_apart(part)] for name, part in parts)]
    if isinstance(value, Mapping):
        return [[_told_apart(name), _told_apart(part)] for name, part in value.items()]
    if isinstance(value, tuple | list):
        return [_told_apart(part) for part in value]
    return [type(value).__name__, repr(value)]


def _exact(value: Real | None) -> str | None:
    return None if value is None else str(finite(value, "a setting"))


def _choice(value: object, allowed: tuple[str, ...], name: str) -> None:
    if value not in allowed:
        raise InvalidParameter(f"{name} is one of {', '.join(allowed)}, got {value!r}.")
