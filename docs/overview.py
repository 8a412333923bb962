"""The picture of the README: what 25 genes keep, and how it grows with the size of the panel.

``python docs/overview.py`` needs pbmc3k_2638.h5ad in the folder named by GLFS_BIO_DATA, and reads
the curves from benchmarks/results/peers.md.
"""

from __future__ import annotations

import os
from pathlib import Path

import anndata as ad
import scanpy as sc
from matplotlib import pyplot as plt
from matplotlib.ticker import FixedLocator, NullLocator
from PIL import Image

import glfs_bio
from glfs_bio.pl._figure import BLUE, GREY, MUTED

HERE = Path(__file__).parent
TABLE = HERE.parent / "benchmarks" / "results" / "peers.md"
N_GENES = 25
#: Row of the table, what it is called here, and its style; ours last, on top.
CURVES = {
    "HVG seurat_v3": ("highly variable\n(seurat_v3)", "#CC79A7", "v"),
    "Pearson residuals": ("Pearson residuals", "#E69F00", "s"),
    "GeneCover": ("GeneCover", GREY, "x"),
    "Spapros PCA": ("Spapros,\nby components", "#009E73", "^"),
    "geneBasis": ("geneBasis", "#56B4E9", "D"),
    "glfs_bio": ("glfs_bio", BLUE, "o"),
}


def cells() -> ad.AnnData:
    """Blood cells with a panel, and a UMAP of all genes."""
    adata = ad.read_h5ad(Path(os.environ["GLFS_BIO_DATA"]) / "pbmc3k_2638.h5ad")
    sc.pp.filter_genes(adata, min_cells=3)
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    sc.pp.pca(adata)
    sc.pp.neighbors(adata)
    sc.tl.umap(adata)
    glfs_bio.pp.select_genes(adata, N_GENES)
    return adata


def accuracies() -> dict[str, dict[int, float]]:
    """The first table: accuracy by size, without its interval, for the methods of the picture."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in TABLE.read_text(encoding="utf-8").split("\n\n")[1].splitlines()
    ]
    sizes = [int(size) for size in rows[0][1:]]
    return {
        name: {size: float(text.split()[0]) for size, text in zip(sizes, texts, strict=True)}
        for name, *texts in rows[2:]
        if name in CURVES
    }


def umaps(axes: list[plt.Axes], adata: ad.AnnData) -> None:
    """All genes, and the panel, with the names of the types below."""
    glfs_bio.pl.panel(adata, "label", ax=axes, show=False)
    handles = [
        plt.Line2D([], [], marker="o", ls="", color=colour, label=name)
        for name, colour in zip(adata.obs["label"].cat.categories, MUTED, strict=False)
    ]
    axes[1].get_legend().remove()
    axes[0].figure.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.01, 0.0),
        ncols=4,
        frameon=False,
        fontsize=9,
        columnspacing=1.0,
        handletextpad=0.1,
    )
    for ax, title in zip(axes, (f"{adata.n_vars:,} genes", f"{N_GENES} genes"), strict=True):
        ax.set_title(title, fontsize=13, fontweight="bold")
        ax.set(xlabel="", ylabel="")
        for edge in ax.spines.values():
            edge.set_color("#c0c0c0")


def curves(ax: plt.Axes) -> None:
    """Accuracy against size, each curve with its name."""
    found = accuracies()
    for row, (name, colour, marker) in CURVES.items():
        ours = row == "glfs_bio"
        sizes, values = list(found[row]), list(found[row].values())
        ax.plot(
            sizes,
            values,
            marker=marker,
            color=colour,
            label=name,
            lw=2.8 if ours else 1.4,
            ms=7 if ours else 5,
            zorder=3 if ours else 2,
        )
    ax.set(xscale="log", ylim=(0.57, 0.96), xlabel="genes in the panel (mean over five datasets)")
    ax.xaxis.set_major_locator(FixedLocator(sizes))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticklabels(map(str, sizes))
    ax.set_title("cells with the label of their neighbours", fontsize=13, fontweight="bold")
    ax.grid(axis="y", color="#e4e4e4")
    ax.spines[["top", "right"]].set_visible(False)
    handles, names = ax.get_legend_handles_labels()
    ax.legend(handles[::-1], names[::-1], frameon=False, fontsize=9, loc="lower right")


def main() -> None:
    """Draw, and write docs/overview.png with few colours, which makes it small."""
    figure = plt.figure(figsize=(13.0, 4.6))
    grid = figure.add_gridspec(
        1, 3, width_ratios=(1, 1, 1.25), left=0.01, right=0.99, top=0.92, bottom=0.17, wspace=0.1
    )
    axes = [figure.add_subplot(place) for place in grid]
    box = axes[2].get_position()
    axes[2].set_position((box.x0 + 0.03, box.y0 - 0.05, box.width - 0.03, box.height + 0.05))
    umaps(axes[:2], cells())
    curves(axes[2])
    target = HERE / "overview.png"
    figure.savefig(target, dpi=110)
    Image.open(target).convert("RGB").quantize(128).save(target, optimize=True)


if __name__ == "__main__":
    main()
