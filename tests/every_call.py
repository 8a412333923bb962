"""A call of every function that writes to cells, and cells for them."""

from __future__ import annotations

import copy
from pathlib import Path

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
        as_highly_variable=True,
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
        measures="all",
    ),
    "explain_panel": lambda adata: tl.explain_panel(adata, "glfs", "type", genes="g50"),
    "extend_panel": lambda adata: tl.extend_panel(
        adata, ["g1", "g2", "none", "nor"], drop=["g2", "none"]
    ),
    "prove_panel": lambda adata: tl.prove_panel(adata, ["g1", "g12", "none"], time_limit=None),
    "resolve_genes": lambda adata: tl.resolve_genes(adata, symbols="symbol"),
    "order_panel": lambda adata: tl.order_panel(
        *(adata, ["g1", "g12"]),
        symbols="symbol",
        counts_layer="counts",
        refused="drop",
        labels="type",
        backups=1,
    ),
    "stability": lambda adata: tl.stability(adata, n_resamples=2),
    "classify": lambda adata: tl.classify(
        adata, "type", n_genes=[2, 3], exclude=[f"g{gene}" for gene in range(60) if gene % 10]
    ),
    "enrich": lambda adata: tl.enrich(adata, {"some": ["g1", "g2", "g12"]}, min_size=1),
}

#: Lines of the shell by command, on what :func:`write_inputs` writes.
LINES = {
    "select": "IN.h5ad --n-genes 5 --key-added other",
    "structure": "IN.h5ad",
    "evaluate": "IN.h5ad glfs --labels type",
    "explain": "IN.h5ad glfs --genes g1,g50 --labels type",
    "extend": "IN.h5ad glfs --drop g1",
    "prove": "IN.h5ad other",
    "stability": "IN.h5ad --n-resamples 2",
    "classify": "IN.h5ad --labels type --n-genes 3",
    "enrich": "IN.h5ad --gene-sets SETS.gmt --min-size 1",
    "order": "IN.h5ad glfs",
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
            {
                "type": pd.Categorical(types),
                "batch": pd.Categorical(np.arange(200) // 4 % 2),
                "half": np.arange(200) < 100,
            },
            index=pd.Index([f"c{cell}" for cell in range(200)], dtype=object),
        ),
        var=pd.DataFrame(index=pd.Index(names, dtype=object)),
    )
    symbols = pd.Series([name.upper() for name in names], index=adata.var_names, dtype=object)
    adata.var["symbol"] = symbols.where(np.arange(60) != 5, None).astype("category")
    adata.layers["counts"] = sparse.csr_matrix(counts.astype(np.float32))
    adata.obsm["spatial"] = rng.random((200, 2))
    return adata


#: Single precision, in which cells are compared, after several steps.
RELATIVE = 1e-4
#: What is of a container or of a moment, and not of the cells.
OF_THE_FILE = {"made_of", "seconds", "versions", "written"}
PARTS = ("obs", "var", "obsm", "varm", "obsp", "uns")


def held(adata: ad.AnnData) -> dict[str, dict]:
    """A copy of what an object holds beside its matrices."""
    return {part: copy.deepcopy(dict(getattr(adata, part))) for part in PARTS}


def same(values: object, expected: object, where: str, relative: float = RELATIVE) -> None:
    """Compare what objects hold, to rounding."""
    if isinstance(expected, dict):
        assert set(values) == set(expected), where
        for name, value in expected.items():
            if name not in OF_THE_FILE:
                same(values[name], value, f"{where}[{name!r}]", relative)
    elif isinstance(expected, pd.DataFrame):
        same(dict(values), dict(expected), where, relative)
        same(values.index, expected.index, where)
    elif isinstance(expected, pd.Series):
        kinds = {"check_categorical": False, "check_dtype": False, "check_index_type": False}
        pd.testing.assert_series_equal(
            values, expected, rtol=relative, atol=relative, obj=where, **kinds
        )
    elif sparse.issparse(expected):
        same(values.toarray(), expected.toarray(), where, relative)
    elif np.asarray(expected).dtype.kind == "f":
        expected = np.asarray(expected)
        least = relative * np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
        np.testing.assert_allclose(values, expected, rtol=relative, atol=least, err_msg=where)
    else:
        np.testing.assert_array_equal(np.asarray(values), np.asarray(expected), err_msg=where)


def write_inputs() -> ad.AnnData:
    """Write cells with two selections and gene sets; return the cells."""
    adata = cells()
    pp.select_genes(adata, 5)
    pp.select_genes(adata, 4, method="variance", key_added="other")
    Path("SETS.gmt").write_text("some\t\tg1\tg2\tg12\n")
    adata.write_h5ad("IN.h5ad")
    return adata
