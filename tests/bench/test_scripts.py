"""The scripts of ``bench`` that need real data say so where there is none, and end well: ``make bench`` goes on."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"
NEED = {
    "synthetic.py": [],
    "smooth.py": [],
    "selector.py": [],
    "learn_convex.py": [],
    "tables_accuracy.py": [],
    "dual_query.py": ["out"],
}


@pytest.mark.parametrize("value", [None, "", "nowhere"])
@pytest.mark.parametrize("script", NEED)
def test_without_data_a_script_says_what_it_skips(script, value, tmp_path):
    environment = {name: held for name, held in os.environ.items() if name != "DISCREET_DATA"}
    if value is not None:
        environment["DISCREET_DATA"] = value
    command = [sys.executable, BENCH / script, *NEED[script]]
    found = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert "skipped: " in found.stdout
    assert "Traceback" not in found.stderr


def test_every_script_of_make_bench_that_reads_real_data_is_tried():
    makefile = (BENCH.parent / "Makefile").read_text()
    scripts = re.findall(r"bench/(\w+\.py)", makefile)
    reads = {one for one in scripts if re.search(r"DISCREET_DATA|import real", (BENCH / one).read_text())}
    assert reads - {"workloads.py", "learn_cpu.py"} <= NEED.keys()  # they need none unless they are asked for more
