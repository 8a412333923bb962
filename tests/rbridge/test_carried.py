"""The Python sources in the R package, from which its environment is made."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

import glfs_bio
from glfs_bio import rbridge

OURS = Path(glfs_bio.__file__).parent


def test_the_sources_are_those_of_python(ri):
    """From which `test_provisioning.py` installs."""
    carried = Path(ri.evalr("glfsbio:::carried('source')")[0])
    files = {path.relative_to(carried / "glfs_bio") for path in carried.rglob("*/*.py")}
    assert files == {path.relative_to(OURS) for path in OURS.rglob("*.py")}
    assert not list(carried.rglob("__pycache__"))


def test_every_pin_has_a_hash(ri):
    """Of what runs and of what builds; what only pictures need is none of these."""
    files = ("requirements.txt", "build.txt")
    folder = Path(ri.evalr("glfsbio:::carried()")[0])
    listed = "\n".join((folder / name).read_text(encoding="utf-8") for name in files)
    pins = list(dict.fromkeys(re.findall(r"^.*==.*$", listed, re.MULTILINE)))
    pinned = Path(ri.evalr("glfsbio:::pinned('requirements.txt', 'build.txt')")[0])
    blocks = re.split(r"\n(?=\S)", pinned.read_text(encoding="utf-8").strip())
    assert [one.split(" \\\n")[0] for one in blocks] == pins
    names = {one.split("==")[0] for one in blocks}
    assert {"anndata", "hatchling", "openpyxl"} <= names
    assert not {"scanpy", "matplotlib"} & names
    assert all("\n    --hash=sha256:" in one for one in blocks)


def test_the_example_is_the_cells_of_scanpy(ri, pbmc):
    """Matrix, PCA, UMAP, graph and columns, to the last bit."""
    example = rbridge.from_sce(ri.evalr("glfsbio::glfs_example()"), X_name="logcounts")
    assert list(example.obs_names) == list(pbmc.obs_names)
    assert list(example.var_names) == list(pbmc.var_names)
    np.testing.assert_array_equal(example.X.toarray(), pbmc.X.toarray())
    for name in ("X_pca", "X_umap"):
        np.testing.assert_array_equal(example.obsm[name], pbmc.obsm[name])
    for name in ("distances", "connectivities"):
        np.testing.assert_array_equal(example.obsp[name].toarray(), pbmc.obsp[name].toarray())
    assert list(example.obs) == list(pbmc.obs)
    for name in pbmc.obs:
        if pbmc.obs[name].dtype.kind in "fi":
            np.testing.assert_allclose(example.obs[name], pbmc.obs[name], rtol=1e-14)
        else:
            assert list(example.obs[name].astype(str)) == list(pbmc.obs[name].astype(str))
