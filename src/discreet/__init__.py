"""discreet: differential privacy that is exact, fast and honest about its error."""

from discreet._version import __version__

__all__ = ["__version__"]
