import json
import math
import pickle
import stat

import pytest
import torch
from torch import nn

from discreet.errors import InvalidParameter, UnknownKind
from discreet.learn.sgd import TrainingReport, private, resume, save, train
from discreet.learn.sgd import run as runs
from discreet.learn.sgd.noise import Begun

OPTIMIZERS = [
    lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    lambda p: torch.optim.Adam(p, lr=0.01, betas=(0.8, 0.9)),
    lambda p: torch.optim.Adagrad(p),
]


def built(optimizer=OPTIMIZERS[0], **options):
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    x = torch.randn(40, 3)
    given = {"records": 40, "batch": 10, "steps": 8, "noise_multiplier": 1.0, **options}
    return private(model, optimizer(model.parameters()), (x, x[:, :1]), **given)


def advance(parts, steps):
    for _ in range(steps):
        for x, y in parts.batches.step():
            nn.functional.mse_loss(parts.model(x), y).backward()
            parts.optimizer.step()


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"clipping": "adaptive"},
        *({"sampling": "passes", "strategy": s, "bands": 3} for s in ("independent", "tree", "banded", "square_root")),
    ],
)
def test_a_training_goes_on_as_if_it_had_not_been_stopped(tmp_path, monkeypatch, optimizer, options):
    """Noise and coins are taken away, as they are never the same: everything else must be."""
    monkeypatch.setattr(runs, "begin", lambda total, *rest: Begun(total.round(decimals=3) * rest[-1]))
    monkeypatch.setattr(runs, "on_grid", lambda density, value, scale, grid: value)
    everyone = {"batch": 40, "steps": 8} if "sampling" not in options else {}
    first, second = (built(optimizer, **options, **everyone) for _ in range(2))
    advance(first, 6)
    save(first, tmp_path)
    resume(second, tmp_path)
    for parts in (first, second):
        advance(parts, 2)
    for a, b in zip(first.model.parameters(), second.model.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)
    assert second.run.loss == first.run.loss
    assert [m.step for m in second.run.history] == list(range(1, 9))
    assert second.run.clip == first.run.clip
    assert second.optimizer.param_groups[0]["lr"] == first.optimizer.param_groups[0]["lr"]


def test_secrets_are_for_their_owner_alone(tmp_path):
    parts = built(sampling="passes", strategy="banded")
    advance(parts, 2)
    save(parts, tmp_path)
    assert stat.S_IMODE((tmp_path / "secret.safetensors").stat().st_mode) == 0o600
    assert "places" not in (tmp_path / "training.json").read_text()


class Malicious:
    def __reduce__(self):
        return (print, ("code of a stranger was run",))


@pytest.mark.parametrize("name", ["model", "optimizer", "secret"])
@pytest.mark.parametrize("digest", [True, False])
def test_pickles_are_refused(tmp_path, capsys, name, digest):
    import hashlib

    save(built(), tmp_path)
    bad = pickle.dumps(Malicious())
    (tmp_path / f"{name}.safetensors").write_bytes(bad)
    if digest:
        told = json.loads((tmp_path / "training.json").read_text())
        told["digests"][name] = hashlib.sha256(bad).hexdigest()
        (tmp_path / "training.json").write_text(json.dumps(told))
    with pytest.raises(UnknownKind):
        resume(built(), tmp_path)
    assert "stranger" not in capsys.readouterr().out


def test_other_descriptions_are_refused(tmp_path):
    save(built(), tmp_path)
    told = json.loads((tmp_path / "training.json").read_text())
    for broken in ("", "[]", json.dumps({**told, "version": 9}), json.dumps({**told, "more": 1})):
        (tmp_path / "training.json").write_text(broken)
        with pytest.raises(UnknownKind):
            resume(built(), tmp_path)


def test_only_the_same_plan_is_resumed_and_only_from_the_start(tmp_path):
    save(built(), tmp_path)
    with pytest.raises(InvalidParameter, match="another plan"):
        resume(built(noise_multiplier=0.5), tmp_path)
    begun = built()
    advance(begun, 1)
    with pytest.raises(InvalidParameter, match="begun"):
        resume(begun, tmp_path)


def test_nothing_is_saved_within_a_step(tmp_path):
    parts = built(probe=False)
    next(parts.batches.step())
    with pytest.raises(InvalidParameter, match="between two steps"):
        save(parts, tmp_path)


def test_reports_tell_what_was_spent():
    parts = built()
    train(parts, nn.MSELoss())
    report = TrainingReport.of(parts.run, 1e-5)
    assert report.epsilon == parts.run.plan.loss.epsilon(1e-5)
    assert [step for step, _ in report.spent][-1] == 8
    assert sorted(report.spent) == list(report.spent)
    told = json.loads(report.to_json())
    assert told["plan"]["records"] == 40
    assert len(told["moments"]) == 8
    assert all(math.isfinite(moment["norm"]) for moment in told["moments"])
    for kind in ("epsilon", "norm", "clip"):
        assert report.plot(kind).to_dict()
    with pytest.raises(InvalidParameter):
        report.plot("loss")
    assert TrainingReport.of(built().run, 1e-5).epsilon == 0
