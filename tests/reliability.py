"""``make reliability``: what was tried to break the package, counted in one table.

Runs the tests of bad input, of properties and of faults under coverage.py, with the tests of core
and pp; reads what ``make mutants`` left; writes ``benchmarks/results/reliability.md``.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
#: What is counted, and the tests that are the count.
PARTS = {
    "bad inputs": ["tests/bad_inputs"],
    "faults": ["tests/test_faults.py"],
    "properties": ["tests/properties", "tests/test_invariances.py"],
    "the rest of core and pp": ["tests/core", "tests/pp", "tests/test_reproducible.py"],
}
PACKAGES = ("numpy", "scipy", "scikit-learn", "anndata", "scanpy", "hypothesis")


def run(part: list[str], data: Path) -> tuple[int, int, int]:
    """Passed tests, failed tests, and examples that hypothesis made."""
    report = data.with_suffix(".xml")
    command = [sys.executable, "-m", "coverage", "run", f"--data-file={data}", "-m", "pytest", "-q"]
    command += [f"--junit-xml={report}", "--hypothesis-show-statistics", "--no-header", *part]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    suite = ET.parse(report).getroot().find("testsuite")
    if suite is None:
        sys.exit(done.stdout[-3000:] + done.stderr[-3000:])
    failed = int(suite.attrib["failures"]) + int(suite.attrib["errors"])
    if failed:
        print(done.stdout[-6000:])
    examples = sum(map(int, re.findall(r"(\d+) passing examples", done.stdout)))
    return int(suite.attrib["tests"]) - failed - int(suite.attrib["skipped"]), failed, examples


def coverage_of(data: list[Path], folder: Path) -> dict[str, str]:
    """Share of the branches of core and of pp that were taken."""
    together, report = folder / "all", folder / "coverage.json"
    base = [sys.executable, "-m", "coverage"]
    quiet = {"cwd": ROOT, "check": True, "stdout": subprocess.DEVNULL}
    subprocess.run([*base, "combine", f"--data-file={together}", *map(str, data)], **quiet)
    subprocess.run([*base, "json", f"--data-file={together}", "-o", str(report)], **quiet)
    shares = {}
    for package in ("core", "pp"):
        files = [
            entry["summary"]
            for name, entry in json.loads(report.read_text())["files"].items()
            if f"glfs_bio/{package}/" in name
        ]
        taken, branches = (
            sum(file[key] for file in files) for key in ("covered_branches", "num_branches")
        )
        lines, statements = (
            sum(file[key] for file in files) for key in ("covered_lines", "num_statements")
        )
        shares[package] = (
            f"{100 * taken / branches:.1f} % of {branches} branches, "
            f"{100 * lines / statements:.1f} % of {statements} lines"
        )
    return shares


def mutants() -> str:
    """What the last ``make mutants`` found."""
    path = RESULTS / "mutants.md"
    if not path.exists():
        return "not run: make mutants"
    rows = re.findall(r"\| (core/\w+) \| (\d+) \| (\d+) \| \d+ \|", path.read_text("utf-8"))
    told = ", ".join(f"{module} {killed} of {tried}" for module, tried, killed in rows)
    return f"{told} (read from mutants.md)"


def versions() -> str:
    """Environments that exist beside this one, which make test-lowest and test-newest leave."""
    told = [f"this one: Python {platform.python_version()}"]
    for name in ("lowest", "newest"):
        python = ROOT / f".venv-{name}" / "bin" / "python"
        if python.exists():
            code = "import platform, numpy, anndata, scanpy; print(platform.python_version(), "
            code += "numpy.__version__, anndata.__version__, scanpy.__version__)"
            done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
            found = done.stdout.split()
            if len(found) == 4:
                told.append(
                    "{}: Python {}, numpy {}, anndata {}, scanpy {}".format(name, *found)
                    + f" (make test-{name})"
                )
        else:
            told.append(f"{name}: not installed here (make test-{name})")
    return "; ".join(told)


def main() -> int:
    """Run, print and write."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = {part: folder / f"part{i}" for i, part in enumerate(PARTS)}
        found = {part: run(tests, data[part]) for part, tests in PARTS.items()}
        shares = coverage_of([path for path in data.values() if path.exists()], folder)
    failed = sum(part[1] for part in found.values())
    rows = [
        ("bad inputs tried and refused", str(found["bad inputs"][0])),
        ("property examples run", str(sum(part[2] for part in found.values()))),
        ("faults injected and survived", str(found["faults"][0])),
        ("coverage of core", shares["core"]),
        ("coverage of pp", shares["pp"]),
        ("mutants killed", mutants()),
        ("versions", versions()),
        ("tests that failed", str(failed)),
    ]
    packages = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    text = "\n".join(
        [
            "# Reliability",
            "",
            f"`make reliability`, Python {platform.python_version()}, {packages}",
            "",
            "| what | |",
            "|---|---|",
            *(f"| {what} | {value} |" for what, value in rows),
            "",
        ]
    )
    print(text)
    if not failed:
        (RESULTS / "reliability.md").write_text(text, encoding="utf-8")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
