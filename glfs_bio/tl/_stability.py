"""Stability of a selection over subsamples of the cells."""

from __future__ import annotations

import warnings
from contextlib import closing
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pandas as pd
from anndata import AnnData
from joblib import Parallel, delayed

from .. import checks, codec
from .._anndata import read, results, summaries
from .._anndata import target as targets
from .._anndata.structure import specified
from .._anndata.tool import Result, tool
from ..cells.cells import FEWEST_CELLS, OF_STORED, StructureSpec
from ..data.threads import end_with_parent, one_thread
from ..errors import InvalidValue, NotFound, short, show_stage, warn, without_notes
from ..options import Request
from ..pp import panel_of
from ._panel import one_data_set, say_overridden

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import Array, Index

    Flags = NDArray[np.bool_]


#: Layer of raw counts in what the subsamples are taken from.
_COUNTS = "counts"


@tool("stability", summaries.stability)
def stability(
    adata: AnnData,
    *,
    key: str = "glfs",
    n_resamples: int = 20,
    fraction: float = 0.5,
    random_state: int | Literal["recorded"] | None = "recorded",
    n_jobs: int | None = None,
    key_added: str | None = None,
    **select: Any,
) -> Result:
    """Repeat a selection on subsamples of the cells, and count how often each gene is selected.

    The parameters are those of the selection under `key`; those that are given here replace them.

    Genes that had to be selected (`include`, the given genes of :func:`extend_panel`) say nothing
    of stability, and are counted neither in frequencies nor in Jaccard indices.

    Subsamples are drawn without replacement, within each batch if there is a `batch_key`.  Each has
    a structure of its own, computed from its cells.  A named `use_rep` or `neighbors_key` is used
    with the rows of the subsample.

    Parameters
    ----------
    <unchanged adata>
    key : str, default "glfs"
        Key of the selection.  If it is missing, the given parameters are used, with the defaults of
        :func:`~glfs_bio.pp.select_genes`.
    n_resamples : int, default 20
        Number of subsamples.
    fraction : float, default 0.5
        Share of the cells in a subsample, above 0 and below 1.
    random_state : int, None or "recorded", default "recorded"
        Seed of the subsamples and the principal components.  ``"recorded"``: as in the selection.
    n_jobs : int, default None
        Number of processes; −1 for one per core.  None: 1, or the value of
        :func:`joblib.parallel_config`.  The result does not depend on it.
    key_added : str, default None
        Prefix of the columns in ``.var``, and key of ``.uns``.  None: ``f"{key}_stability"``.
    **select : optional
        Parameters of :func:`~glfs_bio.pp.select_genes` that replace those of the selection, such as
        ``n_genes``.

    Returns
    -------
    None.  Written:

    ``.var[f"{key_added}_frequency"]`` : float
        Share of the subsamples in which the gene is selected; NaN for genes that are excluded, or
        included.
    ``.var[f"{key_added}_consensus"]`` : bool
        Genes that are selected most often, as many as in an average subsample, with those that are
        included.
    ``.uns[key_added]["jaccard"]`` : float, shape (n_resamples, n_resamples)
        Jaccard index of the chosen genes of each pair of selections.
    ``.uns[key_added]["mean_jaccard"]`` : float
        Mean over the pairs.
    ``.uns[key_added]["table"]`` : DataFrame, one row per gene that is chosen at least once
        ``gene`` and ``frequency``.
    ``.uns[key_added]["n_genes"]`` : int, shape (n_resamples,)
        Sizes of the selections.
    ``.uns[key_added]["n_included"]``, ``["n_shared"]`` : int
        Number of genes of each that were included, and are not counted; and of genes of the
        selection in the consensus panel.
    ``.uns[key_added]["n_tested"]``, ``["n_cells"]`` : int
        Number of candidate genes, and of cells in a subsample.
    ``.uns[key_added]["of"]`` : str
        Key of the selection.
    ``.uns[key_added]["params"]``, ``["structure"]`` : dict
        Parameters of the selections, and of their structure.
    ``.uns[key_added]["request"]`` : str
        Both as JSON.
    ``.uns[key_added]["versions"]`` : dict of str
        Versions of the packages.

    Raises
    ------
    ValueError
        If `adata` has fewer genes than the selection had, or the selection is from several
        datasets.

    See Also
    --------
    glfs_bio.pp.select_genes : Select genes.
    glfs_bio.pl.stability : Plot the frequencies.

    References
    ----------
    N. Meinshausen and P. Bühlmann, Stability selection, J. R. Stat. Soc. B 2010.

    Examples
    --------
    >>> import scanpy as sc
    >>> import glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> glfs_bio.tl.stability(adata, n_resamples=2)
    >>> int(adata.var["glfs_stability_consensus"].sum())
    10
    """
    checks.whole_number("n_resamples", n_resamples, at_least=2)
    checks.share("fraction", fraction)
    if n_jobs is not None and (n_jobs == 0 or not isinstance(n_jobs, Integral)):
        raise InvalidValue(f"`n_jobs={short(n_jobs)}` must be an integer other than 0, or `None`")
    read.unique_names(adata)
    if not (isinstance(random_state, str) and random_state == "recorded"):
        select = select | {"random_state": random_state}
    request = _request(adata, key, select)
    spec = request.structure
    checks.seed(spec.random_state)
    cells, request_of_cells = _lean(adata, request)
    subsamples = _drawn(cells, spec, fraction, n_resamples)
    n_cells = len(subsamples[0])
    if n_cells < FEWEST_CELLS:
        raise InvalidValue(f"`fraction={short(fraction)}` leaves {n_cells} cells: increase it")
    tasks = [delayed(_selected)(cells, rows, request_of_cells) for rows in subsamples]
    selected, ranks, included = _selections(tasks, n_jobs)
    may_vary, sizes = ~np.isnan(ranks[0]) & ~included, selected.sum(axis=1)
    chosen = selected & ~included
    frequency, overlaps = chosen.mean(axis=0), jaccard(chosen)
    most_frequent = consensus(selected, ranks, round(float(sizes.mean())))
    has_panel = f"{key}_selected" in adata.var
    panel = results.read_column(adata, key, "selected") if has_panel else most_frequent
    order = np.argsort(-frequency, kind="stable")[: np.count_nonzero(frequency)]
    content = {
        "table": pd.DataFrame({"gene": adata.var_names[order], "frequency": frequency[order]}),
        "of": key,
        "jaccard": overlaps,
        "mean_jaccard": float(overlaps[np.triu_indices(n_resamples, 1)].mean()),
        "n_genes": sizes,
        "n_included": int(included.sum()),
        "n_shared": int((panel & most_frequent).sum()),
        "n_tested": int(np.count_nonzero(~np.isnan(ranks[0]))),
        "n_cells": n_cells,
        "request": codec.text_of(request),
        "structure": codec.storable(spec),
    }
    columns = {f"{key_added}_frequency": np.where(may_vary, frequency, np.nan)}
    columns[f"{key_added}_consensus"] = most_frequent
    made_of = results.made_of(adata, spec.layer)
    return Result(content, params=request.arguments(), made_of=made_of, var=columns)


def _selections(tasks: list[Any], n_jobs: int | None) -> tuple[Flags, Array, Flags]:
    """Return selected genes and ranks by subsample, and genes that had to be in; warn once."""
    n_jobs = n_jobs if n_jobs is None else min(n_jobs, len(tasks))
    frames, messages = [], {}
    with closing(Parallel(n_jobs=n_jobs, return_as="generator")(tasks)) as selections:
        for frame, warned in selections:
            frames.append(frame)
            messages.update({str(warning): warning for warning in warned})
            show_stage("selecting on parts", len(frames), len(tasks))
    for warning in messages.values():
        warn(warning)
    selected = np.stack([frame["glfs_selected"] for frame in frames])
    ranks = np.stack([frame["glfs_rank"] for frame in frames])
    return selected, ranks, frames[0]["glfs_included"].to_numpy()


def _request(adata: AnnData, key: str, select: dict[str, Any]) -> Request:
    """Return everything that determines the genes: of the call, else recorded, else by default."""
    request = Request()
    if key in adata.uns:
        request = results.request_of(adata, key)
        one_data_set(adata, key, "key")
        results.check_genes(adata, key, "key")
    elif select.keys() <= {"random_state"}:
        raise NotFound(f"`key={short(key)}` is missing: run `glfs_bio.pp.select_genes(adata)`")
    replaced = request.but(**select)
    if select.keys() & {*OF_STORED, "use_rep", "n_comps"}:
        arguments = request.structure.arguments() | select
        replaced = replace(replaced, structure=StructureSpec()).but(**arguments)
        replaced = replace(replaced, structure=specified(adata, replaced.structure))
    say_overridden(adata, key, replaced)
    return replaced


def _lean(adata: AnnData, request: Request) -> tuple[read.Lean, Request]:
    """Return the cells with what a selection reads of them, and the request."""
    structure = request.structure
    logs = {"log1p": adata.uns.get("log1p", {})}  # their base
    genes = adata.var.loc[:, ~adata.var.columns.duplicated()]  # or anndata takes no part of them
    lean = AnnData(obs=pd.DataFrame(index=adata.obs_names.astype(str)), var=genes, uns=logs)
    matrices: dict[str | None, Any] = {None: read.row_matrix(adata, structure.layer)}
    batch = read.batches(adata, structure.batch_key)
    if batch is not None:
        lean.obs[structure.batch_key] = batch
    limits = request.limits
    if limits is not None and limits.counts_layer is not None:
        matrices[_COUNTS] = read.row_matrix(adata, limits.counts_layer, "counts_layer")
        request = replace(request, limits=replace(limits, counts_layer=_COUNTS))
    for name, argument in targets.sources(request).items():
        if name in adata.obsm:
            lean.obsm[name] = adata.obsm[name]
        if name in adata.obs or argument != "preserve":
            lean.obs[name] = read.find(adata, "obs", name, argument).set_axis(lean.obs_names)
        elif name not in adata.obsm:
            targets.resolve(adata, request)  # genes, or refused with what the object has
    if structure.use_rep not in (None, "X"):
        lean.obsm[structure.use_rep] = read.representation(adata, structure.use_rep)
    if structure.neighbors_key is not None:
        lean.obsp["connectivities"] = read.graph(adata, structure.neighbors_key)
        lean.uns[structure.neighbors_key] = {"connectivities_key": "connectivities"}
    return read.Lean.of(lean, matrices), request.but(layer=None, stored_key=None)


def _drawn(adata: AnnData, spec: StructureSpec, fraction: float, n_resamples: int) -> list[Index]:
    """Draw the cells of all subsamples, the same share of each batch, in their order."""
    rng = np.random.default_rng(spec.random_state)
    batch = read.batches(adata, spec.batch_key)
    batch = np.zeros(adata.n_obs) if batch is None else batch
    batches = [np.flatnonzero(batch == name) for name in np.unique(batch)]
    sized = [(rows, max(round(fraction * len(rows)), 1)) for rows in batches]
    draws = ([rng.choice(rows, n, replace=False) for rows, n in sized] for _ in range(n_resamples))
    return [np.sort(np.concatenate(rows)) for rows in draws]


def _selected(
    cells: read.Lean, rows: Index, request: Request
) -> tuple[pd.DataFrame, list[Warning]]:
    """Return the selection of one subsample, a row per gene, and its warnings.

    One thread is used for any number of processes: more may round differently.
    """
    end_with_parent()
    with warnings.catch_warnings(record=True) as caught, without_notes(), one_thread():
        warnings.simplefilter("always")
        frame, _ = panel_of(cells.only(rows), request, "glfs", keep=False)
    warned = [cast("Warning", entry.message) for entry in caught]
    return frame[["glfs_selected", "glfs_rank", "glfs_included"]], warned


def jaccard(chosen: Flags) -> Array:
    """Return the Jaccard index of every two selections, shape (parts, parts), NaN of nothing.

    `chosen`, shape (parts, genes), says which genes each part selects.
    """
    shared = chosen.astype(float) @ chosen.T.astype(float)
    sizes = np.diag(shared)
    either = sizes[:, None] + sizes - shared
    return np.asarray(shared / np.where(either > 0, either, np.nan))


def consensus(chosen: Flags, ranks: Array, size: int) -> Flags:
    """Return the `size` genes that most parts select; of equals those of the best mean rank.

    `chosen` and `ranks` have the shape (parts, genes); genes that were not tested have rank NaN.
    """
    order = np.lexsort((ranks.mean(axis=0), -chosen.sum(axis=0)))
    panel = np.zeros(chosen.shape[1], dtype=bool)
    panel[order[:size]] = True
    return panel
