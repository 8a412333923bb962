"""The panel of the tour from a reference to an order beside panels without its constraints.

    python -m benchmarks.pi [--spapros]

All are chosen on one half of 4,000 cells of Kang and measured on the other.  Panels of others are
those of `labels`, and that of Spapros, which `--spapros` chooses anew.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import glfs_bio
from glfs_bio._anndata.names import family

from . import data, store, tables
from .data import KANG, LABEL
from .labels import halves
from .methods import LABELLED, choose, rivals
from .methods.environments import SECONDS
from .methods.ours import select_genes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anndata import AnnData

    from .labels import Trial

SIZE = 100
#: A size that Spapros has a panel of within the time of `labels`.
FEW = 10
RARE = "Mk"
# fmt: off
MUST_HAVE = [
    "CD3D", "CD4", "CD8A", "IL7R", "CCR7", "FOXP3", "PDCD1", "MS4A1", "CD19", "IGJ", "NKG7", "GNLY",
    "CD14", "FCGR3A", "FCER1A", "IL3RA", "LILRA4", "PPBP", "PF4", "IL8", "MKI67",
]
OF_RARE = ["PPBP", "PF4", "GNG11", "SDPR", "TUBB1", "NRGN", "CLU", "TREML1", "GP9", "ITGA2B"]
# fmt: on
LEAST_RARE, MOST_RARE = 4, 8
IGNORED, EXCLUDED = ("ribosomal", "mitochondrial"), "housekeeping"
MOST_COUNTS, MOST_IN_ALL = 8, 100
ORDERABLE = "glfs_names_orderable"
PI, BY_HAND, SPAPROS = "the PI's", "t-test within the constraints", "Spapros"
RIVALS = ("t-test, in turn", "Wilcoxon, in turn", "logistic regression, in turn")
MEASURES = {
    "15-NN accuracy": "accuracy",
    "15-NN macro-F1": "macro_f1",
    "LapRLS accuracy": "accuracy_laprls",
    "LapRLS macro-F1": "macro_f1_laprls",
}
RECALLS = {f"15-NN recall of {RARE}": "knn", f"LapRLS recall of {RARE}": "laprls"}


def chosen(adata: AnnData, **asked) -> np.ndarray:
    """Return the panel of the vignette, of the must-haves that these cells have."""
    limits = glfs_bio.Limits(
        expression={"counts": MOST_COUNTS},
        total_counts={"cell": MOST_IN_ALL},
        counts_layer="counts",
        groups={RARE: [gene for gene in OF_RARE if gene in adata.var_names]},
        per_group={RARE: (LEAST_RARE, MOST_RARE)},
    )
    request = {
        "include": present(adata),
        "ignore": list(IGNORED),
        "exclude": EXCLUDED,
        "limits": limits,
        "platform": glfs_bio.Platform("xenium_v1", genes=ORDERABLE),
        "batch_key": data.BATCHES[KANG],
        "across": "worst",
        "preserve": {"structure": 1, LABEL: 1},
    }
    found = glfs_bio.pp.select_genes(adata, SIZE, **(request | asked), inplace=False)
    return np.flatnonzero(found["glfs_selected"])


def by_hand(adata: AnnData) -> list[int]:
    """Return the must-haves, and then the t-test's markers of each type in turn that fit."""
    candidates = np.flatnonzero(~barred(adata))
    ranked = rivals.markers(adata[:, candidates].copy(), 5 * SIZE, test="t-test")
    counts = mean_counts(adata)
    panel = list(adata.var_names.get_indexer(present(adata)))
    for gene in candidates[list(ranked)]:
        if gene not in panel and counts[[*panel, gene]].sum() <= MOST_IN_ALL:
            panel.append(int(gene))
    return panel[:SIZE]


def present(adata: AnnData) -> list[str]:
    """Return the must-haves that these cells have."""
    return [gene for gene in MUST_HAVE if gene in adata.var_names]


def mean_counts(adata: AnnData) -> np.ndarray:
    """Return the counts of each gene in a mean cell."""
    return np.asarray(adata.layers["counts"].mean(axis=0)).ravel()


def barred(adata: AnnData) -> np.ndarray:
    """Return whether each gene has no probes, is of a family, or has too many counts."""
    names = adata.var_names
    unwanted = [name for one in (*IGNORED, EXCLUDED) for name in names if name in family(one)]
    return (
        ~adata.var[ORDERABLE].to_numpy() | names.isin(unwanted) | (mean_counts(adata) > MOST_COUNTS)
    )


def broken(adata: AnnData, genes: list[int]) -> dict[str, object]:
    """Return what a panel breaks of the PI's constraints, on the cells that it is chosen on."""
    names = adata.var_names[genes]
    return {
        "barred genes": int(barred(adata)[genes].sum()),
        "must-haves missing": len({*present(adata)} - {*names}),
        f"genes of {RARE}": int(names.isin(OF_RARE).sum()),
        "counts in a cell": round(float(mean_counts(adata)[genes].sum())),
    }


def measured(adata: AnnData, names: list[str]) -> dict[str, float]:
    """Return how well labels are predicted from a panel, in both readings."""
    both = {"measures": ["labels", "laprls"], "inplace": False}
    entry = glfs_bio.tl.evaluate_panel(adata, names, LABEL, **both)
    value = entry["measures"].set_index("measure")["value"]
    recall = entry["per_label"].set_index(["label", "reading"])["recall"]
    return {title: value[name] for title, name in MEASURES.items()} | {
        title: recall[RARE, reading] for title, reading in RECALLS.items()
    }


def measures_of(trial: Trial, panels: Mapping[str, Sequence[int]]) -> pd.DataFrame:
    """Return a row per panel that there is."""
    here, there = trial.chosen.adata, trial.measured.adata
    rows = {}
    for name, panel in panels.items():
        genes = [int(gene) for gene in panel]
        if genes:
            rows[name] = broken(here, genes) | measured(there, list(here.var_names[genes]))
        tables.say(f"{name}: {len(genes)} genes")
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("panel")
    every = [*MEASURES, *RECALLS]
    table[every] = table[every].astype(float).round(3)
    return table


def ahead(table: pd.DataFrame) -> str:
    """Return a list of who is ahead in each measure, and where the PI's panel is."""
    lines = []
    for title in (*MEASURES, *RECALLS):
        values = table[title].astype(float)
        best = " and ".join(values.index[values == values.max()])
        place = int((values > values[PI]).sum()) + 1
        lines.append(
            f"- {title}: {best} {values.max():.3f}; {PI} {values[PI]:.3f}, place {place} of "
            f"{values.notna().sum()}"
        )
    return "\n".join(lines)


def main() -> None:
    """Write the table."""
    parser = tables.parser(__doc__)
    parser.add_argument("--spapros", action="store_true", help="choose the panel of Spapros anew")
    anew = parser.parse_args().spapros
    trial = halves([KANG], [0])[KANG, 0]
    here, there = trial.chosen.adata, trial.measured.adata
    probes = data.folder() / "../formats/xenium_v1_genes.csv.gz"
    glfs_bio.tl.resolve_genes(here, probes)
    # The sizes of `labels` together take Spapros more than the time that they have there.
    spapros, place = replace(LABELLED[SPAPROS], limit=6 * SECONDS), f"{trial.place}/{SIZE}"
    if anew:
        choose(SPAPROS, spapros, place, here, [SIZE])
    tools = {name: store.entry_of(name, trial.place, LABELLED[name]) for name in RIVALS}
    tools[SPAPROS] = store.entry_of(SPAPROS, place, spapros)
    panels = {
        PI: chosen(here),
        f"{PI}, labels alone": chosen(here, preserve=LABEL),
        f"{PI}, structure alone": chosen(here, preserve="structure"),
        BY_HAND: by_hand(here),
        "glfs_bio, labels": select_genes(here, SIZE, preserve=LABEL),
        "glfs_bio, no labels": select_genes(here, SIZE),
        **{name: entry.panel(SIZE).get("genes", []) for name, entry in tools.items()},
    }
    table = measures_of(trial, panels)
    few = {
        "glfs_bio, labels": select_genes(here, FEW, preserve=LABEL),
        "glfs_bio, no labels": select_genes(here, FEW),
        **{
            name: store.entry_of(name, trial.place, LABELLED[name]).panel(FEW).get("genes", [])
            for name in (*RIVALS, SPAPROS)
        },
    }
    store.merge()
    tables.write(
        "pi",
        table,
        tables.section(f"Who is ahead with {SIZE} genes", ahead(table)),
        tables.section(f"Panels of {FEW} genes", measures_of(trial, few)),
        n_genes=SIZE,
        few=FEW,
        n_rare=int((there.obs[LABEL] == RARE).sum()),
        n_cells=there.n_obs,
        rare=RARE,
    )


if __name__ == "__main__":
    main()
