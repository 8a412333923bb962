"""The R package as a user installs it: its Python environment, its sources, its submission."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import glfs_bio
from glfs_bio import rbridge

ROOT = Path(__file__).parents[2]
SOURCES = Path(glfs_bio.__file__).parent
#: Variables of a login shell, and those that lead to an index of packages.
CLEAN = re.compile(r"HOME|PATH|R_LIBS|TMPDIR|PIP_.*|SSL_.*|(?i:.*_(bundle|cert|proxy))")
OFFLINE = {
    **{"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_NO_CACHE_DIR": "1", "PIP_RETRIES": "0"},
    **{"PIP_CONFIG_FILE": os.devnull, "PIP_EXTRA_INDEX_URL": "", "PIP_FIND_LINKS": ""},
}


@pytest.fixture
def user(rscript, tmp_path):
    """Start R as somebody does who has set nothing but this."""

    def start(code: str, *arguments: str, **settings: str):
        env = {name: value for name, value in os.environ.items() if CLEAN.fullmatch(name)}
        library = Path(sys.prefix) / "r" / "library"
        env = {"R_LIBS": str(library), **env, "R_USER_CACHE_DIR": str(tmp_path / "cache")}
        return rscript(code, *arguments, env=env | settings)

    return start


def output_of(process) -> str:
    """Wait for the end of a process; return what it printed."""
    out, err = process.communicate(timeout=3600)
    return out + err


#: In one R: nothing of this starts Python in it.  Arguments: a Python that R cannot load, a file.
REFUSED = """
    bad <- commandArgs(TRUE)[1]; file <- commandArgs(TRUE)[2]
    lock <- paste0(glfsbio:::environment_folder(), ".lock")
    dir.create(lock, recursive = TRUE)
    said <- function(...) cat(tryCatch(suppressMessages(glfs_install(...)),
        glfs_error = conditionMessage), "\n\f")
    said(wait = 0)
    unlink(lock, recursive = TRUE)
    Sys.setenv(PATH = paste0(dirname(bad), ":", Sys.getenv("PATH")))
    said()
    said(bad)
    cat(list.files(glfsbio:::cache()), "\f")
    Sys.setenv(R_USER_CACHE_DIR = file)
    said()
"""


def test_what_is_refused_says_why_and_leaves_nothing(user, tmp_path):
    """A lock that is held; no network; a Python that R cannot load; a cache."""
    bad, good = (tmp_path / "commands" / name for name in ("python3", "python3.14"))
    bad.parent.mkdir()
    bad.write_text('#!/bin/sh\ncase "$*" in *version_info*) echo "$0" ;; *) exit 1 ;; esac\n')
    # Environments take no time, and nothing is installed.
    good.write_text(f"""#!/bin/sh
case "$*" in
    *version_info*) echo "$0" ;;
    *-m\\ venv*) for folder; do :; done
        mkdir -p "$folder/bin" && ln -s '{good}' "$folder/bin/python" ;;
    *pip\\ install*) shift 6
        exec '{sys.executable}' -I -m pip download --dest '{tmp_path}' "$@" ;;
    *) exec '{sys.executable}' "$@" ;;
esac
""")
    bad.chmod(0o755)
    good.chmod(0o755)
    (tmp_path / "file").touch()
    answers = output_of(user(REFUSED, str(bad), str(tmp_path / "file"), **OFFLINE)).split("\f")
    held, offline, unloaded, left, unwritable, _ = answers
    assert "Another R" in held
    assert ".lock" in held
    assert "No network" in offline  # to which the next Python came, which R can load
    assert "PIP_INDEX_URL" in offline
    assert "glfs_setup()" in offline
    assert str(bad) in unloaded
    assert "that this R can load" in unloaded
    assert "glfs_install(python = " in unloaded
    assert not left.strip()
    assert "cannot be written" in unwritable
    assert "R_USER_CACHE_DIR" in unwritable


def test_the_sources_are_those_of_python(ri):
    """From which the environment is made."""
    carried = Path(ri.evalr("glfsbio:::carried('source')")[0])
    files = {path.relative_to(carried / "glfs_bio") for path in carried.rglob("*/*.py")}
    assert files == {path.relative_to(SOURCES) for path in SOURCES.rglob("*.py")}
    assert not list(carried.rglob("__pycache__"))


def hashes_of(file: Path) -> dict[str, list[str]]:
    """Return the hashes of every pin of a lock."""
    blocks = re.split(r"\n(?=\S)", file.read_text(encoding="utf-8"))
    pins = [block for block in blocks if "==" in block]
    return {pin.split(" ")[0]: re.findall(r"--hash=(sha256:\w+)", pin) for pin in pins}


@pytest.mark.skipif(not (ROOT / "lock.txt").exists(), reason="a source distribution has no lock")
def test_every_pin_has_the_hashes_of_the_lock():
    """Of what runs and of what builds; what only pictures need is none of these."""
    pins = hashes_of(ROOT / "r_bridge" / "glfsbio" / "inst" / "python" / "requirements.txt")
    lock = hashes_of(ROOT / "lock.txt")
    assert all(pins.values())
    assert pins.items() <= lock.items()
    names = {pin.split("==")[0] for pin in pins}
    assert {"anndata", "hatchling", "openpyxl"} <= names
    assert not {"scanpy", "matplotlib"} & names


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


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is missing")
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a source distribution has no git")
def test_the_tree_has_all_that_git_tracks(tmp_path):
    """The tree that is submitted to Bioconductor."""
    address = "https://bioc.test/panels"
    tree = tmp_path / "glfsbio"
    person = "Ada King Lovelace <ada@bioc.test>"
    script = ROOT / "r_bridge" / "submission.R"
    command = ["Rscript", script, "--only-build", tree, person, f"{address}/"]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode != 0
    assert str(tree) in again.stderr

    package = ROOT / "r_bridge" / "glfsbio"
    files = {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}
    listed = subprocess.run(
        ["git", "ls-files"], cwd=package, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert {name for name in listed if (package / name).is_file()} <= files
    assert not [path for path in tree.rglob("*") if path.is_symlink()]
    assert not [name for name in files if name.endswith(".pyc")]
    names = Path("inst/python/source/glfs_bio/vendors/names.tsv.xz")  # binary, by a link
    assert (tree / names).read_bytes() == (package / names).read_bytes()

    texts = {name: (tree / name).read_bytes() for name in files}
    assert not [name for name, text in texts.items() if b"example.org/glfs-bio" in text]
    license_fields = {line.split(":")[0] for line in texts["LICENSE"].decode().splitlines()}
    assert license_fields == {"YEAR", "COPYRIGHT HOLDER", "ORGANIZATION"}
    description = texts["DESCRIPTION"].decode()
    assert f"\nURL: {address}\nBugReports: {address}/issues\n" in description
    assert 'person("Ada King", "Lovelace", email = "ada@bioc.test"' in description
    assert "R (>= 4.5.0),\n    SingleCellExperiment" in description
    own = (ROOT / "pyproject.toml").read_text("utf-8").count("https://example.org/glfs-bio")
    assert texts["inst/python/source/pyproject.toml"].count(address.encode()) == own > 0
