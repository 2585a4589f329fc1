"""The tutorial runs as it stands: every block, in an empty folder, and what it says is what happens."""

import doctest
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from discreet.publishing.marked import Number, read_yaml

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorials" / "first-release.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = "from discreet.cli.publishing import add_to; import typer; app = typer.Typer(); add_to(app); app()"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks():
    return BLOCK.findall(PAGE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """A folder with the command ``discreet`` in it, and a function that runs lines there."""
    tools, folder = tmp_path_factory.mktemp("bin"), tmp_path_factory.mktemp("tutorial")
    script = tools / "discreet"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{COMMAND}" "$@"\n')
    script.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}

    def run(line):
        return subprocess.run(
            line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
        )

    return folder, run


def test_every_block_does_what_it_says(shell):
    folder, run = shell
    commands = 0
    for kind, text in blocks():
        if kind == "python":
            subprocess.run([sys.executable, "-c", text], cwd=folder, check=True, timeout=300)
        elif kind == "yaml":
            (folder / "release.yaml").write_text(text, encoding="utf-8")
        else:
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                line, _, wanted = part.partition("\n")
                done = run(line)
                found = done.stdout + done.stderr
                assert "Traceback" not in found
                assert doctest.OutputChecker().check_output(wanted.strip(), found.strip(), FLAGS), f"{line}\n{found}"
                commands += 1
    assert commands == 9
    assert json.loads((folder / "out" / "release.json").read_text(encoding="utf-8"))["kind"] == "publication"


def plain(value):
    """Return what was read as JSON has it."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, Number):
        return int(value) if value == int(value) else float(value)
    return value


def test_the_schema_takes_the_files_of_the_tutorial_and_no_others():
    schema = json.loads((ROOT / "docs" / "release.schema.json").read_text(encoding="utf-8"))
    check = jsonschema.Draft202012Validator(schema)
    (text,) = [text for kind, text in blocks() if kind == "yaml"]
    file = plain(read_yaml(text).value)
    check.validate(file)
    for wrong in ({"budget": {"epsilon": -1}}, {"unit": "rows"}, {"releases": []}, {"levels": 0.9}, {"spend": 1}):
        assert not check.is_valid({**file, **wrong}), wrong
