"""The recipes of CONTRIBUTING.md, done in a copy of the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import glfs_bio

PACKAGE = Path(glfs_bio.__file__).parent
GUIDE = PACKAGE.parent / "CONTRIBUTING.md"
BLOCK = re.compile(r"```python\n# (new file )?(\S+?)(?:, after: ([^\n]+))?\n(.*?)```", re.DOTALL)

USE = """
import scanpy as sc
import glfs_bio
from glfs_bio import Limits
from glfs_bio._anndata.results import request_of
from glfs_bio._docs import parameters
from glfs_bio.rbridge.formals import FUNCTIONS

adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
variants = (
    {"method": "noisiest"},
    {"objective": "unweighted"},
    {"preserve": "everything"},
    {"limits": Limits(per_letter=2)},
    {"avoid": "CD"},
)
for options in variants:
    glfs_bio.pp.select_genes(adata, 8, **options)
    chosen = adata.var_names[adata.var["glfs_selected"]]
    assert len(chosen) == 8, options
    if "limits" in options:
        assert chosen.str[:1].value_counts().max() <= 2
assert not chosen.str.startswith("CD").any()
assert request_of(adata, "glfs").avoid == "CD"
assert "avoid" in parameters(FUNCTIONS["select_genes"])
"""


def run(root: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def insert(path: Path, anchor: str, code: str) -> None:
    """Put code below the line that ends with the anchor."""
    lines = path.read_text().split("\n")
    (place,) = [number for number, line in enumerate(lines) if line.strip().endswith(anchor)]
    lines.insert(place + 1, code.rstrip("\n"))
    path.write_text("\n".join(lines))


@pytest.mark.skipif(not GUIDE.exists(), reason="no CONTRIBUTING.md beside the package")
def test_what_the_recipes_add_works(tmp_path):
    """Each recipe edits two files; a new parameter is an option of the shell too."""
    shutil.copytree(PACKAGE, tmp_path / "glfs_bio")  # with what is compiled of unchanged files
    edited = []
    for recipe in GUIDE.read_text("utf-8").split("\n## "):
        blocks = BLOCK.findall(recipe)
        edited += [{name for _, name, _, _ in blocks}] if blocks else []
        for is_new, name, anchor, code in blocks:
            if is_new:
                (tmp_path / name).write_text(code)
            else:
                insert(tmp_path / name, anchor, code)
    assert [len(files) for files in edited] == [2] * 5
    run(tmp_path, "-c", USE)
    options = run(tmp_path, "-m", "glfs_bio", "select", "--help")
    assert "--avoid" in options
