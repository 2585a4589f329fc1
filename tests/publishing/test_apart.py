"""What is private is nothing else: no public table, ledger or anchor is a file of the private data."""

import os

import pyarrow.parquet as pq
import pytest
from publishing_reference import FILE, table

from discreet.errors import InvalidParameter
from discreet.publishing.foresight import probed
from discreet.publishing.reading import read_release


def refused(text):
    with pytest.raises(InvalidParameter) as caught, probed(read_release("release.yaml", text)):
        pass
    return str(caught.value)


@pytest.fixture
def several(folder):
    """The same private file under other names, and a second one."""
    (folder / "linked.parquet").symlink_to(folder / "visits.parquet")
    os.link(folder / "visits.parquet", folder / "hard.parquet")
    (folder / "parts").mkdir()
    for name in ("a", "b"):
        pq.write_table(table(), folder / "parts" / f"{name}.parquet")
    return folder


@pytest.mark.parametrize(
    "name", ["visits.parquet", "./visits.parquet", "linked.parquet", "hard.parquet", "'v*.parquet'"]
)
def test_a_public_table_is_not_the_private_one(several, name):
    said = refused(FILE + f"public: {{r: {name}}}\n")
    assert "release.yaml, line 31: the public table r is the private data" in said


@pytest.mark.parametrize("private", ["'parts/*.parquet'", "parts", "'parts/**'"])
def test_nor_is_it_one_of_several_private_files(several, private):
    said = refused(FILE.replace("visits.parquet", private) + "public: {r: parts/b.parquet}\n")
    assert "the public table r is the private data, or holds a file of it" in said


def test_nor_is_it_the_same_table_of_a_database(folder):
    text = FILE.replace("visits.parquet", "postgresql://me@localhost/base#public.visits")
    said = refused(text + "public: {r: 'postgresql://127.0.0.1:5432/base#visits'}\n")
    assert "the public table r is the private data" in said


@pytest.mark.parametrize("part", ["ledger", "anchor"])
@pytest.mark.parametrize("name", ["visits.parquet", "linked.parquet"])
def test_a_ledger_or_anchor_is_not_the_private_table(several, part, name):
    text = FILE + f"{part}: {name}\n" + ("ledger: kept/ledger.sqlite\n" if part == "anchor" else "")
    before = (several / "visits.parquet").read_bytes()
    assert f"line 31: the {part} is a file of the private data" in refused(text)
    assert (several / "visits.parquet").read_bytes() == before


@pytest.mark.parametrize(
    ("there", "instead", "line"),
    [
        ("source: visits.parquet", "source: pipe.csv", 4),
        ("title:", "public: {r: pipe.csv}\ntitle:", 1),
        ("title:", "ledger: pipe.csv\ntitle:", 1),
    ],
)
def test_a_pipe_is_refused_and_not_waited_for(folder, there, instead, line):
    os.mkfifo(folder / "pipe.csv")
    assert f"line {line}: pipe.csv is no regular file" in refused(FILE.replace(there, instead, 1))


def test_other_files_are_no_trouble(several):
    with probed(read_release("release.yaml", FILE + "public: {r: parts/a.parquet}\n")) as joined:
        assert len(joined.requests) == 4
