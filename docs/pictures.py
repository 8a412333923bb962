"""Pictures of the docs: four plots, and the beginning of a report.

``python docs/pictures.py [--browser chromium]`` needs pbmc3k_2638.h5ad in the folder named by
GLFS_BIO_DATA, and a Chromium for the picture of the report.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib import pyplot as plt
from overview import cells
from PIL import Image

import glfs_bio

if TYPE_CHECKING:
    from anndata import AnnData

STATIC = Path(__file__).parent / "_static"
LABELS = "label"
MARKERS = ["CD3D", "IL7R", "CD8A", "MS4A1", "CD79A", "NKG7", "GNLY", "LYZ", "FCGR3A", "PPBP"]
WIDTH = 1400
#: Rows of the picture of plots: functions of ``glfs_bio.pl``, and what each answers.
PLOTS = (
    {"curve": "How many genes?", "labels": "Which types are separated?"},
    {"comparison": "Which panel is better?", "unexplained": "Which cells are unexplained?"},
)


def evaluated() -> AnnData:
    """Blood cells with a panel of 25 genes and its evaluation."""
    adata = cells()
    glfs_bio.pp.select_genes(adata, 25)
    glfs_bio.tl.curve(adata, 100, LABELS)
    glfs_bio.tl.evaluate_panel(adata, "glfs", LABELS)
    glfs_bio.tl.explain_panel(adata, "glfs", LABELS)
    best = list(adata.var["glfs_rank"].nsmallest(len(MARKERS)).index)
    panels = {"ten markers": MARKERS, "glfs_bio, ten genes": best}
    glfs_bio.tl.compare_panels(adata, panels, LABELS)
    return adata


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
    """Draw them into docs/_static."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--browser", default="chromium")
    options = parser.parse_args()
    adata = evaluated()
    plots(adata)
    report(adata, options.browser)


if __name__ == "__main__":
    main()
