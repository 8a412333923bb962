"""What each selected gene counts for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import checks
from .._anndata import selection
from ._figure import BARS, bars_size, check_ends, documented, draw_bars, figure, finish, one_or_list

if TYPE_CHECKING:
    from pathlib import Path

    from anndata import AnnData
    from matplotlib.axes import Axes


@documented
def weights(
    adata: AnnData,
    n_genes: int | None = None,
    *,
    key: str = "glfs",
    symbols: str | None = None,
    ax: Axes | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Axes | list[Axes] | None:
    """Bars of what each selected gene counts for, the best gene first.

    With ``objective="error"``, the default of ``select_genes``, that is the loss: the share of the
    structure that the panel loses without the gene.  The weights would say little there, since most
    genes of the panel have weight 1.  With the paper's objectives and with other methods it is the
    weight that the method gave the gene.  The axis says which.

    Parameters
    ----------
    adata
        Cells × genes, with a selection of :func:`~glfs_bio.pp.select_genes`.
    n_genes
        How many of the best.  None: every selected gene.  They are in columns of at most 50, with a
        log scale where the bars of several columns are too unlike for another.
    key
        Which selection: the `key_added` of ``select_genes``.
    <symbols>
    ax
        Axes to draw all bars in.
    <show, save>

    Returns
    -------
    None if the figure was shown, else the axes, or a list of them for several columns.

    Raises
    ------
    KeyError
        No such selection or column.
    TypeError, ValueError
        A number of genes that cannot be, or no gene selected.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> ax = glfs_bio.pl.weights(adata, show=False)
    >>> len(ax.patches)
    10
    """
    check_ends(show, save)
    checks.whole_number("n_genes", n_genes, at_least=1, or_none=True)
    frame = selection.ranked(adata, key).head(adata.n_vars if n_genes is None else n_genes)
    called = selection.names(adata, symbols).fillna(adata.var_names.to_series())
    columns, height = bars_size(len(frame))
    axes = figure(ax, [BARS.width] if ax is not None else columns, height)
    column, label = _shown(selection.record(adata, key, "pp.select_genes", "method"))
    draw_bars(axes, list(called.loc[frame.index]), frame[column].to_numpy(), label)
    return finish(axes, "weights", one_or_list(axes), show=show, save=save, own=ax is None)


def _shown(entry: dict[str, Any]) -> tuple[str, str]:
    """Column of the selection that says most of a gene, and its name on the axis."""
    if entry.get("objective") == "error":
        return "loss", "lost without the gene"
    return "weight", "weight β" if "objective" in entry else f"weight by {entry['method']}"
