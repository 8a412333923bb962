"""What is missing names the extra that it comes with."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import requires

import pytest
from packaging.requirements import Requirement
from refusals import refused

import glfs_bio
from glfs_bio.checks import _EXTRAS
from glfs_bio.errors import PackageMissing

CALLS = {
    "gseapy": lambda adata, folder: glfs_bio.tl.enrich(adata, {"a set": ["CD3D", "CD3E"]}),
    "jinja2": lambda adata, folder: glfs_bio.io.write_report(adata, folder / "report.html"),
    "matplotlib": lambda adata, folder: glfs_bio.pl.genes(adata),
    "openpyxl": lambda adata, folder: glfs_bio.io.write_genes(adata, folder / "panel.xlsx"),
    "pooch": lambda adata, folder: glfs_bio.datasets.golub(),
    "scanpy": lambda adata, folder: glfs_bio.pl.panel(adata),
}


def test_a_missing_package_is_named_with_its_extra(pbmc, tmp_path, monkeypatch):
    glfs_bio.pp.select_genes(pbmc, n_genes=3)
    monkeypatch.delenv("GLFS_BIO_DATA", raising=False)  # Golub's data must be downloaded
    for package, call in CALLS.items():
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with refused(PackageMissing, package) as caught:
                call(pbmc, tmp_path)
        assert f"glfs-bio[{_EXTRAS[package]}]" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_says_it_without_a_traceback():
    start = "import sys; sys.modules['typer'] = None; from glfs_bio.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", start], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("glfs-bio on the command line needs the package typer")
    assert "glfs-bio[cli]" in done.stderr
    assert done.stderr.count("\n") == 1


def packages(extra: str) -> set[str]:
    """What ``pip install 'glfs-bio[extra]'`` installs beyond ``pip install glfs-bio``."""
    wanted = [Requirement(line) for line in requires("glfs-bio") or ()]
    named = [need for need in wanted if need.marker and need.marker.evaluate({"extra": extra})]
    further = {name for need in named if need.name == "glfs-bio" for name in need.extras}
    return {need.name for need in named}.union(*map(packages, further))


def test_extras_have_the_packages_that_they_are_named_for():
    extras = {name.replace("_", "-"): extra for name, extra in _EXTRAS.items()}
    assert [name for name, extra in extras.items() if name not in packages(extra)] == []
    assert packages("all") >= {*extras, "dask"}
    assert packages("all").isdisjoint({"rpy2"})  # pip installs neither without R
