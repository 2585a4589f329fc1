"""Generated data to learn and test with: deterministic, bundled as code, nothing to download."""

from discreet.datasets.census import census
from discreet.datasets.hospital import Stays, Stories, stays, stories
from discreet.datasets.population import population
from discreet.datasets.ratings import Ratings, ratings
from discreet.datasets.social import Networks, networks
from discreet.datasets.traces import Traces, traces
from discreet.datasets.visits import Visits, visits

__all__ = [
    "Networks",
    "Ratings",
    "Stays",
    "Stories",
    "Traces",
    "Visits",
    "census",
    "networks",
    "population",
    "ratings",
    "stays",
    "stories",
    "traces",
    "visits",
]
