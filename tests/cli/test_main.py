"""The entry point: loads nothing early, and says in one sentence what is missing."""

import subprocess
import sys

import pytest

from discreet import cli


@pytest.mark.parametrize(
    ("package", "argument", "extra"),
    [
        ("typer", "--version", "cli"),
        ("rich", "--version", "cli"),
        ("altair", "demo", "plots"),
        ("jinja2", "demo", "report"),
    ],
)
def test_says_what_to_install(package, argument, extra, monkeypatch, capsys, tmp_path):
    for name in [name for name in sys.modules if name.startswith("discreet.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(sys, "argv", ["discreet", argument])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 2
    assert capsys.readouterr().err == f"{package} is not installed. Run: pip install 'discreet[{extra}]'\n"


def test_importing_discreet_loads_no_extra():
    code = (
        "import sys, discreet, discreet.cli, discreet.plots, discreet.report\n"
        "print(sorted({'typer', 'rich', 'altair', 'vl_convert', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
