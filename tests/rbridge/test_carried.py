"""The Python sources in the R package, from which its environment is made."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

import glfs_bio

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


def test_the_example_is_the_cells_of_scanpy(ri, pbmc, tmp_path):
    """Matrix, PCA, UMAP, graph and columns, to the last bit."""
    ri.evalr(f"""local({{
        x <- glfsbio::glfs_example()
        file <- function(name) file.path("{tmp_path}", name)
        write <- function(values, name) writeBin(as.vector(as.matrix(values)) + 0, file(name))
        write(SummarizedExperiment::assay(x, "logcounts"), "X")
        for (name in c("PCA", "UMAP")) write(SingleCellExperiment::reducedDim(x, name), name)
        for (name in c("distances", "connectivities"))
            write(SingleCellExperiment::colPair(x, name, asSparse = TRUE), name)
        write.csv(SummarizedExperiment::colData(x), file("obs.csv"))
        writeLines(rownames(x), file("genes"))
    }})""")

    def read(name: str, n: int):
        return np.fromfile(tmp_path / name).reshape(n, -1)

    ours = {"X": pbmc.X, "distances": pbmc.obsp["distances"]}
    ours["connectivities"] = pbmc.obsp["connectivities"].T
    ours["distances"] = ours["distances"].T
    for name, values in ours.items():
        np.testing.assert_array_equal(read(name, 700), values.toarray())
    for name in ("PCA", "UMAP"):
        values = pbmc.obsm[f"X_{name.lower()}"]
        np.testing.assert_array_equal(read(name, values.shape[1]).T, values)
    assert (tmp_path / "genes").read_text().split() == list(pbmc.var_names)
    columns = pd.read_csv(tmp_path / "obs.csv", index_col=0, dtype=str)
    theirs = pbmc.obs.reset_index(names="cell").set_index("cell")
    assert list(columns.index) == list(theirs.index)
    assert list(columns) == list(theirs)
    for name in theirs:
        if theirs[name].dtype.kind in "fi":
            np.testing.assert_allclose(columns[name].astype(float), theirs[name], rtol=1e-14)
        else:
            assert list(columns[name]) == list(theirs[name].astype(str))
