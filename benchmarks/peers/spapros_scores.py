"""Figures of panels by the evaluator of Spapros, kept beside the other measures."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
import cache
from compared import EXPRESSION, LABEL, OURS, say
from peers import limits
from peers.environments import PEERS

if TYPE_CHECKING:
    from cases import Case

SCRIPT = Path(__file__).with_name("spapros_evaluator.py")
#: For one of the four parts of the evaluation of a panel.
SECONDS, SECONDS_PER_CELL = 100, 0.1
PARTS = 4
#: The figures take minutes a panel: of these methods only, on the five sets.
SCORED = (
    OURS,
    EXPRESSION,
    "Spapros PCA",
    "geneBasis",
    "SCMER",
    "GeneCover",
    "HVG seurat_v3",
    "Pearson residuals",
    "hotspot, by C",
)
#: What the evaluator calls them, and what the tables do.
FIGURES = {
    "cluster_similarity nmi_5_20": "NMI of 5 to 20 clusters",
    "cluster_similarity nmi_21_60": "NMI of 21 to 60 clusters",
    "knn_overlap mean_overlap_AUC": "neighbours, AUC",
    "forest_clfs accuracy": "forest accuracy",
    "forest_clfs perct acc > 0.8": "types with accuracy > 0.8",
    "gene_corr 1 - mean": "1 − mean gene correlation",
    "gene_corr perct max < 0.8": "genes correlated < 0.8",
}


def evaluate(case: Case, panels: list[list[int]]) -> None:
    """Score the panels that are not scored yet, in one process a set, the smallest first."""
    known = stored(case)
    names = case.adata.var_names
    rising = sorted(panels, key=len)
    missing = {key(genes): list(names[genes]) for genes in rising if key(genes) not in known}
    if not missing:
        return
    place = _place(case)
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        cells, wanted = Path(folder) / "cells.h5ad", Path(folder) / "panels.json"
        case.adata.write_h5ad(cells)
        wanted.write_text(json.dumps(missing), encoding="utf-8")
        python = PEERS["Spapros PCA"].command()[:-1]
        allowed = SECONDS + SECONDS_PER_CELL * case.adata.n_obs
        call = [*python, SCRIPT, cells, LABEL, wanted, place, str(allowed)]
        run = limits.run(call, folder, PARTS * allowed * (len(missing) + 1))
    say(f"{case.name}: Spapros scored {len(missing)} panels; {run.error or 'done'}")


def stored(case: Case) -> dict[str, dict]:
    """``{"scores"}`` by key of the panel, with ``"error"`` where a part has none."""
    place = _place(case)
    if not place.exists():
        return {}
    rows = map(json.loads, place.read_text(encoding="utf-8").splitlines())
    return {row.pop("key"): row for row in rows}


def key(genes: list[int]) -> str:
    """Name of a panel, whichever order its genes have."""
    return hashlib.sha256(repr(sorted(genes)).encode()).hexdigest()[:16]


def _place(case: Case) -> Path:
    pinned = PEERS["Spapros PCA"].requirements.read_bytes()
    code = hashlib.sha256(SCRIPT.read_bytes() + pinned).hexdigest()[:8]
    return cache.CHOSEN / case.name / f"spapros-{code}.jsonl"
