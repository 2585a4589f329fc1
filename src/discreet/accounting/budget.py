"""Budget and Account: what may be spent, and what has been.

A budget is a promise fixed beforehand; an account spends it, loss by loss, before each release. Which losses come and
what they cost may depend on everything that was released (see ``discreet.accounting.filters``). To know what a plan
costs whose parameters are all declared beforehand, add up its losses instead: ``PrivacyLoss.epsilon`` is tighter, and
the plan is spent as one loss.
"""

import math
import threading
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Literal, NoReturn, get_args

from discreet.accounting.filters import Basic, Filter, Gdp, Renyi, Zcdp, advice, without_failure
from discreet.accounting.loss import PrivacyLoss
from discreet.errors import BudgetExceeded, InvalidParameter, NoTheorem, RelationMismatch
from discreet.exact import Real, ball, positive, probability, show, up, upward
from discreet.process import check_process, process
from discreet.units import Relation, check_relation

__all__ = ["Account", "Budget", "Cost", "FilterName", "Spent"]

FilterName = Literal["basic", "gdp", "renyi", "zcdp"]

SHARE = Fraction(1, 10)
"""The part of delta that is kept for failures unless one says otherwise: it costs about a hundredth of rho."""

SMALLEST = Fraction(1, 2**900)
"""Allowances below this are told as 0."""


LONG = 2000
"""Bits of a denominator that is not written out: Python does not write numbers of any length."""


@dataclass(frozen=True, slots=True, repr=False)
class Cost:
    """An amount in the currency of a filter, and a probability of failure. Both add exactly."""

    amount: Fraction = Fraction(0)
    failure: Fraction = Fraction(0)

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.amount + other.amount, self.failure + other.failure)

    def __sub__(self, other: "Cost") -> "Cost":
        return Cost(self.amount - other.amount, self.failure - other.failure)

    def __repr__(self) -> str:
        shown = (
            repr(part) if part.denominator.bit_length() <= LONG else _say(part) for part in (self.amount, self.failure)
        )
        return "Cost(amount={}, failure={})".format(*shown)

    def within(self, limit: "Cost") -> bool:
        """Whether neither part exceeds the limit."""
        return self.amount <= limit.amount and self.failure <= limit.failure


@dataclass(frozen=True, slots=True)
class Spent:
    """The state of an account: what has been spent, the sum of epsilons where one exists, and what it is about."""

    cost: Cost = Cost()
    pure: Fraction | None = Fraction(0)
    relation: Relation | None = None
    unit: str | None = None
    exhausted: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Budget:
    """A total (epsilon, delta), for releases that may be chosen one after another in the light of the answers.

    Everything that one account of it admits is (epsilon, delta)-DP together, whenever each loss holds given the past
    and is spent before its release. ``filter`` says what is added up:

    - ``"basic"``: epsilons and deltas. The only one for delta 0, where it is the default.
    - ``"zcdp"``: rhos. The default with a delta; takes every loss that has a rho, so no training on samples (DP-SGD).
    - ``"renyi"``: Renyi divergences of one order. Takes training on samples too, and charges Laplace noise less; its
      odometer starts higher.
    - ``"gdp"``: squares of mu, for Gaussian noise alone, without any slack.

    Rhos are for many small releases: a few large pure ones fill them early, where "basic" would still go on. One must
    choose beforehand; going on while either of two filters would is not proven.

    ``failures`` is the part of delta kept for losses that have a delta themselves: by default all of it for "basic",
    none for "gdp", a tenth for the others.

    >>> account = Budget(1).open()
    >>> for _ in range(10):
    ...     account.spend(PrivacyLoss.laplace(Fraction(1, 10)))
    >>> account.spend(PrivacyLoss.laplace(1e-9))
    Traceback (most recent call last):
    discreet.errors.BudgetExceeded: this loss costs epsilon 1e-09, and 0 of 1 is left. Nothing was spent: release
    nothing.
    """

    epsilon: Real
    delta: Real = 0
    _: KW_ONLY
    filter: FilterName | None = None
    failures: Real | None = None
    relation: Relation | None = None

    def __post_init__(self) -> None:
        epsilon, delta = positive(self.epsilon, "epsilon"), probability(self.delta, "delta", zero=True)
        name: object = self.filter or ("zcdp" if delta else "basic")
        if name not in get_args(FilterName):
            raise InvalidParameter(f"filter must be one of {', '.join(get_args(FilterName))}, got {name!r}.")
        if not delta and name != "basic":
            raise InvalidParameter(f"a budget with delta 0 adds up epsilons; filter={name!r} needs a delta above 0.")
        usual = {"basic": delta, "gdp": Fraction(0)}.get(str(name), SHARE * delta)
        failures = usual if self.failures is None else probability(self.failures, "failures", zero=True)
        if failures != delta if name == "basic" else failures >= delta:
            asked = "be all of delta" if name == "basic" else "be below delta"
            raise InvalidParameter(f"failures must {asked} for filter={name!r}, got {show(failures)} of {show(delta)}.")
        if self.relation is not None:
            check_relation(self.relation)
        for field, value in (("epsilon", epsilon), ("delta", delta), ("filter", name), ("failures", failures)):
            object.__setattr__(self, field, value)

    def open(self) -> "Account":
        """Return a new account that may spend all of this budget. Open one for each data set and keep it."""
        epsilon, delta, failures = Fraction(self.epsilon), Fraction(self.delta), Fraction(self.failures or 0)
        rule: Filter
        if self.filter == "basic":
            rule = Basic(epsilon, failures)
        else:
            kinds: dict[str | None, type[Gdp | Renyi | Zcdp]] = {"gdp": Gdp, "renyi": Renyi, "zcdp": Zcdp}
            rule = kinds[self.filter].reaching(epsilon, delta, failures)
        return Account(rule, delta=delta, relation=self.relation, epsilon=epsilon)

    def __repr__(self) -> str:
        numbers = f"epsilon={show(self.epsilon)}, delta={show(self.delta)}"
        relation = "" if self.relation is None else f", relation={self.relation!r}"
        return f"Budget({numbers}, filter={self.filter!r}, failures={show(self.failures or 0)}{relation})"


class Account:
    """What has been spent of a filter's limit. Safe in threads; a refused loss changes nothing.

    It is kept in the memory of one process, and nothing can be spent from the copy that a forked process has;
    an account of a ledger is spent by as many processes as one likes.

    Made by ``Budget.open``, or from a filter to budget its currency itself. The account adopts the relation of the
    first loss that states one, unless it was given one.

    >>> account = Account(Zcdp(Fraction(1, 2)), delta=1e-6)
    >>> account.spend(PrivacyLoss.gaussian(mu=0.6))
    >>> round(account.smallest_sigma(sensitivity=1), 6)
    1.25
    """

    __slots__ = ("_delta", "_epsilon", "_lock", "_process", "_rule", "_state")

    def __init__(
        self, rule: Filter, *, delta: Real = 0, relation: str | None = None, epsilon: Real | None = None
    ) -> None:
        if hasattr(self, "_state"):
            raise InvalidParameter("an account is opened once. Open another: budget.open().")
        self._rule = rule
        self._delta = probability(delta, "delta", zero=True)
        self._epsilon = None if epsilon is None else positive(epsilon, "epsilon")
        if not rule.limit > 0 or not 0 <= rule.failures <= 1:
            raise InvalidParameter("a filter has a limit above 0, and failures that are a probability.")
        if self.delta < rule.failures:
            raise InvalidParameter(f"delta must cover the failures of the filter, {show(rule.failures)}.")
        self._lock, self._process = threading.Lock(), process()
        self._state = Spent(relation=None if relation is None else check_relation(relation))

    @property
    def rule(self) -> Filter:
        """The filter, with its limit."""
        return self._rule

    @property
    def delta(self) -> Fraction:
        """The delta of the whole budget."""
        return self._delta

    @property
    def epsilon(self) -> Fraction | None:
        """The epsilon of the whole budget; None for an account that was made from a filter alone."""
        return self._epsilon

    def spend(self, loss: PrivacyLoss, /) -> None:
        """Charge a loss that is about to be released, or refuse it and change nothing."""
        cost, epsilon = self._charge(loss)
        self._update(lambda now: self._admitted(now, loss, cost, epsilon))

    def protect(self, unit: str, /) -> None:
        """Say who is protected; losses about other units cannot be added to these.

        >>> account = Budget(1).open()
        >>> account.protect("persons by user_id")
        >>> account.protect("rows")
        Traceback (most recent call last):
        discreet.errors.RelationMismatch: this account is about persons by user_id, and not about rows. Open another.
        """
        self._update(lambda now: _about(now, unit))

    def exhaust(self, loss: PrivacyLoss, /) -> None:
        """Spend everything on one loss, or refuse it and change nothing.

        A filter leaves room for choosing as one goes. If nothing was spent and nothing ever will be again, a loss needs
        only be (epsilon, delta)-DP by itself, with the epsilon and delta of the budget.

        >>> many = 36 * PrivacyLoss.laplace(0.04)
        >>> account = Budget(1, 1e-6).open()
        >>> account.fits(many)
        False
        >>> account.exhaust(many)
        >>> account.largest_epsilon()
        Fraction(0, 1)

        Being (epsilon, delta)-DP bounds no loss at all times, so the odometer knows nothing then; the budget's promise
        stands.

        >>> account.odometer()
        (inf, 1e-06)
        """
        self._update(self._last(loss))

    def cost(self, loss: PrivacyLoss, /) -> Cost:
        """Return what a loss would cost, in the currency of the filter; nothing is spent."""
        return self._charge(loss)[0]

    def fits(self, loss: PrivacyLoss, /) -> bool:
        """Return whether a loss would be admitted now; nothing is spent.

        >>> account = Budget(1).open()
        >>> account.fits(PrivacyLoss.laplace(1)), account.fits(PrivacyLoss.laplace(2)), account.spent.amount
        (True, False, Fraction(0, 1))
        """
        try:
            return self.cost(loss).within(self.remaining)
        except BudgetExceeded:
            return False

    @property
    def spent(self) -> Cost:
        """What has been spent, in the currency of the filter."""
        return self._now.cost

    @property
    def remaining(self) -> Cost:
        """What is left, in the currency of the filter."""
        self._check_process()
        return self._limit - self.spent

    @property
    def relation(self) -> Relation | None:
        """The neighbours that the account is about; None as long as no loss has said."""
        return self._now.relation

    @property
    def unit(self) -> str | None:
        """Who is protected; None as long as nobody has said."""
        return self._now.unit

    def largest_epsilon(self) -> Fraction:
        """Return the epsilon of the least Laplace noise that would be admitted now; 0 if none would.

        >>> Budget(Fraction(1, 3)).open().largest_epsilon()
        Fraction(1, 3)
        """
        return self._largest(PrivacyLoss.laplace)

    def largest_mu(self) -> Fraction:
        """Return the mu of the least Gaussian noise that would be admitted now; 0 if none would."""
        return self._largest(PrivacyLoss.gaussian)

    def smallest_sigma(self, *, sensitivity: Real = 1) -> float:
        """Return the sigma of the least Gaussian noise that would be admitted now; infinite if none would.

        >>> round(Budget(1, 1e-5, filter="gdp").open().smallest_sigma(sensitivity=2), 6)
        7.461263
        """
        exact, mu = positive(sensitivity, "sensitivity"), self.largest_mu()
        return up(lambda: ball(exact / mu)) if mu else math.inf

    def odometer(self) -> tuple[float, float]:
        """Return an epsilon for what has been spent so far, and the delta of the budget.

        With probability ``1 - delta`` over the answers, the privacy loss stays within this epsilon *at all times at
        once*, so one may look whenever one likes and stop at a moment that the answers chose: Rogers et al. 2016. It is
        the smaller of the sum of the epsilons and of the filter's ``bound``, which names its theorem; failures are
        covered by their part of delta. A bound on the loss is stronger than (epsilon, delta)-DP, and one that may
        be read at any time costs a little more, so a full account shows more than the epsilon of its budget. The
        promise of the budget stands beside it.

        >>> account = Budget(1, 1e-6).open()
        >>> account.spend(PrivacyLoss.laplace(0.125))
        >>> account.odometer()
        (0.125, 1e-06)
        """
        now = self._now
        left = self.delta - self.rule.failures
        certain = math.inf if now.pure is None else upward(now.pure)
        likely = self.rule.bound(now.cost.amount, left) if left and not now.exhausted else math.inf
        return min(certain, likely), upward(self.delta)

    def __repr__(self) -> str:
        spent, limit = self.spent, self._limit
        return f"<Account: {self.rule.currency} {_say(spent.amount)} of {_say(limit.amount)} spent>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an account cannot be copied or pickled: two holders would spend the same budget twice.")

    # What an account that is kept elsewhere does in its own way.

    @property
    def _limit(self) -> Cost:
        return Cost(self.rule.limit, self.rule.failures)

    @property
    def _now(self) -> Spent:
        return self._state

    def _check_process(self) -> None:
        """Refuse to spend a copy of what is left, which a process has that was forked from the one that opened it."""
        check_process(
            self._process,
            "this account",
            "Release in the process that opened it, or keep the budget in a ledger, which processes share: "
            'dp.Ledger("ledger.sqlite").account("name", budget=dp.Budget(...)).',
        )

    def _update(self, step: Callable[[Spent], Spent]) -> None:
        """Take one step from the state as it is to the next, which nobody else does meanwhile."""
        self._check_process()  # before the lock, which a thread of the other process may have held
        with self._lock:
            self._state = step(self._state)

    # Which steps there are.

    def _admitted(
        self, now: Spent, loss: PrivacyLoss, cost: Cost, epsilon: Fraction | None, limit: Cost | None = None
    ) -> Spent:
        """Return the state after a loss, or refuse it."""
        limit, spent = limit or self._limit, now.cost + cost
        relation = _agreed(now.relation, loss.relation)
        if not spent.within(limit):
            raise BudgetExceeded(self._refusal(cost, limit - now.cost))
        pure = None if now.pure is None or epsilon is None else now.pure + epsilon
        return replace(now, cost=spent, pure=pure, relation=relation)

    def _last(self, loss: PrivacyLoss) -> Callable[[Spent], Spent]:
        """Return the step in which a loss takes the whole of an unused account."""
        self._charge(loss)
        promised = self._epsilon
        fits = promised is not None and Fraction(loss.delta(promised)) <= self.delta

        def step(now: Spent) -> Spent:
            relation = _agreed(now.relation, loss.relation)
            if now.cost != Cost() or not fits:
                raise BudgetExceeded(
                    "this does not fit into what is left, and only a loss that is spent first and is as private as the "
                    "whole budget may take all of it. Nothing was spent: release nothing."
                )
            return replace(now, cost=self._limit, pure=None, relation=relation, exhausted=True)

        return step

    def _charge(self, loss: PrivacyLoss) -> tuple[Cost, Fraction | None]:
        """Return what a loss costs, and the sum of its epsilons when nothing fails."""
        if not isinstance(loss, PrivacyLoss):
            raise InvalidParameter(f"an account spends a PrivacyLoss, got {type(loss).__name__}.")
        total, epsilon = Cost(), Fraction(0)
        bounded = True
        for whole, count in loss.terms:
            term, failure = without_failure(whole)
            amount, pure = self.rule.amount(term), term.pure
            if amount is None:
                raise BudgetExceeded(
                    f"this {term.kind} loss has no finite {self.rule.currency}, so it fits into no budget of it. "
                    f"Nothing was spent. {advice(term, self._order)}"
                )
            if type(count) is not int or count < 1 or amount < 0 or (pure is not None and pure < 0):
                raise InvalidParameter("a loss that is spent must not be negative: nothing is ever given back.")
            total += Cost(count * amount, count * failure)
            bounded = bounded and pure is not None
            epsilon += count * (pure or 0)
        return total, epsilon if bounded else None

    @property
    def _order(self) -> Fraction | None:
        """The order that a filter of Renyi divergences would have for this budget; None if it has no place in it."""
        if self._epsilon is None or not self.rule.failures < self.delta:
            return None
        try:
            return Renyi.reaching(self._epsilon, self.delta, self.rule.failures).order
        except InvalidParameter:
            return None

    def _largest(self, make: Callable[[Fraction], PrivacyLoss]) -> Fraction:
        """Return the largest parameter whose loss fits into what is left: exactly, or else to 52 bits from below."""
        left = self.remaining

        def cost(x: Fraction) -> Fraction:
            return self._charge(make(x))[0].amount

        try:
            if left.amount < SMALLEST:
                return Fraction(0)
            if cost(left.amount) == left.amount:
                return left.amount
        except (BudgetExceeded, NoTheorem):
            return Fraction(0)
        low = Fraction(1)
        while cost(low) > left.amount:
            low /= 2
        while cost(2 * low) <= left.amount:
            low *= 2
        step = low
        for _ in range(52):
            step /= 2
            if cost(low + step) <= left.amount:
                low += step
        return low

    def _refusal(self, cost: Cost, left: Cost) -> str:
        rest = "is left. Nothing was spent: release nothing."
        if cost.amount > left.amount:
            price = f"{self.rule.currency} {_say(cost.amount)}"
            return f"this loss costs {price}, and {_say(left.amount)} of {_say(self.rule.limit)} {rest}"
        whole = f"{_say(left.failure)} of the {_say(self.rule.failures)} kept for failures"
        return f"this loss fails with probability {_say(cost.failure)}, and {whole} {rest}"


def _about(now: Spent, unit: str) -> Spent:
    if now.unit not in (None, unit):
        raise RelationMismatch(f"this account is about {now.unit}, and not about {unit}. Open another.")
    return replace(now, unit=unit)


def _agreed(account: Relation | None, loss: Relation | None) -> Relation | None:
    if account is not None and loss is not None and account != loss:
        raise RelationMismatch(
            f"this account is about {account} neighbours, the loss about {loss}. Nothing was spent. State the loss for "
            "the relation of the account: an add_remove loss holds for replace_one as loss.group(2)."
        )
    return account if loss is None else loss


def _say(value: Fraction) -> str:
    if value >= 2**60:
        return "more than 1e18"
    if value.denominator.bit_length() > LONG:
        return f"about {float(value):.12g}"
    shown = show(value)
    return shown if len(shown) < 30 else f"about {float(value):.12g}"
