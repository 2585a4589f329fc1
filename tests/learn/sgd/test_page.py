"""What the page about private training shows is run as it stands there."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "sgd.md"


@pytest.fixture(scope="module")
def shown():
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    return names


def test_the_ten_lines_train_a_model_within_their_budget(shown):
    assert shown["report"].steps == shown["report"].plan.steps
    assert shown["report"].epsilon <= 3
    right = (shown["model"](shown["x"]).argmax(1) == shown["y"]).float().mean()
    assert right > 0.75


def test_the_numbers_on_the_page_are_right(shown):
    assert shown["plan"].loss.epsilon(1e-5) == pytest.approx(2.382, abs=1e-3)
    growth = shown["error_growth"]
    assert growth("independent", 256) / growth("square_root", 256) == pytest.approx(4.2, abs=0.05)
    from discreet.learn.sgd.rounding import largest_batch

    assert largest_batch(shown["plan"].rounding) == 264
    calibrated = shown["Training"].calibrated(records=60_000, epochs=15, epsilon=3, delta=1e-5, batch=256)
    assert calibrated.noise_multiplier == pytest.approx(0.728, abs=1e-3)


def test_the_saved_training_went_on_to_its_end(shown):
    assert shown["parts"].run.finished == 5
    assert shown["later"].run.finished == shown["later"].run.plan.steps == 20


def test_its_pictures_are_there():
    for name in re.findall(r"\]\((\w+\.svg)\)", PAGE.read_text(encoding="utf-8")):
        assert "<svg" in (PAGE.parent / name).read_text(encoding="utf-8")
