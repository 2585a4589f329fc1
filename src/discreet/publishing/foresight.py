"""What a release will be like, before anything is spent: error first, epsilon second. No private row is read."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.accounting import Budget, PrivacyLoss
from discreet.errors import BudgetExceeded, LedgerError
from discreet.publishing.book import entry_of, existing
from discreet.publishing.cautions import about_delta, about_errors
from discreet.publishing.entry import Entry
from discreet.publishing.frontier import Frontier, frontier_of
from discreet.publishing.opening import Opened, opened
from discreet.publishing.probe import Charge, Probe, charge_of
from discreet.publishing.reading import Source
from discreet.publishing.simulation import Simulated, simulate
from discreet.publishing.written import as_yaml
from discreet.session import Forecast
from discreet.session.digits import percent
from discreet.session.plan import Plan

__all__ = ["Foreseen", "Foresight", "Standing", "foresee", "probed", "standing_of", "total_epsilon"]


@dataclass(frozen=True, slots=True)
class Standing:
    """How the account of the data set stands: shares of its budget spent before and after, and whether this fits.

    ``stored`` is the number of the ledger's entry that answered the very same before, for free from now on.
    """

    before: float
    after: float
    fits: bool
    stored: int | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """One release to come."""

    entry: Entry
    forecast: Forecast
    plan: Plan
    group: int
    frontier: Frontier | None = None
    simulated: tuple[Simulated, ...] = ()


@dataclass(frozen=True, slots=True)
class Foresight:
    """All releases to come, and what they cost together."""

    source: Source
    releases: tuple[Foreseen, ...]
    charge: Charge
    loss: PrivacyLoss
    epsilon: float
    delta: float
    standing: Standing
    cautions: tuple[str, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the curator should look at: the cautions, which readers see too, and the state of the budget."""
        return (*self.cautions, *_about_budget(self.standing))


@contextmanager
def probed(source: Source) -> Iterator[Opened]:
    """Join a file to its table with an account that spends nothing."""
    with opened(source, Probe(source.file.budget.budget)) as joined:
        yield joined


def foresee(source: Source, *, pictures: bool = False) -> Foresight:
    """Return what a file will release and cost; with what pictures need if they are wanted."""
    file = source.file
    with probed(source) as joined:
        session, requests = joined.session, joined.requests
        forecasts = session.preview_plan(requests, epsilon=joined.epsilon, delta=joined.delta)
        charge = charge_of(session, requests, joined.epsilon, joined.delta)
        loss = PrivacyLoss.total([forecast.loss for forecast in forecasts])
        weights = [Fraction(request.weight) for request in requests]
        releases = []
        for entry, request, forecast, weight in zip(file.releases, requests, forecasts, weights, strict=True):
            delta = joined.delta * weight / sum(weights)
            fixed = replace(request, epsilon=Fraction(forecast.epsilon), error=None, delta=delta)
            plan = session.planned(fixed)
            group = _group(source, plan, entry)
            releases.append(
                Foreseen(
                    entry,
                    forecast,
                    plan,
                    group,
                    frontier_of(session, request, forecast, delta) if pictures else None,
                    tuple(simulate(plan, group)) if pictures else (),
                )
            )
    epsilon, whole_delta = total_epsilon(loss, file.delta)
    standing = standing_of(source, charge)
    cautions = [*about_delta(file)]
    for one in releases:
        cautions += about_errors(file, one.entry, one.plan)
    return Foresight(source, tuple(releases), charge, loss, epsilon, whole_delta, standing, tuple(cautions))


def total_epsilon(loss: PrivacyLoss, delta: Fraction) -> tuple[float, float]:
    """Return the epsilon of everything together, at its delta; no delta where there is none to speak of."""
    if loss.is_pure:
        return loss.epsilon(0), 0.0
    stated = float(delta)
    stated = math.nextafter(stated, 0.0) if Fraction(stated) > delta else stated
    return loss.epsilon(stated), stated


def standing_of(source: Source, charge: Charge) -> Standing:
    """Look into the ledger, if there is one, without writing to it."""
    file, fresh = source.file, Probe(source.file.budget.budget)
    name, cost = file.dataset.name, _cost(fresh, charge.loss)
    new = Standing(0.0, min(1.0, cost), fits=_alone(fresh, charge.loss, file.budget.epsilon))
    try:
        with existing(source.beside(file.ledger)) as ledger:
            if ledger is None or name not in ledger.names:
                return new
            if problem := _other_budget(ledger.budget(name), file.budget.budget, name):
                return replace(new, fits=False, problem=problem)
            account = ledger.account(name)
            before = min(1.0, float(account.spent.amount / account.rule.limit))
            if (same := entry_of(ledger, name, charge.purpose)) is not None:
                return Standing(before, before, fits=True, stored=same.number)
            fits = account.fits(charge.loss) or (not account.spent.amount and new.fits)
            return Standing(before, min(1.0, before + cost), fits=fits)
    except LedgerError as error:
        return replace(new, fits=False, problem=str(error))


def _other_budget(kept: Budget, written: Budget, name: str) -> str:
    """Say what the ledger has, where the file says something else."""
    if kept == written:
        return ""
    delta = f", delta: {as_yaml(float(kept.delta))}" if kept.delta else ""
    return (
        f"the ledger has another budget for {name}, and a budget is fixed when its account is opened. "
        f"Write budget: {{epsilon: {as_yaml(float(kept.epsilon))}{delta}, filter: {kept.filter}}}."
    )


def _cost(account: Probe, loss: PrivacyLoss) -> float:
    try:
        return float(account.cost(loss).amount / account.rule.limit)
    except BudgetExceeded:
        return 1.0


def _alone(account: Probe, loss: PrivacyLoss, epsilon: Fraction) -> bool:
    """Whether a loss fits, or may take all of an account from which nothing was spent."""
    return account.fits(loss) or Fraction(loss.delta(epsilon)) <= account.delta


def _about_budget(standing: Standing) -> Iterator[str]:
    if standing.problem:
        yield f"the ledger would refuse this: {standing.problem}"
    elif standing.stored is None and not standing.fits:
        left = percent(1 - standing.before) if standing.before < 0.9995 else "nothing"
        yield f"the budget is not enough: {left} of it is left. Write less under spend, or ask for less accuracy."
    elif standing.stored is None and standing.after > 0.999:
        yield "this spends everything that is left: nothing more can be released from this data set, ever."


def _group(source: Source, plan: Plan, entry: Entry) -> int:
    """Return how many rows a group of an invented table has: people spread evenly, or the size that errors assume."""
    size, groups = source.file.dataset.size, len(plan.public_keys or ()) if plan.key_names else 1
    return max(1, size // groups) if size is not None and groups else math.ceil(entry.group_size)
