import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset, WeightedRandomSampler

from discreet.errors import InvalidParameter
from discreet.learn.sgd import Training
from discreet.learn.sgd.data import records_of
from discreet.learn.sgd.sampling import Sampler


def test_poisson_batches_have_the_binomial_law(repeatable):
    sampler = Sampler(Training(records=400, batch=20, steps=10, noise_multiplier=1), 400)
    drawn = [sampler.draw(0) for _ in range(2000)]
    sizes = np.array([len(batch) for batch in drawn])
    assert abs(sizes.mean() - 20) < 4 * (19 / 2000) ** 0.5
    assert abs(sizes.var() - 19) < 4
    seen = np.bincount(np.concatenate(drawn), minlength=400) / 2000
    assert np.abs(seen - 0.05).max() < 5 * (0.05 * 0.95 / 2000) ** 0.5


def test_rate_is_of_the_declared_records(repeatable):
    plan = Training(records=1000, batch=500, steps=10, noise_multiplier=1)
    sizes = [len(Sampler(plan, 100).draw(0)) for _ in range(300)]
    assert 45 < np.mean(sizes) < 55


def test_batches_come_in_random_order(repeatable):
    sampler = Sampler(Training(records=100, batch=100, steps=10, noise_multiplier=1), 100)
    first = [int(sampler.draw(0)[0]) for _ in range(300)]
    assert len(set(first)) > 80


@pytest.mark.parametrize(("strategy", "same"), [("independent", False), ("tree", False), ("banded", True)])
def test_every_record_has_one_turn_in_a_pass(strategy, same):
    plan = Training(records=90, batch=10, steps=27, noise_multiplier=1, sampling="passes", strategy=strategy)
    sampler = Sampler(plan, 90)
    turns = []
    for start in (0, 9, 18):
        drawn = [sampler.draw(step) for step in range(start, start + 9)]
        assert sorted(np.concatenate(drawn)) == list(range(90))
        turns.append({int(record): turn for turn, batch in enumerate(drawn) for record in batch})
    assert (turns[0] == turns[1] == turns[2]) is same


def test_torch_seeds_have_no_effect():
    sampler = Sampler(Training(records=1000, batch=500, steps=10, noise_multiplier=1), 1000)
    drawn = []
    for _ in range(2):
        torch.manual_seed(0)
        np.random.seed(0)  # noqa: NPY002
        drawn.append(sorted(sampler.draw(0)))
    assert drawn[0] != drawn[1]


class Flow(IterableDataset):
    def __iter__(self):
        return iter(())


def test_loaders_with_samplers_of_their_own_are_refused():
    data = TensorDataset(torch.zeros(8, 2))
    loaders = [
        DataLoader(data, batch_size=4, shuffle=True),
        DataLoader(data, batch_size=4, sampler=WeightedRandomSampler([1.0] * 8, 8)),
    ]
    for loader in [*loaders, Flow(), 7, [], (torch.zeros(3), torch.zeros(4))]:
        with pytest.raises(InvalidParameter):
            records_of(loader)


class Pairs:
    def __len__(self):
        return 5

    def __getitem__(self, i):
        return {"x": torch.full((2,), float(i)), "y": i}


@pytest.mark.parametrize("index", [[], [3], [4, 0, 1]])
def test_batches_are_padded_with_zeros(index):
    places = np.array(index, dtype=np.int64)
    tensors = records_of((torch.arange(1.0, 6.0), np.arange(10).reshape(5, 2)))
    a, b = tensors.take(places, 4)
    assert a.shape == (4,)
    assert b.shape == (4, 2)
    assert a[: len(index)].tolist() == [i + 1.0 for i in index]
    assert not a[len(index) :].any()
    batch = records_of(Pairs()).take(places, 4)
    assert batch["y"].tolist() == index + [0] * (4 - len(index))
