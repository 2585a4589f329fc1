"""What accuracy each epsilon would buy: the error of every column, for less and for more epsilon than planned."""

from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.session import Forecast, Request, Session

__all__ = ["Frontier", "frontier_of"]

FACTORS = tuple(Fraction(2) ** step for step in range(-3, 4))
"""From an eighth of the planned epsilon to eight times as much."""


@dataclass(frozen=True, slots=True)
class Frontier:
    """Errors of the columns of a release at several epsilons; the planned one is in the middle."""

    epsilons: tuple[float, ...]
    errors: dict[str, tuple[float, ...]]
    chosen: float


def frontier_of(session: Session, request: Request, forecast: Forecast, delta: Fraction) -> Frontier:
    """Return the errors that can be foretold, for a release with its share of delta. Reads nothing."""
    planned = Fraction(forecast.epsilon)
    made = [session.preview(replace(request, epsilon=planned * factor, error=None, delta=delta)) for factor in FACTORS]
    names = [column.name for column in forecast.columns if column.error]
    errors = {name: tuple(one[name].error or 0.0 for one in made) for name in names}
    return Frontier(
        tuple(float(planned * factor) for factor in FACTORS),
        {name: listed for name, listed in errors.items() if all(listed)},
        float(planned),
    )
