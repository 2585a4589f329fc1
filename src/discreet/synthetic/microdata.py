"""Records from a model by controlled rounding: as few as possible of their counts are left to chance.

Records that are drawn one by one have counts that stray from the model's by the root of their size. Here attributes
are given to all records together, one after the other. Records that are alike in what the next attribute hangs on are
a group, and each value of the attribute gets as many records of a group as it should, rounded down or up at random, so
that the group is used up (systematic sampling: Madow, "On the Theory of Systematic Sampling II", Annals of Mathematical
Statistics 1949). What rounding took from a value in one group it gives back in the next, so that the sums over all
groups come out as well (Cox, "A Constructive Procedure for Unbiased Controlled Rounding", JASA 1987, asks for the same
of tables). Who in a group gets which value is left to chance alone.

What holds. Given the groups, each count is the floor or the ceiling of what the model expects of the group. A count
that is expected to be 0 is 0. The counts of an attribute alone are within 1 of what the model expects, unless that
would take a count of a group away from its floor and its ceiling. The first attribute's counts have exactly the
expectation that the model says; the others' are off by a part of a record. It is post-processing: it sees the model
alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.noise import source as current_source
from discreet.noise.bits import Source
from discreet.noise.fast import Floats
from discreet.synthetic.graphical.factor import Attributes
from discreet.synthetic.graphical.model import GraphicalModel

__all__ = ["Drawable", "Step", "records_of"]

Int64 = npt.NDArray[np.int64]

NONE = 1e-9
"""What is expected less often than this in a group is not there."""

GIVEN_BACK = 0.25
"""Which part of what a value is owed the next group gives back; with all of it, chances would be cut off more often."""

MOST_ROWS = 1 << 31


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """How an attribute follows from some that records have already: counts, or anything in proportion to them.

    The table has one axis for each of ``given``, in their order, and the attribute's own axis last. ``margin`` is what
    the model expects of the attribute alone, in any unit, where it knows.
    """

    attribute: int
    given: Attributes
    table: Floats
    margin: Floats | None = None


class Drawable(Protocol):
    """A model that says in which order attributes can be drawn, each given some of those before it."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        ...

    @property
    def total(self) -> float:
        """How many records it stands for."""
        ...

    def steps(self) -> Iterable[Step]:
        """Return one step for each attribute."""
        ...


def records_of(
    model: GraphicalModel | Drawable, rows: int | None = None, *, source: Source | None = None
) -> npt.NDArray[np.int64]:
    """Return coded records of a model, a row each, in random order; as many as it stands for unless ``rows`` says.

    >>> from discreet.synthetic.graphical import junction_tree
    >>> tree = junction_tree((2, 2), [(0, 1)])
    >>> model = GraphicalModel(tree, [np.log([[40.0, 10.0], [20.0, 30.0]])], 100.0)
    >>> made = records_of(model, 50)
    >>> np.unique(made, axis=0, return_counts=True)[1].tolist()
    [20, 5, 10, 15]
    """
    count = max(0, round(model.total)) if rows is None else rows
    if type(count) is not int or not 0 <= count <= MOST_ROWS:
        raise InvalidParameter("rows must be a whole number from 0 to 2^31: how many records shall there be?")
    words = source or current_source()
    codes = np.zeros((count, len(model.sizes)), dtype=np.int64)
    if not count:
        return codes
    for step in clique_steps(model) if isinstance(model, GraphicalModel) else model.steps():
        shape = tuple(model.sizes[i] for i in step.given)
        group = np.zeros(count, dtype=np.int64)
        for i, size in zip(step.given, shape, strict=True):
            group = group * size + codes[:, i]
        there, members = np.unique(group, return_counts=True)
        table = step.table.reshape(-1, model.sizes[step.attribute])
        margin = None if step.margin is None else step.margin * (count / step.margin.sum())
        counts = _rounded(table[there], members, margin, words)
        order = np.lexsort((words.words(count), group))
        values = np.broadcast_to(np.arange(table.shape[1]), counts.shape)
        codes[order, step.attribute] = np.repeat(values.reshape(-1), counts.reshape(-1))
    return codes[np.argsort(words.words(count))]


def clique_steps(model: GraphicalModel) -> Iterable[Step]:
    """Return the steps of a tree of cliques: parents first, and within a clique one attribute after the other.

    Attributes of many cliques come first, and groups are in the order of what the attribute shares most cliques with:
    rounding evens out over groups that follow each other, so that tables of such pairs come out well too.
    """
    tables, cliques = model.cliques(), model.tree.cliques
    done: set[int] = set()
    for clique in cliques:
        fresh = sorted(set(clique) - done, key=lambda i: (-_shared(cliques, (i,)), i))
        for attribute in fresh:
            given = sorted(done & set(clique), key=lambda i: (-_shared(cliques, (i, attribute)), i))
            kept = sorted((*given, attribute))
            summed = tables[clique].sum(axis=tuple(axis for axis, i in enumerate(clique) if i not in kept))
            table = summed.transpose([kept.index(i) for i in (*given, attribute)])
            yield Step(attribute, tuple(given), table, table.reshape(-1, table.shape[-1]).sum(axis=0))
            done.add(attribute)


def _shared(cliques: Iterable[Attributes], attributes: Attributes) -> int:
    return sum(set(attributes) <= set(clique) for clique in cliques)


def _rounded(table: Floats, members: Int64, wanted: Floats | None, words: Source) -> Int64:
    """Return whole counts, group by group, that sum to the members of each group and nearly to what is wanted of all.

    ``owed`` is what each value has still to get beyond what the groups to come should give it.
    """
    expected = table * (members / table.sum(axis=1))[:, None]
    expected = np.where(expected < NONE, 0.0, expected)
    floors = np.floor(expected).astype(np.int64)
    parts = expected - floors
    missing = members - floors.sum(axis=1)
    starts = (words.words(len(table)) >> np.uint64(11)) * 2.0**-53
    owed = np.zeros(table.shape[1]) if wanted is None else wanted - expected.sum(axis=0)
    raised = np.zeros_like(floors)
    for place in np.flatnonzero(missing):
        some = np.flatnonzero(parts[place])
        chances = _chances(parts[place, some] + GIVEN_BACK * owed[some], int(missing[place]))
        ends = np.floor(np.append(np.cumsum(chances)[:-1], missing[place]) + starts[place])
        raised[place, some] = np.diff(np.minimum(ends, missing[place]), prepend=0.0)
        owed += parts[place] - raised[place]
    _settle(raised, parts > 0, owed)
    return floors + raised


def _settle(raised: Int64, able: npt.NDArray[np.bool_], owed: Floats) -> None:
    """Move what was rounded up, within groups, until no value is owed a record or has one too many, where possible.

    A group may round up another value in the place of one; a chain of such moves leads from a value that has too many
    to one that has too few. Each chain that is found lowers what is owed by a record, so that this ends.
    """
    stuck = np.zeros(len(owed), dtype=np.bool_)
    up, down = raised == 1, able & (raised == 0)
    while True:
        far = np.where(stuck, 0.0, np.abs(owed))
        start = int(far.argmax())
        if far[start] < 1:
            return
        sign = 1 if owed[start] < 0 else -1
        giving, taking = (up, down) if sign > 0 else (down, up)
        chain = _chain(giving, taking, start, owed * sign > 0)
        stuck[start] = not chain
        for group, giver, taker in chain:
            giving[group, [giver, taker]] = False, True
            taking[group, [giver, taker]] = True, False
            raised[group, giver] -= sign
            raised[group, taker] += sign
            owed[giver] += sign
            owed[taker] -= sign


def _chain(
    giving: npt.NDArray[np.bool_], taking: npt.NDArray[np.bool_], start: int, ends: npt.NDArray[np.bool_]
) -> list[tuple[int, int, int]]:
    """Return the moves (group, from, to) of a shortest chain from a value to one at which chains may end, if any."""
    came: dict[int, tuple[int, int]] = {}
    frontier = [start]
    while frontier:
        reached = []
        for giver in frontier:
            groups = np.flatnonzero(giving[:, giver])
            open_ones = taking[groups]
            for taker in np.flatnonzero(open_ones.any(axis=0)).tolist():
                if taker == start or taker in came:
                    continue
                came[taker] = int(groups[open_ones[:, taker].argmax()]), giver
                if ends[taker]:
                    return _moves(came, taker)
                reached.append(taker)
        frontier = reached
    return []


def _moves(came: Mapping[int, tuple[int, int]], end: int) -> list[tuple[int, int, int]]:
    moves = []
    while end in came:
        group, before = came[end]
        moves.append((group, before, end))
        end = before
    return moves


def _chances(wished: Floats, total: int) -> Floats:
    """Return the chances of being rounded up, between 0 and 1 and with a given sum, that are near those wished for."""
    chances = np.clip(wished, 0.0, 1.0)
    reached = float(chances.sum())
    if reached > total:
        return chances * (total / reached)
    spare = len(wished) - reached
    return chances if spare <= 0.0 else 1.0 - (1.0 - chances) * ((len(wished) - total) / spare)
