"""The tree that is submitted to Bioconductor."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "r_bridge" / "submission.R"
ADDRESS = "https://bioc.test/panels"


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is missing")
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a source distribution has no git")
def test_the_tree_has_all_that_git_tracks(tmp_path):
    tree = tmp_path / "glfsbio"
    person = "Ada King Lovelace <ada@bioc.test>"
    command = ["Rscript", SCRIPT, "--only-build", tree, person, f"{ADDRESS}/"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode != 0
    assert str(tree) in again.stderr

    package = ROOT / "r_bridge" / "glfsbio"
    found = {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}
    listed = subprocess.run(
        ["git", "ls-files"], cwd=package, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert {name for name in listed if (package / name).is_file()} <= found
    assert not [path for path in tree.rglob("*") if path.is_symlink()]
    assert not [name for name in found if name.endswith(".pyc")]
    names = Path("inst/python/source/glfs_bio/vendors/names.tsv.xz")  # binary, by a link
    assert (tree / names).read_bytes() == (package / names).read_bytes()

    texts = {name: (tree / name).read_bytes() for name in found}
    assert not [name for name, text in texts.items() if b"example.org/glfs-bio" in text]
    description = texts["DESCRIPTION"].decode()
    assert f"\nURL: {ADDRESS}\nBugReports: {ADDRESS}/issues\n" in description
    assert 'person("Ada King", "Lovelace", email = "ada@bioc.test"' in description
    assert "R (>= 4.5.0),\n    SingleCellExperiment" in description
    own = (ROOT / "pyproject.toml").read_text("utf-8").count("https://example.org/glfs-bio")
    assert texts["inst/python/source/pyproject.toml"].count(ADDRESS.encode()) == own > 0
