"""The ``discreet`` command. Its packages are loaded when it runs, and not when discreet is imported."""

import sys
from typing import NoReturn

from discreet.errors import MissingExtra

__all__ = ["main"]


def main() -> None:
    """Run the command line; say in one sentence what to install if it cannot."""
    try:
        from discreet.cli.app import app

        app(prog_name="discreet")
    except MissingExtra as missing:
        _stop(missing)
    except ImportError as missing:
        if not missing.name or missing.name.startswith("discreet"):
            raise
        _stop(MissingExtra(missing.name, "cli"))


def _stop(missing: MissingExtra) -> NoReturn:
    sys.stderr.write(f"{missing}\n")
    raise SystemExit(2) from None
