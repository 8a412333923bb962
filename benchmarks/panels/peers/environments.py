"""Packages for labelled panels, each in an environment of its own, asked through a script."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE.parents[1] / ".cache" / "envs"
#: For the panels of all sizes on the same cells.
SECONDS = 600


@dataclass(frozen=True)
class Peer:
    """`peers/<name>.py`, run with the packages that `peers/<name>.txt` pins, the first its own.

    The script gets an h5ad, the column of the labels, a file to write, and the sizes of the panels.
    It writes a line of names a size, best gene first.
    """

    name: str
    group: str = "rivals"

    @property
    def script(self) -> Path:
        """What asks the package for genes."""
        return HERE / f"{self.name}.py"

    @property
    def requirements(self) -> Path:
        """The package and all that it needs."""
        return HERE / f"{self.name}.txt"

    @property
    def fingerprint(self) -> str:
        """Changes with script, versions and time limit."""
        files = self.script.read_bytes() + self.requirements.read_bytes()
        return hashlib.sha256(files + str(SECONDS).encode()).hexdigest()[:16]

    @property
    def version(self) -> str:
        """What the environment is made for."""
        return self.requirements.read_text(encoding="utf-8").partition("\n")[0].replace("==", " ")

    def python(self) -> Path:
        """Interpreter of the environment, which is made where it is not there or out of date."""
        home = ENVIRONMENTS / self.name
        python, installed = home / "bin" / "python", home / "installed.txt"
        wanted = self.requirements.read_text(encoding="utf-8")
        if not installed.exists() or installed.read_text(encoding="utf-8") != wanted:
            uv = Path(sys.executable).with_name("uv")
            subprocess.run([uv, "venv", "--clear", "--python", sys.executable, home], check=True)
            install = [uv, "pip", "install", "--no-deps", "--python", python]
            subprocess.run([*install, "--requirement", self.requirements], check=True)
            installed.write_text(wanted, encoding="utf-8")
        return python

    def panels(self, adata, label: str, sizes: list[int]) -> dict[int, dict]:
        """Genes of every size, and the seconds that all took together, or what went wrong."""
        python = self.python()
        with tempfile.TemporaryDirectory() as folder:
            cells, names = Path(folder) / "cells.h5ad", Path(folder) / "genes.txt"
            adata.write_h5ad(cells)
            begin = time.perf_counter()
            # -P: the scripts have the names of the packages.
            error = _run([python, "-P", self.script, cells, label, names, *map(str, sizes)], folder)
            if error:
                return {size: {"error": error} for size in sizes}
            seconds = time.perf_counter() - begin
            found = {}
            for size, line in zip(
                sizes, names.read_text(encoding="utf-8").split("\n"), strict=False
            ):
                genes = adata.var_names.get_indexer(line.split("\t")).tolist()
                found[size] = {"genes": genes, "seconds": seconds}
            return found


def _run(call: list, folder: str) -> str | None:
    """Nothing, or why there are no genes."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            call,
            check=False,
            timeout=SECONDS,
            env=environment,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
    except subprocess.TimeoutExpired:
        return f"not finished after {SECONDS} s"
    sys.stderr.write(done.stderr if done.returncode else "")
    return done.stderr.strip().rsplit("\n", 1)[-1] if done.returncode else None
