"""A pytest inside pytest, in a process of its own."""

import subprocess
import sys
import textwrap

import pytest


@pytest.fixture
def pytester_run(tmp_path):
    def run(text, *options):
        (tmp_path / "test_inside.py").write_text(textwrap.dedent(text), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        return subprocess.run(
            [*command, *options, "test_inside.py"], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    return run
