"""What a platform detects of each gene, from cells that it measured and from the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.stats import norm

from .. import checks
from .._anndata import columns, read
from .._anndata.expression import Expression
from .._anndata.platform import signal_of
from ..errors import InvalidValue, naming, short
from ..labels import Labels
from ..options import public
from ..vendors.forecast import INTERVAL, Means, estimated, off_target

if TYPE_CHECKING:
    from anndata import AnnData

    from .._typing import Index

#: Least number of genes and, for off-target shares, of types that both have.
_FEWEST_GENES, _FEWEST_TYPES = 3, 3


@public
def estimate_efficiency(
    reference: AnnData,
    spatial: AnnData,
    labels: str | None = None,
    *,
    counts_layer: str = "X",
    spatial_layer: str = "X",
) -> pd.DataFrame:
    """Estimate what a platform detects of each gene, from cells that it measured.

    The efficiency of a gene is its mean count on the platform over that in the reference, for cells
    of the same kinds.  Logarithms of these ratios are shrunk to their mean over the genes by
    empirical Bayes, the more the fewer counts a gene has; a gene of the reference that was not
    measured gets that mean, and the spread of all genes.

    Parameters
    ----------
    reference : AnnData
        Cells × genes from which panels are selected, with raw counts.
    spatial : AnnData
        Cells × genes that the platform measured, with raw counts.  Genes are matched by name.
    labels : str, default None
        Column of ``.obs`` of both, with types of cells.  Types are weighed by their shares of the
        reference, and types that one of them lacks are left out.  None: all cells are of the same
        kinds in the same shares.
    counts_layer, spatial_layer : str, default "X"
        Layer of raw counts of each; ``"X"`` is ``.X``.

    Returns
    -------
    Table with one row per gene of the reference, for ``Platform(efficiency=...)``:

    ``efficiency`` : float
        Relative detection efficiency; 1 is that of the reference.
    ``low``, ``high`` : float
        Ends of its interval of 90 %.
    ``spread`` : float
        Standard deviation of its natural logarithm.
    ``off_target`` : float
        With three types or more: share of the counts of the gene on the platform that do not follow
        its means over the types of the reference, from other genes or from other cells.
    ``signal`` : float
        Structure of the gene in the cells that the platform measured, in units of its noise there,
        for the selection; the median for a gene that was not measured.  Not with fewer than 200
        cells, which hardly show it.
    ``measured`` : bool
        Whether the platform measured the gene.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> adata.X = adata.X.expm1().rint()
    >>> half = adata.copy()
    >>> half.X = (adata.X / 2).floor()
    >>> table = glfs_bio.tl.estimate_efficiency(adata, half, "bulk_labels")
    >>> bool(table["efficiency"].median() < 0.7)
    True
    """
    checks.texts(counts_layer=counts_layer, spatial_layer=spatial_layer)
    read.unique_names(reference)
    with naming(adata="spatial"):
        read.unique_names(spatial)
    genes = reference.var_names[reference.var_names.isin(spatial.var_names)]
    if len(genes) < _FEWEST_GENES:
        raise InvalidValue(f"`spatial` has {len(genes)} genes of `reference`: name genes alike")
    (types_here, types_there), n_types = _types(reference, spatial, labels)
    expected = _means(reference, genes, types_here, n_types, counts_layer)
    with naming(counts_layer="spatial_layer", X="spatial"):
        detected = _means(spatial, genes, types_there, n_types, spatial_layer)
    weights = expected.n_cells / expected.n_cells.sum()
    at = genes.get_indexer(reference.var_names)  # −1, the last: of a gene that was not measured
    middle, spread = (of_genes[at] for of_genes in estimated(expected, detected, weights))
    reach = norm.ppf(0.5 + INTERVAL / 2.0) * spread
    table = pd.DataFrame({"efficiency": np.exp(middle)}, index=reference.var_names)
    table["low"], table["high"] = np.exp(middle - reach), np.exp(middle + reach)
    table["spread"] = spread
    if n_types >= _FEWEST_TYPES:
        shares = pd.Series(off_target(expected, detected, weights), genes)
        table["off_target"] = shares.reindex(table.index, fill_value=np.median(shares))
    with naming(X="spatial"):
        signal = signal_of(spatial, None if spatial_layer == "X" else spatial_layer)
    if signal is not None:
        of_genes = pd.Series(signal, spatial.var_names)[genes]
        table["signal"] = of_genes.reindex(table.index, fill_value=of_genes.median())
    table["measured"] = table.index.isin(genes)
    return table


def _types(reference: AnnData, spatial: AnnData, labels: str | None) -> tuple[list[Index], int]:
    """Return the type of each cell of both, −1 where not both have it, and the number of types."""
    sets = reference, spatial
    if labels is None:
        return [np.zeros(adata.n_obs, dtype=np.intp) for adata in sets], 1
    coded = [columns.labels(adata, labels) for adata in sets]
    both = pd.Index([name for name in coded[0].names if name in coded[1].names])
    if both.empty:
        raise InvalidValue(f"`labels={short(labels)}` has no type of both: rename types")
    types = [np.append(both.get_indexer(of_set.names), [-1])[of_set.codes] for of_set in coded]
    return types, len(both)


def _means(adata: AnnData, genes: pd.Index, types: Index, n_types: int, layer: str) -> Means:
    """Return mean counts of genes over the cells of each type, and their variances."""
    counts = Expression.of(read.counts(adata, layer), Labels(types, np.arange(n_types)))
    counts = counts.only(adata.var_names.get_indexer(genes))
    return Means(counts.means[:, 1:].T, counts.variances[:, 1:].T, counts.sizes[1:])
