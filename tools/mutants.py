"""Test mutants of the mathematics: ``make mutants``, and ``make mutants SAMPLE=100`` for a part.

``[tool.mutmut]`` of ``pyproject.toml`` names the modules that are mutated and the tests that are to
notice.  Prints the mutants that no test killed, and how many have which status.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

from mutmut.stats import status_by_exit_code

ROOT = Path(__file__).parents[1]
RUN = [str(Path(sys.executable).with_name("mutmut")), "run"]


def statuses() -> dict[str, str]:
    """Return the status of every mutant, in mutmut's words."""
    codes: dict[str, int | None] = {}
    for record in (ROOT / "mutants").rglob("*.meta"):
        codes |= json.loads(record.read_text("utf-8"))["exit_code_by_key"]
    return {name: status_by_exit_code[code] for name, code in codes.items()}


def draw(size: int) -> list[str]:
    """Return the names of some mutants, always the same."""
    # to test one mutant, mutmut writes all of them
    subprocess.run([*RUN, "glfs_bio.selection.*__mutmut_1"], cwd=ROOT, check=True)
    return random.Random(0).sample(sorted(statuses()), size)


def main(sample: list[str]) -> None:
    """Test the mutants of a sample, or all where it is empty."""
    subprocess.run([*RUN, *sample], cwd=ROOT, check=True)
    tested = {name: status for name, status in statuses().items() if name in sample or not sample}
    for name, status in tested.items():
        if status != "killed":
            print(f"{status}: {name}")
    print(dict(Counter(tested.values())))


if __name__ == "__main__":
    main(draw(int(sys.argv[1])) if len(sys.argv) > 1 else [])
