"""The one door to private tables.

A session holds data, what is declared about it, who is protected and what may be spent. ``preview`` reads no data;
``release`` charges, and only then looks.
"""

from discreet.session.answer import Answer
from discreet.session.estimates import Estimates
from discreet.session.forecast import Expected, Forecast
from discreet.session.request import Request
from discreet.session.session import Session
from discreet.session.sources import Table

__all__ = ["Answer", "Estimates", "Expected", "Forecast", "Request", "Session", "Table"]
