"""Genes to add to a panel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import columns, constraints, expression, read, results, summaries
from .._docs import documented
from .._progress import tell, with_bar
from ..criterion.panel import MeasuredPanel
from ..errors import InvalidValue
from ..pp import request_to_keep
from ..selection import best_panel, strongest_out
from ._panel import beside, find, must_haves, preserved_by

if TYPE_CHECKING:
    from anndata import AnnData

    from .._anndata.names import Genes
    from .._anndata.target import Preserve as Given
    from .._typing import Array, Index
    from ..labels import Labels
    from ..options import Limits, Platform, Preserve
    from ._panel import Found


@with_bar
@documented
def extend_panel(
    adata: AnnData,
    panel: Any,
    n_extra: int | None = None,
    *,
    labels: str | None = None,
    exclude: Genes | None = None,
    limits: Limits | None = None,
    platform: Platform | None = None,
    layer: str | None = None,
    symbols: str | None = None,
    preserve: Preserve | Given | None = None,
    across: Literal["mean", "worst"] | None = None,
    key_added: str | None = None,
    inplace: bool = True,
    random_state: int | None = 0,
) -> pd.DataFrame | None:
    """Add genes to a panel, such as a catalogue panel.

    The genes of the panel stay.  Each further gene is the gene that lowers F most, as in
    :func:`~glfs_bio.pp.select_genes` with `include`.

    Parameters
    ----------
    <adata>
    panel : str, list or path
        <panel>
    n_extra : int, default None
        Number of genes to add.  None: the fewest genes with which the panel preserves 90 % of what
        all genes preserve (at most 500 genes in all), or as many as the budget allows.
    labels : str, default None
        Column of ``.obs`` with labels, for the label that each added gene supports.
    exclude : str, pattern or list, default None
        Genes that cannot be added, as in :func:`~glfs_bio.pp.select_genes`.  None: those of the
        selection.
    limits : Limits, default None
        Constraints.  None: those of the selection.  Sums (total counts, families, markers per type,
        budget) are those of the whole panel; limits on single genes hold for the added genes.
        Names that are missing in the data cost nothing.
    platform : Platform, default None
        Target platform.  None: the platform of the selection.
    <layer of a panel>
    <symbols>
    <preserve>
    across : {"mean", "worst"}, default None
        Batches that count, where `preserve` or the selection names a structure with batches.  None:
        those of the selection, else all.

        - ``"mean"``: all
        - ``"worst"``: the batch with the lowest preserved share (maximin)
    key_added : str, default None
        Prefix of the columns in ``.var``, and key of ``.uns``.  None: that of the panel and
        ``_extended``, such as ``"glfs_extended"``, which is also that of a list.
    <inplace>
    random_state : int, default 0
        Seed of the draws of the platform.

    Returns
    -------
    None, or with ``inplace=False`` the table.  Written are the outputs of
    :func:`~glfs_bio.pp.select_genes` under `key_added`, whose ``certificate`` and
    ``certificate_within`` are of panels that hold the given one, and:

    ``.var[f"{key_added}_included"]`` : bool
        Genes of the given panel, or of a selection those that had to be in it.
    ``.uns[key_added]["table"]`` : DataFrame, one row per added gene, in their order
        ``gene``; ``adds``, the share of the target that it adds; ``preserved``, the preserved share
        with it; with `labels`, ``supports``, of the labels that express it more than others the one
        that it supports most relative to its size.
    ``.uns[key_added]["must_have"]`` : str, shape (n_names,)
        Genes that had to be in the selection that is extended.
    ``.uns[key_added]["absent"]`` : str, shape (n_names,)
        Names of the panel that are missing in the data, if any.

    Raises
    ------
    ValueError
        If constraints are infeasible.

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
    of = results.key_of(adata, panel)
    key_added = results.key_for(adata, "selection", key_added, of, suffix="extended")
    checks.flags(inplace=inplace)
    checks.seed(random_state)
    read.unique_names(adata)
    known = None if labels is None else columns.labels(adata, labels, "labels", at_least=2)
    found = find(
        adata,
        panel,
        symbols=symbols,
        preserve=preserve,
        layer=layer,
        exclude=exclude,
        limits=limits,
        platform=platform,
        across=across,
    )
    basis, size = found.basis, len(found.genes)
    request = replace(
        basis.request,
        n_genes=None if n_extra is None else size + n_extra,
        include=list(adata.var_names[found.genes]),
        method="glfs",
        objective="error",
    )
    candidates = beside(adata, found, found.genes)
    n_open = len(candidates.genes) - size
    if n_extra is not None and n_extra > n_open:
        raise InvalidValue(
            "n_extra", n_extra, f"is more than the {n_open} candidate genes", "ask for fewer"
        )
    panel = best_panel(
        *(basis.criterion, request.n_genes, candidates),
        random_state=random_state,
        search=request.search,
        time_limit=request.time_limit,
    )
    if candidates.rows is not None:
        out = constraints.ruled_out(candidates.rows, candidates)
        info = panel.info | strongest_out(basis.criterion, out)
        panel = constraints.named(adata, replace(panel, info=info))
    constraints.say_ruled_out(panel.info.get("ruled_out"))
    order = candidates.genes[panel.order[: panel.n_selected]]
    added = _added(adata, found, order, panel.preserved, known)
    if not inplace:
        return added
    frame = results.columns_of(panel, candidates, adata.var_names, key_added)
    if found.named.key is not None:
        frame[f"{key_added}_included"] = must_haves(adata, found.named)
    request = request.but(random_state=random_state, n_genes=panel.n_selected)
    request = request_to_keep(adata, request, frame, key_added)
    entry = results.selected(panel, request, method="glfs", objective="error", table=added)
    if found.named.key is not None:
        had_to = must_haves(adata, found.named)
        entry["must_have"] = np.array(adata.var_names[had_to], dtype=object)
    if found.named.absent:
        entry["absent"] = np.array(found.named.absent, dtype=object)
    results.store(adata, key_added, entry, var=frame)
    tell(summaries.extension(entry))
    return None


def _added(
    adata: AnnData, found: Found, order: Index, preserved: Array, known: Labels | None
) -> pd.DataFrame:
    """A row a gene that is added, in the order in which they are."""
    basis, size = found.basis, len(found.genes)
    added = pd.DataFrame(
        {
            "gene": adata.var_names[order[size:]],
            "adds": np.diff(preserved)[size - 1 :],
            "preserved": preserved_by(basis.criterion, order)[size:],
        }
    )
    if known is not None:
        codes, categories = known
        of_sets = [codes[own] for own in basis.structure.rows]
        with found.few_threads():
            shares = MeasuredPanel(basis.criterion, order).supports(of_sets, len(categories))[size:]
        cells = np.bincount(codes[codes >= 0], minlength=len(categories))
        gains = shares / np.maximum(cells, 1)
        gains[~expression.above(adata, order[size:], known, found.layer)] = -1.0  # by its absence
        added["supports"] = categories[gains.argmax(axis=1)].astype(str)
    return added
