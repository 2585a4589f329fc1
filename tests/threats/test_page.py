"""The page of threats says what these tests do."""

import ast
import runpy
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MAKER = runpy.run_path(str(HERE.parents[1] / "tools" / "threats_page.py"))
FILES = sorted(HERE.glob("test_v*.py"))
GOOD = '"""No such thing may happen.\n\nIt did.\n\nDefence: nothing happens.\nSource: a paper.\n"""\n'


def test_the_page_is_up_to_date():
    assert MAKER["PAGE"].read_text(encoding="utf-8") == MAKER["page"](), "run: python tools/threats_page.py"


def test_every_failure_is_tested_or_waits():
    table = MAKER["rows"]()
    assert [row.number for row in table] == list(MAKER["NUMBERS"])
    assert {row.test for row in table if row.test} == {path.stem for path in FILES}
    assert all(bool(row.test) != bool(row.waits_for) for row in table)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_test_shows_that_it_can_fail(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    assert any("catch" in name or "caught" in name for name in names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_open_fails_as_expected(path):
    """A file says that something is open if and only if it holds a test that is expected to fail."""
    assert bool(MAKER["read"](path).open) == ("mark.xfail" in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "text", ["x = 1\n", '"""No fields."""\n', GOOD.replace("Source", "Origin"), GOOD.replace("Defence: ", "")]
)
def test_the_maker_refuses_files_that_say_nothing(tmp_path, text):
    path = tmp_path / "test_v01_example.py"
    path.write_text(text)
    with pytest.raises(ValueError, match="docstring"):
        MAKER["read"](path)


def test_the_maker_refuses_missing_and_double_rows(tmp_path):
    path = tmp_path / "test_v24_example.py"
    path.write_text(GOOD)
    assert MAKER["read"](path).status == "tested"
    with pytest.raises(ValueError, match="V81"):
        MAKER["rows"](tmp_path)


def test_the_check_catches_a_page_that_was_not_written_again(tmp_path):
    for path in FILES:
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8").replace("Defence: ", "Defence: not "))
    assert MAKER["page"](tmp_path) != MAKER["PAGE"].read_text(encoding="utf-8")
