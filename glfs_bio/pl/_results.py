"""The results of a panel: its curve, its labels, panels side by side, and its stability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import results
from ..errors import InvalidValue, short
from ..measures.catalogue import NUMBERS
from ._figure import (
    ABOVE,
    BLUE,
    GREEN,
    GREY,
    PURPLE,
    SMALL,
    VERMILLION,
    colours,
    legend,
    name_rows,
    new_axes,
    plot,
)
from ._panel import bars, names_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from anndata import AnnData
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

#: What readings of labels are called.
READINGS = {"knn": "nearest cells", "laprls": "LapRLS"}
#: Shares of a label below this have no number, and letters on colours darker than this are white.
_LEAST, _DARK = 0.005, 0.5


@plot
def curve(
    adata: AnnData,
    *,
    key: str | None = None,
    palette: str | Sequence[str] | None = None,
    ax: Axes | None = None,
    show: bool | None = None,
    save: str | Path | None = None,
) -> Axes:
    """Draw the structure preserved against the number of genes.

    The dashed line is the upper bound: no panel of that size preserves more.  Random panels of the
    same sizes, and accuracy and macro-F1 of labels, are drawn where the panel was evaluated.  The
    number of genes that was selected is dotted.  Several panels have a colour each.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with a selection or an evaluation.
    key : str, default None
        Key of a selection, or of a result of :func:`~glfs_bio.tl.evaluate_panel`.  None: that of
        the selection, else of the last evaluation.
    <palette> the structure preserved, random panels, accuracy and macro-F1, or several panels
    <ax>
    <show, save>

    <returned axes> the axes

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> ax = glfs_bio.pl.curve(adata, show=False)
    >>> ax.get_xlabel()
    'number of genes'
    """
    from matplotlib.ticker import MaxNLocator

    table, selected, target = _by_size(adata, key)
    panels, preserved = list(table["panel"].unique()), f"{target} preserved"
    shades = colours(palette, np.resize([BLUE, GREY, VERMILLION, PURPLE, GREEN], 4 + len(panels)))
    if len(panels) == 1:
        lines = [(preserved, "preserved", "value", "o-", shades[0])]
        lines.append(("upper bound", "preserved", "bound", "_--", shades[0]))
        lines.append(("random panels", "preserved", "random", "x:", shades[1]))
        for end, style in (("", "s-"), ("_laprls", "D-")):
            for measure, shade in (("accuracy", shades[2]), ("macro_f1", shades[3])):
                lines.append((measure + end, measure + end, "value", style, shade))
    else:
        lines = [(name, "preserved", "value", "o-", shades[i]) for i, name in enumerate(panels)]
    ax = ax or new_axes(7.2, 3.8)[0, 0]
    handles: dict[str, Any] = {}
    for name, measure, column, style, shade in lines:
        rows = table[(table["measure"] == measure) & table[column].notna()]
        rows = rows[rows["panel"] == name] if len(panels) > 1 else rows
        if len(rows):
            sizes, look = rows["n_genes"], {"color": shade, "ms": 6, "lw": 1.2}
            (handles[name],) = ax.plot(sizes, rows[column], style, **look)
    if selected is not None:
        handles[f"selected: {selected} genes"] = ax.axvline(selected, color=GREY, ls=":", zorder=0)
    ax.set(xlabel="number of genes", ylabel=preserved if len(panels) > 1 else "share")
    ax.set(xlim=(0, 1.03 * table["n_genes"].max() + 0.5), ylim=(0, 1.03))
    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    legend(ax, handles)
    return ax


def _by_size(adata: AnnData, key: str | None) -> tuple[pd.DataFrame, int | None, str]:
    """Return measures by number of genes, the number that was selected, and the target."""
    selection = results.selection_key(adata, key)
    if results.kind_of(adata.uns.get(selection)) != "selection":
        entry = _evaluation(adata, key)
        return entry["measures"], None, results.preserved_of(entry).removeprefix("the ")
    entry = results.entry(adata, selection, "selection", "preserved")
    shares = np.asarray(entry.get("curve", entry)["preserved"])
    optimality = pd.Series(np.ravel(entry.get("optimality", ())), dtype=float)
    table = pd.DataFrame({"n_genes": np.arange(1, len(shares) + 1), "value": shares})
    table["bound"] = (table["value"] / optimality).clip(upper=1.0)
    table = table.assign(random=np.nan, panel=selection, measure="preserved")
    evaluation = results.record(adata, f"{selection}_evaluation")
    if results.kind_of(evaluation) and results.why_outdated(adata, evaluation) is None:
        evaluated = evaluation["measures"].assign(panel=selection)
        of_selection = evaluated["measure"] == "preserved"
        evaluated.loc[of_selection, ["value", "bound"]] = np.nan  # the selection has them
        table = pd.concat([table, evaluated], ignore_index=True)
    return table, int(entry["n_genes"]), results.preserved_of(entry).removeprefix("the ")


def _evaluation(adata: AnnData, key: str | None, holds: str = "measures") -> dict[str, Any]:
    """Return what ``tl.evaluate_panel`` wrote; of no key the last that holds something."""
    newest = results.last(adata, "evaluation" if key else None, key, holds=holds)
    newest = newest if key or newest in adata.uns else "glfs_evaluation"
    is_several = results.kind_of(adata.uns.get(newest)) == "comparison"
    return results.current(adata, newest, "comparison" if is_several else "evaluation", holds)


@plot
def labels(
    adata: AnnData,
    *,
    key: str | None = None,
    palette: str | Sequence[str] | None = None,
    ax: Axes | None = None,
    show: bool | None = None,
    save: str | Path | None = None,
) -> Axes:
    """Draw the recall of each label, the best first, with F1 and the number of cells.

    The recall of a label is the share of its cells whose label is predicted.  Bars and circles are
    of the nearest cells, diamonds of LapRLS, if both have read the cells.  A label with a short bar
    and a diamond far to the right can be distinguished, but not by nearest cells.  Rare labels, of
    at most 5 % of the cells, have another colour.  Grey are those of so few cells that no panel
    could predict them well.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with what :func:`~glfs_bio.tl.evaluate_panel` wrote with `labels`.
    <key of the last> tl.evaluate_panel
    <palette> labels, rare labels, and labels of too few cells
    <ax>
    <show, save>

    <returned axes> the axes

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panel = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]
    >>> glfs_bio.tl.evaluate_panel(adata, panel, "bulk_labels")
    >>> ax = glfs_bio.pl.labels(adata, show=False)
    >>> len(ax.patches)
    10
    """
    from matplotlib.patches import Patch

    shades = colours(palette, [BLUE, VERMILLION, GREY])
    tables = _evaluation(adata, key, "per_label")["per_label"]
    tables = tables[tables["kind"] == "label"]
    by = "reading"
    if "panel" in tables:
        tables, by = tables[tables["reading"] == tables["reading"].iloc[0]], "panel"
    (name, table), *further = tables.replace({"reading": READINGS}).groupby(by, sort=False)
    table = table.sort_values("recall", ascending=False, kind="stable")
    state = np.where(table["too_few"], 2, table["rare"].astype(int))
    ax = ax or new_axes(8.2, 0.26 * len(table) + 1.2)[0, 0]
    rows = np.arange(len(table))
    ax.barh(rows, table["recall"], height=0.72, color=[shades[i] for i in state])
    kinds = (f"recall, {name}", "rare label", "too few cells")
    handles: dict[str, Any] = {kinds[i]: Patch(color=shades[i]) for i in sorted(set(state))}
    look: dict[str, Any] = {"ls": "", "mec": GREY, "ms": 5, "clip_on": False}
    (handles[f"F1, {name}"],) = ax.plot(table["f1"], rows, "o", mfc="white", **look)
    for marker, (label, rival) in zip("Ds^v<>", further, strict=False):
        recall = rival.set_index("label")["recall"].loc[table["label"]]
        (handles[f"recall, {label}"],) = ax.plot(recall, rows, marker, mfc="black", **look)
    texts = [f"{n:,} cells" for n in table["n_cells"]]
    name_rows(ax, table["label"].astype(str), texts, [shades[i] if i else None for i in state])
    ax.set(xlim=(-0.02, 1.05), xlabel="recall and F1")
    legend(ax, handles, **ABOVE)
    return ax


@plot
def confusion(
    adata: AnnData,
    *,
    key: str | None = None,
    reading: Literal["knn", "laprls"] | None = None,
    color_map: str | Colormap = "Blues",
    ax: Axes | None = None,
    show: bool | None = None,
    save: str | Path | None = None,
) -> Axes:
    """Draw the labels that the panel predicts for the cells of each label, as a heat map.

    Every row adds up to 100 % of the cells of a label.  The recall is on the diagonal.  Numbers are
    per cent; shares below 0.5 % have none.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with what :func:`~glfs_bio.tl.evaluate_panel` wrote with `labels`.
    <key of the last> tl.evaluate_panel
    reading : {"knn", "laprls"}, default None
        Prediction of the labels: by nearest cells, or by LapRLS.  None: the first of the
        evaluation.  The axis says which.
    <color_map> "Blues"
    <ax>
    <show, save>

    <returned axes> the axes

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panel = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]
    >>> glfs_bio.tl.evaluate_panel(adata, panel, "bulk_labels")
    >>> ax = glfs_bio.pl.confusion(adata, show=False)
    >>> ax.images[0].get_array().shape
    (10, 10)
    """
    table = _evaluation(adata, key, "confusion")["confusion"]
    readings = list(table["reading"].unique())
    by: str = readings[0] if reading is None else reading
    checks.one_of("reading", by, readings)
    table = table[table["reading"] == by]
    names = table["label"].unique()
    counts = table.pivot(index="label", columns="predicted", values="n_cells").loc[names, names]
    shares = counts.div(counts.sum(axis=1), axis=0)
    texts = np.where(shares < _LEAST, "", np.char.mod("%.0f", 100 * shares.to_numpy()))
    side = 0.34 * len(names) + 0.08 * max(map(len, names.astype(str))) + 1
    ax = ax or new_axes(side, side)[0, 0]
    _heat_map(ax, shares, texts, color_map)
    ax.set(xlabel=f"predicted label, % of the cells\n({READINGS[by]})", ylabel="label")
    return ax


@plot
def comparison(
    adata: AnnData,
    *,
    key: str | None = None,
    color_map: str | Colormap = "Blues",
    ax: Axes | None = None,
    show: bool | None = None,
    save: str | Path | None = None,
) -> Axes:
    """Draw the measures of panels as a heat map with their values.

    Colours are from 0 to 1, and the best panel by each measure is bold.  Measures that are better
    neither high nor low are below, without a colour.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with what :func:`~glfs_bio.tl.evaluate_panel` wrote.
    <key of the last> tl.evaluate_panel
    <color_map> "Blues"
    <ax>
    <show, save>

    <returned axes> the axes

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panels = {"ours": ["CD3D", "CD79A", "NKG7"], "theirs": ["CD3D", "LYZ", "GNLY"]}
    >>> glfs_bio.tl.evaluate_panel(adata, panels)
    >>> ax = glfs_bio.pl.comparison(adata, show=False)
    >>> [name.get_text() for name in ax.get_xticklabels()]
    ['ours', 'theirs', 'all genes']
    """
    table = _panels(adata, key)
    table = table.loc[sorted(table.index, key=lambda measure: measure in NUMBERS)]
    is_share = ~table.index.isin(NUMBERS)[:, None]
    values = table.to_numpy(dtype=float)
    texts = np.char.replace(np.char.mod("%.2f", values), ".00", "")
    texts[np.isnan(values)] = ""
    of_panels = np.where(table.columns == "all genes", -np.inf, values)
    best = is_share & (values == np.nanmax(of_panels, axis=1, keepdims=True))
    best &= best.sum(axis=1, keepdims=True) < np.isfinite(of_panels).sum(axis=1, keepdims=True)
    height = 0.28 * len(table) + 0.08 * max(map(len, table.columns)) + 0.8
    ax = ax or new_axes(0.7 * table.shape[1] + 3, height)[0, 0]
    shares = np.where(is_share, values, np.nan)
    _heat_map(ax, pd.DataFrame(shares, table.index, table.columns), texts, color_map)
    ax.set_xlabel("panel, the best in bold")
    for text, is_best in zip(ax.texts, best.ravel(), strict=True):
        text.set_fontweight("bold" if is_best else "normal")
    return ax


def _panels(adata: AnnData, key: str | None) -> pd.DataFrame:
    """Return the measures (rows) of panels and of all genes (columns)."""
    of_several = results.last(adata, holds="overlap")
    table = _evaluation(adata, key or (of_several if of_several in adata.uns else None))["measures"]
    with_size = table["panel"] + ", " + table["n_genes"].astype(str)
    is_one_size = table.groupby("panel")["n_genes"].transform("nunique") == 1
    panels = table["panel"].where(is_one_size, with_size)
    of_batches = table["measure"] == "preserved_in_batch"
    names = table["measure"].where(~of_batches, table["measure"] + ", " + table["reading"])
    table = table.assign(measure=names, panel=panels)
    wide = table.pivot(index="measure", columns="panel", values="value")
    wide = wide.loc[names.unique(), panels.unique()]
    of_all = table.groupby("measure")["all_genes"].max()
    return wide.assign(**{"all genes": of_all}).dropna(how="all").dropna(how="all", axis=1)


def _heat_map(ax: Axes, shares: pd.DataFrame, texts: Any, color_map: str | Colormap) -> None:
    """Draw shares from 0 to 1 with texts; a share that is no number has no colour."""
    from matplotlib import rcParams

    image = ax.imshow(shares.astype(float), vmin=0, vmax=1, cmap=color_map, aspect="auto")
    name_rows(ax, shares.index.astype(str))
    ax.set_ylim(len(shares) - 0.5, -0.5)
    names = shares.columns.astype(str)
    ax.set_xticks(range(len(names)), names, rotation=90, fontsize=SMALL, parse_math=False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    for (i, j), share in np.ndenumerate(shares):
        luminance = np.dot(image.cmap(share)[:3], (0.299, 0.587, 0.114))
        shade = "white" if luminance < _DARK else "black"
        shade = shade if np.isfinite(share) else rcParams["text.color"]
        ax.text(j, i, texts[i, j], ha="center", va="center", size=SMALL, color=shade)


@plot
def stability(
    adata: AnnData,
    n_genes: int | None = None,
    *,
    key: str | None = None,
    symbols: str | None = None,
    color_map: str | Colormap = "cividis",
    palette: str | Sequence[str] | None = None,
    show: bool | None = None,
    save: str | Path | None = None,
) -> list[Axes]:
    """Draw selection frequencies, and the Jaccard index of every two selections.

    Genes of the panel are blue and other genes grey.  Where the selection in `adata` is not the one
    that was examined, all bars are blue, and the title says how it differs.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with what :func:`~glfs_bio.tl.stability` wrote.
    n_genes : int, default None
        Number of genes, the most frequent first, in columns of 50; genes of no selection are left
        out, and so are those that were included.  None: as many as were chosen, in the mean.
    <key of the last> tl.stability
    <shown symbols>
    <color_map> "cividis"
    <palette> genes of the panel, and other genes
    <show, save>

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
    from matplotlib.patches import Patch

    inside, outside = colours(palette, [BLUE, GREY])
    key = results.last(adata, "stability", key)
    entry = results.entry(adata, key, "stability")
    frequency = results.frequency(adata, key)
    frequency = frequency[frequency > 0]
    if frequency.empty:
        raise InvalidValue(f"`key={short(key)}` is of a panel in which all genes were included")
    frequency = frequency.head(n_genes or results.n_chosen(entry))
    of, selected = str(entry.get("of")), np.ones(len(frequency), dtype=bool)
    different = results.difference(adata, of, entry) if of in adata.uns else None
    if of in adata.uns and different is None:
        selected = results.read_column(adata, of, "selected").loc[frequency.index].to_numpy()
    table = pd.DataFrame({"length": frequency, "text": "", "mark": None})
    table["shade"] = [inside if is_selected else outside for is_selected in selected]
    names = names_of(adata, symbols)
    *of_genes, matrix = bars(table, names, "selection frequency", "{x:.0%}", 3.0, 4.5)
    if different is not None:
        of_genes[0].set_title(f"not of {of!r}: {different}", fontsize=SMALL, parse_math=False)
    elif not selected.all():
        handles = {"in the panel": Patch(color=inside), "not in it": Patch(color=outside)}
        legend(of_genes[-1], handles, **ABOVE)
    image = matrix.imshow(entry["jaccard"], vmin=0, vmax=1, cmap=color_map)
    matrix.set(xticks=[], yticks=[], xlabel="subsamples", ylabel="subsamples")
    matrix.set_title(f"mean Jaccard index {entry['mean_jaccard']:.2f}")
    matrix.figure.colorbar(image, ax=matrix, label="Jaccard index", shrink=0.6)
    return [*of_genes, matrix]
