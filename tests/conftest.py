from __future__ import annotations

import os
import sys
from pathlib import Path

import anndata as ad
import numpy as np
import pytest
import scanpy as sc
from refusals import faults
from scipy import sparse

from glfs_bio.errors import Caution, Message, Refusal

#: Tests of what other systems do not have: R beside Python, forks, limits of a process, shells.
collect_ignore = (
    []
    if sys.platform == "linux"
    else ["cli/test_shell.py", "rbridge", "test_faults.py", "test_forked.py"]
)

CONTAINERS = {
    "dense": np.asarray,
    "csr_matrix": sparse.csr_matrix,
    "csc_matrix": sparse.csc_matrix,
    "csr_array": sparse.csr_array,
}


@pytest.fixture(params=CONTAINERS)
def container(request):
    return CONTAINERS[request.param]


@pytest.fixture(scope="session")
def real():
    """Reader of the development data; without them a test is skipped, or fails where required."""
    folder = Path(os.environ.get("GLFS_BIO_DATA", "../shared/data"))

    def load(name: str) -> ad.AnnData:
        path = folder / f"{name}.h5ad"
        if not path.exists():
            if os.environ.get("GLFS_BIO_REQUIRE_DATA"):
                pytest.fail(f"{path} is missing")
            pytest.skip(f"{path} is missing")
        return ad.read_h5ad(path)

    return load


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of the development data, for what is not an h5ad."""
    return Path(os.environ.get("GLFS_BIO_DATA", "../shared/data"))


@pytest.fixture(scope="session")
def _pbmc() -> ad.AnnData:
    return sc.datasets.pbmc68k_reduced().raw.to_adata()


@pytest.fixture
def pbmc(_pbmc) -> ad.AnnData:
    """700 blood cells × 765 genes, logarithmised, with X_pca and a graph."""
    return _pbmc.copy()


@pytest.fixture
def clusters() -> np.ndarray:
    """90 cells in three groups; genes 0 to 5 tell them apart, 34 are noise."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.eye(3), 30, axis=0)
    signal = groups @ np.hstack([np.eye(3), np.eye(3)[::-1]]) * 3.0
    return np.hstack([signal, np.zeros((90, 34))]) + rng.normal(scale=0.3, size=(90, 40)) + 1.0


@pytest.fixture(autouse=True)
def _every_message_can_be_shown(monkeypatch):
    """Whatever the package says in a test, each door can show it."""
    found = []

    def watched(kind: type) -> None:
        make = kind.__init__

        def made(self, *args: object, **options: object) -> None:
            make(self, *args, **options)
            if sys._getframe(1).f_globals.get("__name__", "").startswith("glfs_bio"):
                found.extend(faults(self))

        monkeypatch.setattr(kind, "__init__", made)

    for kind in (Refusal, Caution, Message):
        watched(kind)
    yield
    assert not found, "\n".join(found)
