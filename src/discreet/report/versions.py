"""What ran: the versions that a reader needs to run it again."""

import platform
from importlib.metadata import PackageNotFoundError, version

from discreet._version import __version__

__all__ = ["versions"]

PARTS = ("numpy", "scipy", "python-flint", "cryptography")


def versions() -> dict[str, str]:
    """Return the version of discreet, of Python and of what the numbers depend on.

    >>> list(versions())[:2]
    ['discreet', 'Python']
    """
    found = {"discreet": __version__, "Python": platform.python_version()}
    for part in PARTS:
        try:
            found[part] = version(part)
        except PackageNotFoundError:
            found[part] = "not installed"
    return {**found, "system": f"{platform.system()} {platform.machine()}"}
