"""A call of every function that writes to cells, and cells for them."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
from scipy import sparse

from glfs_bio import Limits, Platform, pp, tl

#: Calls by function; each writes to what the calls before it left.
CALLS = {
    "select_genes": lambda adata: pp.select_genes(
        adata,
        8,
        preserve={"structure": 1, "type": 1},
        cell_weights="type",
        limits=Limits(per_type=1, groupby="type"),
        platform=Platform(failure=0.05),
        batch_key="batch",
        include=["g1", "none"],
        missing="ignore",
    ),
    "structure": pp.structure,
    "evaluate_panel": lambda adata: tl.evaluate_panel(
        *(adata, "glfs", "type"),
        domains="type",
        counts_layer="counts",
        gene_sets={"some": ["g1", "g2"], "other": ["g50"]},
        platform=Platform(failure=0.05, spillover=0.3, spillover_to={"T0": {"T1": 1, "T/2": 2}}),
        n_random=2,
    ),
    "compare_panels": lambda adata: tl.compare_panels(
        *(adata, {"a": "glfs", "b": ["g1"]}, "type"), domains="type", library_key="batch"
    ),
    "explain_panel": lambda adata: tl.explain_panel(adata, "glfs", "type"),
    "extend_panel": lambda adata: tl.extend_panel(adata, ["g1", "none"], 3, labels="type"),
    "substitutes": tl.substitutes,
    "replace_genes": lambda adata: tl.replace_genes(
        adata, ["g2", "none"], ["g1", "g2", "none", "nor"]
    ),
    "explain_gene": lambda adata: tl.explain_gene(adata, ["g1", "g50"], "glfs", "type"),
    "prove_panel": lambda adata: tl.prove_panel(adata, ["g1", "g12", "none"], time_limit=1.0),
    "resolve_genes": lambda adata: tl.resolve_genes(adata, symbols="symbol"),
    "order_panel": lambda adata: tl.order_panel(
        *(adata, ["g1", "g12"]),
        symbols="symbol",
        counts_layer="counts",
        refused="drop",
        labels="type",
        backups=1,
    ),
    "curve": lambda adata: tl.curve(adata, 5, "type"),
    "markers": lambda adata: tl.markers(adata, "glfs", "type"),
    "stability": lambda adata: tl.stability(adata, n_resamples=2),
    "classify": lambda adata: tl.classify(adata, "type", n_genes=[2, 3], cv=2, symbols="symbol"),
    "predict": lambda adata: tl.predict(adata, adata.uns["glfs_class"], unsure=0.1),
    "enrich": lambda adata: tl.enrich(adata, {"some": ["g1", "g2", "g12"]}, min_size=1),
    "panel_umap": tl.panel_umap,
}


def cells() -> ad.AnnData:
    """Four types that nothing confuses, one of them missing in some cells."""
    rng = np.random.default_rng(0)
    kind = np.arange(200) % 4
    counts = rng.poisson(np.tile(rng.gamma(0.5, 1.0, 60), (200, 1)))
    for k in range(4):
        counts[np.ix_(kind == k, np.arange(10 * k, 10 * k + 10))] += rng.poisson(40, (50, 10))
    names = [f"g{gene}" for gene in range(60)]
    types = np.array([f"T{k}" for k in kind], dtype=object)
    types[:3] = np.nan
    adata = ad.AnnData(
        sparse.csr_matrix(np.log1p(counts.astype(np.float32))),
        obs=pd.DataFrame(
            {"type": pd.Categorical(types), "batch": pd.Categorical(np.arange(200) // 4 % 2)},
            index=pd.Index([f"c{cell}" for cell in range(200)], dtype=object),
        ),
        var=pd.DataFrame(index=pd.Index(names, dtype=object)),
    )
    symbols = pd.Series([name.upper() for name in names], index=adata.var_names, dtype=object)
    adata.var["symbol"] = symbols.where(np.arange(60) != 5, None).astype("category")
    adata.layers["counts"] = sparse.csr_matrix(counts.astype(np.float32))
    adata.obsm["spatial"] = rng.random((200, 2))
    return adata
