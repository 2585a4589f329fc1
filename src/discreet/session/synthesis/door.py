"""``dp.synthesize``: a session that is opened for one synthetic copy."""

from typing import TYPE_CHECKING, Unpack

from discreet.accounting import Account, Budget
from discreet.errors import InvalidParameter
from discreet.exact import Real
from discreet.session.session import Session, Wanted
from discreet.tables.synthetic import Numbers
from discreet.units import Person, Row

if TYPE_CHECKING:
    from discreet.session.synthesis.result import Synthesis

__all__ = ["synthesize"]


def synthesize(
    data: object,
    *,
    unit: Row | Person | None = None,
    schema: object = None,
    budget: Budget | Account | None = None,
    name: str | None = None,
    version: str | None = None,
    engine: object = None,
    progress: bool | None = None,
    epsilon: Real | None = None,
    delta: Real | None = None,
    why: str = "",
    key: str | None = None,
    numbers: Numbers = "uniform",
    **wanted: Unpack[Wanted],
) -> "Synthesis":
    """Return a synthetic copy of one table, for all of a budget or for an epsilon from an account.

    It is ``Session(data, ...).synthesize(...)``, which explains everything. A ``Budget`` is spent as a whole unless an
    ``epsilon`` is said; from an account of a ledger an epsilon must be said.

    >>> import pyarrow as pa
    >>> from discreet.tables import Values
    >>> people = pa.table({"sex": ["f", "m"] * 50, "smokes": [True, False] * 50})
    >>> copy = synthesize(people, unit=Row(), schema={"sex": Values(["f", "m"])}, budget=Budget(5), rows=100)
    >>> copy.method, len(copy.rows()), copy.columns
    ('table', 100, ('sex', 'smokes'))
    """
    whole = epsilon is None
    if whole and isinstance(budget, Account):
        raise InvalidParameter("say how much of the account this may spend: epsilon=0.5.")
    with Session(
        data, schema=schema, unit=unit, budget=budget, name=name, version=version, engine=engine, progress=progress
    ) as session:
        if isinstance(budget, Budget) and whole:
            epsilon, delta = budget.epsilon, budget.delta if delta is None else delta
        return session.synthesize(epsilon=epsilon, delta=delta, why=why, key=key, numbers=numbers, last=whole, **wanted)
