"""Describing a table shows names and types, and no value; what comes out is a file that can be filled in."""

import gzip
import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from publishing_reference import corrupted

from discreet.errors import InvalidParameter
from discreet.publishing.describe import described
from discreet.publishing.foresight import probed
from discreet.publishing.mistake import Mistakes
from discreet.publishing.reading import read_release

UNIT = "unit: {person: user_id, groups: 3, rows: 5}\n"


def test_no_value_is_shown(folder):
    text = described("visits.parquet").text
    assert "canary" not in text
    assert "7919" not in text
    assert "meal" not in text
    assert all(f"# {name}:" in text for name in ("user_id", "city", "kind", "day", "amount", "age", "rating"))


def test_no_page_of_the_file_is_read(folder):
    before = described("visits.parquet").text
    corrupted(folder / "visits.parquet")
    with pytest.raises((pa.ArrowInvalid, OSError)):
        pq.read_table(folder / "visits.parquet").validate(full=True)
    assert described("visits.parquet").text == before


def test_only_the_unit_is_missing(folder):
    text = described("visits.parquet").text
    with pytest.raises(Mistakes, match="the unit says who is protected") as refused:
        read_release("release.yaml", text)
    assert len(refused.value.found) == 1
    with probed(read_release("release.yaml", text.replace("unit:\n", UNIT))) as joined:
        assert len(joined.requests) == 1


def test_bounds_must_be_filled_in(folder):
    text = described("visits.parquet").text.replace("unit:\n", UNIT).replace("  # amount:", "  amount:")
    with pytest.raises(Mistakes, match="a number is needed here"):
        read_release("release.yaml", text)


def test_a_csv_file_has_names_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my people.csv").write_text('id,"a: ""b""",zip\n1,canary,0150\n')
    found = described("my people.csv")
    assert found.name == "my_people"
    assert found.shape.columns == {"id": None, 'a: "b"': None, "zip": None}
    assert "canary" not in found.text
    assert "0150" not in found.text
    read_release("release.yaml", found.text.replace("unit:\n", "unit: row\n"))


def test_a_json_file_lists_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.json").write_text('[{"id": 1, "canary": 2}]')
    found = described("people.json")
    assert "canary" not in found.text
    assert not found.shape.listed
    assert "a JSON file does not list its columns" in found.text


@pytest.mark.parametrize("name", ["order", "2026", "a b", "ünïcode", "#", "yes", "x: y", 'quote"s', "back\\slash"])
def test_strange_names_are_written_so_that_they_can_be_read(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({name: ["a"], "n": [1.5]}), tmp_path / "t.parquet")
    text = described("t.parquet").text.replace("unit:\n", "unit: row\n")
    lines = [line.replace("  # ", "  ", 1) if "{values:" in line else line for line in text.splitlines()]
    source = read_release("release.yaml", "\n".join(lines))
    assert list(source.file.declared) == [name]
    uncommented = text.replace("  # - table", "  - table").replace("  #   ", "    ")
    with probed(read_release("release.yaml", uncommented)) as joined:
        assert len(joined.requests) == 2


def test_what_is_no_table_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 canary PAR1")
    for source in ("missing.parquet", "broken.parquet", "notes.txt", "postgresql://nobody:secret@127.0.0.1:1/none#t"):
        with pytest.raises(InvalidParameter) as refused:
            described(source)
        assert "canary" not in str(refused.value)
        assert "secret" not in str(refused.value)


def test_the_record_is_plain(folder):
    columns = described("visits.parquet").shape.columns
    assert json.loads(json.dumps(columns))["amount"] == "float"


@pytest.mark.parametrize(
    "text",
    [
        'id,"city\n1,canary,5\n2,canary,6\n',
        "1,canary,5\n2,canary,6\n",
        "canary,2026-01-31,Oslo\n",
        "canary,2026-01-31T10:00:00Z\n",
        "canary,31.1.2026\n",
        "canary,3 Mar 2026\n",
        "canary,1e5\n",
        "canary,canary\n",
        "canary,,x\n",
        "canary, \n",
        "canary,+47 900 00 000\n",
        "canary,someone@example.org\n",
        "canary,123e4567-e89b-12d3-a456-426614174000\n",
        "canary,x\x1b[2J\n",
        "canary," + "x" * 300 + "\n",
        "canary" * 300_000,
        "\ncanary,x\n",
    ],
)
def test_a_row_is_never_taken_for_names(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(text)
    with pytest.raises(InvalidParameter, match=r"the first line of people\.csv does not look like names") as refused:
        described("people.csv")
    assert "canary" not in str(refused.value)
    file = "title: t\ndataset: {name: people, source: people.csv}\nunit: row\nbudget: {epsilon: 1}\n"
    file += "releases:\n  - table: a\n    sql: SELECT COUNT(*) AS n FROM people WHERE nothing = 1\n"
    with (
        pytest.raises(InvalidParameter, match=r"line 2: the first line of people\.csv") as refused,
        probed(read_release("release.yaml", file)),
    ):
        pass
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
def test_names_of_text_files_are_said_to_be_their_first_line(tmp_path, monkeypatch, ending):
    monkeypatch.chdir(tmp_path)
    text = "id,Fødselsår,q1\r1,canary,3\r".replace(",", "\t" if ending == "tsv" else ",").encode("utf-8-sig")
    (tmp_path / f"p.{ending}").write_bytes(gzip.compress(text) if ending == "csv.gz" else text)
    found = described(f"p.{ending}")
    assert list(found.shape.columns) == ["id", "Fødselsår", "q1"]
    assert "its first line was taken as their names" in found.text


def test_a_table_with_metadata_says_nothing_of_first_lines(folder):
    assert "first line" not in described("visits.parquet").text


def test_what_never_ends_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zeros.csv").symlink_to("/dev/zero")
    for name in ("pipe.csv", "zeros.csv"):
        with pytest.raises(InvalidParameter, match="is no regular file"):
            described(name)
