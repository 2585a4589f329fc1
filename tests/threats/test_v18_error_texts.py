"""The text of an error must not hold a value from the data.

An exception is shown to whoever asked. A text that quotes the record, the query with its constants or a path gives
away what the noise was to hide, and it needs only one record that cannot be read.

Defence: texts about data are constants but for the name of a type, and chain no exception of another library.
Source: Found while comparing libraries: a privacy layer that passed the messages of its SQL engine on.
"""

import traceback

import numpy as np
import pytest

from discreet.errors import DiscreetError, InvalidInput
from discreet.mechanisms import (
    STAT,
    BoundedCount,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    Quantile,
    RandomizedResponse,
    RandomRecord,
    Warner,
    YesBiased,
)
from discreet.sensitivity import Histogram, Mean, Sum, Variance
from discreet.units import Person, Row

SECRETS = [f"{4711}-x", f"{1508}-y"]  # in two parts: a traceback shows lines of this file
NUMBERS = [4711 * 10**9, 1508 * 10**12]

ON_RECORDS = {
    "Sum": Sum(bounds=(0, 1)),
    "Sum, wide": Sum(bounds=(0, 2**60)),
    "Mean": Mean(bounds=(0, 1), size=2),
    "Variance": Variance(bounds=(0, 1), size=2),
    "Quantile": Quantile(bounds=(0, 1), epsilon=1, relation="add_remove").release,
    "STAT": STAT(query=lambda x: x, size=2, epsilon=1).release,
    "Laplace": Laplace(sensitivity=1, epsilon=1).release,
    "Gaussian": Gaussian(sensitivity=1, sigma=1).release,
    "Geometric": Geometric(sensitivity=1, epsilon=1).release,
    "DiscreteGaussian": DiscreteGaussian(sensitivity=1, sigma=1).release,
    "Exponential": Exponential(epsilon=1).release,
    "RandomizedResponse": RandomizedResponse(epsilon=1).release,
    "Warner": Warner(truth=0.75).release,
    "YesBiased": YesBiased().release,
}
WRAPPED = {
    "text": lambda x: x,
    "bytes": lambda x: str(x).encode(),
    "complex": lambda x: complex(0, hash(x)),
    "mapping": lambda x: {x: x},
    "set": lambda x: {x},
}


def shown(run, data):
    """Return everything of an error that an analyst may see, or None where there is none."""
    try:
        run(data)
    except Exception as error:
        chain = [error.__cause__, None if error.__suppress_context__ else error.__context__]
        return " ".join([type(error).__name__, str(error), repr(error.args), *(repr(e) for e in chain if e)])
    return None


def leaks(run, make, secrets=SECRETS):
    """Tell whether the error differs between values of one type, or holds one."""
    texts = {shown(run, [0, make(secret)]) for secret in secrets}
    return len(texts) > 1 or any(str(secret) in str(text) for secret in secrets for text in texts)


@pytest.mark.parametrize("name", ON_RECORDS)
@pytest.mark.parametrize("kind", WRAPPED)
def test_no_text_holds_a_value(name, kind):
    assert not leaks(ON_RECORDS[name], WRAPPED[kind])
    with pytest.raises(InvalidInput):
        ON_RECORDS[name]([0, WRAPPED[kind](SECRETS[0])])


@pytest.mark.parametrize("name", ["RandomizedResponse", "Warner", "YesBiased"])
def test_numbers_outside_the_answers_are_not_shown(name):
    assert not leaks(ON_RECORDS[name], lambda x: x, NUMBERS)
    assert not leaks(ON_RECORDS[name], lambda x: -x / 7, NUMBERS)


def test_single_values_are_not_shown():
    for run in (BoundedCount(size=3, epsilon=1).release, *(ON_RECORDS[n] for n in ("Laplace", "Geometric"))):
        assert not leaks(lambda data, run=run: run(data[1]), lambda x: x)


def test_the_number_of_records_is_not_shown():
    texts = {shown(RandomRecord(size=3).release, [0] * n) for n in (0, 2, 4, 4711)}
    assert len(texts) == 1
    assert "4711" not in texts.pop()


def test_units_do_not_show_records():
    assert not leaks(lambda rows: Person("user").distance(rows, rows), lambda x: {"name": x})
    assert not leaks(lambda rows: Row().distance(rows, rows), lambda x: [bytearray(x.encode())])


def test_labels_that_cannot_be_looked_up_raise_nothing():
    histogram = Histogram(bins=(0, 1))
    assert histogram([0, *([x] for x in SECRETS), {SECRETS[0]}]).tolist() == [1, 0]


@pytest.mark.parametrize("name", ON_RECORDS)
def test_a_printed_error_shows_no_value_either(name):
    data = [0, SECRETS[0]]
    with pytest.raises(DiscreetError) as caught:
        ON_RECORDS[name](data)
    assert SECRETS[0] not in "".join(traceback.format_exception(caught.value))


def quoting(rows):
    for row in rows:
        if not isinstance(row, int):
            raise InvalidInput(f"every value must be a number, got {row!r}.")


@pytest.mark.parametrize(
    "naive",
    [
        quoting,
        lambda rows: [int(x) for x in rows],
        lambda rows: [{0: 0}[x] for x in rows],
        lambda rows: float(rows[1]),
    ],
)
def test_the_check_catches_texts_that_quote(naive):
    assert leaks(naive, lambda x: x)


def test_the_check_catches_a_chained_exception():
    def chaining(rows):
        try:
            return np.array(rows[1:], dtype=float)
        except ValueError as error:
            raise InvalidInput("every value must be a number.") from error

    assert leaks(chaining, lambda x: x)
