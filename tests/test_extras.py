"""What is missing names the extra that it comes with."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import requires

import pytest
from packaging.requirements import Requirement
from refusals import refused

import glfs_bio
from glfs_bio import _extras
from glfs_bio.errors import PackageMissing

SETS = {"a set": ["CD3D", "CD3E", "CD79A"]}
CALLS = {
    "gseapy": lambda adata, folder: glfs_bio.tl.enrich(adata, SETS),
    "jinja2": lambda adata, folder: glfs_bio.io.write_report(adata, folder / "report.html"),
    "loompy": lambda adata, folder: glfs_bio.io.read_cells(folder / "cells.loom"),
    "marsilea": lambda adata, folder: glfs_bio.pl.upset(adata),
    "matplotlib": lambda adata, folder: glfs_bio.pl.weights(adata),
    "openpyxl": lambda adata, folder: glfs_bio.io.write_gene_list(adata, folder / "panel.xlsx"),
    "pooch": lambda adata, folder: glfs_bio.datasets.golub(),
    "scanpy": lambda adata, folder: glfs_bio.tl.panel_umap(adata),
}


@pytest.mark.parametrize("package", CALLS)
def test_a_missing_package_is_named_with_its_extra(package, pbmc, tmp_path, monkeypatch):
    glfs_bio.pp.select_genes(pbmc, n_genes=3)
    (tmp_path / "cells.loom").touch()
    monkeypatch.delenv("GLFS_BIO_DATA", raising=False)  # Golub's data must be downloaded
    monkeypatch.setitem(sys.modules, package, None)
    with refused(PackageMissing, package) as caught:
        CALLS[package](pbmc, tmp_path)
    assert f"glfs-bio[{_extras._EXTRAS[package]}]" in caught.value.remedy
    assert [path.name for path in tmp_path.iterdir()] == ["cells.loom"]


def test_the_command_line_says_it_without_a_traceback():
    start = "import sys; sys.modules['typer'] = None; from glfs_bio.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", start], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == (
        "glfs-bio on the command line needs the package typer: pip install 'glfs-bio[cli]'.\n"
    )


def packages(extra: str) -> set[str]:
    """What ``pip install 'glfs-bio[extra]'`` installs beyond ``pip install glfs-bio``."""
    wanted = [Requirement(line) for line in requires("glfs-bio") or ()]
    named = [one for one in wanted if one.marker and one.marker.evaluate({"extra": extra})]
    further = {name for one in named if one.name == "glfs-bio" for name in one.extras}
    return {one.name for one in named}.union(*map(packages, further))


@pytest.mark.parametrize("package", _extras._EXTRAS)
def test_an_extra_has_the_packages_that_it_is_named_for(package):
    assert package in packages(_extras._EXTRAS[package])


def test_all_has_what_pip_can_install_without_r():
    assert packages("all") >= {*_extras._EXTRAS, "dask"} - {"marsilea"}
    assert packages("all").isdisjoint({"rpy2", "marsilea"})
