"""The rivals' own environment: made once beside the project's, never mixed with it."""

import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RIVALS = ROOT / ".venv-rivals"


def in_rivals(script: str, *arguments: str, pins: list[str]) -> Any:
    """Run a script of ``bench/rivals`` with these packages and return its JSON; None if they do not install."""
    python = RIVALS / "bin" / "python"
    if not python.exists():
        print("making .venv-rivals ...", file=sys.stderr)
        venv.create(RIVALS, with_pip=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pins]
    if subprocess.run(install, check=False, stderr=subprocess.DEVNULL).returncode:
        print(f"{', '.join(pins)} cannot be installed here: that column stays empty.", file=sys.stderr)
        return None
    done = subprocess.run(
        [python, ROOT / "bench" / "rivals" / script, *arguments], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)
