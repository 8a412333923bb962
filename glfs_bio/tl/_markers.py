"""Which genes of a panel mark which labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import columns, names, read, write
from ..errors import NO_VALUE, InvalidValue
from ..measures import cells as measures
from ..measures.labels import combination, singles

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray

    from .._typing import Array, Index
    from ..measures.labels import Single


def markers(
    adata: AnnData,
    panel: Any,
    labels: str,
    *,
    n_markers: int = 3,
    beta: float = 0.5,
    layer: str | None = None,
    symbols: str | None = None,
    key_added: str = "glfs_markers",
    inplace: bool = True,
) -> pd.DataFrame | None:
    """Say for every label of the cells which genes of a panel mark it, and how well.

    A gene is on in a cell that expresses at least so much of it.  A label is told by a few genes
    that are all on, as by NS-Forest [1]_: those with the largest F-beta score.  A panel that tells
    labels apart together may have labels without a marker of their own; the table says which.

    Parameters
    ----------
    adata
        Cells × genes, logarithmised.
    panel
        Names of genes, one name, a file of them, or the key of a selection, of a boolean column of
        ``.var``, or of what ``sc.tl.rank_genes_groups`` wrote: the first 10 genes of each group.
    labels
        Column of ``.obs`` with labels of the cells, such as types.  Cells without one are left out.
    n_markers
        Most genes to tell a label by.  They are looked for among the six that are best alone.
    beta
        β of the F-beta score: below 1 precision counts more than recall.
    layer
        Layer to use in place of ``.X``; no negative values.
    symbols
        Column of ``.var`` with names that genes may be given by.
    key_added
        Key of ``.uns``.
    inplace
        Write to `adata`; otherwise return the table.  There is no `copy`: to keep an object, pass
        ``adata.copy()``.

    Returns
    -------
    None, or with `inplace=False` the table.  Written:

    ``.uns[key_added]``
        ``table``, a row a label: ``label``; ``n_cells``; ``markers``, the genes that tell it, the
        best first; ``f_beta``, ``precision`` and ``recall`` of the cells in which all of them are
        on; ``on_target``, the mean over these genes of the expression that is in the label, as a
        share of its sum over the means of all labels.  ``genes``, a row a label and gene, the best
        first: ``label``, ``gene``, ``threshold`` (from which the gene is on), ``f_beta``,
        ``precision``, ``recall`` and ``on_target``.  ``params`` and ``versions``.

    Raises
    ------
    KeyError, TypeError, ValueError
        A parameter, gene, column or matrix that cannot be used; fewer than two labels.

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
    params = {
        "labels": labels,
        "n_markers": n_markers,
        "beta": beta,
        "layer": layer,
        "symbols": symbols,
    }
    checks.whole_number("n_markers", n_markers, at_least=1)
    checks.number("beta", beta, above=0.0)
    checks.keys(key_added=key_added)
    checks.flags(inplace=inplace)
    named = names.panel(adata, panel, symbols=symbols, missing="warn")
    codes, categories = columns.labels(adata, labels, "labels")
    if len(categories) < 2:
        raise InvalidValue("labels", labels, "has fewer than two labels", "name another column")
    values = measures.columns(read.matrix(adata, layer), named.genes)
    if values.min() < 0:
        raise InvalidValue(
            "panel",
            NO_VALUE,
            "has genes with negative values",
            "name a log-normalised layer with {arg:layer}",
        )
    single, table = _found(values[codes >= 0], codes[codes >= 0], categories, n_markers, beta)
    genes = adata.var_names[named.genes].to_numpy(dtype=object)
    table["markers"] = [", ".join(genes[some]) for some in table["markers"]]
    if not inplace:
        return table
    adata.uns[key_added] = {
        "table": table,
        "genes": _every(single, genes, categories),
        "params": write.parameters(params),
        "versions": write.versions("glfs-bio", "scikit-learn", "anndata"),
    }
    return None


def _found(
    values: Array, codes: Index, categories: NDArray[Any], n_markers: int, beta: float
) -> tuple[Single, pd.DataFrame]:
    """Every gene alone, and a row a label, with places of genes as its markers."""
    single = singles(values, codes, len(categories), beta)
    rows = []
    for label, name in enumerate(categories):
        belongs = codes == label
        best = combination(values, belongs, single, label, n_markers, beta)
        own = single.on_target[label, best.genes]
        rows.append(
            {
                "label": str(name),
                "n_cells": int(belongs.sum()),
                "markers": best.genes,
                "f_beta": best.f_beta,
                "precision": best.precision,
                "recall": best.recall,
                "on_target": float(own.mean()) if len(own) else np.nan,
            }
        )
    return single, pd.DataFrame(rows)


def _every(single: Single, genes: NDArray[np.object_], categories: NDArray[Any]) -> pd.DataFrame:
    """A row a label and gene, the best first."""
    names = categories.astype(str).astype(object)
    measures = {name: values.ravel() for name, values in vars(single).items()}
    frame = pd.DataFrame(
        {"label": np.repeat(names, len(genes)), "gene": np.tile(genes, len(names)), **measures}
    )
    each = np.repeat(range(len(names)), len(genes))
    order = np.lexsort((-frame["f_beta"].fillna(-1.0), each))
    return frame.iloc[order].reset_index(drop=True)
