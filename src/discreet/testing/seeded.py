"""Repeatable noise for tests.

Whoever knows the seed can subtract the noise, so nothing made from it is private; the source says so of itself, and
entering the context warns.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from discreet.errors import InvalidParameter, NotPrivateWarning
from discreet.noise.bits import Words, encrypt_zeros, override

__all__ = ["SeededSource", "seeded"]


class SeededSource:
    """The key stream of AES-256-CTR under the SHA-256 of a seed: the same words for the same seed, everywhere.

    >>> bool((SeededSource(7).words(3) == SeededSource(7).words(3)).all())
    True
    """

    private = False

    def __init__(self, seed: int | str) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int | str):
            raise InvalidParameter(f"seed must be a whole number or a text, got {type(seed).__name__}.")
        key = sha256(repr(seed).encode()).digest()
        self._cipher: CipherContext = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def words(self, count: int, /) -> Words:
        """Return the next ``count`` words of the stream."""
        return encrypt_zeros(self._cipher, count)


@contextmanager
def seeded(seed: int | str, /) -> Iterator[SeededSource]:
    """Make all noise drawn inside the context repeatable, and none of it private.

    Contexts nest; on leaving one, by an exception too, the source from before is back. A thread started inside has a
    context of its own and keeps drawing secure noise.

    >>> from discreet.noise import discrete_laplace
    >>> with warnings.catch_warnings(action="ignore", category=NotPrivateWarning):
    ...     with seeded("a test"):
    ...         first = discrete_laplace(10, size=100)
    ...     with seeded("a test"):
    ...         again = discrete_laplace(10, size=100)
    >>> bool((first == again).all())
    True
    """
    source = SeededSource(seed)
    warnings.warn("seeded noise is for tests: nothing made inside is private.", NotPrivateWarning, stacklevel=3)
    token = override.set(source)
    try:
        yield source
    finally:
        override.reset(token)
