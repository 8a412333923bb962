"""Markers of each label in a panel."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from .. import checks
from .._anndata import columns, names, read, results, stale, summaries
from .._docs import documented
from .._progress import tell, with_bar
from ..errors import NO_VALUE, InvalidValue, arg
from ..measures.labels import combination, singles

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray

    from .._typing import Index, Matrix
    from ..measures.labels import Single

log = logging.getLogger(__name__)


@with_bar
@documented
def markers(
    adata: AnnData,
    panel: Any,
    labels: str,
    *,
    n_markers: int = 3,
    beta: float = 0.5,
    layer: str | None = None,
    use_raw: bool = False,
    symbols: str | None = None,
    key_added: str | None = None,
    inplace: bool = True,
) -> pd.DataFrame | None:
    """Find the markers of each label in a panel, and how well they distinguish it.

    A gene is on in a cell that expresses it above a threshold.  The markers of a label are a few
    genes that are all on in its cells, as in NS-Forest [1]_: the combination with the largest
    F-beta score.  A panel can separate all labels together although a label has no marker of its
    own.

    Parameters
    ----------
    <adata>
    panel : str, list or path
        <panel>
    <labels> str
    n_markers : int, default 3
        Maximum number of markers per label, chosen among the six best genes.
    beta : float, default 0.5
        β of the F-beta score; below 1, precision counts more than recall.
    layer : str, default None
        Layer to use instead of ``.X``, without negative values.
    <use_raw>
    <symbols>
    <key_added of a panel> markers
    <inplace>

    Returns
    -------
    None, or with ``inplace=False`` the table.  Written:

    ``.uns[key_added]["table"]`` : DataFrame, one row per label
        ``label``; ``n_cells``; ``markers``, the best first; ``f_beta``, ``precision`` and
        ``recall`` of the cells in which all markers are on; ``on_target``, the expression in the
        label as a share of the sum over the means of all labels, averaged over the markers.
    ``.uns[key_added]["genes"]`` : DataFrame, one row per label and gene, the best first
        ``label``, ``gene``, ``threshold``, ``f_beta``, ``precision``, ``recall`` and ``on_target``
        of the single gene.
    <params and versions>

    See Also
    --------
    explain_panel : Explain each gene of a panel.
    glfs_bio.pl.markers : Plot the markers of each label.

    References
    ----------
    .. [1] B. Aevermann et al., Genome Research 31, 1767 (2021).

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> genes = ["CD79A", "CD3D", "LYZ", "NKG7"]
    >>> table = glfs_bio.tl.markers(adata, genes, "bulk_labels", inplace=False)
    >>> table.set_index("label").loc["CD19+ B", "markers"]
    'CD79A'
    """
    layer = read.layer_or_raw(adata, layer, use_raw)
    params = {
        "labels": labels,
        "n_markers": n_markers,
        "beta": beta,
        "layer": layer,
        "symbols": symbols,
    }
    checks.whole_number("n_markers", n_markers, at_least=1)
    checks.number("beta", beta, above=0.0)
    key_added = results.key_for(adata, "markers", key_added, results.key_of(adata, panel))
    checks.flags(inplace=inplace)
    named = names.panel(adata, panel, symbols=symbols, missing="warn")
    codes, categories = columns.labels(adata, labels, "labels", at_least=2)
    values = read.columns(adata, named.genes, layer)
    if values.min() < 0:
        raise InvalidValue(
            "panel",
            NO_VALUE,
            "has genes with negative values",
            f"name a log-normalised matrix with {arg('layer')}",
        )
    single, table = _found(values, codes, categories, n_markers, beta)
    genes = adata.var_names[named.genes].to_numpy(dtype=object)
    table["markers"] = [", ".join(genes[some]) for some in table["markers"]]
    if not inplace:
        return table
    made_of = stale.made_of(adata, layer, [named])
    every = _every(single, genes, categories)
    entry = results.envelope("markers", params, made_of, table=table, genes=every)
    results.store(adata, key_added, entry)
    tell(summaries.markers(table))
    return None


def _found(
    values: Matrix, codes: Index, categories: NDArray[Any], n_markers: int, beta: float
) -> tuple[Single, pd.DataFrame]:
    """Return all single genes, and one row per label, with indices of its markers."""
    if sparse.issparse(values):
        values = sparse.csc_array(values)  # a gene at a time
    single = singles(values, codes, len(categories), beta)
    rows = []
    for label, name in enumerate(categories):
        fields = {"stage": "combining markers", "n_done": label, "n_all": len(categories)}
        log.info("%d of %d labels have their markers", label, len(categories), extra=fields)
        best = combination(values, codes, single, label, n_markers, beta)
        own = single.on_target[label, best.genes]
        rows.append(
            {
                "label": str(name),
                "n_cells": int(np.sum(codes == label)),
                "markers": best.genes,
                "f_beta": best.f_beta,
                "precision": best.precision,
                "recall": best.recall,
                "on_target": float(own.mean()) if len(own) else np.nan,
            }
        )
    return single, pd.DataFrame(rows)


def _every(single: Single, genes: NDArray[np.object_], categories: NDArray[Any]) -> pd.DataFrame:
    """Return one row per label and gene, the best first."""
    names = categories.astype(str).astype(object)
    measures = {name: values.ravel() for name, values in vars(single).items()}
    frame = pd.DataFrame(
        {"label": np.repeat(names, len(genes)), "gene": np.tile(genes, len(names)), **measures}
    )
    each = np.repeat(range(len(names)), len(genes))
    order = np.lexsort((-frame["f_beta"].fillna(-1.0), each))
    return frame.iloc[order].reset_index(drop=True)
