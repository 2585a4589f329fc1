"""An older copy of a ledger, or an empty one in its place, does not bring back what was spent."""

import os
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import ledger_writers
import pytest

from discreet.accounting import Budget, PrivacyLoss
from discreet.errors import LedgerError
from discreet.ledger import Ledger
from discreet.ledger.anchor import DatabaseAnchor, FileAnchor

TENTH = PrivacyLoss.laplace(Fraction(1, 10))
POSTGRES = pytest.param("postgres", marks=pytest.mark.xdist_group("engines"))


@pytest.fixture(params=["file", "sqlite", POSTGRES])
def anchor(request, tmp_path):
    """An anchor elsewhere, of each kind."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if request.param == "postgres":
        return request.getfixturevalue("postgres_base")
    return elsewhere / "heads" if request.param == "file" else f"sqlite:///{elsewhere}/heads.sqlite"


def saved(path):
    """Copy a ledger as a backup does, while it is open."""
    copy = path.with_name("backup")
    with sqlite3.connect(path) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    source.close()
    target.close()
    return copy


def restore(copy, path):
    for rest in ("", "-wal", "-shm"):
        path.with_name(path.name + rest).unlink(missing_ok=True)
    shutil.copy(copy, path)


def test_an_older_copy_is_refused(file, anchor):
    with Ledger(file, anchor=anchor) as ledger:
        ledger.account("visits", budget=Budget(1)).spend(TENTH)
    copy = saved(file)
    with Ledger(file, anchor=anchor) as ledger:
        ledger.account("visits").spend(5 * TENTH)
    shutil.copy(file, file.with_name("newest"))
    restore(copy, file)
    with pytest.raises(LedgerError, match=r"older than its anchor: visits has 2 entries, and 3 were"):
        Ledger(file, anchor=anchor)
    restore(file.with_name("newest"), file)
    with Ledger(file, anchor=anchor) as ledger:
        assert ledger.account("visits").spent.amount == Fraction(6, 10)


def test_a_copy_that_went_on_by_itself_is_refused(file, anchor):
    with Ledger(file, anchor=anchor) as ledger:
        ledger.account("visits", budget=Budget(1)).spend(TENTH)
    copy = saved(file)
    with Ledger(file, anchor=anchor) as ledger:
        ledger.account("visits").spend(TENTH)
    restore(copy, file)
    with Ledger(copy, read_only=True):
        pass
    from discreet.ledger import ledger as module

    with pytest.MonkeyPatch.context() as patch:  # somebody who goes on without the anchor
        patch.setattr(module.Ledger, "verify", lambda self, deep: {})
        with Ledger(file) as ledger:
            ledger.account("visits").spend(TENTH)
            ledger.account("visits").spend(TENTH)
    with pytest.raises(LedgerError, match="another history"):
        Ledger(file, anchor=anchor)


@pytest.mark.parametrize("way", ["moved", "overwritten"])
def test_a_copy_is_not_slipped_beneath_a_running_process(file, anchor, way):
    with Ledger(file, anchor=anchor) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        copy = saved(file)
        account.spend(TENTH)
        if way == "moved":
            copy.replace(file)
        else:  # as cp does: into the same file, with the log gone
            ledger.store.close()
            restore(copy, file)
        with pytest.raises(LedgerError, match=r"beneath this process|older than its anchor"):
            account.spend(TENTH)


@pytest.mark.parametrize("rest", ["", "-wal"])
def test_what_is_taken_away_beneath_a_running_process_is_missed(file, rest):
    with Ledger(file) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        account.spend(TENTH)
        file.with_name(file.name + rest).unlink()
        with pytest.raises(LedgerError, match="beneath this process"):
            account.spend(TENTH)


def test_a_log_that_goes_in_the_middle_of_a_charge_is_missed(file, monkeypatch):
    with Ledger(file) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        write = account._write

        def and_remove(*arguments, **options):
            file.with_name(file.name + "-wal").unlink()
            return write(*arguments, **options)

        monkeypatch.setattr(type(account), "_write", lambda self, *a, **k: and_remove(*a, **k))
        with pytest.raises(LedgerError, match="beneath this process"):
            account.spend(TENTH)


def test_an_empty_ledger_in_the_place_of_a_lost_one_is_refused(file, anchor):
    with Ledger(file, anchor=anchor) as ledger:
        ledger.account("visits", budget=Budget(1)).spend(TENTH)
    for rest in ("", "-queue"):
        file.with_name(file.name + rest).unlink()
    with Ledger(file, anchor=anchor) as ledger:
        with pytest.raises(LedgerError, match="the anchor knows an account of visits"):
            ledger.account("visits", budget=Budget(1))
        ledger.account("shops", budget=Budget(1)).spend(TENTH)


def test_an_anchor_that_forgot_is_refused(file, tmp_path):
    anchor = tmp_path / "elsewhere"
    anchor.mkdir()
    with Ledger(file, anchor=anchor / "heads") as ledger:
        ledger.account("visits", budget=Budget(1)).spend(TENTH)
    (anchor / "heads").write_text("")
    for place in (anchor / "heads", anchor / "another"):
        with pytest.raises(LedgerError, match="knows nothing of visits"):
            Ledger(file, anchor=place)
    with pytest.raises(LedgerError, match="opened with an anchor"):
        Ledger(file)
    with Ledger(file, read_only=True) as ledger:
        assert ledger.account("visits").spent.amount == Fraction(1, 10)


def test_a_ledger_is_anchored_later(file, anchor):
    with Ledger(file) as ledger:
        ledger.account("visits", budget=Budget(1)).spend(TENTH)
    copy = saved(file)
    with Ledger(file, anchor=anchor) as ledger:
        ledger.account("visits").spend(TENTH)
    restore(copy, file)
    with pytest.raises(LedgerError, match="older than its anchor"):
        Ledger(file, anchor=anchor)


def test_an_anchor_beside_the_ledger_is_refused(file, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    for beside in (tmp_path / "heads", tmp_path / "link" / "heads", f"sqlite:///{tmp_path}/heads.sqlite"):
        with pytest.raises(LedgerError, match="protect nothing"):
            Ledger(file, anchor=beside)


@pytest.mark.xdist_group("engines")
def test_an_anchor_in_the_database_of_the_ledger_is_refused(postgres_base, tmp_path):
    with pytest.raises(LedgerError, match="database of the ledger"):
        Ledger(postgres_base, anchor=postgres_base)
    with Ledger(postgres_base, anchor=tmp_path / "heads") as ledger:
        ledger.account("visits", budget=Budget(1)).spend(TENTH)
    assert (tmp_path / "heads").read_text().count("visits") == 2


def test_without_its_anchor_nothing_is_charged(file, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    with pytest.raises(LedgerError, match="no folder"):
        Ledger(file, anchor=elsewhere / "heads")
    with pytest.raises(LedgerError, match="cannot be reached"):
        Ledger(file, anchor="postgresql://nobody:secret@127.0.0.1:1/none")
    elsewhere.mkdir()
    with Ledger(file, anchor=elsewhere / "heads") as ledger:
        account = ledger.account("visits", budget=Budget(1))
        account.spend(TENTH)
        shutil.move(elsewhere / "heads", tmp_path / "kept")
        with pytest.raises(LedgerError, match="knows nothing of visits"):
            account.spend(TENTH)
        (elsewhere / "heads").mkdir()
        with pytest.raises(LedgerError, match=r"cannot be read \(Is a directory\). Nothing was charged"):
            account.spend(TENTH)
        (elsewhere / "heads").rmdir()
        shutil.move(tmp_path / "kept", elsewhere / "heads")
        account.spend(TENTH)
        assert account.spent.amount == Fraction(2, 10)


def test_a_full_anchor_releases_nothing(file, tmp_path, monkeypatch):
    import resource

    heads = tmp_path / "elsewhere" / "heads"
    heads.parent.mkdir()
    with Ledger(file, anchor=heads) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        move, limits = ledger._anchor.move, resource.getrlimit(resource.RLIMIT_FSIZE)

        def on_a_full_disk(*head):
            resource.setrlimit(resource.RLIMIT_FSIZE, (heads.stat().st_size + 10, limits[1]))
            try:
                return move(*head)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)

        with monkeypatch.context() as patch:
            patch.setattr(ledger._anchor, "move", on_a_full_disk)
            with pytest.raises(
                LedgerError, match=r"File too large\). What was charged stays spent, and nothing was released"
            ):
                account.spend(TENTH)
        account.spend(TENTH)
        assert account.spent.amount == Fraction(2, 10)


def test_who_is_killed_between_the_charge_and_the_anchor_loses_nothing(file, anchor, monkeypatch):
    with Ledger(file, anchor=anchor) as ledger:
        account = ledger.account("visits", budget=Budget(1))
        account.spend(TENTH)
        with monkeypatch.context() as patch:
            patch.setattr(type(ledger), "anchored", lambda *a: None)
            account.spend(TENTH)
    with Ledger(file, anchor=anchor) as ledger:
        ledger.account("visits").spend(TENTH)
        assert ledger.account("visits").spent.amount == Fraction(3, 10)


def test_who_is_killed_between_the_anchor_and_opening_an_account_loses_nothing(file, anchor, monkeypatch):
    with Ledger(file, anchor=anchor) as ledger:
        with monkeypatch.context() as patch:
            patch.setattr(Ledger, "_anchor_opening", _and_stop(Ledger._anchor_opening))
            with pytest.raises(KeyboardInterrupt):
                ledger.account("visits", budget=Budget(1))
        assert ledger.names == []
        ledger.account("visits", budget=Budget(1)).spend(TENTH)
    with Ledger(file, anchor=anchor) as ledger:
        assert ledger.account("visits").spent.amount == Fraction(1, 10)


def _and_stop(act):
    def stopped(*arguments):
        act(*arguments)
        raise KeyboardInterrupt

    return stopped


def test_of_two_copies_that_are_charged_at_once_one_releases(file, anchor, tmp_path, monkeypatch):
    with Ledger(file, anchor=anchor) as ledger:
        ledger.account("visits", budget=Budget(1)).spend(TENTH)
    other = tmp_path / "copies" / "copy.sqlite"
    other.parent.mkdir()
    restore(saved(file), other)
    with Ledger(file, anchor=anchor) as one, Ledger(other, anchor=anchor) as two:
        first, second = one.account("visits"), two.account("visits")
        anchored = Ledger.anchored

        def meanwhile(ledger, *head):
            monkeypatch.setattr(Ledger, "anchored", anchored)
            first.spend(TENTH)
            anchored(ledger, *head)

        monkeypatch.setattr(Ledger, "anchored", meanwhile)
        with pytest.raises(LedgerError, match="another history"):
            second.spend(TENTH)
        assert first.spent.amount == Fraction(2, 10)


def test_an_absent_anchor_and_a_copy_of_the_very_beginning_are_refused(file, tmp_path):
    heads = tmp_path / "elsewhere" / "heads"
    heads.parent.mkdir()
    with Ledger(file, anchor=heads) as ledger:
        ledger.account("visits", budget=Budget(1))
    beginning = saved(file)
    with Ledger(file, anchor=heads) as ledger:
        ledger.account("visits").spend(PrivacyLoss.laplace(1))
    heads.unlink()
    restore(beginning, file)
    with pytest.raises(LedgerError, match="knows nothing of visits"):
        Ledger(file, anchor=heads)


def test_a_line_that_was_cut_off_says_nothing(tmp_path):
    anchor = FileAnchor(tmp_path / "heads")
    assert anchor.move("ledger", "visits", None, 1, "a")
    assert anchor.move("ledger", "visits", (1, "a"), 2, "b")
    whole = anchor.path.read_bytes()
    for length in range(len(whole)):
        anchor.path.write_bytes(whole[:length])
        seen = anchor.seen("ledger", "visits")
        assert seen in (None, (1, "a"), (2, "b"))
        assert anchor.move("ledger", "visits", seen, 3, "c")
        assert anchor.seen("ledger", "visits") == (3, "c")
    anchor.path.write_bytes(b'7\nnull\n[1, 2]\n["ledger", "visits", "x", 1]\n\xff\n' + whole)
    assert anchor.seen("ledger", "visits") == (2, "b")
    anchor.path.write_bytes(whole + b"7\n" * 100_000)
    assert anchor.seen("ledger", "visits") == (2, "b")


def test_an_anchor_moves_only_from_what_was_seen(tmp_path):
    for anchor in (FileAnchor(tmp_path / "heads"), DatabaseAnchor(f"sqlite:///{tmp_path}/heads.sqlite")):
        assert anchor.move("ledger", "visits", None, 1, "one")
        assert not anchor.was_charged("visits")
        assert not anchor.move("ledger", "visits", None, 2, "two")
        assert not anchor.move("ledger", "visits", (1, "another"), 2, "two")
        assert anchor.move("ledger", "visits", (1, "one"), 2, "two")
        assert not anchor.move("ledger", "visits", (1, "one"), 3, "three")
        assert anchor.seen("ledger", "visits") == (2, "two")
        assert anchor.seen("ledger", "shops") is None
        assert anchor.seen("another", "visits") is None
        assert anchor.was_charged("visits")
        assert not anchor.was_charged("shops")
        anchor.close()


def test_many_processes_share_an_anchor(file, anchor):
    found = ledger_writers.run(
        "brink", place=str(file), anchor=os.fspath(anchor), processes=6, charges=12, share="1/50"
    )
    assert sum(one["admitted"] for one in found) == 50
    with Ledger(file, anchor=anchor) as ledger:
        assert ledger.account("visits").remaining.amount == 0


def test_opening_while_others_write_is_no_false_alarm(file, anchor):
    with Ledger(file, anchor=anchor) as ledger, ThreadPoolExecutor(2) as pool:
        account = ledger.account("visits", budget=Budget(1))
        writing = pool.submit(lambda: [account.spend(PrivacyLoss.laplace(Fraction(1, 1000))) for _ in range(60)])
        opened = 0
        while not writing.done() or opened < 5:
            Ledger(file, anchor=anchor).close()
            opened += 1
        assert writing.result()
