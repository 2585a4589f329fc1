"""The real rows in the codes of a synthesis, for a comparison by the curator. NOT PRIVATE: publish nothing of it.

The rows are read again without any noise, bounded as for the synthesis. Whoever chooses among syntheses by what they
tell publishes some of it.
"""

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter
from discreet.session.session import Session
from discreet.session.synthesis.joint import JointSynthesis
from discreet.session.synthesis.result import Synthesis
from discreet.session.synthesis.running import tally_of
from discreet.tables.measures import Count
from discreet.tables.query import Query
from discreet.tables.synthetic import Cut, Synthetic

__all__ = ["real_codes"]

MOST_ROWS = 5_000_000


def real_codes(session: Session, made: Synthesis) -> npt.NDArray[np.int64]:
    """Return the real rows as codes, one row each, without noise. They are not private, and must not be published."""
    cuts = tuple(
        (one.name, Cut(edges=one.edges, nulls=one.nulls) if one.edges else Cut(values=one.values, nulls=one.nulls))
        for one in made.codings
    )
    asked = Synthetic(columns=cuts, where=made.asked.where, method=made.method)
    plan = session.planned(Query(made.table, together=asked), epsilon=1)
    joint, counts = plan.joint, [one for one in plan.measures.values() if isinstance(one, Count)]
    assert isinstance(joint, JointSynthesis)  # noqa: S101  that is what was asked for
    engine = session._tables.engine  # noqa: SLF001  the curator asked for the rows themselves
    tally = tally_of(engine.run(plan.rows.totals(counts)), joint.declared, next(iter(plan.measures)))
    if int(tally.counts.sum()) > MOST_ROWS:
        raise InvalidParameter(f"more than {MOST_ROWS:,} rows are not compared. Compare a sample of them.")
    return np.repeat(tally.codes, tally.counts, axis=0)
