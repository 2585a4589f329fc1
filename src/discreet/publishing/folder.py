"""The folder of a release: tested before anything is spent, and filled so that no file is ever there in half."""

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from discreet.errors import InvalidParameter

__all__ = ["CERTIFICATE", "COPY", "REPORT", "TABLES", "digest_of", "filled", "prepared"]

CERTIFICATE = "release.json"
REPORT = "report.html"
COPY = "release.yaml"
TABLES = ("csv", "parquet")


def prepared(folder: Path, text: str, names: Iterable[str]) -> Path:
    """Make a folder and see that it can be written; nothing in it is written over but the same release.

    ``text`` is the curator's file and ``names`` are those of the tables that will be written.
    """
    targets = [CERTIFICATE, COPY, REPORT, *(f"{name}.{ending}" for name in names for ending in TABLES)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".{secrets.token_hex(8)}.part"
        probe.write_bytes(b"discreet")
        probe.unlink()
        there = [name for name in targets if os.path.lexists(folder / name)]
        same = CERTIFICATE in there and COPY in there and (folder / COPY).read_bytes() == text.encode()
    except OSError as error:
        raise InvalidParameter(
            f"the release needs a folder that can be written, and {folder} cannot ({error.strerror or error}). Name "
            "another one: -o out/"
        ) from None
    if there and not same:
        raise InvalidParameter(
            f"{folder} holds {there[0]} already, from something else, and nothing is written over. Name another "
            "folder: -o out-2/"
        )
    return folder


@contextmanager
def filled(folder: Path) -> Iterator[Path]:
    """Give a place to write files, all of which are in the folder when the block ends: the certificate last."""
    beside = folder / f".release-{secrets.token_hex(8)}.part"
    beside.mkdir()
    try:
        yield beside
        names = sorted((one.name for one in beside.iterdir()), key=lambda name: (name == CERTIFICATE, name))
        for name in names:
            with (beside / name).open("rb") as file:
                os.fsync(file.fileno())
        for name in names:
            (beside / name).replace(folder / name)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    found = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()
