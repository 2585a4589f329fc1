"""Privacy losses as values: what they are made of, what they cost, how they combine.

>>> day = PrivacyLoss.laplace(0.1)
>>> (30 * day).epsilon(), (30 * day).epsilon(delta=1e-6) < 3.0
(3.0000000000..., True)
"""

from discreet.accounting.loss import PrivacyLoss
from discreet.accounting.parallel import parallel

__all__ = ["PrivacyLoss", "parallel"]
