"""Answers to try things on: plain ones, long ones, and hostile ones drawn by hypothesis."""

from datetime import UTC
from fractions import Fraction

from hypothesis import strategies as st

from discreet.accounting import PrivacyLoss
from discreet.session.answer import Answer
from discreet.session.estimates import Estimates

HOSTILE = "<script>alert('x')</script>\"><img src=http://evil.example/x onerror=alert(1)>\x1b[2J\u202e東京"
LOSS = PrivacyLoss.laplace(0.1) + PrivacyLoss.approximate(0.1, 1e-7)


def answer(**changes):
    parts = {
        "keys": {"city": ("Oslo", "東京", None), "year": (2024, 2023, 2024)},
        "columns": {
            "n": Estimates(value=(1234, 98, 7), low=(1228, 92, 0), high=(1240, 104, 13), method="geometric noise"),
            "spend": Estimates(value=(41.25, None, 3.5), low=(40.0, None, 0.0), high=(42.5, None, 90.0)),
        },
        "level": 0.95,
        "loss": LOSS,
        "parameters": {"query": "SELECT city", "delta": 1e-7, "bounds": (0, 500)},
        "notes": ("the interval covers the noise",),
    }
    return Answer(**(parts | changes))


def numbered(rows, **changes):
    values = tuple(range(rows))
    n = Estimates(value=values, low=tuple(x - 3 for x in values), high=tuple(x + 3 for x in values))
    return answer(keys={"k": values}, columns={"n": n}, **changes)


def typed(value):
    """Compare with types: True is no 1, and 0.0 no -0.0."""
    match value:
        case dict():
            return {name: typed(inner) for name, inner in value.items()}
        case list() | tuple():
            return [typed(inner) for inner in value]
        case float():
            return value.hex()
    return type(value), value


KEYS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(10**300), 10**300),
    st.text(),
    st.characters(categories=["Cs"]),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.just(UTC)),
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
PARAMETERS = st.recursive(
    KEYS | FLOATS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text() | st.sampled_from(["date", "integer", "object"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@st.composite
def answers(draw):
    rows = draw(st.integers(0, 6))

    def column(of):
        return st.lists(of, min_size=rows, max_size=rows)

    numbers = draw(st.sampled_from([st.integers(-(10**40), 10**40), FLOATS]))
    value = draw(column(st.none() | numbers) | column(st.none() | st.text()))
    return Answer(
        keys={"key": draw(column(KEYS)), draw(st.sampled_from(["Ünïcode 東", "kind"])): draw(column(KEYS))},
        columns={
            "n": Estimates(
                value=value,
                low=draw(column(st.none() | numbers)),
                high=draw(column(st.none() | numbers)),
                method=draw(st.text()),
                unit_note=draw(st.text()),
                error=draw(st.none() | numbers),
            )
        },
        level=draw(st.floats(0.001, 0.999)),
        loss=draw(st.sampled_from([LOSS, PrivacyLoss.laplace(Fraction(1, 3)), 3 * PrivacyLoss.gaussian(mu=0.1)])),
        parameters=draw(st.dictionaries(st.text(), PARAMETERS, max_size=3)),
        notes=tuple(draw(st.lists(st.text(), max_size=2))),
        private=draw(st.booleans()),
    )
