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

adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
variants = (
    {"method": "noisiest"},
    {"objective": "unweighted"},
    {"preserve": "everything"},
    {"avoid": "CD"},
    {"limits": Limits(per_letter=2)},
)
for options in variants:
    glfs_bio.pp.select_genes(adata, 8, **options)
    assert adata.var["glfs_selected"].sum() == 8, options
    chosen = adata.var_names[adata.var["glfs_selected"]]
    assert options.get("avoid") is None or not chosen.str.startswith("CD").any()
assert chosen.str[:1].value_counts().max() <= 2

glfs_bio.pp.select_genes(adata, 8, avoid="CD")
assert glfs_bio.pp.recorded_parameters(adata)["avoid"] == "CD"
from glfs_bio.rbridge import formals
assert "avoid" in formals.argument_names("select_genes")
"""


@pytest.fixture(scope="module")
def copied(tmp_path_factory) -> Path:
    """A copy of the package with everything added that the guide adds."""
    if not GUIDE.exists():
        pytest.skip("no CONTRIBUTING.md beside the package")
    root = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, root / "glfs_bio")  # with what is compiled of unchanged files
    blocks = BLOCK.findall(GUIDE.read_text())
    assert len(blocks) == 15
    for new, name, anchor, code in blocks:
        path = root / name
        if new:
            path.write_text(code)
            continue
        lines = path.read_text().split("\n")
        (place,) = [number for number, line in enumerate(lines) if line.strip().endswith(anchor)]
        lines.insert(place + 1, code.rstrip("\n"))
        path.write_text("\n".join(lines))
    return root


def run(root: Path, *command: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_the_recipes_add_works(copied):
    run(copied, "-c", USE)


KEEP = """
from glfs_bio import _signatures
from glfs_bio.cli import signatures
_signatures.KEPT.write_text(signatures(), "utf-8")
"""


def test_a_new_field_is_an_option_of_the_shell(copied):
    run(copied, "-c", KEEP)  # make signatures
    told = run(copied, "-m", "glfs_bio", "select", "--help")
    assert "--per-letter" in told
    assert "--avoid" in told
    assert "noisiest" in told


def test_each_recipe_edits_two_files():
    recipes = re.split(r"^## ", GUIDE.read_text(), flags=re.MULTILINE)
    counts = [len({name for _, name, _, _ in BLOCK.findall(recipe)}) for recipe in recipes]
    assert [count for count in counts if count] == [2, 2, 2, 2, 2]
