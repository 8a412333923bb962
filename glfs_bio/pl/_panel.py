"""The cells by a panel, and its genes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import checks, codec
from .._anndata import columns, read, results
from .._anndata.expression import OFF, of_all_genes
from ..data import threads
from ..measures.cells import coordinates, dense, evenly
from ._figure import ABOVE, BLUE, SMALL, VERMILLION, colours, legend, name_rows, new_axes, plot

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from .._anndata.expression import Expression
    from .._typing import Array, Index

#: Most cells that are drawn, and that a UMAP is computed of: of more a sample, evenly over their
#: order.
_MOST_CELLS = 100_000
#: Area of all points of a map, in square points, as in scanpy, and of a point at most; points that
#: a vector file draws one by one; names in a column of a legend.
_AREA, _LARGEST, _MOST_VECTORS, _IN_COLUMN = 120_000.0, 60.0, 20_000, 20
#: Bars in a column, and genes in a row of a dot plot; area of the largest dot.
_PER_COLUMN, _PER_ROW, _DOT = 50, 40, 120.0
#: Genes that mark no type and are on in more than this share of the types have a group of their
#: own.
_SEVERAL, _MOST, _MUST_HAVE = "several types", 0.5, "must-have"
#: The least span of means, by which they are divided.
_TINY = np.finfo(float).tiny


@plot
def panel(
    adata: AnnData,
    color: str | Sequence[str] | None = None,
    *,
    key: str | None = None,
    basis: str | None = None,
    symbols: str | None = None,
    color_map: str | Colormap = "viridis",
    palette: str | Sequence[str] | None = None,
    show: bool | None = None,
    save: str | Path | None = None,
) -> list[Axes]:
    """Draw a UMAP of the cells by all genes, ``.obsm["X_umap"]``, next to that by the panel.

    Groups that are separate in all genes should be separate in the panel.  Of more than 100,000
    cells a sample is drawn, evenly over their order.

    Parameters
    ----------
    <adata with a selection>
    color : str or sequence of str, default None
        Column of ``.obs``, or gene, that colours the cells.  Several have a row each.
    <key of the selection>
    basis : str, default None
        Key of ``.obsm`` with coordinates of the cells by the panel, with or without ``X_``.  None:
        a UMAP is computed by scanpy from the genes of the panel.
    <shown symbols>
    <color_map> "viridis"
    <palette> the groups
    <show, save>

    <returned axes> a list of the axes, those by all genes and by the panel in turn

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> adata.obsm["X_panel"] = adata[:, adata.var["glfs_selected"]].X.toarray()[:, :2]
    >>> axes = glfs_bio.pl.panel(adata, "bulk_labels", basis="X_panel", show=False)
    >>> [ax.get_title() for ax in axes]
    ['all 765 genes', 'panel of 10 genes']
    """
    from matplotlib.lines import Line2D

    key = results.selection_key(adata, key)
    genes, layer = _genes_of(adata, key)
    shown = [color] if color is None or isinstance(color, str) else list(color)
    values = [_values(adata, column, layer) for column in shown]
    groups = [_groups(adata, of_cells, palette) for of_cells in values]
    of_genes = names_of(adata, symbols)
    rows, maps = _maps(adata, genes, layer, basis)
    sample = f", {len(rows):,} of {adata.n_obs:,} cells" if len(rows) < adata.n_obs else ""
    n_letters = max((len(group) for shades in groups for group in shades), default=0)
    n_columns = [-(-len(shades) // _IN_COLUMN) for shades in groups]
    width = 3.8 * len(maps) + max(n_columns) * (0.4 + 0.08 * n_letters)
    axes = new_axes(width, 3.8 * len(shown), len(shown), [1] * len(maps))
    for i, (column, row) in enumerate(zip(shown, axes, strict=True)):
        name = str(column if column in adata.obs else of_genes.get(column, ""))
        above = f"{name}, " if name and not groups[i] else ""
        for ax, (title, points) in zip(row, maps.items(), strict=True):
            cells = _scatter(ax, points, values[i].iloc[rows], groups[i], color_map)
            ax.set_title(f"{above}{title}{sample}", parse_math=False)
        if groups[i]:
            dot: dict[str, Any] = {"marker": "o", "ls": ""}
            dots = {group: Line2D([], [], color=shade, **dot) for group, shade in groups[i].items()}
            legend(row[-1], dots, name, ncols=n_columns[i])
        elif name:
            axes[0, 0].figure.colorbar(cells, cax=row[-1].inset_axes((1.03, 0, 0.04, 1)))
    return list(axes.flat)


def _genes_of(adata: AnnData, key: str) -> tuple[pd.Index, str | None]:
    """Return the genes of a selection, and the layer that they were selected in."""
    layer = codec.restored(results.record(adata, key).get("params", {}).get("layer"))
    return results.ranked(adata, key).index, layer


def names_of(adata: AnnData, symbols: str | None) -> pd.Series:
    """Return the names of genes to show."""
    return read.symbols(adata, symbols).fillna(adata.var_names.to_series()).astype(str)


def _values(adata: AnnData, column: str | None, layer: str | None) -> pd.Series:
    """Return a column of the cells, as categories or as numbers, or a gene of each cell."""
    if column is None:
        return pd.Series(pd.Categorical([None] * adata.n_obs))
    if column in adata.obs or column not in adata.var_names:
        values = read.find(adata, "obs", column, "color")
        return values if pd.api.types.is_float_dtype(values) else values.astype("category")
    matrix = read.columns(adata, adata.var_names.get_indexer([column]), layer)
    return pd.Series(dense(matrix).ravel(), index=adata.obs_names, name=column)


def _groups(adata: AnnData, values: pd.Series, palette: Any) -> dict[str, Any]:
    """Return the groups of the cells with their colours; nothing where values are numbers."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return {}
    from scanpy.plotting.palettes import default_20, default_102

    groups = values.cat.categories
    usual = [adata.uns.get(f"{values.name}_colors", ()), default_20, default_102]
    usual = [shades for shades in usual if len(shades) >= len(groups)] or [default_102]
    shades = colours(palette, list(np.resize(np.asarray(usual[0], dtype=object), len(groups))))
    present = values.value_counts() > 0
    return {str(name): shade for name, shade in zip(groups, shades, strict=True) if present[name]}


def embedding(adata: AnnData, basis: str) -> Array:
    """Return coordinates of the cells by their key in ``.obsm``, with or without ``X_``."""
    key = f"X_{basis}" if f"X_{basis}" in adata.obsm else basis
    return np.asarray(read.find(adata, "obsm", key, "basis"))[:, :2]


def _maps(
    adata: AnnData, genes: pd.Index, layer: str | None, basis: str | None
) -> tuple[Index, dict[str, Array]]:
    """Return a sample of cells, and their coordinates by all genes, if any, and by the panel."""
    points, title = {}, f"panel of {len(genes):,} genes"
    if "X_umap" in adata.obsm and len(genes) < adata.n_vars:
        points[f"all {adata.n_vars:,} genes"] = embedding(adata, "umap")
    if basis is not None:
        points[title] = embedding(adata, basis)
    of_cells = np.hstack([np.zeros((adata.n_obs, 1)), *points.values()])
    rows = np.flatnonzero(np.isfinite(of_cells).all(axis=1))
    rows = rows[evenly(len(rows), _MOST_CELLS)]
    maps = {name: where[rows] for name, where in points.items()}
    if basis is None:
        matrix = read.columns(adata, adata.var_names.get_indexer(genes), layer)
        maps[title] = _umap(coordinates(matrix)[rows])
    return rows, maps


@threads.one_thread_if_forked()
def _umap(points: Array) -> Array:
    """Return scanpy's UMAP of cells by their coordinates."""
    threads.need_numba("UMAP")
    import scanpy as sc

    cells = AnnData(np.asarray(points, dtype=np.float32))
    sc.pp.neighbors(cells, use_rep="X")
    sc.tl.umap(cells)
    return np.asarray(cells.obsm["X_umap"])


def _scatter(ax: Axes, points: Array, values: pd.Series, groups: Any, color_map: Any) -> Any:
    """Draw cells by their coordinates, the largest values on top."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        look: dict[str, Any] = {"c": [groups.get(str(group), "lightgrey") for group in values]}
    else:
        order = np.argsort(values.to_numpy(), kind="stable")
        points, look = points[order], {"c": values.to_numpy()[order], "cmap": color_map}
    size = min(_AREA / max(len(points), 1), _LARGEST)
    cells = ax.scatter(points[:, 0], points[:, 1], s=size, lw=0, plotnonfinite=True, **look)
    cells.set_rasterized(len(points) > _MOST_VECTORS)
    ax.set(xticks=[], yticks=[], xlabel="UMAP 1", ylabel="UMAP 2")
    return cells


@plot
def genes(
    adata: AnnData,
    n_genes: int | None = None,
    *,
    column: Literal["loss", "weight"] = "loss",
    key: str | None = None,
    symbols: str | None = None,
    ax: Axes | None = None,
    show: bool | None = None,
    save: str | Path | None = None,
) -> Axes | list[Axes]:
    """Draw the contribution of each gene of a panel, or its weight, the best gene first.

    The contribution, or loss, is the share of the target that is no longer preserved without the
    gene.  Contributions do not add up: what two genes say of the same cells is lost only without
    both.  Must-haves have another colour.

    Parameters
    ----------
    <adata with a selection>
    n_genes : int, default None
        Number of genes, the best first.  None: every selected gene, in columns of 50.
    column : {"loss", "weight"}, default "loss"
        - ``"loss"``: contribution; beside it the label that the gene supports most, if
          :func:`~glfs_bio.tl.explain_panel` has found it
        - ``"weight"``: weight β.  With ``objective="error"``, the default of
          :func:`~glfs_bio.pp.select_genes`, that in the convex relaxation, from 0 to 1.
    <key of the selection>
    <shown symbols>
    <ax>
    <show, save>

    <returned axes> the axes, or a list of them for several columns

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> ax = glfs_bio.pl.genes(adata, show=False)
    >>> len(ax.patches)
    10
    """
    from matplotlib.patches import Patch

    checks.one_of("column", column, ("loss", "weight"))
    key = results.selection_key(adata, key)
    entry = results.entry(adata, key, "selection")
    table = results.ranked(adata, key).head(n_genes or adata.n_vars)
    if column == "loss":
        label = f"loss of {results.preserved_of(entry)} without the gene"
        texts, ticks = table["loss"].map("{:.2%}".format), "{x:.1%}"
        texts = texts + _supported(adata, key, table.index)
    else:
        label = "weight β" if "objective" in entry else f"weight by {entry['method']}"
        texts, ticks = table["weight"].map("{:.2g}".format), "{x:.2g}"
    shown = pd.DataFrame({"length": table[column], "text": texts, "shade": BLUE, "mark": None})
    shown.loc[table["included"], ["shade", "mark"]] = VERMILLION
    width = 3.4 + 0.07 * max(map(len, texts))
    axes = bars(shown, names_of(adata, symbols), label, ticks, width, ax=ax)
    if table["included"].any():
        handles = {_MUST_HAVE: Patch(color=VERMILLION), "selected": Patch(color=BLUE)}
        legend(axes[-1], handles, **ABOVE)
    return axes[0] if len(axes) == 1 else axes


def bars(
    table: pd.DataFrame, names: pd.Series, label: str, ticks: str, *widths: float, ax: Any = None
) -> list[Axes]:
    """Draw genes of a table as bars: ``length``, ``shade``, ``text``, and ``mark`` of the name.

    They are in columns of at most 50, from the top of the first.  The first of the widths is that
    of a column, and the others those of empty axes, which are returned last.
    """
    from matplotlib.ticker import MaxNLocator

    n_columns = 1 if ax is not None else -(-len(table) // _PER_COLUMN)
    n_rows = -(-len(table) // n_columns)
    ratios = [widths[0]] * n_columns + list(widths[1:])
    height = max(0.17 * n_rows + 1, 4.0 if len(widths) > 1 else 0.0)
    axes = [ax] if ax is not None else list(new_axes(sum(ratios), height, 1, ratios).flat)
    low, high = np.fmin(table["length"].min(), 0.0), np.fmax(table["length"].max(), 0.0)
    for i, column in enumerate(axes[:n_columns]):
        rows = table.iloc[i * n_rows : (i + 1) * n_rows]
        column.barh(range(len(rows)), rows["length"], height=0.75, color=list(rows["shade"]))
        name_rows(column, names.loc[rows.index], rows["text"], rows["mark"])
        column.set(xlim=(1.05 * low, 1.05 * high or 1.0), ylim=(n_rows - 0.4, -0.6), xlabel=label)
        column.xaxis.set_major_locator(MaxNLocator(3))
        column.xaxis.set_major_formatter(ticks)
    return axes


def _supported(adata: AnnData, key: str, genes: pd.Index) -> pd.Series:
    """Return the label that each gene supports most, where an explanation of the panel says it."""
    entry = results.record(adata, f"{key}_explanation")
    table = entry.get("table", pd.DataFrame(columns=["gene"]))
    if "supports" not in table or set(table["gene"]) < set(genes):
        return pd.Series("", index=genes)
    first = table.set_index("gene")["supports"].str.partition(" (")[0]
    return "  " + first.reindex(genes).fillna("")


@plot
def dotplot(
    adata: AnnData,
    labels: str,
    *,
    n_genes: int | None = None,
    key: str | None = None,
    symbols: str | None = None,
    color_map: str | Colormap = "Reds",
    show: bool | None = None,
    save: str | Path | None = None,
) -> list[Axes]:
    """Draw the genes of a panel by cell type, as dots.

    The size of a dot is the share of the cells of a type that express the gene, and its colour the
    mean expression, scaled from 0 to 1 for each gene.  Genes stand under the type that they are
    markers of, as ``per_type`` of :class:`~glfs_bio.Limits` counts them, the most specific first,
    and after these others of which share × mean is largest there.  Genes of several types are
    markers of none, and on in most types, at least half as often as in any.  Must-haves have a
    star.

    Parameters
    ----------
    <adata with a selection>
    labels : str
        Column of ``.obs`` that groups the cells.
    n_genes : int, default None
        Number of genes, the best first.  None: every selected gene, in rows of 40.
    <key of the selection>
    <shown symbols>
    <color_map> "Reds"
    <show, save>

    <returned axes> a list of the axes, one for each row of genes

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> (ax,) = glfs_bio.pl.dotplot(adata, "bulk_labels", show=False)
    >>> len(ax.get_xticklabels())
    10
    """
    key = results.selection_key(adata, key)
    types = columns.labels(adata, labels)
    genes, layer = _genes_of(adata, key)
    genes = genes[:n_genes]
    rows = adata.var_names.get_indexer(genes)
    table, profiles = by_type(of_all_genes(adata, types, layer, rows), genes)
    shares, means = profiles.shares[:, 1:], profiles.means[:, 1:]
    means = means - means.min(axis=1, keepdims=True)
    means = means / np.maximum(means.max(axis=1, keepdims=True), _TINY)
    included = results.read_column(adata, key, "included").loc[table.index]
    names = names_of(adata, symbols).loc[table.index] + np.where(included, " *", "")
    n_rows = -(-len(table) // _PER_ROW)
    in_row = -(-len(table) // n_rows)
    height, above = 0.26 * len(types.names), 1.2 + 0.075 * max(map(len, table["type"]))
    axes = list(new_axes(0.26 * in_row + 4.5, n_rows * (height + above), n_rows).flat)
    for i, ax in enumerate(axes):
        row = slice(i * in_row, (i + 1) * in_row)
        x, y = np.meshgrid(np.arange(len(names[row])), np.arange(len(types.names)))
        look = {"cmap": color_map, "vmin": 0, "vmax": 1, "ec": "grey", "lw": 0.3}
        dots = ax.scatter(x, y, s=_DOT * shares[row].T, c=means[row].T, **look)
        name_rows(ax, types.names)
        ax.set_xticks(x[0], names[row], rotation=90, fontsize=SMALL, parse_math=False)
        ax.set_xlim(-0.6, in_row - 0.4)
        _name_groups(ax, list(table["type"][row]))
    if included.any():
        axes[-1].set_xlabel(f"* {_MUST_HAVE}")
    areas = {"20%": 0.2 * _DOT, "60%": 0.6 * _DOT, "100%": _DOT}
    grey = {name: axes[0].scatter([], [], s=area, color="grey") for name, area in areas.items()}
    legend(axes[0], grey, "cells with\nthe gene")
    top = {"shrink": height / (n_rows * (height + above) - above), "anchor": (0, 1)}
    axes[0].figure.colorbar(dots, ax=axes, label="mean expression,\nscaled by gene", **top)
    return axes


def by_type(profiles: Expression, genes: pd.Index) -> tuple[pd.DataFrame, Expression]:
    """Return the genes in the order to show them, with the ``type`` of each, and their profiles.

    The type is that of which a gene is a marker, else where share × mean is largest, else several
    types.  Within a type the most specific is first.
    """
    shares = profiles.shares[:, 1:]
    level = shares * np.maximum(profiles.linear[:, 1:], 0.0)
    elsewhere = (level / np.maximum(level.max(axis=1, keepdims=True), _TINY)).sum(axis=1)
    marks = profiles.marked
    on = shares >= OFF * shares.max(axis=1, keepdims=True)
    several = (marks < 0) & (on.mean(axis=1) > _MOST)
    of_type = np.where(marks >= 0, marks, level.argmax(axis=1))
    under = np.where(several, _SEVERAL, np.array(profiles.labels, dtype=object)[of_type])
    order = np.lexsort((elsewhere, marks < 0, of_type, several))
    return pd.DataFrame({"type": under}, index=genes).iloc[order], profiles.only(order)


def _name_groups(ax: Axes, groups: list[str]) -> None:
    """Name runs of columns above the axes, each with a line."""
    runs = pd.Series(range(len(groups))).groupby(groups, sort=False).agg(["min", "max"])
    above: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "clip_on": False}
    look: dict[str, Any] = {"rotation": 90, "ha": "center", "size": SMALL, "parse_math": False}
    for group, (first, last) in runs.iterrows():
        ax.hlines(1.01, first - 0.35, last + 0.35, color="grey", lw=1, **above)
        ax.text((first + last) / 2, 1.03, group, **look, **above)
