"""The folder of a release: tested before anything is spent, and filled so that no file is ever there in half."""

import glob
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from io import BufferedReader
from pathlib import Path

from discreet.errors import InvalidParameter

__all__ = ["CERTIFICATE", "COPY", "REPORT", "TABLES", "digest_of", "filled", "plain_bytes", "prepared"]

CERTIFICATE = "release.json"
REPORT = "report.html"
COPY = "release.yaml"
TABLES = ("csv", "parquet")

MARK = ".release-of"
"""While files are moved into a folder it has this file, with the hash of the release that they belong to."""

LEFT = re.compile(r"\.release-[0-9a-f]{16}\.part")
"""What a release that was cut off leaves behind."""

LARGEST = 1 << 34


def prepared(folder: Path, text: str, names: Iterable[str], private: Iterable[str] = ()) -> Path:
    """Make a folder and see that it can be written; nothing in it is written over but the same release.

    ``text`` is the curator's file, ``names`` are those of the tables that will be written, and ``private`` are places
    that must not be handed over with the folder: the data, the ledger, the anchor. What an interrupted release of the
    same file left there is taken for what it is.
    """
    targets = [CERTIFICATE, COPY, REPORT, *(f"{name}.{ending}" for name in names for ending in TABLES)]
    try:
        _check_apart(folder, private)
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".{secrets.token_hex(8)}.part"
        probe.write_bytes(b"discreet")
        probe.unlink()
        there = [name for name in targets if os.path.lexists(folder / name)]
        same = _is_of(folder, text, there)
        if same:
            _clear(folder)
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


def _check_apart(folder: Path, private: Iterable[str]) -> None:
    """Refuse a folder to hand over that holds what must stay, links followed."""
    within = folder.resolve()
    for written in private:
        if "://" in written:
            continue
        for place in _places(Path(written)):
            named = place.parent.resolve() / place.name  # a link in the folder, wherever it leads
            if named.is_relative_to(within) or place.resolve().is_relative_to(within):
                raise InvalidParameter(
                    f"{folder} is handed over, and {Path(written).name} must stay: it would be inside. Name a folder "
                    "that holds nothing else: -o out/"
                )


def _places(written: Path) -> Iterator[Path]:
    """Yield a path, or the folder that all files of a pattern are in and each of them."""
    plain = next((i for i, part in enumerate(written.parts) if glob.has_magic(part)), None)
    if plain is None:
        yield written
        return
    start = Path(*written.parts[:plain])
    yield start
    yield from start.glob(str(Path(*written.parts[plain:])))


def _is_of(folder: Path, text: str, there: list[str]) -> bool:
    """Return whether what is there is this release: whole, or cut off while its files were moved."""
    if os.path.lexists(folder / MARK):
        return plain_bytes(folder / MARK, 100) == _mark_of(text.encode())
    return CERTIFICATE in there and COPY in there and plain_bytes(folder / COPY, LARGEST) == text.encode()


def _mark_of(text: bytes) -> bytes:
    return sha256(text).hexdigest().encode() + b"\n"


def _clear(folder: Path) -> None:
    """Remove what earlier releases did not finish, where that can be done."""
    for one in folder.iterdir():
        if LEFT.fullmatch(one.name) and one.is_dir() and not one.is_symlink():
            shutil.rmtree(one, ignore_errors=True)


@contextmanager
def filled(folder: Path) -> Iterator[Path]:
    """Give a place to write files, all of which are in the folder when the block ends: the certificate last.

    From the first file that is moved to the last one a mark says which release they are of.
    """
    _clear(folder)
    beside = folder / f".release-{secrets.token_hex(8)}.part"
    beside.mkdir()
    try:
        yield beside
        names = sorted((one.name for one in beside.iterdir()), key=lambda name: (name == CERTIFICATE, name))
        for name in names:
            with (beside / name).open("rb") as file:
                os.fsync(file.fileno())
        if COPY in names:
            _mark(folder, (beside / COPY).read_bytes())
        for name in names:
            (beside / name).replace(folder / name)
        (folder / MARK).unlink(missing_ok=True)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _mark(folder: Path, text: bytes) -> None:
    """Write the mark, whole or not at all, to the disk."""
    part = folder / f".{secrets.token_hex(8)}.part"
    try:
        with part.open("xb") as file:
            file.write(_mark_of(text))
            file.flush()
            os.fsync(file.fileno())
        part.replace(folder / MARK)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a plain file."""
    found = sha256()
    with _plain(path, LARGEST) as file:
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()


def plain_bytes(path: Path, most: int) -> bytes:
    """Return what a plain file of at most so many bytes holds; a pipe or a device is never waited for."""
    with _plain(path, most) as file:
        return file.read(most + 1)


@contextmanager
def _plain(path: Path, most: int) -> Iterator[BufferedReader]:
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(number, "rb") as file:
        found = os.fstat(number)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path.name} is no plain file")
        if found.st_size > most:
            raise OSError(f"{path.name} is too large")
        yield file
