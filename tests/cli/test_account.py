import json

import pytest
from typer.testing import CliRunner

from discreet.cli.app import app


def run(*arguments):
    return CliRunner().invoke(app, ["account", *arguments])


def test_it_prints_the_theorems_and_both_bounds():
    result = run("50 * laplace(0.1)", "--delta", "1e-5")
    assert result.exit_code == 0
    assert "advanced composition" in result.output
    assert "epsilon 2.7966" in result.output


def test_json_is_for_machines():
    record = json.loads(run("gaussian(sigma=1.1).sampled(0.01) * 1000", "--delta", "1e-5", "--json").output)
    assert record["at_least"] <= record["epsilon"] <= record["at_least"] * 1.0001
    assert 1.5 < record["epsilon"] < 1.53


@pytest.mark.parametrize("text", ["__import__('os')", "laplace(-1)", "nonsense"])
def test_a_text_that_is_no_loss_is_a_usage_error(text):
    result = run(text)
    assert result.exit_code == 2
