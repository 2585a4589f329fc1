"""Audits of trained models: what one training run proves about its own claim.

>>> import numpy as np
>>> from discreet.accounting import PrivacyLoss
>>> found = audit_training(lambda included: included.astype(float), 200, claims=PrivacyLoss.pure(1))
>>> found.refuted                                   # the scores tell who was there
True
"""

from discreet.auditing.trained.guesses import chance_of_guesses, epsilon_from_guesses
from discreet.auditing.trained.one_run import Guesses, TrainingAudit, audit_training

__all__ = ["Guesses", "TrainingAudit", "audit_training", "chance_of_guesses", "epsilon_from_guesses"]
