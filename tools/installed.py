"""``python tools/installed.py [core]``: the package as it was installed, on 9,000 cells.

With ``core`` the environment holds no extra: a panel is chosen with AnnData and with scikit-learn,
and what needs an extra names it in one sentence.  Without, it holds all of them, and the code of
README.md runs as it stands, and on 9,000 cells, since above 8,192 cells scanpy takes another way to
the neighbours; and the page of tasks.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import anndata as ad
import numpy as np
from scipy import sparse

import glfs_bio

README = Path(__file__).resolve().parents[1] / "README.md"
TASKS = README.parent / "docs" / "howto" / "tasks.md"
N_CELLS = 9_000
#: What needs an extra, and the extra.
_EXTRAS = {
    "glfs_bio.pl.panel(adata)": "scanpy",
    "glfs_bio.tl.enrich(adata, {'a set': list(adata.var_names[:9])})": "enrich",
    "glfs_bio.io.write_report(adata, 'report.html')": "report",
    "glfs_bio.io.write_genes(adata, 'panel.xlsx')": "xlsx",
    "glfs_bio.datasets.golub()": "datasets",
}


def simulated() -> ad.AnnData:
    """Cells between six types, in logarithms."""
    rng = np.random.default_rng(0)
    means = rng.gamma(0.3, 2.0, size=(6, 1_000))
    counts = rng.poisson(rng.dirichlet(np.full(6, 0.3), size=N_CELLS) @ means)
    cells = ad.AnnData(sparse.csr_matrix(np.log1p(counts).astype(np.float32)))
    cells.var_names = [f"G{i}" for i in range(cells.n_vars)]
    return cells


def core() -> None:
    """Panels without any extra, and what is said where one is missing."""
    adata = simulated()
    glfs_bio.pp.select_genes(adata, n_genes=25)
    assert adata.var["glfs_selected"].sum() == 25
    assert glfs_bio.GLFS(n_genes=25).fit(adata.X).get_support().sum() == 25
    os.environ.pop("GLFS_BIO_DATA", None)
    for call, extra in _EXTRAS.items():
        told = refusal(call, adata)
        assert f"pip install 'glfs-bio[{extra}]'" in told, (call, told)
        print(f"  {told}")
    command = [Path(sys.executable).with_name("glfs-bio"), "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 1, said
    assert "pip install 'glfs-bio[cli]'" in said.stderr, said
    print(f"  {said.stderr.strip()}")


def refusal(call: str, adata: ad.AnnData) -> str:
    """What is said instead of running it."""
    try:
        eval(call, {"adata": adata, "glfs_bio": glfs_bio})
    except ImportError as error:
        return str(error)
    return "nothing: it ran"


def between(few: ad.AnnData) -> ad.AnnData:
    """As many cells as are asked for, each between two of the same label."""
    rng = np.random.default_rng(0)
    one = rng.integers(few.n_obs, size=N_CELLS)
    members = few.obs.groupby("bulk_labels", observed=True).indices
    other = np.array([rng.choice(members[label]) for label in few.obs["bulk_labels"].iloc[one]])
    share = sparse.diags_array(rng.uniform(0.0, 1.0, N_CELLS))
    values = few.X[one] + share @ (few.X[other] - few.X[one])
    names = [f"cell {i}" for i in range(N_CELLS)]
    obs = few.obs.iloc[one].set_axis(names)
    return ad.AnnData(sparse.csr_matrix(values, dtype=np.float32), obs=obs, var=few.var)


def code(page: Path, fence: str) -> str:
    """Return the Python of a page."""
    blocks = re.findall(rf"^```{fence}\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    if not blocks:
        raise LookupError(f"{page.name} has no Python")
    return "\n".join(blocks)


def readme() -> None:
    """Run the code of the README on 9,000 cells and on its own, and that of the tasks."""
    import matplotlib as mpl
    import scanpy as sc

    mpl.use("agg")
    own = sc.datasets.pbmc68k_reduced().raw.to_adata()
    quick_start, tasks = code(README, "python"), code(TASKS, re.escape("{code-cell}"))
    for name, cells, text in (
        ("README", between(own), quick_start),
        ("README", own, quick_start),
        ("tasks", own, tasks),
    ):
        began = time.monotonic()
        raw = SimpleNamespace(to_adata=lambda cells=cells: cells)
        sc.datasets.pbmc68k_reduced = lambda raw=raw: SimpleNamespace(raw=raw)
        names: dict[str, ad.AnnData] = {}
        exec(text, names)
        assert names["adata"].shape == cells.shape
        assert names["adata"].var["glfs_selected"].sum() == 25
        print(f"  {name}, {cells.n_obs} cells: {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    where = Path(glfs_bio.__file__).resolve()
    if README.parent in where.parents and "site-packages" not in where.parts:
        sys.exit(f"glfs_bio is that of the checkout, {where.parent}: install the wheel.")
    print(f"glfs_bio {glfs_bio.__version__}, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        core() if sys.argv[1:] == ["core"] else readme()
        os.chdir("/")
