"""Packages for panels, each in an environment of its own, asked through a script."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import anndata as ad
from peers import limits
from scipy.sparse import csr_matrix

HERE = Path(__file__).resolve().parent
TOOLS = HERE / "tools"
ENVIRONMENTS = HERE.parent / ".cache" / "envs"
#: Processor time for the panels of all sizes on the same cells: on parts of a set and on perturbed
#: sets, and on the whole sets of the benchmark of peers.
SECONDS = 600
SECONDS_WHOLE = 3600
#: A process keeps the memory that it frees.  The system clears what it is given back before it
#: gives it out again, which takes SCMER half of its time: every step makes arrays of cells × cells.
KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**33)}


@dataclass(frozen=True)
class Peer:
    """`tools/<name>.py`, or `.R`, run with the packages that `tools/<packages>.txt` pins.

    The first line of these is the package itself; `packages` is the name of the script where it
    is not given.  The script gets an h5ad with counts in a layer and their logarithms, the column
    of the labels, a file to write, and rising sizes of panels.  It writes a line of names a size,
    best gene first.  Without `labels` it gets no column, and a file without anything but names,
    counts and logarithms.  A peer that is asked `apart` is run for every size by itself.
    `variables` are set in its environment, and change no panel.
    """

    name: str
    group: str = "rivals"
    labels: bool = True
    packages: str = ""
    apart: bool = False
    limit: int = SECONDS
    variables: dict[str, str] | None = None

    @property
    def script(self) -> Path:
        """What asks the package for genes."""
        python = TOOLS / f"{self.name}.py"
        return python if python.exists() else python.with_suffix(".R")

    @property
    def requirements(self) -> Path:
        """The package and all that it needs."""
        return TOOLS / f"{self.packages or self.name}.txt"

    @property
    def fingerprint(self) -> str:
        """Changes with script, versions and time limit."""
        files = self.script.read_bytes() + self.requirements.read_bytes()
        return hashlib.sha256(files + str(self.limit).encode()).hexdigest()[:16]

    @property
    def version(self) -> str:
        """What the environment is made for."""
        return self.requirements.read_text(encoding="utf-8").partition("\n")[0].replace("==", " ")

    def command(self) -> list:
        """What runs the script; the environment is made where it is not there or out of date."""
        home = ENVIRONMENTS / self.requirements.stem
        installed = home / "installed.txt"
        wanted = self.requirements.read_text(encoding="utf-8")
        make, command = (_sources, ["Rscript", "--vanilla", self.script, home])
        if self.script.suffix == ".py":
            # -P: the scripts have the names of the packages.
            make, command = (_packages, [home / "bin" / "python", "-P", self.script])
        if not installed.exists() or installed.read_text(encoding="utf-8") != wanted:
            make(home, self.requirements)
            installed.write_text(wanted, encoding="utf-8")
        return command

    def panels(self, adata, label: str, sizes: list[int]) -> dict[int, dict]:
        """Genes of every size with seconds and peak memory (MiB), or what went wrong.

        Seconds are those of all sizes together, but for a peer that is asked for them apart.
        """
        command = self.command()
        found: dict[int, dict] = {}
        spent = 0.0
        with tempfile.TemporaryDirectory() as folder:
            cells, names = Path(folder) / "cells.h5ad", Path(folder) / "genes.txt"
            (adata if self.labels else _unlabelled(adata)).write_h5ad(cells)
            arguments = [cells, *([label] if self.labels else []), names]
            rising = sorted(sizes)
            for asked in [[size] for size in rising] if self.apart else [rising]:
                if spent >= self.limit:
                    error = f"not begun: smaller panels took all {self.limit} s"
                    found |= {size: {"error": error} for size in asked}
                    continue
                names.write_text("", encoding="utf-8")
                call = [*command, *arguments, *map(str, asked)]
                run = limits.run(call, folder, self.limit - spent, self.variables)
                spent += run.seconds
                found |= {size: {"error": run.error or "it names no genes"} for size in asked}
                # A script that was stopped may have written the smaller panels.
                for size, line in zip(asked, names.read_text("utf-8").splitlines(), strict=False):
                    if line:
                        genes = adata.var_names.get_indexer(line.split("\t")).tolist()
                        found[size] = {"genes": genes, "seconds": run.seconds, "memory": run.memory}
        return found


def _unlabelled(adata) -> ad.AnnData:
    """Counts and their logarithms, with nothing that is known of cells or genes but names.

    Both are sparse, also where another preprocessing made them dense.
    """
    layers = {"counts": adata.layers["counts"]}
    return ad.AnnData(csr_matrix(adata.X), adata.obs[[]], adata.var[[]], layers=layers)


def _packages(home: Path, requirements: Path) -> None:
    """Make an environment of Python by uv."""
    uv = Path(sys.executable).with_name("uv")
    subprocess.run([uv, "venv", "--clear", "--python", sys.executable, home], check=True)
    install = [uv, "pip", "install", "--no-deps", "--python", home / "bin" / "python"]
    subprocess.run([*install, "--requirement", requirements], check=True)


def _sources(home: Path, requirements: Path) -> None:
    """Functions of a package of R, by its first line: ``package @ git+address@commit``."""
    first = requirements.read_text(encoding="utf-8").partition("\n")[0]
    address, _, commit = first.partition("git+")[2].rpartition("@")
    shutil.rmtree(home, ignore_errors=True)
    clone = ["git", "clone", "--quiet", "--no-checkout", "--filter=blob:none", address, home]
    subprocess.run(clone, check=True)
    subprocess.run(["git", "-C", home, "sparse-checkout", "set", "R"], check=True)
    subprocess.run(["git", "-C", home, "checkout", "--quiet", commit], check=True)


def _whole(name: str, **how) -> Peer:
    return Peer(name, limit=SECONDS_WHOLE, **how)


#: Those that need no labels, on whole sets.  `panels/labels_methods.py` has the others.
PEERS = {
    "Spapros PCA": _whole("spapros_pca", labels=False, packages="spapros"),
    "geneBasis": _whole("genebasis", labels=False),
    "SCMER": _whole("scmer", labels=False, variables=KEEP_MEMORY),
    "GeneCover": _whole("genecover", labels=False, apart=True),
}
