"""The default of an earlier commit, from its own files, so that old and new stand in one table."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from functools import cache
from pathlib import Path

#: The last one whose default walked along λ and completed the panel greedily.
COMMIT = "439dcb3"
HOME = Path(__file__).resolve().parents[1] / ".cache" / "before"

_RUN = """
import json, sys
import anndata, numpy as np
from glfs_bio.pp import select_genes
for line in sys.stdin:
    file, n_genes = json.loads(line)
    table = select_genes(anndata.read_h5ad(file), n_genes, inplace=False)
    chosen = np.flatnonzero(table["glfs_selected"])
    best_first = chosen[np.argsort(table["glfs_rank"].to_numpy()[chosen])]
    print(json.dumps(best_first.tolist()), flush=True)
"""


def package(commit: str = COMMIT) -> Path:
    """A folder with the package as it was."""
    home = HOME / commit
    if not home.exists():
        root = Path(__file__).resolve().parents[2]
        told = subprocess.run(
            ["git", "archive", commit, "glfs_bio"], cwd=root, capture_output=True, check=True
        )
        with tarfile.open(fileobj=io.BytesIO(told.stdout)) as files:
            files.extractall(home, filter="data")
    return home


def select_genes(adata, n_genes: int) -> list[int]:
    """Genes, best first."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cells.h5ad"
        adata.write_h5ad(file)
        _process().stdin.write(json.dumps([str(file), n_genes]) + "\n")
        _process().stdin.flush()
        return json.loads(_process().stdout.readline())


@cache
def _process() -> subprocess.Popen:
    """One that selects genes as long as this one lives: it takes seconds to start."""
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _RUN],
        env={**os.environ, "PYTHONPATH": str(package())},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
