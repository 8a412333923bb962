"""Gene selection on AnnData."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from anndata import AnnData

from .. import checks
from .._anndata import selection, write
from ._selected import selected

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from .._anndata.columns import PerGene
    from .._anndata.names import Genes, Missing
    from .._anndata.target import Detection, Preserve
    from ..limits import Limits
    from ..methods import Method


def select_genes(
    adata: AnnData | Sequence[AnnData] | Mapping[str, AnnData],
    n_genes: int | None = None,
    *,
    method: str | Method = "glfs",
    objective: str | Method = "error",
    preserve: Preserve = "structure",
    cell_weights: str | None = None,
    lam: float | Literal["line_search"] | None = None,
    lambda1: float = 100.0,
    standardize: Literal["auto", "noise", "unit"] | None = "auto",
    n_comps: int | None = 50,
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    n_neighbors: int = 15,
    layer: str | None = None,
    mask_var: NDArray[np.bool_] | str | None = None,
    include: Genes | None = None,
    exclude: Genes | None = None,
    symbols: str | None = None,
    missing: Missing = "raise",
    limits: Limits | None = None,
    counts_layer: str | None = None,
    cost: PerGene | None = None,
    budget: float | None = None,
    failure: PerGene | None = None,
    detection: Detection | None = None,
    batch_key: str | None = None,
    across: Literal["mean", "worst"] = "mean",
    structure_key: str = "glfs_structure",
    key_added: str = "glfs",
    as_highly_variable: bool = False,
    subset: bool = False,
    inplace: bool = True,
    random_state: int | None = 0,
) -> pd.DataFrame | None:
    """Select the few genes that keep the structure of the cells.

    A panel is chosen gene by gene.  Each gene is the one that lowers most the error of
    Laplacian-regularised least squares (LapRLS), ``F = Tr(W E)``, when it is measured beside the
    genes before it.  W stands for the structure of the cells.  No labels are needed.  Panels are
    nested: the first k genes of a larger panel are the panel of k genes, so that one call ranks all
    sizes.  ``objective="exact"`` is the paper's selection [1]_ instead, the variance of LapRLS with
    a penalty on the weights.

    It expects logarithmised expression, as ``sc.pp.log1p`` leaves it.  ``obsm["X_pca"]`` and the
    graph of ``sc.pp.neighbors`` are re-used when they are there and hold what stands out from the
    noise of the genes.  Otherwise both are computed here, with genes in units of their noise.

    Parameters
    ----------
    adata
        Cells × genes.  ``adata.X`` is never changed, and never made dense.  It may be backed
        (``sc.read_h5ad(..., backed="r")``), zarr, or a dask array, which is read block by block and
        worked on wherever dask's scheduler puts the blocks.  Above 20,000 cells, in whatever form,
        the noise of the genes is measured on 10,000 cells drawn at random.  Several data sets, a
        list or a dict of names: genes are matched by their names, those that all sets have are
        looked at, and each set is a batch, with its own subspace and graph.  What `preserve` and
        `cell_weights` name is looked for in each set, what names columns of ``.var`` in the first
        that has them.  Their matrices must be in memory.
    n_genes
        Genes to select.  None: the fewest that keep 80 % of the structure that all genes keep (at
        most 500); with the paper's objectives, all genes of the solution at `lam`.
    method
        ``"glfs"``, or a method that it is compared with: ``"lapaofs"`` and ``"lapdofs"`` (greedy,
        He et al. 2011), ``"laplacian_score"`` (He et al. 2005), ``"q_alpha"`` (Wolf & Shashua
        2003), ``"sparse_pca"`` (Zou et al. 2004), ``"variance"``.  These need `n_genes`, and refuse
        `objective` and `lam`.  All are given the same matrix, subspace and graph, and use
        of these what they are defined on.
    objective
        ``"error"``: the error of LapRLS, its variance and its squared bias.  ``"exact"``: the
        variance ``Tr Cov(w)`` alone, which the paper [1]_ minimises.  ``"printed"``: the last
        formula for it in the paper, which equals it only for matrices that commute.
    preserve
        What the panel is to keep.  ``"structure"``: all that genes vary in; no labels are needed.
        ``"expression"``: all genes are to be predicted, each counting by how much it varies in the
        matrix, as for imputation.  A column of ``.obs``: with labels (categories, strings,
        booleans) the types of the cells are to be told apart, each counting alike; with decimal
        numbers, such as a pseudotime or a score, they are to be predicted.  Cells without a value
        stay in the graph.  A key of ``.obsm``: a space of the cells, such as proteins or places in
        a tissue.  A list of genes, a file of them, or the name of a boolean column of ``.var``:
        these genes are to be predicted, each counting by its structure in units of noise.  A dict
        of such names with weights: all of them, such as ``{"structure": 1, "cell_type": 2}``, or
        coarse and fine types.
    cell_weights
        Column of ``.obs``: how much each cell counts in what is kept, as if a cell of weight 2 were
        two cells.  Labels in place of numbers: all labels count alike, so that rare types count
        like frequent ones.  None: all cells count alike.  With `preserve` on the same labels these
        weights change nothing, as all pairs of labels count alike there.
    lam
        λ of the paper's objectives; ``"line_search"``: the rule of the paper, the largest λ that
        does not collapse (a handful of genes).  None: chosen along the path so that `n_genes`
        remain, or the line search where `n_genes` is None too.
    lambda1
        Weight λ1 of the graph in ``B = I + λ1 L``, L the symmetric normalised Laplacian.
    standardize
        ``"noise"``: genes in units ``h_i/√(σ_i² + σ_0²)``, with the noise σ_i² and the reliability
        h_i of the gene measured on the graph and the noise σ_0² of the assay that will measure the
        panel.  ``"unit"``: unit variance.  None: genes as they are.  ``"auto"``: ``"noise"``, but
        as they are at full rank with the paper's objectives and the other methods.
    n_comps
        Principal components that span the subspace of the cells.  None: full rank, for up to some
        hundred samples, as in the paper.
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
        Genes to work on: boolean array, or name of a boolean column of ``.var``.  The others are
        not looked at.
    include, exclude
        Genes that must be, or cannot be, in the selection: names, compiled patterns
        (``re.compile("^AC[0-9]")``), names of boolean columns of ``.var``, families of genes, or a
        list of these.  A string is looked for in this order.  The families, of human and mouse, by
        symbol and by Ensembl id, are ``"mitochondrial"``, ``"ribosomal"``, ``"haemoglobin"``,
        ``"tcr"`` and ``"bcr"`` (segments of T-cell receptors and immunoglobulins), ``"sex"``
        (XIST, TSIX and genes of Y), ``"cell_cycle"`` [2]_, ``"heat_shock"`` [3]_ and
        ``"dissociation"`` [4]_.  Included genes come first, ordered by what each adds to those
        before it; the others complement them.  Excluded genes still count as structure that the
        panel should keep.
    symbols
        Column of ``.var`` where the names, patterns and families of `include` and `exclude`, and
        the names of `preserve`, are looked for too, beside ``.var_names``.  A symbol that several
        genes have is all of these.
    missing
        What to do where `include`, `exclude` or `preserve` has names that are not there, or
        patterns and families without a gene: ``"raise"`` an error, ``"warn"``, or ``"ignore"``
        them.
    limits
        Limits on the panel: a :class:`~glfs_bio.Limits`, of expression, total counts, families,
        genes per type, and priorities.  Every panel keeps within them.  Where they let fewer than
        `n_genes` genes in, the panel is smaller.  What `of_best_possible` compares with are panels
        within the limits.
    counts_layer
        Layer of raw counts, for limits on totals; ``"X"`` for ``.X``.
    cost, budget
        What a gene costs (one number, a column of ``.var``, or a dict by name), and what the panel
        may cost.  With a budget and ``n_genes=None`` as many genes are selected as it affords and
        as gain something.  Under a budget, or a limit on totals, genes are chosen several times, by
        gain and by gain per cost, and the best panel counts.
    failure
        Probability that a gene fails: one number, a column of ``.var``, or a dict by name (other
        genes do not fail).  The panel that keeps most in the mean over failures is chosen, of which
        20 sets are drawn.
    detection
        How much of each gene the assay detects that will measure the panel, as a share of what is
        detected here, from 0 to 1: one number, a column of ``.var``, or a dict by name.  Or cells
        that were measured by that assay, an AnnData object: the shares are then estimated from how
        many cells express each gene there and here, which should be cells of the same kinds.  The
        noise of a gene grows accordingly; what is to be kept stays.
    batch_key
        Column of ``.obs``.  Every batch gets its own subspace and graph, so that genes which only
        separate batches gain nothing.  Batches of one or two cells are left out, and those of few
        cells are named.  With several data sets the batches of each.
    across
        ``"mean"``: F is the mean over the batches or data sets.  ``"worst"``: the panel keeps as
        much as can be of the batch of which it keeps least.
    structure_key
        Where :func:`structure` keeps subspace, graph and noise, which depend on the cells and not
        on what is asked.  They are re-used where they were computed from the same matrix,
        representation, graph and batches, by the same parameters; else they are computed here.  The
        selection is the same, to the last bit.  With ``objective="error"`` and one data set only.
    key_added
        Prefix of the columns written to ``.var``, and key of ``.uns``.
    as_highly_variable
        Also write the selection to ``.var["highly_variable"]``, which ``sc.pp.pca`` uses.
    subset
        Keep only the selected genes in `adata` (or in the returned table).
    inplace
        Write to `adata`; otherwise return a table and leave `adata` as it is.  There is no `copy`:
        to keep an object, pass ``adata.copy()``.
    random_state
        Seed of the principal components, of a graph of many cells, and of their sample.

    Returns
    -------
    None, or with `inplace=False` a :class:`pandas.DataFrame` with one row a gene.  Written, to
    every data set:

    ``.var[f"{key_added}_selected"]``
        Whether the gene is selected.
    ``.var[f"{key_added}_rank"]``
        1 is the best gene; NaN for genes that could not be selected.
    ``.var[f"{key_added}_score"]``
        Larger is better, no ties; NaN for genes that could not be selected.
    ``.var[f"{key_added}_loss"]``
        What the panel loses without the gene, as a share of what all genes keep; 0 for genes that
        are not selected.
    ``.var[f"{key_added}_weight"]``
        β: 0 ≤ β ≤ 1, the weights of the best panel of so many genes if genes could be taken in
        part.  1 is a gene taken whole; less is a gene that others could stand in for.  With the
        paper's objectives its β ≥ 0; of a method without weights what it ranks by: the gain of a
        gene that was picked, its score (minus the Laplacian Score), the size of its α, or its
        largest loading.
    ``.var[f"{key_added}_included"]``
        Whether `include` put the gene in.
    ``.var[f"{key_added}_detection"]``
        With `detection`: those shares.
    ``.uns[key_added]``
        ``params``; ``n_genes`` and ``n_tested``, the genes selected and those to choose from;
        ``kept``, shape (n_genes,): the share of the structure that the first 1, 2, … genes keep of
        what all genes keep; ``method``; ``reused``: whether ``representation`` and ``graph`` were
        those that were there, and whether the ``structure`` was the one under `structure_key`;
        ``replaced``: whether representation and graph had to be replaced; ``graph_components``;
        ``assay_noise``: σ_0²; ``versions``; with `batch_key` or several data sets ``batches``,
        their names, and ``kept_in_batches``, shape (n_genes, n_batches): the
        share that is kept of each; with several data sets ``data_sets``, their names; where
        something of `include` or `exclude` is not there, ``missing``: what it is.  With
        ``objective="error"`` ``of_best_possible``, shape (n_genes,): what panels of these sizes
        keep is at least this share of what the best possible panel of that size keeps (NaN up to
        the genes of `include`);
        with ``n_genes=None`` ``curve``: ``kept`` of panels larger than the selection too; with
        `failure` ``kept_with_failures``, shape
        (n_genes,), the mean of what is kept over the failures.  With the paper's objectives
        ``lam``, ``path``, ``kkt`` (largest violation of the optimality conditions, in units of λ),
        ``converged``, ``n_iter``.

    Raises
    ------
    KeyError
        An unknown key, layer or column; unknown genes, all of them at once.
    TypeError, ValueError
        A parameter, matrix or graph that cannot be used; `adata` is left as it was.

    References
    ----------
    .. [1] B. Wang and A. Goldenberg, Gradient-based Laplacian Feature Selection.
    .. [2] I. Tirosh et al., Science 352, 189 (2016).
    .. [3] H. H. Kampinga et al., Cell Stress and Chaperones 14, 105 (2009).
    .. [4] S. C. van den Brink et al., Nature Methods 14, 935 (2017).

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
    checks.keys(key_added=key_added)
    checks.texts(structure_key=structure_key)
    checks.flags(as_highly_variable=as_highly_variable, subset=subset, inplace=inplace)
    if isinstance(adata, AnnData):
        sets, whole = {"": adata}, selection.Joined(adata, {})
    else:
        sets = selection.data_sets(adata)
        whole = selection.join(sets, params)
    for one in sets.values():
        if subset and inplace and one.isbacked:
            msg = (
                "subset=True cannot cut a backed file: leave it out, and call "
                f'adata[:, adata.var["{key_added}_selected"]].to_memory() afterwards.'
            )
            raise ValueError(msg)
    frame, entry = selected(whole.adata, params | whole.params)
    chosen = frame[f"{key_added}_selected"].to_numpy()
    if as_highly_variable:
        frame["highly_variable"] = chosen
    if not inplace:
        return frame[chosen] if subset else frame
    if whole.params:
        entry["params"] |= write.parameters({name: params[name] for name in whole.params})
        entry["data_sets"] = np.array(list(sets), dtype=object)
    for one in sets.values():
        write.store(one, write.spread(frame, one.var_names), dict(entry), key_added)
        if subset:
            one._inplace_subset_var(one.var[f"{key_added}_selected"].to_numpy())
    return None
