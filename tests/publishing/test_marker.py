"""The marker keeps a curator from opening a second ledger for the same file by mistake."""

import json

import pyarrow.parquet as pq
import pytest
from publishing_reference import FILE, table

from discreet.errors import LedgerError
from discreet.publishing.folder import prepared
from discreet.publishing.foresight import foresee
from discreet.publishing.marker import check_marker, marker_of, write_marker
from discreet.publishing.reading import read_release
from discreet.publishing.releasing import admissible, publish


def released(source, folder):
    foresight = foresee(source)
    admissible(source, foresight)
    return publish(source, foresight, prepared(folder, source.marked.text, [one.name for one in source.file.releases]))


def test_the_first_release_writes_it(folder):
    source = read_release("release.yaml")
    outcome = released(source, folder / "out")
    record = json.loads((folder / "visits.parquet.account").read_text())
    assert (record["dataset"], outcome.notes) == ("visits", ())
    assert record["ledger"] == json.loads((folder / "out" / "release.json").read_text())["ledger"]["id"]


def test_a_new_ledger_is_refused_with_both_names(folder):
    released(read_release("release.yaml"), folder / "out")
    other = read_release("release.yaml", FILE + "ledger: other.sqlite\n")
    with pytest.raises(
        LedgerError, match=r"is kept in the ledger [0-9a-f]{32} under visits, and other.sqlite is a new"
    ):
        released(other, folder / "out2")
    assert not (folder / "other.sqlite").exists()


def test_another_name_in_the_same_ledger_is_refused(folder):
    released(read_release("release.yaml"), folder / "out")
    other = read_release(
        "release.yaml", FILE.replace("name: visits", "name: calls").replace("FROM visits", "FROM calls")
    )
    with pytest.raises(LedgerError, match="Write dataset: name: visits"):
        released(other, folder / "out2")


def test_a_marker_that_cannot_be_read_is_refused(folder):
    source = read_release("release.yaml")
    for text in ("", "{}", "[]", '{"kind": "account-marker", "version": 2}'):
        (folder / "visits.parquet.account").write_text(text)
        with pytest.raises(LedgerError, match="cannot be read"):
            check_marker(source, None)


def test_where_it_cannot_be_written_the_release_goes_on_with_a_note(folder):
    name = "v" * 244 + ".parquet"  # with .account the name is too long for any file
    pq.write_table(table(), folder / name)
    source = read_release("release.yaml", FILE.replace("visits.parquet", name))
    outcome = released(source, folder / "out")
    assert "could not be written" in outcome.notes[0]
    assert (folder / "out" / "release.json").exists()


def test_a_database_has_none(folder):
    source = read_release("release.yaml", FILE.replace("visits.parquet", "postgresql://host/base#visits"))
    assert marker_of(source) is None
    assert write_marker(source, "1") == ""


@pytest.fixture
def parts(folder):
    (folder / "parts").mkdir()
    for place in range(2):
        pq.write_table(table(), folder / "parts" / f"visits-{place}.parquet")
    return FILE.replace("visits.parquet", "'parts/visits-*.parquet'")


def test_several_files_have_one_in_the_folder_above_them(folder, parts):
    source = read_release("release.yaml", parts)
    assert marker_of(source).resolve() == folder / "parts" / ".visits.account"
    released(source, folder / "out")
    assert json.loads((folder / "parts" / ".visits.account").read_text())["files"] == "visits-*.parquet"
    other = read_release("release.yaml", parts + "ledger: other.sqlite\n")
    with pytest.raises(LedgerError, match="two ledgers would spend it twice"):
        released(other, folder / "out2")
    called = parts.replace("name: visits", "name: calls").replace("FROM visits", "FROM calls")
    with pytest.raises(LedgerError, match="Write dataset: name: visits"):
        released(read_release("release.yaml", called), folder / "out3")


def test_other_files_of_the_folder_are_their_own(folder, parts):
    released(read_release("release.yaml", parts), folder / "out")
    pq.write_table(table(), folder / "parts" / "calls-0.parquet")
    other = parts.replace("visits-*", "calls-*").replace("name: visits", "name: calls")
    check_marker(read_release("release.yaml", other.replace("FROM visits", "FROM calls") + "ledger: o.sqlite\n"), None)


def test_the_marker_of_one_of_several_files_counts(folder, parts):
    one = FILE.replace("visits.parquet", "parts/visits-1.parquet")
    released(read_release("release.yaml", one), folder / "out")
    with pytest.raises(LedgerError, match="two ledgers would spend it twice"):
        check_marker(read_release("release.yaml", parts + "ledger: other.sqlite\n"), None)
