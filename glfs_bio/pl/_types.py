"""The genes of a panel by cell type: where each is on, and which mark a type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from anndata import AnnData

from .._anndata import results
from .._anndata.expression import OFF, Profiles, Types, are_logarithms, marked
from ._cells import check_labels, genes_of, grouped
from ._figure import (
    LOOK,
    POINTS_OF_INCH,
    colour_map,
    plot,
    short,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from ._cells import Grouped
    from ._figure import Drawing

#: What genes are called that mark no type, and are on in more than this share of them, at least
#: half as often as where they are on most often.
_SEVERAL, _MOST = "several types", 0.5
#: Genes in a row of a dot plot, inches of a dot with the space to the next, of the legend, and of
#: the names of genes.
_PER_ROW, _DOT, _LEGEND, _NAMES = 50, 0.26, 2.0, 0.9
#: Area of the largest dot, in square points, and letters of the name of a group.
_AREA, _LETTERS = 150.0, 20


@plot
def dotplot(
    adata: AnnData,
    labels: str,
    *,
    key: str | None = None,
    n_genes: int | None = None,
    symbols: str | None = None,
    title: str | None = None,
    palette: str | Sequence[str] | None = None,
    cmap: str | Colormap = "Reds",
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Drawing[list[dict[str, Axes]]]:
    """Dot plot of the genes of a panel by cell type, drawn by scanpy.

    The size of a dot is the share of the cells of a type that express the gene, and its colour the
    mean expression, scaled from 0 to 1 for each gene.  Genes stand under the type that they are
    markers of, as ``per_type`` of :class:`~glfs_bio.Limits` counts them, the most specific first,
    and after these others of which share × mean is largest there.  Genes of several types are
    markers of none, and on in most types, at least half as often as in any.

    Parameters
    ----------
    <adata with a selection>
    labels : str
        Column of ``.obs`` that groups the cells.
    <key of the selection>
    n_genes : int, default None
        Number of genes, the best first.  None: every selected gene, in rows of 50.
    <shown symbols>
    <title>
    <palette> the groups
    <cmap> "Reds"
    <figsize, show, save>

    Returns
    -------
    None if the figure was shown, else scanpy's dictionary of axes for each row of 50 genes.

    See Also
    --------
    markers : Plot the markers of each label.
    panel : UMAPs and a heat map.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> (axes,) = glfs_bio.pl.dotplot(adata, "bulk_labels", show=False)
    >>> len(axes["mainplot_ax"].get_xticklabels())
    10
    """
    of_values = colour_map(cmap)
    check_labels(adata, labels, grouping=True)
    genes, layer = genes_of(adata, results.selection_key(adata, key), n_genes)
    shown = grouped(adata, genes, labels, layer, symbols, palette)
    yield None
    return dots(shown, of_values, figsize)


def by_type(shown: Grouped) -> tuple[pd.DataFrame, Profiles]:
    """Return the genes in the order to show them, with the ``type`` that each stands under.

    Their profiles, in the order of the panel, are second.  The type is that of which a gene is a
    marker, else where share × mean is largest; ``several`` says which are no markers and on in most
    types.  Within a type the most specific is first.
    """
    groups = shown.groups
    types = Types.of(groups.cat.codes.to_numpy(), groups.cat.categories)
    found = Profiles.of(shown.data, types, unlog=are_logarithms(shown.data))
    shares = found.shares[:, 1:]
    level = shares * np.maximum(found.linear[:, 1:], 0.0)
    highest = level.max(axis=1, keepdims=True)
    elsewhere = (level / np.where(highest > 0, highest, 1.0)).sum(axis=1)
    marks = marked(found, types)
    place = np.where(marks >= 0, marks, level.argmax(axis=1))
    on = shares >= OFF * shares.max(axis=1, keepdims=True)
    several = (marks < 0) & (on.mean(axis=1) > _MOST)
    table = pd.DataFrame({"type": groups.cat.categories[place], "several": several})
    order = np.lexsort((elsewhere, marks < 0, place))
    return table.set_index(shown.genes).iloc[order], found


def dots(
    shown: Grouped, cmap: Colormap, figsize: tuple[float, float] | None
) -> list[dict[str, Axes]]:
    """Draw genes under the types that they mark, in rows."""
    import scanpy as sc
    from matplotlib import pyplot as plt

    every, found = by_type(shown)
    every = pd.concat([every[~every["several"]], every[every["several"]]])
    called = every["type"].astype(str).mask(every["several"], _SEVERAL).to_numpy()
    types = shown.groups.cat.categories
    # scanpy gets what it would compute of all cells, and a cell of each type
    shares, means = (
        pd.DataFrame(one[:, 1:].T, index=types, columns=shown.genes)
        for one in (found.shares, found.means)
    )
    means -= means.min()
    means = (means / means.max()).fillna(0.0)
    of_types = AnnData(
        means.to_numpy(),
        obs=pd.DataFrame({shown.name: pd.Categorical(types, types)}, index=types.astype(str)),
        var=pd.DataFrame(index=shown.genes),
    )
    n_rows = -(-len(every) // _PER_ROW)
    in_row = -(-len(every) // n_rows)
    groups = short(list(called), _LETTERS)
    above = LOOK.letter * LOOK.font / POINTS_OF_INCH * max(map(len, groups))
    between = above + _NAMES
    height = max(_DOT * len(types), 2.0)
    size = figsize or (3.6 + _DOT * in_row, n_rows * (between + height))
    figure, axes = plt.subplots(n_rows, 1, figsize=size, squeeze=False)
    whole = n_rows * (between + height)
    figure.subplots_adjust(bottom=_NAMES / whole, top=1 - above / whole, hspace=between / height)
    drawn = []
    for i, ax in enumerate(axes.ravel()):
        part = slice(i * in_row, (i + 1) * in_row)
        starts = np.flatnonzero(np.append(True, called[part][1:] != called[part][:-1]))
        ends = np.append(starts[1:], len(called[part])) - 1
        genes = list(every.index[part])
        plotted = sc.pl.DotPlot(
            of_types,
            genes,
            shown.name,
            dot_color_df=means[genes],
            dot_size_df=shares[genes],
            var_group_positions=[*zip(starts.tolist(), ends.tolist(), strict=True)],
            var_group_labels=[groups[part][start] for start in starts],
            var_group_rotation=90,
            ax=ax,
        )
        plotted.legend(
            colorbar_title="Mean expression,\nscaled by gene",
            size_title="Cells with\nthe gene (%)",
            width=_LEGEND,
        ).style(cmap=cmap, dot_max=1.0, largest_dot=_AREA)
        plotted.make_figure()
        drawn.append(plotted.get_axes())
    return drawn
