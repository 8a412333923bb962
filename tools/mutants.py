"""Test mutants of the mathematics: ``make mutants``, and ``make mutants SAMPLE=100`` for a part.

``[tool.mutmut]`` of ``pyproject.toml`` names the modules that are mutated and the tests that are to
notice.  The last line is the score: the share of the mutants that a test noticed.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
MUTANTS = ROOT / "mutants"
#: Statuses by the exit codes of mutmut; all others, too long a run among them, are noticed.
NOT_NOTICED = {0: "survived", 33: "without a test"}


def exit_codes() -> dict[str, int | None]:
    """Return the exit code of the tests of every mutant; None where they did not run."""
    codes: dict[str, int | None] = {}
    for record in MUTANTS.rglob("*.meta"):
        codes |= json.loads(record.read_text("utf-8"))["exit_code_by_key"]
    return codes


def main(sample: int | None) -> None:
    """Test all mutants, or a sample that is always the same."""
    command = [str(Path(sys.executable).with_name("mutmut")), "run"]
    names: list[str] = []
    if sample is not None:
        # one mutant makes mutmut write all of them
        subprocess.run([*command, "glfs_bio.selection.*__mutmut_1"], cwd=ROOT, check=True)
        names = random.Random(0).sample(sorted(exit_codes()), sample)
    subprocess.run([*command, *names], cwd=ROOT, check=True)
    codes = exit_codes()
    statuses = Counter(NOT_NOTICED.get(codes[name], "noticed") for name in names or codes)
    for name in names or codes:
        if codes[name] in NOT_NOTICED:
            print(f"{NOT_NOTICED[codes[name]]}: {name}")
    print(f"{statuses['noticed']} of {sum(statuses.values())} mutants were noticed")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else None)
