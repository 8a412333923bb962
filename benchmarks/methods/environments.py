"""Tools in environments of their own, each asked by a function of `tools.py`."""

from __future__ import annotations

import inspect
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import anndata as ad
from scipy.sparse import csr_matrix

from .. import store
from ..data import LABEL
from ..tables import CACHE
from . import tools

HERE = Path(__file__).parent
ENVIRONMENTS = CACHE / "envs"
REQUIREMENTS = tomllib.loads((HERE / "requirements.toml").read_text(encoding="utf-8"))
#: Processor time for the panels of all sizes on the same cells.
SECONDS = 600
#: Address space of a process.
GIBIBYTES = 12
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
#: A process keeps the memory that it frees.  The system clears what it is given back before it
#: gives it out again, which takes SCMER half of its time: every step makes arrays of cells × cells.
KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**33)}
#: What R says after every error: from where it was called, and that it ends.
AFTER_ERRORS = ("Calls: ", "Execution halted")


@dataclass(frozen=True)
class Run:
    """Processor time in seconds, peak memory in MiB, and why the command failed, if it did."""

    seconds: float
    memory: float
    error: str | None


@dataclass(frozen=True)
class Tool:
    """A function of `tools.py`, or `<name>.R`, run with what `requirements.toml` pins.

    It gets an h5ad with counts in a layer and their logarithms, the column of the labels, a
    file to write, and rising sizes of panels.  It writes a line of names a size, best gene first.

    Parameters
    ----------
    name : str
        Name of the function, or of the script of R.
    group : str, default "rivals"
        Kind of method.
    labels : bool, default True
        Whether it gets the column of the labels.  Otherwise the file has nothing but names, counts
        and logarithms.
    packages : str, default ""
        Name of the environment, where it is not that of the function.
    apart : bool, default False
        Whether it is run for every size by itself.
    limit : int, default 600
        Processor time in seconds for the panels of all sizes on the same cells.
    keep_memory : bool, default False
        Whether its process keeps the memory that it frees; this changes no panel.
    """

    own: ClassVar[bool] = False
    nested: ClassVar[bool] = False
    name: str
    group: str = "rivals"
    labels: bool = True
    packages: str = ""
    apart: bool = False
    limit: int = SECONDS
    keep_memory: bool = False

    @property
    def requirements(self) -> list[str]:
        """The package and all that it needs."""
        return REQUIREMENTS[self.packages or self.name]

    @property
    def script(self) -> Path:
        """What asks a package of R for genes."""
        return HERE / f"{self.name}.R"

    @property
    def fingerprint(self) -> str:
        """Changes with what asks the tool, versions and time limit."""
        asks = getattr(tools, self.name, None)
        source = inspect.getsource(asks) if asks else self.script.read_text(encoding="utf-8")
        return store.digest("\n".join([source, *self.requirements, str(self.limit)]))

    @property
    def version(self) -> str:
        """The package with its version."""
        return self.requirements[0].replace("==", " ")

    def command(self) -> list:
        """Return what asks the tool; the environment is made where it is missing or old."""
        home = ENVIRONMENTS / (self.packages or self.name)
        pinned, installed = "\n".join(self.requirements), home / "installed.txt"
        make, command = (_sources, ["Rscript", "--vanilla", self.script, home])
        if hasattr(tools, self.name):
            make, command = (_packages, [home / "bin" / "python", "-P", tools.__file__, self.name])
        if not installed.exists() or installed.read_text(encoding="utf-8") != pinned:
            make(home, self.requirements)
            installed.write_text(pinned, encoding="utf-8")
        return command

    def panels(self, adata, sizes: list[int]) -> dict[int, dict]:
        """Return genes by size with seconds and peak memory (MiB), or what went wrong.

        Seconds are those of all sizes together, but for a tool that is asked for them apart.
        """
        command = self.command()
        found: dict[int, dict] = {}
        spent = 0.0
        with tempfile.TemporaryDirectory() as folder:
            cells, names = Path(folder) / "cells.h5ad", Path(folder) / "genes.txt"
            (adata if self.labels else _unlabelled(adata)).write_h5ad(cells)
            arguments = [cells, *([LABEL] if self.labels else []), names]
            rising = sorted(sizes)
            for asked in [[size] for size in rising] if self.apart else [rising]:
                if spent >= self.limit:
                    error = f"not begun: smaller panels took all {self.limit} s"
                    found |= {size: {"error": error} for size in asked}
                    continue
                names.write_text("", encoding="utf-8")
                call = [*command, *arguments, *map(str, asked)]
                done = run(call, folder, self.limit - spent, keep_memory=self.keep_memory)
                spent += done.seconds
                found |= {size: {"error": done.error or "it names no genes"} for size in asked}
                cost = {"seconds": done.seconds, "memory": done.memory}
                # A script that was stopped may have written the smaller panels.
                for size, line in zip(asked, names.read_text("utf-8").splitlines(), strict=False):
                    if line:
                        genes = adata.var_names.get_indexer(line.split("\t")).tolist()
                        found[size] = {"genes": genes} | cost
        return found


def run(call: list, folder: str | Path, seconds: float, *, keep_memory: bool = False) -> Run:
    """Run a command in a folder, on one thread where its libraries can be told so.

    Time is that of the processor, not of the clock: on a busy machine a command takes no longer.
    """

    def limited() -> None:
        allowed = math.ceil(seconds)
        # Past the first limit the process is asked to end, past the second it is ended.
        resource.setrlimit(resource.RLIMIT_CPU, (allowed, allowed + 1))
        resource.setrlimit(resource.RLIMIT_AS, (GIBIBYTES * 2**30,) * 2)

    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as messages:
        process = subprocess.Popen(
            call,
            env=os.environ | ONE_THREAD | (KEEP_MEMORY if keep_memory else {}),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=messages,
            preexec_fn=limited,
        )
        # Unlike `wait`, this tells what this process and its own children used, and no other.
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        said = messages.read()
    took = used.ru_utime + used.ru_stime
    error = _reason(said, process.returncode) if process.returncode else None
    if process.returncode == -signal.SIGXCPU or (error and took >= seconds):
        took, error = max(took, seconds), f"not finished after {seconds:.0f} s"
    return Run(took, used.ru_maxrss / 1024, error)


def _reason(said: str, code: int) -> str:
    """Return the last line of what a command said before it failed."""
    if code < 0:
        return f"ended by {signal.Signals(-code).name}"
    lines = [line.strip() for line in said.splitlines()]
    lines = [line for line in lines if line and not line.startswith(AFTER_ERRORS)]
    return lines[-1] if lines else f"exit status {code}"


def _unlabelled(adata) -> ad.AnnData:
    """Return counts and their logarithms, with nothing that is known of cells or genes but names.

    Both are sparse, also where another preprocessing made them dense.
    """
    layers = {"counts": adata.layers["counts"]}
    return ad.AnnData(csr_matrix(adata.X), adata.obs[[]], adata.var[[]], layers=layers)


def _packages(home: Path, requirements: list[str]) -> None:
    """Make an environment of Python by uv."""
    uv = Path(sys.executable).with_name("uv")
    subprocess.run([uv, "venv", "--clear", "--python", sys.executable, home], check=True)
    install = [uv, "pip", "install", "--no-deps", "--python", home / "bin" / "python"]
    subprocess.run([*install, *requirements], check=True)


def _sources(home: Path, requirements: list[str]) -> None:
    """Fetch the functions of a package of R: ``package @ git+address@commit``."""
    address, _, commit = requirements[0].partition("git+")[2].rpartition("@")
    shutil.rmtree(home, ignore_errors=True)
    clone = ["git", "clone", "--quiet", "--no-checkout", "--filter=blob:none", address, home]
    subprocess.run(clone, check=True)
    subprocess.run(["git", "-C", home, "sparse-checkout", "set", "R"], check=True)
    subprocess.run(["git", "-C", home, "checkout", "--quiet", commit], check=True)
