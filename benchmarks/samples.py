"""What samples of many cells say, beside all cells.

    python -m benchmarks.samples [--datasets NAME ...]

Beyond some numbers of cells a measure is of a sample, which a constant of the package sizes.  Here
each constant is set to a part of the cells, one at a time, and the measures that it decides are
compared with those of all.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anndata as ad
import pandas as pd

import glfs_bio
from glfs_bio.estimators import _glfs_laprls as classifiers
from glfs_bio.measures import cells as of_cells
from glfs_bio.measures import labels

from .data import KANG, LABEL, prepared, read
from .speed import cells_file
from .speed.calls import bare
from .tables import parser, say, section, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from anndata import AnnData

N_GENES = 50
#: Of the cells a sample is a share, as 20,000 are of 100,000.
SHARE = 5
MANY = 10**9


@dataclass(frozen=True)
class Sample:
    """A constant that sizes a sample, and what depends on it, by their keys in a result."""

    module: ModuleType
    constant: str
    found: Callable[[AnnData], dict[str, Any]]
    measures: tuple[str, ...]

    @contextmanager
    def of(self, n_cells: int) -> Iterator[None]:
        """Set the constant."""
        before = getattr(self.module, self.constant)
        setattr(self.module, self.constant, n_cells)
        try:
            yield
        finally:
            setattr(self.module, self.constant, before)


def evaluated(adata: AnnData) -> dict[str, Any]:
    """Evaluate a panel of cells that nothing is kept of."""
    cells = bare(adata)
    glfs_bio.pp.select_genes(cells, N_GENES)
    entry = glfs_bio.tl.evaluate_panel(cells, "glfs", LABEL, measures="all", inplace=False)
    return dict(entry["measures"].set_index("measure")["value"])


def classified(adata: AnnData) -> dict[str, Any]:
    """Choose genes and their number on one half of the cells, and predict the other."""
    cells = bare(adata)
    first, second = cells[::2].copy(), cells[1::2].copy()
    glfs_bio.tl.classify(first, LABEL, new=second)
    right = second.obs["glfs_class_predicted"].astype(str) == second.obs[LABEL].astype(str)
    return {"accuracy": right.mean(), "n_genes": len(first.uns["glfs_class"]["genes"])}


SAMPLES = {
    "clusters": Sample(
        *(of_cells, "CLUSTERED", evaluated),
        ("cluster_preservation_coarse", "cluster_preservation_fine"),
    ),
    "LapRLS": Sample(labels, "READ", evaluated, ("accuracy_laprls", "macro_f1_laprls")),
    "neighbours, approximate": Sample(
        of_cells, "MOST_EXACT", evaluated, ("knn_preservation", "accuracy", "macro_f1")
    ),
    "cross-validation of classify": Sample(
        classifiers, "_MOST_TRIED", classified, ("accuracy", "n_genes")
    ),
}
MADE = "synthetic"
#: Datasets, and the samples that are asked about: exact neighbours and the cross-validation of all
#: of 100,000 cells take hours.
SETS = {
    KANG: (lambda: prepared(read(KANG)), tuple(SAMPLES)),
    MADE: (lambda: ad.read_h5ad(cells_file(100_000)), ("clusters", "LapRLS")),
}


def compared(adata: AnnData, names: tuple[str, ...]) -> pd.DataFrame:
    """Return a row a measure: of all cells, of the sample, and the difference."""
    rows, every = {}, {}
    for name in names:
        sample = SAMPLES[name]
        if sample.found not in every:
            with _all():
                every[sample.found] = sample.found(adata)
        with sample.of(adata.n_obs // SHARE):
            some = sample.found(adata)
        for measure in sample.measures:
            of_all, of_some = (float(one[measure]) for one in (every[sample.found], some))
            rows[f"{name}: {measure}"] = [of_all, of_some, of_some - of_all]
            say(f"{name}, {measure}: {of_all:.4f} {of_some:.4f}")
    return pd.DataFrame(rows, index=["all cells", "a sample", "difference"]).T.round(4)


@contextmanager
def _all() -> Iterator[None]:
    """Measure all cells, but for neighbours, whose number is that of the package."""
    samples = [one for one in SAMPLES.values() if one.constant != "MOST_EXACT"]
    before = [getattr(one.module, one.constant) for one in samples]
    for one in samples:
        setattr(one.module, one.constant, MANY)
    try:
        yield
    finally:
        for one, value in zip(samples, before, strict=True):
            setattr(one.module, one.constant, value)


def main() -> None:
    """Compare, write."""
    options = parser(__doc__)
    options.add_argument("--datasets", nargs="+", choices=SETS, default=list(SETS))
    asked = options.parse_args().datasets
    found = {}
    for name in asked:
        load, samples = SETS[name]
        adata = load()
        found[f"{name}, {adata.n_obs:,} cells"] = compared(adata, samples)
    (first, table), *others = found.items()
    write(
        "samples",
        table,
        *(section(*one) for one in others),
        whole=asked == list(SETS),
        first=first,
        share=SHARE,
        n_genes=N_GENES,
    )


if __name__ == "__main__":
    main()
