"""``discreet verify`` on files of strangers: what it says about what it could not see, and what it refuses at once."""

import json
import os
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from discreet.cli.app import app

sys.path.insert(0, str(Path(__file__).parent.parent / "publishing"))


def run(*arguments):
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "160", "FORCE_COLOR": ""})


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    from publishing_reference import FILE, table

    place = tmp_path_factory.mktemp("verify")
    pq.write_table(table(), place / "visits.parquet")
    (place / "release.yaml").write_text(FILE, encoding="utf-8")
    made = run("release", str(place / "release.yaml"), "-o", str(place / "out"), "--yes")
    assert made.exit_code == 0, made.output
    return place / "out" / "release.json"


def test_with_all_files_everything_is_checked(certificate):
    result = run("verify", str(certificate))
    assert result.exit_code == 0, result.output
    assert "not checked" not in result.output
    assert "are taken as the curator states them" in " ".join(result.output.split())
    assert json.loads(run("verify", str(certificate), "--json").stdout)["not_checked"] == 0


def test_files_that_are_not_there_are_counted_in_the_last_line(certificate, tmp_path):
    alone = tmp_path / "release.json"
    alone.write_bytes(certificate.read_bytes())
    result = run("verify", str(alone))
    assert result.exit_code == 0, result.output
    last = " ".join(result.output.strip().splitlines()[-1].split())
    assert last == "15 things were not checked: 10 of the files listed are not beside the certificate."
    assert json.loads(run("verify", str(alone), "--json").stdout)["not_checked"] == 15


def test_a_forged_certificate_ends_with_1(certificate, tmp_path):
    record = json.loads(certificate.read_text(encoding="utf-8"))
    record["registry"] = {}
    (tmp_path / "release.json").write_text(json.dumps(record), encoding="utf-8")
    result = run("verify", str(tmp_path / "release.json"))
    assert result.exit_code == 1
    assert "do not rely on it" in result.output


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "bytes"])
def test_what_is_no_certificate_is_refused_at_once(tmp_path, kind):
    place = tmp_path / "release.json"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "device":
        place.symlink_to("/dev/zero")
    elif kind == "folder":
        place.mkdir()
    else:
        place.write_bytes(b"\xff\xfe\x00")
    result = run("verify", str(place))
    assert result.exit_code == 2
    assert "cannot be read" in result.stderr
