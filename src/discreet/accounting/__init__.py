"""Privacy losses as values: what they are made of, what they cost, how they combine.

>>> day = PrivacyLoss.laplace(0.1)
>>> (30 * day).epsilon(), (30 * day).epsilon(delta=1e-6) < 3.0
(3.0000000000..., True)

A plan whose mechanisms and parameters are all declared beforehand is one ``PrivacyLoss`` and is accounted as tightly
as numbers allow. Where parameters are chosen on the way, after seeing earlier answers, that accounting does not hold:
open a ``Budget``, whose filters are valid then.
"""

from discreet.accounting.budget import Account, Budget
from discreet.accounting.calibration import calibrate, noise_multiplier
from discreet.accounting.loss import PrivacyLoss
from discreet.accounting.parallel import parallel
from discreet.accounting.routes import Routes, routes

__all__ = ["Account", "Budget", "PrivacyLoss", "Routes", "calibrate", "noise_multiplier", "parallel", "routes"]
