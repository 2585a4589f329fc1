"""Shared fixtures; ``publishing_reference`` is made importable because tests are collected in importlib mode."""

import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the table and the file, to be in."""
    from publishing_reference import FILE, table

    pq.write_table(table(), tmp_path / "visits.parquet")
    (tmp_path / "release.yaml").write_text(FILE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path
