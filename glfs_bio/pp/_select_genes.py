"""Gene selection on AnnData."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Literal

import numpy as np

from .._anndata import read, write
from ..core import checks
from ..core.passes import Cells
from ..rankers import METHODS, rank_genes

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData
    from numpy.typing import NDArray

    from .._anndata.read import Genes

log = logging.getLogger(__name__)


def select_genes(
    adata: AnnData,
    n_genes: int | None = None,
    *,
    method: str = "glfs",
    objective: Literal["exact", "printed", "mse"] = "exact",
    lam: float | Literal["line_search"] | None = None,
    finish: Literal["auto", "greedy"] | None = "auto",
    lambda1: float = 100.0,
    standardize: Literal["noise", "noise_always", "unit"] | None = "noise",
    n_comps: int | None = 50,
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    n_neighbors: int = 15,
    layer: str | None = None,
    mask_var: NDArray[np.bool_] | str | None = None,
    include: Genes | None = None,
    exclude: Genes | None = None,
    batch_key: str | None = None,
    key_added: str = "glfs",
    as_highly_variable: bool = False,
    subset: bool = False,
    inplace: bool = True,
    random_state: int | None = 0,
) -> pd.DataFrame | None:
    """Select the few genes that keep the structure of the cells.

    Gradient-based Laplacian feature selection [1]_ minimises the variance of Laplacian-regularised
    least squares, ``Tr Cov(w) + λ Σ β`` over gene weights β ≥ 0, and needs no labels.  It expects
    logarithmised expression, as ``sc.pp.log1p`` leaves it.  ``obsm["X_pca"]`` and the graph of
    ``sc.pp.neighbors`` are re-used when they are there and hold what stands out from the noise of
    the genes; otherwise both are computed here, twice, the second time with genes in units of their
    noise.

    Parameters
    ----------
    adata
        Cells × genes.  ``adata.X`` is never changed, and never made dense.  It may be backed
        (``sc.read_h5ad(..., backed="r")``), zarr, or a dask array, which is read block by block and
        worked on wherever dask's scheduler puts the blocks.  Above 10,000 cells, in whatever form,
        the noise of the genes is measured on so many cells drawn at random.
    n_genes
        Genes to select.  None: as many as keep 90 % of the structure that all genes keep (at most
        500); with `lam`, all genes of that solution.
    method
        ``"glfs"``, or a method that it is compared with: ``"lapaofs"`` and ``"lapdofs"`` (greedy,
        He et al. 2011), ``"laplacian_score"`` (He et al. 2005), ``"q_alpha"`` (Wolf & Shashua
        2003), ``"sparse_pca"`` (Zou et al. 2004), ``"variance"``.  These have no λ: they need
        `n_genes`, and refuse `objective`, `lam` and `finish`.  All are given the same matrix,
        subspace and graph, and use of these what they are defined on.
    objective
        ``"exact"``: Tr Cov(w); ``"printed"``: the last formula for it in [1]_, which equals it only
        for matrices that commute; ``"mse"``: variance plus bias, ``Tr E`` with 0 ≤ β ≤ 1 (the
        criterion of He et al. 2011, relaxed).
    lam
        λ; ``"line_search"``: the rule of [1]_, the largest λ that does not collapse (a handful of
        genes); None: chosen along the path so that `n_genes` remain.
    finish
        What to do where no λ leaves `n_genes` genes or few more, since many leave at once:
        ``"greedy"``: complete the panel gene by gene, each the one that lowers most ``Tr(M E)``,
        the mean squared error weighted by the graph; None: rank the genes of a larger or smaller
        solution by weight, as [1]_ does; ``"auto"``: greedy, except at full rank.
    lambda1
        Weight λ1 of the graph in ``B = I + λ1 L``, L the symmetric normalised Laplacian.
    standardize
        ``"noise"``: weight genes by their technical noise, measured on the graph, except at full
        rank; ``"noise_always"``: at full rank too; ``"unit"``: unit variance; None: as they are.
    n_comps
        Principal components that span the subspace of the cells; fewer are used for few genes.
        None: full rank, the problem of [1]_ as it stands, for up to some hundred samples.
    use_rep
        Key of ``.obsm`` whose columns span the subspace; ``"X"``: compute principal components
        here.  None: ``X_pca`` where it exists.
    neighbors_key
        Key of ``.uns`` that ``sc.pp.neighbors`` wrote.  None: ``neighbors`` where it exists; else a
        graph is computed here.  Neither the graph nor ``X_pca`` is re-used with `use_rep="X"`,
        with `batch_key`, or at full rank, unless it is named.  What is named is used as it is.
    n_neighbors
        Neighbours of a cell where the graph is computed here.
    layer
        Layer to use in place of ``.X``.
    mask_var
        Genes to choose from: boolean array, or name of a boolean column of ``.var``.
    include, exclude
        Genes that must be, or cannot be, in the selection: names, compiled patterns
        (``re.compile("^MT-")``), names of boolean columns of ``.var``, or a list of these.
        Included genes count as covered structure, which the others complement.
    batch_key
        Column of ``.obs``.  Every batch gets its own subspace and graph and all share one β, so
        that genes which only separate batches gain nothing.
    key_added
        Prefix of the columns written to ``.var``, and key of ``.uns``.
    as_highly_variable
        Also write the selection to ``.var["highly_variable"]``, which ``sc.pp.pca`` uses.
    subset
        Keep only the selected genes in `adata` (or in the returned table).
    inplace
        Write to `adata`; otherwise return a table and leave `adata` as it is.
    random_state
        Seed of the principal components, of a graph of many cells, and of their sample.

    Returns
    -------
    None, or with `inplace=False` a :class:`pandas.DataFrame` with one row a gene.  Written:

    ``.var[f"{key_added}_weight"]``
        β ≥ 0; for a panel that was completed greedily, what each gene of it added; of a method
        without weights what it ranks by: the gain of a gene that was picked, its score (minus the
        Laplacian Score), the size of its α, or its largest loading.
    ``.var[f"{key_added}_score"]``
        Larger is better, no ties; NaN for genes that were not tested.
    ``.var[f"{key_added}_rank"]``
        1 is the best gene; NaN for genes that were not tested.
    ``.var[f"{key_added}_selected"]``
        Whether the gene is selected.
    ``.uns[key_added]``
        ``params``, ``objective``, ``lam``, ``path``, ``kkt`` (largest violation of the optimality
        conditions, in units of λ), ``converged``, ``finish`` (what was done: ``"greedy"`` or
        ``"none"``), ``n_genes``, ``n_tested``, ``method``, ``graph_components``, ``replaced``
        (whether a PCA and graph that were there had to be), ``versions``; with an automatic number
        ``curve``, the share of the structure that panels of each size keep; with a panel that was
        completed greedily ``completed``, the share that its first genes keep.  Only iterative
        methods have ``converged``, and only GLFS ``objective``, ``lam``, ``path``, ``kkt`` and
        ``finish``.

    Raises
    ------
    KeyError
        An unknown key, layer, column or gene.
    TypeError, ValueError
        A parameter, matrix or graph that cannot be used; `adata` is left as it was.

    References
    ----------
    .. [1] B. Wang and A. Goldenberg, Gradient-based Laplacian Feature Selection.

    Examples
    --------
    >>> import scanpy as sc
    >>> import glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> int(adata.var["glfs_selected"].sum())
    10
    """
    params = {name: value for name, value in locals().items() if name != "adata"}
    read.check(adata)
    checks.one_of("method", method, METHODS)
    checks.keys(key_added=key_added)
    checks.flags(as_highly_variable=as_highly_variable, subset=subset, inplace=inplace)
    checks.seed(random_state)
    read.unique_names(adata)
    if subset and inplace and adata.isbacked:
        msg = (
            "subset=True cannot cut a backed file: leave it out, and call "
            f'adata[:, adata.var["{key_added}_selected"]].to_memory() afterwards.'
        )
        raise ValueError(msg)
    data = read.cells(adata, layer)
    tested = read.mask(adata.var, mask_var, "mask_var") & ~read.gene_mask(adata, exclude, "exclude")
    included = read.gene_mask(adata, include, "include")
    if (included & ~tested).any():
        names = ", ".join(adata.var_names[included & ~tested])
        msg = f"include has genes that mask_var or exclude rule out: {names}."
        raise ValueError(msg)
    if not tested.any():
        msg = "exclude leaves no gene to choose from."
        raise ValueError(msg)
    batch = read.batches(adata, batch_key)
    fresh = batch is not None or n_comps is None or use_rep == "X"
    coordinates = None if fresh and use_rep is None else read.representation(adata, use_rep)
    graph = None if fresh and neighbors_key is None else read.graph(adata, neighbors_key)
    if read.looks_like_counts(data):
        warnings.warn(
            "The matrix holds whole numbers, like raw counts: run sc.pp.normalize_total and "
            "sc.pp.log1p first, or name a logarithmised layer.",
            UserWarning,
            stacklevel=2,
        )

    ranking = rank_genes(
        data if tested.all() else Cells(data, genes=np.flatnonzero(tested)),
        n_genes,
        method=method,
        objective=objective,
        lam=lam,
        finish=finish,
        include=included[tested].nonzero()[0],
        graph=graph,
        representation=coordinates,
        provisional=use_rep is None and neighbors_key is None,
        batch=batch,
        lambda1=lambda1,
        standardize=standardize,
        n_comps=n_comps,
        n_neighbors=n_neighbors,
        random_state=random_state,
    )
    frame = write.table(ranking, tested, adata.var_names, key_added)
    selected = frame[f"{key_added}_selected"].to_numpy()
    if as_highly_variable:
        frame["highly_variable"] = selected
    if not inplace:
        return frame[selected] if subset else frame
    write.store(adata, frame, write.record(ranking, params, int(tested.sum())), key_added)
    if subset:
        adata._inplace_subset_var(selected)
    return None
