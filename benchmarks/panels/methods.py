"""One small function a method: a set's matrix in, genes out, best first; no labels."""

from __future__ import annotations

import argparse
import hashlib
import inspect
import warnings
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import before
import numpy as np
import scanpy as sc
import sets
from scipy.sparse import csc_matrix

import glfs_bio
from glfs_bio.selection import METHODS as RANKERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

OURS, UNITS, BEFORE = "ours", "units", "before"
RANKER, PLAIN, RIVAL = "rankers", "plain", "rivals"
#: Groups whose panels may change with this package.
OWN = (OURS, UNITS, RANKER, PLAIN)


def installed(package: str) -> str:
    """Name and version of a package."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"


def parser(description: str, methods: Mapping, sets: Iterable[str]) -> argparse.ArgumentParser:
    """Command line that asks for some methods and sets."""
    found = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawTextHelpFormatter
    )
    groups = list(dict.fromkeys(method.group for method in methods.values()))
    found.add_argument(
        "--only",
        nargs="+",
        metavar="METHOD",
        default=groups,
        choices=[*groups, *methods],
        help=f"{', '.join(groups)}, or names: {'; '.join(methods)}",
    )
    found.add_argument("--sets", nargs="+", metavar="SET", default=list(sets), choices=list(sets))
    return found


def named(only: Iterable[str], methods: Mapping) -> set[str]:
    """Methods that are named, or whose group is."""
    return {name for name, method in methods.items() if {name, method.group} & set(only)}


@dataclass(frozen=True)
class Method:
    """A way to choose genes.

    `prepare` runs outside the clock.  A nested method ranks once, for the largest size; the others
    are asked again for every size.
    """

    select: Callable
    group: str = RIVAL
    package: str = "scanpy"
    nested: bool = True
    prepare: Callable = lambda adata: adata

    @property
    def fingerprint(self) -> str:
        """Changes with whatever could change the genes."""
        function = getattr(self.select, "func", self.select)
        digest = hashlib.sha256(
            "".join(map(inspect.getsource, (sets.load, with_graph, function))).encode()
        )
        if self.package == "glfs-bio":
            home = Path(glfs_bio.__file__).parent
            for room in ("core", "panels", "rankers", "_anndata", "pp"):
                for file in sorted((home / room).rglob("*.py")):
                    digest.update(file.read_bytes())
        else:
            digest.update(installed(self.package).encode())
        return digest.hexdigest()[:16]


def select_genes(adata, n_genes: int, **options):
    """select_genes of this package."""
    table = glfs_bio.pp.select_genes(adata, n_genes, inplace=False, **options)
    chosen = np.flatnonzero(table["glfs_selected"])
    return chosen[np.argsort(table["glfs_rank"].to_numpy()[chosen])]


def with_graph(adata, **options):
    """A copy after sc.pp.pca and sc.pp.neighbors."""
    adata = adata.copy()
    sc.pp.pca(adata)
    sc.pp.neighbors(adata, **options)
    return adata


def highly_variable(adata, n_genes: int, *, flavor: str):
    """Scanpy's highly variable genes, by its normalised dispersion, or rank where it gives one."""
    layer = "counts" if flavor == "seurat_v3" else None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning, module="scanpy")
        table = sc.pp.highly_variable_genes(
            adata, n_top_genes=n_genes, flavor=flavor, layer=layer, inplace=False
        )
    if flavor == "seurat_v3":
        return np.argsort(table["highly_variable_rank"].fillna(np.inf), kind="stable")[:n_genes]
    return np.argsort(-table["dispersions_norm"].fillna(-np.inf), kind="stable")[:n_genes]


def pearson_residuals(adata, n_genes: int):
    """Scanpy's highly variable genes by analytic Pearson residuals."""
    table = sc.experimental.pp.highly_variable_genes(
        adata, n_top_genes=n_genes, layer="counts", inplace=False
    )
    return np.argsort(table["highly_variable_rank"].fillna(np.inf), kind="stable")[:n_genes]


def expressed(adata):
    """Genes that some cell expresses: triku and Hotspot refuse others."""
    return np.flatnonzero(np.asarray(adata.X.sum(axis=0)).ravel())


def triku(adata, n_genes: int):
    """Distance of triku, on the graph of its tutorial: cosine, √n/2 neighbours."""
    with warnings.catch_warnings():  # importing it silences all warnings
        from triku.tl import triku

    seen = expressed(adata)
    part = with_graph(adata[:, seen], metric="cosine", n_neighbors=int(0.5 * adata.n_obs**0.5))
    triku(part, use_raw=False)
    best_first = np.argsort(-part.var["triku_distance"].to_numpy(), kind="stable")
    return seen[best_first[:n_genes]]


def hotspot(adata, n_genes: int, *, by: str, approx_neighbors: bool = False):
    """Autocorrelation of Hotspot, its DANB model on 50 principal components, 30 neighbours.

    The approximate ones that it takes by default have no seed: genes change from run to run.
    """
    from hotspot import Hotspot

    model = adata[:, expressed(adata)].copy()
    model.X = csc_matrix(model.layers["counts"])
    model.obs["total"] = np.asarray(model.X.sum(axis=1)).ravel()
    model.obsm["X_pca"] = sc.pp.pca(adata.X, random_state=0)
    model = Hotspot(model, model="danb", latent_obsm_key="X_pca", umi_counts_obs_key="total")
    model.create_knn_graph(weighted_graph=False, n_neighbors=30, approx_neighbors=approx_neighbors)
    table = model.compute_autocorrelations(jobs=1)
    ranked = table[by].sort_values(ascending=False, kind="stable").index[:n_genes]
    return adata.var_names.get_indexer(ranked)


def variance(adata, n_genes: int):
    """Largest variance of the logarithmised expression."""
    mean = np.asarray(adata.X.mean(axis=0)).ravel()
    spread = np.asarray(adata.X.multiply(adata.X).mean(axis=0)).ravel() - mean**2
    return np.argsort(-spread, kind="stable")[:n_genes]


def random(adata, n_genes: int):
    """Any genes, drawn with seed 0."""
    return np.random.default_rng(0).permutation(adata.n_vars)[:n_genes]


_own = partial(Method, package="glfs-bio")

#: The paper's other rankers: in units of noise, and on log counts as they are.
PAPERS = [name for name in RANKERS if name not in ("glfs", "variance")]

METHODS = {
    "GLFS": _own(select_genes, OURS),
    "GLFS, PCA and graph re-used": _own(select_genes, OURS, prepare=with_graph),
    "GLFS, standardize=None": _own(partial(select_genes, standardize=None), UNITS),
    f"GLFS before ({before.COMMIT})": Method(
        before.select_genes, BEFORE, f"glfs-bio at {before.COMMIT}", nested=False
    ),
    **{
        f"select_genes, {name}": _own(partial(select_genes, method=name), RANKER) for name in PAPERS
    },
    **{
        f"select_genes, {name}, standardize=None": _own(
            partial(select_genes, method=name, standardize=None), PLAIN
        )
        for name in PAPERS
    },
    "HVG seurat": Method(partial(highly_variable, flavor="seurat")),
    "HVG cell_ranger": Method(partial(highly_variable, flavor="cell_ranger")),
    "HVG seurat_v3": Method(partial(highly_variable, flavor="seurat_v3")),
    "Pearson residuals": Method(pearson_residuals),
    "triku": Method(triku, package="triku"),
    "hotspot, by Z": Method(partial(hotspot, by="Z"), package="hotspotsc"),
    "hotspot, by C": Method(partial(hotspot, by="C"), package="hotspotsc"),
    "variance": Method(variance, package="numpy"),
    "random": Method(random, package="numpy"),
}
