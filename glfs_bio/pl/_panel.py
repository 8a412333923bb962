"""The cells, by the panel and by all genes."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import checks, codec
from .._anndata import columns, read, results, umap
from ..errors import NO_VALUE, OBS, InvalidValue, NotFound, arg, listed
from ._figure import MUTED, colour_map, colours, gene_names, legend_width, plot, scatter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from ._figure import Drawing

_KINDS = ("umap", "heatmap", "dotplot")
#: Up to so many genes a heat map names them in letters of the usual size.
_FEW = 60
#: Cells of a group in a heat map: at most so many times those of the smallest, or so many.
_RATIO, _FEWEST = 3, 20
#: Genes in a row of a dot plot, inches of a dot with the space to the next, and of its legend.
_PER_ROW, _DOT, _LEGEND = 50, 0.26, 2.0
#: Area of the largest dot, in square points, and space between rows, in heights of a row.
_AREA, _BETWEEN = 150.0, 0.5


@plot
def panel(
    adata: AnnData,
    labels: str | Sequence[str] | None = None,
    *,
    kind: Literal["umap", "heatmap", "dotplot"] = "umap",
    key: str = "glfs",
    n_genes: int | None = None,
    symbols: str | None = None,
    keep: bool = False,
    ax: Sequence[Axes] | None = None,
    title: str | None = None,
    palette: str | Sequence[str] | None = None,
    cmap: str | Colormap = "viridis",
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Drawing[list[Axes] | dict[str, Axes] | list[dict[str, Axes]]]:
    """Show the cells by the panel: a UMAP next to that of all genes, a heat map, or a dot plot.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with a selection of :func:`~glfs_bio.pp.select_genes`; it may be backed.
    labels : str or sequence of str, default None
        Column of ``.obs``, or gene, that colours the cells of a UMAP; of several each has maps of
        its own.  The other kinds need a column, which groups the cells.
    kind : {"umap", "heatmap", "dotplot"}, default "umap"
        ``"umap"``
            Two UMAPs, by all genes and by the panel.  Those that :func:`~glfs_bio.tl.panel_umap`
            keeps in `adata` are drawn if they are of these genes and this matrix; otherwise they
            are computed.  Where the panel has all genes of `adata`, there is only that of the
            panel.
        ``"heatmap"``, ``"dotplot"``
            Those of scanpy, every gene scaled from 0 to 1, genes ordered by the group in which they
            are highest; the heat map shows a random part of large groups.
    <key>
    n_genes : int, default None
        Number of genes, the best first.  None: every selected gene.
    <shown symbols>
    keep : bool, default False
        Whether to keep UMAPs that are computed in `adata`, as :func:`~glfs_bio.tl.panel_umap` does,
        for the next call.  If False, `adata` is not changed.
    ax : sequence of matplotlib.axes.Axes, default None
        An axes for each UMAP, first those by all genes and by the panel of the first of `labels`.
        scanpy draws the other kinds in figures of their own.
    <title>
    <palette> the groups
    <cmap> "viridis"
    <figsize, show, save>

    Returns
    -------
    None if the figure was shown, else the axes: a list of the UMAPs, scanpy's dictionary for a heat
    map, and for a dot plot a list of such dictionaries, one for each row of 50 genes.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> axes = glfs_bio.pl.panel(adata, "bulk_labels", kind="heatmap", show=False)
    >>> len(axes["heatmap_ax"].get_xticklabels())
    10
    """
    of_values = colour_map(cmap)
    checks.flags(keep=keep)
    checks.one_of("kind", kind, _KINDS)
    checks.whole_number("n_genes", n_genes, at_least=1, or_none=True)
    shown = [labels] if labels is None or isinstance(labels, str) else list(labels)
    for one in shown:
        _check_labels(adata, one, kind)
    if ax is not None and kind != "umap":
        raise InvalidValue(
            "ax", NO_VALUE, f"is for UMAPs, and scanpy draws {arg('kind', kind)} in a figure"
        )
    if len(shown) > 1 and kind != "umap":
        raise InvalidValue("labels", NO_VALUE, f"are several, and {arg('kind', kind)} has one")
    genes = results.ranked(adata, key).index[:n_genes]
    # in which the genes were selected
    layer = codec.restored(adata.uns.get(key, {}).get("params", {}).get("layer"))
    every = [_cells(adata, genes, one, layer, symbols, palette, kind) for one in shown]
    if kind != "umap":
        yield None
        draw = _heatmap if kind == "heatmap" else _dotplot
        return draw(every[0][0], str(every[0][1]), of_values, figsize)
    found = umap.maps(adata, key, genes, layer)
    if keep:
        umap.keep(adata, key, found)
    maps = {f"panel of {len(genes):,} genes": found.panel}
    if found.all_genes is not None:
        maps = {f"all {adata.n_vars:,} genes": found.all_genes, **maps}
    widths = [
        4.8 + (legend_width(_n_groups(cells, name), 4.2) if last else 0.0)
        for cells, name in every
        for last in [False] * (len(maps) - 1) + [True]
    ]
    axes = yield widths, 4.2
    drawn = product(every, maps.items())
    for one_ax, ((cells, name), (called, coordinates)) in zip(axes, drawn, strict=True):
        last = called == [*maps][-1]
        scatter(
            *(one_ax, cells, coordinates, "UMAP"),
            sharing=len(maps),
            color=name,
            color_map=of_values,
            legend_loc="right margin" if last else "none",
            colorbar_loc="right" if last else None,
            title=called,
        )
    return axes


def _n_groups(cells: AnnData, name: str | None) -> int:
    """How many groups a legend has."""
    groups = None if name is None else getattr(cells.obs[name], "cat", None)
    return 0 if groups is None else len(groups.categories)


def _check_labels(adata: AnnData, labels: str | None, kind: str) -> None:
    if labels is None:
        if kind != "umap":
            raise InvalidValue(
                "kind", kind, "needs labels", f"name a column of {OBS} as {arg('labels')}"
            )
    elif labels not in adata.obs and (kind != "umap" or labels not in adata.var_names):
        raise NotFound("labels", labels, f"is not in {OBS}", f"choose from {listed(adata.obs)}")
    elif kind != "umap":
        columns.labels(adata, labels)


def _cells(
    adata: AnnData,
    genes: pd.Index,
    labels: str | None,
    layer: str | None,
    symbols: str | None,
    palette: Any,
    kind: str,
) -> tuple[AnnData, str | None]:
    """The cells with the genes of the panel only, under the names to show; and of the labels."""
    called = gene_names(adata, genes, symbols)
    cells = AnnData(
        umap.values(adata, genes, layer),
        obs=pd.DataFrame(index=adata.obs_names),
        var=pd.DataFrame(index=pd.Index(called.to_numpy(dtype=str)).str.replace("$", r"\$")),
    )
    cells.var_names_make_unique()
    if labels is None:
        return cells, None
    name = labels if labels not in cells.var_names else f"{labels} (cells)"
    if labels in adata.obs:
        column: Any = read.find(adata, "obs", labels, "labels")
        if kind != "umap" and not isinstance(column.dtype, pd.CategoricalDtype):
            column = pd.Categorical.from_codes(*columns.labels(adata, labels))
        cells.obs[name] = column
        _colour(cells, name, adata.uns.get(f"{labels}_colors"), palette)
    else:
        of_gene = umap.values(adata, pd.Index([labels]), layer)
        cells.obs[name] = of_gene.ravel().astype(np.float64)
    return cells, name


def _colour(cells: AnnData, labels: str, stored: Sequence[str] | None, palette: Any) -> None:
    """The colours that are asked for, or the groups' own; else ours, for as many as we have."""
    if pd.api.types.is_float_dtype(cells.obs[labels]):
        return
    groups = cells.obs[labels].astype("category")
    if palette is not None or stored is None or len(stored) != len(groups.cat.categories):
        groups = groups.cat.remove_unused_categories()
        stored = MUTED[: len(groups.cat.categories)]
    # with two dollars a name would be a formula
    groups = groups.cat.rename_categories(
        [str(one).replace("$", r"\$") for one in groups.cat.categories]
    )
    cells.obs[labels] = groups
    number = len(groups.cat.categories)
    if palette is not None:
        from matplotlib.colors import to_hex

        stored = [to_hex(one) for one in colours(palette, *[""] * number)]
    if len(stored) == number:
        cells.uns[f"{labels}_colors"] = list(stored)


def _by_group(cells: AnnData, labels: str) -> list[str]:
    """Genes by the group in which they are highest, the highest first within it."""
    groups = cells.obs[labels].cat.remove_unused_categories()
    means = pd.DataFrame(cells.X, columns=cells.var_names).groupby(groups.to_numpy()).mean()
    means = means.reindex(groups.cat.categories)
    scaled = means / means.max().where(means.max() > 0, 1.0)
    group, others = means.to_numpy().argmax(axis=0), scaled.sum().to_numpy()
    return list(cells.var_names[np.lexsort((others, group))])


def _balanced(cells: AnnData, labels: str) -> AnnData:
    """No group so much larger than the smallest that the name of that has no room."""
    rng = np.random.default_rng(0)
    members = cells.obs.groupby(labels, observed=True).indices.values()
    most = max(_RATIO * min(map(len, members)), _FEWEST)
    kept = [rng.choice(group, min(len(group), most), replace=False) for group in members]
    return cells[np.sort(np.concatenate(kept))].copy()


def _heatmap(
    every: AnnData, labels: str, cmap: Colormap, figsize: tuple[float, float] | None
) -> dict[str, Axes]:
    import scanpy as sc

    genes, cells = _by_group(every, labels), _balanced(every, labels)
    few = len(genes) <= _FEW
    rows = max(0.4 * cells.obs[labels].nunique(), 2.0)
    axes: dict[str, Axes] = sc.pl.heatmap(
        cells,
        genes,
        labels,
        standard_scale="var",
        cmap=cmap,
        figsize=figsize or (3.0 + (0.2 if few else 0.1) * len(genes), 1.5 + rows),
        show_gene_labels=True,
        show=False,
    )
    axes["heatmap_ax"].tick_params(axis="x", labelsize=9 if few else 6)
    return axes


def _dotplot(
    cells: AnnData, labels: str, cmap: Colormap, figsize: tuple[float, float] | None
) -> list[dict[str, Axes]]:
    import scanpy as sc
    from matplotlib import pyplot as plt

    genes = _by_group(cells, labels)
    rows = -(-len(genes) // _PER_ROW)
    in_row = -(-len(genes) // rows)
    dots = max(_DOT * cells.obs[labels].nunique(), 2.0)
    size = figsize or (3.6 + _DOT * in_row, rows * (1.6 + dots))
    figure, axes = plt.subplots(rows, 1, figsize=size, squeeze=False)
    figure.subplots_adjust(hspace=_BETWEEN)
    drawn = []
    for i, ax in enumerate(axes.ravel()):
        dotplot = sc.pl.dotplot(
            cells,
            genes[i * in_row : (i + 1) * in_row],
            labels,
            standard_scale="var",
            cmap=cmap,
            dot_max=1.0,
            ax=ax,
            return_fig=True,
        )
        dotplot.legend(width=_LEGEND).style(largest_dot=_AREA)
        dotplot.make_figure()
        drawn.append(dotplot.get_axes())
    return drawn
