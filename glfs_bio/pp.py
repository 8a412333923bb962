"""Preprocessing: select genes, alone or before a principal component analysis.

Functions write to the object that they get and have no `copy`: pass ``adata.copy()`` to keep it.
"""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from anndata import AnnData

from . import checks, codec
from ._anndata import columns, constraints, expression, names, read, results, summaries
from ._anndata import platform as platforms
from ._anndata import target as targets
from ._anndata.join import data_sets, join
from ._anndata.structure import (
    FEWEST_OF_TYPE,
    KEY,
    checksums,
    compute,
    say_not_used,
    specified,
    store,
    structure_of,
)
from ._docs import documented
from .cells.cells import StructureSpec
from .errors import InvalidValue, listed, naming, note, told
from .options import Request, public
from .selection import answerable, rank_genes
from .solvers.panel import adds_nothing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from ._anndata.names import Genes, Missing
    from ._anndata.target import Preserve
    from .options import Limits, Platform
    from .solvers.panel import Method, Panel, Problem

__all__ = ["select_genes", "structure"]
__dir__ = __all__.copy

#: Families that few panels are meant to have are said from this share of a panel on, and from so
#: many genes.
_MANY, _FEWEST = 0.15, 3


@public
@documented
def select_genes(
    adata: AnnData | Sequence[AnnData] | Mapping[str, AnnData],
    n_genes: int | None = None,
    *,
    preserve: Preserve = "structure",
    cell_weights: str | None = None,
    include: Genes | None = None,
    exclude: Genes | None = None,
    prefer: Genes | None = None,
    ignore: Genes | None = None,
    limits: Limits | None = None,
    platform: Platform | None = None,
    batch_key: str | None = None,
    across: Literal["mean", "worst"] = "mean",
    search: Literal["nested", "best"] = "nested",
    time_limit: float | None = 60.0,
    method: str | Method = "glfs",
    objective: str | Method = "error",
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    n_comps: int | None = 50,
    layer: str | None = None,
    symbols: str | None = None,
    missing: Missing = "raise",
    key_added: str = "glfs",
    as_highly_variable: bool = False,
    subset: bool = False,
    inplace: bool = True,
    random_state: int | None = 0,
) -> pd.DataFrame | None:
    """Select the few genes that preserve the structure of the cells.

    Genes are selected one by one.  Each is the gene that lowers ``F = Tr(W E)`` most, the posterior
    variance of an unknown function on the cells once the gene is measured.  W weights the structure
    of the cells; labels are not needed.  The first k genes are the panel of size k.

    Expression must be log-normalised.  The structure is computed from the matrix alone, with
    noise-standardised genes, and stored in `adata` for later calls.

    Parameters
    ----------
    adata : AnnData, or a list or dict of these
        Cells × genes, in memory, backed, zarr or dask; several datasets in memory.  ``adata.X`` is
        neither changed nor made dense.  Genes are matched by name, and each dataset is a batch.
    n_genes : int, default None
        Number of genes.  None: the fewest genes (at most 500) that preserve 90 % of what all genes
        preserve, or as many as the budget allows.
    preserve : str, list or dict, default "structure"
        Target of the panel:

        - ``"structure"``: variation between cells above the noise of single genes
        - ``"expression"``: expression of all genes, for imputation
        - column of ``.obs``: labels to separate, with equal weight per pair, or decimal numbers,
          such as a pseudotime; whole numbers are refused.  For an instrument (`platform`) of which
          no cells are given, labels count by ordered pairs, unless given weights
        - key of ``.obsm``: a space of the cells, such as proteins
        - list or file of genes, or boolean column of ``.var``: genes to predict
        - dict of names to weights: a sum of such targets
    cell_weights : str, default None
        Column of ``.obs`` with weights of the cells, as decimal numbers, or with labels that get
        equal weights.
    include, exclude : str, pattern or list, default None
        Genes that must, or cannot, be selected: names, compiled patterns, boolean columns of
        ``.var``, or families: ``"mitochondrial"``, ``"ribosomal"``, ``"haemoglobin"``, ``"tcr"``,
        ``"bcr"``, ``"sex"``, ``"cell_cycle"``, ``"proliferation"``, ``"housekeeping"``,
        ``"heat_shock"``, ``"dissociation"``, ``"cytoskeleton"``, ``"translation"``,
        ``"common_markers"``, ``"controls"``.  Excluded genes still belong to the structure, and
        genes that vary with them come in their place; controls do not.  These, and genes called by
        a clone or a locus (``RP11-156E8.1``), are selected only if they are included by name.
    prefer : str, pattern or list, default None
        Genes, as in `exclude`, that replace better ones for 0.2 % of ``preserved``.  Missing names
        are skipped.  Not together with `limits`, which have `priority`; extensions prefer none.
    ignore : str, pattern or list, default None
        Genes, as in `exclude`, that neither count as structure nor can be selected, unless they are
        in `include` too: these add nothing.  Not together with `use_rep` or `neighbors_key`, whose
        structure is what it is: compute it without these genes.
    limits : Limits, default None
        Constraints on expression, counts, groups of genes, markers per type and cost.
    platform : Platform, default None
        Target platform: orderable genes, detection efficiency, codebook.
    <batch_key>
    across : {"mean", "worst"}, default "mean"
        Batches that count:

        - ``"mean"``: all
        - ``"worst"``: the batch with the lowest preserved share (maximin)
    search : {"nested", "best"}, default "nested"
        Choice of genes by the default criterion:

        - ``"nested"``: one by one, with a bound on optimality
        - ``"best"``: the best panel of this size found within `time_limit`, not nested, without
          the priorities of `limits`; see :func:`~glfs_bio.tl.prove_panel`
    time_limit : float, default 60.0
        Seconds after which the search for the best panel ends.  None: no limit.
    method : str, default "glfs"
        ``"glfs"``, or for comparison ``"lapaofs"``, ``"lapdofs"``, ``"laplacian_score"``,
        ``"q_alpha"``, ``"sparse_pca"``, ``"variance"``.
    objective : str or instance, default "error"
        Objective of ``method="glfs"``, or an instance of a class of :mod:`glfs_bio.glfs2014`:

        - ``"error"``: F, the default criterion
        - ``"exact"``: the original GLFS [1]_, the variance of LapRLS with an ℓ1 penalty
        - ``"printed"``: the last formula of that paper
    use_rep : str, default None
        Key of ``.obsm`` that spans the subspace of the cells, or key of a stored :func:`structure`.
        None or ``"X"``: principal components of the matrix.
    <neighbors_key>
    n_comps : int, default 50
        Number of principal components.  None: full rank, for at most some hundred samples.
    <layer>
    <symbols>
    missing : {"raise", "warn", "ignore"}, default "raise"
        Action if a gene name is missing.
    key_added : str, default "glfs"
        Prefix of the columns in ``.var``, and key of ``.uns``.
    as_highly_variable : bool, default False
        Write ``.var["highly_variable"]`` too, which ``sc.pp.pca`` reads.
    subset : bool, default False
        Remove the genes that are not selected from `adata`, or from the returned table.
    inplace : bool, default True
        Write to `adata`.  False: return a table and leave `adata` unchanged.
    random_state : int, default 0
        Seed of all random steps.

    Returns
    -------
    None, or with ``inplace=False`` a table with one row per gene.  Written:

    ``.var[f"{key_added}_selected"]`` : bool
        Selected genes.
    ``.var[f"{key_added}_rank"]`` : float
        Rank, 1 for the best; NaN for excluded genes.
    ``.var[f"{key_added}_score"]`` : float
        Score without ties, larger is better; NaN for excluded genes.
    ``.var[f"{key_added}_loss"]`` : float
        Preserved share that is lost if the gene is removed; 0 for genes that are not selected.
    ``.var[f"{key_added}_weight"]`` : float
        β of the convex relaxation, from 0 to 1; β ≥ 0 of the original GLFS.
    ``.var[f"{key_added}_included"]`` : bool
        Genes of `include`.
    ``.var[f"{key_added}_certificate"]`` : category
        ``"every"`` for genes in every best panel of this size (under limits: of at most this size),
        ``"none"`` for genes in no best panel, ``"open"`` where the bound on optimality does not
        tell.  :func:`~glfs_bio.tl.prove_panel` sharpens it.
    ``.var[f"{key_added}_certificate_within"]`` : category
        The same for all panels that lose at most ``tolerance`` of what the best one preserves.
    ``.var[f"{key_added}_efficiency"]`` : float
        Detection efficiency, with a `platform`.
    ``.var[f"{key_added}_spread"]``, ``.var[f"{key_added}_off_target"]`` : float
        Standard deviation of its logarithm, and share of the counts from other genes.
    ``.var[f"{key_added}_signal"]`` : float
        Structure of the gene on a `platform` that measured cells, in units of its noise there.
    ``.var[f"{key_added}_orderable"]`` : bool
        Genes that can be ordered, with a `platform` that says which.
    ``.var["highly_variable"]`` : bool
        The selected genes, with `as_highly_variable`.
    ``.uns[key_added]["n_genes"]``, ``["n_tested"]`` : int
        Number of selected genes, and of candidate genes.
    ``.uns[key_added]["preserved"]`` : float, shape (n_genes,)
        Share of the target that the first 1, 2, … genes preserve, relative to all genes.
    ``.uns[key_added]["optimality"]`` : float, shape (n_genes,)
        Lower bound on ``preserved`` relative to the best panel of this size; NaN without structure.
    ``.uns[key_added]["tolerance"]`` : float
        0.005, the tolerance of ``certificate_within``.
    ``.uns[key_added]["preserved_on_platform"]`` : float, shape (n_genes,)
        Mean of ``preserved`` over draws of efficiencies and failures, with a `platform` of these.
    ``.uns[key_added]["curve"]`` : dict
        With ``n_genes=None``: ``n_genes`` and ``preserved`` up to 500 genes.
    ``.uns[key_added]["batches"]`` : str, shape (n_batches,)
        Names of the batches, with `batch_key` or several datasets.
    ``.uns[key_added]["preserved_in_batches"]`` : float, shape (n_genes, n_batches)
        Preserved share of each batch.
    ``.uns[key_added]["data_sets"]`` : str, shape (n_datasets,)
        Names of the datasets, if there are several.
    ``.uns[key_added]["n_axes"]`` : int, or int of shape (n_batches,)
        Number of axes above the noise; 0 if there is no structure.
    ``.uns[key_added]["graph_components"]`` : int
        Connected components of the graph; the maximum over batches.
    ``.uns[key_added]["assay_noise"]`` : float
        Assumed noise variance of the target platform; the mean over batches.
    ``.uns[key_added]["ruled_out"]`` : DataFrame, at most 20 rows
        Genes that `limits` rule out: ``gene``; ``limit``; ``preserved``, by the gene alone.
    ``.uns[key_added]["missing"]`` : str, shape (n_names,)
        Names in `include` and `exclude` that are missing in the data, if any.
    ``.uns[key_added]["method"]``, ``["objective"]`` : str
        Names of the method and the objective.
    ``.uns[key_added]["lam"]``, ``["kkt"]`` : float
        With the original GLFS: λ of the solution, and the largest violation of the optimality
        conditions, in units of λ.
    ``.uns[key_added]["converged"]`` : bool
        With the original GLFS: ``kkt`` is within the tolerance.
    ``.uns[key_added]["n_iter"]`` : int
        With the original GLFS: accepted steps of the solver.
    ``.uns[key_added]["path"]`` : dict
        With the original GLFS: ``lam``, ``n_genes``, ``objective`` and ``kkt`` along λ.
    <params>
    ``.uns[key_added]["request"]`` : str
        All of them as JSON, with what files said.

    See Also
    --------
    glfs_bio.tl.evaluate_panel : Evaluate a panel.
    glfs_bio.tl.extend_panel : Add genes to a panel.
    glfs_bio.tl.stability : Repeat the selection on subsamples.

    References
    ----------
    .. [1] B. Wang and A. Goldenberg, Gradient-based Laplacian Feature Selection, arXiv:1404.2948.

    Examples
    --------
    >>> import scanpy as sc
    >>> import glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> int(adata.var["glfs_selected"].sum())
    10
    """
    checks.flags(as_highly_variable=as_highly_variable, subset=subset, inplace=inplace)
    request = Request(
        n_genes,
        preserve,
        cell_weights,
        include=include,
        exclude=exclude,
        prefer=prefer,
        limits=limits,
        platform=platform,
        across=across,
        search=search,
        time_limit=time_limit,
        method=method,
        objective=objective,
        symbols=symbols,
        missing=missing,
        structure=StructureSpec(
            n_comps=n_comps,
            layer=layer,
            batch_key=batch_key,
            use_rep=use_rep,
            neighbors_key=neighbors_key,
            ignore=ignore,
            random_state=random_state,
        ),
    )
    sets = {"": adata} if isinstance(adata, AnnData) else data_sets(adata)
    for cells in sets.values():
        results.key_for(cells, "selection", key_added)
        if subset and inplace and cells.isbacked:
            raise InvalidValue("`subset=True` cannot change a backed file: leave it out")
    if isinstance(adata, AnnData):
        if use_rep is not None or adata.n_obs == 0:
            request = replace(request, structure=specified(adata, request.structure))
        frame, entry = panel_of(adata, request, key_added, keep=inplace)
    else:
        joined, joined_request = join(sets, request)
        frame, entry = panel_of(joined, joined_request, key_added, recorded=request, keep=False)
        entry["data_sets"] = np.array(list(sets), dtype=object)
    chosen = frame[f"{key_added}_selected"].to_numpy()
    by_choice = frame.index[chosen & ~frame[f"{key_added}_included"].to_numpy(dtype=bool)]
    families = Counter(filter(None, map(names.unwanted_family, by_choice)))
    is_idle = frame[f"{key_added}_loss"].to_numpy()[chosen].min() <= 0.0
    if is_idle or families or request.platform is not None or request.include is not None:
        _report(frame, request, key_added, families)
    if as_highly_variable:
        frame["highly_variable"] = chosen
    if not inplace:
        return frame[chosen] if subset else frame
    for cells in sets.values():
        results.store(cells, key_added, entry, var=results.spread(frame, cells.var_names))
        if subset:
            cells._inplace_subset_var(cells.var[f"{key_added}_selected"].to_numpy())
    lines = told.get()
    if lines is not None:
        lines.append(summaries.selection(entry))
    return None


def _report(frame: pd.DataFrame, request: Request, key: str, families: Counter[str]) -> None:
    """Log genes of a panel that the platform is blind to, that add nothing, or of families."""
    panel = frame[frame[f"{key}_selected"]]
    if request.platform is not None and request.platform.is_unseen:
        note("`platform` is only named: pass cells of it (`Platform(efficiency=cells)`), if any.")
    of_platform = [name for name in (f"{key}_signal", f"{key}_efficiency") if name in panel]
    unseen = panel.index[panel[of_platform[0]] == 0] if of_platform else ()
    if len(unseen):
        note(f"`platform` is blind to genes of the panel: {listed(unseen)}.")
    idle = panel.index[adds_nothing(panel[f"{key}_loss"].to_numpy())]
    if len(idle):
        note(f"Genes that add nothing to the panel: {listed(idle)}.")
    if families.total() >= max(_MANY * len(panel), _FEWEST):
        counts = ", ".join(f"{n} {family}" for family, n in families.most_common())
        note(f"Families in the panel of {len(panel)} genes: {counts}; see `ignore`.")


def panel_of(
    adata: AnnData, request: Request, key: str, *, recorded: Request | None = None, keep: bool
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the columns of ``.var`` and the envelope of the panel that a request asks for.

    `recorded` is the request in the names of another object; None: this one.
    """
    read.unique_names(adata)
    recorded = request if recorded is None else recorded
    if request.structure.ignore is not None:
        request = names.settled(adata, request)
    spec = request.structure
    problem = names.choose(adata, request)
    inputs = read.inputs(adata, spec)
    if request.platform is not None:
        detection = platforms.of_genes(adata, request.platform, spec.layer, request.symbols)
        problem = replace(problem, detection=detection)
    if request.platform is not None or request.limits is not None:
        problem = constraints.within(adata, problem, request)
    problem = names.one_of_each_set(adata, problem, request)
    target = None if request.is_plain else targets.resolve(adata, request)
    answerable(request, problem, target, adata.shape, one_set=spec.batch_key is None)
    cells = None
    if not request.ranker.by_criterion:
        read.need_cells(adata, "method", request.method)
    if request.ranker.by_criterion:
        if KEY in adata.uns:
            say_not_used(adata, spec)
        cells = structure_of(adata, spec, inputs, keep=keep).sets
        is_free = request.n_genes is None and target is None
        is_free &= problem.limits is None or not problem.limits.budget
        if is_free and not any(subset.n_axes for subset in cells):
            raise InvalidValue("`n_genes=None` needs a structure above the noise: give a number")
    with nullcontext() if inputs["batch"] is None else naming(batch="batch_key"):
        panel = rank_genes(request=request, problem=problem, target=target, cells=cells, **inputs)
    if request.limits is not None:
        panel = constraints.name_ruled_out(adata, panel)
    missing = {"missing": codec.storable(problem.missing)} if problem.missing else {}
    return panel_to_keep(adata, panel, problem, recorded, key, **missing)


def panel_to_keep(
    adata: AnnData, panel: Panel, problem: Problem, request: Request, key: str, **content: Any
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the columns of ``.var`` and the envelope of a panel, with what its files say."""
    fields: dict[str, Any] = {}
    lists = {name: getattr(request, name) for name in ("include", "exclude", "prefer")}
    for name, genes in (lists | {"ignore": request.structure.ignore}).items():
        if genes is not None:
            fields[name] = names.out_of_file(adata, genes, symbols=request.symbols)
    if not request.is_plain:
        fields["preserve"] = targets.out_of_file(adata, request)
    if request.limits is not None:
        lookup = names.Lookup(adata, request.symbols)
        fields["limits"] = constraints.with_lists(lookup, request.limits)
    if request.platform is not None:
        fields["platform"] = platforms.recorded(request.platform, problem.detection, key)
    request = request.but(**fields) if fields else request
    return results.of_panel(panel, problem, adata.var_names, request, key, **content)


@public
@documented
def structure(
    adata: AnnData,
    *,
    n_comps: int | None = 50,
    labels: str | None = None,
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    n_neighbors: int | None = None,
    lambda1: float = 100.0,
    standardize: Literal["auto", "noise", "unit"] | None = "auto",
    ignore: Genes | None = None,
    layer: str | None = None,
    symbols: str | None = None,
    batch_key: str | None = None,
    key_added: str = KEY,
    random_state: int | None = 0,
) -> None:
    """Compute the structure of the cells, and store it in `adata`.

    :func:`select_genes` and the functions of :mod:`glfs_bio.tl` compute a missing structure and
    store it under ``"glfs_structure_"`` and eight digits.  This function stores one under a name,
    for their ``use_rep=``.  It is valid while the matrix is the same, also in a file.

    What it stores is all that they need of cells: ``adata[:0].copy()`` is a reference without
    cells, which they take, but for measures that need cells.

    Parameters
    ----------
    <unchanged adata>
    n_comps : int, default 50
        Number of principal components.  None: full rank.
    labels : str, default None
        Column of ``.obs`` with types of cells, of which moments are stored too, but for types of
        fewer than ten cells.
    use_rep : str, default None
        Key of ``.obsm`` that spans the subspace of the cells.  None: principal components.
    <neighbors_key>
    n_neighbors : int, default None
        Number of neighbours of a cell, if the graph is computed.  None: 15; below 300 cells, 5 % of
        the cells, at least 8.
    lambda1 : float, default 100.0
        Weight λ1 of the graph in ``B = I + λ1 L``, with the symmetric normalised Laplacian L.
    standardize : {"auto", "noise", "unit"} or None, default "auto"
        Unit of the genes:

        - ``"noise"``: noise-standardised, ``h_i/√(σ_i² + σ_0²)``, with the technical noise σ_i² and
          the reliability h_i of the gene on the graph, and the noise σ_0² of the target platform
        - ``"unit"``: unit variance
        - ``None``: as in the matrix
        - ``"auto"``: ``"noise"`` for the default criterion
    ignore : str, pattern or list, default None
        Genes that do not count as structure, as in :func:`select_genes`.  Not together with
        `use_rep` or `neighbors_key`.
    <layer>
    <symbols>
    batch_key : str, default None
        Column of ``.obs`` with the batch.  Each batch has its own subspace and graph.
    key_added : str, default "glfs_structure"
        Key of ``.obsm``, ``.varm`` and ``.uns``.
    random_state : int, default 0
        Seed of the principal components, the neighbours and the sampling of cells.

    Returns
    -------
    None.  Written:

    ``.obsm[key_added]`` : float, shape (n_cells, r)
        Orthonormal basis V of the subspace of the cells, for each batch its own.
    ``.varm[key_added]`` : float, shape (n_genes, n_batches × r)
        Projections ``XᵀV`` of the centred genes, one block of columns per batch.
    <params>
    ``.uns[key_added]["made_of"]`` : dict of str
        Checksums of the matrix, representation, graph and batches, and the parameters.
    ``.uns[key_added]["request"]`` : str
        The same as JSON.  Without a selection, panels are evaluated by ``"glfs_structure"``.
    ``.uns[key_added]["sets"]`` : dict of dict
        For each batch its ``label`` and ``n_cells``, K, and the variance, noise and unit of each
        gene; with `labels` also ``type_means``, means of V, shape (r, n_types), NaN for types of
        fewer than ten cells in the batch.
    ``.uns[key_added]["moments"]`` : dict
        Of each gene, over all cells and those of each type, shape (n_genes, 1 + n_types):
        ``means``; ``variances``; ``linear``, means of ``expm1`` of logarithms; ``shares`` of the
        cells that express it.  ``sizes`` has the numbers of cells, ``labels`` the types, ``column``
        their column, and ``negative`` whether any value is.

    Examples
    --------
    >>> import scanpy as sc
    >>> import glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.structure(adata)
    >>> adata.varm["glfs_structure"].shape
    (765, 50)
    """
    results.key_for(adata, "structure", key_added)
    read.unique_names(adata)
    read.need_cells(adata, "adata")
    spec = StructureSpec(
        layer=layer,
        batch_key=batch_key,
        use_rep=use_rep,
        neighbors_key=neighbors_key,
        n_comps=n_comps,
        n_neighbors=n_neighbors,
        lambda1=lambda1,
        standardize=standardize,
        ignore=ignore,
        random_state=random_state,
    )
    read.symbols(adata, symbols)
    groups = None if labels is None else columns.large(adata, labels, FEWEST_OF_TYPE)
    spec = names.settled(adata, Request(symbols=symbols, structure=spec)).structure
    inputs = read.inputs(adata, spec)
    made_of = checksums(adata, inputs, spec)
    structure = compute(adata, inputs, spec)._replace(types=groups)
    of_genes = expression.of_all_genes(adata, groups, spec.layer)
    types = np.array(of_genes.labels, dtype=object)
    moments = vars(of_genes) | {"labels": types, "column": labels}
    store(adata, structure, made_of, key_added, moments=moments)
