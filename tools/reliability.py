"""``make reliability``: what was tried to break the package, counted in one table.

Runs the tests of bad input, of faults and of properties, and those of arrays and pp, all but the
faults under coverage.py; attacks with drawn input; asks for known vulnerabilities; reads what
``make mutants``, ``make test-lowest`` and ``make test-newest`` left; writes
``benchmarks/results/reliability.md``.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import audit
import fuzz
import versions

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
#: Tests of the rooms that know no AnnData.
ARRAYS = [
    *("tests/data", "tests/cells", "tests/criterion", "tests/solvers", "tests/glfs2014"),
    *("tests/rivals", "tests/measures"),
]
#: What is counted, the tests that are the count, and whether their coverage counts.
PARTS = {
    "bad inputs": (["tests/bad_inputs", "tests/rbridge/test_bad_inputs.py"], True),
    "faults": (["tests/test_faults.py"], False),
    "properties": (["tests/test_any_problem.py", "tests/test_invariances.py"], True),
    "arrays and pp": ([*ARRAYS, "tests/pp"], True),
}
#: What coverage is told of.
COVERED = {"cells, criterion and solvers": ("cells/", "criterion/", "solvers/"), "pp": ("pp.py",)}
#: Drawn cases of each regime, and their seed.
CASES, SEED = 220, 0
#: Slow, and of nothing that the others do not reach.
LEFT_OUT = "not approximate_neighbours and not two_processes and not order_of_the_components"
PACKAGES = ("numpy", "scipy", "scikit-learn", "anndata", "scanpy", "hypothesis")


@dataclass
class Run:
    """What a part of the tests gave."""

    tests: list[ET.Element]
    failed: int
    skipped: int
    examples: int

    @property
    def passed(self) -> int:
        """Tests that passed."""
        return len(self.tests) - self.failed - self.skipped

    def of(self, words: str) -> list[ET.Element]:
        """Tests in whose file or name the words are."""
        return [
            test for test in self.tests if words in f"{test.get('classname')} {test.get('name')}"
        ]


def run(part: str, data: Path) -> Run:
    """Run a part of the tests; coverage goes to `data`."""
    tests, covered = PARTS[part]
    report, began = data.with_suffix(".xml"), time.monotonic()
    command = [sys.executable, "-m"]
    if covered:
        command += ["coverage", "run", f"--data-file={data}", "-m"]
    command += ["pytest", "-q", f"--junit-xml={report}", "--hypothesis-show-statistics"]
    command += [
        "-o",
        "junit_family=xunit1",
        "-p",
        "no:cacheprovider",
        "--no-header",
        "-k",
        LEFT_OUT,
        *tests,
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    suite = ET.parse(report).getroot().find("testsuite") if report.exists() else None
    if suite is None:
        sys.exit(done.stdout[-3000:] + done.stderr[-3000:])
    failed = int(suite.attrib["failures"]) + int(suite.attrib["errors"])
    if failed:
        print(done.stdout[-6000:])
    examples = sum(map(int, re.findall(r"(\d+) passing\b", done.stdout)))
    found = Run([*suite.iter("testcase")], failed, int(suite.attrib["skipped"]), examples)
    told = f"{part}: {found.passed} passed, {failed} failed, {found.skipped} skipped"
    told += f", {examples} examples" if examples else ""
    print(f"{told}, {time.monotonic() - began:.0f} s", flush=True)
    return found


def coverage_of(data: list[Path], folder: Path) -> dict[str, str]:
    """Share of the branches that were taken, of the numerics and of pp."""
    together, report = folder / "all", folder / "coverage.json"
    base = [sys.executable, "-m", "coverage"]
    quiet = {"cwd": ROOT, "check": True, "stdout": subprocess.DEVNULL}
    subprocess.run([*base, "combine", f"--data-file={together}", *map(str, data)], **quiet)
    subprocess.run([*base, "json", f"--data-file={together}", "-o", str(report)], **quiet)
    files = json.loads(report.read_text())["files"]
    for name, entry in files.items():
        if missing := entry["missing_branches"]:
            print(f"{name}: not taken {missing}")
    shares = {}
    for package, folders in COVERED.items():
        summaries = [
            entry["summary"]
            for name, entry in files.items()
            if any(f"glfs_bio/{folder}" in name for folder in folders)
        ]
        taken, branches, lines, statements = (
            sum(summary[key] for summary in summaries)
            for key in ("covered_branches", "num_branches", "covered_lines", "num_statements")
        )
        shares[package] = (
            f"{100 * taken / branches:.1f} % of {branches} branches, "
            f"{100 * lines / statements:.1f} % of {statements} lines"
        )
        print(f"coverage of {package}: {shares[package]}", flush=True)
    return shares


def faults(found: Run) -> str:
    """How many were injected and survived, by kind."""
    kinds = {
        "in writing": len(found.of("_a_write_")),
        "Ctrl-C": len(found.of("test_ctrl_c")),
        "memory limits": len(found.of("test_too_little_memory")),
    }
    others = len(found.tests) - sum(kinds.values())
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    return f"{found.passed} of {len(found.tests)} ({told}, {others} files, folders and downloads)"


def interrupts(found: Run) -> str:
    """Seconds from Ctrl-C to the prompt."""
    seconds = [
        float(entry.get("value", "nan"))
        for test in found.of("test_ctrl_c")
        for entry in test.iter("property")
    ]
    return f"{max(seconds):.2f} s of processor time at the most, of {len(seconds)}"


def mutants() -> str:
    """What the last ``make mutants`` found."""
    path = RESULTS / "mutants.md"
    if not path.exists():
        return "not run: make mutants"
    text = path.read_text("utf-8")
    rows = re.findall(r"\| ([\w/]+) \| (\d+) \| (\d+) \| \d+ \|", text)
    told = ", ".join(f"{module} {killed} of {tried}" for module, tried, killed in rows)
    survivors = text.split("## Survivors")[-1].count("\n| ") - 1
    unexplained = text.count("**not explained**")
    commit = re.search("commit ([^,]+),", text)
    told += f"; of {survivors} survivors {survivors - unexplained} are explained"
    return f"{told} (make mutants, commit {commit[1] if commit else 'unknown'})"


def other_versions() -> str:
    """What the last ``make test-lowest`` and ``make test-newest`` gave."""
    told = [f"this one: Python {platform.python_version()}"]
    rows = versions.TABLE.read_text("utf-8") if versions.TABLE.exists() else ""
    for name in ("lowest", "newest"):
        row = re.search(rf"^\| {name} \|(.*)\|$", rows, re.M)
        if row is None:
            told.append(f"{name}: not run (make test-{name})")
            continue
        cells = [cell.strip() for cell in row[1].split("|")]
        of = dict(zip(("Python", *versions.PACKAGES), cells, strict=False))
        passed, _, failed, commit = cells[-4:]
        told.append(
            f"{name}: Python {of['Python']}, numpy {of['numpy']}, anndata {of['anndata']}, "
            f"scanpy {of['scanpy']}: {passed} passed, {failed} failed "
            f"(make test-{name}, commit {commit})"
        )
    return "; ".join(told)


def main() -> int:
    """Run, print and write."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = {part: folder / f"part{i}" for i, part in enumerate(PARTS)}
        found = {part: run(part, data[part]) for part in PARTS}
        shares = coverage_of([path for path in data.values() if path.exists()], folder)
    attacked, bad = fuzz.table(SEED, CASES)
    print(attacked.to_markdown(), flush=True)
    vulnerabilities, flaws = audit.told_of("requirements/dev.txt")
    print(f"audit: {vulnerabilities}", flush=True)
    in_r = found["bad inputs"].of("rbridge")
    r_rows = sum(test.find("skipped") is None for test in in_r)
    failed = sum(part.failed for part in found.values()) + bad
    rows = [
        (
            "bad inputs tried and refused",
            f"{found['bad inputs'].passed}, {r_rows} of them in R",
        ),
        ("property examples run", str(sum(part.examples for part in found.values()))),
        ("faults injected and survived", faults(found["faults"])),
        ("Ctrl-C returns within", interrupts(found["faults"])),
        *((f"coverage of {package}", shares[package]) for package in COVERED),
        ("mutants killed", mutants()),
        ("versions", other_versions()),
        ("known vulnerabilities", vulnerabilities),
        ("tests that failed", str(failed)),
    ]
    packages = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    minutes = (time.monotonic() - began) / 60
    text = "\n".join(
        [
            "# Reliability",
            "",
            f"`make reliability`, commit {versions.commit()}, {minutes:.0f} minutes; "
            f"Python {platform.python_version()}, {packages}",
            "",
            "| what | |",
            "|---|---|",
            *(f"| {what} | {value} |" for what, value in rows),
            "",
            f"Attacked with {CASES} drawn cases of each regime (`python tools/fuzz.py "
            f"--seed {SEED} --cases {CASES}`), each in a process of its own. Right: accepted, and "
            "as an oracle has it. Refused: by an error that names the argument. Foreign: another.",
            "",
            attacked.to_markdown(),
            "",
        ]
    )
    print(text)
    if not failed:
        (RESULTS / "reliability.md").write_text(text, encoding="utf-8")
    return int(failed + flaws > 0)


if __name__ == "__main__":
    sys.exit(main())
