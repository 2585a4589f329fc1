"""A uniform real number of which only the first bits are known, and the questions it can answer exactly.

Fast samplers look at 64 bits. Where those do not decide a question, more bits are drawn and the question is put again
in ball arithmetic. The number is refined, never redrawn: redrawing would remove exactly the hard cases and so bias the
result.
"""

from collections.abc import Callable

from flint import arb, ctx, fmpz

from discreet.exact import Precision
from discreet.noise.bits import source

__all__ = ["LazyUniform", "largest"]

WORD = 64


class LazyUniform:
    """A uniform real in [0, 1), known to lie in ``[prefix, prefix + 1) / 2^bits``."""

    __slots__ = ("bits", "prefix")

    def __init__(self, prefix: int = 0, bits: int = 0) -> None:
        self.prefix = prefix
        self.bits = bits

    def refine(self) -> None:
        """Learn 64 more bits."""
        self.prefix = self.prefix << WORD | int(source().words(1)[0])
        self.bits += WORD

    def ball(self) -> arb:
        """Return a ball that holds the number."""
        low = arb(fmpz(self.prefix)) / arb(fmpz(1) << self.bits)
        return low.union(arb(fmpz(self.prefix + 1)) / arb(fmpz(1) << self.bits))

    def below(self, threshold: Callable[[], arb]) -> bool:
        """Decide whether the number lies below a threshold, drawing bits until that is certain.

        The threshold is computed anew at each working precision; it must not depend on this number.

        >>> LazyUniform(prefix=1, bits=2).below(lambda: arb(2).rsqrt())     # [1/4, 1/2) against 0.7071...
        True
        """
        with Precision():
            while True:
                ctx.prec = self.bits + 2 * WORD
                value = threshold()
                unit = arb(fmpz(1) << self.bits)
                if arb(fmpz(self.prefix + 1)) <= value * unit:
                    return True
                if arb(fmpz(self.prefix)) >= value * unit:
                    return False
                self.refine()


def largest(guess: int, holds: Callable[[int], bool]) -> int:
    """Return the largest k for which a monotone condition holds (true up to some k, false beyond), near a guess.

    >>> largest(3, lambda k: k <= 1000), largest(3, lambda k: k <= -1000)
    (1000, -1000)
    """
    step = 1
    if holds(guess):
        low, high = guess, guess + 1
        while holds(high):
            low, high, step = high, high + step, 2 * step
    else:
        low, high = guess - 1, guess
        while not holds(low):
            low, high, step = low - step, low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
