"""Losses written as text: ``gaussian(sigma=1.1).sampled(256/60000) * 14062``.

The text is parsed and built from a list of known words; it is never evaluated as code.
"""

import ast
from collections.abc import Callable
from fractions import Fraction

from discreet.accounting.loss import PrivacyLoss
from discreet.errors import DiscreetError, InvalidParameter
from discreet.exact import Real

__all__ = ["parse_loss"]

LONGEST = 2000
Value = Real | str | PrivacyLoss


def _gaussian(*, sigma: Real = 1, sensitivity: Real = 1) -> PrivacyLoss:
    return PrivacyLoss.gaussian(mu=Fraction(sensitivity) / Fraction(sigma))


def _laplace(epsilon: Real | None = None, *, scale: Real | None = None, sensitivity: Real = 1) -> PrivacyLoss:
    if (epsilon is None) == (scale is None):
        raise InvalidParameter("laplace takes an epsilon or a scale.")
    return PrivacyLoss.laplace(epsilon if scale is None else Fraction(sensitivity) / Fraction(scale))  # type: ignore[arg-type]


def _geometric(epsilon: Real, *, sensitivity: int = 1) -> PrivacyLoss:
    return PrivacyLoss.discrete_laplace(sensitivity=sensitivity, scale=Fraction(sensitivity) / Fraction(epsilon))


def _discrete_gaussian(*, sigma: Real, sensitivity: int = 1) -> PrivacyLoss:
    return PrivacyLoss.discrete_gaussian(squared_sensitivity=sensitivity**2, sigma_squared=Fraction(sigma) ** 2)


WORDS: dict[str, Callable[..., PrivacyLoss]] = {
    "approximate": PrivacyLoss.approximate,
    "discrete_gaussian": _discrete_gaussian,
    "gaussian": _gaussian,
    "geometric": _geometric,
    "laplace": _laplace,
    "pure": PrivacyLoss.pure,
    "randomized_response": PrivacyLoss.randomized_response,
    "zcdp": PrivacyLoss.zcdp,
}
METHODS = ("group", "sampled", "under")


def parse_loss(text: str) -> PrivacyLoss:
    """Return the loss that a text describes.

    >>> parse_loss("52 * geometric(0.5) + gaussian(sigma=20)").is_pure
    False
    >>> parse_loss("__import__('os')")
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: '__import__' is not a loss. Known are approximate, discrete_gaussian, ...
    """
    if len(text) > LONGEST:
        raise InvalidParameter(f"a loss is described in at most {LONGEST} characters.")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        loss = _value(tree.body)
    except (SyntaxError, RecursionError, MemoryError):
        raise InvalidParameter(
            "this is not an expression. Write, say, 10 * laplace(0.1) + gaussian(sigma=5)."
        ) from None
    except (TypeError, ValueError, ZeroDivisionError, AttributeError) as error:
        if isinstance(error, DiscreetError):
            raise
        raise InvalidParameter(f"this does not describe a loss: {error}.") from None
    if not isinstance(loss, PrivacyLoss):
        raise InvalidParameter("this is a number, not a loss. Write, say, laplace(0.1).")
    return loss


def _value(node: ast.expr) -> Value:
    match node:
        case ast.Constant(value=int() | float() | str() as value) if not isinstance(value, bool):
            return Fraction(value) if isinstance(value, int) else value
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _value(left) + _value(right)  # type: ignore[operator]
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _times(_value(left), _value(right))
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return Fraction(_value(left)) / Fraction(_value(right))  # type: ignore[arg-type]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            if name not in WORDS:
                raise InvalidParameter(f"{name!r} is not a loss. Known are {', '.join(WORDS)}.")
            return WORDS[name](*map(_number, args), **{k.arg: _number(k.value) for k in keywords if k.arg})
        case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[argument], keywords=[]):
            if name not in METHODS:
                raise InvalidParameter(f"a loss can be {', '.join(METHODS)}, not {name!r}.")
            loss = _value(inner)
            if not isinstance(loss, PrivacyLoss):
                raise InvalidParameter(f"only a loss can be {name}.")
            result = getattr(loss, name)(_number(argument))
            assert isinstance(result, PrivacyLoss)  # noqa: S101 - all three methods return losses
            return result
    raise InvalidParameter(f"{ast.unparse(node)!r} has no meaning in a description of a loss.")


def _number(node: ast.expr) -> Real | str:
    value = _value(node)
    if isinstance(value, PrivacyLoss):
        raise InvalidParameter("a parameter is a number, not a loss.")
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else value


def _times(left: Value, right: Value) -> Value:
    if isinstance(right, PrivacyLoss):
        left, right = right, left
    if isinstance(left, PrivacyLoss) and isinstance(right, Fraction) and right.denominator == 1:
        return left * int(right)
    if isinstance(left, PrivacyLoss | str) or isinstance(right, PrivacyLoss | str):
        raise InvalidParameter("a loss is repeated a whole number of times.")
    return Fraction(left) * Fraction(right)
