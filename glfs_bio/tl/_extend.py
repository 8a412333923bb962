"""Genes to add to a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import columns, constraints, names, read, write
from .._anndata import platform as platforms
from .._anndata.names import Choice
from .._docs import documented
from ..criterion.panel import MeasuredPanel
from ..errors import InvalidValue
from ..selection import best_panel
from ._panel import SHARED, find

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray

    from .._anndata.columns import Labels
    from .._anndata.names import Genes
    from .._anndata.target import Preserve as Given
    from .._typing import Array, Index
    from ..options import Limits, Platform, Preserve
    from ..ranking import Ranking
    from ._panel import Panel


@documented(SHARED)
def extend_panel(
    adata: AnnData,
    panel: Any,
    n_extra: int | None = None,
    *,
    labels: str | None = None,
    exclude: Genes | None = None,
    limits: Limits | None = None,
    platform: Platform | None = None,
    symbols: str | None = None,
    preserve: Preserve | Given | None = None,
    across: Literal["mean", "worst"] = "mean",
    key_added: str = "glfs_extended",
    inplace: bool = True,
    random_state: int | None = 0,
) -> pd.DataFrame | None:
    """Add genes to a panel, such as a catalogue panel.

    The genes of the panel stay.  Each further gene is the gene that lowers F most, as in
    :func:`~glfs_bio.pp.select_genes` with `include`.

    Parameters
    ----------
    adata : AnnData
        <adata>
    panel : str, list or path
        <panel>
    n_extra : int, default None
        Number of genes to add.  None: the fewest genes with which the panel preserves 90 % of what
        all genes preserve (at most 500 genes in all), or as many as the budget allows.
    labels : str, default None
        Column of ``.obs`` with labels, for the label that each added gene supports.
    exclude : str, pattern or list, default None
        <exclude>
    limits : Limits, default None
        Constraints.  Sums (total counts, families, markers per type, budget) are those of the whole
        panel; limits on single genes hold for the added genes.  Names that are missing in the data
        cost nothing.
    platform : Platform, default None
        Target platform.  None: the platform of the selection.
    symbols : str, default None
        <symbols>
    preserve : str, list, dict or Preserve, default None
        <preserve>
    across : {"mean", "worst"}, default "mean"
        Batches that count, where `preserve` or the selection names a structure with batches:

        - ``"mean"``: all
        - ``"worst"``: the batch with the lowest preserved share (maximin)
    key_added : str, default "glfs_extended"
        Prefix of the columns in ``.var``, and key of ``.uns``.
    inplace : bool, default True
        <inplace>
    random_state : int, default 0
        Seed of the draws of the platform.

    Returns
    -------
    None, or with ``inplace=False`` the table.  Written are the outputs of
    :func:`~glfs_bio.pp.select_genes` under `key_added`, and:

    ``.var[f"{key_added}_included"]`` : bool
        Genes of the given panel.
    ``.uns[key_added]["table"]`` : DataFrame, one row per added gene, in their order
        ``gene``; ``adds``, the share of the target that it adds; ``preserved``, the preserved share
        with it; with `labels`, ``supports``, the label that it supports most relative to its size.
    ``.uns[key_added]["absent"]`` : str
        Names of the panel that are missing in the data, if any.

    Raises
    ------
    KeyError
        If a gene, column or layer is missing.
    TypeError, ValueError
        If an argument or the matrix is invalid, or if constraints are infeasible; `adata` is
        unchanged.

    See Also
    --------
    glfs_bio.pp.select_genes : Select a panel.
    evaluate_panel : Evaluate a panel.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> added = glfs_bio.tl.extend_panel(adata, ["CD3D", "LYZ", "NKG7"], 5, inplace=False)
    >>> list(added.columns)
    ['gene', 'adds', 'preserved']
    """
    checks.whole_number("n_extra", n_extra, at_least=1, or_none=True)
    checks.keys(key_added=key_added)
    checks.flags(inplace=inplace)
    checks.seed(random_state)
    read.unique_names(adata)
    known = None if labels is None else columns.labels(adata, labels, "labels")
    excluded = names.gene_mask(adata, exclude, "exclude", symbols=symbols, missing="warn")
    found = find(adata, panel, symbols=symbols, preserve=preserve, platform=platform, across=across)
    basis = found.basis
    if basis.platform.orderable is not None:
        excluded |= ~basis.platform.orderable
    choice = _choice(found, excluded)
    candidates = np.flatnonzero(choice.allowed)
    if n_extra is not None and n_extra > len(candidates) - len(found.genes):
        raise InvalidValue(
            "n_extra",
            n_extra,
            f"is more than the {len(candidates) - len(found.genes)} candidate genes",
            "ask for fewer",
        )
    rows = constraints.rows(
        adata,
        limits,
        layer=basis.structure.parameters.layer,
        allowed=choice.allowed,
        platform=basis.platform,
    )
    ranking = best_panel(
        basis.criterion,
        None if n_extra is None else len(found.genes) + n_extra,
        include=np.sort(found.genes),
        candidates=candidates,
        rows=None if rows is None else rows.sparing(found.genes),
        detection=basis.platform.detection,
        random_state=random_state,
    )
    order = candidates[ranking.order[: ranking.n_selected]]
    added = _added(adata, found, order, ranking.info["preserved"], known)
    if not inplace:
        return added
    own = basis.structure.parameters
    params = {
        "n_genes": ranking.n_selected,
        "preserve": basis.preserve.target,
        "cell_weights": basis.preserve.cell_weights,
        "include": list(adata.var_names[found.genes]),
        "exclude": exclude,
        "limits": limits,
        "batch_key": own.batch_key,
        "across": across,
        "use_rep": own.use_rep if own.stored_key is None else own.stored_key,
        "neighbors_key": own.neighbors_key,
        "n_comps": own.n_comps,
        "layer": own.layer,
        "symbols": symbols,
        "random_state": random_state,
    }
    _store(adata, found, choice, ranking, added, params, key_added)
    return None


def _choice(found: Panel, excluded: NDArray[np.bool_]) -> Choice:
    """All genes but those excluded, of which those of the panel are in."""
    included = np.zeros_like(excluded)
    included[found.genes] = True
    return Choice(~excluded | included, included, [])


def _added(
    adata: AnnData, found: Panel, order: Index, preserved: Array, known: Labels | None
) -> pd.DataFrame:
    """A row a gene that is added, in the order in which they are."""
    basis, size = found.basis, len(found.genes)
    added = pd.DataFrame(
        {
            "gene": adata.var_names[order[size:]],
            "adds": np.diff(preserved)[size - 1 :],
            "preserved": preserved[size:],
        }
    )
    if known is not None:
        codes, categories = known
        of_sets = [codes[own] for own in basis.structure.rows]
        with found.few_threads():
            shares = MeasuredPanel(basis.criterion, order).supports(of_sets, len(categories))[size:]
        cells = np.bincount(codes[codes >= 0], minlength=len(categories))
        added["supports"] = categories[(shares / np.maximum(cells, 1)).argmax(axis=1)].astype(str)
    return added


def _store(
    adata: AnnData,
    found: Panel,
    choice: Choice,
    ranking: Ranking,
    added: pd.DataFrame,
    params: dict[str, Any],
    key: str,
) -> None:
    """Write what a selection writes, and the table."""
    frame = write.table(ranking, choice, adata.var_names, key)
    for name, values in found.basis.platform.columns(key).items():
        frame[name] = values
    params["platform"] = platforms.recorded(found.basis.platform.given, frame, key)
    entry = {
        "params": write.parameters(params),
        **write.record(ranking),
        "method": "glfs",
        "objective": "error",
        "structure": found.basis.structure.parameters.record(),
        "table": added,
    }
    if found.named.absent:
        entry["absent"] = np.array(found.named.absent, dtype=object)
    write.store(adata, frame, entry, key)
