"""Private training of neural networks: DP-SGD on PyTorch.

>>> import torch
>>> from torch import nn
>>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
>>> data = torch.randn(200, 4), torch.randint(0, 2, (200,))
>>> optimizer = torch.optim.Adam(model.parameters())
>>> parts = private(model, optimizer, data, records=200, epsilon=2, delta=1e-5, epochs=2, batch=50)
>>> run = train(parts, nn.CrossEntropyLoss())
>>> print(TrainingReport.of(run, delta=1e-5))
8 of 8 steps, batches of 50 from 200 records (poisson)
clip 1 (flat), noise multiplier 1... (secure, independent)
epsilon 2 at delta 1e-05, add_remove
"""

from discreet.errors import MissingExtra

try:
    import torch as _torch  # noqa: F401
except ImportError:
    raise MissingExtra("torch", "learn") from None

from discreet.learn.sgd.checkpoint import resume, save
from discreet.learn.sgd.plan import Training
from discreet.learn.sgd.private import Private, private, train
from discreet.learn.sgd.replacing import without_batch_norm
from discreet.learn.sgd.report import TrainingReport

__all__ = ["Private", "Training", "TrainingReport", "private", "resume", "save", "train", "without_batch_norm"]
