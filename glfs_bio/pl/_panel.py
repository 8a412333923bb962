"""The cells, by the panel and by all genes."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import checks
from .._anndata import read, results
from .._progress import progress
from ..data.matrix import RowMatrix
from ..data.threads import need_numba
from ..errors import NO_VALUE, OBS, InvalidValue, arg
from ..measures.cells import dense, evenly
from ._cells import check_labels, colour_groups, embedding, genes_of, grouped
from ._figure import (
    MOST_POINTS,
    colour_map,
    gene_names,
    in_sample,
    legend_width,
    literal,
    of_all,
    plot,
    scatter,
)
from ._types import by_type, dots

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from numpy.typing import NDArray

    from .._typing import Array, Index
    from ._cells import Grouped
    from ._figure import Drawing

_KINDS = ("umap", "heatmap", "dotplot")
_LEGENDS = ("right margin", "on data", "none")
#: Up to so many genes a heat map names them in letters of the usual size.
_FEW = 60
#: Cells of a group in a heat map: at most so many times those of the smallest, or so many.
_RATIO, _FEWEST = 3, 20
#: Rows of a heat map, which has fewer pixels.
_MOST_ROWS = 20_000
#: Inches of a UMAP with all around it.
_WIDTH, _HEIGHT = 4.6, 4.2
#: Cells that a UMAP needs, and genes up to which it is of their expression, not of components.
_FEWEST_OF_UMAP, _MOST_GENES_OF_UMAP = 5, 50
#: Points of white around names on a map.
_OUTLINE = 2


@plot
def panel(
    adata: AnnData,
    labels: str | Sequence[str] | None = None,
    *,
    kind: Literal["umap", "heatmap", "dotplot"] = "umap",
    key: str | None = None,
    n_genes: int | None = None,
    symbols: str | None = None,
    basis: str | None = None,
    ncols: int = 4,
    legend_loc: Literal["right margin", "on data", "none"] = "right margin",
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
        Cells × genes, with a selection of :func:`~glfs_bio.pp.select_genes`: in memory, backed,
        zarr or dask.
    labels : str or sequence of str, default None
        Column of ``.obs``, or gene, that colours the cells of a UMAP; of several each has maps of
        its own.  The other kinds need a column, which groups the cells.
    kind : {"umap", "heatmap", "dotplot"}, default "umap"
        ``"umap"``
            The UMAP by the panel, next to that of all genes where ``.obsm["X_umap"]`` has one and
            `adata` has more genes than the panel.  Of more than 100,000 cells so many are drawn,
            evenly over their order, as the titles say.
        ``"heatmap"``
            That of scanpy, every gene scaled from 0 to 1, genes ordered by the group in which they
            are highest; it shows a random part of large groups, and 20,000 cells at most.
        ``"dotplot"``
            That of :func:`dotplot`.
    <key of the selection>
    n_genes : int, default None
        Number of genes, the best first.  None: every selected gene.
    <shown symbols>
    basis : str, default None
        Key of ``.obsm`` with the UMAP by the panel, with or without ``X_``.  None: it is computed
        by ``sc.pp.neighbors`` and ``sc.tl.umap`` on the genes of the panel, and not stored.
    ncols : int, default 4
        Number of UMAPs in a row; those of one of `labels` stay together.
    legend_loc : {"right margin", "on data", "none"}, default "right margin"
        Where the groups are named: beside the last map of a column, on every map, or nowhere.
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
    map, and for a dot plot a list of such dictionaries.

    See Also
    --------
    dotplot : Dot plot of the genes by type.

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
    checks.one_of("kind", kind, _KINDS)
    checks.one_of("legend_loc", legend_loc, _LEGENDS)
    checks.whole_number("ncols", ncols, at_least=1)
    shown = [labels] if labels is None or isinstance(labels, str) else list(labels)
    if labels is None and kind != "umap":
        raise InvalidValue(
            "kind", kind, "needs labels", f"name a column of {OBS} as {arg('labels')}"
        )
    for one in shown:
        check_labels(adata, one, grouping=kind != "umap")
    if ax is not None and kind != "umap":
        raise InvalidValue(
            "ax", NO_VALUE, f"is for UMAPs, and scanpy draws {arg('kind', kind)} in a figure"
        )
    if len(shown) > 1 and kind != "umap":
        raise InvalidValue("labels", NO_VALUE, f"are several, and {arg('kind', kind)} has one")
    key = results.selection_key(adata, key)
    genes, layer = genes_of(adata, key, n_genes)
    if kind != "umap":
        of_groups = grouped(adata, genes, str(shown[0]), layer, symbols, palette)
        yield None
        draw = _heatmap if kind == "heatmap" else dots
        return draw(of_groups, of_values, figsize)
    if basis is None:
        by_panel = _umap(adata, genes, layer)
    else:
        by_panel = np.asarray(adata.obsm[embedding(adata, basis)])
    maps = {f"panel of {len(genes):,} genes": by_panel}
    if has_map_of_all_genes(adata, genes):
        maps = {f"all {adata.n_vars:,} genes": np.asarray(adata.obsm["X_umap"]), **maps}
    rows = in_sample(*maps.values())
    every = _coloured(adata, rows, shown, layer, symbols, palette)
    of_cells = of_all(len(rows), adata.n_obs)
    beside = legend_loc == "right margin"
    # maps of a row are alike, and what stands beside the last takes from all
    widths = []
    for cells, name in every:
        more = legend_width(_groups(cells, name), _HEIGHT) if beside else 0.0
        widths.append([_WIDTH + more / len(maps)] * len(maps))
    axes = yield widths, _HEIGHT, max(ncols // len(maps), 1)
    drawn = product(every, maps.items())
    for one_ax, ((cells, name), (called, coordinates)) in zip(axes, drawn, strict=True):
        last = called == [*maps][-1]
        scatter(
            *(one_ax, cells, coordinates[rows], "UMAP"),
            sharing=len(maps),
            color=name,
            color_map=of_values,
            legend_loc=legend_loc if last or not beside else "none",
            legend_fontoutline=None if beside else _OUTLINE,
            colorbar_loc="right" if last else None,
            title=", ".join(filter(None, [name and literal(name), called, of_cells])),
        )
    return axes


def has_map_of_all_genes(adata: AnnData, genes: pd.Index) -> bool:
    """Return whether a UMAP by all genes is there, and these genes are not all."""
    return len(genes) < adata.n_vars and "X_umap" in adata.obsm


def _umap(adata: AnnData, genes: pd.Index, layer: str | None) -> NDArray[np.float64]:
    """Return scanpy's UMAP by these genes, shape (cells, 2); NaN of cells that are not drawn."""
    rows = evenly(adata.n_obs, MOST_POINTS)
    if len(rows) < _FEWEST_OF_UMAP:
        raise InvalidValue(
            "adata",
            NO_VALUE,
            f"has {len(rows)} cells, but a UMAP needs at least {_FEWEST_OF_UMAP}",
            "use more cells",
        )
    need_numba("UMAP")
    import scanpy as sc

    columns = np.sort(adata.var_names.get_indexer(genes))
    cells = AnnData(_expression(adata, adata.var_names[columns], layer, rows))
    if len(columns) > _MOST_GENES_OF_UMAP:
        sc.pp.pca(cells)
    with progress() as bar:
        bar.add_task(f"UMAP of {len(rows):,} cells by the panel", total=None)
        sc.pp.neighbors(cells)
        sc.tl.umap(cells)
    coordinates = np.full((adata.n_obs, 2), np.nan)
    coordinates[rows] = cells.obsm["X_umap"]
    return coordinates


def _expression(adata: AnnData, genes: pd.Index, layer: str | None, rows: Index) -> Array:
    """Return the expression of a few genes in some cells, dense, wherever the matrix is."""
    columns = adata.var_names.get_indexer(genes)
    return dense(RowMatrix(read.row_matrix(adata, layer), rows, columns).loaded(), np.float32)


def _groups(cells: AnnData, name: str | None) -> Sequence[object]:
    """The groups of a legend."""
    groups = None if name is None else getattr(cells.obs[name], "cat", None)
    return () if groups is None else list(groups.categories)


def _coloured(
    adata: AnnData,
    rows: Index,
    shown: Sequence[str | None],
    layer: str | None,
    symbols: str | None,
    palette: Any,
) -> list[tuple[AnnData, str | None]]:
    """Some cells for each of what colours them, and its name to show; genes are read together."""
    genes = pd.Index([one for one in dict.fromkeys(shown) if one and one not in adata.obs])
    values = _expression(adata, genes, layer, rows).T if len(genes) else ()
    of_genes = dict(zip(genes, values, strict=True))
    called = gene_names(adata, genes, symbols)
    found: list[tuple[AnnData, str | None]] = []
    for one in shown:
        cells, name = AnnData(obs=pd.DataFrame(index=adata.obs_names[rows])), one
        if one in of_genes:
            name = str(called[one])
            cells.obs[name] = of_genes[one].astype(np.float64)
        elif one is not None:
            cells.obs[one] = read.find(adata, "obs", one, "labels").iloc[rows]
            colour_groups(cells, one, adata.uns.get(f"{one}_colors"), palette)
        found.append((cells, name))
    return found


def _balanced(groups: pd.Series) -> Index:
    """Places of cells, of no group too many for the name of the smallest to have room."""
    rng = np.random.default_rng(0)
    members = groups.groupby(groups, observed=True).indices.values()
    most = max(_RATIO * min(map(len, members)), _FEWEST)
    kept = [rng.choice(group, min(len(group), most), replace=False) for group in members]
    places = np.sort(np.concatenate(kept))
    return np.asarray(places[evenly(len(places), _MOST_ROWS)])


def _heatmap(
    shown: Grouped, cmap: Colormap, figsize: tuple[float, float] | None
) -> dict[str, Axes]:
    import scanpy as sc

    genes, rows = list(by_type(shown)[0].index), _balanced(shown.groups)
    cells = shown.cells[rows].copy()
    values = dense(shown.data.source[rows], np.float32)
    cells = AnnData(values, obs=cells.obs, var=pd.DataFrame(index=shown.genes), uns=cells.uns)
    few = len(genes) <= _FEW
    height = max(0.4 * cells.obs[shown.name].nunique(), 2.0)
    axes: dict[str, Axes] = sc.pl.heatmap(
        cells,
        genes,
        shown.name,
        standard_scale="var",
        cmap=cmap,
        figsize=figsize or (3.0 + (0.2 if few else 0.1) * len(genes), 1.5 + height),
        show_gene_labels=True,
        show=False,
    )
    axes["heatmap_ax"].tick_params(axis="x", labelsize=9 if few else 6)
    axes["heatmap_ax"].set_xlabel(of_all(len(rows), shown.cells.n_obs))
    return axes
