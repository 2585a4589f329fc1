"""What runs without a word: see ``discreet.quietly``."""

from discreet.quietly import Silence, quietly

__all__ = ["Silence", "quietly"]
