"""Purpose: what is written beside a charge, none of it taken from data."""

from dataclasses import dataclass

from discreet.errors import InvalidParameter

__all__ = ["Purpose"]

LONGEST = 1_000_000
"""Characters of a query that a ledger still takes."""

LONGEST_NAME = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    """Who spends, for what and why.

    ``key`` is the spender's own name for this one charge: a second charge of the same key is the first one.
    ``fingerprint`` is equal for requests of the same: with the same ``version`` of the data, the stored release is
    returned, unless a ``fresh`` one is asked for. ``hold`` is the number of a reservation to spend from. ``private`` is
    False for charges of a test with repeatable noise.

    >>> Purpose(query="SELECT COUNT(*) AS n FROM visits", why="annual report").key is None
    True
    """

    query: str = ""
    why: str = ""
    key: str | None = None
    version: str = "1"
    fingerprint: str = ""
    fresh: bool = False
    private: bool = True
    hold: int | None = None

    def __post_init__(self) -> None:
        for name, most in (("query", LONGEST), ("why", LONGEST_NAME), ("version", LONGEST_NAME), ("key", LONGEST_NAME)):
            text = getattr(self, name)
            if name == "key" and text is None:
                continue
            if not isinstance(text, str) or len(text) > most or "\x00" in text or _broken(text):
                raise InvalidParameter(f"{name} is a text of at most {most:,} characters that can be stored.")
        if self.key == "" or not self.version:
            raise InvalidParameter("a key or a version is not empty: leave it out, or write a name.")

    def check_same(self, fingerprint: str | None, *, settled: bool) -> None:
        """Refuse a key that stands for another request, or for one whose answer was never stored."""
        if fingerprint != self.fingerprint:
            raise InvalidParameter(
                "this key was used for another request, and nothing was charged now. Use a key of its own for each."
            )
        if not settled:
            raise InvalidParameter(
                "this key was charged and has no stored answer: the release is still running or was interrupted. What "
                "was charged stays spent. Wait, or release it again with another key, which is charged again."
            )


def _broken(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)
