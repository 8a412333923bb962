"""The cells by a panel, and its genes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import checks, codec
from .._anndata import columns, read, results
from .._anndata.expression import OFF, Profiles, Types, are_logarithms, marked
from ..data import threads
from ..data.matrix import RowMatrix
from ..errors import NotFound, listed, short
from ..measures.cells import coordinates, dense, evenly
from ._figure import (
    BLUE,
    SMALL,
    VERMILLION,
    colour_map,
    colours,
    legend,
    name_rows,
    new_axes,
    plot,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

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
_SEVERAL, _MOST = "several types", 0.5
_MUST_HAVE = "must-have"


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

    See Also
    --------
    dotplot : Draw the genes by cell type.

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

    gradient = colour_map(color_map)
    key = results.selection_key(adata, key)
    genes, layer = _genes_of(adata, key, None)
    shown = [color] if color is None or isinstance(color, str) else list(color)
    values = [_values(adata, column, layer) for column in shown]
    groups = [_groups(adata, of_cells, palette) for of_cells in values]
    names = [_names(adata, symbols).get(column, "") for column in shown]
    maps = _maps(adata, genes, layer, basis)
    rows = np.flatnonzero(np.isfinite(np.hstack(list(maps.values()))).all(axis=1))
    rows = rows[evenly(len(rows), _MOST_CELLS)]
    sample = f", {len(rows):,} of {adata.n_obs:,} cells" if len(rows) < adata.n_obs else ""
    n_letters = max((len(group) for shades in groups for group in shades), default=0)
    n_columns = max(-(-len(shades) // _IN_COLUMN) for shades in groups)
    width = 3.8 * len(maps) + n_columns * (0.4 + 0.08 * n_letters)
    axes = new_axes(width, 3.8 * len(shown), len(shown), [1] * len(maps))
    for row, name, of_cells, shades in zip(axes, names, values, groups, strict=True):
        for ax, (title, points) in zip(row, maps.items(), strict=True):
            cells = _scatter(ax, points[rows], of_cells.iloc[rows], shades, gradient)
            above = f"{title}{sample}" if shades or not name else f"{name}, {title}{sample}"
            ax.set_title(above, parse_math=False)
        if shades:
            handles = [Line2D([], [], marker="o", ls="", color=shade) for shade in shades.values()]
            legend(row[-1], handles, list(shades), ncols=-(-len(shades) // _IN_COLUMN), title=name)
        elif name:
            axes[0, 0].figure.colorbar(cells, cax=row[-1].inset_axes((1.03, 0, 0.04, 1)))
    return list(axes.flat)


def _genes_of(adata: AnnData, key: str, n_genes: int | None) -> tuple[pd.Index, str | None]:
    """Return the first genes of a selection, and the layer that they were selected in."""
    checks.whole_number("n_genes", n_genes, at_least=1, or_none=True)
    genes = results.ranked(adata, key).index[:n_genes]
    return genes, codec.restored(adata.uns.get(key, {}).get("params", {}).get("layer"))


def _names(adata: AnnData, symbols: str | None) -> pd.Series:
    """Return the names to show of columns and of genes."""
    names = read.symbols(adata, symbols).fillna(adata.var_names.to_series())
    of_columns = pd.Series(adata.obs.columns, index=adata.obs.columns)
    return pd.concat([of_columns, names[~names.index.isin(of_columns.index)]]).astype(str)


def _values(adata: AnnData, column: str | None, layer: str | None) -> pd.Series:
    """Return a column of the cells, as categories or as numbers, or a gene of each cell."""
    if column is None:
        return pd.Series(pd.Categorical([None] * adata.n_obs))
    if column not in adata.obs and column not in adata.var_names:
        raise NotFound(
            f"`color={short(column)}` is neither in `adata.obs` nor a gene: choose from "
            f"{listed(adata.obs)}"
        )
    if column in adata.obs:
        values = read.find(adata, "obs", column, "color")
        return values if pd.api.types.is_float_dtype(values) else values.astype("category")
    matrix = read.columns(adata, adata.var_names.get_indexer([column]), layer)
    return pd.Series(dense(matrix).ravel(), index=adata.obs_names, name=column)


def _groups(adata: AnnData, values: pd.Series, palette: Any) -> dict[str, Any]:
    """Return the groups of the cells with their colours; nothing where values are numbers."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return {}
    from scanpy.plotting import palettes

    groups = values.cat.categories
    stored = adata.uns.get(f"{values.name}_colors", ())
    usual = stored if len(stored) >= len(groups) else palettes.default_20
    usual = usual if len(usual) >= len(groups) else palettes.default_102
    usual = np.resize(np.asarray(usual, dtype=object), len(groups))
    shades = colours(palette, list(usual))
    present = values.value_counts() > 0
    return {str(name): shade for name, shade in zip(groups, shades, strict=True) if present[name]}


def embedding(adata: AnnData, basis: str) -> Array:
    """Return coordinates of the cells by their key in ``.obsm``, with or without ``X_``."""
    key = f"X_{basis}" if f"X_{basis}" in adata.obsm else basis
    return np.asarray(read.find(adata, "obsm", key, "basis"))[:, :2]


def _maps(
    adata: AnnData, genes: pd.Index, layer: str | None, basis: str | None
) -> dict[str, Array]:
    """Return coordinates of the cells by all genes, if there are any, and by the panel.

    Cells that are not in a sample have NaN.
    """
    maps = {}
    if "X_umap" in adata.obsm and len(genes) < adata.n_vars:
        maps[f"all {adata.n_vars:,} genes"] = np.asarray(adata.obsm["X_umap"])[:, :2]
    if basis is not None:
        by_panel = embedding(adata, basis)
    else:
        matrix = read.columns(adata, adata.var_names.get_indexer(genes), layer)
        by_panel = _umap(coordinates(matrix), evenly(adata.n_obs, _MOST_CELLS))
    return {**maps, f"panel of {len(genes):,} genes": by_panel}


@threads.one_thread_if_forked
def _umap(where: Array, rows: Index) -> Array:
    """Return scanpy's UMAP of some of the cells, shape (n_cells, 2); NaN for the others."""
    threads.need_numba("UMAP")
    import scanpy as sc

    cells = AnnData(np.asarray(where[rows], dtype=np.float32))
    sc.pp.neighbors(cells, use_rep="X")
    sc.tl.umap(cells)
    points = np.full((len(where), 2), np.nan)
    points[rows] = cells.obsm["X_umap"]
    return points


def _scatter(
    ax: Axes, points: Array, values: pd.Series, groups: dict[str, Any], gradient: Colormap
) -> Any:
    """Draw cells by their coordinates, the largest values on top."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        look: dict[str, Any] = {"c": [groups.get(str(group), "lightgrey") for group in values]}
    else:
        order = np.argsort(values.to_numpy(), kind="stable")
        points, look = points[order], {"c": values.to_numpy()[order], "cmap": gradient}
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

    checks.whole_number("n_genes", n_genes, at_least=1, or_none=True)
    checks.one_of("column", column, ("loss", "weight"))
    key = results.selection_key(adata, key)
    entry = results.entry(adata, key, "selection")
    table = results.ranked(adata, key).head(adata.n_vars if n_genes is None else n_genes)
    names, values = _names(adata, symbols).loc[table.index], table[column]
    if column == "loss":
        label = f"loss of {results.preserved_of(entry)} without the gene"
        texts = values.map("{:.2%}".format) + _supported(adata, key, table.index)
    else:
        label = "weight β" if "objective" in entry else f"weight by {entry['method']}"
        texts = values.map("{:.2g}".format)
    axes = [ax] if ax is not None else columns_of_bars(len(table), 4.5)
    bars(axes, names, values, np.where(table["included"], VERMILLION, BLUE), texts)
    axes[0].set_xlabel(label)
    if table["included"].any():
        handles = [Patch(color=shade) for shade in (VERMILLION, BLUE)]
        above = {"loc": "lower right", "bbox_to_anchor": (1, 1), "ncols": 2}
        legend(axes[-1], handles, [_MUST_HAVE, "selected"], **above)
    return axes[0] if len(axes) == 1 else axes


def columns_of_bars(n_bars: int, width: float, *further: float) -> list[Axes]:
    """Return axes for columns of at most 50 bars, and further ones with their widths."""
    n_columns = -(-n_bars // _PER_COLUMN)
    height = max(0.17 * -(-n_bars // n_columns) + 1, 4.0 if further else 0.0)
    ratios = [width] * n_columns + list(further)
    return list(new_axes(sum(ratios), height, 1, ratios).flat)


def bars(
    axes: list[Axes], names: pd.Series, values: pd.Series, colors: Array, texts: Any = ()
) -> None:
    """Draw bars from the top of the first axes to the foot of the last, with texts beside."""
    from matplotlib.ticker import MaxNLocator

    n_rows = -(-len(values) // len(axes))
    low, high = min(values.min(), 0.0), max(values.max(), 0.0)
    for i, ax in enumerate(axes):
        rows = slice(i * n_rows, (i + 1) * n_rows)
        ax.barh(range(len(values[rows])), values[rows], height=0.75, color=colors[rows])
        name_rows(ax, list(names[rows]), list(texts[rows]))
        ax.set(xlim=(1.05 * low, 1.05 * high or 1.0), ylim=(n_rows - 0.4, -0.6))
        ax.xaxis.set_major_locator(MaxNLocator(3))


def _supported(adata: AnnData, key: str, genes: pd.Index) -> pd.Series:
    """Return the label that each gene supports most, where an explanation of the panel says it."""
    entry = adata.uns.get(f"{key}_explanation", {})
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

    See Also
    --------
    panel : UMAPs of the cells.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> (ax,) = glfs_bio.pl.dotplot(adata, "bulk_labels", show=False)
    >>> len(ax.get_xticklabels())
    10
    """
    gradient = colour_map(color_map)
    read.check(adata)
    codes, categories = columns.labels(adata, labels)
    key = results.selection_key(adata, key)
    names, layer = _genes_of(adata, key, n_genes)
    types = Types.of(codes, [str(category) for category in categories])
    data = RowMatrix(read.columns(adata, adata.var_names.get_indexer(names), layer), checked=True)
    table, profiles = by_type(data, names, types)
    means = pd.DataFrame(profiles.means[:, 1:], index=names)
    means = means.sub(means.min(axis=1), axis=0)
    means = means.div(means.max(axis=1), axis=0).fillna(0.0).loc[table.index]
    shares = pd.DataFrame(profiles.shares[:, 1:], index=names).loc[table.index]
    included = adata.var[f"{key}_included"].loc[table.index].astype(bool)
    called = _names(adata, symbols).loc[table.index] + np.where(included, " *", "")
    n_rows = -(-len(table) // _PER_ROW)
    in_row = -(-len(table) // n_rows)
    height, width = 0.26 * len(types.names), 0.26 * in_row
    above = 0.075 * max(map(len, table["type"]))
    axes = list(new_axes(width + 4.5, n_rows * (height + above + 1.2), n_rows).flat)
    for i, ax in enumerate(axes):
        columns_of_row = slice(i * in_row, (i + 1) * in_row)
        x, y = np.meshgrid(range(len(table[columns_of_row])), range(len(types.names)))
        size = _DOT * shares[columns_of_row].to_numpy().T
        look = {"cmap": gradient, "vmin": 0, "vmax": 1, "ec": "grey", "lw": 0.3}
        dots = ax.scatter(x, y, s=size, c=means[columns_of_row].to_numpy().T, **look)
        name_rows(ax, types.names)
        look = {"rotation": 90, "fontsize": SMALL, "parse_math": False}
        ax.set_xticks(range(len(table[columns_of_row])), called[columns_of_row], **look)
        ax.set_xlim(-0.6, in_row - 0.4)
        _name_groups(ax, list(table["type"][columns_of_row]))
    if included.any():
        axes[-1].set_xlabel(f"* {_MUST_HAVE}")
    sizes = {f"{share:.0%}": _DOT * share for share in (0.2, 0.6, 1.0)}
    handles = [axes[0].scatter([], [], s=size, color="grey") for size in sizes.values()]
    legend(axes[0], handles, list(sizes), title="cells with\nthe gene", title_fontsize=SMALL)
    top = {"shrink": 1 / n_rows, "anchor": (0, 1)}
    axes[0].figure.colorbar(dots, ax=axes, label="mean expression, scaled by gene", **top)
    return axes


def by_type(data: RowMatrix, genes: pd.Index, types: Types) -> tuple[pd.DataFrame, Profiles]:
    """Return the genes in the order to show them, with the ``type`` that each stands under.

    Their profiles, in the order of the panel, are second.  The type is that of which a gene is a
    marker, else where share × mean is largest, else several types.  Within a type the most specific
    is first.
    """
    profiles = Profiles.of(data, types, unlog=are_logarithms(data))
    shares = profiles.shares[:, 1:]
    level = shares * np.maximum(profiles.linear[:, 1:], 0.0)
    highest = level.max(axis=1, keepdims=True)
    elsewhere = (level / np.where(highest > 0, highest, 1.0)).sum(axis=1)
    marks = marked(profiles, types)
    on = shares >= OFF * shares.max(axis=1, keepdims=True)
    several = (marks < 0) & (on.mean(axis=1) > _MOST)
    of_type = np.where(marks >= 0, marks, level.argmax(axis=1))
    under = np.where(several, _SEVERAL, np.array(types.names, dtype=object)[of_type])
    order = np.lexsort((elsewhere, marks < 0, of_type, several))
    return pd.DataFrame({"type": under}, index=genes).iloc[order], profiles


def _name_groups(ax: Axes, groups: list[str]) -> None:
    """Name runs of columns above the axes, each with a line."""
    starts = [i for i, group in enumerate(groups) if i == 0 or group != groups[i - 1]]
    ends = [*starts[1:], len(groups)]
    above = ax.get_xaxis_transform()
    for start, end in zip(starts, ends, strict=True):
        ax.plot(
            [start - 0.35, end - 0.65],
            [1.01, 1.01],
            color="grey",
            lw=1,
            transform=above,
            clip_on=False,
        )
        look: dict[str, Any] = {"rotation": 90, "ha": "center", "va": "bottom", "parse_math": False}
        ax.text((start + end - 1) / 2, 1.03, groups[start], size=SMALL, transform=above, **look)
