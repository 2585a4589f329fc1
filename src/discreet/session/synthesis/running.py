"""Running a plan of a synthesis: one grouped query, the measurements, the model, and rows.

By now the loss has been charged. As for every release, nothing here may fail in a way that an analyst could tell from
data: whatever goes wrong becomes one error of fixed words, and its text goes to the curator's log alone.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import ReleaseFailed
from discreet.noise import source
from discreet.session.answer import Answer
from discreet.session.plan import Plan
from discreet.session.progress import Tell, Watcher
from discreet.session.release import LOG
from discreet.session.synthesis.counted import singles_told
from discreet.session.synthesis.impossible import without
from discreet.session.synthesis.joint import JointSynthesis, counted_rows
from discreet.session.synthesis.methods import modelled
from discreet.synthetic.coded import MOST_ALIKE, Tallied
from discreet.tables.engines import Engine
from discreet.tables.kinds import Value
from discreet.tables.measures import Count

__all__ = ["answer_of", "measured_model", "model_of"]

Int64 = npt.NDArray[np.int64]


def model_of(joint: JointSynthesis, tally: Tallied, tell: Tell) -> tuple[Any, list[Any]]:
    """Return the model of a tally, and the noisy tables that it was fitted to."""
    model, measured = modelled(joint.mechanism, tally, seconds=joint.seconds, progress=tell)
    return (model if hasattr(joint.mechanism, "zeros") else without(model, joint.zeros)), measured


def measured_model(plan: Plan, engine: Engine, watcher: Watcher) -> tuple[Any, list[Any], bool]:
    """Return the model of a plan that has been charged, what was measured, and whether the noise is private."""
    private, made = source().private, None
    joint = plan.joint
    assert isinstance(joint, JointSynthesis)  # noqa: S101  other plans are run elsewhere
    try:
        sql = plan.rows.totals([one for one in plan.measures.values() if isinstance(one, Count)])
        LOG.debug("%s", sql)
        with watcher.watching(engine):
            table = engine.run(sql)
        tally = tally_of(table, joint.declared, next(iter(plan.measures)))
        with watcher.working() as tell:
            made = model_of(joint, tally, tell)
    except Exception:
        LOG.exception("a synthesis failed after it was charged")
    if made is None:  # raised here, the error holds no trace of the engine's own
        raise ReleaseFailed
    return (*made, private)


def answer_of(plan: Plan, engine: Engine, watcher: Watcher) -> Answer:
    """Return the synthetic rows of a plan that has been charged, each once with how many there are."""
    model, measured, private = measured_model(plan, engine, watcher)
    joint = plan.joint
    assert isinstance(joint, JointSynthesis)  # noqa: S101  other plans are run elsewhere
    (column,) = plan.columns
    made = None
    try:
        made = counted_rows(joint, model, column.name)
    except Exception:
        LOG.exception("a synthesis failed after it was charged")
    if made is None:
        raise ReleaseFailed
    keys, columns = made
    return Answer(
        keys=keys,
        columns=columns,
        level=plan.settings.level,
        loss=plan.loss,
        parameters={**plan.parameters, "measured": singles_told(joint.names_of_keys, measured)},
        notes=plan.notes,
        private=private,
    )


def tally_of(table: Any, declared: tuple[tuple[Value, ...], ...], measure: str) -> Tallied:  # noqa: ANN401
    """Return an Arrow table of groups as codes with counts; groups with values that are not listed count nowhere."""
    codes = [_codes(table.column(f"k_{place}"), values) for place, values in enumerate(declared)]
    counts = np.array([min(int(value or 0), MOST_ALIKE) for value in table.column(measure).to_pylist()], dtype=np.int64)
    stacked = np.stack(codes, axis=1) if len(counts) else np.zeros((0, len(declared)), dtype=np.int64)
    known = (stacked >= 0).all(axis=1)
    return Tallied(stacked[known], counts[known])


def _codes(column: Any, values: tuple[Value, ...]) -> Int64:  # noqa: ANN401  an Arrow column
    """Return the place of each entry among the values, -1 if it is none of them."""
    from discreet.session.release import _key

    places = {(type(value), value): place for place, value in enumerate(values)}
    encoded = (
        column.combine_chunks().dictionary_encode() if column.num_chunks != 1 else column.chunk(0).dictionary_encode()
    )
    known = [places.get((type(key), key), -1) for key in map(_key, encoded.dictionary.to_pylist())]
    found = np.array([*known, places.get((type(None), None), -1)], dtype=np.int64)
    indices = encoded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
    return found[np.asarray(indices, dtype=np.int64)]
