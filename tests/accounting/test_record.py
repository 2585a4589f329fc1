"""Losses in writing: what is written is read back, anything else is refused, and a repr is the loss."""

import json
import pickle
from fractions import Fraction

import pytest
from accounting_reference import losses
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import PrivacyLoss
from discreet.errors import DiscreetError, UnknownKind

relations = st.sampled_from([None, "add_remove", "replace_one"])


def said(loss, relation):
    return loss if relation is None else loss.under(relation)


@settings(max_examples=200, deadline=None)
@given(losses, relations)
def test_what_is_written_is_read_back(loss, relation):
    loss = said(loss, relation)
    text = loss.to_json()
    assert PrivacyLoss.from_json(text) == loss
    assert PrivacyLoss.from_json(text).to_json() == text


@settings(max_examples=200, deadline=None)
@given(losses, relations)
def test_the_repr_is_the_loss(loss, relation):
    loss = said(loss, relation)
    assert eval(repr(loss), {"PrivacyLoss": PrivacyLoss, "Fraction": Fraction}) == loss


def record(**changes):
    whole = {
        "record": "privacy-loss",
        "version": 1,
        "relation": None,
        "terms": [{"kind": "laplace", "epsilon": "1/2", "count": 1}],
    }
    return json.dumps({**whole, **changes})


def term(**parts):
    return record(terms=[{"count": 1, **parts}])


def test_the_records_of_this_file_can_be_read():
    assert PrivacyLoss.from_json(record()) == PrivacyLoss.laplace(0.5)
    assert PrivacyLoss.from_json(term(kind="pure", epsilon="3")) == PrivacyLoss.pure(3)


REFUSED = {
    "nothing": "",
    "no JSON": "PrivacyLoss.laplace(1)",
    "a number": "1",
    "a list": "[]",
    "another record": record(record="release"),
    "a later version": record(version=2),
    "a version that is true": record(version=True),
    "a version that is 1.0": record(version=1.0),
    "a text as version": record(version="1"),
    "another relation": record(relation="bounded"),
    "a relation that is a list": record(relation=["add_remove"]),
    "another field": record(extra=1),
    "terms that are none": record(terms=None),
    "terms that are text": record(terms="laplace"),
    "a term that is text": record(terms=["laplace"]),
    "a missing count": record(terms=[{"kind": "laplace", "epsilon": "1"}]),
    "a count of zero": term(kind="laplace", epsilon="1", count=0),
    "a negative count": term(kind="laplace", epsilon="1", count=-5),
    "a count of 1.5": term(kind="laplace", epsilon="1", count=1.5),
    "a count that is true": term(kind="laplace", epsilon="1", count=True),
    "an unknown kind": term(kind="staircase", epsilon="1"),
    "a kind that is a list": term(kind=["laplace"], epsilon="1"),
    "no kind": term(epsilon="1"),
    "another parameter": term(kind="laplace", epsilon="1", delta="0"),
    "a missing parameter": term(kind="laplace"),
    "a float": term(kind="laplace", epsilon=0.5),
    "an integer": term(kind="laplace", epsilon=1),
    "NaN": term(kind="laplace", epsilon=float("nan")),
    "NaN in words": term(kind="laplace", epsilon="nan"),
    "infinity": term(kind="laplace", epsilon="inf"),
    "a negative number": term(kind="laplace", epsilon="-1"),
    "a division by zero": term(kind="laplace", epsilon="1/0"),
    "a number that would fill the memory": term(kind="laplace", epsilon="1e999999999"),
    "a number with too many digits": term(kind="laplace", epsilon="9" * 10**5),
    "an integer with too many digits": '{"record": "privacy-loss", "version": 1' + "0" * 10**5 + "}",
    "blanks": term(kind="laplace", epsilon=" 1 "),
    "underscores": term(kind="laplace", epsilon="1_0"),
    "other digits": term(kind="laplace", epsilon="\u0661"),
    "a deep nest": "[" * 10**5,
    "a failure above 1": term(kind="approximate", epsilon="1", failure="5"),
    "one answer": term(kind="randomized_response", epsilon="1", categories=1),
    "no scale": term(kind="discrete_laplace", sensitivity=1, scale="0"),
    "no sigma": term(kind="discrete_gaussian", squared_sensitivity=1, sigma_squared="0", scalar=False),
    "half a sensitivity": term(kind="discrete_laplace", sensitivity=0.5, scale="1"),
    "a sensitivity that is true": term(kind="discrete_laplace", sensitivity=True, scale="1"),
    "scalar in words": term(kind="discrete_gaussian", squared_sensitivity=1, sigma_squared="1", scalar="no"),
    "a pickle": pickle.dumps(PrivacyLoss.laplace(1)),
    "None": None,
    "a loss itself": PrivacyLoss.laplace(1),
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_anything_else_is_refused(text):
    with pytest.raises(DiscreetError):
        PrivacyLoss.from_json(text)


@settings(max_examples=100, deadline=None)
@given(st.text() | st.binary() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_noise_is_refused(text):
    with pytest.raises(UnknownKind):
        PrivacyLoss.from_json(text)


@settings(max_examples=100, deadline=None)
@given(losses.filter(lambda loss: loss.terms), st.data())
def test_losing_a_field_is_noticed(loss, data):
    whole = json.loads(loss.to_json())
    entry = data.draw(st.sampled_from(whole["terms"]))
    del entry[data.draw(st.sampled_from(sorted(entry)))]
    with pytest.raises(UnknownKind):
        PrivacyLoss.from_json(json.dumps(whole))
