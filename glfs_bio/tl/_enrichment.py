"""Tests of gene sets, by gseapy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control

if TYPE_CHECKING:
    from collections.abc import Iterable


def over_representation(
    selected: pd.Index, sets: dict[str, list[str]], universe: list[str]
) -> pd.DataFrame:
    """How surely each set has more of the selected genes than genes at random."""
    import gseapy

    chosen = {name: selected.intersection(genes, sort=False) for name, genes in sets.items()}
    # gseapy leaves out the sets without a selected gene, whose p-value is 1.
    table = pd.DataFrame(
        {
            "n_overlap": [len(genes) for genes in chosen.values()],
            "n_set": [len(genes) for genes in sets.values()],
            "odds_ratio": np.nan,
            "pvals": 1.0,
        },
        index=pd.Index(sets, name="term", dtype=object),
    )
    if table["n_overlap"].any():
        code = _codes(universe)
        found = gseapy.enrich(
            [code[gene] for gene in selected],
            {name: [code[gene] for gene in genes] for name, genes in sets.items()},
            background=list(code.values()),
            outdir=None,
            no_plot=True,
        ).results.set_index("Term")
        table.loc[found.index, "odds_ratio"] = found["Odds Ratio"].astype(float)
        table.loc[found.index, "pvals"] = found["P-value"].astype(float)
    table["pvals_adj"] = false_discovery_control(table["pvals"])
    table["genes"] = [";".join(genes) for genes in chosen.values()]
    return table.sort_values(["pvals", "odds_ratio"], ascending=[True, False], kind="stable")


def prerank(
    scores: pd.Series,
    sets: dict[str, list[str]],
    n_permutations: int,
    weight: float,
    n_jobs: int,
    random_state: int,
) -> pd.DataFrame:
    """Where the genes of each set stand in the ranking, by GSEA."""
    import gseapy

    code = _codes(scores.index)
    gene = {token: name for name, token in code.items()}
    found = gseapy.prerank(
        scores.rename(index=code),
        {name: [code[member] for member in genes] for name, genes in sets.items()},
        min_size=1,
        max_size=len(scores),
        permutation_num=n_permutations,
        weight=weight,
        seed=random_state,
        threads=n_jobs,
        outdir=None,
        no_plot=True,
    ).res2d.set_index("Term")
    columns = {"es": "ES", "nes": "NES", "pvals": "NOM p-val", "pvals_adj": "FDR q-val"}
    table = pd.DataFrame({ours: found[theirs].astype(float) for ours, theirs in columns.items()})
    table.index = table.index.astype(object).rename("term")
    table.insert(0, "n_set", [len(sets[name]) for name in table.index])
    leading = [[gene[token] for token in tokens.split(";")] for tokens in found["Lead_genes"]]
    table["genes"] = [";".join(genes) for genes in leading]
    return table.sort_values(["pvals_adj", "pvals", "nes"], ascending=[True, True, False])


def _codes(names: Iterable[str]) -> dict[str, str]:
    """Names that gseapy leaves alone: it takes numbers for Entrez ids, and may change the case."""
    return {name: f"g{i}" for i, name in enumerate(names)}
