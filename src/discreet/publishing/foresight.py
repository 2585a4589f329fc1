"""What a release will be like, before anything is spent: error first, epsilon second. No private row is read."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from discreet.accounting import Account, Budget, PrivacyLoss
from discreet.errors import BudgetExceeded, LedgerError
from discreet.publishing.book import entry_of, existing
from discreet.publishing.cautions import about_delta, about_errors, about_exact, about_little_noise
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


Part = Literal["amount", "failure"]
"""What a budget consists of: an amount in its currency, and a probability of failure."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How the account of the data set stands: shares of its budget spent before and after, and whether this fits.

    ``stored`` is the number of the ledger's entry that answered the very same before, for free from now on. ``failed``
    is the share that is spent of the part of delta that is kept for failures, and ``short`` names what does not
    suffice: the amount, the failures, or both.
    """

    before: float
    after: float
    fits: bool
    stored: int | None = None
    problem: str = ""
    failed: float = 0.0
    short: frozenset[Part] = frozenset()


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
        session = joined.session
        charge = charge_of(session, joined.requests, joined.epsilon, joined.delta, last=file.takes_all)
        requests = [
            replace(request, group_size=entry.group_of(group))
            for entry, request, group in zip(file.releases, joined.requests, joined.groups, strict=True)
        ]
        forecasts = [
            _noted(forecast, entry, group, file.dataset.size)
            for entry, forecast, group in zip(
                file.releases,
                session.preview_plan(requests, epsilon=joined.epsilon, delta=joined.delta),
                joined.groups,
                strict=True,
            )
        ]
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
    epsilon, whole_delta = total_epsilon(loss, file.delta, file.total)
    standing = standing_of(source, charge)
    cautions = [*about_delta(file)]
    for one in releases:
        cautions += [*about_exact(one.entry, one.plan), *about_little_noise(one.entry, one.plan)]
        cautions += [*about_errors(file, one.entry, one.plan)]
    return Foresight(source, tuple(releases), charge, loss, epsilon, whole_delta, standing, tuple(cautions))


def total_epsilon(loss: PrivacyLoss, delta: Fraction, most: Fraction) -> tuple[float, float]:
    """Return the epsilon of everything together, at its delta; at none where it stays within ``most`` without."""
    if loss.is_pure and (not delta or Fraction(loss.epsilon(0)) <= most):
        return loss.epsilon(0), 0.0
    stated = float(delta)
    stated = math.nextafter(stated, 0.0) if Fraction(stated) > delta else stated
    return loss.epsilon(stated), stated


def standing_of(source: Source, charge: Charge) -> Standing:
    """Look into the ledger, if there is one, without writing to it."""
    file, fresh = source.file, Probe(source.file.budget.budget)
    name, cost = file.dataset.name, _cost(fresh, charge.loss)
    alone = _alone(fresh, charge, file.budget.epsilon)
    new = Standing(0.0, min(1.0, cost), fits=alone, short=frozenset() if alone else _short(fresh, charge.loss))
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
            failed = float(account.spent.failure / account.rule.failures) if account.rule.failures else 0.0
            short = frozenset() if fits else _short(account, charge.loss)
            return Standing(before, min(1.0, before + cost), fits=fits, failed=min(1.0, failed), short=short)
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


def _short(account: Account, loss: PrivacyLoss) -> frozenset[Part]:
    """Return which parts of an account do not suffice for a loss."""
    try:
        cost, left = account.cost(loss), account.remaining
    except BudgetExceeded:
        return frozenset({"amount"})
    parts: dict[Part, bool] = {"amount": cost.amount > left.amount, "failure": cost.failure > left.failure}
    return frozenset(part for part, beyond in parts.items() if beyond)


def _alone(account: Probe, charge: Charge, epsilon: Fraction) -> bool:
    """Whether a charge fits, or may take all of an account from which nothing was spent."""
    return account.fits(charge.loss) or (charge.last and Fraction(charge.loss.delta(epsilon)) <= account.delta)


def _about_budget(standing: Standing) -> Iterator[str]:
    if standing.problem:
        yield f"the ledger would refuse this: {standing.problem}"
    elif standing.stored is None and not standing.fits:
        left = _left(standing.before)
        if standing.short == {"failure"}:
            yield (
                f"the budget is not enough: of the part of its delta that is kept for releases with a delta of their "
                f"own {_left(standing.failed)} is left, though {left} of its epsilon. Write a smaller delta under "
                "spend, or declare the values of columns that are grouped by."
            )
            return
        yield f"the budget is not enough: {left} of it is left. Write less under spend, or ask for less accuracy."
    elif standing.stored is None and standing.after > 0.999:
        yield "this spends everything that is left: nothing more can be released from this data set, ever."


def _left(spent: float) -> str:
    return percent(1 - spent) if spent < 0.9995 else "nothing"


def _noted(forecast: Forecast, entry: Entry, group: float | None, size: int | None) -> Forecast:
    """Say where the size of group comes from that errors assume, where it comes from the declared number of people."""
    if group is None or size is None or entry.group_of(group) != group:
        return forecast
    columns = [
        replace(one, error_note=f"{one.error_note}: {size:,} people spread evenly")
        if one.error_note.startswith("in a group of")
        else one
        for one in forecast.columns
    ]
    return replace(forecast, columns=tuple(columns))


def _group(source: Source, plan: Plan, entry: Entry) -> int:
    """Return how many rows a group of an invented table has: people spread evenly, or the size that errors assume."""
    size, groups = source.file.dataset.size, plan.declared if plan.key_names else 1
    return max(1, size // groups) if size is not None and groups else math.ceil(entry.group_size)
