"""``python tools/versions.py lowest|newest [--short]``: the tests with other versions.

They run in ``.venv-lowest`` or ``.venv-newest``, which make installs.  Without ``--short`` the row
of ``benchmarks/results/versions.md`` is written, which ``make reliability`` reads.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "benchmarks" / "results" / "versions.md"
#: Mathematics, AnnData in and out, files; what draws, or starts R, follows from these.
LONG = [
    *("tests/data", "tests/cells", "tests/criterion", "tests/solvers", "tests/glfs2014"),
    *("tests/rivals", "tests/measures", "tests/pp", "tests/io", "tests/tl"),
    *("tests/estimators", "tests/bad_inputs", "tests/test_reproducible.py"),
]
SHORT = [
    *("tests/glfs2014", "tests/criterion", "tests/solvers"),
    *("tests/cells/test_graph.py", "tests/cells/test_noise.py"),
    *("tests/pp/test_select_genes.py", "tests/pp/test_recorded.py", "tests/io"),
    *("tests/bad_inputs/test_select_genes.py", "tests/tl/test_enrich.py"),
]
#: dask is an extra, whose versions are those of today.
OF_DASK = ["tests/data/test_matrix.py", "tests/pp/test_lazy.py"]
#: Older libraries warn of what newer ones have mended: their warnings are not ours.
OPTIONS = {
    "lowest": ["-o", "filterwarnings=default", *(f"--ignore={test}" for test in OF_DASK)],
    "newest": [],
}
PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "anndata", "scanpy", "numba", "matplotlib")
ASK = f"""
import json, platform
from importlib.metadata import version
print(json.dumps([platform.python_version(), *map(version, {PACKAGES})]))
"""


def commit() -> str:
    """The commit that the tests are of, and whether the files are others by now."""
    told = [
        subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
        for words in (["rev-parse", "--short", "HEAD"], ["status", "--porcelain", "glfs_bio"])
    ]
    return (told[0].stdout.strip() or "unknown") + (" with changes" if told[1].stdout else "")


def main(name: str, *, short: bool) -> int:
    """Run, and write the row."""
    python = ROOT / f".venv-{name}" / "bin" / "python"
    report = ROOT / f".venv-{name}" / "tests.xml"
    report.unlink(missing_ok=True)
    tests = SHORT if short else LONG
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junit-xml={report}"]
    one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, *OPTIONS[name], *tests], cwd=ROOT, env=one_thread | os.environ, check=False
    )
    versions = json.loads(
        subprocess.run([python, "-c", ASK], capture_output=True, check=True).stdout
    )
    suite = ET.parse(report).getroot().find("testsuite") if report.exists() else None
    if suite is None:
        return done.returncode or 1
    count = {key: int(suite.attrib[key]) for key in ("tests", "failures", "errors", "skipped")}
    failed = count["failures"] + count["errors"]
    passed = count["tests"] - failed - count["skipped"]
    row = f"| {name} | {' | '.join(versions)} | {passed} | {count['skipped']} | {failed} |"
    print(row)
    if not short:
        write(name, f"{row} {commit()} |")
    return done.returncode


def write(name: str, row: str) -> None:
    """Put the row into the table, in place of the one before."""
    rows = (
        re.findall(r"^\| (?:lowest|newest) \|.*$", TABLE.read_text("utf-8"), re.M)
        if (TABLE.exists())
        else []
    )
    rows = sorted([row, *(old for old in rows if not old.startswith(f"| {name} |"))])
    heads = ["", "Python", *PACKAGES, "passed", "skipped", "failed", "commit"]
    lines = ["# Versions", "", "`make test-lowest`, `make test-newest`", ""]
    lines += [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *rows]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], short="--short" in sys.argv))
