"""Preprocessing: choose genes before or beside a principal component analysis.

Functions write to the object that they are given and have no `copy`: to keep it, pass
``adata.copy()``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from anndata import AnnData

from . import checks
from ._anndata import constraints, names, read, selection, write
from ._anndata import target as targets
from ._anndata.structure import (
    KEY,
    Parameters,
    compute,
    fingerprints,
    parameters_of,
    store,
    structure_of,
)
from .errors import InvalidValue, naming
from .methods import METHODS, OBJECTIVES, Method, Question
from .options import Limits, Platform
from .selection import answerable, rank_genes
from .solvers.greedy import LARGEST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from ._anndata.names import Genes, Missing
    from ._anndata.read import Inputs
    from ._anndata.target import Preserve
    from .cells.cells import Cells

__all__ = ["recorded_parameters", "select_genes", "structure"]


def select_genes(
    adata: AnnData | Sequence[AnnData] | Mapping[str, AnnData],
    n_genes: int | None = None,
    *,
    preserve: Preserve = "structure",
    cell_weights: str | None = None,
    include: Genes | None = None,
    exclude: Genes | None = None,
    limits: Limits | None = None,
    platform: Platform | None = None,
    batch_key: str | None = None,
    across: Literal["mean", "worst"] = "mean",
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

    A panel is chosen gene by gene: each gene is the one that lowers ``F = Tr(W E)`` most, the
    posterior variance of a function on the cells once it is measured beside the genes before it.  W
    is the structure of the cells above; no labels are needed.  Panels are nested: the first k genes
    of a larger panel are the panel of k genes, so that one call ranks all sizes.

    It expects log-normalised expression, as ``sc.pp.log1p`` leaves it.  The structure is computed
    from the matrix alone, with noise-standardised genes, whatever was run before, and is kept with
    the cells: later calls re-use it while matrix and parameters are the same.

    Parameters
    ----------
    adata : AnnData, or a list or dict of these
        Cells × genes, in memory, backed, zarr or dask.  ``adata.X`` is never changed, and never
        made dense.  Of several data sets, which must be in memory, genes are matched by their names
        and each set is a batch.
    n_genes : int, default None
        Genes to select.  None: the fewest that preserve 90 % of what all genes preserve (at most
        500), or as many as a budget affords; with another objective, those of its solution.
        More than 500 are possible and not what F is for: as features of an integration or a mapping
        of queries, ``sc.pp.highly_variable_genes`` with `batch_key` does better.
    preserve : str, list, dict, default "structure"
        What the panel should preserve:

        - ``"structure"``: variation between cells above the noise of single genes
        - ``"expression"``: all genes, as for imputation
        - a column of ``.obs``: labels are to be separated, each pair alike; decimal numbers, such
          as a pseudotime, are to be predicted
        - a key of ``.obsm``: a space of the cells, such as proteins
        - a list or file of genes, or a boolean column of ``.var``: genes to be predicted
        - a dict of such names with weights: all of them
    cell_weights : str, default None
        Column of ``.obs``: how much each cell counts.  Of labels, all labels count alike.
    include, exclude : str, pattern, list, default None
        Genes that must be, or cannot be, in the panel: names, compiled patterns, boolean columns of
        ``.var``, or the families ``"mitochondrial"``, ``"ribosomal"``, ``"haemoglobin"``,
        ``"tcr"``, ``"bcr"``, ``"sex"``, ``"cell_cycle"`` [2]_, ``"heat_shock"`` [3]_ and
        ``"dissociation"`` [4]_.  Included genes come first.  Excluded genes still count as
        structure.
    limits : Limits, default None
        Constraints on expression, total counts, families, genes per type, cost.
    platform : Platform, default None
        The assay that will measure the panel: detection efficiencies and failures of genes.
    batch_key : str, default None
        Column of ``.obs``.  Every batch gets its own subspace and graph, so that genes which only
        separate batches gain nothing.
    across : {"mean", "worst"}, default "mean"
        Whether F is the mean over the batches or data sets, or the panel preserves as much as can
        be of the batch of which it preserves least.
    method : str, default "glfs"
        ``"glfs"``, or a method that it is compared with: ``"lapaofs"``, ``"lapdofs"``,
        ``"laplacian_score"``, ``"q_alpha"``, ``"sparse_pca"``, ``"variance"``.
    objective : str or instance, default "error"
        Of ``method="glfs"``: ``"error"`` is F.  ``"exact"`` is the original GLFS [1]_, the variance
        of LapRLS with an ℓ1 penalty; ``"printed"`` is the last formula for it in the paper, which
        equals it only for matrices that commute.  Instances such as ``Exact(lam="line_search")`` of
        :mod:`glfs_bio.glfs2014` have its λ, solver and tolerance.
    use_rep : str, default None
        Key of ``.obsm`` that spans the subspace of the cells, or of a structure that
        :func:`structure` kept.  None, or ``"X"``: principal components of the matrix.
    neighbors_key : str, default None
        Key of ``.uns`` that ``sc.pp.neighbors`` wrote.  None: nearest neighbours in the subspace.
    n_comps : int, default 50
        Principal components.  None: full rank, for up to some hundred samples, as in the paper.
    layer : str, default None
        Layer to use instead of ``.X``.  ``"raw"``, where no layer is called so: what ``.raw`` has
        of these genes.
    symbols : str, default None
        Column of ``.var`` where names of genes are looked for too, next to ``.var_names``.
    missing : {"raise", "warn", "ignore"}, default "raise"
        What to do about names of genes that are not there.
    key_added : str, default "glfs"
        Prefix of the columns written to ``.var``, and key of ``.uns``.
    as_highly_variable : bool, default False
        Write the selection to ``.var["highly_variable"]`` too, where ``sc.pp.pca`` looks for the
        genes that it takes.  At most 500 genes.
    subset : bool, default False
        Keep only the selected genes in `adata` (or in the returned table).
    inplace : bool, default True
        Write to `adata`; otherwise return a table and leave `adata` as it is.
    random_state : int, default 0
        Seed of principal components, of graph and sample of many cells, and of failures.

    Returns
    -------
    None, or with ``inplace=False`` a table with one row per gene.  Written:

    ``.var[f"{key_added}_selected"]`` : bool
        Whether the gene is selected.
    ``.var[f"{key_added}_rank"]`` : float
        1 is the best gene; NaN for genes that could not be selected.
    ``.var[f"{key_added}_score"]`` : float
        Larger is better, no ties; NaN for genes that could not be selected.
    ``.var[f"{key_added}_loss"]`` : float
        Share that is lost if the gene is removed; 0 for genes that are not selected.
    ``.var[f"{key_added}_weight"]`` : float
        β, from 0 to 1: the best panel of so many genes if genes could be taken in part.  Of the
        original GLFS its β ≥ 0; of another method what it ranks by.
    ``.var[f"{key_added}_included"]`` : bool
        Whether `include` put the gene in.
    ``.var["highly_variable"]`` : bool
        With `as_highly_variable`: the same as ``.var[f"{key_added}_selected"]``.
    ``.var[f"{key_added}_detection"]`` : float
        With such a platform: the detection efficiencies.
    ``.uns[key_added]`` : dict
        ``params``; ``structure``, what the structure was computed from; ``n_genes``, ``n_tested``,
        genes selected and to choose from; ``preserved``, shape (n_genes,), the share that the first
        1, 2, … genes preserve; ``optimality``, shape (n_genes,), a lower bound on ``preserved``
        over that of the best panel of the size; ``curve`` with ``n_genes=None``;
        ``preserved_with_failures``; ``batches``, ``preserved_in_batches``; ``data_sets``;
        ``missing``; ``n_axes``, how many axes of the cells stand above the noise, of each batch, 0
        where no structure does; ``graph_components``; ``assay_noise``; ``method``, ``objective``;
        ``versions``.

    Raises
    ------
    KeyError
        An unknown key, layer or column; unknown genes, all of them at once.
    TypeError, ValueError
        A parameter, matrix or graph that cannot be used; no structure, where the number of genes is
        left open; `adata` is left as it was.

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
    params = {
        "n_genes": n_genes,
        "preserve": names.as_list(preserve),
        "cell_weights": cell_weights,
        "include": names.as_list(include),
        "exclude": names.as_list(exclude),
        "limits": limits,
        "platform": platform,
        "batch_key": batch_key,
        "across": across,
        "method": method,
        "objective": objective,
        "use_rep": use_rep,
        "neighbors_key": neighbors_key,
        "n_comps": n_comps,
        "layer": layer,
        "symbols": symbols,
        "missing": missing,
        "key_added": key_added,
        "as_highly_variable": as_highly_variable,
        "subset": subset,
        "random_state": random_state,
    }
    checks.keys(key_added=key_added)
    checks.flags(as_highly_variable=as_highly_variable, subset=subset, inplace=inplace)
    if as_highly_variable:
        _check_size(n_genes)
    frame, entry, sets = _selected(adata, params, inplace=inplace)
    chosen = frame[f"{key_added}_selected"].to_numpy()
    if as_highly_variable:
        frame["highly_variable"] = chosen
    if not inplace:
        return frame[chosen] if subset else frame
    for one in sets:
        write.store(one, write.spread(frame, one.var_names), dict(entry), key_added)
        if subset:
            one._inplace_subset_var(one.var[f"{key_added}_selected"].to_numpy())
    return None


def _check_size(n_genes: int | None) -> None:
    checks.whole_number("n_genes", n_genes, at_least=1, or_none=True)
    if n_genes is not None and n_genes > LARGEST:
        raise InvalidValue(
            "n_genes",
            n_genes,
            "is more than {largest}, which {arg:as_highly_variable} is limited to: beyond, highly "
            "variable genes are a better input for what follows",
            "ask for fewer, or use scanpy's highly_variable_genes with the batches",
            largest=LARGEST,
        )


def _selected(
    adata: Any, params: dict[str, Any], *, inplace: bool
) -> tuple[pd.DataFrame, dict[str, Any], list[AnnData]]:
    """What is written of every gene, what is recorded, and the objects to write to.

    `adata` is left as it is, but for a structure that is kept.
    """
    named = {name: params[name] for name in ("layer", "batch_key", "use_rep", "neighbors_key")}
    requested = dict(params)
    several = not isinstance(adata, AnnData)
    sets = selection.data_sets(adata) if several else {"": adata}
    for one in sets.values():
        if inplace:
            read.writable(one)
        if params["subset"] and inplace and one.isbacked:
            raise InvalidValue(
                "subset",
                True,
                "cannot cut a backed file",
                "leave it out, and take the selected genes to memory afterwards",
            )
    whole, of_each = adata, dict(named)
    if several:
        whole = selection.join(sets, **named, limits=params["limits"])
        named |= selection.JOINED
        requested["limits"] = selection.limits_of_joined(params["limits"])
    how = {name: params[name] for name in ("n_comps", "random_state")}
    frame, entry = _of_one(
        whole, requested, parameters_of(whole, **named, **how), keep=inplace and not several
    )
    recorded, detection = dict(params), f"{params['key_added']}_detection"
    if detection in frame:
        recorded["platform"] = Platform(detection, params["platform"].failure)
    entry["params"] = write.parameters(recorded)
    if several:
        entry["structure"] = Parameters(**of_each, **how).record()
        entry["data_sets"] = np.array(list(sets), dtype=object)
    return frame, entry, list(sets.values())


def _of_one(
    adata: AnnData, params: Mapping[str, Any], parameters: Parameters, *, keep: bool
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A selection from one object."""
    options = parameters.options(method=params["method"], objective=params["objective"])
    checks.seed(options.random_state)
    read.unique_names(adata)
    called = {name: params[name] for name in ("symbols", "missing")}
    genes = names.choose(adata, params["include"], params["exclude"], **called)
    inputs = read.inputs(adata, parameters)
    rows = target = detection = failure = None
    if params["limits"] is not None:
        genes, rows = constraints.within(
            adata, genes, params["limits"], params["n_genes"], parameters.layer
        )
    if params["preserve"] is not targets.STRUCTURE or params["cell_weights"] is not None:
        target = targets.resolve(adata, params["preserve"], params["cell_weights"], **called)
    if params["platform"] is not None:
        detection, failure = targets.platform(adata, params["platform"], parameters.layer)
    question = Question(
        params["n_genes"],
        include=np.flatnonzero(genes.included),
        candidates=np.flatnonzero(genes.allowed),
        rows=rows,
        failure=failure,
        target=target,
        across=params["across"],
        detection=detection,
    )
    answerable(question, options, adata.shape, one_set=inputs.batch is None)
    cells = _cells(adata, parameters, inputs, options.ranker, keep=keep)
    if options.ranker.name == "error":
        _check_structure(cells, question)
    with naming(batch="batch_key"):
        ranking = rank_genes(
            inputs.data,
            question,
            options,
            graph=inputs.graph,
            representation=inputs.representation,
            batch=inputs.batch,
            cells=cells,
        )
    frame = write.table(ranking, genes, adata.var_names, params["key_added"])
    if detection is not None:
        frame[f"{params['key_added']}_detection"] = detection
    entry = write.record(ranking)
    entry["structure"] = parameters.record()
    if genes.missing:
        entry["missing"] = write.storable(genes.missing)
    return frame, entry


def _check_structure(cells: Sequence[Cells] | None, question: Question) -> None:
    """Refuse to look for the fewest genes that preserve a structure, where there is none."""
    if question.n_genes is not None or question.has_budget or question.target is not None:
        return
    if not any(one.has_structure for one in cells or ()):
        raise InvalidValue(
            "n_genes",
            None,
            "asks for the fewest genes that preserve the structure of the cells, of which none "
            "stands above the noise",
            "give a number, or look whether these are logarithms of counts of enough cells",
        )


def _cells(
    adata: AnnData, parameters: Parameters, inputs: Inputs, ranker: Method, *, keep: bool
) -> Sequence[Cells] | None:
    """The structure, where the method needs no more of the cells; else None."""
    if not ranker.by_criterion:
        return None
    return structure_of(adata, parameters, inputs, keep=keep).sets


def structure(
    adata: AnnData,
    *,
    n_comps: int | None = 50,
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    n_neighbors: int | None = None,
    lambda1: float = 100.0,
    standardize: Literal["auto", "noise", "unit"] | None = "auto",
    layer: str | None = None,
    batch_key: str | None = None,
    key_added: str = KEY,
    random_state: int | None = 0,
) -> None:
    """Compute the structure that panels are selected and evaluated by, and keep it with the cells.

    :func:`select_genes` and the functions of :mod:`glfs_bio.tl` compute it from the matrix where it
    is not there, and keep it under the default key.  Under a key of its own a structure with other
    parameters can be named by ``use_rep=`` of these functions.  It stays valid as long as the
    matrix is the same, in files too.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, log-normalised.  ``adata.X`` is never changed.
    n_comps, use_rep, neighbors_key, layer, batch_key
        As in :func:`select_genes`.
    n_neighbors : int, default None
        Neighbours of a cell where the graph is computed here.  None: 15, of fewer than 300 cells a
        twentieth of them, and at least 8.
    lambda1 : float, default 100.0
        Weight λ1 of the graph in ``B = I + λ1 L``, L the symmetric normalised Laplacian.
    standardize : {"auto", "noise", "unit"} or None, default "auto"
        ``"noise"``: noise-standardised genes, ``h_i/√(σ_i² + σ_0²)``, with the noise σ_i² and the
        reliability h_i of the gene measured on the graph and the noise σ_0² of the target platform.
        ``"unit"``: unit variance.  None: genes as they are.  ``"auto"``: what suits the objective.
    key_added : str, default "glfs_structure"
        Where it is kept.
    random_state : int, default 0
        Seed of the principal components, of a graph of many cells, and of their sample.

    Returns
    -------
    None.  Written:

    ``.obsm[key_added]`` : float, shape (n_cells, r)
        V, an orthonormal basis of the cells' subspace; of each batch its own.
    ``.varm[key_added]`` : float, shape (n_genes, r) for each batch
        ``XᵀV``, projections of the centred genes.
    ``.uns[key_added]`` : dict
        ``params``; ``made_of``, checksums of matrix, representation, graph and batches;
        ``set_of_cell``, the batch of every cell; ``sets``: for each batch K, and of every gene
        variance, noise and unit.

    Raises
    ------
    KeyError, TypeError, ValueError
        A parameter, matrix or graph that cannot be used; `adata` is left as it was.

    Examples
    --------
    >>> import scanpy as sc
    >>> import glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.structure(adata)
    >>> adata.varm["glfs_structure"].shape
    (765, 50)
    """
    checks.keys(key_added=key_added)
    checks.seed(random_state)
    read.unique_names(adata)
    read.writable(adata)
    parameters = Parameters(
        layer=layer,
        batch_key=batch_key,
        use_rep=use_rep,
        neighbors_key=neighbors_key,
        n_comps=n_comps,
        n_neighbors=n_neighbors,
        lambda1=lambda1,
        standardize=standardize,
        random_state=random_state,
    )
    parameters.options()  # checks the parameters
    inputs = read.inputs(adata, parameters)
    store(
        adata,
        compute(adata, inputs, parameters),
        fingerprints(adata, inputs, parameters),
        key_added,
    )


_LISTS = ("include", "exclude")
#: Parameters that are a name or an instance.
_METHODS = {"method": METHODS, "objective": OBJECTIVES}


def recorded_parameters(adata: AnnData, key: str = "glfs") -> dict[str, Any]:
    """Return the arguments of the call of :func:`select_genes` that wrote ``.uns[key]``.

    ``.uns`` holds what files can: ``"None"`` for None, and ``"re:…"`` for a compiled pattern.  Here
    they are what they were, so that the call can be made again, in another session too.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with a selection of :func:`select_genes`.
    key : str, default "glfs"
        Which selection: its `key_added`.

    Returns
    -------
    dict
        Every argument but `adata`.  Flags of compiled patterns are not recorded.

    Raises
    ------
    KeyError
        No such selection.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> first = adata.var["glfs_rank"].copy()
    >>> glfs_bio.pp.select_genes(adata, **glfs_bio.pp.recorded_parameters(adata))
    >>> bool((adata.var["glfs_rank"] == first).all())
    True
    """
    entry = selection.record(adata, key, "pp.select_genes", "params", "n_tested")
    return {name: _restored(name, value) for name, value in entry["params"].items()}


def _restored(name: str, value: Any) -> Any:
    plain = write.restored(value)
    if plain is None:
        return None
    if name == "limits":
        return Limits.from_record(plain)
    if name == "platform":
        return Platform(**{field: write.restored(item) for field, item in plain.items()})
    if name in _METHODS:
        return _METHODS[name].restored(name, plain)
    if name == "preserve" and isinstance(plain, np.ndarray):
        return list(map(str, plain))
    if name in _LISTS:
        several = isinstance(plain, np.ndarray)
        return [_pattern_or_name(item) for item in plain] if several else _pattern_or_name(plain)
    return plain


def _pattern_or_name(text: str) -> str | re.Pattern[str]:
    return re.compile(text[3:]) if text.startswith("re:") else str(text)
