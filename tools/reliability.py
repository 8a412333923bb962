"""``make reliability``: what was tried to break the package, counted in one table.

Runs the tests of bad input, of faults, of properties and with drawn input, and those of arrays and
pp, most under coverage.py; asks for known vulnerabilities; reads what ``make mutants``, ``make
test-lowest`` and ``make test-newest`` left; writes ``benchmarks/results/reliability.md``.

``python tools/reliability.py audit`` (``make audit``) is the part on vulnerabilities alone, and
``python tools/reliability.py lowest|newest [--short]`` runs the tests with the versions of the
Python that it is started with, those of ``.venv-lowest`` or ``.venv-newest``, which make installs;
without ``--short``, and outside CI, their row of ``benchmarks/results/versions.md`` is written.
``python tools/reliability.py part`` prints the tests that ``--short`` means.
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

import pandas as pd

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
BAD_INPUTS = [f"tests/{room}/test_bad_input.py" for room in ("pp", "tl", "estimators", "cli")]
ATTACKS = "tests/test_attacks.py"
#: Examples of each attack.
EXAMPLES = 220
#: An answer as an oracle has it, or without one; an error that names the argument; another error,
#: an answer that the oracle has not, the end of the process.
OUTCOMES = ("right", "accepted", "refused", "foreign", "wrong", "crash")
#: Tests of what knows no AnnData.
ARRAYS = [
    *("tests/data", "tests/cells", "tests/criterion", "tests/solvers", "tests/glfs2014"),
    *("tests/rivals", "tests/measures"),
]
#: What is counted, the tests that are the count, and whether their coverage counts.
PARTS = {
    "bad inputs": ([*BAD_INPUTS, "tests/rbridge/test_words.py::test_refused"], True),
    "faults": (["tests/test_faults.py"], False),
    "properties": (
        ["tests/test_any_problem.py", "tests/glfs2014", "tests/test_invariances.py"],
        True,
    ),
    # a process of its own, so that one that ends it is counted
    "attacks": ([ATTACKS, "--numprocesses=1"], False),
    "arrays and pp": ([*ARRAYS, "tests/pp"], True),
}
#: What coverage is told of.
COVERED = {"cells, criterion and solvers": ("cells/", "criterion/", "solvers/"), "pp": ("pp.py",)}
#: Slow, and of nothing that the others do not reach.
LEFT_OUT = "not approximate_neighbours and not two_processes and not order_of_the_components"
PACKAGES = ("numpy", "scipy", "scikit-learn", "anndata", "scanpy", "hypothesis")
#: Seconds that pip-audit may take.
PATIENCE = 120
TABLE = RESULTS / "versions.md"
#: All but those of R, which need what the lock has for it; of the lowest versions mathematics,
#: AnnData and files, from which what draws follows.
LONG = {
    "lowest": [
        *(*ARRAYS, "tests/pp", "tests/_anndata", "tests/io", "tests/tl"),
        *("tests/estimators", "tests/test_reproducible.py"),
    ],
    "newest": ["--ignore=tests/rbridge"],
}
PART = [
    *("tests/glfs2014", "tests/criterion", "tests/solvers"),
    *("tests/cells/test_graph.py", "tests/cells/test_noise.py"),
    *("tests/pp/test_select_genes.py", "tests/test_pp.py", "tests/io"),
    *("tests/pp/test_bad_input.py", "tests/tl/test_enrich.py"),
]
#: dask is an extra, whose versions are those of today.
OF_DASK = [
    *("tests/data/test_matrix.py", "tests/data/test_made.py", "tests/pp/test_lazy.py"),
    "tests/estimators/test_outside.py",
]
#: Older libraries warn of what newer ones have mended: their warnings are not ours.
OPTIONS = {
    "lowest": ["-o", "filterwarnings=default", *(f"--ignore={test}" for test in OF_DASK)],
    "newest": [],
}
VERSIONS = ("numpy", "scipy", "pandas", "scikit-learn", "anndata", "scanpy", "numba", "matplotlib")


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


def attacks(found: Run) -> str:
    """A table of the outcomes of every attack."""
    rows = {}
    for test in found.tests:
        row = dict.fromkeys(OUTCOMES, 0)
        for entry in test.iter("property"):
            if entry.get("name") in row:
                row[str(entry.get("name"))] = int(entry.get("value", "0"))
        for failure in [*test.iter("failure"), *test.iter("error")]:
            said = failure.get("message", "")
            crashed, differs = "crashed" in said, said.startswith(("AssertionError", "assert "))
            row["crash" if crashed else "wrong" if differs else "foreign"] += 1
        rows[str(test.get("name")).removeprefix("test_").replace("_", " ")] = row
    return pd.DataFrame.from_dict(rows, orient="index").to_markdown()


def mutants() -> str:
    """What the last ``make mutants`` found, by module."""
    command = [sys.executable, "-m", "mutmut", "results", "--all", "true"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = re.findall(r"glfs_bio\.([\w.]+)\.\w+: ([\w ]+)$", done.stdout, re.MULTILINE)
    fates = [one for one in found if one[1] != "not checked"]
    if not fates:
        return "not run: make mutants"
    counts = (
        pd.DataFrame(fates, columns=["module", "fate"])
        .value_counts(sort=False)
        .unstack(fill_value=0)
    )
    return ", ".join(
        f"{module} {row.sum() - row.get('survived', 0)} of {row.sum()}"
        for module, row in counts.iterrows()
    )


def other_versions() -> str:
    """What the last ``make test-lowest`` and ``make test-newest`` gave."""
    told = [f"this one: Python {platform.python_version()}"]
    rows = TABLE.read_text("utf-8") if TABLE.exists() else ""
    for name in ("lowest", "newest"):
        row = re.search(rf"^\| {name} \|(.*)\|$", rows, re.M)
        if row is None:
            told.append(f"{name}: not run (make test-{name})")
            continue
        cells = [cell.strip() for cell in row[1].split("|")]
        of = dict(zip(("Python", *VERSIONS), cells, strict=False))
        passed, _, failed, commit = cells[-4:]
        told.append(
            f"{name}: Python {of['Python']}, numpy {of['numpy']}, anndata {of['anndata']}, "
            f"scanpy {of['scanpy']}: {passed} passed, {failed} failed "
            f"(make test-{name}, commit {commit})"
        )
    return "; ".join(told)


def commit() -> str:
    """The commit that the tests are of, and whether the files are others by now."""
    told = [
        subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
        for words in (["rev-parse", "--short", "HEAD"], ["status", "--porcelain", "glfs_bio"])
    ]
    return (told[0].stdout.strip() or "unknown") + (" with changes" if told[1].stdout else "")


def audit(lock: str = "lock.txt") -> tuple[str, int]:
    """What pip-audit found, in one line, and how many vulnerabilities.

    Without a network, or with an index that does not know the packages, nothing can be known: that
    is said, and is no failure.
    """
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes"]
    command += ["--progress-spinner", "off", "--format", "json", "--timeout", "10"]
    try:
        done = subprocess.run(
            [*command, "--requirement", lock],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            timeout=PATIENCE,
        )
        packages = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError):
        return f"the database of vulnerabilities did not answer: {lock} is not audited", 0
    unknown = sum("skip_reason" in package for package in packages)
    found = [
        f"{package['name']} {package['version']} ({', '.join(one['id'] for one in flaws)})"
        for package in packages
        if (flaws := package.get("vulns"))
    ]
    looked_up = len(packages) - unknown
    if not looked_up:
        return f"none of {len(packages)} packages could be looked up: {lock} is not audited", 0
    told = f"{looked_up} of {len(packages)} packages looked up, {len(found)} with known flaws"
    return ": ".join([told, *([", ".join(found)] if found else [])]), len(found)


def with_versions(name: str, *, short: bool) -> int:
    """Run the tests with other versions, and write the row."""
    report = Path(sys.prefix) / "tests.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs"]
    command += ["--numprocesses=logical", "--dist=worksteal", f"--junit-xml={report}"]
    command += [*OPTIONS[name], *(PART if short else LONG[name])]
    one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=one_thread | os.environ, check=False)
    used = [platform.python_version(), *map(version, VERSIONS)]
    suite = ET.parse(report).getroot().find("testsuite") if report.exists() else None
    if suite is None:
        return done.returncode or 1
    count = {key: int(suite.attrib[key]) for key in ("tests", "failures", "errors", "skipped")}
    failed = count["failures"] + count["errors"]
    passed = count["tests"] - failed - count["skipped"]
    row = f"| {name} | {' | '.join(used)} | {passed} | {count['skipped']} | {failed} |"
    print(row)
    if not (short or os.environ.get("CI")):
        write_row(name, f"{row} {commit()} |")
    return done.returncode


def write_row(name: str, row: str) -> None:
    """Put the row into the table, in place of the one before."""
    rows = (
        re.findall(r"^\| (?:lowest|newest) \|.*$", TABLE.read_text("utf-8"), re.M)
        if (TABLE.exists())
        else []
    )
    rows = sorted([row, *(old for old in rows if not old.startswith(f"| {name} |"))])
    heads = ["", "Python", *VERSIONS, "passed", "skipped", "failed", "commit"]
    lines = ["# Versions", "", "`make test-lowest`, `make test-newest`", ""]
    lines += [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *rows]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> int:
    """Run, print and write."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    os.environ["GLFS_BIO_EXAMPLES"] = str(EXAMPLES)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = {part: folder / f"part{i}" for i, part in enumerate(PARTS)}
        found = {part: run(part, data[part]) for part in PARTS}
        shares = coverage_of([path for path in data.values() if path.exists()], folder)
    attacked = attacks(found["attacks"])
    print(attacked, flush=True)
    vulnerabilities, flaws = audit()
    print(f"audit: {vulnerabilities}", flush=True)
    in_r = found["bad inputs"].of("rbridge")
    r_rows = sum(test.find("skipped") is None for test in in_r)
    failed = sum(part.failed for part in found.values())
    examples = sum(part.examples for name, part in found.items() if name != "attacks")
    rows = [
        (
            "bad inputs tried and refused",
            f"{found['bad inputs'].passed}, {r_rows} of them in R",
        ),
        ("property examples run", str(examples)),
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
            f"`make reliability`, commit {commit()}, {minutes:.0f} minutes; "
            f"Python {platform.python_version()}, {packages}",
            "",
            "| what | |",
            "|---|---|",
            *(f"| {what} | {value} |" for what, value in rows),
            "",
            f"Attacked with {EXAMPLES} drawn cases of each kind (`{ATTACKS}`). Right: accepted, "
            "as an oracle has it. Refused: by an error that names the argument. Foreign: another.",
            "",
            attacked,
            "",
        ]
    )
    print(text)
    if not failed:
        (RESULTS / "reliability.md").write_text(text, encoding="utf-8")
    return int(failed + flaws > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["audit"]:
        line, n_flaws = audit()
        print(f"audit: {line}")
        sys.exit(int(n_flaws > 0))
    if sys.argv[1:] == ["part"]:
        sys.exit(print(*PART))
    if sys.argv[1:]:
        sys.exit(with_versions(sys.argv[1], short="--short" in sys.argv))
    sys.exit(main())
