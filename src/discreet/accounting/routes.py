"""Every theorem that covers a loss, side by side: what each proves, and which proves most.

A theorem is listed where the terms of the loss meet its conditions, by what a term says of itself: its pure epsilon,
its rho, its Renyi divergences. So a kind of term this file has never heard of takes part in all it qualifies for.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from html import escape
from typing import Literal, overload

from discreet.accounting import theorems
from discreet.accounting.loss import PrivacyLoss
from discreet.accounting.sampled_routes import Offer, few_orders, on_samples, sampled_limit
from discreet.accounting.terms import Approximate, Gaussian, Laplace, RandomizedResponse
from discreet.errors import InvalidParameter, NoTheorem
from discreet.exact import Real, ball, probability, show, up

__all__ = ["Route", "Routes", "routes"]

NO_DIRECTION = "approximation, no direction"


@dataclass(frozen=True, slots=True)
class Route:
    """One theorem's epsilon for a loss. A route that is not valid proves nothing and is never charged."""

    name: str
    epsilon: float
    valid: bool
    note: str
    paper: str


@dataclass(frozen=True, slots=True, repr=False)
class Routes(Sequence[Route]):
    """The routes from a loss to its epsilon at one delta."""

    listed: tuple[Route, ...]
    loss: PrivacyLoss
    delta: Fraction

    @property
    def best(self) -> Route:
        """The valid route with the smallest epsilon."""
        valid = [route for route in self.listed if route.valid]
        if not valid:
            raise NoTheorem("no theorem here covers this loss.")
        return min(valid, key=lambda route: route.epsilon)

    def __len__(self) -> int:
        return len(self.listed)

    @overload
    def __getitem__(self, index: int) -> Route: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Route, ...]: ...
    def __getitem__(self, index: int | slice) -> Route | tuple[Route, ...]:
        return self.listed[index]

    def __iter__(self) -> Iterator[Route]:
        return iter(self.listed)

    def __repr__(self) -> str:
        best = self.best
        rows = [("", "theorem", "epsilon", "note", "paper")]
        rows += [("*" if r is best else "", r.name, _number(r.epsilon), r.note, r.paper) for r in self.listed]
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        lines = [
            f"{mark:<{widths[0]}} {name:<{widths[1]}}  {epsilon:>{widths[2]}}  {note:<{widths[3]}}  {paper}".rstrip()
            for mark, name, epsilon, note, paper in rows
        ]
        return "\n".join([self._title(), *lines])

    def _repr_html_(self) -> str:
        best = self.best
        head = "<tr><th>theorem</th><th>epsilon</th><th>note</th><th>paper</th></tr>"
        rows = "".join(_html_row(route, route is best) for route in self.listed)
        return f"<table><caption>{escape(self._title())}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"

    def _title(self) -> str:
        whole = repr(self.loss)
        shown = whole if len(whole) <= 100 else whole[:97] + "..."
        return f"{shown} at delta={show(self.delta)}"


def routes(loss: PrivacyLoss, delta: Real) -> Routes:
    """Return what each theorem proves about a loss at a delta.

    >>> routes(PrivacyLoss.gaussian(mu=1), 1e-5)
    PrivacyLoss.gaussian(mu_squared=1) at delta=1e-05
      theorem           epsilon  note             paper
      zCDP               5.2986  rho = 0.5        Bun, Steinke 2016
      zCDP, best order   4.7284  rho = 0.5        Canonne, Kamath, Steinke 2020
      Renyi              5.2986  order 5.799      Mironov 2017
      Renyi, improved    4.7284  order 5.43...      Balle et al. 2020; Canonne, Kamath, Steinke 2020
    * Gaussian DP        4.3772  mu = 1, exact    Dong, Roth, Su 2022
      discreet           4.3772  what is charged
    >>> routes(50 * PrivacyLoss.pure(0.1), 1e-5).best.epsilon
    2.84466...
    """
    if not isinstance(loss, PrivacyLoss):
        raise InvalidParameter(f"routes are those of a PrivacyLoss, got {type(loss).__name__}.")
    exact = probability(delta, "delta", zero=True)
    return Routes(tuple(_ask(loss, exact)), loss, exact)


def _ask(loss: PrivacyLoss, delta: Fraction) -> Iterator[Route]:
    offers = (_adding, _concentrated, on_samples, _exactly)
    for name, theorem, note, paper in (offer for kind in offers for offer in kind(loss, delta)):
        try:
            yield Route(name, float(theorem()), True, note, paper)
        except (NoTheorem, InvalidParameter):  # not covered after all, or too extreme to evaluate
            continue
    yield from _limit(loss, delta)
    yield Route("discreet", loss.epsilon(delta), True, "what is charged", "")


def _guarantees(loss: PrivacyLoss) -> tuple[list[Fraction], list[Fraction], list[int]] | None:
    """Return the epsilons, deltas and counts of the terms; None if one has none of its own."""
    rows = []
    for term, count in loss.terms:
        if isinstance(term, Approximate):
            rows.append((term.epsilon, term.failure, count))
        elif term.pure is not None:
            rows.append((term.pure, Fraction(0), count))
        else:
            return None
    return [e for e, _, _ in rows], [d for _, d, _ in rows], [k for _, _, k in rows]


def _adding(loss: PrivacyLoss, delta: Fraction) -> Iterator[Offer]:
    """Theorems about (epsilon, delta) guarantees."""
    parts = _guarantees(loss)
    if parts is None:
        return
    epsilons, deltas, counts = parts
    left = delta - sum((d * k for d, k in zip(deltas, counts, strict=True)), Fraction(0))
    if left < 0:
        return
    yield (
        "basic composition",
        lambda: theorems.basic_composition(epsilons, deltas, count=counts).epsilon,
        "epsilons add",
        "Dwork et al. 2006",
    )
    if left:
        for name, theorem, paper in (
            ("advanced composition", theorems.advanced_composition, "Dwork, Rothblum, Vadhan 2010"),
            ("advanced, sharper drift", theorems.sharper_composition, "Kairouz, Oh, Viswanath 2015"),
            ("heterogeneous", theorems.heterogeneous_composition, "Kairouz, Oh, Viswanath 2015, Thm 3.5"),
        ):
            compose = partial(theorem, epsilons, deltas, slack=left, count=counts)
            yield name, partial(_epsilon, compose), f"delta' = {float(left):.3g}", paper
    if len(set(zip(epsilons, deltas, strict=True))) == 1:
        yield (
            "optimal composition",
            lambda: theorems.optimal_epsilon(epsilons[0], deltas[0], count=sum(counts), total_delta=delta),
            "of equal guarantees",
            "Kairouz, Oh, Viswanath 2015, Thm 3.3",
        )


def _concentrated(loss: PrivacyLoss, delta: Fraction) -> Iterator[Offer]:
    """Theorems about zCDP and Renyi divergences."""
    if not delta:
        return
    rho = loss.rho
    if rho < math.inf:
        note = f"rho = {rho:.4g}"
        yield "zCDP", lambda: theorems.zcdp_epsilon_classical(rho, delta), note, "Bun, Steinke 2016"
        yield "zCDP, best order", lambda: theorems.zcdp_epsilon(rho, delta), note, "Canonne, Kamath, Steinke 2020"
    conversions: tuple[tuple[str, Literal["mironov", "improved"], str], ...] = (
        ("Renyi", "mironov", "Mironov 2017"),
        ("Renyi, improved", "improved", "Balle et al. 2020; Canonne, Kamath, Steinke 2020"),
    )
    for name, conversion, paper in conversions:
        with suppress(NoTheorem, InvalidParameter):
            bound = theorems.renyi_epsilon(loss.renyi, delta, conversion=conversion, orders=few_orders(loss, delta))
            if bound.order is not None:
                yield name, partial(float, bound.epsilon), f"order {float(bound.order):.4g}", paper


def _exactly(loss: PrivacyLoss, delta: Fraction) -> Iterator[Offer]:
    """Closed forms that are the whole truth."""
    if not loss.terms or not delta:
        return
    (term, count), *others = loss.terms
    if isinstance(term, Gaussian) and not others:
        mu = up(lambda: ball(count * term.mu_squared).sqrt())
        yield "Gaussian DP", lambda: theorems.gdp_epsilon(mu, delta), f"mu = {mu:.4g}, exact", "Dong, Roth, Su 2022"
    if others or count > 1:
        return
    if isinstance(term, Laplace):
        yield "Laplace noise", lambda: theorems.laplace_epsilon(term.epsilon, delta), "exact", "Balle, Wang 2018"
    if isinstance(term, RandomizedResponse):
        yield (
            "randomised response",
            lambda: theorems.response_epsilon(term.epsilon, delta, categories=term.categories),
            "exact",
            "Kairouz, Oh, Viswanath 2015",
        )


def _limit(loss: PrivacyLoss, delta: Fraction) -> Iterator[Route]:
    """The central limit, which is no theorem about any number of releases in particular."""
    if delta and (training := sampled_limit(loss)) is not None:
        note = f"{NO_DIRECTION}; mu = {training.mu:.4g}"
        yield Route("central limit", training.epsilon(delta), False, note, "Bu, Dong, Long, Su 2020")
    parts = _guarantees(loss)
    if parts is None or any(parts[1]) or sum(parts[2]) < 2 or not delta:
        return
    with suppress(InvalidParameter):
        about = theorems.pure_limit(parts[0], count=parts[2])
        note = f"{NO_DIRECTION}; mu = {about.mu:.4g}"
        yield Route("central limit", about.epsilon(delta), False, note, "Dong, Roth, Su 2022, Thm 3.4")


def _epsilon(compose: Callable[[], theorems.Guarantee]) -> Real:
    return compose().epsilon


def _html_row(route: Route, best: bool) -> str:
    name = f"<b>{escape(route.name)}</b>" if best else escape(route.name)
    cells = (name, _number(route.epsilon), escape(route.note), escape(route.paper))
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _number(epsilon: float) -> str:
    """Show four decimals, rounded up but for the last bits: a table is read as a claim."""
    return "inf" if math.isinf(epsilon) else f"{math.ceil(epsilon * (1 - 1e-12) * 1e4) / 1e4:.4f}"
