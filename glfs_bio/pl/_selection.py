"""Plots of a selection: its genes, its path, its stability, and gene sets enriched in it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from .._anndata import results, stale
from ..errors import InvalidValue
from ._evaluation import preserved_label
from ._figure import (
    BLUE,
    GREY,
    LOOK,
    VERMILLION,
    colour_bar,
    colour_map,
    colours,
    extent,
    gene_names,
    ink,
    legend,
    name_places,
    plot,
    right_axis,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd
    from anndata import AnnData
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.lines import Line2D

    from .._typing import Array
    from ._figure import Drawing

#: Bars of genes in a column: so many, and more rather than a further column where there are four.
_PER_COLUMN, _MOST_PER_COLUMN, _COLUMNS = 13, 50, 4
#: Inches of a column, of the only one, of a bar with the space to the next, of what stands above
#: and below the bars, and of the height of a figure at least.
_COLUMN, _ALONE, _BAR, _MARGIN, _LEAST = 3.0, 4.4, 0.17, 0.9, 2.4
#: Room for the numbers beside bars, as a share of the largest bar.
_NUMBERS = 0.22
#: Letters of a line above the bars, and of a line of the name of a gene set.
_ABOVE, _OF_TERM = 34, 42
#: Gene sets are significant up to this adjusted p-value.
_LEVEL = 0.05


@plot
def contributions(
    adata: AnnData,
    n_genes: int | None = None,
    *,
    key: str | None = None,
    symbols: str | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    palette: str | Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Drawing[Axes | list[Axes]]:
    """Draw the contribution of each selected gene, the best gene first.

    The contribution, or loss, is the share of the target that is no longer preserved without the
    gene.  Contributions do not add up: what two genes say of the same cells is lost only without
    both.

    Parameters
    ----------
    <adata with a selection>
    <genes in columns>
    <key of the selection>
    <shown symbols>
    <ax>
    <title>
    <palette> the bars
    <figsize, show, save>

    <returned axes> the axes, or a list of them for several columns

    See Also
    --------
    weights : Draw the weights of the relaxation.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> ax = glfs_bio.pl.contributions(adata, show=False)
    >>> len(ax.patches)
    10
    """
    key = results.selection_key(adata, key)
    best = _best(adata, key, n_genes)
    target = results.preserved_of(results.entry(adata, key, "selection"))
    texts = [_percent(loss) for loss in best["loss"]]
    label = f"contribution: loss of {target} without the gene"
    bars = _of_genes(
        adata, best["loss"], label, symbols, palette, alone=ax is not None, texts=texts
    )
    return (yield from bars)


@plot
def weights(
    adata: AnnData,
    n_genes: int | None = None,
    *,
    key: str | None = None,
    symbols: str | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    palette: str | Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Drawing[Axes | list[Axes]]:
    """Draw the weight β of each selected gene, the best gene first.

    With ``objective="error"``, the default of ``select_genes``, that is the weight in the convex
    relaxation, from 0 to 1, which gives the bound: most genes of a good panel have weight 1.  With
    the objectives of the original GLFS and with other methods it is the weight that the method gave
    the gene.  The axis says which.

    Parameters
    ----------
    <adata with a selection>
    <genes in columns>
    <key of the selection>
    <shown symbols>
    <ax>
    <title>
    <palette> the bars
    <figsize, show, save>

    <returned axes> the axes, or a list of them for several columns

    See Also
    --------
    contributions : Draw what is lost without each gene.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> ax = glfs_bio.pl.weights(adata, show=False)
    >>> len(ax.patches)
    10
    """
    key = results.selection_key(adata, key)
    best = _best(adata, key, n_genes)
    entry = results.entry(adata, key, "selection")
    if entry.get("objective") == "error":
        label = "weight β of the relaxation"
    else:
        label = "weight β" if "objective" in entry else f"weight by {entry['method']}"
    return (
        yield from _of_genes(adata, best["weight"], label, symbols, palette, alone=ax is not None)
    )


def _of_genes(
    adata: AnnData,
    values: pd.Series,
    label: str,
    symbols: str | None,
    palette: Any,
    *,
    alone: bool,
    texts: Sequence[str] = (),
) -> Drawing[Axes | list[Axes]]:
    """Draw a bar for each gene, in columns, or in the axes that are `alone`."""
    (colour,) = colours(palette, BLUE)
    names = gene_names(adata, values.index, symbols)
    axes = yield _columns(len(values), several=not alone)
    _bars(axes, list(names), values.to_numpy(), label, colour, texts=texts)
    return axes[0] if len(axes) == 1 else axes


def _best(adata: AnnData, key: str, n_genes: int | None) -> pd.DataFrame:
    """The first genes of a selection."""
    checks.whole_number("n_genes", n_genes, at_least=1, or_none=True)
    return results.ranked(adata, key).head(adata.n_vars if n_genes is None else n_genes)


def _percent(share: float) -> str:
    """A share with two digits that matter, or the smallest that is told from none."""
    if 0 < share < 1e-4:
        return "< 0.01 %"
    return f"{float(f'{100 * share:.2g}'):g} %"


def _columns(
    n_bars: int, *, several: bool, per_column: int = _PER_COLUMN
) -> tuple[list[float], float]:
    """Widths of the columns, and their height, of so many bars; in inches."""
    few = min(-(-n_bars // per_column), _COLUMNS)
    number = max(few, -(-n_bars // _MOST_PER_COLUMN)) if several else 1
    height = max(_BAR * min(-(-n_bars // number), _MOST_PER_COLUMN) + _MARGIN, _LEAST)
    return [_ALONE] if number == 1 else [_COLUMN] * number, height


def _bars(
    axes: Sequence[Axes],
    names: Sequence[str],
    values: Array,
    label: str,
    colour: Any,
    *,
    texts: Sequence[str] = (),
) -> None:
    """Draw bars from the top of the first column to the foot of the last, with texts beside."""
    from matplotlib import ticker

    n_rows = -(-len(names) // len(axes))
    tiny = np.finfo(float).tiny
    lowest, largest = min(float(np.min(values)), 0.0), max(float(np.max(values)), 0.0)
    largest = largest if largest > lowest else tiny
    for i, ax in enumerate(axes):
        part = slice(i * n_rows, (i + 1) * n_rows)
        bars = ax.barh(np.arange(len(names[part])), values[part], height=0.75, color=colour)
        ax.set(xlim=(1.05 * lowest, 1.05 * largest), xlabel=label)
        ax.spines[["top", "right"]].set_visible(False)
        size = name_places(ax, names[part], n_places=n_rows)
        if texts:
            ax.set_xlim(right=(1 + _NUMBERS) * largest)
            ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.3g} %")
            ax.xaxis.set_major_locator(ticker.MaxNLocator(4))
            if len(ax.get_yticks()) == len(bars):  # where names are left out, so are numbers
                ax.bar_label(bars, texts[part], padding=3, fontsize=size)


@plot
def path(
    adata: AnnData,
    *,
    key: str | None = None,
    ax: Axes | Sequence[Axes] | None = None,
    title: str | None = None,
    palette: str | Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Drawing[Axes | list[Axes]]:
    """Draw the structure preserved by the first genes of a selection.

    The selected number is marked.  Where it was chosen automatically, the curve goes on to larger
    panels.  A second curve is the optimality, a lower bound.  Selections with an objective of the
    original GLFS have this plot on the right.  On the left, as in [1]_, are the number of genes and
    the objective against λ, the selected λ marked.

    Parameters
    ----------
    <adata with a selection>
    <key of the selection>
    ax : matplotlib.axes.Axes or sequence of two, default None
        Axes to draw in: two for an objective of the original GLFS.  None: a new figure.
    <title>
    <palette> the first and the second curve
    <figsize, show, save>

    <returned axes> the axes, or a list of two

    References
    ----------
    .. [1] B. Wang and A. Goldenberg, Gradient-based Laplacian Feature Selection, Figure 2A.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> ax = glfs_bio.pl.path(adata, show=False)
    >>> ax.get_xlabel()
    'number of genes'
    """
    first, second = colours(palette, BLUE, VERMILLION)
    key = results.selection_key(adata, key)
    entry = results.entry(adata, key, "selection", "preserved")
    # only the objectives of the original GLFS walk along λ
    plots = [_along_lambda, _along_size] if "path" in entry else [_along_size]
    axes = yield [5.2] * len(plots), 3.8
    for draw, where in zip(plots, axes, strict=True):
        draw(where, entry, first, second)
    return axes[0] if len(axes) == 1 else axes


def _along_lambda(ax: Axes, entry: dict[str, Any], first: Any, second: Any) -> None:
    walk, count = entry["path"], int(entry["n_genes"])
    right = right_axis(ax, "objective", second)
    genes = ax.plot(walk["lam"], walk["n_genes"], "o-", ms=3.5, color=first, label="genes")
    value = right.plot(
        walk["lam"], walk["objective"], "s--", ms=2.5, lw=1, color=second, label="objective"
    )
    label = f"selected: {count} genes at λ = {entry['lam']:.2g}"
    selected = ax.axvline(entry["lam"], color=ink(), ls=":", label=label)
    ax.plot(entry["lam"], count, "D", ms=7, mfc="none", mec=ink())
    ax.set(xscale="log", xlabel="λ", ylim=(0, 1.07 * max(*walk["n_genes"], count)))
    _ticks(ax, float(max(walk["lam"]) / min(walk["lam"])))
    ax.set_ylabel("genes with a weight", color=first)
    right.set_ylim(bottom=0)
    ax.spines["top"].set_visible(False)
    legend(ax, [*genes, *value, selected])


def _along_size(ax: Axes, entry: dict[str, Any], first: Any, second: Any) -> None:
    """Panels of 1, 2, … genes; larger ones than the selected too, where they were tried."""
    from matplotlib import ticker

    count = int(entry["n_genes"])
    preserved = np.asarray(entry["curve"]["preserved"] if "curve" in entry else entry["preserved"])
    lines = _shares(ax, preserved, "o-", first, preserved_label(entry))
    best = np.asarray(entry.get("optimality", np.nan))
    if np.isfinite(best).any():
        lines += _shares(ax, best, "s--", second, "optimality (lower bound)")
    lines.append(ax.axvline(count, color=ink(), ls=":", label=f"selected: {count} genes"))
    ax.plot(count, preserved[count - 1], "D", ms=7, mfc="none", mec=ink())
    ax.set(xlabel="number of genes", ylabel="share", ylim=(0, 1.05))
    ax.set_xlim(0, 1.03 * len(preserved) + 0.2)
    ax.xaxis.set_major_locator(ticker.MaxNLocator("auto", integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    legend(ax, lines)


def _shares(ax: Axes, shares: Array, style: str, colour: Any, label: str) -> list[Line2D]:
    sizes = np.arange(1, len(shares) + 1)
    return ax.plot(sizes, shares, style, ms=2.5, lw=1, color=colour, label=label)


def _ticks(ax: Axes, span: float) -> None:
    """As many names along λ as there is room for."""
    from matplotlib import ticker

    subs = (1, 2, 3, 5) if span < 10 else (1, 3) if span < 1e2 else (1,)
    ax.xaxis.set_major_locator(ticker.LogLocator(subs=subs, numticks=7))
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda lam, _: f"{lam:.0e}"))
    ax.xaxis.set_minor_formatter(ticker.NullFormatter())


@plot
def stability(
    adata: AnnData,
    n_genes: int | None = None,
    *,
    key: str | None = None,
    symbols: str | None = None,
    ax: Sequence[Axes] | None = None,
    title: str | None = None,
    palette: str | Sequence[str] | None = None,
    cmap: str | Colormap = "cividis",
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Drawing[list[Axes]]:
    """Draw selection frequencies, and the pairwise Jaccard indices of the selections.

    Genes of the panel are blue and other genes grey.  Where the selection in `adata` is not the one
    that was examined, all bars are blue, and the title says how it differs.

    Parameters
    ----------
    <adata with results> tl.stability
    n_genes : int, default None
        Number of genes, the most frequent first, in columns of at most 50; genes of no selection
        are left out, and so are those that were included.  None: as many as were chosen, in the
        mean.
    <key of the last> tl.stability
    <shown symbols>
    ax : sequence of two matplotlib.axes.Axes, default None
        Axes to draw bars and matrix in.  None: a new figure.
    <title>
    <palette> genes of the panel, and other genes
    <cmap> "cividis"
    <figsize, show, save>

    <returned axes> a list of the axes, the matrix last

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> glfs_bio.tl.stability(adata, n_resamples=3)
    >>> bars, matrix = glfs_bio.pl.stability(adata, show=False)
    >>> len(bars.get_yticklabels())
    10
    """
    inside, outside = colours(palette, BLUE, GREY)
    of_indices = colour_map(cmap)
    checks.whole_number("n_genes", n_genes, at_least=1, or_none=True)
    key = results.last(adata, "stability", key)
    entry = results.entry(adata, key, "stability")
    frequency = results.frequency(adata, key)
    frequency = frequency[frequency > 0]
    if frequency.empty:
        raise InvalidValue("key", key, "is of a panel in which all genes were included")
    frequency = frequency.head(results.n_chosen(entry) if n_genes is None else n_genes)
    names = gene_names(adata, frequency.index, symbols)
    widths, height = _columns(len(frequency), several=ax is None, per_column=_MOST_PER_COLUMN)
    axes = yield [*widths, 3.2], max(height, 4.2)
    *bars, last = axes
    _bars(bars, list(names), frequency.to_numpy(), "selection frequency", inside)
    if entry.get("of") in adata.uns:
        _mark(bars, adata, entry["of"], key, frequency.index, (inside, outside))
    _matrix(last, entry["jaccard"], entry["mean_jaccard"], of_indices)
    return axes


def _mark(
    axes: Sequence[Axes],
    adata: AnnData,
    key: str,
    stability_key: str,
    genes: pd.Index,
    chosen: Sequence[Any],
) -> None:
    """Distinguish the genes of the panel, or say why the panel is another."""
    from matplotlib.patches import Patch

    different = stale.difference(adata, key, adata.uns[stability_key])
    if different is not None:
        text = f"not of the selection under {key!r}: {different}"
        axes[0].set_title(textwrap.fill(text, _ABOVE), fontsize="small", parse_math=False)
        return
    selected = adata.var[f"{key}_selected"].loc[genes].astype(bool)
    bars = [bar for ax in axes for bar in ax.patches]
    for bar, inside in zip(bars, selected, strict=True):
        bar.set_color(chosen[0] if inside else chosen[1])
    if not selected.all():
        labels = dict(zip(("in the panel", "not in it"), chosen, strict=True))
        legend(axes[0], [Patch(color=colour, label=label) for label, colour in labels.items()])


def _matrix(ax: Axes, jaccard: Array, mean: float, cmap: Colormap) -> None:
    image = ax.imshow(jaccard, vmin=0, vmax=1, cmap=cmap)
    ax.set(xlabel="subsample", ylabel="subsample", title=f"mean Jaccard index {mean:.2f}")
    places = np.arange(0, len(jaccard), max(len(jaccard) // 5, 1))
    ax.set_xticks(places, places + 1)
    ax.set_yticks(places, places + 1)
    ax.set_anchor("N")
    colour_bar(image, ax, "Jaccard index", location="bottom", shrink=0.9, pad=0.05, aspect=15)


@plot
def enrichment(
    adata: AnnData,
    n_terms: int = 15,
    *,
    key: str | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    palette: str | Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
    show: bool | None = None,
    save: str | Path | bool | None = None,
) -> Drawing[Axes]:
    """Bars of the adjusted p-values of the most significant gene sets, with their overlap.

    Sets with an adjusted p-value above 0.05 are grey.

    Parameters
    ----------
    <adata with results> tl.enrich
    n_terms : int, default 15
        Maximum number of gene sets.  Sets without a selected gene are left out.
    <key of the last> tl.enrich
    <ax>
    <title>
    <palette> significant and other gene sets
    <figsize, show, save>

    <returned axes> the axes

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=20)
    >>> sets = {"MHC II": ["HLA-DRA", "HLA-DRB1", "HLA-DPA1"], "T cells": ["CD3D", "CD3E"]}
    >>> glfs_bio.tl.enrich(adata, sets)
    >>> ax = glfs_bio.pl.enrichment(adata, show=False)
    >>> len(ax.patches)
    2
    """
    checks.whole_number("n_terms", n_terms, at_least=1)
    chosen = colours(palette, BLUE, GREY)
    key = results.last(adata, "enrichment", key)
    table = results.current(adata, key, "enrichment")["table"]
    overlapping = table[table["genes"].fillna("") != ""]
    table = (table if overlapping.empty else overlapping).head(n_terms)
    (ax,) = yield [7.5], 0.36 * len(table) + 1.0
    from matplotlib import rcParams

    prerank = "nes" in table  # its score has a sign, a p-value none
    values = table["nes"] if prerank else -np.log10(np.maximum(table["pvals_adj"], 1e-300))
    hits = table["genes"].str.split(";").str.len() if prerank else table["n_overlap"]
    counts = [f"{hit}/{size}" for hit, size in zip(hits, table["n_set"], strict=True)]
    ax.set_xlabel("normalised enrichment score" if prerank else "−log₁₀ adjusted p-value")
    ax.spines[["top", "right"]].set_visible(False)
    width, height = extent(ax)
    room = height / (LOOK.line * (len(table) + 0.2))
    size = max(min(LOOK.small * rcParams["font.size"], room), LOOK.smallest_font)
    letters = max(min(_OF_TERM, int(width / (LOOK.letter * size))), 8)
    n_lines = 2 if 2 * size <= room else 1
    place = np.arange(len(table))
    colour = [chosen[int(p > _LEVEL)] for p in table["pvals_adj"]]
    bars = ax.barh(place, values, height=0.7, color=colour)
    ax.bar_label(bars, counts, padding=3, fontsize=size)
    names = [_wrapped(term, letters, n_lines) for term in table.index]
    ax.set_yticks(place, names, fontsize=size, parse_math=False)
    ax.set(ylim=(len(table) - 0.4, -0.6))
    ax.margins(x=0.15)
    ax.tick_params(axis="y", length=0)
    return ax


def _wrapped(term: str, letters: int, n_lines: int) -> str:
    whole = textwrap.shorten(term, letters * n_lines, placeholder=" …")
    return textwrap.fill(whole, letters, max_lines=n_lines, placeholder=" …")
