"""The Python sources in the R package, from which its environment is made."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import glfs_bio

OURS = Path(glfs_bio.__file__).parent


def test_the_sources_are_installed_without_an_index(run_r, tmp_path):
    """As they are here, in a folder that has another glfs_bio in it."""
    carried = Path(run_r("cat(glfsbio:::carried('source'))"))
    files = {path.relative_to(carried / "glfs_bio") for path in carried.rglob("*/*.py")}
    assert files == {path.relative_to(OURS) for path in OURS.rglob("*.py")}
    assert not list(carried.rglob("__pycache__"))
    (tmp_path / "glfs_bio").mkdir()
    (tmp_path / "glfs_bio" / "__init__.py").write_text("raise SystemExit\n")
    lines = run_r("""
        assignInNamespace("install_step", function(python, arguments) {
            if ("venv" %in% arguments) dir.create(arguments[3L], recursive = TRUE)
            cat(arguments, sep = "\\n")
        }, "glfsbio")
        assignInNamespace("check_modules", function(...) NULL, "glfsbio")
        assignInNamespace("find_python", function(...) "python3", "glfsbio")
        Sys.setenv(R_USER_CACHE_DIR = getwd())
        suppressMessages(glfs_install())
    """).splitlines()
    assert lines[-1] == str(carried)
    last = len(lines) - 1 - lines[::-1].index("install")
    command = [sys.executable, "-m", "pip", *lines[last:], "--target", tmp_path / "there"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    (about,) = (tmp_path / "there").glob("glfs_bio-*.dist-info/METADATA")
    assert f"\nVersion: {version('glfs-bio')}\n" in about.read_text(encoding="utf-8")


def test_every_pin_has_a_hash(run_r):
    listed = Path(run_r("cat(glfsbio:::carried('requirements.txt'))")).read_text(encoding="utf-8")
    pins = re.findall(r"^.*==.*$", listed, re.MULTILINE)
    blocks = re.split(r"\n(?=\S)", run_r("writeLines(readLines(glfsbio:::pinned()))").strip())
    assert [one.split(" \\\n")[0] for one in blocks] == pins
    assert {"anndata", "hatchling", "scanpy"} <= {one.split("==")[0] for one in blocks}
    assert all("\n    --hash=sha256:" in one for one in blocks)
