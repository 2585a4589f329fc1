"""The versions in a report are those that ran."""

from importlib.metadata import version

from discreet._version import __version__
from discreet.report.versions import versions


def test_names_what_ran():
    found = versions()
    assert found["discreet"] == __version__
    assert found["numpy"] == version("numpy")


def test_a_missing_part_is_said(monkeypatch):
    monkeypatch.setattr("discreet.report.versions.PARTS", ("no-such-package-anywhere",))
    assert versions()["no-such-package-anywhere"] == "not installed"
