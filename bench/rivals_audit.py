"""Our auditor pointed at other libraries, each in its own environment and at a pinned version.

    python bench/rivals_audit.py [--seconds 10] [--only opendp] [--json FILE] [--unpublished]

"refuted" means: on these two neighbours the stated claim is false, and we say so wrongly with probability below alpha.
"not refuted" is no proof; the last column says how much too little noise would have been noticed. What the library's
documentation says, and the public issue or paper, stand beside each row. Cases without a public source are in scripts
of their own (``bench/rivals/audit_unpublished_*.py``): they run with --unpublished alone, are printed to the terminal
alone, and are never written to a file.
"""

import argparse
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from environment import ROOT, in_rivals

AUDITOR = ["numpy>=2.0", "scipy>=1.13", "python-flint==0.9.0", "cryptography==50.0.2"]

RIVALS: dict[str, tuple[str, list[str]]] = {
    "opendp": ("", ["opendp==0.16.0"]),
    "diffprivlib": ("diffprivlib", ["diffprivlib==0.6.6", "scikit-learn<1.7"]),
    "smartnoise": ("smartnoise", ["smartnoise-sql==1.0.10"]),
    "pipelinedp": ("pipelinedp", ["pipeline-dp==0.3.1"]),
    "opacus": ("opacus", ["opacus==1.6.0", "torch==2.13.0"]),
}
"""The environment and the packages of each; an empty name is the environment that the benchmarks share."""


def audited(script: str, rival: str, seconds: float) -> dict[str, Any] | None:
    """Run a script in a rival's environment; say so if it fails."""
    environment, pins = RIVALS[rival]
    try:
        found = in_rivals(script, str(seconds), pins=[*pins, *AUDITOR], environment=environment)
    except subprocess.CalledProcessError as error:
        print(f"{script} failed:\n{error.stderr[-2000:]}", file=sys.stderr)
        return None
    return found


def show(found: dict[str, Any]) -> None:
    """Print the rows of one library."""
    print(f"\n{found['library']} {found['version']} (alpha {found['alpha']:g})")
    for case in found["cases"]:
        at = f" at delta {case['delta']:g}" if case.get("delta") else ""
        if case["kind"] == "check" or case["verdict"] == "did not run":
            result = case["verdict"] if case["verdict"] == "holds" else case["verdict"].upper()
        elif case["verdict"] == "refuted":
            least = f"at least {case['at_least']:.3g}"
            least = least if case["at_least"] > case["claimed"] else "an event is likelier than its curve allows"
            result = f"REFUTED: claim {case['claimed']:.3g}{at}, {least}"
        else:
            slack = f"{100 * case['slack']:.0f} % too little noise seen" if case["slack"] < 1 else "weak"
            result = f"not refuted: claim {case['claimed']:.3g}{at}, at least {case['at_least']:.3g}; {slack}"
        draws = f"{case['draws']:,} draws, " if "draws" in case else ""
        print(f"  {case['name']:<38} {result}  ({draws}{case['seconds']:.1f} s)")
        notes = [f"{case['relation']}: {case['pair']}", f"documentation: {case['says']}"]
        if case["verdict"] in {"refuted", "does not hold"}:
            notes += [f"seen: {case['evidence']}", f"public: {case['known'] or 'NOT PUBLIC'}"]
        for note in notes:
            print(textwrap.fill(note, 116, initial_indent=" " * 6, subsequent_indent=" " * 8))


def withheld(found: dict[str, Any]) -> list[str]:
    """Return what was found without a public source, which no file may name."""
    return [
        case["name"] for case in found["cases"] if case["verdict"] in {"refuted", "does not hold"} and not case["known"]
    ]


def main() -> None:
    """Audit, print, and write what is public."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each audit, at most 20")
    parser.add_argument("--only", choices=RIVALS, action="append", help="this library alone; may be repeated")
    parser.add_argument("--json", type=Path, help="write the public cases")
    parser.add_argument("--unpublished", action="store_true", help="also print the cases without a public source")
    options = parser.parse_args()
    os.nice(10)
    os.environ |= {"OMP_NUM_THREADS": "2", "PYTHONDONTWRITEBYTECODE": "1"}
    seconds, chosen = min(options.seconds, 20.0), options.only or list(RIVALS)
    public = []
    for rival in chosen:
        found = audited(f"audit_{rival}.py", rival, seconds)
        if found is None:
            print(f"\n{rival}: could not be installed or run here")
            continue
        show(found)
        surprises = withheld(found)
        found["cases"] = [case for case in found["cases"] if case["name"] not in surprises]
        public.append(found)
        if surprises:
            print(f"  without a public source, and not written to any file: {', '.join(surprises)}")
    if options.json:
        options.json.write_text(json.dumps(public, indent=2) + "\n")
    if options.unpublished:
        print("\n\nNOT PUBLIC: for the authors of these libraries first; not for any page")
        for rival in chosen:
            script = f"audit_unpublished_{rival}.py"
            if (ROOT / "bench" / "rivals" / script).exists():
                found = audited(script, rival, seconds)
                if found is not None:
                    show(found)


if __name__ == "__main__":
    main()
