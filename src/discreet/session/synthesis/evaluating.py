"""The real rows in the codes of a synthesis, for a comparison by the curator. NOT PRIVATE: publish nothing of it.

The rows are read again without any noise, bounded as for the synthesis. Whoever chooses among syntheses by what they
tell publishes some of it. What two simple methods would have made of the same rows, at the same price, stands beside
the synthesis: independent columns and a Bayesian network. They too are run on the real rows without being charged, so
they serve the comparison alone, and nothing else of them is kept.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.accounting.filters import Zcdp
from discreet.errors import InvalidParameter
from discreet.session.joint import Budgeted
from discreet.session.session import Session
from discreet.session.synthesis.joint import JointSynthesis
from discreet.session.synthesis.methods import METHODS
from discreet.session.synthesis.methods import made as synthesizer
from discreet.session.synthesis.result import Synthesis
from discreet.session.synthesis.running import tally_of
from discreet.tables.measures import Count
from discreet.tables.query import Query
from discreet.tables.synthetic import Cut, Synthetic

__all__ = ["real_codes", "yardsticks"]

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


def yardsticks(real: npt.NDArray[np.int64], made: Synthesis) -> Mapping[str, Any]:
    """Return models of the real rows by simple methods, for what the synthesis paid to measure. Not private.

    Without a delta there is the Bayesian network alone: independent columns have Gaussian noise.
    """
    _, epsilon, delta = made.steps[-1]
    said = made.parameters
    records = int(said["groups"] or 1) * int(said["rows"] or 1)
    rho = Zcdp.reaching(Fraction(epsilon), Fraction(delta)).limit if made.gaussian else None
    cost = Budgeted(said["relation"], records, epsilon=None if made.gaussian else Fraction(epsilon), rho=rho)
    sizes = tuple(one.size for one in made.codings)
    return {
        f"{name} (yardstick)": synthesizer(name, sizes, cost).release(real)
        for name in ("independent", "bayes")
        if name != made.method and (made.gaussian or METHODS[name].pure)
    }
