"""The rivals' own environment: made once beside the project's, never mixed with it."""

import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RIVALS = ROOT / ".venv-rivals"


def in_rivals(
    script: str, *arguments: str, pins: list[str], environment: str = "", timeout: float | None = None
) -> Any:
    """Run a script of ``bench/rivals`` with these packages and return its JSON; None if they do not install.

    Rivals whose requirements exclude each other, or weigh a gigabyte, get an environment of their own by name. A script
    that takes longer than ``timeout`` seconds is stopped: ``subprocess.TimeoutExpired``.
    """
    home = RIVALS.with_name(f"{RIVALS.name}-{environment}") if environment else RIVALS
    python = home / "bin" / "python"
    if not python.exists():
        print(f"making {home.name} ...", file=sys.stderr)
        venv.create(home, with_pip=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pins]
    if subprocess.run(install, check=False, stderr=subprocess.DEVNULL).returncode:
        print(f"{', '.join(pins)} cannot be installed here: that column stays empty.", file=sys.stderr)
        return None
    done = subprocess.run(
        [python, ROOT / "bench" / "rivals" / script, *arguments],
        check=True,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    return json.loads(done.stdout)
