"""Losses written as text: ``gaussian(sigma=1.1).sampled(256/60000) * 14062``.

The text is parsed and built from a list of known words; it is never evaluated as code. ``exponential`` is
``bounded_range``: the exponential mechanism tuned for epsilon has losses of that range.
"""

import ast
import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from discreet.accounting.loss import PrivacyLoss
from discreet.errors import DiscreetError, InvalidParameter
from discreet.exact import Real, finite, positive

__all__ = ["parse_loss", "parse_plan"]

LONGEST = 2000
Value = Real | str | PrivacyLoss
Parameter = Real | str | bool | list["Parameter"]


def _gaussian(*, sigma: Real = 1, sensitivity: Real = 1) -> PrivacyLoss:
    return PrivacyLoss.gaussian(mu=finite(sensitivity, "sensitivity") / positive(sigma, "sigma"))


def _laplace(epsilon: Real | None = None, *, scale: Real | None = None, sensitivity: Real = 1) -> PrivacyLoss:
    if (epsilon is None) == (scale is None):
        raise InvalidParameter("laplace takes an epsilon or a scale.")
    if scale is not None:
        epsilon = finite(sensitivity, "sensitivity") / positive(scale, "scale")
    return PrivacyLoss.laplace(epsilon)  # type: ignore[arg-type]


def _geometric(epsilon: Real, *, sensitivity: int = 1) -> PrivacyLoss:
    return PrivacyLoss.discrete_laplace(sensitivity=sensitivity, scale=sensitivity / positive(epsilon, "epsilon"))


def _discrete_gaussian(*, sigma: Real, sensitivity: int = 1) -> PrivacyLoss:
    return PrivacyLoss.discrete_gaussian(
        squared_sensitivity=sensitivity**2, sigma_squared=positive(sigma, "sigma") ** 2
    )


WORDS: dict[str, Callable[..., PrivacyLoss]] = {
    "approximate": PrivacyLoss.approximate,
    "bounded_range": PrivacyLoss.bounded_range,
    "discrete_gaussian": _discrete_gaussian,
    "exponential": PrivacyLoss.bounded_range,
    "gaussian": _gaussian,
    "gaussian_mixture": PrivacyLoss.gaussian_mixture,
    "geometric": _geometric,
    "laplace": _laplace,
    "matrix": PrivacyLoss.matrix,
    "pair": PrivacyLoss.from_pair,
    "pure": PrivacyLoss.pure,
    "randomized_response": PrivacyLoss.randomized_response,
    "renyi_curve": PrivacyLoss.renyi_curve,
    "shuffled": PrivacyLoss.shuffled,
    "tree": PrivacyLoss.tree,
    "zcdp": PrivacyLoss.zcdp,
}
METHODS = ("group", "sampled", "under")
MOST_COPIES = 10**12
MOST_BITS = 4096
"""Numbers that need more are refused: nobody means them, and arithmetic on them would not end."""


def parse_loss(text: str) -> PrivacyLoss:
    """Return the loss that a text describes.

    >>> parse_loss("52 * geometric(0.5) + gaussian(sigma=20)").is_pure
    False
    >>> parse_loss("__import__('os')")
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: '__import__' is not a loss. Known are approximate, ...
    """
    return _parse(text, _loss)


def parse_plan(text: str) -> tuple[PrivacyLoss, int]:
    """Return what is repeated and how often, as it is written; a sum is repeated as often as all its parts are.

    >>> parse_plan("100 * gaussian(sigma=2)")
    (PrivacyLoss.gaussian(mu_squared=0.25), 100)
    >>> parse_plan("20 * laplace(0.5) + 10 * pure(1)")
    (2 * PrivacyLoss.laplace(epsilon=0.5) + PrivacyLoss.pure(epsilon=1), 10)
    """
    return _parse(text, _plan)


T = TypeVar("T")


def _parse(text: str, build: Callable[[ast.expr], T]) -> T:
    if len(text) > LONGEST:
        raise InvalidParameter(f"a loss is described in at most {LONGEST} characters.")
    try:
        return build(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, RecursionError, MemoryError):
        raise InvalidParameter(
            "this is not an expression. Write, say, 10 * laplace(0.1) + gaussian(sigma=5)."
        ) from None
    except (TypeError, ValueError, ArithmeticError, AttributeError) as error:
        if isinstance(error, DiscreetError):
            raise
        raise InvalidParameter(f"this does not describe a loss: {error}.") from None


def _loss(node: ast.expr) -> PrivacyLoss:
    loss = _value(node)
    if not isinstance(loss, PrivacyLoss):
        raise InvalidParameter("this is a number, not a loss. Write, say, laplace(0.1).")
    return loss


def _plan(node: ast.expr) -> tuple[PrivacyLoss, int]:
    whole = _loss(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for factor, rest in ((node.left, node.right), (node.right, node.left)):
            count = _value(factor)
            if not isinstance(count, PrivacyLoss | str) and count >= 1:
                step, inner = _plan(rest)
                return step, inner * int(count)
    common = math.gcd(*(count for _, count in whole.terms)) or 1
    terms = tuple((term, count // common) for term, count in whole.terms)
    return PrivacyLoss(terms, whole.relation, whole.grouped, whole.reduced), common


def _value(node: ast.expr) -> Value:
    match node:
        case ast.Constant(value=int() | float() | str() as value) if not isinstance(value, bool):
            return _small(Fraction(value)) if isinstance(value, int) else value
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _value(left) + _value(right)  # type: ignore[operator]
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _times(_value(left), _value(right))
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _small(Fraction(_value(left)) / Fraction(_value(right)))  # type: ignore[arg-type]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            if name not in WORDS:
                raise InvalidParameter(f"{name!r} is not a loss. Known are {', '.join(WORDS)}.")
            return WORDS[name](*map(_parameter, args), **_named(keywords))
        case ast.Call(func=ast.Attribute(value=inner, attr=name), args=args, keywords=keywords):
            if name not in METHODS:
                raise InvalidParameter(f"a loss can be {', '.join(METHODS)}, not {name!r}.")
            loss = _value(inner)
            if not isinstance(loss, PrivacyLoss):
                raise InvalidParameter(f"only a loss can be {name}.")
            result = getattr(loss, name)(*map(_parameter, args), **_named(keywords))
            assert isinstance(result, PrivacyLoss)  # noqa: S101 - these methods return losses
            return result
    raise InvalidParameter(f"{_shown(node)} has no meaning in a description of a loss.")


def _named(keywords: list[ast.keyword]) -> dict[str, Parameter]:
    if any(keyword.arg is None for keyword in keywords):
        raise InvalidParameter("parameters are written one by one: ** has no meaning here.")
    return {keyword.arg: _parameter(keyword.value) for keyword in keywords if keyword.arg}


def _parameter(node: ast.expr) -> Parameter:
    """Return a number, a word, yes or no, or a list of them."""
    if isinstance(node, ast.List | ast.Tuple):
        return [_parameter(entry) for entry in node.elts]
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return node.value
    value = _value(node)
    if isinstance(value, PrivacyLoss):
        raise InvalidParameter("a parameter is a number, not a loss.")
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else value


def _times(left: Value, right: Value) -> Value:
    if isinstance(right, PrivacyLoss):
        left, right = right, left
    if isinstance(left, PrivacyLoss) and isinstance(right, Fraction | float) and right == right // 1:
        if right > MOST_COPIES or any(count * right > MOST_COPIES for _, count in left.terms):
            raise InvalidParameter(f"a loss is repeated at most {MOST_COPIES:,} times.")
        return left * int(right)
    if isinstance(left, PrivacyLoss | str) or isinstance(right, PrivacyLoss | str):
        raise InvalidParameter("a loss is repeated a whole number of times.")
    return _small(Fraction(left) * Fraction(right))


def _small(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise InvalidParameter("a number is too long. Write it rounded, as 1e6 or 256/60000.")
    return value


def _shown(node: ast.expr) -> str:
    text = ast.unparse(node)
    return repr(text if len(text) <= 60 else text[:57] + "...")
