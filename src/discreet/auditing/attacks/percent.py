"""Shares in words that claim no more than was counted."""

__all__ = ["percent"]


def percent(share: float) -> str:
    """Write a share; only what is all or nothing is called so.

    >>> percent(0.874), percent(0.995), percent(0.9996), percent(0.0004), percent(1.0), percent(0.0)
    ('87 percent', '99.5 percent', 'more than 99.9 percent', 'less than 0.1 percent', '100 percent', '0 percent')
    """
    if 0 < share < 0.001:
        return "less than 0.1 percent"
    if 0.999 < share < 1:
        return "more than 99.9 percent"
    middle = 0.02 <= share <= 0.98 or share in (0, 1)
    return f"{100 * share:.0f} percent" if middle else f"{100 * share:.1f} percent"
