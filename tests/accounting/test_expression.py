from fractions import Fraction

import pytest

from discreet import InvalidParameter, PrivacyLoss
from discreet.accounting.expression import parse_loss, parse_plan


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("laplace(0.5)", PrivacyLoss.laplace(0.5)),
        ("10 * laplace(scale=2)", 10 * PrivacyLoss.laplace(0.5)),
        ("gaussian(sigma=2) + zcdp(0.125)", PrivacyLoss.gaussian(mu=0.5) + PrivacyLoss.zcdp(0.125)),
        ("gaussian(sigma=2).sampled(1/4) * 100", 100 * PrivacyLoss.gaussian(mu=0.5).sampled(0.25)),
        (
            "geometric(0.5).group(2).under('add_remove')",
            PrivacyLoss.discrete_laplace(sensitivity=2, scale=2).under("add_remove"),
        ),
        ("2 * (pure(1) + approximate(1, 0.001))", 2 * (PrivacyLoss.pure(1) + PrivacyLoss.approximate(1, 0.001))),
        ("1e3 * laplace(0.5)", 1000 * PrivacyLoss.laplace(0.5)),
        ("exponential(0.5) + bounded_range(0.5)", 2 * PrivacyLoss.bounded_range(0.5)),
        ("shuffled(1, 1000)", PrivacyLoss.shuffled(1, 1000)),
        ("tree(1000, 5)", PrivacyLoss.tree(1000, 5)),
        ("tree(steps=1000, noise_multiplier=5)", PrivacyLoss.tree(1000, 5)),
        ("gaussian_mixture([0, 1], [3/4, 1/4])", PrivacyLoss.gaussian_mixture([0, 1], [0.75, 0.25])),
        ("matrix([[1, 0], [1, 1]], 2)", PrivacyLoss.matrix([[1, 0], [1, 1]], 2)),
        ("renyi_curve([(2, 0.1), (8, 0.4)])", PrivacyLoss.renyi_curve([(2, 0.1), (8, 0.4)])),
        ("pair([3/4, 1/4], [1/4, 3/4])", PrivacyLoss.from_pair([0.75, 0.25], [0.25, 0.75])),
        (
            "pure(1).sampled(1/10, scheme='without_replacement')",
            PrivacyLoss.pure(1).sampled(Fraction(1, 10), scheme="without_replacement"),
        ),
        (
            "gaussian(sigma=2).sampled(1/4).group(2, one_way=True)",
            PrivacyLoss.gaussian(mu=0.5).sampled(0.25).group(2, one_way=True),
        ),
        ("discrete_gaussian(sigma=3)", PrivacyLoss.discrete_gaussian(squared_sensitivity=1, sigma_squared=9)),
    ],
)
def test_what_is_written_is_what_is_meant(text, loss):
    assert parse_loss(text) == loss


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "1 +",
        "laplace",
        "open('x')",
        "().__class__",
        "laplace(1).terms",
        "laplace(1).__init__(2)",
        "laplace(-1)",
        "laplace(1) * 1.5",
        "laplace(1) - laplace(1)",
        "laplace(1)**2",
        "[laplace(1)]",
        "lambda: 1",
        "laplace(laplace(1))",
        "laplace(1/0)",
        "laplace(epsilon='x')",
        "laplace(1, 2, 3)",
        "gaussian(wrong=1)",
        "True * laplace(1)",
        "9" * 5000,
        "9" * 1900 + " * laplace(1)",
        "10**10**10 * laplace(1)",
        "laplace(1) * 1000000000000 * 10",
        "1e999 * laplace(1)",
        "laplace(1e999 / 2)",
        "laplace(1/" + "9" * 1500 + ")",
        "(" * 900 + "1" + ")" * 900,
        "-" * 1900 + "1",
        "1" + "+1" * 900,
        "laplace(1)" + ".group(2)" * 220 + ".x",
        "laplace(1)\0",
        "laplace(*[1])",
        "laplace(0.1, **{})",
        "laplace([1])",
        "laplace(True)",
        "gaussian(sigma=0)",
        "gaussian(sigma=-1)",
        "geometric(0)",
        "f'{laplace(1)}'",
        "gaussian_mixture([0, [1]], [1, 2])",
        "gaussian_mixture([], [])",
        "renyi_curve([1, 2])",
        "matrix([[1], [1, 2]], 1)",
        "tree('a', 1)",
        "laplace(1).sampled(0.1, scheme='magic')",
        "laplace(1).sampled(0.1, plot=1)",
        "laplace(1).plot('profile')",
        "laplace(1).from_json('x')",
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(InvalidParameter):
        parse_loss(text)


@pytest.mark.parametrize(
    ("text", "step", "count"),
    [
        ("gaussian(sigma=2) * 100", PrivacyLoss.gaussian(mu=0.5), 100),
        ("3 * (gaussian(sigma=2).sampled(1/4) * 5)", PrivacyLoss.gaussian(mu=0.5).sampled(0.25), 15),
        ("1e2 * laplace(1)", PrivacyLoss.laplace(1), 100),
        ("laplace(1)", PrivacyLoss.laplace(1), 1),
        ("20 * laplace(1) + 10 * pure(1)", 2 * PrivacyLoss.laplace(1) + PrivacyLoss.pure(1), 10),
        ("0 * laplace(1)", PrivacyLoss(), 1),
    ],
)
def test_a_plan_is_repeated_as_it_is_written(text, step, count):
    assert parse_plan(text) == (step, count)
    assert count * step == parse_loss(text)


def test_what_is_wrong_with_a_number_is_said():
    with pytest.raises(InvalidParameter, match="sigma must be above 0"):
        parse_loss("gaussian(sigma=0)")
    with pytest.raises(InvalidParameter, match="a number is too long"):
        parse_loss("9" * 1900 + " * laplace(1)")
