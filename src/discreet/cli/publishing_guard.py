"""How a curator's command ends when something is wrong: one sentence, an exit code, no traceback and no data."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from discreet.errors import (
    BudgetExceeded,
    DiscreetError,
    LedgerError,
    MissingExtra,
    NoTheorem,
    RelationMismatch,
    ReleaseFailed,
)

__all__ = ["guarded"]

LOG = logging.getLogger("discreet.curator")

REFUSED = (BudgetExceeded, LedgerError, NoTheorem, RelationMismatch, ReleaseFailed)
"""What a budget or a policy refuses; everything else is a mistake of the file or of the command."""

INTERRUPTED = (
    "Interrupted. What was charged before stays spent, without an answer: discreet ledger show says what that is."
)


@contextmanager
def guarded(as_json: bool) -> Iterator[None]:
    """End with exit code 1 where a budget or policy refuses, and 2 where a file or an option is wrong."""
    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except KeyboardInterrupt:
        _stop(INTERRUPTED, 130, as_json)
    except MissingExtra as missing:
        _stop(str(missing), 2, as_json)
    except ImportError as missing:
        if not missing.name or missing.name.startswith("discreet"):
            raise
        _stop(str(MissingExtra(missing.name, "publish")), 2, as_json)
    except REFUSED as refused:
        _stop(str(refused), 1, as_json)
    except DiscreetError as error:
        _stop(str(error), _code(error), as_json, _mistakes(error))
    except Exception as error:
        LOG.exception("a command failed")
        kind = type(error).__name__
        _stop(
            f"This should not happen ({kind}). The log discreet.curator has the details; no data is shown here.",
            2,
            as_json,
        )


def _code(error: DiscreetError) -> int:
    from discreet.publishing.releasing import Unwritten

    return 1 if isinstance(error, Unwritten) else 2


def _mistakes(error: DiscreetError) -> list[dict[str, object]]:
    from discreet.publishing.mistake import Mistake, Mistakes

    found = error.found if isinstance(error, Mistakes) else [error] if isinstance(error, Mistake) else []
    return [{"file": one.file, "line": one.line, "wrong": one.wrong, "fix": one.fix} for one in found]


def _stop(words: str, code: int, as_json: bool, mistakes: list[dict[str, object]] | None = None) -> NoReturn:
    if as_json:
        record = {"ok": False, "error": words, **({"mistakes": mistakes} if mistakes else {})}
        typer.echo(json.dumps(record, indent=2, ensure_ascii=False))
    else:
        typer.echo(words, err=True)
    raise typer.Exit(code) from None
