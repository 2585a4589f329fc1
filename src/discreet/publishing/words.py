"""A forecast in words for people: how far off, how often, and what stands behind it."""

from fractions import Fraction

from discreet.publishing.foresight import Foreseen, Foresight
from discreet.publishing.probe import Probe
from discreet.session import Expected
from discreet.session.cost import SILENT, promise
from discreet.session.digits import above, percent
from discreet.tables.synthetic import Synthetic
from discreet.tables.together import Spread

__all__ = ["accuracy", "cost_in_words", "keys_in_words", "note", "spending_in_words", "standing_in_words"]


def accuracy(column: Expected, level: float) -> str:
    """Say how far off a column will be, and how often it stays within that.

    >>> accuracy(Expected(name="n", measures="count of rows", error=60.0), 0.95)
    'within ±60 in 19 of 20 releases'
    """
    if column.error is None:
        return column.error_note if column.error_note.startswith("within") else "depends on the data"
    if not column.error:
        return "exact: it is public" if column.mechanism == "public" else f"{SILENT} {promise(level)}"
    return f"within ±{above(column.error, 3)} {promise(level)}"


def note(column: Expected) -> str:
    """Say what an accuracy assumes."""
    return "" if column.error is None and column.error_note.startswith("within") else column.error_note


def keys_in_words(release: Foreseen) -> str:
    """Say which groups will be shown."""
    if isinstance(release.plan.query.together, Synthetic):
        return f"Synthetic rows of {len(release.plan.key_names)} columns. {' '.join(release.plan.notes[2:3])}"
    if release.plan.selection is not None:
        who = "rows" if release.plan.units == "rows" else "people"
        return f"A group is shown when about {release.plan.selection.threshold:,} {who} or more are in it."
    if isinstance(release.plan.query.together, Spread):
        return f"The groups are {release.plan.keys_told.removeprefix('public: ')}."
    if release.plan.key_names:
        return f"All {release.plan.declared:,} declared groups are shown, also those with nobody in them."
    return "One row about everybody."


def cost_in_words(epsilon: float, delta: float) -> str:
    """Say a cost.

    >>> cost_in_words(0.5, 1e-7), cost_in_words(0.5, 0)
    ('epsilon 0.5 at delta 1e-7', 'epsilon 0.5')
    """
    return f"epsilon {above(epsilon)}" + (f" at delta {above(delta)}" if delta else "")


def spending_in_words(foresight: Foresight) -> str:
    """Say what the account will be charged, beside what there is."""
    file, loss = foresight.source.file, foresight.charge.loss
    delta = Fraction(0) if loss.is_pure else file.delta
    at = f" at delta {above(float(delta))}" if delta else ""
    whole = f"epsilon {above(loss.epsilon(delta))} of {above(float(file.budget.epsilon))}{at}"
    after = foresight.standing.after
    return (
        f"{whole}, which uses up ALL of the budget" if after >= 1 else f"{whole}, after which {percent(after)} is used"
    )


def standing_in_words(foresight: Foresight) -> str:
    """Say what is left of the budget before and after."""
    standing, name = foresight.standing, foresight.source.file.dataset.name
    if standing.stored is not None:
        return f"Entry {standing.stored} of the ledger has the same release of {name}: running it again costs nothing."
    budget = foresight.source.file.budget
    whole = cost_in_words(float(budget.epsilon), float(budget.delta))
    spent = f"{percent(standing.before)} of it is spent already, " if standing.before else ""
    after = "all of it" if standing.after >= 1 else percent(standing.after)
    counted = f", counted in {currency}" if (currency := Probe(budget.budget).rule.currency) != "epsilon" else ""
    return f"The budget of {name} is {whole}, for ever; {spent}{after} will be spent afterwards{counted}."
