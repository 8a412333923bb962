"""Pictures of the docs: what 25 genes keep, four plots, and the beginning of a report.

``python docs/pictures.py [--browser chromium]`` needs pbmc3k_2638.h5ad in the folder named by
GLFS_BIO_DATA, a Chromium for the picture of the report, and the curves of
benchmarks/results/peers.md.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import tempfile
from pathlib import Path

import scanpy as sc
from anndata import AnnData, read_h5ad
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


def cells() -> AnnData:
    """Blood cells with a panel, and a UMAP of all genes."""
    adata = read_h5ad(Path(os.environ["GLFS_BIO_DATA"]) / "pbmc3k_2638.h5ad")
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


def umaps(axes: list[plt.Axes], adata: AnnData) -> None:
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


def overview(adata: AnnData) -> None:
    """What 25 genes keep, and accuracy by size; few colours make the file small."""
    figure = plt.figure(figsize=(13.0, 4.6))
    grid = figure.add_gridspec(
        1, 3, width_ratios=(1, 1, 1.25), left=0.01, right=0.99, top=0.92, bottom=0.17, wspace=0.1
    )
    axes = [figure.add_subplot(place) for place in grid]
    box = axes[2].get_position()
    axes[2].set_position((box.x0 + 0.03, box.y0 - 0.05, box.width - 0.03, box.height + 0.05))
    umaps(axes[:2], adata)
    curves(axes[2])
    target = HERE / "overview.png"
    figure.savefig(target, dpi=110)
    Image.open(target).convert("RGB").quantize(128).save(target, optimize=True)


STATIC = HERE / "_static"
LABELS = "label"
MARKERS = ["CD3D", "IL7R", "CD8A", "MS4A1", "CD79A", "NKG7", "GNLY", "LYZ", "FCGR3A", "PPBP"]
WIDTH = 1400
#: Rows of the picture of plots: functions of ``glfs_bio.pl``, and what each answers.
#: Numbers of first genes of the curve.
SIZES = (5, 10, 15, 20, 25)
PLOTS = (
    {"curve": "How many genes?", "labels": "Which types are separated?"},
    {"comparison": "Which panel is better?", "unexplained": "Which cells are unexplained?"},
)


def evaluate(adata: AnnData) -> None:
    """Evaluate the panel, and compare it with markers."""
    glfs_bio.tl.evaluate_panel(adata, "glfs", LABELS, sizes=SIZES, measures=["default", "laprls"])
    glfs_bio.tl.explain_panel(adata, "glfs", LABELS)
    best = list(adata.var["glfs_rank"].nsmallest(len(MARKERS)).index)
    panels = {"ten markers": MARKERS, "glfs_bio, ten genes": best}
    glfs_bio.tl.evaluate_panel(adata, panels, LABELS, measures=["default", "laprls"])


def drawn(adata: AnnData, name: str, question: str) -> Image.Image:
    """A plot of ``glfs_bio.pl`` under the question that it answers."""
    title = f"{question}  pl.{name}"
    figure = getattr(glfs_bio.pl, name)(adata, title=title, show=False).figure
    file = io.BytesIO()
    figure.savefig(file, dpi=150, bbox_inches="tight", pad_inches=0.25)
    plt.close(figure)
    return Image.open(file).convert("RGB")


def plots(adata: AnnData) -> None:
    """Rows of plots, each as wide as the picture."""
    rows = []
    for questions in PLOTS:
        images = [drawn(adata, name, question) for name, question in questions.items()]
        height = round(WIDTH / sum(image.width / image.height for image in images))
        row = Image.new("RGB", (WIDTH, height), "white")
        left = 0
        for image in images:
            width = round(image.width * height / image.height)
            row.paste(image.resize((width, height), Image.Resampling.LANCZOS), (left, 0))
            left += width
        rows.append(row)
    whole = Image.new("RGB", (WIDTH, sum(row.height for row in rows)), "white")
    top = 0
    for row in rows:
        whole.paste(row, (0, top))
        top += row.height
    whole.save(STATIC / "plots.png", optimize=True)


def report(adata: AnnData, browser: str) -> None:
    """The beginning of the page that ``io.write_report`` writes."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        glfs_bio.io.write_report(adata, page, labels=LABELS, title="A panel of 25 genes for blood")
        target = STATIC / "report.png"
        subprocess.run(  # noqa: S603 (the browser is the caller's)
            [
                browser,
                "--headless",
                "--no-sandbox",
                "--hide-scrollbars",
                "--window-size=1100,1250",
                f"--screenshot={target}",
                page.as_uri(),
            ],
            check=True,
            capture_output=True,
        )
    # few colours make it small
    Image.open(target).convert("RGB").quantize(128).save(target, optimize=True)


def main() -> None:
    """Draw overview.png, and the others into _static."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--browser", default="chromium")
    options = parser.parse_args()
    adata = cells()
    overview(adata)
    evaluate(adata)
    plots(adata)
    report(adata, options.browser)


if __name__ == "__main__":
    main()
