"""Files as they come: every one is read, or refused with a sentence that helps."""

import csv

import pytest

from discreet.auditing.attacks.tables import table_of
from discreet.errors import InvalidInput


def written(tmp_path, content, name="people.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def codes(table):
    return {column.name: column.codes.tolist() for column in table.columns}


PLAIN = {"age": [0, 1, 0], "sex": [0, 0, 1]}


@pytest.mark.parametrize(
    "content",
    [
        "age,sex\n31,f\n40,f\n31,m\n",
        "age;sex\n31;f\n40;f\n31;m\n",
        "age\tsex\r\n31\tf\r\n40\tf\r\n31\tm\r\n",
        "age|sex\n31|f\n40|f\n31|m",
        b"\xef\xbb\xbfage,sex\n31,f\n40,f\n31,m\n",
        "age,sex\n31,f\n40,f\n31,m\n".encode("utf-16"),
        '"age","sex"\n"31","f"\n"40","f"\n"31","m"\n',
        "age,sex\n\n31,f\n\n40,f\n31,m\n\n",
    ],
    ids=["commas", "semicolons", "tabs", "bars", "mark", "utf-16", "quotes", "blank lines"],
)
def test_one_table_in_many_dresses(tmp_path, content):
    table = table_of(written(tmp_path, content))
    assert codes(table) == PLAIN
    assert table.notes == ()


def test_decimal_commas_between_semicolons(tmp_path):
    table = table_of(written(tmp_path, "weight;height\n70,5;1,80\n70,5;1,75\n"))
    assert codes(table) == {"weight": [0, 0], "height": [0, 1]}


def test_new_lines_and_delimiters_inside_quotes(tmp_path):
    table = table_of(written(tmp_path, 'name,remark\nx,"two\nlines, and a ""quote"""\ny,plain\n'))
    assert table.rows == 2
    assert codes(table)["remark"] == [0, 1]


def test_other_encodings_are_read_and_said(tmp_path):
    table = table_of(written(tmp_path, "ville,âge\nÉvian,3\nÉvian,4\n".encode("latin-1")))
    assert codes(table)["ville"] == [0, 0]
    assert "not UTF-8" in table.notes[0]


def test_a_wrong_byte_far_down_is_no_surprise(tmp_path):
    rows = b"".join(b"%d,a\n" % i for i in range(50_000))
    table = table_of(written(tmp_path, b"number,letter\n" + rows + b"7,\xff\n"))
    assert table.rows == 50_001
    assert table.column("letter").values == 2


def test_unicode_names_and_values(tmp_path):
    assert codes(table_of(written(tmp_path, "名前,город\n太郎,Київ\n花子,Київ\n"))) == {"名前": [0, 1], "город": [0, 0]}


def test_empty_cells_are_a_value_of_their_own(tmp_path):
    assert codes(table_of(written(tmp_path, "a,b\n,x\n1,\n,\n"))) == {"a": [0, 1, 0], "b": [0, 1, 1]}


def test_names_that_are_missing_doubled_or_dangerous(tmp_path):
    table = table_of(written(tmp_path, "age,age,,\x1b[31mred\n1,2,3,4\n1,2,3,5\n"))
    assert [column.name for column in table.columns] == ["age", "age (2)", "column 3", "[31mred"]
    assert "same name" in table.notes[0]


def test_rows_of_other_lengths_are_filled_up_or_cut_and_said(tmp_path):
    table = table_of(written(tmp_path, "a,b\n1,2\n1\n1,2,3\n1,2\n"))
    assert codes(table) == {"a": [0, 0, 0, 0], "b": [0, 1, 0, 0]}
    assert table.notes[0].startswith("2 rows")


@pytest.mark.parametrize("first", ["Arthur,42", "ford@prefect.org,x", "1990-01-02,x", "x,f"])
def test_a_first_line_of_data_is_not_taken_for_names(tmp_path, first):
    table = table_of(written(tmp_path, f"{first}\ny,f\nz,m\n"))
    assert [column.name for column in table.columns] == ["column 1", "column 2"]
    assert table.rows == 3
    named = table_of(written(tmp_path, f"{first}\ny,f\nz,m\n"), header=True)
    assert named.rows == 2


def test_one_row_is_enough(tmp_path):
    assert table_of(written(tmp_path, "a,b\n1,2\n")).rows == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,b\n", "no row"),
        (b"PK\x03\x04abc", "Excel"),
        (b"\x1f\x8babc", "gzip"),
        (b"PAR1abc", "Parquet"),
        (b"a,b\n\x00\x01\x02", "zero bytes"),
        (b'a,b\n1,"' + b"x" * 200_000, "no CSV file"),
    ],
    ids=["empty", "blank", "header", "zip", "gzip", "parquet", "binary", "open quote"],
)
def test_what_is_no_table_is_refused(tmp_path, content, words):
    with pytest.raises(InvalidInput, match=words):
        table_of(written(tmp_path, content))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InvalidInput, match="there is no file"):
        table_of(tmp_path / "nowhere.csv")
    with pytest.raises(InvalidInput, match="is a folder"):
        table_of(tmp_path)


def test_progress_is_told_while_reading(tmp_path):
    path = tmp_path / "long.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["name", "half"], *([f"n{i}", f"h{i // 2}"] for i in range(45_000))])
    told = []
    table = table_of(path, progress=lambda words, share: told.append(share))
    assert table.rows == 45_000
    assert len(told) == 2
    assert told == sorted(told)
    assert 0 < told[0] <= told[-1] <= 1


def test_numbers_are_put_in_order():
    column = table_of({"n": [10, 9, 2.5, 9]}).column("n")
    assert column.kind == "number"
    assert column.ranks.tolist() == [2, 1, 0]
    assert table_of({"d": ["2020-01-02", "2020-02-03"]}).column("d").kind == "date"
    assert table_of({"w": ["x", 3]}).column("w").kind == "words"
