"""The contribution of each selected gene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import checks
from .._anndata import read, results
from .._docs import documented
from ._colours import BLUE, colours
from ._figure import Frame, one_or_list
from ._rows import BARS, bars_size, draw_bars

if TYPE_CHECKING:
    from collections.abc import Sequence
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
    title: str | None = None,
    palette: str | Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Axes | list[Axes] | None:
    """Draw the contribution of each selected gene, the best gene first.

    With ``objective="error"``, the default of ``select_genes``, that is the loss: the share of the
    structure that is no longer preserved without the gene.  Weights would say little there, since
    most genes of the panel have weight 1.  With the objectives of the original GLFS and with other
    methods it is the weight that the method gave the gene.  The axis says which.

    Parameters
    ----------
    <adata with a selection>
    n_genes : int, default None
        Number of genes, the best first.  None: every selected gene.  They are in columns of at most
        50, with a log scale where the bars of several columns are too unlike for another.
    <key>
    <shown symbols>
    ax : matplotlib.axes.Axes, default None
        Axes to draw all bars in.  None: a new figure.
    <title>
    <palette> the bars
    <figsize, show, save>

    Returns
    -------
    None if the figure was shown, else the axes, or a list of them for several columns.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> ax = glfs_bio.pl.weights(adata, show=False)
    >>> len(ax.patches)
    10
    """
    frame = Frame("weights", ax, title, figsize, show, save)
    (colour,) = colours(palette, BLUE)
    checks.whole_number("n_genes", n_genes, at_least=1, or_none=True)
    best = results.ranked(adata, key).head(adata.n_vars if n_genes is None else n_genes)
    called = read.symbols(adata, symbols).fillna(adata.var_names.to_series())
    column, label = _shown(results.entry(adata, key, "pp.select_genes", "method"))
    columns, height = bars_size(len(best))
    with frame.axes([BARS.width] if ax is not None else columns, height) as axes:
        draw_bars(axes, list(called.loc[best.index]), best[column].to_numpy(), label, colour)
    return frame.finish(axes, one_or_list(axes))


def _shown(entry: dict[str, Any]) -> tuple[str, str]:
    """Column of the selection that says most of a gene, and its name on the axis."""
    if entry.get("objective") == "error":
        return "loss", "contribution (loss)"
    return "weight", "weight β" if "objective" in entry else f"weight by {entry['method']}"
