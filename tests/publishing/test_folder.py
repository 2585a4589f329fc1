"""The folder of a release: one that was cut off goes on, nothing else is written over, nothing private is inside."""

import os

import pytest

from discreet.errors import InvalidParameter
from discreet.publishing.folder import COPY, digest_of, filled, plain_bytes, prepared

TEXT = "title: Visits\n"
FILES = {"a.csv": "1\n", "a.parquet": "2\n", "report.html": "3\n", "release.yaml": TEXT, "release.json": "{}\n"}


class Killed(BaseException):
    """What stands for a process that ends between two moves."""


def write(folder, text=TEXT):
    with filled(folder) as beside:
        for name, content in FILES.items():
            (beside / name).write_text(text if name == COPY else content)


def cut_off(folder, monkeypatch, after):
    """Write a release, and stop after some files were moved, leaving all as a kill would."""
    from pathlib import Path

    moved, real = [], Path.replace

    def replace(self, target):
        if self.parent.name.endswith(".part"):
            if len(moved) == after:
                raise Killed
            moved.append(self.name)
        return real(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        patch.setattr("shutil.rmtree", lambda *_, **__: None)
        with pytest.raises(Killed):
            write(folder)
    return moved


@pytest.mark.parametrize("after", range(5))
def test_a_release_that_was_cut_off_goes_on(tmp_path, monkeypatch, after):
    folder = prepared(tmp_path / "out", TEXT, ["a"])
    moved = cut_off(folder, monkeypatch, after)
    assert "release.json" not in moved
    assert any(one.name.startswith(".release-") for one in folder.iterdir())
    write(prepared(folder, TEXT, ["a"]))
    assert {one.name: one.read_text() for one in folder.iterdir()} == FILES
    assert prepared(folder, TEXT, ["a"]) == folder


def test_another_release_does_not_go_on_with_it(tmp_path, monkeypatch):
    folder = prepared(tmp_path / "out", TEXT, ["a"])
    cut_off(folder, monkeypatch, 2)
    with pytest.raises(InvalidParameter, match="from something else"):
        prepared(folder, TEXT + "description: another\n", ["a"])


def test_other_files_are_never_written_over(tmp_path):
    (tmp_path / "a.csv").write_text("ten years of work")
    with pytest.raises(InvalidParameter, match=r"holds a\.csv already"):
        prepared(tmp_path, TEXT, ["a"])


def test_folders_of_others_stay(tmp_path):
    (tmp_path / ".release-notes.part").mkdir()
    (tmp_path / ".release-0123456789abcdef.part").mkdir()
    write(prepared(tmp_path, TEXT, ["a"]))
    assert {one.name for one in tmp_path.iterdir()} == {*FILES, ".release-notes.part"}


@pytest.mark.parametrize(
    "private", ["visits.parquet", "out/visits.parquet", "out/deep/*.parquet", "out/*/x.csv", "o*/a.csv", "out/../out/l"]
)
def test_what_must_stay_is_not_inside(tmp_path, private):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.csv").write_text("1")
    inside = private != "visits.parquet"
    place = [str(tmp_path / private), "postgresql://host/base#public.visits"]
    (tmp_path / "out" / "a.csv").unlink() if private != "o*/a.csv" else None
    if inside:
        with pytest.raises(InvalidParameter, match="handed over"):
            prepared(tmp_path / "out", TEXT, ["b"], private=place)
    else:
        assert prepared(tmp_path / "out", TEXT, ["b"], private=place)


def test_links_do_not_hide_it(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "visits.parquet").write_text("1")
    (tmp_path / "link.parquet").symlink_to(tmp_path / "out" / "visits.parquet")
    with pytest.raises(InvalidParameter, match="handed over"):
        prepared(tmp_path / "out", TEXT, ["a"], private=[str(tmp_path / "link.parquet")])


def test_only_plain_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for read in (digest_of, lambda path: plain_bytes(path, 10)):
        with pytest.raises(OSError, match="no plain file"):
            read(tmp_path / "pipe")
    (tmp_path / "long").write_bytes(b"x" * 11)
    with pytest.raises(OSError, match="too large"):
        plain_bytes(tmp_path / "long", 10)
