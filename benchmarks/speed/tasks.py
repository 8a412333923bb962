"""What is timed, from a file or in memory; and one of it in a process of its own.

    python -m benchmarks.speed.tasks "classify" cells.h5ad csr [SECONDS]

The call is timed cold; the limit is one of its processor time.  Memory is the peak of the whole
process from then on, what was read included.  Results are kept beside the file, for those calls
that go on from them.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anndata as ad
import matplotlib as mpl
import numpy as np
import scanpy as sc

import glfs_bio

from ..data import LABEL
from ..methods import rivals
from . import OPENED, Clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from anndata import AnnData

N_GENES, FEW = 100, 50
#: What a call needs: cells alone, a selection with its structure, and whatever else is kept.
BARE, SELECTED, KEPT = "bare", "selected", "kept"
#: What is kept of an object, beside its matrix.
PARTS = ("obs", "var", "obsm", "varm", "obsp", "uns")


@dataclass(frozen=True)
class Task:
    """A call on cells and their file, and what it needs to be kept with the cells."""

    run: Callable[[AnnData, Path], object]
    of: str = KEPT
    #: Container; the cells are read into memory where there is none
    place: str | None = "csr"
    #: Whether a call in memory is timed, on real cells, too
    real: bool = True


def tl(name: str, *arguments: object, **options: object) -> Callable[[AnnData, Path], object]:
    """Return a call of a function of `glfs_bio.tl` that writes what it finds."""
    return lambda cells, _: getattr(glfs_bio.tl, name)(cells, *arguments, **options)


def select(cells: AnnData, _: object = None, **options: object) -> None:
    """Select genes."""
    glfs_bio.pp.select_genes(cells, N_GENES, **options)


def panels(cells: AnnData) -> dict[str, list[str]]:
    """Return a selection, its first half, and genes at random."""
    names, rank = cells.var_names, cells.var["glfs_rank"]
    rng = np.random.default_rng(0)
    return {
        "first": list(names[rank <= N_GENES]),
        "half": list(names[rank <= FEW]),
        "random": list(rng.choice(names, N_GENES, replace=False)),
    }


def sets(cells: AnnData) -> dict[str, list[str]]:
    """Return sets of genes at random."""
    rng = np.random.default_rng(0)
    return {f"set {k}": list(rng.choice(cells.var_names, 200, replace=False)) for k in range(200)}


def shell(_: AnnData, file: Path) -> None:
    """Select genes of a file in a shell."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "glfs_bio", "select", file, "--backed"]
        command += ["--n-genes", str(N_GENES), "--genes", Path(folder) / "genes.txt"]
        subprocess.run(command, check=True, capture_output=True)


def report(cells: AnnData, _: Path, **options: object) -> None:
    """Write a report."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        glfs_bio.io.write_report(cells, path, labels=LABEL, **options)


def plots(cells: AnnData, _: Path) -> None:
    """Draw every picture that needs no UMAP."""
    pl = glfs_bio.pl
    for name in sorted(set(pl.__all__) - {"panel"}):
        getattr(pl, name)(cells, show=False, **({"labels": LABEL} if name == "dotplot" else {}))
        mpl.pyplot.close("all")


def panel_plot(cells: AnnData, _: Path) -> None:
    """Draw the UMAPs of a panel."""
    glfs_bio.pl.panel(cells, LABEL, show=False)
    mpl.pyplot.close("all")


def in_memory(run: Callable[[AnnData, Path], object], of: str = BARE, **options: bool) -> Task:
    """Return what is timed of cells in memory."""
    return Task(run, of, None, **options)


def counts(cells: AnnData) -> AnnData:
    """Restore counts, up to the depth of a cell, as a layer beside logarithms in memory."""
    matrix = cells.X.copy()
    np.expm1(matrix.data, out=matrix.data)
    sizes = np.diff(matrix.indptr)
    smallest = np.minimum.reduceat(matrix.data, matrix.indptr[:-1][sizes > 0])
    matrix.data /= np.repeat(smallest, sizes[sizes > 0])
    np.round(matrix.data, out=matrix.data)
    cells.layers["counts"] = matrix
    return cells


def of_rival(rank: Callable[..., object], **options: object) -> Task:
    """Return a selection by another package."""
    return in_memory(lambda cells, _: rank(counts(cells), N_GENES, **options), real=False)


FRESH, EVALUATION, REPORT = "select_genes, from nothing", "evaluate_panel", "write_report"
SHELL, PLOTS = "glfs-bio select --backed", "all plots"
#: In an order in which each has what it needs.
TASKS = {
    FRESH: Task(select, BARE),
    SHELL: Task(shell, BARE),
    "structure": Task(lambda cells, _: glfs_bio.pp.structure(cells), BARE),
    "select_genes, structure kept": Task(partial(select, inplace=False)),
    "select_genes, limits": Task(
        partial(select, limits=glfs_bio.Limits(expression={"mean": 3.0}), inplace=False)
    ),
    "select_genes, preserve=labels": Task(partial(select, preserve=LABEL, inplace=False)),
    f"{EVALUATION}, first": Task(tl(EVALUATION, "glfs", LABEL), SELECTED),
    EVALUATION: Task(tl(EVALUATION, "glfs", LABEL)),
    f"{EVALUATION}, without labels": Task(tl(EVALUATION, "glfs", inplace=False)),
    "evaluate_panel, three panels": Task(
        lambda cells, _: glfs_bio.tl.evaluate_panel(cells, panels(cells), LABEL)
    ),
    f"{EVALUATION}, ten sizes": Task(
        tl(EVALUATION, "glfs", LABEL, sizes=range(10, N_GENES + 1, 10))
    ),
    "explain_panel": Task(tl("explain_panel", "glfs", LABEL)),
    "extend_panel by 10 genes": Task(
        lambda cells, _: glfs_bio.tl.extend_panel(
            cells, panels(cells)["half"], len(panels(cells)["half"]) + 10, inplace=False
        )
    ),
    "extend_panel, two genes replaced": Task(
        lambda cells, _: glfs_bio.tl.extend_panel(
            cells, "glfs", drop=panels(cells)["half"][:2], inplace=False
        )
    ),
    "prove_panel, 20 s": Task(tl("prove_panel", time_limit=20.0, inplace=False)),
    "stability, two halves": Task(tl("stability", n_resamples=2)),
    "classify": Task(tl("classify", LABEL, n_genes=FEW)),
    "enrich": Task(lambda cells, _: glfs_bio.tl.enrich(cells, sets(cells))),
    "order_panel": Task(tl("order_panel", "glfs", labels=LABEL, backups=5, inplace=False)),
    PLOTS: Task(plots),
    f"{REPORT}, without UMAPs": Task(partial(report, basis=False)),
    REPORT: Task(report),
    "pl.panel": Task(panel_plot),
    "read_h5ad and select_genes": in_memory(lambda _, file: select(ad.read_h5ad(file))),
    "sc.pp.pca": in_memory(lambda cells, _: sc.pp.pca(cells)),
    "sc.pp.neighbors": in_memory(lambda cells, _: sc.pp.neighbors(cells), KEPT),
    "sc.tl.rank_genes_groups": in_memory(
        lambda cells, _: sc.tl.rank_genes_groups(cells, LABEL), KEPT
    ),
    "sc.tl.score_genes": in_memory(
        lambda cells, _: sc.tl.score_genes(cells, panels(cells)["first"]), SELECTED
    ),
    "LapAOFS (greedy)": in_memory(partial(select, method="lapaofs", inplace=False), real=False),
    "HVG seurat_v3": of_rival(rivals.highly_variable, flavor="seurat_v3"),
    "triku": of_rival(rivals.triku),
    "hotspot": of_rival(rivals.hotspot, by="Z"),
}
#: These take longer than linearly, or are not for so many cells.
FOR_FEW = (REPORT, "pl.panel")


def held(cells: AnnData) -> dict[str, dict]:
    """Return what is kept with cells."""
    return {part: dict(getattr(cells, part)) for part in PARTS}


def kept_in(path: Path, of: str) -> Path:
    """Return the file of what is kept for one state."""
    return path.with_suffix(f".{of}.pickle")


def loaded(kept: Path) -> dict[str, dict]:
    """Return what is kept in a file; nothing where there is none."""
    if not kept.exists():
        return {part: {} for part in PARTS}
    with kept.open("rb") as file:
        return pickle.load(file)


def give(cells: AnnData, path: Path, of: str) -> None:
    """Give cells what is kept beside their file."""
    for state in {SELECTED: [SELECTED], KEPT: [SELECTED, KEPT]}.get(of, []):
        for part, values in loaded(kept_in(path, state)).items():
            for name, value in values.items():
                getattr(cells, part)[name] = value


def keep(cells: AnnData, path: Path, before: dict[str, dict], of: str) -> None:
    """Keep what a call wrote beside its file."""
    kept = kept_in(path, SELECTED if of == BARE else KEPT)
    found = loaded(kept)
    for part, values in held(cells).items():
        if part in ("obs", "var"):  # whose columns are made anew when they are asked for
            values = {key: value for key, value in values.items() if key not in before[part]}
        found[part] |= {k: value for k, value in values.items() if value is not before[part].get(k)}
    with kept.open("wb") as file:
        pickle.dump(found, file, pickle.HIGHEST_PROTOCOL)


def peak() -> float:
    """Return the largest resident memory so far, in GiB, of this process or of one it started."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    own = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return max(int(own.split()[1]), started) / 2**20


def main() -> None:
    """Prepare, run, tell."""
    warnings.simplefilter("ignore")
    mpl.use("agg")
    name, path, place = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    task = TASKS[name]
    cells = OPENED[place](path)
    give(cells, path, task.of)
    before = held(cells)
    if len(sys.argv) > 4:
        spent = sum(os.times()[:4])
        resource.setrlimit(resource.RLIMIT_CPU, (int(spent + float(sys.argv[4])) + 1, -1))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
    with Clock() as call:
        task.run(cells, path)
    found = {"seconds": call.seconds, "cpu": call.cpu, "peak": peak()}
    resource.setrlimit(resource.RLIMIT_CPU, (-1, -1))
    keep(cells, path, before, task.of)
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
