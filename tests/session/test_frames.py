"""CSV for people with spreadsheets: no text in it is run or obeyed; the other forms keep every key exactly."""

import pytest

from discreet.accounting import PrivacyLoss
from discreet.session import Answer
from discreet.session.estimates import Estimates


def one(key, name="city"):
    return Answer(
        keys={name: (key,)},
        columns={"n": Estimates(value=(-3,), low=(-9,), high=(3,))},
        level=0.95,
        loss=PrivacyLoss.laplace(0.5),
    )


@pytest.mark.parametrize(
    ("key", "written"),
    [
        ("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""),
        ("+1+1", '"\'+1+1"'),
        ("-2+3", '"\'-2+3"'),
        ("@SUM(A1)", '"\'@SUM(A1)"'),
        ("  =1", '"\'  =1"'),
        ("\t=1", '"\'\\t=1"'),
        ("\rx", '"\'\\rx"'),
        ("a\x1b[31mred", '"a\\x1b[31mred"'),
        ("a\x00b", '"a\\x00b"'),
        ("\u202eabc", '"\\u202eabc"'),
        ("two\nlines", '"two\\nlines"'),
        ("Tromsø", '"Tromsø"'),
        ('a"b', '"a""b"'),
    ],
)
def test_no_text_of_a_csv_is_run_or_obeyed(tmp_path, key, written):
    one(key).to_csv(tmp_path / "a.csv")
    lines = (tmp_path / "a.csv").read_bytes().decode().split("\n")
    assert lines == ['"city","n","n_low","n_high"', f"{written},-3,-9,3", ""]
    assert one(key).to_arrow()["city"].to_pylist() == [key]


def test_names_of_columns_neither(tmp_path):
    one("Oslo", name="=1+1").to_csv(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().startswith('"\'=1+1","n"')
