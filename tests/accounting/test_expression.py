import pytest

from discreet import InvalidParameter, PrivacyLoss
from discreet.accounting.expression import parse_loss


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
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(InvalidParameter):
        parse_loss(text)
