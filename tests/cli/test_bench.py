"""``discreet bench histograms``: tables for people, JSON for machines, a page with pictures, clear refusals."""

import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from discreet.bench import ALGORITHMS, WORKLOADS, Result
from discreet.cli import bench_histograms
from discreet.cli.app import app

FAST = ["--trials", "2", "--scale", "1e3,1e5", "--algorithms", "identity,uniform,hb", "--domain", "64"]


def run(*arguments, **options):
    return CliRunner().invoke(app, ["bench", *map(str, arguments)], **options)


def refused(*arguments, **options):
    result = run("histograms", *arguments, **options)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    return " ".join(result.output.split())


def test_a_table_for_people():
    result = run("histograms", *FAST)
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.split())
    assert "1,000 persons on 64 cells at epsilon 0.1" in text
    assert "100,000 persons on 64 cells at epsilon 0.1" in text
    assert "algorithm uniform zipf mixture spikes steps regret" in text
    assert "Regret: how many times the least error" in text
    assert text.count("identity") == 2


def test_the_unlucky_releases():
    result = run("histograms", *FAST, "--data", "zipf", "--percentile")
    assert result.exit_code == 0, result.output
    assert "19 of 20 releases" in result.output


def test_json_for_machines():
    result = run("histograms", *FAST, "--data", "zipf", "--json", "--epsilon", "0.1,1")
    assert result.exit_code == 0, result.output
    found = Result.from_json(result.stdout)
    assert {(s.data, s.sizes, s.scale, s.epsilon) for s in found.settings} == {
        ("zipf", (64,), scale, epsilon) for scale in (1000, 100_000) for epsilon in (0.1, 1.0)
    }
    assert all(len(row.errors) == 2 for row in found.rows)


def test_a_folder_with_a_page_pictures_and_json(tmp_path):
    output = tmp_path / "new" / "folder"
    result = run("histograms", *FAST, "--output", output)
    assert result.exit_code == 0, result.output
    assert sorted(file.name for file in output.iterdir()) == [
        "benchmark.html",
        "benchmark.json",
        "errors_64.svg",
        "ratios_64_1000.svg",
        "ratios_64_100000.svg",
    ]
    page = (output / "benchmark.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 3
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert "--algorithms identity,uniform,hb" in page
    assert "has the least regret" in page
    assert Result.from_json((output / "benchmark.json").read_text(encoding="utf-8")).complete
    for picture in output.glob("*.svg"):
        assert picture.read_text(encoding="utf-8").startswith('<svg role="img"')


def test_planes_and_lines_together(tmp_path):
    result = run(
        *("histograms", "--data", "1d,2d", "--domain", "32,8x8", "--trials", "1", "--scale", "500"),
        *("--algorithms", "identity,adaptive grid", "--output", tmp_path),
    )
    assert result.exit_code == 0, result.output
    assert "500 persons on 32 cells" in result.output
    assert "500 persons on 8 x 8 cells" in result.output
    assert {file.name for file in tmp_path.glob("*.svg")} == {"ratios_32_500.svg", "ratios_8x8_500.svg"}


def test_principles_are_checked(monkeypatch):
    result = run("histograms", *FAST, "--data", "zipf", "--checks")
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines()]
    assert ["identity,", "1-D", "holds"] in [line[:3] for line in lines]
    uniform = next(line for line in lines if line[:2] == ["uniform,", "1-D"])
    assert uniform[2] == "holds"
    assert uniform[4] == "inconsistent"
    assert "not expected" not in result.output


def test_arrays_of_a_folder(tmp_path):
    np.save(tmp_path / "LINE.npy", np.arange(128))
    np.save(tmp_path / "plane_16_16.npy", np.ones((16, 16)))
    result = run("histograms", *FAST, "--data", tmp_path, "--json", "--scale", "own,1000")
    assert result.exit_code == 0, result.output
    found = Result.from_json(result.stdout)
    assert [(s.data, s.sizes, s.scale) for s in found.settings] == [("LINE", (64,), 8128), ("LINE", (64,), 1000)]


def test_scales_of_their_own_make_one_map(tmp_path):
    for name, many in (("A", 2), ("B", 3)):
        np.save(tmp_path / f"{name}.npy", np.full(64, many))
    out = tmp_path / "out"
    result = run("histograms", *FAST, "--data", tmp_path, "--scale", "own", "--output", out)
    assert result.exit_code == 0, result.output
    assert [file.name for file in out.glob("*.svg")] == ["ratios_64.svg"]


def test_dpbench_arrays(tmp_path, monkeypatch):
    (tmp_path / "dpbench").mkdir()
    np.save(tmp_path / "dpbench" / "HEPTH.npy", np.arange(64))
    monkeypatch.setenv("DISCREET_DATA", str(tmp_path))
    result = run("histograms", *FAST, "--data", "dpbench")
    assert result.exit_code == 0, result.output
    assert "HEPTH" in result.output
    monkeypatch.delenv("DISCREET_DATA")
    assert "DISCREET_DATA" in refused("--data", "dpbench")


def test_a_deadline_is_told():
    result = run("histograms", "--trials", "10000", "--deadline", "1", "--data", "zipf", "--domain", "64",
                 "--algorithms", "identity,hb")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "The time was over" in result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--data", "nowhere"], "'nowhere' is no shape"),
        (["--data", ","], "no shape to measure"),
        (["--data", "zipf", "--domain", "8x8"], "'zipf' is no shape"),
        (["--data", "2d", "--domain", "64"], "as many dimensions"),
        (["--domain", "64by64"], "written as 4096 or 64x64"),
        (["--domain", "64,128"], "one domain for lines"),
        (["--domain", "0"], "written as 4096"),
        (["--epsilon", "-1"], "epsilon must be a number above 0"),
        (["--epsilon", "much"], "epsilon must be a number above 0"),
        (["--epsilon", ""], "at least one"),
        (["--scale", "1.5"], "whole number"),
        (["--scale", "1e99"], "10"),
        (["--scale", "own"], "generated"),
        (["--algorithms", "magic"], "'magic'"),
        (["--algorithms", "quad tree"], "lines or planes"),
        (["--workload", "guess"], "a workload is one of"),
        (["--workload", "marginals"], "a line has none"),
        (["--relation", "swap"], "'swap'"),
        (["--trials", "0"], "trials"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_refusals(arguments, words):
    assert words in refused(*arguments)


def test_refuses_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("here")
    assert "can be written to" in refused("--output", tmp_path / "file")


def test_refuses_an_array_that_does_not_divide(tmp_path):
    np.save(tmp_path / "odd.npy", np.arange(65))
    assert "equal blocks" in refused("--data", tmp_path / "odd.npy", "--domain", "64")


def test_help_tells_an_example():
    assert "discreet bench histograms" in run("--help").output
    text = run("histograms", "--help").output
    for word in ("--data", "--epsilon", "--scale", "--domain", "--trials", "--algorithms", "--output", "Example:"):
        assert word in text
    assert run().exit_code in (0, 2)


def test_the_room_imports_no_pictures_and_no_terminal():
    code = "import sys, discreet.bench; print(*[m for m in ('altair', 'typer', 'rich', 'jinja2') if m in sys.modules])"
    assert not subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_help_names_all_that_there_is():
    assert bench_histograms.ALGORITHMS.split(", ") == list(ALGORITHMS)
    assert bench_histograms.WORKLOADS.split(", ") == list(WORKLOADS)


def test_commands_start_without_the_room():
    code = "import sys, discreet.cli.app; print(*[m for m in ('discreet.bench', 'scipy.signal') if m in sys.modules])"
    assert not subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
