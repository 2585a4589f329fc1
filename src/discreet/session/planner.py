"""How requests become plans: epsilon and delta are shared out before any data is read."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.accounting import Account, PrivacyLoss
from discreet.accounting.filters import Basic
from discreet.errors import InvalidParameter
from discreet.exact import Real, finite, positive, show
from discreet.noise.bits import Source, source
from discreet.session.columns import Column
from discreet.session.estimates import column_names
from discreet.session.plan import Plan, Settings, make_plan
from discreet.session.post import check
from discreet.session.request import Request, content
from discreet.session.sources import Tables
from discreet.tables.order import Salt
from discreet.tables.query import Query
from discreet.tables.synthetic import Synthetic
from discreet.units import Person, Row

__all__ = ["Planner"]

SHARE = 10
"""A release without an epsilon takes this part of the budget's."""


STEPS = 13
"""How closely the factor is sought by which a composition costs less than its parts, once it is known up to 2."""

MOST_SAVED = Fraction(1 << 20)
"""The search ends here at the latest: millions of requests do not save as much."""


class Planner:
    """Makes plans of queries on some tables, for one account."""

    def __init__(self, tables: Tables, unit: Row | Person, account: Account, exact: Sequence[str | Query] = ()) -> None:
        self.tables, self.unit, self.account = tables, unit, account
        self.salt = Salt.fresh()
        self._repeatable: tuple[Source, Salt] | None = None
        if isinstance(exact, str | Query):
            raise InvalidParameter("exact is a list of queries: exact=[sql].")
        self.exact = tuple(exact)

    def _salt(self) -> Salt:
        """Return the session's salt, or in a test that repeats its noise one that is repeated with it."""
        now = source()
        if now.private:
            return self.salt
        if self._repeatable is None or self._repeatable[0] is not now:
            self._repeatable = now, Salt.fresh()
        return self._repeatable[1]

    def plan(self, request: Request, *, composed: bool = False) -> Plan:
        """Return the plan of one request: at its epsilon, for its error, or at a tenth of the budget.

        ``composed`` says that its loss is to be composed with those of others.
        """
        query = self._described(request.query)
        epsilon = query.epsilon if request.epsilon is None else request.epsilon
        delta = query.delta if request.delta is None else request.delta
        if epsilon is not None and request.error is not None:
            raise InvalidParameter("say epsilon or error: one follows from the other.")
        wanted = self._usual() if epsilon is None else positive(epsilon, "epsilon")
        settings = replace(request.settings(wanted, adds_rho=not self.adds_epsilons), composed=composed)
        maker = _Maker(self, query, settings, delta)
        if request.error is not None:
            return maker.for_error(request.error)
        return maker.usual() if epsilon is None and not self.adds_epsilons else maker.at(wanted)

    def batch(
        self, requests: Sequence[Request], epsilon: Real | None, delta: Real | None, *, steps: int = STEPS
    ) -> tuple[list[Plan], PrivacyLoss]:
        """Return plans that stay within (epsilon, delta) together, and the loss of all of them.

        Requests that say an epsilon or an error have that; the others share what is left by weight, times the largest
        factor with which the composition of everything still holds.
        """
        wanted, whole = self.whole(epsilon, delta)
        weights = [positive(request.weight, "a weight") for request in requests]
        deltas = [whole * weight / sum(weights) for weight in weights]
        described = [
            replace(
                request, query=self._described(request.query), delta=part if request.delta is None else request.delta
            )
            for request, part in zip(requests, deltas, strict=True)
        ]
        fixed = {i: self.plan(request, composed=True) for i, request in enumerate(described) if not _shares(request)}
        free = [i for i, request in enumerate(described) if _shares(request)]
        left = wanted - sum((plan.settings.epsilon for plan in fixed.values()), Fraction(0))
        if free and left <= 0:
            raise InvalidParameter(
                f"epsilon {show(wanted)} is used up by the releases that say an epsilon or an error, and nothing is "
                "left for the others. Say less there, or more for the whole."
            )

        def plans(factor: Fraction) -> list[Plan]:
            among = sum((weights[i] for i in free), Fraction(0))
            parts = {i: left * factor * weights[i] / among for i in free}
            shared = {i: self.plan(replace(described[i], epsilon=parts[i]), composed=True) for i in free}
            return [(fixed | shared)[i] for i in range(len(described))]

        best = plans(Fraction(1))
        loss = _together(best)
        parts = sum((plan.delta for plan in best), Fraction(0))
        if (left < 0 or parts > whole) and not (whole and Fraction(loss.delta(wanted)) <= whole):
            raise InvalidParameter(
                f"these releases take more than epsilon {show(wanted)} at delta {show(whole)} together. Say larger "
                "errors or less epsilon for some of them, or more for the whole."
            )
        if whole and free:
            low, high, left_over = Fraction(1), None, steps - 1
            while left_over and low < MOST_SAVED:
                middle = 2 * low if high is None else (low + high) / 2
                tried = plans(middle)
                total = _together(tried)
                if total == loss:  # what is asked costs the same at every epsilon
                    break
                left_over -= high is not None
                if Fraction(total.delta(wanted)) <= whole:
                    low, best, loss = middle, tried, total
                else:
                    high = middle
        return best, loss

    def charged_together(
        self, plans: Sequence[Plan], loss: PrivacyLoss, epsilon: Real | None, delta: Real | None
    ) -> PrivacyLoss:
        """Return the loss of a batch in the terms that the account adds up.

        Where epsilons are added, it is charged the least of three: as it is, if it is pure; the sums of the epsilons
        and deltas of its parts; the epsilon of the whole composition at the delta of the batch. Each of them holds.
        """
        if not self.adds_epsilons:
            return loss
        _, whole = self.whole(epsilon, delta)
        summed = (sum((p.settings.epsilon for p in plans), Fraction(0)), sum((p.delta for p in plans), Fraction(0)))
        ways = [summed] if summed[1] <= whole else []
        if whole:
            ways.append((Fraction(loss.epsilon(whole)), whole))
        best = min(ways) if ways else None
        if loss.is_pure and (best is None or self.account.cost(loss).amount <= best[0]):
            return loss
        if best is None:
            return loss
        return PrivacyLoss.approximate(*best).under(str(loss.relation))

    def charged(self, plan: Plan) -> PrivacyLoss:
        """Return the loss of a plan in the terms that the account adds up."""
        return plan.loss if plan.loss.is_pure or not self.adds_epsilons else plan.whole

    @property
    def adds_epsilons(self) -> bool:
        """Whether the account adds up epsilons, and no other currency."""
        return isinstance(self.account.rule, Basic)

    def deltas(self, epsilon: Fraction, delta: Real | None) -> tuple[Fraction, Fraction]:
        """Return the deltas of noise and of private groups that belong to an epsilon: in proportion, unless said."""
        whole, failures = self.account.delta, self.account.rule.failures
        if delta is not None:
            exact = finite(delta, "delta")
            if not 0 <= exact < 1:
                raise InvalidParameter("delta is a probability: 0 at least, and below 1.")
            return exact / 2, exact / 2
        share = min(Fraction(1), epsilon / self._total())
        if self.adds_epsilons:
            return whole * share / 2, whole * share / 2
        return (whole - failures) * share, failures * share

    def made(self, query: Query, settings: Settings) -> Plan:
        """Return the plan of a query with all settings said."""
        plan = make_plan(query, self.tables, self.unit, self._salt(), settings)
        names = [(column.name,) if isinstance(column, Column) else column.names for column in plan.columns]
        if plan.joint is not None:
            names = [plan.joint.names(column.name) for column in plan.columns]
        keys = plan.key_names if plan.joint is None else plan.joint.shown
        check(query, column_names(keys, [name for several in names for name in several]))
        listed = (content(self._described(one)) for one in self.exact)
        if plan.joint is not None and plan.joint.exact and content(query) not in listed:
            raise InvalidParameter(
                "this query publishes numbers without noise, and whoever asks cannot decide that. The curator lists it "
                "when the session is opened: dp.Session(..., exact=[query])."
            )
        return plan

    def remade(self, query: Query, settings: Settings) -> Plan:
        """Return the plan of a query of which more is known now, with the settings that it was planned with before."""
        return self.made(self._described(query), settings)

    def share(self, plan: Plan) -> Fraction:
        """Return what part of the whole account a plan costs."""
        return self.account.cost(self.charged(plan)).amount / self.account.rule.limit

    def _described(self, query: str | Query) -> Query:
        if isinstance(query, Query):
            return self._keyed(query)
        from discreet.tables.sql import parse

        return parse(query, {name: tuple(table.relation.columns) for name, table in self.tables.attached.items()})

    def _keyed(self, query: Query) -> Query:
        """Return a query whose columns the schema has to settle with its columns settled."""
        if not isinstance(query.together, Synthetic):
            return query
        from discreet.session.synthesis.keyed import keyed

        return keyed(query, self.tables)

    def _total(self) -> Fraction:
        if self.account.epsilon is not None:
            return self.account.epsilon
        return max(self.account.largest_epsilon(), Fraction(1, 10**6))

    def _usual(self) -> Fraction:
        return self._total() / SHARE

    def whole(self, epsilon: Real | None, delta: Real | None) -> tuple[Fraction, Fraction]:
        """Return the epsilon and delta of a batch, as said or as usual."""
        wanted = self._usual() if epsilon is None else positive(epsilon, "epsilon")
        return wanted, sum(self.deltas(wanted, delta), Fraction(0))


class _Maker:
    """Plans of one query at different epsilons."""

    def __init__(self, planner: Planner, query: Query, settings: Settings, delta: Real | None) -> None:
        self.planner, self.query, self.settings, self.delta = planner, query, settings, delta

    def at(self, epsilon: Fraction) -> Plan:
        """Return the plan that costs epsilon."""
        delta, key_delta = self.planner.deltas(epsilon, self.delta)
        settings = replace(self.settings, epsilon=epsilon, delta=delta, key_delta=key_delta)
        return self.planner.made(self.query, settings)

    def usual(self) -> Plan:
        """Return the plan that costs a tenth of the account, which adds up something else than epsilons."""
        low, high = Fraction(0), self.settings.epsilon
        while self.planner.share(self.at(2 * high)) <= Fraction(1, SHARE) and high < 2**10:
            low, high = high, 2 * high
        low, high = (low, 2 * high) if low else (Fraction(0), 2 * high)
        for _ in range(10):
            middle = (low + high) / 2
            fits = self.planner.share(self.at(middle)) <= Fraction(1, SHARE)
            low, high = (middle, high) if fits else (low, middle)
        return self.at(low or high / 2**10)

    def for_error(self, error: Mapping[str, float]) -> Plan:
        """Return the plan of least epsilon whose columns stay within errors."""
        plan = self.at(Fraction(1))
        columns = {c.name: c for c in plan.columns if isinstance(c, Column) and c.corners is not None}
        limits = {name: float(positive(limit, f"the error of {name}")) for name, limit in error.items()}
        if unknown := [name for name in limits if name not in columns]:
            raise InvalidParameter(
                f"no error can be promised for {', '.join(unknown)}. It can for {', '.join(columns) or 'no column'}."
            )

        def enough(plan: Plan) -> bool:
            found = {column.name: plan.expected(column) for column in plan.columns if isinstance(column, Column)}
            return all((found[name] or 0.0) <= limit for name, limit in limits.items())

        low, high = Fraction(1, 2**20), Fraction(1)
        while not enough(self.at(high)):
            high *= 2
            if high > 2**14:
                raise InvalidParameter(
                    "no epsilon up to 16384 keeps these errors, which is no protection at all. Ask for less accuracy, "
                    "or say how large groups are: group_size=100000."
                )
        for _ in range(24):
            middle = (low + high) / 2
            low, high = (low, middle) if enough(self.at(middle)) else (middle, high)
            if high - low < high / 1000:
                break
        return self.at(high)


def _shares(request: Request) -> bool:
    """Whether a request takes its part of what others leave; a query may say its epsilon in its text."""
    return request.is_free and _query_of(request).epsilon is None


def _query_of(request: Request) -> Query:
    assert isinstance(request.query, Query)  # noqa: S101  requests of a batch are described first
    return request.query


def _together(plans: Sequence[Plan]) -> PrivacyLoss:
    return PrivacyLoss.total([plan.loss for plan in plans])
