"""Which questions the weights are likely to answer badly: these are better measured at once.

Kostopoulou, Tholoniat, Cidon, Geambasu and Lecuyer, "Turbo: Effective Caching in Differentially-Private Databases",
SOSP 2023. A comparison that fails is dear, and as long as the weights know nothing every comparison fails. So a
question bypasses it until every combination that it is about has been measured a few times, and more times wherever a
comparison failed after that. This looks at replies alone.
"""

import numpy as np
import numpy.typing as npt

from discreet.synthetic.graphical.factor import Attributes

__all__ = ["Readiness"]

Mask = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]


class Readiness:
    """How often each combination was measured, and how often it should have been.

    >>> ready = Readiness(patience=1)
    >>> mask = np.array([True, False])
    >>> ready.sure((0,), mask), ready.measured((0,), mask), ready.sure((0,), mask)
    (False, None, True)
    >>> ready.failed((0,), mask), ready.sure((0,), mask), ready.sure((0,), ~mask)
    (None, False, False)
    """

    __slots__ = ("_patience", "_seen")

    def __init__(self, patience: int) -> None:
        self._patience = patience
        self._seen: dict[Attributes, Int64] = {}

    def sure(self, attributes: Attributes, mask: Mask) -> bool:
        """Tell whether a question about these combinations may be compared first."""
        seen = self._seen.get(attributes)
        if not mask.any():
            return True
        return not self._patience if seen is None else bool((seen[mask] >= self._patience).all())

    def measured(self, attributes: Attributes, mask: Mask) -> None:
        """Take note of a measurement."""
        self._add(attributes, mask, 1)

    def failed(self, attributes: Attributes, mask: Mask) -> None:
        """Take note of a comparison that failed though all seemed well."""
        self._add(attributes, mask, -1)

    def _add(self, attributes: Attributes, mask: Mask, more: int) -> None:
        seen = self._seen.get(attributes)
        self._seen[attributes] = (np.zeros(mask.shape, dtype=np.int64) if seen is None else seen) + more * mask
