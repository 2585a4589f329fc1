"""Configurations of other libraries: read as they are written, judged by certified bounds, refused with advice."""

import json
from fractions import Fraction

import pytest
from typer.testing import CliRunner

from discreet import PrivacyLoss, noise_multiplier
from discreet.accounting.theorems import renyi_epsilon
from discreet.cli.app import app
from discreet.cli.configuration import read_configuration
from discreet.cli.events import parse_event
from discreet.cli.verdict import judge
from discreet.errors import DiscreetError

SGD = {"sample_rate": 0.01, "noise_multiplier": 1.1, "steps": 1000, "delta": 1e-5}
EVENT = (
    "SelfComposedDpEvent(event=PoissonSampledDpEvent(sampling_probability=0.01, "
    "event=GaussianDpEvent(noise_multiplier=1.1)), count=1000)"
)


def loss(noise=1.1, rate=0.01, steps=1000):
    return steps * PrivacyLoss.gaussian(mu=1 / Fraction(noise)).sampled(rate)


def run(*arguments):
    return CliRunner().invoke(app, ["account", *arguments])


def written(folder, settings, name="run.json"):
    path = folder / name
    path.write_text(settings if isinstance(settings, str) else json.dumps(settings), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("run.json", SGD),
        ("run.json", {**SGD, "max_grad_norm": 1.0, "accountant": "PRV", "poisson_sampling": True}),
        ("run.json", {"mechanism": "rdp", "history": [[1.1, 0.01, 600], [1.1, 0.01, 400]], "delta": 1e-5}),
        ("run.json", {"event": EVENT, "delta": 1e-5}),
        ("run.json", {"sampling_probability": 0.01, "noise_multiplier": 1.1, "epochs": 10, "target_delta": 1e-5}),
        ("run.toml", "sample_rate = 0.01\nnoise_multiplier = 1.1\nsteps = 1000\ndelta = 1e-5\n"),
        ("event.txt", EVENT.replace("0.01", "np.float64(0.01)").replace("Gaussian", "dp_accounting.Gaussian")),
    ],
)
def test_every_form_describes_the_same_run(tmp_path, name, settings):
    found = read_configuration(written(tmp_path, settings, name), delta=1e-5)
    assert found.loss() == loss()
    assert found.delta == 1e-5


def test_a_batch_of_a_data_set_is_a_rate(tmp_path):
    settings = {"batch_size": 256, "dataset_size": 60000, "noise_multiplier": 1.1, "epochs": 60, "delta": 1e-5}
    found = read_configuration(written(tmp_path, settings))
    assert found.loss() == loss(rate=Fraction(256, 60000), steps=14063)
    assert found.people == 60000


def test_the_noise_is_found_for_a_target(tmp_path):
    settings = {"sample_rate": 0.01, "steps": 1000, "target_epsilon": 2, "delta": 1e-5}
    found = read_configuration(written(tmp_path, settings))
    assert found.noises == (noise_multiplier(rate=0.01, steps=1000, epsilon=2, delta=1e-5),)
    assert found.loss().epsilon(1e-5) <= 2


def test_the_verdict_in_json(tmp_path):
    record = json.loads(run("--config", str(written(tmp_path, SGD)), "--json").output)
    low, high = loss().bounds(1e-5)
    assert (record["at_least"], record["epsilon"]) == (low, high)
    renyi = renyi_epsilon(loss().renyi, 1e-5).epsilon
    assert record["renyi"] == pytest.approx(renyi, rel=1e-9)
    (noise,) = record["noise_for_the_renyi_epsilon"]
    assert 1.02 < noise < 1.05
    assert record["noise_saved"] == pytest.approx(1 - noise / 1.1)
    assert loss(noise).epsilon(1e-5) <= record["renyi"] < loss(noise * 0.9999).epsilon(1e-5)
    assert record["warnings"] == []


def test_a_claim_below_the_truth_is_called_one(tmp_path):
    """What Opacus 1.6's GDP accountant says of its own issue 643; the truth lies between 1.9608 and 1.9609."""
    state = {"mechanism": "gdp", "history": [[3, 0.2, 50]], "delta": 1 / 48000}
    claimed = run("--config", str(written(tmp_path, {**state, "epsilon": 1.838478})))
    assert "WARNING: The reported epsilon 1.83848 is below 1.9608, which is certain" in claimed.output
    assert "Report 1.9609" in claimed.output
    silent = run("--config", str(written(tmp_path, state)))
    assert "would report about 1.838" in silent.output
    honest = run("--config", str(written(tmp_path, {**state, "mechanism": "rdp", "epsilon": 2.169})))
    assert "WARNING" not in honest.output
    assert "11% more than it costs" in honest.output


def test_a_schedule_of_many_settings_is_judged_without_a_search(tmp_path, monkeypatch):
    history = [[1.0, 0.01, 75], [1.2, 0.01, 75]]
    schedule = read_configuration(written(tmp_path, {"mechanism": "prv", "history": history, "delta": 1e-5}))
    monkeypatch.setattr("discreet.cli.verdict.MANY", 1)
    monkeypatch.setattr("discreet.cli.verdict.MOST_SEARCHED", 1)
    found = judge(schedule)
    assert schedule.steps == 150
    assert loss(1.2, steps=150).bounds(1e-5)[0] < found.lower <= found.epsilon < loss(1.0, steps=150).epsilon(1e-5)
    free = renyi_epsilon(schedule.loss().renyi, 1e-5).epsilon
    assert free <= found.renyi < 1.001 * free
    assert found.factor is None


def test_a_missed_target_is_said_with_the_noise_that_meets_it(tmp_path):
    record = json.loads(run("--config", str(written(tmp_path, {**SGD, "target_epsilon": 1})), "--json").output)
    assert "missed" in record["warnings"][0]
    (noise,) = record["noise_for_the_target"]
    assert noise > 1.1
    assert loss(noise).epsilon(1e-5) <= 1


def test_the_warning_reaches_the_page_and_names_stay_text(tmp_path):
    state = {"mechanism": "gdp", "history": [[30, 1, 50]], "delta": 1e-5, "epsilon": 0.5, "dataset_size": 900}
    page = tmp_path / "page.html"
    result = run("--config", str(written(tmp_path, state, "a & <b>.json")), "--plot", str(page), "--json")
    record, text = json.loads(result.stdout), page.read_text(encoding="utf-8")
    assert record["page"] == str(page)
    assert record["epsilon"] == (50 * PrivacyLoss.gaussian(mu=Fraction(1, 30))).epsilon(1e-5)
    assert "Not what was claimed" in text
    assert "a &amp; &lt;b&gt;.json: 50 steps, noise multiplier 30" in text
    assert "among 900 people" in text


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("{", "is not JSON"),
        ("[1]", "a table of settings"),
        ('{"delta": 1e-5, "delta": 1e-6}', "stands twice"),
        ("[" * 100_000, "nested too deeply"),
        ({}, "the sampling rate is missing"),
        ({**SGD, "lr": 0.1}, "'lr' is not a setting that is known here"),
        ({**SGD, "sampling_probability": 0.01}, "mean the same"),
        ({**SGD, "batch_size": 10}, "write one of them"),
        ({**SGD, "epochs": 3}, "said once, by steps or by epochs"),
        ({**SGD, "steps": 0}, "steps must be above 0"),
        ({**SGD, "steps": 10.5}, "steps must be a whole number"),
        ({**SGD, "steps": 1e300}, "steps must be a whole number"),
        ({**SGD, "sample_rate": 2}, "sample_rate must lie"),
        ({**SGD, "sample_rate": "0.01"}, "sample_rate must be a number"),
        ({**SGD, "noise_multiplier": 0}, "noise_multiplier must be above 0"),
        ('{"sample_rate": 0.1, "noise_multiplier": NaN, "steps": 1, "delta": 1e-5}', "must be a finite number"),
        ({**SGD, "delta": 1}, "delta must lie"),
        ({**SGD, "accountant": "magic"}, "accountant must be one of"),
        ({**SGD, "poisson_sampling": False}, "sample that way"),
        ({**SGD, "history": [[1, 0.1, 1]]}, "describe the run twice"),
        ({key: SGD[key] for key in ("sample_rate", "steps", "delta")}, "noise_multiplier is missing"),
        ({key: SGD[key] for key in ("sample_rate", "steps", "noise_multiplier")}, "delta is missing"),
        ({"batch_size": 10, "dataset_size": 5, "noise_multiplier": 1, "steps": 1, "delta": 0.1}, "must not exceed"),
        ({"history": [], "delta": 1e-5}, "history must list"),
        ({"history": [[1.1, 0.01]], "delta": 1e-5}, "entry 1 is not of that form"),
        ({"history": [[1.1, 0.01, 5], [1, 2, 3]], "delta": 1e-5}, "sample_rate in entry 2"),
        ({"event": 3, "delta": 1e-5}, "repr(event)"),
        ({"event": "os.system('true')", "delta": 1e-5}, "an event must be one of"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_write(tmp_path, settings, words):
    result = run("--config", str(written(tmp_path, settings)))
    assert result.exit_code == 2
    assert words in " ".join(result.output.split())
    assert "Traceback" not in result.output


def test_files_of_other_kinds(tmp_path):
    for name, content, words in (
        ("run.yaml", "steps: 1", "Write the same settings as JSON or TOML"),
        ("run.toml", "= 1", "is not TOML"),
    ):
        assert words in run("--config", str(written(tmp_path, content, name))).output
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    assert "is not text" in run("--config", str(tmp_path / "bytes.json")).output
    assert "cannot be read" in run("--config", str(tmp_path / "nothing.json")).output


def test_events_compose_and_sample_like_losses():
    gaussian, laplace = "GaussianDpEvent(noise_multiplier=2.0)", "LaplaceDpEvent(noise_multiplier=10)"
    both = parse_event(f"ComposedDpEvent(events=[{gaussian}, SelfComposedDpEvent({laplace}, 3), NoOpDpEvent()])")
    assert both.step(Fraction(1)) == PrivacyLoss.gaussian(mu=0.5) + 3 * PrivacyLoss.laplace(Fraction(1, 10))
    assert both.step(Fraction(2)) == PrivacyLoss.gaussian(mu=0.25) + 3 * PrivacyLoss.laplace(Fraction(1, 20))
    assert both.noises == (2.0, 10.0)
    nested = parse_event(f"SelfComposedDpEvent(SelfComposedDpEvent({gaussian}, 5), count=7)")
    assert nested.count == 35
    known = parse_event("EpsilonDeltaDpEvent(epsilon=1, delta=1/1000)")
    assert known.fixed
    assert known.step(Fraction(5)) == PrivacyLoss.approximate(1, Fraction(1, 1000))
    batch = parse_event(f"PoissonSampledDpEvent(0.1, SelfComposedDpEvent({gaussian}, 4))")
    assert batch.step(Fraction(1)) == PrivacyLoss.gaussian(mu=1).sampled(0.1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "__import__('os').system('true')",
        "GaussianDpEvent()",
        "GaussianDpEvent(1, 2)",
        "GaussianDpEvent(sigma=1)",
        "GaussianDpEvent(1, noise_multiplier=1)",
        "GaussianDpEvent(-1)",
        "GaussianDpEvent(**{'noise_multiplier': 1})",
        "GaussianDpEvent(10**10**10)",
        "GaussianDpEvent(1e999)",
        "GaussianDpEvent(1/0)",
        "GaussianDpEvent(open('x'))",
        "SelfComposedDpEvent(GaussianDpEvent(1), 1.5)",
        "SelfComposedDpEvent(GaussianDpEvent(1), 1e40)",
        "SelfComposedDpEvent(SelfComposedDpEvent(LaplaceDpEvent(1), 1e12), 2)",
        "SelfComposedDpEvent(ComposedDpEvent([SelfComposedDpEvent(LaplaceDpEvent(1), 1e12)]), 2)",
        "PoissonSampledDpEvent(2, GaussianDpEvent(1))",
        "PoissonSampledDpEvent(0.1, ComposedDpEvent([GaussianDpEvent(1), LaplaceDpEvent(1)]))",
        "ComposedDpEvent(GaussianDpEvent(1))",
        "SampledWithoutReplacementDpEvent(100, 10, GaussianDpEvent(1))",
        "SelfComposedDpEvent(" * 3000 + "1",
        "9" * 100_001,
    ],
)
def test_what_is_no_event_is_refused_and_never_run(text):
    with pytest.raises(DiscreetError):
        parse_event(text)
