"""Where randomness comes from: AES-256-CTR keyed by the operating system's secure generator.

There is no seed. Each thread has its own key; a key is replaced after a fork and after ``WORDS_PER_KEY`` words, and
words that were handed out are erased from the buffer. ``discreet.testing.seeded`` can put another source in place for
the current context; such a source says of itself that it is not private.

Garfinkel and Leclerc, "Randomness Concerns When Deploying Differential Privacy", WPES 2020, say why this matters.
"""

import os
import threading
from contextvars import ContextVar
from typing import NoReturn, Protocol

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

__all__ = ["SecureSource", "Source", "Words", "override", "source"]

Words = npt.NDArray[np.uint64]

BUFFER_WORDS = 1 << 12
WORDS_PER_KEY = 1 << 24
_ZEROS = bytes(1 << 17)


class Source(Protocol):
    """A stream of independent, uniform 64-bit words."""

    @property
    def private(self) -> bool:
        """Whether what is made from these words may be called private."""
        ...

    def words(self, count: int, /) -> Words:
        """Return the next words, as an array that the caller owns."""
        ...


class SecureSource(threading.local):
    """The production source: not seedable, not copyable, safe in threads and after a fork.

    >>> SecureSource().words(3).shape
    (3,)
    """

    private = True

    def __init__(self) -> None:
        self._buffer = np.empty(0, dtype=np.uint64)
        self.rekey()

    def words(self, count: int, /) -> Words:
        """Return ``count`` fresh words."""
        if os.getpid() != self._pid or self._left < count:
            self.rekey()
        self._left -= count
        if count > BUFFER_WORDS // 2:
            return self._generate(count)
        if self._buffer.size < count:
            self._buffer = self._generate(BUFFER_WORDS)
        taken = self._buffer[:count].copy()
        self._buffer[:count] = 0
        self._buffer = self._buffer[count:]
        return taken

    def rekey(self) -> None:
        """Forget the key and the words left over, and take a new key from the operating system."""
        self._pid = os.getpid()
        self._left = WORDS_PER_KEY
        self._buffer = self._buffer[:0]
        secret = os.urandom(48)
        self._cipher: CipherContext = Cipher(algorithms.AES(secret[:32]), modes.CTR(secret[32:])).encryptor()

    def _generate(self, count: int) -> Words:
        return encrypt_zeros(self._cipher, count)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a source of randomness cannot be copied or pickled: two holders would draw the same noise.")


def encrypt_zeros(cipher: CipherContext, count: int) -> Words:
    """Return the next words of a cipher's key stream."""
    words = np.empty(count + 2, dtype=np.uint64)  # the cipher asks for up to a block of room beyond its output
    room = words.data.cast("B")
    for start in range(0, 8 * count, len(_ZEROS)):
        stop = min(start + len(_ZEROS), 8 * count)
        cipher.update_into(_ZEROS[: stop - start], room[start:])
    return words[:count]


_secure = SecureSource()
if hasattr(os, "register_at_fork"):  # process numbers are reused, so that comparing them does not notice every fork
    os.register_at_fork(after_in_child=_secure.rekey)
override: ContextVar[Source | None] = ContextVar("override", default=None)
"""The source that replaces the secure one in the current context; for ``discreet.testing`` alone."""


def source() -> Source:
    """Return the source of the current context: the secure one unless a test replaced it.

    >>> source().private
    True
    """
    return override.get() or _secure
