"""The cells, by the panel and by all genes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import checks, codec
from .._anndata import read, results
from .._docs import documented
from ..errors import NO_VALUE, OBS, InvalidType, InvalidValue, NotFound, arg, listed
from ..tl import _panel_umap as embedding
from ._colours import MUTED, colour_map, colours
from ._figure import LOOK, Frame, look, point_size

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from numpy.typing import NDArray

_KINDS = ("umap", "heatmap", "dotplot")
#: Inches of a UMAP, with its legend.
_SQUARE, _TALL = 4.8, 4.2


@dataclass(frozen=True)
class Heatmap:
    """Sizes of a heat map, in inches where nothing else is said."""

    #: Most genes with names of the usual size
    few: int = 60
    #: Per gene, with few genes and with more
    column: float = 0.2
    narrow: float = 0.1
    #: Per group, and at least in all
    row: float = 0.4
    least: float = 2.0
    #: Around the cells, across and down
    around: tuple[float, float] = (3.0, 1.5)
    #: Points of the names, with few genes and with more
    font: int = 9
    small_font: int = 6
    #: Cells of a group: at most so many times those of the smallest, or so many
    ratio: int = 3
    fewest: int = 20


@dataclass(frozen=True)
class Dotplot:
    """Sizes of a dot plot, in inches where nothing else is said."""

    #: Genes
    per_row: int = 50
    #: With the space to the next
    dot: float = 0.26
    #: Height of the dots of a row, at least
    least: float = 2.0
    #: Around the dots, across and down
    around: tuple[float, float] = (3.6, 1.6)
    #: Width
    legend: float = 2.0
    #: Of the largest dot, in square points
    area: float = 150.0
    #: Space between rows, in heights of a row
    between: float = 0.5


HEATMAP, DOTPLOT = Heatmap(), Dotplot()


@documented
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
) -> list[Axes] | dict[str, Axes] | list[dict[str, Axes]] | None:
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
    frame = Frame(f"panel_{kind}", ax, title, figsize, show, save)
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
    every = [_cells(adata, genes, one, layer, symbols, palette) for one in shown]
    if kind == "umap":
        maps = embedding.maps(adata, key, genes, layer)
        if keep:
            embedding.keep(adata, key, maps)
        titled = {f"panel of {len(genes):,} genes": maps.panel}
        if maps.all_genes is not None:
            titled = {f"all {adata.n_vars:,} genes": maps.all_genes, **titled}
        with frame.axes([_SQUARE] * len(titled) * len(every), _TALL) as axes:
            for place, (cells, name) in enumerate(every):
                some = axes[place * len(titled) : (place + 1) * len(titled)]
                _umaps(some, cells, name, titled, of_values)
        return frame.finish(axes, axes)
    cells, groups = every[0]
    drawn: dict[str, Axes] | list[dict[str, Axes]]
    with look(LOOK.font):
        if kind == "heatmap":
            drawn = first = _heatmap(cells, str(groups), of_values, figsize)
        else:
            drawn = _dotplot(cells, str(groups), of_values, figsize)
            first = drawn[0]
        some = [next(iter(first.values()))]
        if title is not None:
            some[0].figure.suptitle(title, parse_math=False)
    return frame.finish(some, drawn)


def _check_labels(adata: AnnData, labels: str | None, kind: str) -> None:
    if labels is None:
        if kind != "umap":
            raise InvalidValue(
                "kind", kind, "needs labels", f"name a column of {OBS} as {arg('labels')}"
            )
    elif labels not in adata.obs and (kind != "umap" or labels not in adata.var_names):
        raise NotFound("labels", labels, f"is not in {OBS}", f"choose from {listed(adata.obs)}")
    elif kind != "umap" and pd.api.types.is_float_dtype(adata.obs[labels]):
        raise InvalidType("labels", labels, "holds measurements", "name a column of labels")


def _cells(
    adata: AnnData,
    genes: pd.Index,
    labels: str | None,
    layer: str | None,
    symbols: str | None,
    palette: Any,
) -> tuple[AnnData, str | None]:
    """The cells with the genes of the panel only, under the names to show; and of the labels."""
    called = read.symbols(adata, symbols).fillna(adata.var_names.to_series()).loc[genes]
    cells = AnnData(
        embedding.values(adata, genes, layer),
        obs=pd.DataFrame(index=adata.obs_names),
        var=pd.DataFrame(index=pd.Index(called.to_numpy(dtype=str)).str.replace("$", r"\$")),
    )
    cells.var_names_make_unique()
    if labels is None:
        return cells, None
    name = labels if labels not in cells.var_names else f"{labels} (cells)"
    if labels in adata.obs:
        cells.obs[name] = adata.obs[labels]
        _colour(cells, name, adata.uns.get(f"{labels}_colors"), palette)
    else:
        of_gene = embedding.values(adata, pd.Index([labels]), layer)
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


def _umaps(
    axes: Sequence[Axes],
    cells: AnnData,
    labels: str | None,
    maps: dict[str, NDArray[np.float64]],
    cmap: Colormap,
) -> None:
    """One UMAP after the other; the last has the legend."""
    import scanpy as sc

    for i, (ax, (title, coordinates)) in enumerate(zip(axes, maps.items(), strict=True)):
        basis = f"umap_{i}"
        cells.obsm[f"X_{basis}"] = coordinates[:, :2]
        last = ax is axes[-1]
        with warnings.catch_warnings():
            # scanpy 1.11 sets colours of a colour map in a way that matplotlib 3.11 will drop
            warnings.simplefilter("ignore", PendingDeprecationWarning)
            sc.pl.embedding(
                cells,
                basis,
                color=labels,
                size=point_size(ax, cells.n_obs),
                color_map=cmap,
                legend_loc="right margin" if last else "none",
                colorbar_loc="right" if last else None,
                title=title,
                ax=ax,
                show=False,
            )
        ax.set(xlabel="UMAP 1", ylabel="UMAP 2")


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
    most = max(HEATMAP.ratio * min(map(len, members)), HEATMAP.fewest)
    kept = [rng.choice(group, min(len(group), most), replace=False) for group in members]
    return cells[np.sort(np.concatenate(kept))].copy()


def _heatmap(
    every: AnnData, labels: str, cmap: Colormap, figsize: tuple[float, float] | None
) -> dict[str, Axes]:
    import scanpy as sc

    genes, cells = _by_group(every, labels), _balanced(every, labels)
    few = len(genes) <= HEATMAP.few
    column = HEATMAP.column if few else HEATMAP.narrow
    rows = max(HEATMAP.row * cells.obs[labels].nunique(), HEATMAP.least)
    across, down = HEATMAP.around
    axes: dict[str, Axes] = sc.pl.heatmap(
        cells,
        genes,
        labels,
        standard_scale="var",
        cmap=cmap,
        figsize=figsize or (across + column * len(genes), down + rows),
        show_gene_labels=True,
        show=False,
    )
    axes["heatmap_ax"].tick_params(axis="x", labelsize=HEATMAP.font if few else HEATMAP.small_font)
    return axes


def _dotplot(
    cells: AnnData, labels: str, cmap: Colormap, figsize: tuple[float, float] | None
) -> list[dict[str, Axes]]:
    import scanpy as sc
    from matplotlib import pyplot as plt

    genes = _by_group(cells, labels)
    rows = -(-len(genes) // DOTPLOT.per_row)
    in_row = -(-len(genes) // rows)
    dots = max(DOTPLOT.dot * cells.obs[labels].nunique(), DOTPLOT.least)
    across, down = DOTPLOT.around
    size = figsize or (across + DOTPLOT.dot * in_row, rows * (down + dots))
    figure, axes = plt.subplots(rows, 1, figsize=size, squeeze=False)
    figure.subplots_adjust(hspace=DOTPLOT.between)
    drawn = []
    for i, ax in enumerate(axes.ravel()):
        plot = sc.pl.dotplot(
            cells,
            genes[i * in_row : (i + 1) * in_row],
            labels,
            standard_scale="var",
            cmap=cmap,
            dot_max=1.0,
            ax=ax,
            return_fig=True,
        )
        plot.legend(width=DOTPLOT.legend).style(largest_dot=DOTPLOT.area)
        plot.make_figure()
        drawn.append(plot.get_axes())
    return drawn
